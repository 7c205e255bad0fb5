package fingerprint

import (
	"math"

	"eccbench/internal/grid"
)

// Voxels of 8 and 16 bits have a way of their own that neither looks up the weight of each nor
// adds up each cell. Of a row, each voxel is a cell, and so is what lies between two, with
// the lesser of their values. A voxel whose row rises to one side of it and falls to the other
// has as many cells of either sign. Left are the turning points: the greatest of their
// surroundings count once more than the cells beside them, the least once less, and they take
// turns, from one of the least to one of the least. Cells that reach beyond a row are those of
// a row of the lesser values of two rows, so
//
//	Σ over the cells of a position's row = ±(t(row) − t(row below) − t(row above) + t(both))
//
// where t is what the turning points sum to, and each row is the least of the one at the
// position and the others named. Nothing is outside along a row; where the next row or plane is
// outside the terms cancel, and where the one at the position is, two are left.
//
// A turning writes the turning points down, and looks up their weights when there are many.
type turning struct {
	*turns
	functions []*turns // that look the lists up, those first
	size      int64    // of a voxel in bytes
	lists     []byte
	room      int // bytes of each of the four lists
	counts    [4]int64
	sums      []int64 // of the lists so far, with their signs, by each function
	listed    int64   // bytes of the lists so far
}

// turns are how turning points are found and looked up, of the least or of the greatest values.
type turns struct {
	turnVectors
	// alternate is what W − w of the voxels in a list with even places sums to, less that of
	// the others. There is room for listEnd bytes behind the list.
	alternate func(list []byte) int64
	nothing   int64 // W − w of voxel 0
	// most is how many turning points a voxel may have before tiles are quicker.
	most float64
}

// turnVectors are the vector instructions for voxels of a type. Each writes the turning points
// of rows, one at least, of so many columns, with a voxel 0 after those of each, to lists that are apart
// bytes apart, and adds to their counts, in bytes. It ends before a row where a list has more
// than full bytes, and returns how many rows it took.
type turnVectors struct {
	// volume writes those of each of some rows, of the least of it and the same row above, of
	// it and the row stride bytes on, and of all four.
	volume func(below, above *byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int
	// area writes those of each of some rows, and of the least of it and the next one.
	area func(below *byte, stride, columns, rows int, to *byte, apart, full int, counts *[4]int64) int
}

// lookUps add up what a table has for n times 64 bytes, those with even places, less those with odd
// ones: of digits bytes for each, or of one less where it is of what is left of a line, whose slope
// times the bytes is added from bit lineBits on.
type lookUps struct {
	whole func(table *[digits * 256]byte, src *byte, n int) int64
	line  func(table *[digits * 256]byte, src *byte, n int, slope int64) int64
	// Of multilinear weights, the second of n times 64 voxels of 16 bits.
	forms func(numbers *[forms * 128]byte, factors *[forms]uint64, src *byte, n int) int64
	pairs func(numbers *[forms * 192]byte, factors *[forms]uint64, src *byte, n int) int64
}

const (
	// lineBits are how many random bits there are below a level where there are at most 256.
	lineBits = 31
	// digits are the bytes of W − w that are enough on at most 256 levels.
	digits = 5
	// listBytes is about how long a list grows, and listEnd the bytes behind it that are looked at.
	listBytes = 16 << 10
	listEnd   = 128
	// atOnce is how many bytes are looked up before what they sum to leaves 32 bits, and pairsAtOnce of voxels of 16
	// bits before a sixteenth does: 4,096, which are less than 2²³ each.
	atOnce      = 64 << 10
	pairsAtOnce = 8 << 10
	// pairsMost is how many turning points 16-bit voxels may have: each is looked up in a
	// table that only a second cache holds.
	pairsMost = 1.5
)

// newTurns is nil where there are no instructions for a type, and weights that ascend need none, nor those that
// have no table. The table is of the weights of the type's bit patterns; own says that each is a level of its own,
// and so needs no table where weights are multilinear and there are instructions.
func newTurns(t grid.Type, weights []uint64, w weights, own bool, isa string) *turns {
	if w.in.Vertices {
		return nil // what is outside has a say in every cell that touches it
	}
	outside := w.outside()
	v, lookUp, ok := turnVectorsOf(isa, t, w.in.Superlevel)
	if !ok {
		if w.multilinear == nil {
			return nil
		}
		v = turnsInGo(t, w.in.Superlevel)
	}
	s := &turns{turnVectors: v, most: math.Inf(1)}
	if w.multilinear != nil && own {
		if s.alternate = w.multilinear.alternate(t, lookUp); s.alternate != nil {
			s.nothing = int64(outside - w.multilinear.of(-least(t)))
			return s
		}
	}
	if weights == nil {
		return nil
	}
	s.nothing = int64(outside - weights[0])
	switch {
	case t == grid.Uint8 && w.multilinear == nil:
		if lookUp.whole == nil {
			return nil
		}
		table, slope := lineOf(weights, outside)
		if slope == 0 {
			if table = digitsOf(func(v int) uint64 { return outside - weights[v] }); table == nil {
				return nil
			}
		}
		s.alternate = func(list []byte) int64 {
			sum := int64(0)
			inVectors(list, 64, atOnce, func(src *byte, n int) {
				if slope == 0 {
					sum += lookUp.whole(table, src, n)
				} else {
					sum += lookUp.line(table, src, n, slope)
				}
			})
			return sum
		}
	case t == grid.Uint8:
		s.alternate = func(list []byte) int64 { return alternately(weights, list) }
	default:
		if w.multilinear == nil {
			s.most = pairsMost
		}
		s.alternate = func(list []byte) int64 { return alternately(weights, grid.Values[uint16](list)) }
	}
	return s
}

// alternately adds up what is less than W of a list's values, with the signs of their places, by a table of
// the weights of all values.
func alternately[V uint8 | uint16](table []uint64, list []V) int64 {
	var sum uint64
	table = table[:int(^V(0))+1]
	for ; len(list) > 1; list = list[2:] {
		sum += table[list[1]] - table[list[0]] // W goes out
	}
	return int64(sum)
}

// inVectors calls f with the vectors of a list, of so many bytes, as many as may be looked up at once.
func inVectors(list []byte, vector, atOnce int, f func(src *byte, n int)) {
	clear(list[len(list) : len(list)+vector])
	for ; len(list) > atOnce; list = list[atOnce:] {
		f(&list[0], atOnce/vector)
	}
	f(&list[0], (len(list)+vector-1)/vector)
}

// lineOf are what W − w of each byte is beyond a line that rises or falls by a level a byte, as it
// is where each byte is a level, in one byte less than the whole takes. Where the line begins goes
// out in a list of even length. The slope is 0 where there is no such line.
func lineOf(weights []uint64, outside uint64) (table *[digits * 256]byte, slope int64) {
	first := (outside - weights[0] - 1) >> lineBits // of 1 to 2³¹ beyond it
	for _, slope := range []int64{-1, 1} {
		beyond := func(v int) uint64 { return outside - weights[v] - (first+uint64(slope*int64(v)))<<lineBits }
		if table = digitsOf(beyond); table != nil && [256]byte(table[256*(digits-1):]) == [256]byte{} {
			return table, slope
		}
	}
	return nil, 0
}

// digitsOf are the bytes of a number of each byte, the lowest digits of all first. It is nil where
// digits are not enough.
func digitsOf(number func(v int) uint64) *[digits * 256]byte {
	table := new([digits * 256]byte)
	for v := range 256 {
		n := number(v)
		if n>>(8*digits) != 0 {
			return nil
		}
		for d := range digits {
			table[256*d+v] = byte(n >> (8 * d))
		}
	}
	return table
}

// newTurning is how some functions that find turning points alike look at rows of so many columns.
func newTurning(functions []*turns, columns, size int64) *turning {
	s := &turning{turns: functions[0], functions: functions, size: size, room: int(max(listBytes, (columns+1)*size)) + listEnd, sums: make([]int64, len(functions))}
	s.lists = grid.NewBuffer(4 * int64(s.room))
	return s
}

// look adds up the lists, of which the first and the last count positively, and empties them.
func (t *turning) look() {
	for i, n := range t.counts {
		if n == 0 {
			continue
		}
		t.listed += n
		for f, of := range t.functions {
			sum := of.alternate(t.lists[i*t.room:][:n])
			if i == 1 || i == 2 {
				sum = -sum
			}
			t.sums[f] += sum
		}
	}
	t.counts = [4]int64{}
}

// planes is t of the cells of positions in some rows, each with the next row and both above.
func (t *turning) planes(below, above []byte, columns, rows int64) {
	stride := columns * t.size
	t.inLists(rows, func(at, rows int64) int {
		return t.volume(&below[at*stride], &above[at*stride], int(stride), int(columns), int(rows), &t.lists[0], t.room, t.full(columns), &t.counts)
	})
}

// plane is t of the cells of positions in some rows, each with the row stride bytes on, and
// taken away where less.
func (t *turning) plane(below []byte, stride, columns, rows int64, less bool) {
	t.inLists(rows, func(at, rows int64) int {
		if !less {
			return t.area(&below[at*stride], int(stride), int(columns), int(rows), &t.lists[0], t.room, t.full(columns), &t.counts)
		}
		// The rows go to the second list, the least of two to the first.
		counts := [4]int64{t.counts[1], t.counts[0]}
		n := t.area(&below[at*stride], int(stride), int(columns), int(rows), &t.lists[t.room], -t.room, t.full(columns), &counts)
		t.counts[0], t.counts[1] = counts[1], counts[0]
		return n
	})
}

// full is how many bytes a list may have before a row of so many columns, each of which may turn.
func (t *turning) full(columns int64) int { return t.room - listEnd - int((columns+1)*t.size) }

// inLists has rows taken from one on, which say how many there was room for, and looks at the lists in between.
func (t *turning) inLists(rows int64, take func(at, rows int64) int) {
	for at := int64(0); ; t.look() {
		if at += int64(take(at, rows-at)); at == rows {
			return
		}
	}
}

// row is t of one row, taken away where less.
func (t *turning) row(row []byte, columns int64, less bool) {
	t.look() // so that the lists have this row alone
	t.plane(row, 0, columns, 1, less)
	// The row with itself is in the other list. For the voxel 0 behind the row, no list of
	// the other sign makes up.
	if less {
		t.counts[0] = 0
	} else {
		t.counts[1] = 0
	}
	for f, of := range t.functions {
		if less {
			t.sums[f] -= of.nothing
		} else {
			t.sums[f] += of.nothing
		}
	}
}

// take adds what was added up to the sums over cells.
func (t *turning) take(dim int, to []uint64) {
	t.look()
	for f, sum := range t.sums {
		if dim == 3 { // a square counts positively, a cube negatively
			sum = -sum
		}
		to[f] += uint64(sum)
	}
	clear(t.sums)
}

// dense reports whether so many voxels had too many turning points.
func (t *turning) dense(voxels int64) bool {
	if math.IsInf(t.most, 1) {
		return false
	}
	t.look()
	n := t.listed
	t.listed = 0
	return float64(n) > t.most*float64(voxels*t.size)
}

// turnRows takes some rows of positions of a 2D image, and says how far it got.
func (m *march) turnRows(c *core, v view, lo, hi int64) int64 {
	at := func(y int64) []byte { return v.data[(y-v.first)*m.w*m.size:] }
	if lo < 0 {
		c.turning.row(at(0), m.w, true)
		lo = 0
	}
	end := min(lo+m.rows, hi)
	if to := min(end, m.h-1); to > lo {
		c.turning.plane(at(lo), m.w*m.size, m.w, to-lo, false)
	}
	return end
}

// turnPlane takes a plane of positions of a strip's rows.
func (m *march) turnPlane(c *core, v view, z, y int64) {
	at := func(z, y int64) []byte { return v.data[((z-v.first)*m.h+y)*m.w*m.size:] }
	from, to := max(y, 0), min(y+m.rows, m.h-1)
	switch {
	case z == m.n-1: // above is outside
	case z < 0:
		if y < 0 {
			c.turning.row(at(0, 0), m.w, false)
		}
		if to > from {
			c.turning.plane(at(0, from), m.w*m.size, m.w, to-from, true)
		}
	default:
		if y < 0 {
			c.turning.plane(at(z, 0), m.h*m.w*m.size, m.w, 1, true)
		}
		if to > from {
			c.turning.planes(at(z, from), at(z+1, from), m.w, to-from)
		}
	}
}
