package cpu

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// The adversarial inputs have the bits of the plain loop, in each instruction set.
func TestBits(t *testing.T) {
	w := gvf.Steps(Implementation{})
	for _, name := range w.Adversarial {
		p, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gvf.Define(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k, isa := range rows.Available() {
			got, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{Setting: bench.Setting{Threads: 1 + k, ISA: isa}})
			if err != nil {
				t.Fatal(err)
			}
			if d := w.Policy.Agree(p, want, got); d != nil {
				t.Errorf("%s, %s: %v (%s)", name, isa, d, d.Context)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	p, err := gvf.Steps().Inputs.Open("gvf/steps=4/mu=50/boundary=0/of=noise/shape=12x11x10/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]bench.Conditions{
		"1320 voxels × 3 components × 4 steps": {Time: 1}, "8 numbers for each of 1320 voxels": {Memory: 1000}, "instruction set sse": {Setting: bench.Setting{ISA: "sse"}},
	} {
		if err := (Implementation{}).CanDo(p, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (Implementation{}).CanDo(gvf.NewProblem(p.Source, 0.1, 0, 1e-4, gvf.Replicate), bench.Conditions{}); err == nil {
		t.Error("a steady state is taken")
	}
}
