package grid

import (
	"math"
	"slices"
	"testing"
)

// Ranks are the counts by comparison, also of repeated and infinite values.
func TestRanking(t *testing.T) {
	inf := float32(math.Inf(1))
	values := []float32{-math.MaxFloat32, -3, -1, 0, 0.5, 1, 2, 2.5, 7, math.MaxFloat32}
	for _, at := range [][]float32{
		{2}, {0, 2, 2}, {-inf, inf}, {-1, -1, 0, 2, 2, 2, 7}, {-inf, -inf, -3, 0, 0, 1, inf},
		{-math.MaxFloat32, -1, 0, 1, 2, math.MaxFloat32},
	} {
		for _, super := range []bool{false, true} {
			k := NewRanking(at, super)
			ranks, want := make([]byte, len(values)), make([]byte, len(values))
			for i, v := range values {
				for _, a := range at {
					if super && a > v || !super && a < v {
						want[i]++
					}
				}
			}
			k.Rank(ranks, values)
			if err := k.Confirm(ranks, values); err != nil || !slices.Equal(ranks, want) {
				t.Errorf("by %v, superlevel %t: ranks %v, want %v; %v", at, super, ranks, want, err)
			}
		}
	}
}
