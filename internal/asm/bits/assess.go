package bits

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Assess writes the functions of comparisons by runs.
func Assess(i ISA) {
	for _, of := range []struct {
		name, cells string
		join        func(v, to VecVirtual)
	}{
		{"any", "that touch any voxel", func(v, to VecVirtual) { VPORQ(v, to, to) }},
		{"all", "whose corners are all voxels", func(v, to VecVirtual) { VPANDQ(v, to, to) }},
	} {
		Func(of.name+i.Name, "func(before, plane *uint64, stride, rows, words int) int64",
			"is the characteristic of the cells "+of.cells+" and start at so many rows, of which the first is after "+
				"the given rows of two planes, stride bytes apart.")
		runsBetween("before", "plane", of.join)
	}
}
