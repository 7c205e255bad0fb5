package duality_test

import (
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
		if n := judgedtest.Alone(t, betti.InConvention(betti.Workload(duality.Implementation{}), c), !testing.Short() && !race.Enabled, 0); !n.All() {
			t.Errorf("%+v: right answers are found %+v", c, n)
		}
	}
	for name, fault := range map[string]betti.Numbers{"b2 without −1": {B1: 1, B2: 1}, "union counted twice": {B1: -1, B2: -1}} {
		if race.Enabled {
			break // the right implementation has run all goroutines
		}
		t.Run(name, func(t *testing.T) {
			wrong := judgedtest.Spoiled(duality.Implementation{}, func(_ *betti.Image, n betti.Numbers) betti.Numbers {
				return betti.Numbers{B0: n.B0, B1: n.B1 + fault.B1, B2: n.B2 + fault.B2}
			})
			if n := judgedtest.Alone(t, byFlood(wrong), false, 0); n != (judgedtest.Count{Wrong: n.Wrong}) {
				t.Errorf("flood fill finds %+v", n)
			}
		})
	}
}

// byFlood returns the workload with flood fill as the only witness.
func byFlood(i bench.Implementation[*betti.Image, betti.Numbers]) bench.Workload[*betti.Image, betti.Numbers] {
	w := judgedtest.Thinned(betti.Workload(i))
	w.Policy.Known = nil
	return judgedtest.WithLaws(w, func(law string) bool { return law == betti.FloodName })
}

// Flood fill alone confirms right answers. Planted faults (make faults) must fail this test.
func TestFloodConfirms(t *testing.T) {
	if n := judgedtest.Alone(t, byFlood(duality.InWindows(3)), true, 0); !n.All() {
		t.Errorf("right answers are found %+v", n)
	}
}

// The sums do not depend on the order or the number of cores. A second call recomputes everything
// after its output is overwritten.
func TestAgain(t *testing.T) {
	in, err := betti.Inputs{}.Open("betti/at=79/of=noise/shape=130x40x41/type=uint8/seed=3")
	if err != nil {
		t.Fatal(err)
	}
	whole, err := grid.Load(in.Source)
	if err != nil {
		t.Fatal(err)
	}
	want := answer(t, duality.Implementation{}, in, 1)
	for _, of := range []*betti.Image{in, {Source: whole, Threshold: in.Threshold}} { // streamed and in memory
		job, err := duality.Implementation{}.Setup(of, bench.Conditions{Setting: bench.Setting{Threads: 5}})
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			job.Poison()
			if n, _ := job.Out(); n != betti.Poisoned {
				t.Fatal("the output was not overwritten")
			}
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			if n, err := job.Out(); err != nil || n != want {
				t.Fatalf("%v, %v; want %v", n, err, want)
			}
		}
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
