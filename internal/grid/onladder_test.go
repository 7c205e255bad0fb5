package grid

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// The least and the greatest value of a span are found in every type, and what is not finite is
// counted.
func TestRange(t *testing.T) {
	for _, typ := range Types() {
		data := NewBuffer(6 * typ.Size())
		f, err := Trusted(Shape{D: 3, H: 1, W: 2}, typ, data, Identity(typ))
		if err != nil {
			t.Fatal(err)
		}
		set := func(i int, v int16) {
			switch typ {
			case Uint8:
				Values[uint8](data)[i] = uint8(v)
			case Uint16:
				Values[uint16](data)[i] = uint16(v)
			case Int16:
				Values[int16](data)[i] = v
			case Float32:
				Values[float32](data)[i] = float32(v)
			}
		}
		for i, v := range []int16{1, 200, 7, 3, 5, 4} {
			set(i, v)
		}
		for _, c := range []struct {
			of             Span
			least, largest float32
		}{{Span{0, 3}, 1, 200}, {Span{1, 3}, 3, 7}, {Span{2, 3}, 4, 5}} {
			if a, b, err := Range(f, c.of); a != c.least || b != c.largest || err != nil {
				t.Errorf("%v %v: %v to %v (%v), want %v to %v", typ, c.of, a, b, err, c.least, c.largest)
			}
		}
	}
}

// A table that is said to have all values of a source refuses others, wherever they are.
func TestOnTable(t *testing.T) {
	const most = 1 << 12
	table := []float32{-3, 0.5, 2, 1e9}
	l, err := Table(table)
	if err != nil {
		t.Fatal(err)
	}
	data := NewBuffer(2 * most * 4)
	values := Values[float32](data)
	for i := range values {
		values[i] = table[i%len(table)]
	}
	f, err := Trusted(Shape{D: 2, H: 1, W: most}, Float32, data, Identity(Float32))
	if err != nil {
		t.Fatal(err)
	}
	s, slab := OnLadder(f, l), NewBuffer(most*4)
	if err := s.ReadSlab(slab, 1, 2); err != nil || Values[float32](slab)[3] != 1e9 {
		t.Error(err)
	}
	for _, v := range []float32{-4, 0, 1.999, 2e9} {
		for _, at := range []int{0, 1023, 1024, most - 1} {
			kept := values[most+at]
			values[most+at] = v
			if err := s.ReadSlab(slab, 1, 2); !errors.Is(err, ErrNotListed) || !strings.Contains(err.Error(), fmt.Sprintf("value %v, at index %d,", v, most+at)) {
				t.Errorf("%v at %d: %v", v, at, err)
			}
			values[most+at] = kept
		}
	}
}

// A ladder that is said to be a source's refuses what is above it and what is no number.
func TestOnLadder(t *testing.T) {
	l, err := Affine(0, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	data := NewBuffer(6 * 4)
	f, err := Trusted(Shape{D: 3, H: 1, W: 2}, Float32, data, Identity(Float32))
	if err != nil {
		t.Fatal(err)
	}
	values := Values[float32](data)
	copy(values, []float32{-3, 0.5, 3, 2, 4, float32(math.NaN())})
	s := OnLadder(f, l)
	if s.Ladder().Key() != l.Key() || Step(s) != 1 || Held(s) != 0 {
		t.Error(s.Ladder())
	}
	if err := s.ReadSlab(NewBuffer(16), 0, 2); err != nil {
		t.Error(err)
	}
	var bad *NotFiniteError
	if err := s.ReadSlab(NewBuffer(8), 2, 3); !errors.As(err, &bad) || bad.First != 5 {
		t.Error(err)
	}
	if _, _, err := Range(f, Whole(f)); !errors.As(err, &bad) || bad.Count != 1 || bad.First != 5 {
		t.Error(err)
	}
	values[5] = 0
	if err := s.ReadSlab(NewBuffer(8), 2, 3); !errors.Is(err, ErrAbove) {
		t.Error(err)
	}
}
