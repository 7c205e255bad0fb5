package runs

import (
	"encoding/binary"
	"math"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/ecc/cells"
)

// A place has a bit for each plane, and then for each row of a plane, with voxels of a label.
type place struct {
	bits []uint64
	last int64 // the row of the image that was marked last
}

func newPlace(s grid.Shape) *place { return &place{make([]uint64, (s.D+s.H)/64+1), -1} }

func (p *place) mark(i int64)     { p.bits[i/64] |= 1 << (i % 64) }
func (p *place) has(i int64) bool { return p.bits[i/64]>>(i%64)&1 == 1 }

func (p *place) join(o *place) {
	for i, v := range o.bits {
		p.bits[i] |= v
	}
}

// survey returns the places of each code in either image, or nil for a code without voxels. For a
// single set it returns nil: to find the places costs as much as to pack the whole images.
func survey(in *assess.Pair, cores int) []*place {
	if len(in.Sets) == 1 {
		return nil
	}
	s, slabs := in.Shape(), make([][]*place, cores)
	crew.InTurn(cores, cores, func(_, k int) {
		of := make([]*place, codesOf(in))
		lo, hi := s.D*s.H*int64(k)/int64(cores), s.D*s.H*int64(k+1)/int64(cores)
		for _, f := range in.Fields() {
			if f.Type() == grid.Uint8 {
				markRows(of, f.Data(), s, lo, hi, endOfBytes)
			} else {
				markRows(of, grid.Values[uint16](f.Data()), s, lo, hi, endOf)
			}
		}
		slabs[k] = of
	})
	all := slabs[0]
	for _, slab := range slabs[1:] {
		for code, p := range slab {
			if all[code] == nil {
				all[code] = p
			} else if p != nil {
				all[code].join(p)
			}
		}
	}
	return all
}

// codesOf returns the number of entries of a table by code.
func codesOf(in *assess.Pair) int { return max(256, len(in.Labels)) }

// markRows marks the places of the codes in rows lo ≤ i < hi. end returns the number of leading equal
// values.
func markRows[T uint8 | uint16](of []*place, values []T, s grid.Shape, lo, hi int64, end func([]T) int) {
	for i := lo; i < hi; i++ {
		for row := values[i*s.W:][:s.W]; len(row) > 0; row = row[end(row):] {
			if row[0] == 0 {
				continue
			}
			p := of[row[0]]
			if p == nil {
				p = newPlace(s)
				of[row[0]] = p
			}
			if p.last != i {
				p.last = i
				p.mark(i / s.H)
				p.mark(s.D + i%s.H)
			}
		}
	}
}

func endOf(row []uint16) int {
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

// A finder finds the voxels of a set.
type finder struct {
	pair   *assess.Pair
	place  *place      // nil if voxels may be anywhere
	ranges [][2]uint16 // from the first to the last code: all codes of the set, and codes without voxels; or anyCode
}

// A range ends with anyCode if no code is above it.
const anyCode = math.MaxUint16

// finderOf returns the finder of a set. places come from survey.
func finderOf(in *assess.Pair, set assess.Set, places []*place) *finder {
	f := &finder{pair: in}
	if places != nil || len(set.Codes) == 0 {
		f.place = newPlace(in.Shape())
	}
	for i, code := range set.Codes {
		if places != nil && places[code] != nil {
			f.place.join(places[code])
		}
		joins := i > 0
		for c := code - 1; joins && c > set.Codes[i-1]; c-- {
			joins = places != nil && places[c] == nil
		}
		if joins {
			f.ranges[len(f.ranges)-1][1] = code
		} else {
			f.ranges = append(f.ranges, [2]uint16{code, code})
		}
	}
	if n := len(f.ranges); n > 0 && int(f.ranges[n-1][1]) == len(in.Labels)-1 {
		f.ranges[n-1][1] = anyCode
	}
	return f
}

// eachBox calls do with a box for each range of planes that have voxels.
func (f *finder) eachBox(do func(box)) {
	s := f.pair.Shape()
	has := func(i int64) bool { return f.place == nil || f.place.has(i) }
	y, end := int64(0), s.H
	for ; y < end && !has(s.D+y); y++ {
	}
	for ; end > y && !has(s.D+end-1); end-- {
	}
	for z := int64(0); z < s.D; z++ {
		if first := z; has(z) {
			for ; z < s.D && has(z); z++ {
			}
			do(box{z: int(first), y: int(y), d: int(z - first), h: int(end - y), words: int(s.W+63) / 64})
		}
	}
}

// pack returns the mask of an image in the space, which has all voxels of its rows.
func (f *finder) pack(s *space, image int) []uint64 {
	mask := s.newMask()
	if f.pair.IsPacked() { // whole, of its only set
		for z := range s.d {
			from := f.pair.Packed(image, int64(z))
			for y := range s.h {
				copy(mask[s.row(z, y):][:s.words], from.Row(int64(y)))
			}
		}
		return mask
	}
	of := f.pair.Fields()[image]
	h, w, size := int64(s.h), of.Shape().W, of.Type().Size()
	from, most := cells.NewPlaneSet(h, w), cells.NewPlaneSet(h, w)
	for z := range s.d {
		first := (int64(z+s.z)*of.Shape().H + int64(s.y)) * w
		plane := of.Data()[first*size:][:h*w*size]
		for _, r := range f.ranges {
			upTo := from
			from.Fill(of.Type(), plane, float32(r[0]-1))
			if from.Invert(); r[1] != anyCode {
				upTo = most
				upTo.Fill(of.Type(), plane, float32(r[1]))
			}
			for y := range s.h {
				row, its := from.Row(int64(y)), upTo.Row(int64(y))
				for i, to := 0, mask[s.row(z, y):][:s.words]; i < len(to); i++ {
					to[i] |= row[i] & its[i]
				}
			}
		}
	}
	return mask
}
