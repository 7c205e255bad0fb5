package fingerprint

import (
	"math"
	"math/bits"

	"eccbench/internal/grid"
)

// lanes are how voxels are counted, in a byte each, in two or in four, in the order of their weights: those of integers as they
// are, or with some bits turned, and of float32 as levels or, where those are many or have no arithmetic, as numbers in their
// order.
type lanes struct {
	order
	bytes  int   // of a lane
	vector int64 // in bytes
	size   int   // of a value
	// own says that lanes are the image's own bytes.
	own  bool
	flip uint16 // bits of a value, or of its level, that are turned
	// Of levels, beyond is the lane of those above the ladder, or from level top on, and converter is for rows that vectors do
	// not turn.
	levels    bool
	converter grid.Converter
	top       int64
	beyond    uint16
	// fast turns rows of n values, as many as group at least, of so many bytes from one to the next, and returns how many
	// rows, up to one that it cannot turn; exactly up to one with a value that is no level's own. They may be nil.
	group         int64
	fast, exactly func(dst, src *byte, n, rows, stride, apart int) int
	// values turns n lanes that are numbers in the order of float32 back into values, where they are, and some behind them.
	values func(lanes []byte, n int)
}

// An order is that of lanes: of numbers with a sign or without, and from the greatest on or from the least.
type order struct{ signed, reversed bool }

// lanesOf are those of a type on a ladder, if there are any.
func lanesOf(t grid.Type, l grid.Ladder, top int64, reversed bool, isa string) (lanes, bool) {
	u := lanes{size: int(t.Size()), bytes: int(t.Size()), order: order{t == grid.Int16, reversed}, own: true}
	_, _, affine := l.Affinity()
	switch {
	case t == grid.Float32 && (!l.Indexed() || !reversed && (!affine || l.Len() > math.MaxUint16)):
		return u.numbers(isa)
	case t == grid.Float32:
		// The lane after the last one is what is beyond. Levels have descending lanes by their bits.
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
		return u, false // what is outside would have the first lanes, and the greatest weight
	}
	if !ordered(isa) { // all are numbers with a sign, from the least on
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

// numbers are lanes of float32 in the order of values, of which the sign is turned where weights descend. Two that are 0 are
// in some order.
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
		n = int(roundUp(int64(n), group)) // or some would be turned twice
		keys(&lanes[0], &lanes[0], n, 1, 0, 0, 0, sign)
	}
	return u, true
}

// table is of what the weights of all lanes are less than that of what is outside.
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

// rows writes the lanes of the values of src, row by row of so many columns, and a vector of the last one behind each: rows
// of dst are stride bytes from one to the next, of src apart. Of an image with a watcher, who is shown float32 of which some are no level's own.
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
		for i := u.bytes; i < len(end); i += u.bytes {
			copy(end[i:i+u.bytes], end[:u.bytes])
		}
	}
}

// row turns as many values at a time as vectors do, and one by one where they do not.
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
	if u.values != nil { // fewer than a group
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
