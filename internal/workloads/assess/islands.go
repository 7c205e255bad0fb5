package assess

import (
	"math/bits"

	"eccbench/internal/grid"
)

// side is the greatest number of blocks along an axis.
const side = 32

// blocks marks the blocks of an image that have voxels of a code: one bit per x, one word per z and
// y.
type blocks [side * side]uint32

func (b *blocks) join(o *blocks) {
	for i, v := range o {
		b[i] |= v
	}
}

// A blocking is the lengths of blocks along z, y and x, as powers of two.
type blocking [3]int

func blockingOf(s grid.Shape) (b blocking) {
	for axis, n := range [3]int64{s.D, s.H, s.W} {
		b[axis] = bits.Len64(uint64((n - 1) / side))
	}
	return b
}

// mark marks the blocks of the voxels first to last of a row.
func (b blocking) mark(of *blocks, z, y, first, last int64) {
	of[z>>b[0]*side+y>>b[1]] |= from(first>>b[2], last>>b[2])
}

// from returns a word with the bits first to last set.
func from(first, last int64) uint32 { return uint32(uint64(2)<<last - uint64(1)<<first) }

// islands splits the extent of a set into parts that planes without a voxel separate. Numbers of
// the set are sums over the islands.
func (c census) islands(s Set) (list []extent) {
	var occupied blocks
	var all extent
	for i, code := range s.Codes {
		if i == 0 {
			all = c.extents[code]
		}
		all.join(c.extents[code])
		if c.blocks != nil {
			occupied.join(&c.blocks[code])
		}
	}
	if len(s.Codes) == 0 || all.least[0] > all.greatest[0] {
		return nil
	}
	if c.blocks == nil {
		return []extent{all}
	}
	occupied.cut(extent{greatest: [3]int64{side - 1, side - 1, side - 1}}, func(e extent) {
		for axis, by := range c.blocking {
			e.least[axis] = max(e.least[axis]<<by, all.least[axis])
			e.greatest[axis] = min((e.greatest[axis]+1)<<by-1, all.greatest[axis])
		}
		list = append(list, e)
	})
	return list
}

// cut calls f with each extent of blocks that empty planes separate.
func (b *blocks) cut(e extent, f func(extent)) {
	for axis := range e.least {
		if parts := b.parts(e, axis); len(parts) != 1 || parts[0] != e {
			for _, part := range parts {
				b.cut(part, f)
			}
			return
		}
	}
	f(e)
}

// parts splits an extent at its empty planes across one axis.
func (b *blocks) parts(e extent, axis int) (list []extent) {
	used := uint32(0)
	for z := e.least[0]; z <= e.greatest[0]; z++ {
		for y := e.least[1]; y <= e.greatest[1]; y++ {
			if v := b[z*side+y] & from(e.least[2], e.greatest[2]); v != 0 {
				used |= [3]uint32{1 << z, 1 << y, v}[axis]
			}
		}
	}
	for used != 0 {
		part := e
		part.least[axis] = int64(bits.TrailingZeros32(used))
		part.greatest[axis] = part.least[axis] + int64(bits.TrailingZeros32(^(used >> part.least[axis]))) - 1
		list = append(list, part)
		used &^= from(part.least[axis], part.greatest[axis])
	}
	return list
}
