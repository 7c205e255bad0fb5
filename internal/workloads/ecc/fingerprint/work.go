package fingerprint

import (
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/isa"
)

// manyLevels is the number of levels above which their weights, or the search among them, exceed
// the caches.
const manyLevels = 1 << 16

// Work estimates the time of Compute, rather high. Per voxel, core and function it is 2 ns with
// vector instructions and 12 ns without. In addition there are, per voxel:
//   - 30 ns if its level is searched for
//   - 10 ns for many levels, and 110 ns more if those are searched
//   - 3 ns if the source generates or reads it
//   - three times the base on the ladder of every float32
//
// Each level of a table adds 40 ns.
func Work(s grid.Source, k Key, threads int) time.Duration {
	voxel := int64(2)
	if fastest() == isa.Portable {
		voxel = 12
	}
	levels := s.Ladder().Len()
	if !s.Ladder().Indexed() {
		levels, voxel = 0, 4*voxel
	}
	_, _, even := s.Ladder().Affinity()
	searched, many := !even && s.Type() == grid.Float32 && levels > 0, levels > manyLevels
	if searched {
		voxel += 30
	}
	if many {
		voxel += 10
	}
	if many && searched {
		voxel += 110
	}
	if _, whole := s.(*grid.Field); !whole {
		voxel += 3
	}
	ns := voxel*views.LookedAt(s) + 40*levels
	return time.Duration(ns/int64(max(1, threads))) * time.Nanosecond * time.Duration(k.functions)
}
