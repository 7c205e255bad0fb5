package fingerprint

import "eccbench/internal/grid"

// Bytes have a way of their own, 64 to a vector, that neither looks up the weight of each voxel
// nor adds up each cell. Of a row, each voxel is a cell, and so is what lies between two, with
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
	turns
	table   *[digits * 256]byte // of W − w of each byte, the lowest digits first
	nothing int64               // W − w of byte 0

	lists  []byte // room for room bytes of each of the four
	room   int
	counts [4]int64 // of the bytes in each list
	sum    int64    // of the lists so far, with their signs
}

// digits are the bytes of W − w, which are enough for a weight of at most 256 levels.
const digits = 5

// turns are the vector instructions, of the least or of the greatest values. Each writes the
// turning points of rows, with a byte 0 after those of each, to lists that are apart bytes
// apart, and adds to their counts.
type turns struct {
	// volume writes those of each of some rows, of the least of it and the same row above, of
	// it and the row stride bytes on, and of all four.
	volume func(below, above *byte, stride, columns, rows int, to *byte, apart int, counts *[4]int64)
	// area writes those of each of some rows, and of the least of it and the next one.
	area func(below *byte, stride, columns, rows int, to *byte, apart int, counts *[4]int64)
	// alternate adds up the entries of 64·n bytes with even places, less the others.
	alternate func(table *[digits * 256]byte, src *byte, n int) int64
}

// listBytes is about how long a list grows.
const listBytes = 8 << 10

func newTurning(t turns, table *[digits * 256]byte, columns int64) *turning {
	s := &turning{turns: t, table: table, room: max(listBytes, int(columns)+1) + 64}
	for d := range digits {
		s.nothing |= int64(table[256*d]) << (8 * d)
	}
	s.lists = make([]byte, 4*s.room)
	return s
}

// digitsOf are W − w of each byte, in digits. It is nil where they are not enough.
func digitsOf(weights []uint64, outside uint64) *[digits * 256]byte {
	table := new([digits * 256]byte)
	for v, w := range weights {
		off := outside - w
		if off>>(8*digits) != 0 {
			return nil
		}
		for d := range digits {
			table[256*d+v] = byte(off >> (8 * d))
		}
	}
	return table
}

// fit is how many rows of so many columns there is room for, at least one.
func (t *turning) fit(columns, rows int64) int64 {
	most := max(t.counts[0], t.counts[1], t.counts[2], t.counts[3])
	n := (int64(t.room) - 64 - most) / (columns + 1)
	if n == 0 {
		t.look()
		n = (int64(t.room) - 64) / (columns + 1)
	}
	return min(n, rows)
}

// look adds up the lists, of which the first and the last count positively, and empties them.
func (t *turning) look() {
	for i := range t.counts {
		n := int(t.counts[i])
		if n == 0 {
			continue
		}
		list := t.lists[i*t.room:]
		clear(list[n : n+64])
		sum := t.alternate(t.table, &list[0], (n+63)/64)
		if i == 1 || i == 2 {
			sum = -sum
		}
		t.sum += sum
	}
	t.counts = [4]int64{}
}

// planes is t of the cells of positions in some rows, each with the next row and both above.
func (t *turning) planes(below, above []byte, columns, rows int64) {
	for at := int64(0); at < rows; {
		n := t.fit(columns, rows-at)
		t.volume(&below[at*columns], &above[at*columns], int(columns), int(columns), int(n), &t.lists[0], t.room, &t.counts)
		at += n
	}
}

// plane is t of the cells of positions in some rows, each with the row stride bytes on, or with
// less of none less than those.
func (t *turning) plane(below []byte, stride, columns, rows int64, less bool) {
	for at := int64(0); at < rows; {
		n := t.fit(columns, rows-at)
		first, apart, counts := 0, t.room, &t.counts
		var turned [4]int64
		if less { // the second list is first, and the first one behind it
			first, apart = t.room, -t.room
			turned, counts = [4]int64{t.counts[1], t.counts[0]}, &turned
		}
		t.area(&below[at*stride], int(stride), int(columns), int(n), &t.lists[first], apart, counts)
		if less {
			t.counts[0], t.counts[1] = turned[1], turned[0]
		}
		at += n
	}
}

// row is t of one row, or with less of none less than that.
func (t *turning) row(row []byte, columns int64, less bool) {
	t.look()
	t.plane(row, 0, columns, 1, less)
	// The row with itself is in the other list, which is taken away.
	if less {
		t.counts[0] = 0
		t.sum -= t.nothing // the byte 0 behind it, which none of another sign makes up for
	} else {
		t.counts[1] = 0
		t.sum += t.nothing
	}
}

// take is what was added up, in the sum over cells.
func (t *turning) take(dim int) uint64 {
	t.look()
	sum := t.sum
	t.sum = 0
	if dim == 3 { // a square counts positively, a cube negatively
		sum = -sum
	}
	return uint64(sum)
}

// turnPlane is plane by turning points.
func (m *march) turnPlane(c *core, v view, lo, hi int64) error {
	at := func(y int64) []byte { return v.data[(y-v.first)*m.w:] }
	if lo < 0 {
		c.turning.row(at(0), m.w, true)
		lo = 0
	}
	for hi = min(hi, m.h-1); lo < hi; {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		n := min(m.rows, hi-lo)
		c.turning.plane(at(lo), m.w, m.w, n, false)
		lo += n
	}
	c.sum += c.turning.take(2)
	return nil
}

// turnStrip is strip by turning points.
func (m *march) turnStrip(c *core, v view, lo, hi, y int64) error {
	at := func(z, y int64) []byte { return v.data[((z-v.first)*m.h+y)*m.w:] }
	from, to := max(y, 0), min(y+m.rows, m.h-1)
	for z := lo; z < min(hi, m.n-1); z++ {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		switch {
		case z < 0:
			if y < 0 {
				c.turning.row(at(0, 0), m.w, false)
			}
			if to > from {
				c.turning.plane(at(0, from), m.w, m.w, to-from, true)
			}
		default:
			if y < 0 {
				c.turning.plane(at(z, 0), m.h*m.w, m.w, 1, true)
			}
			if to > from {
				c.turning.planes(at(z, from), at(z+1, from), m.w, to-from)
			}
		}
	}
	c.sum += c.turning.take(3)
	return nil
}
