package views

import (
	"crypto/subtle"
	"errors"
	"fmt"

	"eccbench/internal/grid"
)

// Negate shows a source with its values in reverse order, which turns superlevel sets into sublevel
// sets. A value v becomes 255 − v for uint8, 65535 − v for uint16, −1 − v for int16 and −v for
// float32. The levels are reversed in the same way. Every value must be a level of the ladder.
func Negate(s grid.Source) (grid.Source, error) {
	l := s.Ladder()
	if l.Whole() {
		return negated{s, l}, nil
	}
	if l.Len() > mostNegated {
		return nil, fmt.Errorf("ladder %v: the levels of a negated image are a table of at most %d", l, mostNegated)
	}
	sum := map[grid.Type]float64{grid.Uint8: 1<<8 - 1, grid.Uint16: 1<<16 - 1, grid.Int16: -1, grid.Float32: 0}[s.Type()]
	values := make([]float32, l.Len())
	for k := range values {
		values[k] = float32(sum-float64(l.Value(l.Len()-1-int64(k)))) + 0 // no −0
	}
	table, err := grid.Table(values)
	return negated{s, table}, err
}

const mostNegated = 1 << 24

// ones inverts bits by XOR.
var ones = func() (b [1 << 12]byte) {
	for i := range b {
		b[i] = 0xff
	}
	return b
}()

type negated struct {
	grid.Source
	ladder grid.Ladder
}

func (n negated) Ladder() grid.Ladder { return n.ladder }

func (n negated) ReadSlab(dst []byte, lo, hi int64) error {
	if err := n.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	if n.Type() != grid.Float32 {
		for len(dst) > 0 {
			done := subtle.XORBytes(dst, dst, ones[:])
			dst = dst[done:]
		}
		return nil
	}
	values := grid.Values[float32](dst)
	for i, v := range values {
		if v != grid.Absent {
			values[i] = 0 - v
		}
	}
	return nil
}

// Pad shows a source with one voxel added at both ends of each axis, with the value of the first
// level. Reading fails with ErrNoValue if the source's type cannot represent that value.
func Pad(s grid.Source) grid.Source { return padded{s} }

// ErrNoValue reports a level that no value of the image's type equals.
var ErrNoValue = errors.New("no value of the type")

type padded struct{ grid.Source }

func (p padded) Shape() grid.Shape {
	s := p.Source.Shape()
	if s.D > 1 {
		s.D += 2
	}
	return grid.Shape{D: s.D, H: s.H + 2, W: s.W + 2}
}

func (p padded) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(p, dst, lo, hi); err != nil {
		return err
	}
	value := p.Ladder().Value(0)
	if !represents(p.Type(), value) {
		return fmt.Errorf("the first level, %v, which is put around the image, is %w %v", value, ErrNoValue, p.Type())
	}
	// The inner image consists of rows; a slice of a 2D image is a single row.
	inner := p.Source.Shape()
	row, rows := inner.W*p.Type().Size(), inner.H
	above := row + 2*p.Type().Size()
	if inner.D == 1 {
		rows, above = 1, 0
	}
	from, to := max(lo, 1), min(hi, inner.Slices()+1)
	if from >= to {
		fillValue(p.Type(), dst, value)
		return nil
	}
	// Read into the end of dst, then move each row to its place: the rows ahead stay intact.
	part := dst[int64(len(dst))-(to-from)*grid.SliceBytes(p.Source):]
	if err := p.Source.ReadSlab(part, from-1, to-1); err != nil {
		return err
	}
	filled := int64(0)
	for i := from; i < to; i++ {
		at := (i-lo)*grid.SliceBytes(p) + above + p.Type().Size()
		for range rows {
			copy(dst[at:at+row], part)
			fillValue(p.Type(), dst[filled:at], value)
			part = part[row:]
			filled = at + row
			at = filled + 2*p.Type().Size()
		}
	}
	fillValue(p.Type(), dst[filled:], value)
	return nil
}

// represents reports whether the type can represent a value. The conversion of any other value changes it.
func represents(t grid.Type, v float32) bool {
	switch t {
	case grid.Uint8:
		return v == float32(uint8(v))
	case grid.Uint16:
		return v == float32(uint16(v))
	case grid.Int16:
		return v == float32(int16(v))
	}
	return true
}

// fillValue fills dst with one value.
func fillValue(t grid.Type, dst []byte, v float32) {
	switch t {
	case grid.Uint8:
		fill(dst, uint8(v))
	case grid.Uint16:
		fill(grid.Values[uint16](dst), uint16(v))
	case grid.Int16:
		fill(grid.Values[int16](dst), int16(v))
	case grid.Float32:
		fill(grid.Values[float32](dst), v)
	}
}

func fill[T any](to []T, v T) {
	for i := range to {
		to[i] = v
	}
}
