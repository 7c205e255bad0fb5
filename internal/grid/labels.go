package grid

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// Labels are the values that the float32 values of an image stand for, where it was of a type
// whose values float32 does not hold: its distinct values in ascending order, of which the
// image has the ranks (Ranked). Nothing is rounded, and no two values become one. With nil
// Labels values stand for themselves.
type Labels struct {
	typ    string
	number int
	at     func(rank int) any // int64, uint64 or float64
}

// NewLabels are distinct ascending values of a type, as NumPy calls it. It keeps the slice.
func NewLabels[T int32 | uint32 | int64 | uint64 | float64](typ string, values []T) (*Labels, error) {
	if len(values) > mostRanks {
		return nil, fmt.Errorf("%d distinct values of %s; want at most %d", len(values), typ, mostRanks)
	}
	return &Labels{typ, len(values), func(rank int) any {
		switch v := any(values[rank]).(type) {
		case int32:
			return int64(v)
		case uint32:
			return uint64(v)
		default:
			return v
		}
	}}, nil
}

// firstRank is the bit pattern that stands for rank 0, the least float32 that no processor
// takes for 0.
const firstRank = 0x00800000

// mostRanks is how many float32 follow it.
const mostRanks = largest - firstRank

// Ranked is the value that stands for a rank.
func Ranked(rank int) float32 { return math.Float32frombits(firstRank + uint32(rank)) }

func (l *Labels) label(v float32) any { return l.at(int(math.Float32bits(v) - firstRank)) }

// Len is how many labels there are, of ranks from 0 on.
func (l *Labels) Len() int { return l.number }

// Type is the type of the labels.
func (l *Labels) Type() string { return l.typ }

// String says what they are, for people.
func (l *Labels) String() string { return fmt.Sprintf("%d distinct values of %s", l.number, l.typ) }

// Append writes what a value stands for, in the fewest digits that read back as the same.
func (l *Labels) Append(b []byte, v float32) []byte {
	if l == nil {
		return strconv.AppendFloat(b, float64(v), 'g', -1, 32)
	}
	switch x := l.label(v).(type) {
	case int64:
		return strconv.AppendInt(b, x, 10)
	case uint64:
		return strconv.AppendUint(b, x, 10)
	default:
		return strconv.AppendFloat(b, x.(float64), 'g', -1, 64)
	}
}

// LabelBytes is how many bytes AppendBytes writes.
const LabelBytes = 8

// AppendBytes writes what a value stands for in LabelBytes, little-endian: an int64, a uint64
// or a float64. With nil it writes a float32.
func (l *Labels) AppendBytes(b []byte, v float32) []byte {
	if l == nil {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	switch x := l.label(v).(type) {
	case int64:
		return binary.LittleEndian.AppendUint64(b, uint64(x))
	case uint64:
		return binary.LittleEndian.AppendUint64(b, x)
	default:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(x.(float64)))
	}
}

// Kind is how NumPy calls those bytes.
func (l *Labels) Kind() string {
	if l == nil {
		return "<f4"
	}
	switch l.typ {
	case "int32", "int64":
		return "<i8"
	case "uint32", "uint64":
		return "<u8"
	}
	return "<f8"
}

// Float64 is about what a value stands for.
func (l *Labels) Float64(v float32) float64 {
	if l == nil {
		return float64(v)
	}
	switch x := l.label(v).(type) {
	case int64:
		return float64(x)
	case uint64:
		return float64(x)
	default:
		return x.(float64)
	}
}

// Labelled is the field, whose values stand for others.
func (f *Field) Labelled(l *Labels) *Field {
	g := *f
	g.labels = l
	return &g
}

// Labels are what the values of the field stand for, or nil where they are what they are.
func (f *Field) Labels() *Labels { return f.labels }

// LabelsOf are those of a source that has some, or nil.
func LabelsOf(s Source) *Labels {
	if l, ok := s.(interface{ Labels() *Labels }); ok {
		return l.Labels()
	}
	return nil
}
