package runs

import (
	"math"
	"math/bits"

	"eccbench/internal/workloads/assess"
)

// euler returns the Euler characteristics of a mask in both constructions.
//
// Cells that start at a row and differ only in whether they span x are counted together as runs. T
// counts cells that touch any voxel of the rows at the cell. V counts cells whose corners are all
// in the mask.
func (s *space) euler(mask []uint64) (n [assess.Constructions]int64) {
	rows := func(z, y int) []uint64 { return mask[s.row(z, y):][:(s.h+1)*s.stride] }
	for z := range s.d + 1 {
		addEuler(&n, rows(z-1, -1), rows(z-1, 0), rows(z, -1), rows(z, 0))
	}
	return n
}

// addEuler adds the cells that start at rows d. The rows before them along y, z and both are c, b and
// a. The last word of each row is empty.
func addEuler(n *[assess.Constructions]int64, a, b, c, d []uint64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	var some, someB, someC, all, allB, allC, last uint64 // the previous words; their last bit counts
	for i := range a {
		v := d[i]
		vb, vc, wb, wc := v|b[i], v|c[i], v&b[i], v&c[i]
		vs, ws := a[i]|vb|vc, a[i]&wb&wc
		if (vs != 0 || some>>63 != 0) && (ws != math.MaxUint64 || all>>63 == 0) {
			own := runStarts(v, last)
			n[assess.T] += runStarts(vs, some) - runStarts(vb, someB) - runStarts(vc, someC) + own
			n[assess.V] += runStarts(ws, all) - runStarts(wb, allB) - runStarts(wc, allC) + own
		}
		some, someB, someC, all, allB, allC, last = vs, vb, vc, ws, wb, wc, v
	}
}

// runStarts returns the number of runs that start in a word; before is the previous word.
func runStarts(v, before uint64) int64 { return int64(bits.OnesCount64(v &^ (v<<1 | before>>63))) }
