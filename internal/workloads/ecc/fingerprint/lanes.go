package fingerprint

import (
	"math"
	"math/bits"

	"eccbench/internal/grid"
)

// lanes describe how voxels are represented for counting, in one, two or four bytes each, in the
// order of their weights. Integers are used as they are or with some bits inverted. A float32
// becomes its level or, if there are too many levels or no arithmetic for them, an integer key in
// the order of the values.
type lanes struct {
	order
	bytes  int   // bytes per lane
	vector int64 // bytes per vector
	size   int   // bytes per value
	// own means that lanes are the image's own bytes.
	own  bool
	flip uint16 // bits of a value, or of its level, that are inverted
	// If levels is set, lanes are levels. beyond is the lane of values above the ladder or on level
	// top or above. converter handles the rows that vector code does not.
	levels    bool
	converter grid.Converter
	top       int64
	beyond    uint16
	// fast converts rows of n ≥ group values; src rows are apart bytes apart, dst rows stride
	// bytes. It returns the number of rows before the first one that it cannot convert. exactly
	// also stops at a row with a value that is no level. Either may be nil.
	group         int64
	fast, exactly func(dst, src *byte, n, rows, stride, apart int) int
	// values converts n float32 keys back into values in place, and possibly some after them.
	values func(lanes []byte, n int)
}

// An order describes the order of lanes: signed or unsigned, ascending or descending.
type order struct{ signed, reversed bool }

// lanesOf returns the lanes for a type on a ladder, or false if there are none.
func lanesOf(t grid.Type, l grid.Ladder, top int64, reversed bool, isa string) (lanes, bool) {
	u := lanes{size: int(t.Size()), bytes: int(t.Size()), order: order{t == grid.Int16, reversed}, own: true}
	_, _, affine := l.Affinity()
	switch {
	case t == grid.Float32 && (!l.Indexed() || !reversed && (!affine || l.Len() > math.MaxUint16)):
		return u.numbers(isa)
	case t == grid.Float32:
		// The lane after the last level is beyond. Descending levels are made by inverting bits.
		if l.Len() > math.MaxUint16 || reversed && l.Len() > 1<<15 {
			return u, false
		}
		u.order, u.own, u.levels, u.bytes, u.top = order{}, false, true, 2, min(top, l.Len())
		u.converter, u.beyond = grid.NewConverter(t, l), uint16(l.Len())
		if reversed {
			u.flip = 1<<bits.Len16(u.beyond-1) - 1
			u.beyond = u.flip + 1
		}
	case reversed && l.Level(grid.Identity(t).Value(1<<(8*t.Size())-1)) >= min(top, l.Len()):
		return u, false // the outside would have the first lanes, but needs the greatest weight
	}
	if !ordered(isa) { // all lanes must be signed and ascending
		u.own = false
		if !u.signed {
			u.flip ^= 1 << (8*u.bytes - 1)
			u.beyond ^= 1 << 15
		}
		if u.reversed {
			u.flip ^= 1<<(8*u.bytes) - 1
		}
		u.order = order{signed: true}
	}
	u.group, u.fast, u.exactly = laneVectorsOf(isa, t, l, u.flip, u.top)
	return u, true
}

// numbers returns lanes for float32 keys in the order of the values. If weights descend, the sign
// is inverted. The order of the two zeros does not matter.
func (u lanes) numbers(isa string) (lanes, bool) {
	group, keys := keysOf(isa)
	if keys == nil {
		return u, false
	}
	sign := uint64(0)
	if u.reversed {
		sign = 1 << 31
	}
	u.order, u.own, u.group = order{signed: true}, false, group
	u.fast = func(dst, src *byte, n, rows, stride, apart int) int {
		return keys(dst, src, n, rows, stride, apart, sign, 0)
	}
	u.values = func(lanes []byte, n int) {
		n = int(roundUp(int64(n), group)) // whole groups only: no value may be converted twice
		keys(&lanes[0], &lanes[0], n, 1, 0, 0, 0, sign)
	}
	return u, true
}

// table returns, for each lane, its weight minus the weight of the outside.
func (u *lanes) table(t grid.Type, l grid.Ladder, w weights, top int64) []uint64 {
	if u.levels {
		table := make([]uint64, int(u.beyond)+1)
		if u.signed {
			table = make([]uint64, 1<<16)
		}
		for level, w := range w.table(top, w.outside())[:u.top] {
			table[uint16(level)^u.flip] = w
		}
		return table
	}
	patterns := w.ofPatterns(t, l, top, w.outside())
	if u.flip == 0 {
		return patterns
	}
	table, flip := make([]uint64, len(patterns)), int(u.flip)&(len(patterns)-1)
	for v, w := range patterns {
		table[v^flip] = w
	}
	return table
}

// rows writes the lanes of several rows, each followed by a vector of its last lane. Rows of dst
// are stride bytes apart, rows of src apart bytes. A watcher sees every float32 value that is no
// level.
func (u *lanes) rows(w grid.Watcher, dst, src []byte, rows, columns, stride, apart int64) {
	fast := u.fast
	if w != nil && u.levels {
		fast = u.exactly
	}
	for y := int64(0); y < rows; y++ {
		if fast != nil && columns >= u.group {
			if y += int64(fast(&dst[y*stride], &src[y*apart], int(columns), int(rows-y), int(stride), int(apart))); y == rows {
				return
			}
		}
		row := src[y*apart:][:columns*int64(u.size)]
		if w != nil {
			w.Look(row)
		}
		to := dst[y*stride:][:columns*int64(u.bytes)+u.vector]
		end := to[len(to)-int(u.vector)-u.bytes:]
		u.row(to[:columns*int64(u.bytes)], row)
		for i := u.bytes; i < len(end); i *= 2 {
			copy(end[i:], end[:i])
		}
	}
}

// row converts one row, in groups by vector code or one value at a time.
func (u *lanes) row(dst, src []byte) {
	switch {
	case u.bytes == 1:
		for i, v := range src {
			dst[i] = v ^ byte(u.flip)
		}
		return
	case u.bytes == 2 && !u.levels:
		to := grid.Values[uint16](dst)
		for i, v := range grid.Values[uint16](src) {
			to[i] = v ^ u.flip
		}
		return
	}
	if u.values != nil { // fewer values than a group
		var values [64]byte
		var keys [2 * len(values)]byte // with a vector behind them
		n := copy(values[:], src)
		u.fast(&keys[0], &values[0], int(u.group), 1, 0, 0)
		copy(dst, keys[:n])
		return
	}
	const some = 64
	var levels [some]int32
	to := grid.Values[uint16](dst)
	for len(to) > 0 {
		n := min(some, len(to))
		if group := int(u.group); u.fast != nil && n >= group && u.fast(&dst[0], &src[0], group, 1, 0, 0) == 1 {
			n = group
		} else {
			if u.fast != nil && n > group {
				n = group
			}
			u.converter.Convert(levels[:n], src[:4*n])
			for i, level := range levels[:n] {
				to[i] = u.beyond
				if int64(level) < u.top {
					to[i] = uint16(level) ^ u.flip
				}
			}
		}
		to, dst, src = to[n:], dst[2*n:], src[4*n:]
	}
}
