package bylevel_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/impls/betti/labels"
	"eccbench/impls/betti/rings"
	"eccbench/impls/betticurves/bylevel"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// Each level has its share of the time: all levels take the time of one times their number.
func TestTimeOfAllLevels(t *testing.T) {
	in, err := datasets.Open("noise/shape=40x30x20/type=uint8/levels=8/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	var one bench.TooLong
	if err := (labels.Implementation{}).CanDo(&betti.Image{Source: in}, bench.Conditions{Time: 1}); !errors.As(err, &one) {
		t.Fatal(err)
	}
	of := bylevel.Implementation{Of: labels.Implementation{}}
	for levels, want := range map[time.Duration]bool{7: false, 8: true} {
		if err := of.CanDo(in, bench.Conditions{Time: levels * one.Estimate}); (err == nil) != want {
			t.Errorf("time for %d of 8 levels: %v", levels, err)
		}
	}
}

// With periodic axes, flood fill of the set at every level confirms the right answer in any
// convention, and rejects others.
func TestOnRings(t *testing.T) {
	in, err := datasets.Open("noise/shape=6x5x4/type=uint8/levels=4/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []ecc.Convention{
		{Periodic: grid.Axes{X: true}}, {Periodic: grid.Axes{X: true, Y: true, Z: true}, Superlevel: true},
		{Periodic: grid.Axes{Z: true}, Vertices: true},
		{Periodic: grid.Axes{Y: true}, Vertices: true, Superlevel: true},
	} {
		by := bylevel.Implementation{Of: rings.Implementation{In: c}, Superlevel: c.Superlevel}
		out, err := bench.Answer(bench.Implementation[grid.Source, betti.Curves](by), in, bench.Conditions{})
		if err != nil || len(out) != 4 {
			t.Fatalf("%+v: %v, %v", c, out, err)
		}
		law := betti.CurvesOnRings(by, c).Policy.Laws[0]
		if d, err := law.Check(in, out, nil); d != nil || err != nil {
			t.Errorf("%+v: %v, %v", c, d, err)
		}
		more, moved := slices.Clone(out), slices.Clone(out)
		more[1].B1++
		moved[2].Level = 9 // no voxel has this level
		for what, wrong := range map[string]betti.Curves{
			"a tunnel more": more, "a level less": out[:3], "another level": moved,
		} {
			if d, err := law.Check(in, wrong, nil); d == nil || err != nil {
				t.Errorf("%+v: %s is not noticed, %v", c, what, err)
			}
		}
	}
}
