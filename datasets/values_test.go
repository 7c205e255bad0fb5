package datasets

import (
	"errors"
	"math"
	"slices"
	"testing"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
	"eccbench/internal/race"
)

// The distinct values of a span of every type equal the result of a linear search, for several reads.
// More values than the limit are an error.
func TestDistinctValues(t *testing.T) {
	for _, typ := range grid.Types() {
		if race.Enabled && typ.Size() == 2 {
			continue // the goroutines belong to the others
		}
		s, err := Open("noise/shape=1500x1100x14/levels=50/seed=3/type=" + typ.String())
		if err != nil {
			t.Fatal(err)
		}
		of := grid.Span{Lo: 1, Hi: 13}
		slab := grid.NewBuffer(grid.SliceBytes(s))
		var want []float32
		for z := of.Lo; z < of.Hi; z++ {
			if err := s.ReadSlab(slab, z, z+1); err != nil {
				t.Fatal(err)
			}
			f, err := grid.Trusted(s.Shape().WithSlices(1), typ, slab, s.Ladder())
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range f.Floats()[:2000] {
				if k, found := slices.BinarySearch(want, v); !found {
					want = slices.Insert(want, k, v)
				}
			}
		}
		got, err := element.DistinctValues(s, of, 50, 2)
		if err != nil || !slices.Equal(got, want) || len(got) != 50 {
			t.Errorf("%v: %v, want %v (%v)", typ, got, want, err)
		}
		if _, err := element.DistinctValues(s, of, 49, 2); !errors.Is(err, element.ErrManyValues) {
			t.Errorf("%v: 50 values of 49 at most: %v", typ, err)
		}
		if err := grid.Close(s); err != nil {
			t.Error(err)
		}
	}
	f, err := grid.Trusted(grid.Shape{D: 1, H: 2, W: 2}, grid.Float32, grid.Bytes([]float32{0, float32(math.Copysign(0, -1)), 3, 2}), grid.Identity(grid.Float32))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := element.DistinctValues(f, grid.Whole(f), 3, 1); !slices.Equal(got, []float32{0, 2, 3}) || err != nil {
		t.Error(got, err)
	}
}
