package duality

import "eccbench/internal/isa"

// A kernel implements the operations on groups with one instruction set.
type kernel[K key] struct {
	// compare sets the bits of the earlier neighbours for some words of voxels. The first voxel has
	// the key at index at.
	compare func(to []uint64, keys []K, at, apart, row, plane, words int)
	links   func(g *group, s *sight)
	set     func(g *group, to *[groupVoxels]uint8)
	around  func(g *group, s *sight, to *[groupVoxels]uint8)
}

func portable[K key]() kernel[K] { return kernel[K]{compare[K], findLinks, scanSet, scanAround} }

// available lists the instruction sets of this machine, the fastest first. The counter of χ may
// support more of them; for those the other code is portable.
func available() []string { return isa.Available(assembled) }
