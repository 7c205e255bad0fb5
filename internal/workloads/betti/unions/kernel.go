package unions

import "eccbench/internal/isa"

// A kernel is the functions that a vector instruction set may replace.
type kernel[K key] struct {
	compare func(to []uint64, own, other []K)
	corners func(p *plan, g *group, z, at int, reverse bool)
	faces   func(p *plan, g *group, z, at int, to *[groupVoxels]uint8)
}

func portable[K key]() kernel[K] { return kernel[K]{compareKeys[K], (*plan).corners, (*plan).faces} }

// best returns the kernel of the best instruction set.
func best[K key]() kernel[K] { return kernelOf[K](isa.Available(assembled)[0]) }
