package bylevel_test

import (
	"errors"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/impls/betti/labels"
	"eccbench/impls/betticurves/bylevel"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/betti"
)

// Each level has its share of the time: what takes so long for one takes as many times as
// long for all.
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
