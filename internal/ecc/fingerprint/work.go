package fingerprint

import (
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// Work estimates the time that Of takes, rather more than less: for each voxel, core and
// function 2 ns with vector instructions and 12 without, 100 more where its level is
// searched for, and for what makes or reads it 3 more; for each level 40.
func Work(s grid.Source, k Key, threads int) time.Duration {
	voxel := int64(2)
	if fastest() == isa.Portable {
		voxel = 12
	}
	if _, _, even := s.Ladder().Affinity(); !even && s.Type() == grid.Float32 {
		voxel += 100
	}
	if _, whole := s.(*grid.Field); !whole {
		voxel += 3
	}
	ns := voxel*s.Shape().Voxels() + 40*s.Ladder().Len()
	return time.Duration(ns/int64(max(1, threads))) * time.Nanosecond * time.Duration(k.functions)
}
