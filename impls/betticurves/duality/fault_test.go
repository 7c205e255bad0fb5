package duality_test

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// inConvention returns the workload of curves in a convention.
func inConvention(i bench.Implementation[grid.Source, betti.Curves], c ecc.Convention) bench.Workload[grid.Source, betti.Curves] {
	w := betti.CurvesInConvention(betti.CurvesWorkload(i), c)
	if c != (ecc.Convention{}) { // views have levels, but sets have values
		w.Adversarial = slices.DeleteFunc(slices.Clone(w.Adversarial), func(name string) bool { return strings.HasPrefix(name, "between/") })
	}
	return judgedtest.Thinned(w)
}

const box = 600 // voxels, so that images have several

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
		if race.Enabled && c.Superlevel != c.Vertices {
			continue // two of the four run all goroutines
		}
		if n := judgedtest.Alone(t, inConvention(ours(box), c), !testing.Short() && c == (ecc.Convention{}), 0); !n.All() {
			t.Errorf("%+v: right answers are found %+v", c, n)
		}
	}
	for name, spoil := range map[string]func(grid.Source, betti.Curves) betti.Curves{
		"one level above": func(in grid.Source, c betti.Curves) (above betti.Curves) {
			for _, change := range c {
				if change.Level++; change.Level < in.Ladder().Len() {
					above = append(above, change)
				}
			}
			return above
		},
		"lost union": func(_ grid.Source, c betti.Curves) betti.Curves {
			c = slices.Clone(c)
			if last := len(c) - 1; last >= 0 {
				c[last].B0, c[last].B1 = c[last].B0+1, c[last].B1+1
			}
			return c
		},
	} {
		if race.Enabled {
			break // the right implementation has run all goroutines
		}
		t.Run(name, func(t *testing.T) {
			wrong := judgedtest.Spoiled(ours(box), spoil)
			if n := judgedtest.Alone(t, byUnions(wrong), false, 0); n != (judgedtest.Count{Wrong: n.Wrong}) {
				t.Errorf("unions find %+v", n)
			}
		})
	}
}

// byUnions returns the workload with unions as the only witness.
func byUnions(i bench.Implementation[grid.Source, betti.Curves]) bench.Workload[grid.Source, betti.Curves] {
	w := inConvention(i, ecc.Convention{})
	w.Policy.Known = nil
	return judgedtest.WithLaws(w, func(law string) bool { return law == betti.UnionsLaw })
}

// Unions alone confirm right answers. Planted faults (make faults) must fail this test.
func TestUnionsConfirm(t *testing.T) {
	if n := judgedtest.Alone(t, byUnions(ours(box)), true, 0); !n.All() {
		t.Errorf("right answers are found %+v", n)
	}
}

// The sums do not depend on the order or the number of cores. A second call recomputes everything
// after its output is overwritten.
func TestAgain(t *testing.T) {
	streamed, whole := ecctest.Open(t, "noise/shape=130x40x41/levels=20/type=uint8/seed=3")
	want := answer(t, ours(0), streamed, 1)
	for _, in := range []grid.Source{streamed, whole} {
		job, err := ours(5000).Setup(in, bench.Conditions{Setting: bench.Setting{Threads: 5}})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			job.Poison()
			if c, _ := job.Out(); !slices.Equal(c, betti.PoisonedCurves) {
				t.Fatal("the output was not overwritten")
			}
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			if c, err := job.Out(); err != nil || !slices.Equal(c, want) {
				t.Fatalf("%v, %v; want %v", c, err, want)
			}
		}
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
