package fingerprint

import (
	"cmp"
	"crypto/aes"
	"math"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A lookup returns the weights of values.
type lookup struct {
	// table is the weight of each bit pattern for 8 and 16-bit types, else of each level and of
	// values above the last level. On the ladder of every float32 it is a block instead.
	table []uint64
	typ   grid.Type
	// levels converts float32 values to levels, except on the ladder of every float32.
	levels grid.Converter
	every  weighing // weight of a level on the ladder of every float32; else nil
	masked bool     // some values may be +Inf, above every float32
	fast   vectors  // its functions are nil if there is no vector code
}

// weighing returns the weight of a level. It uses the given block for encryption.
type weighing func(block *[aes.BlockSize]byte, level int64) uint64

// vectors look up the weights of n values, or of the first ones, and return the number of those.
// They prefetch the bytes at distance ahead.
type vectors struct {
	bytes, pairs func(dst, table *uint64, src *byte, n, ahead int) int
	floats       func(dst, table *uint64, src *byte, n, ahead int) int
	exactly      func(dst, table *uint64, src *byte, n, ahead int) int // floats up to a value that is no level
}

// newLookup makes the look-up for a type on a ladder. Levels from top on have the weight of the
// outside.
func newLookup(t grid.Type, l grid.Ladder, w weights, top int64, isa string) *lookup {
	u := &lookup{typ: t}
	switch {
	case t != grid.Float32:
		u.table = w.ofPatterns(t, l, top, 0)
	case !l.Indexed():
		u.every, u.table, u.masked = w.weighUntil(top), newBlock(w), w.in.Masked
		if top >= w.levels {
			u.fast.floats = multiplying(isa)
		}
		return u
	default:
		u.table = w.table(top, 0)
		u.levels = grid.NewConverter(t, l)
	}
	u.fast = vectorised(l, isa)
	return u
}

// weighUntil weighs levels below top. Other levels have the weight of the outside.
func (w weights) weighUntil(top int64) weighing {
	return func(block *[aes.BlockSize]byte, level int64) uint64 {
		if level >= min(top, w.levels) {
			return w.outside()
		}
		return w.weightUsing(block, level)
	}
}

// table returns the weights of all levels and of one more, each minus less. Levels from top on have
// the weight of the outside.
func (w weights) table(top int64, less uint64) []uint64 {
	table := make([]uint64, w.levels+1)
	top = min(top, w.levels)
	fill(table[top:], w.outside()-less)
	inParts(cmp.Or(w.threads, runtime.GOMAXPROCS(0)), int(top), func(from, to int) {
		block := new([aes.BlockSize]byte)
		for level := from; level < to; level++ {
			table[level] = w.weightUsing(block, int64(level)) - less
		}
	})
	return table
}

// ofPatterns is like table, but indexed by the bit patterns of an integer type.
func (w weights) ofPatterns(t grid.Type, l grid.Ladder, top int64, less uint64) []uint64 {
	if first, whole := l.Consecutive(); whole && first == 0 && t != grid.Int16 && l.Len() == 1<<(8*t.Size()) {
		return w.table(top, less)[:w.levels]
	}
	levels := l.OfPatterns(t)
	table := make([]uint64, len(levels))
	if w.levels > int64(len(levels)) { // most levels have no pattern
		weight, block := w.weighUntil(top), new([aes.BlockSize]byte)
		for v, level := range levels {
			table[v] = weight(block, int64(level)) - less
		}
		return table
	}
	of := w.table(top, less)
	for v, level := range levels {
		table[v] = of[level]
	}
	return table
}

// inParts calls made for at most the given number of parts of n entries, in parallel if there are
// many.
func inParts(parts, n int, made func(from, to int)) {
	const least = 1 << 12
	parts = min(parts, max(1, n/least))
	crew.Each(parts, func(p int) { made(n*p/parts, n*(p+1)/parts) })
}

// watched is like row for an image with a watcher, which sees every float32 value that is no level.
func (u *lookup) watched(w grid.Watcher, dst []uint64, src []byte, scratch []int32, ahead int) {
	const group = 16 // every instruction set has whole groups of 16
	if n, exactly := len(dst), u.fast.exactly; exactly != nil && n >= group {
		done := exactly(&dst[0], &u.table[0], &src[0], n, ahead)
		if n-done < group && (done == n || exactly(&dst[n-group], &u.table[0], &src[4*(n-group)], group, ahead) == group) {
			return
		}
	}
	w.Look(src)
	u.row(dst, src, scratch, ahead)
}

// row writes the weights of the values of src to dst. scratch has room for as many levels. It
// prefetches the values at distance ahead.
func (u *lookup) row(dst []uint64, src []byte, scratch []int32, ahead int) {
	n := len(src) / int(u.typ.Size())
	dst = dst[:n]
	fast := u.fast.floats
	switch u.typ {
	case grid.Uint8:
		fast = u.fast.bytes
	case grid.Int16, grid.Uint16:
		fast = u.fast.pairs
	}
	const few = 16 // number of values that are looked up singly where the vector code stops
	for len(dst) > 0 {
		done := 0
		if fast != nil {
			done = fast(&dst[0], &u.table[0], &src[0], len(dst), ahead)
		}
		if u.masked && done > 0 { // the vector code does not know masked voxels
			for i, v := range grid.Values[float32](src[:4*done]) {
				if v > math.MaxFloat32 {
					dst[i] = u.every(nil, math.MaxInt64)
				}
			}
		}
		slow := min(few, len(dst)-done)
		if fast == nil {
			slow = len(dst)
		}
		size := int(u.typ.Size())
		u.portable(dst[done:done+slow], src[done*size:(done+slow)*size], scratch)
		dst, src = dst[done+slow:], src[(done+slow)*size:]
	}
}

func (u *lookup) portable(dst []uint64, src []byte, scratch []int32) {
	switch u.typ {
	case grid.Uint8:
		table := (*[1 << 8]uint64)(u.table)
		for i, v := range src {
			dst[i] = table[v]
		}
	case grid.Int16, grid.Uint16:
		table := (*[1 << 16]uint64)(u.table)
		for i, v := range grid.Values[uint16](src) {
			dst[i] = table[v]
		}
	case grid.Float32:
		if u.every != nil {
			block := new([aes.BlockSize]byte)
			for i, v := range grid.Values[float32](src) {
				dst[i] = u.every(block, int64(grid.EveryLevel(v)))
			}
			return
		}
		scratch = scratch[:len(dst)]
		u.levels.Convert(scratch, src)
		for i, k := range scratch {
			dst[i] = u.table[k]
		}
	}
}
