package ecc_test

import (
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

func image(t *testing.T, name string) *grid.Field {
	t.Helper()
	src, err := datasets.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// huge is an image that is never read.
type huge struct {
	grid.Source
	shape grid.Shape
}

func (h huge) Shape() grid.Shape { return h.shape }

// The estimate for a large image is the cost of the definition at one level, plus microseconds for
// the tables of weights. Without vector instructions it is three times the definition.
func TestFingerprintIsAffordable(t *testing.T) {
	var cost []time.Duration
	for _, law := range ecc.Laws() {
		if law.Independent {
			cost = append(cost, law.Work(huge{image(t, "constant/shape=1x1/type=uint8"), grid.Shape{D: 4096, H: 4096, W: 4096}}))
		}
	}
	if len(cost) < 2 || cost[0] > 3*cost[1]+time.Millisecond {
		t.Errorf("work %v", cost)
	}
}
