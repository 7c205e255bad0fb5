package extrema

import (
	"eccbench/internal/grid"
)

// InStrips is the implementation that marches through so many rows at a time.
func InStrips(rows int64) Implementation { return Implementation{rows: rows} }

// Available lists the instruction sets of this program on this machine.
func Available() []string { return available() }

// Slab is how many slices of a streamed source the implementation reads at a time, on so
// many cores.
func Slab(in grid.Source, threads int) int64 { return Implementation{}.layout(in, threads).slab }

// Gathering is the implementation whose tallies gather so many pairs.
func Gathering(pairs int) Implementation { return Implementation{pairs: pairs} }

// Memory is how many bytes a job is expected to allocate.
func Memory(in grid.Source, threads int) int64 { return Implementation{}.layout(in, threads).memory() }
