package betti_test

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// NaN and -Inf are in no set. They are errors with their index.
func TestSetsConfirmed(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		slab := grid.NewBuffer(16)
		for i, v := range []float64{0, 1, v, 2} {
			binary.LittleEndian.PutUint32(slab[4*i:], math.Float32bits(float32(v)))
		}
		f, err := grid.Trusted(grid.Shape{D: 1, H: 2, W: 2}, grid.Float32, slab, grid.Identity(grid.Float32))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []ecc.Convention{{}, {Masked: true}} {
			s, err := betti.Sets(f, grid.Numbers(1), c)
			if err != nil {
				t.Fatal(err)
			}
			bad := (*grid.NotFiniteError)(nil)
			if err := s.ReadSlab(make([]byte, 4), 0, 2); !errors.As(err, &bad) || bad.First != 2 {
				t.Errorf("%v, %+v: %v", v, c, err)
			}
		}
	}
}
