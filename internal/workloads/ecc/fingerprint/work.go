package fingerprint

import (
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// manyLevels is the number of levels from which their weights, or the search among them,
// leave the caches.
const manyLevels = 1 << 16

// Work estimates the time that Of takes, rather more than less. For each voxel, core and
// function it is 2 ns with vector instructions and 12 without, and in addition:
//   - 30 where its level is searched for;
//   - 10 where there are many levels, and 110 where those are searched;
//   - 3 where the source makes or reads it.
//
// For each level it is 40.
func Work(s grid.Source, k Key, threads int) time.Duration {
	voxel := int64(2)
	if fastest() == isa.Portable {
		voxel = 12
	}
	_, _, even := s.Ladder().Affinity()
	searched, many := !even && s.Type() == grid.Float32, s.Ladder().Len() > manyLevels
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
	ns := voxel*grid.LookedAt(s) + 40*s.Ladder().Len()
	return time.Duration(ns/int64(max(1, threads))) * time.Nanosecond * time.Duration(k.functions)
}
