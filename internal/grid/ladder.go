package grid

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// A Ladder is the ascending list of levels that an answer about an image is
// reported on. A value stands on the lowest level that is not below it, so the
// voxels with value ≤ Value(k) are those whose level is ≤ k. The zero Ladder has
// no levels.
//
// Every level is a float32, which holds all four element types exactly.
type Ladder struct {
	kind     ladderKind
	lo, step float64
	n        int64
	table    []float32
}

type ladderKind uint8

const (
	identity ladderKind = iota + 1
	affine
	table
	every
)

// MaxLevels is the largest number of levels of a ladder, but for that of every float32:
// level indices fit an int32 with room for one value that is above every level.
const MaxLevels = math.MaxInt32 - 1

// Identity is the ladder of all values of a type, of float32 the finite ones. The levels
// of float32 are more than MaxLevels: what counts them keeps no table of levels, and takes
// EveryLevel for a Converter.
func Identity(t Type) Ladder {
	switch t {
	case Uint8:
		return Ladder{kind: identity, step: 1, n: 1 << 8}
	case Int16:
		return Ladder{kind: identity, lo: math.MinInt16, step: 1, n: 1 << 16}
	case Uint16:
		return Ladder{kind: identity, step: 1, n: 1 << 16}
	case Float32:
		return Ladder{kind: every, n: 2*largest + 1}
	}
	panic("grid: identity ladder of " + t.String())
}

// largest is the bit pattern of the largest float32, and the level of 0 on the ladder of
// every float32.
const largest = 0x7f7fffff

// EveryLevel is the level of a finite value on the ladder of every float32. Both zeros are
// one level.
func EveryLevel(v float32) uint32 {
	b := math.Float32bits(v)
	sign := uint32(int32(b) >> 31)        // all bits of a negative value
	return (b ^ sign>>1) - sign + largest // −m is ^m + 1
}

// everyValue is the inverse of EveryLevel.
func everyValue(k int64) float32 {
	if k < largest {
		return -math.Float32frombits(uint32(largest - k))
	}
	return math.Float32frombits(uint32(k - largest))
}

// Indexed reports whether an int32 counts the levels, as it does but for every float32.
func (l Ladder) Indexed() bool { return l.n <= MaxLevels }

// CheckIndexed is an error for a ladder that is not Indexed. What keeps a table of levels
// refuses it so.
func (l Ladder) CheckIndexed() error {
	if !l.Indexed() {
		return fmt.Errorf("ladder %v: tables of levels have at most %d; take evenly spaced levels, or those of the distinct values", l, MaxLevels)
	}
	return nil
}

// Affine is the ladder lo, lo+step, …, lo+(n−1)·step, each level rounded once to
// float64 per operation and then to float32. It is an error when two levels
// round to the same float32.
func Affine(lo, step float64, n int64) (Ladder, error) {
	l := Ladder{kind: affine, lo: lo, step: step, n: n}
	if n < 1 || n > MaxLevels {
		return Ladder{}, fmt.Errorf("ladder of %d levels: want 1 to %d", n, MaxLevels)
	}
	if !(step > 0) || math.IsInf(lo+step*float64(n), 0) || math.IsNaN(lo) {
		return Ladder{}, fmt.Errorf("ladder %v: the step must be positive and every level finite", l)
	}
	for k := int64(1); k < n; k++ {
		if !(l.Value(k-1) < l.Value(k)) {
			return Ladder{}, fmt.Errorf("ladder %v: levels %d and %d are the same float32", l, k-1, k)
		}
	}
	if math.IsInf(float64(l.Value(n-1)), 0) {
		return Ladder{}, fmt.Errorf("ladder %v: level %d is beyond float32", l, n-1)
	}
	return l, nil
}

// Table is the ladder of the given values, which must be finite and strictly
// ascending. It keeps the slice.
func Table(values []float32) (Ladder, error) {
	if len(values) == 0 || len(values) > MaxLevels {
		return Ladder{}, fmt.Errorf("ladder of %d levels: want 1 to %d", len(values), MaxLevels)
	}
	for k, v := range values {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return Ladder{}, fmt.Errorf("ladder: level %d is %v", k, v)
		}
		if k > 0 && !(values[k-1] < v) {
			return Ladder{}, fmt.Errorf("ladder: level %d (%v) is not above level %d (%v)", k, v, k-1, values[k-1])
		}
	}
	return Ladder{kind: table, n: int64(len(values)), table: values}, nil
}

// Len is the number of levels.
func (l Ladder) Len() int64 { return l.n }

// Value is the level k, 0 ≤ k < Len.
func (l Ladder) Value(k int64) float32 {
	switch l.kind {
	case table:
		return l.table[k]
	case every:
		return everyValue(k)
	}
	return affineValue(l.lo, l.step, float64(k))
}

// affineValue is the level k of an affine ladder. The conversion keeps the compiler from
// fusing the two operations into one with a single rounding, which would differ between
// machines.
func affineValue(lo, step, k float64) float32 { return float32(lo + float64(k*step)) }

// Level is the lowest level that is not below v, or Len when v is above all.
func (l Ladder) Level(v float32) int64 {
	switch l.kind {
	case table:
		k, _ := slices.BinarySearch(l.table, v)
		return int64(k)
	case every:
		switch {
		case v < -math.MaxFloat32:
			return 0
		case v > math.MaxFloat32:
			return l.n
		}
		return int64(EveryLevel(v))
	case identity, affine:
		guess := math.Round((float64(v) - l.lo) / l.step)
		k := int64(max(0, min(guess, float64(l.n-1))))
		for k > 0 && l.Value(k-1) >= v {
			k--
		}
		for k < l.n && l.Value(k) < v {
			k++
		}
		return k
	}
	return 0
}

// Affinity is the first level and the step of a ladder whose levels are evenly
// spaced, and whether it is one.
func (l Ladder) Affinity() (lo, step float64, ok bool) {
	return l.lo, l.step, l.kind == identity || l.kind == affine
}

// Consecutive is the first level of a ladder whose levels are whole numbers, each one more than the one before, of which float32
// has all that 16 bits have, and whether it is one.
func (l Ladder) Consecutive() (first int64, ok bool) {
	lo, step, ok := l.Affinity()
	return int64(lo), ok && step == 1 && lo == math.Trunc(lo) && math.Abs(lo) < 1<<24
}

// InFloat32 reports whether the levels are evenly spaced and arithmetic in float32 gives each
// of them: float32(k)·float32(step) + float32(lo), each operation rounded. It looks at all.
func (l Ladder) InFloat32() bool {
	lo, step, ok := l.Affinity()
	if !ok {
		return false
	}
	for k := range l.Len() {
		if float32(float32(float32(k)*float32(step))+float32(lo)) != l.Value(k) {
			return false
		}
	}
	return true
}

// Listed are the levels of a table, nil of the other ladders. They are not to be written to.
func (l Ladder) Listed() []float32 { return l.table }

// TableBytes is the number of bytes that the levels of a table take, 0 for the
// other ladders.
func (l Ladder) TableBytes() int64 { return 4 * int64(len(l.table)) }

// GobEncode writes the ladder for another process.
func (l Ladder) GobEncode() ([]byte, error) {
	var b bytes.Buffer
	for _, v := range []any{l.kind, l.lo, l.step, l.n, int64(len(l.table)), l.table} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// GobDecode is the inverse of GobEncode.
func (l *Ladder) GobDecode(data []byte) error {
	r := bytes.NewReader(data)
	var levels int64
	for _, v := range []any{&l.kind, &l.lo, &l.step, &l.n, &levels} {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return err
		}
	}
	if levels*4 != int64(r.Len()) {
		return fmt.Errorf("ladder: %d levels in %d bytes", levels, r.Len())
	}
	if levels == 0 {
		return nil
	}
	l.table = make([]float32, levels)
	return binary.Read(r, binary.LittleEndian, l.table)
}

// Key names the ladder: two ladders with the same key have the same levels.
func (l Ladder) Key() string {
	if l.kind == table {
		return fmt.Sprintf("table:%d:%016x", l.n, xxh3.Hash(Bytes(l.table)))
	}
	return l.String()
}

// ParseLadder is the inverse of Key for the ladders of a type that can be told in words: not
// for tables.
func ParseLadder(key string, t Type) (Ladder, error) {
	if l := Identity(t); l.Key() == key {
		return l, nil
	}
	var lo, step float64
	var n int64
	if _, err := fmt.Sscanf(key, "affine:%g:%g:%d", &lo, &step, &n); err != nil {
		return Ladder{}, fmt.Errorf("ladder %q of %v: want %s or affine:LEAST:STEP:LEVELS", key, t, Identity(t))
	}
	l, err := Affine(lo, step, n)
	if err == nil && l.Key() != key {
		err = fmt.Errorf("ladder %q: want %s", key, l.Key())
	}
	return l, err
}

// String says what the ladder is, for people.
func (l Ladder) String() string {
	switch l.kind {
	case identity:
		if l.lo != 0 {
			return fmt.Sprintf("identity:%d from %v", l.n, l.lo)
		}
		return fmt.Sprintf("identity:%d", l.n)
	case affine:
		return fmt.Sprintf("affine:%v:%v:%d", l.lo, l.step, l.n)
	case table:
		return fmt.Sprintf("table:%d", l.n)
	case every:
		return fmt.Sprintf("identity:%d, every float32", l.n)
	}
	return "none"
}
