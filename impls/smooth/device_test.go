package smooth

import (
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/smooth"
)

// A device gives the answer of the host, to the last bit of every pixel that
// decides a level.
func TestDeviceIsHost(t *testing.T) {
	onDevice := OnDevice{Open: ecctest.Device(t)}
	w := smooth.Workload(OnHost{cpu.Implementation{}}, onDevice)
	for _, name := range []string{
		"smooth/iterations=1100/of=grf/shape=130x70/levels=1024/smooth=1/seed=3",
		"smooth/iterations=40/of=noise/shape=1024x1024/levels=1024/seed=2",
		"smooth/iterations=30/of=noise/shape=257x255/levels=65536/seed=5",
		"smooth/iterations=3/of=noise/shape=1x1/levels=4/seed=5",
		"smooth/iterations=3/of=noise/shape=61x43/levels=64/seed=5",
		"smooth/iterations=9/of=noise/shape=5x300/levels=256/seed=5",
	} {
		t.Run(name, func(t *testing.T) { deviceIsHost(t, w, name) })
	}
}

func deviceIsHost(t *testing.T, w bench.Workload[*smooth.Pipeline, smooth.Answer], name string) {
	p, err := w.Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	var answers []smooth.Answer
	for _, i := range w.Impls {
		c := bench.Conditions{Setting: bench.Setting{Scope: i.About().Scopes[0], Threads: 2}}
		if err := i.CanDo(p, c); err != nil {
			t.Fatal(err)
		}
		j, err := i.Setup(p, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range []*bench.Trace{nil, {}} {
			j.Poison()
			if err := j.Do(trace); err != nil {
				t.Fatal(err)
			}
			out, err := j.Out()
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, out)
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	for k, a := range answers[1:] {
		if d := w.Policy.Agree(p, answers[0], a); d != nil {
			t.Errorf("answer %d: %v", k+1, d)
		}
	}
}
