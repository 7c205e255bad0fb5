package duality

import "eccbench/internal/isa"

// A kernel is what is done with groups, in one instruction set.
type kernel[K key] struct {
	// compare sets the bits of places before so many words of voxels, of which keys has the
	// first one at a place.
	compare func(to []uint64, keys []K, at, apart, row, plane, words int)
	links   func(g *group, s *sight)
	set     func(g *group, to *[groupVoxels]uint8)
	around  func(g *group, s *sight, to *[groupVoxels]uint8)
}

func portable[K key]() kernel[K] { return kernel[K]{compare[K], findLinks, scanSet, scanAround} }

// available lists the instruction sets of this machine, the fastest first. The counter of χ has
// code of its own for each; where only it has, the rest is portable.
func available() []string { return isa.Available(assembled) }
