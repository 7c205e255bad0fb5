package runs

import (
	"encoding/binary"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// A box is voxels lo ≤ i < hi along depth, height and width.
type box struct{ lo, hi [3]int64 }

const far = 1 << 62

var emptyBox = box{lo: [3]int64{far, far, far}}

// bounds returns the least box that holds both.
func (b box) bounds(o box) box {
	for i := range b.lo {
		b.lo[i], b.hi[i] = min(b.lo[i], o.lo[i]), max(b.hi[i], o.hi[i])
	}
	return b
}

// boxesOf are the bounding boxes of all codes in both images.
func boxesOf(in *assess.Pair, cores int) []box {
	n, slices := 4*cores, in.Shape().D*in.Shape().H
	parts := make([][]box, n)
	inParallel(cores, n, func(p int) {
		parts[p] = make([]box, len(in.Labels))
		for c := range parts[p] {
			parts[p][c] = emptyBox
		}
		lo, hi := slices*int64(p)/int64(n), slices*int64(p+1)/int64(n)
		for _, f := range []*grid.Field{in.Pred, in.Truth} {
			if f.Type() == grid.Uint8 {
				extend(parts[p], f, grid.Values[uint8](f.Data()), lo, hi, endOfBytes)
			} else {
				extend(parts[p], f, grid.Values[uint16](f.Data()), lo, hi, endOf)
			}
		}
	})
	for _, other := range parts[1:] {
		for c := range other {
			parts[0][c] = parts[0][c].bounds(other[c])
		}
	}
	return parts[0]
}

// extend extends the boxes of the codes in rows lo ≤ i < hi. end is how many of the first values are equal.
func extend[T uint8 | uint16](boxes []box, f *grid.Field, values []T, lo, hi int64, end func([]T) int) {
	s := f.Shape()
	for i := lo; i < hi; i++ {
		z, y := i/s.H, i%s.H
		row := values[i*s.W:][:s.W]
		for x := 0; x < len(row); {
			n := end(row[x:])
			if c := row[x]; c != 0 {
				b := &boxes[c]
				b.lo = [3]int64{min(b.lo[0], z), min(b.lo[1], y), min(b.lo[2], int64(x))}
				b.hi = [3]int64{max(b.hi[0], z+1), max(b.hi[1], y+1), max(b.hi[2], int64(x+n))}
			}
			x += n
		}
	}
}

// countRuns counts the runs of each code along the rows of both images. The count of code 0 is the number of runs of
// all other codes together.
func countRuns(in *assess.Pair) []int64 {
	var each [2][]int64
	crew.Each(len(each), func(i int) {
		f := []*grid.Field{in.Pred, in.Truth}[i]
		each[i] = make([]int64, len(in.Labels))
		if f.Type() == grid.Uint8 {
			addRuns(each[i], grid.Values[uint8](f.Data()), f.Shape().W, endOfBytes)
		} else {
			addRuns(each[i], grid.Values[uint16](f.Data()), f.Shape().W, endOf)
		}
	})
	for c, n := range each[1] {
		each[0][c] += n
	}
	return each[0]
}

func addRuns[T uint8 | uint16](n []int64, values []T, w int64, end func([]T) int) {
	for ; len(values) > 0; values = values[w:] {
		before := T(0)
		for row := values[:w]; len(row) > 0; row = row[end(row):] {
			if c := row[0]; c != 0 {
				if n[c]++; before == 0 {
					n[0]++
				}
			}
			before = row[0]
		}
	}
}

func endOf[T uint8 | uint16](row []T) int {
	for i, v := range row {
		if v != row[0] {
			return i
		}
	}
	return len(row)
}

// ones has a 1 in each byte of a word.
const ones = 0x0101010101010101

// endOfBytes is endOf, eight at a time.
func endOfBytes(row []uint8) int {
	all, i := uint64(row[0])*ones, 0
	for ; i+8 <= len(row); i += 8 {
		if v := binary.LittleEndian.Uint64(row[i:]) ^ all; v != 0 {
			return i + bits.TrailingZeros64(v)/8
		}
	}
	for ; i < len(row) && row[i] == row[0]; i++ {
	}
	return i
}

// A bitmap is a mask within a box, a bit a voxel. Each row begins with a word of its own.
type bitmap struct {
	d, h, w, words int
	rows           []uint64
}

// row is row i of all planes.
func (b bitmap) row(i int) []uint64 { return b.rows[i*b.words:][:b.words] }

// pack marks the voxels of some codes within a box. whole says that these are all but 0.
func pack(f *grid.Field, in box, member []bool, codes []uint16, whole bool) bitmap {
	b := bitmap{d: int(in.hi[0] - in.lo[0]), h: int(in.hi[1] - in.lo[1]), w: int(in.hi[2] - in.lo[2])}
	b.words = (b.w + 63) / 64
	b.rows = make([]uint64, b.d*b.h*b.words)
	s := f.Shape()
	for i := range b.d * b.h {
		z, y := in.lo[0]+int64(i/b.h), in.lo[1]+int64(i%b.h)
		at := (z*s.H+y)*s.W + in.lo[2]
		switch to := b.row(i); {
		case f.Type() == grid.Uint16:
			packMembers(to, grid.Values[uint16](f.Data())[at:][:b.w], member)
		case whole:
			packBytes(to, f.Data()[at:][:b.w], 0, true)
		case len(codes) == 1:
			packBytes(to, f.Data()[at:][:b.w], uint8(codes[0]), false)
		default:
			packMembers(to, f.Data()[at:][:b.w], member)
		}
	}
	return b
}

func packMembers[T uint8 | uint16](to []uint64, row []T, member []bool) {
	for i, v := range row {
		if member[v] {
			to[i/64] |= 1 << (i % 64)
		}
	}
}

// packBytes marks the bytes that are a code, or those that are not, eight at a time.
func packBytes(to []uint64, row []uint8, code uint8, inverted bool) {
	const (
		low   = ones * 0x7f
		order = 0x0102040810204080 // brings the lowest bit of each byte to the highest byte, in order
	)
	all, flip := uint64(code)*ones, uint64(0)
	if inverted {
		flip = ones
	}
	i := 0
	for ; i+8 <= len(row); i += 8 {
		v := binary.LittleEndian.Uint64(row[i:]) ^ all
		zero := ^((v&low + low) | v) & ^uint64(low) >> 7 // a 1 in each byte that is 0
		to[i/64] |= (zero ^ flip) * order >> 56 << (i % 64)
	}
	for ; i < len(row); i++ {
		if (row[i] == code) != inverted {
			to[i/64] |= 1 << (i % 64)
		}
	}
}

// union returns the union of two bitmaps of one box.
func (b bitmap) union(o bitmap) bitmap {
	u := b
	u.rows = make([]uint64, len(b.rows))
	for i, v := range b.rows {
		u.rows[i] = v | o.rows[i]
	}
	return u
}

// count is how many voxels are marked.
func (b bitmap) count() (n int64) {
	for _, v := range b.rows {
		n += int64(bits.OnesCount64(v))
	}
	return n
}

// euler is the Euler characteristic of the cells of a construction. The cells that begin at a row and
// are alike but for whether they span x count as runs do: T has the cells that touch some voxel of a
// row, V those whose corners are all in the mask.
func (b bitmap) euler(construction int) (n int64) {
	none := make([]uint64, b.words)
	row := func(z, y int) []uint64 {
		if z < 0 || z >= b.d || y < 0 || y >= b.h {
			return none
		}
		return b.row(z*b.h + y)
	}
	count := eulerOfUnions
	if construction == assess.V {
		count = eulerOfCommon
	}
	for z := range b.d + 1 {
		for y := range b.h + 1 {
			n += count(row(z-1, y-1), row(z-1, y), row(z, y-1), row(z, y))
		}
	}
	return n
}

func eulerOfUnions(a, b, c, d []uint64) (n int64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	var p1, p2, p3, p4 uint64 // the words before, of which the last bit counts
	for i := range a {
		v1, v2, v3 := d[i], b[i]|d[i], c[i]|d[i]
		v4 := a[i] | b[i] | v3
		if v4|p4>>63 != 0 {
			n += starts(v4, p4) - starts(v3, p3) - starts(v2, p2) + starts(v1, p1)
		}
		p1, p2, p3, p4 = v1, v2, v3, v4
	}
	return n
}

func eulerOfCommon(a, b, c, d []uint64) (n int64) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	var p1, p2, p3, p4 uint64
	for i := range a {
		v1, v2, v3 := d[i], b[i]&d[i], c[i]&d[i]
		v4 := a[i] & b[i] & v3
		if v1 != 0 {
			n += starts(v4, p4) - starts(v3, p3) - starts(v2, p2) + starts(v1, p1)
		}
		p1, p2, p3, p4 = v1, v2, v3, v4
	}
	return n
}

// starts is how many runs begin in a word after another one.
func starts(v, before uint64) int64 { return int64(bits.OnesCount64(v &^ (v<<1 | before>>63))) }
