package random

import (
	"math/bits"
	"unsafe"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// lineWords is the divisor of the length of lines for vectors, in words. It suits every instruction
// set.
const lineWords = 16

// A vectorScratch is the working memory of the vector functions. Each array is longer than a line,
// because vectors read and write beyond its end.
type vectorScratch struct {
	schedule schedule
	bytes    []uint8
	counts   []uint16
	counts2  []uint16
	wide     []uint32
	wide2    []uint32
	values   []byte // of one vector
}

func (g *Field) newVectorScratch(line int64) *vectorScratch {
	n := line*g.lanes + 2*g.halo + 3 + 2*vectors.MaxTurn
	b := &vectorScratch{values: grid.NewBuffer(vectors.MaxTurn)}
	if g.narrow {
		b.bytes = make([]uint8, n)
		return b
	}
	b.counts, b.counts2 = make([]uint16, n), make([]uint16, n)
	if 32*g.widths[0]*g.widths[1]*g.widths[2] >= 1<<16 {
		b.wide, b.wide2 = make([]uint32, n), make([]uint32, n)
	}
	return b
}

// narrowLine computes the noise of one row, smoothed along x: a sum of 16 bits for each voxel.
func (g *Field) narrowLine(dst []uint64, t tile, y, z int64, b *vectorScratch) {
	f := &g.filters
	voxels := 4 * int64(len(dst))
	start := t.x0 - g.halo
	skip := start & 3
	b.schedule.set(&g.noise, y, z)
	f.CountBytes(&b.bytes[0], &b.schedule[0], uint32((start-skip)>>2), int(grid.CeilDiv(skip+voxels+2*g.halo, f.Turn)))
	f.Weigh((*uint16)(unsafe.Pointer(&dst[0])), &b.bytes[skip], &g.weights[0], f.Vectors(voxels, 1))
}

// vectorLine is line by vectors. The sums are in voxel order, one or two per word. They have 16
// bits for the filters whose sums fit, and 32 bits from then on.
func (g *Field) vectorLine(dst []uint64, t tile, y, z int64, b *vectorScratch) {
	f := &g.filters
	voxels := int64(len(dst)) * g.lanes
	start := t.x0 - g.halo
	skip := start & 3
	b.schedule.set(&g.noise, y, z)
	f.Counts(&b.counts[0], &b.schedule[0], uint32((start-skip)>>2), int(grid.CeilDiv(skip+voxels+2*g.halo, f.Turn)))
	n := voxels + 2*g.halo
	narrow, most, done := b.counts[skip:], int64(32), 0
	for done < 3 && most*g.widths[done] < 1<<16 {
		boxVectors(narrow, b.counts2, g.widths[done], f.Vectors(n, 2), f.Add16)
		most *= g.widths[done]
		done++
	}
	if done == 3 && g.lanes == 2 {
		f.Widen16to32((*uint32)(unsafe.Pointer(&dst[0])), &narrow[0], f.Vectors(voxels, 4))
		return
	} else if done == 3 {
		f.Widen16to64(&dst[0], &narrow[0], f.Vectors(voxels, 8))
		return
	}
	f.Widen16to32(&b.wide[0], &narrow[0], f.Vectors(n, 4))
	for ; done < 3; done++ {
		boxVectors(b.wide, b.wide2, g.widths[done], f.Vectors(n, 4), f.Add32)
	}
	if g.lanes == 2 {
		copy(halves(dst), b.wide)
	} else {
		f.Widen32to64(&dst[0], &b.wide[0], f.Vectors(voxels, 8))
	}
}

// halves returns the 32-bit sums in words.
func halves(words []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(words))), 2*len(words))
}

// pairs returns the address of the 16-bit sums in words.
func pairs(words []uint64) *uint16 { return (*uint16)(unsafe.Pointer(unsafe.SliceData(words))) }

// boxVectors replaces every number by the sum of the w numbers that begin with it; w is odd. It
// computes sums of 2, 4, 8, … numbers in spare, one after the other, and adds those in the binary
// expansion of w.
func boxVectors[T uint16 | uint32](line, spare []T, w int64, n int, add func(dst, a, b *T, n int)) {
	behind := int64(1)
	for size := int64(2); size <= w; size *= 2 {
		if size == 2 {
			add(&spare[0], &line[0], &line[1], n)
		} else {
			add(&spare[0], &spare[0], &spare[size/2], n)
		}
		if w&size != 0 {
			add(&line[0], &line[0], &spare[behind], n)
			behind += size
		}
	}
}

// A fastQuantiser computes the level of a sum with one 32-bit multiplication. For
// d = min(max(sum, base) − base, most) >> drop the level is (d·factor + zero) >> down. All
// operations round down, so the level may be one too low. That needs dropped bits within d + 1 of
// the next level, or within another factor if d was shifted. Their upper 32 bits are then at least
// near. This is rare, and the exact quantiser decides.
type fastQuantiser struct {
	base, most, zero  uint64
	factor, top, near uint32
	drop, down        uint
	piece             int64 // voxels that the exact quantiser recomputes together
}

// fast returns the fast form, or nil if it would need the exact quantiser too often.
func (q *quantiser) fast() *fastQuantiser {
	most := uint64(2*q.limit - 1)
	drop := max(bits.Len64(most), 32) - 32
	// The level is u·m >> (64+q), of u = d·2^(p+drop) + low.
	low := q.zero - (q.limit-1)<<q.shift
	down := 32 + int(q.down) - int(q.shift) - drop
	by := 32 + q.shift + uint(drop)
	if q.limit > q.mean || low < 0 || down < 32 || down > 62 {
		return nil
	}
	hi, lo := bits.Mul64(uint64(low), q.m)
	zero := hi<<(64-by) | lo>>by
	if by >= 64 {
		zero = hi >> (by - 64)
	} else if hi>>by != 0 {
		return nil
	}
	// d = 0 is also all sums below base, which are on level 0.
	if zero>>down != 0 {
		return nil
	}
	factor := q.m >> 32
	off := most>>drop + 3
	if drop > 0 {
		off += factor + 1
	}
	off = off>>(down-32) + 2
	if off >= 1<<28 {
		return nil
	}
	f := &fastQuantiser{
		base: uint64(q.mean - q.limit + 1), most: most, zero: zero, factor: uint32(factor), top: q.top,
		near: uint32(1<<32 - off), drop: uint(drop), down: uint(down), piece: 512,
	}
	for f.piece > 64 && uint64(f.piece)*off > 1<<26 {
		f.piece /= 2
	}
	return f
}

// vectorLevels sets dst to the levels of words.
func (g *Field) vectorLevels(dst []uint32, words []uint64) {
	f, q := &g.filters, g.fast
	if g.lanes == 2 {
		inPieces(g, dst, halves(words), func(dst, sums *uint32, n int) uint32 {
			return f.Quantise(dst, sums, n, uint32(q.base), uint32(q.most), q.factor, q.top, q.zero, uint64(q.down),
				uint64(64-q.down), q.near)
		})
		return
	}
	inPieces(g, dst, words, func(dst *uint32, sums *uint64, n int) uint32 {
		return f.QuantiseWide(dst, sums, n, q.base, q.most, uint64(q.factor), q.zero, uint64(q.drop), uint64(q.down),
			uint64(64-q.down), q.top, q.near)
	})
}

// inPieces recomputes a piece by the exact quantiser if it has a sum near a level.
func inPieces[T uint32 | uint64](g *Field, dst []uint32, sums []T, fast func(dst *uint32, sums *T, n int) uint32) {
	slow := g.quant
	for len(sums) > 0 {
		n := int64(len(sums))
		if g.fast != nil {
			n = min(n, g.fast.piece)
		}
		if g.fast == nil || fast(&dst[0], &sums[0], g.filters.Vectors(n, 4)) != 0 {
			for i, s := range sums[:n] {
				dst[i] = slow.level(uint64(s))
			}
		}
		dst, sums = dst[n:], sums[n:]
	}
}

// vectorPut writes the values of levels to dst, and the last partial vector by way of the scratch.
func (g *Field) vectorPut(dst []byte, levels []uint32, b *vectorScratch) {
	f, size := &g.filters, g.scale.Typ.Size()
	whole := int64(len(dst)) / f.Bytes * f.Bytes
	if whole > 0 {
		g.vectorsPut(&dst[0], &levels[0], int(whole/f.Bytes))
	}
	if rest := dst[whole:]; len(rest) > 0 {
		g.vectorsPut(&b.values[0], &levels[whole/size], 1)
		copy(rest, b.values)
	}
}

func (g *Field) vectorsPut(dst *byte, levels *uint32, n int) {
	f, p := &g.filters, unsafe.Pointer(dst)
	switch g.scale.Typ {
	case grid.Uint8:
		f.PutBytes((*uint8)(p), levels, n)
	case grid.Uint16, grid.Int16:
		f.PutPairs((*uint16)(p), levels, n, repeatHalves(g.scale.shift))
	case grid.Float32:
		if g.single {
			f.PutSingles((*float32)(p), levels, n, float32(g.lo), float32(g.step))
		} else {
			f.PutDoubles((*float32)(p), levels, n, g.lo, g.step)
		}
	}
}
