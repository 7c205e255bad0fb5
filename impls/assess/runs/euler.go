package runs

import (
	"math"
	"math/bits"

	"eccbench/internal/isa"
	"eccbench/internal/workloads/assess"
)

// euler returns the Euler characteristics of a mask in both constructions.
//
// Cells that start at a row and differ only in whether they span x are counted together as runs. T
// counts cells that touch any voxel of the rows at the cell. V counts cells whose corners are all
// in the mask.
func (s *space) euler(mask []uint64) (n [assess.Constructions]int64) {
	for z := range s.d + 1 {
		addCells(&n, s.withBorder(mask, z-1), s.withBorder(mask, z), s.stride)
	}
	return n
}

// withBorder returns plane z of a mask with the empty rows before and after it.
func (s *space) withBorder(mask []uint64, z int) []uint64 { return mask[s.row(z, -1):][:s.plane] }

// A counter adds the cells that start at the rows of a plane, except its first row. Rows have
// stride words; the last one is empty. below is the plane before.
type counter func(n *[assess.Constructions]int64, below, plane []uint64, stride int)

// addCells counts with the best instruction set.
var addCells = counterOf(isa.Available(assembled)[0])

// addEuler is the counter without vectors. The rows before rows d along y, z and both are c, b and a.
func addEuler(n *[assess.Constructions]int64, below, plane []uint64, stride int) {
	a, b, c, d := below[:len(below)-stride], below[stride:], plane[:len(plane)-stride], plane[stride:]
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
