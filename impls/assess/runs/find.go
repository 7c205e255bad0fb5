package runs

import (
	"encoding/binary"
	"math"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// A placed is a run and its row in the whole image.
type placed struct {
	row, lo, hi int32 // voxels lo ≤ x < hi
}

// found are the runs of each set in both images by slab of rows, sorted by row.
type found [][2][][]placed

// of returns the runs of a set in both images.
func (f found) of(set int) (each [2][]placed) {
	for i := range each {
		n := 0
		for _, slab := range f {
			n += len(slab[i][set])
		}
		each[i] = make([]placed, 0, n)
		for _, slab := range f {
			each[i] = append(each[i], slab[i][set]...)
			slab[i][set] = nil
		}
	}
	return each
}

// islands divides the runs of a set at planes without voxels along y and x, or z and x. Numbers of
// the set are sums over the islands.
func islands(set [2][]placed, h int32) (list [][2][]placed) {
	for axis := range 2 {
		key := func(row int32) int32 { return []int32{row / h, row % h}[axis] }
		most := int32(0)
		for _, runs := range set {
			for _, r := range runs {
				most = max(most, key(r.row))
			}
		}
		island := make([]int32, most+2) // by key: 1 if there are runs, later the number of islands so far
		for _, runs := range set {
			for _, r := range runs {
				island[key(r.row)+1] = 1
			}
		}
		n := int32(0)
		for k, before := 1, int32(0); k < len(island); k++ {
			some := island[k]
			if some > before {
				n++
			}
			island[k], before = n, some
		}
		if n < 2 {
			continue
		}
		parts := make([][2][]placed, n)
		for i, runs := range set {
			for _, r := range runs {
				to := &parts[island[key(r.row)+1]-1][i]
				*to = append(*to, r)
			}
		}
		for _, part := range parts {
			list = append(list, islands(part, h)...)
		}
		return list
	}
	return [][2][]placed{set}
}

// find lists the runs of all sets in both images.
func find(in *assess.Pair, sets []assess.Set, cores int) found {
	setsOf := make([][]int, max(256, len(in.Labels))) // by code
	for i, set := range sets {
		for _, c := range set.Codes {
			setsOf[c] = append(setsOf[c], i)
		}
	}
	slabs, rows := 4*cores, in.Shape().D*in.Shape().H
	all := make(found, slabs)
	crew.InTurn(cores, slabs, func(_, k int) {
		lo, hi := rows*int64(k)/int64(slabs), rows*int64(k+1)/int64(slabs)
		for i, f := range []*grid.Field{in.Pred, in.Truth} {
			all[k][i] = make([][]placed, len(sets))
			if f.Type() == grid.Uint8 {
				appendRuns(all[k][i], setsOf, grid.Values[uint8](f.Data()), f.Shape().W, lo, hi, endOfBytes)
			} else {
				appendRuns(all[k][i], setsOf, grid.Values[uint16](f.Data()), f.Shape().W, lo, hi, endOf)
			}
		}
	})
	return all
}

// appendRuns appends the runs of the sets in rows lo ≤ i < hi. end returns the number of leading
// equal values.
func appendRuns[T uint8 | uint16](to [][]placed, setsOf [][]int, values []T, w, lo, hi int64, end func([]T) int) {
	for i := lo; i < hi; i++ {
		row := values[i*w:][:w]
		for x := 0; x < len(row); {
			n := end(row[x:])
			for _, s := range setsOf[row[x]] {
				last := len(to[s]) - 1
				if last >= 0 && to[s][last].row == int32(i) && to[s][last].hi == int32(x) {
					to[s][last].hi += int32(n) // another label of the set
				} else {
					to[s] = append(to[s], placed{int32(i), int32(x), int32(x + n)})
				}
			}
			x += n
		}
	}
}

// A box is d planes of h rows, starting at plane z, row y and voxel x.
type box struct{ z, y, x, d, h int }

// spaceOf returns the space of the bounding box of some runs, in planes of h rows.
func spaceOf(set [2][]placed, h int32) space {
	lo, hi := [3]int32{math.MaxInt32, math.MaxInt32, math.MaxInt32}, [3]int32{-1, -1, -1}
	for _, runs := range set {
		before := int32(-1)
		for _, r := range runs {
			lo[2], hi[2] = min(lo[2], r.lo), max(hi[2], r.hi-1)
			if r.row == before {
				continue
			}
			before = r.row
			for axis, at := range [2]int32{r.row / h, r.row % h} {
				lo[axis], hi[axis] = min(lo[axis], at), max(hi[axis], at)
			}
		}
	}
	s := space{box: box{int(lo[0]), int(lo[1]), int(lo[2]), int(hi[0] - lo[0] + 1), int(hi[1] - lo[1] + 1)}}
	s.words = int(hi[2]-lo[2])/64 + 1
	s.stride = s.words + 1
	s.plane = (s.h + 2) * s.stride
	return s
}

// place returns the mask of runs from planes of h rows.
func (s *space) place(runs []placed, h int32) []uint64 {
	mask := s.newMask()
	before, first := int32(-1), 0
	for _, r := range runs {
		if r.row != before {
			before, first = r.row, s.row(int(r.row/h)-s.z, int(r.row%h)-s.y)
		}
		mark(mask[first:], r.lo-int32(s.x), r.hi-int32(s.x))
	}
	return mask
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

// endOfBytes is endOf for bytes, eight at a time.
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
