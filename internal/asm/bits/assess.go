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
			"returns the Euler characteristic of the cells "+of.cells+", of rows of a plane. Rows are stride bytes "+
				"apart; before and plane are the rows before the first one, in the plane before and in this one.")
		runsBetween("before", "plane", of.join)
	}
}
