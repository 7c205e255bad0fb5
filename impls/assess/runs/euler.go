package runs

import (
	"math"
	"math/bits"

	"eccbench/internal/workloads/assess"
)

// euler returns the Euler characteristics in both constructions of a mask of d planes of h rows.
//
// Cells that start at a row and differ only in whether they span x are counted together as runs. T
// counts cells that touch any voxel of the rows at the cell. V counts cells whose corners are all
// in the mask.
func (r runs) euler(d, h int) (n [assess.Constructions]int64) {
	lo, hi := int32(math.MaxInt32), int32(0)
	for _, s := range r.list {
		lo, hi = min(lo, s.lo), max(hi, s.hi)
	}
	words := int(max(0, hi-lo)+63) / 64
	var planes [2][]uint64 // with an empty row at either end
	for i := range planes {
		planes[i] = make([]uint64, (h+2)*words)
	}
	some := [2]bool{}
	for z := range d + 1 {
		if some[0] {
			clear(planes[0])
		}
		planes[0], planes[1], some[0] = planes[1], planes[0], some[1]
		some[1] = z < d && r.start[z*h] < r.start[(z+1)*h]
		for y := 0; some[1] && y < h; y++ {
			row := planes[1][(y+1)*words:][:words]
			for _, s := range r.row(z*h + y) {
				mark(row, s.lo-lo, s.hi-lo)
			}
		}
		for y := 0; (some[0] || some[1]) && y <= h; y++ {
			at, next := y*words, (y+1)*words
			addEuler(&n, planes[0][at:][:words], planes[0][next:][:words], planes[1][at:][:words], planes[1][next:][:words])
		}
	}
	return n
}

// mark sets the bits lo ≤ i < hi.
func mark(row []uint64, lo, hi int32) {
	for first, last, i := lo/64, (hi-1)/64, lo/64; i <= last; i++ {
		word := uint64(math.MaxUint64)
		if i == first {
			word <<= lo % 64
		}
		if i == last {
			word &= math.MaxUint64 >> (63 - (hi-1)%64)
		}
		row[i] |= word
	}
}

// addEuler adds the cells that start at row d. The rows before it along y, z and both are c, b and
// a.
func addEuler(n *[assess.Constructions]int64, a, b, c, d []uint64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	var some, someB, someC, all, allB, allC, last uint64 // the previous words; their last bit counts
	for i := range a {
		v := d[i]
		vb, vc, wb, wc := v|b[i], v|c[i], v&b[i], v&c[i]
		vs, ws := a[i]|vb|vc, a[i]&wb&wc
		if (vs != 0 || some>>63 != 0) && (ws != math.MaxUint64 || all>>63 == 0) {
			own := starts(v, last)
			n[assess.T] += starts(vs, some) - starts(vb, someB) - starts(vc, someC) + own
			n[assess.V] += starts(ws, all) - starts(wb, allB) - starts(wc, allC) + own
		}
		some, someB, someC, all, allB, allC, last = vs, vb, vc, ws, wb, wc, v
	}
}

// starts returns the number of runs that start in a word; before is the previous word.
func starts(v, before uint64) int64 { return int64(bits.OnesCount64(v &^ (v<<1 | before>>63))) }
