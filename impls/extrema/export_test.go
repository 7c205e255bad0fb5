package extrema

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// InStrips is the implementation that marches through so many rows at a time.
func InStrips(rows int64) Implementation { return Implementation{rows: rows} }

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }

// Lanes is the number of bytes of a lane, and the level of what is outside.
var Lanes = lanes

// Slab is how many slices of a streamed source the implementation reads at a time, on so
// many cores.
func Slab(in grid.Source, threads int) int64 { return Implementation{}.layout(in, threads).slab }

// Gathering is the implementation whose tallies gather so many pairs.
func Gathering(pairs int) Implementation { return Implementation{pairs: pairs} }

// Tallied is what so many tallies, which gather so many pairs, add up together.
func Tallied(pairs, tallies int, levels []uint32, changes []int32) ecc.VCEC {
	list := make([]*tally, tallies)
	for i := range list {
		list[i] = newTally(pairs)
	}
	for i := range levels {
		add(list[i%tallies], levels[i:i+1], changes[i:i+1], 1<<32)
	}
	return steps(list)
}

// Memory is how many bytes a job is expected to allocate.
func Memory(in grid.Source, threads int) int64 { return Implementation{}.layout(in, threads).memory() }
