package grid

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/zeebo/xxh3"
)

// A Ladder is the ascending list of levels that indexes an answer about an image. The level of a
// value is the lowest level at or above it. So the voxels with value ≤ Value(k) are the voxels of
// level ≤ k. The zero Ladder has no levels.
//
// Every level is a float32, which represents all four element types exactly.
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

// MaxLevels is the largest number of levels, except for the ladder of every float32. Level indices
// fit an int32, and one index remains for values above every level.
const MaxLevels = math.MaxInt32 - 1

// Identity returns the ladder of all values of a type; for float32, of all finite ones. The float32
// ladder has more levels than MaxLevels. Implementations that accept it keep no table of levels,
// and call EveryLevel instead of using a Converter.
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

// largest is the bit pattern of the largest finite float32. It is also the level of 0 on the ladder
// of every float32.
const largest = 0x7f7fffff

// EveryLevel returns the level of a finite value on the ladder of every float32. Both zeros have
// one level.
func EveryLevel(v float32) uint32 {
	b := math.Float32bits(v)
	sign := uint32(int32(b) >> 31)        // all ones for a negative value
	return (b ^ sign>>1) - sign + largest // −m is ^m + 1
}

// everyValue is the inverse of EveryLevel.
func everyValue(k int64) float32 {
	if k < largest {
		return -math.Float32frombits(uint32(largest - k))
	}
	return math.Float32frombits(uint32(k - largest))
}

// Indexed reports whether level indices fit an int32. Only the ladder of every float32 does not
// fit.
func (l Ladder) Indexed() bool { return l.n <= MaxLevels }

// CheckIndexed returns an error if the ladder is not Indexed. Code that keeps a table of levels
// calls it first.
func (l Ladder) CheckIndexed() error {
	if !l.Indexed() {
		return fmt.Errorf("ladder %v: tables of levels have at most %d; use evenly spaced levels, or those "+
			"of the distinct values", l, MaxLevels)
	}
	return nil
}

// Affine returns the ladder lo, lo+step, …, lo+(n−1)·step. Each operation is rounded to float64,
// and each level then to float32. It is an error if two levels round to the same float32.
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

// Table returns the ladder of the given values, which must be finite and strictly ascending. It
// keeps the slice.
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

// Len returns the number of levels.
func (l Ladder) Len() int64 { return l.n }

// Value returns level k, 0 ≤ k < Len.
func (l Ladder) Value(k int64) float32 {
	switch l.kind {
	case table:
		return l.table[k]
	case every:
		return everyValue(k)
	}
	return affineValue(l.lo, l.step, float64(k))
}

// affineValue returns level k of an affine ladder. The conversion prevents a fused multiply-add,
// which rounds once instead of twice and would differ between machines.
func affineValue(lo, step, k float64) float32 { return float32(lo + float64(k*step)) }

// Level returns the index of the lowest level at or above v, or Len if v is above all levels.
func (l Ladder) Level(v float32) int64 {
	switch l.kind {
	case table:
		k, _ := slices.BinarySearch(l.table, v)
		return int64(k)
	case every:
		if v > math.MaxFloat32 {
			return l.n
		}
		return int64(EveryLevel(max(v, -math.MaxFloat32)))
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

// Whole reports whether the levels are all values of a type, as those of Identity are.
func (l Ladder) Whole() bool { return l.kind == identity || l.kind == every }

// Rounds reports whether a value between two levels counts as one on the higher level.
func (l Ladder) Rounds() bool { return l.kind == affine }

// Affinity returns the first level and the step, if the levels are evenly spaced.
func (l Ladder) Affinity() (lo, step float64, ok bool) {
	return l.lo, l.step, l.kind == identity || l.kind == affine
}

// Consecutive returns the first level, if the levels are consecutive integers that start within
// ±2²⁴ (float32 represents all integers of 16 bits).
func (l Ladder) Consecutive() (first int64, ok bool) {
	lo, step, ok := l.Affinity()
	return int64(lo), ok && step == 1 && lo == math.Trunc(lo) && math.Abs(lo) < 1<<24
}

// InFloat32 reports whether the levels are evenly spaced and float32 arithmetic reproduces each of
// them as float32(k)·float32(step) + float32(lo), each operation rounded. It tests every level.
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

// Listed returns the levels of a table, or nil for other ladders. The caller must not modify them.
func (l Ladder) Listed() []float32 { return l.table }

// TableBytes returns the size of a table's levels in bytes, 0 for other ladders.
func (l Ladder) TableBytes() int64 { return 4 * int64(len(l.table)) }

// AppendBinary appends the ladder to b, for another process.
func (l Ladder) AppendBinary(b []byte) ([]byte, error) {
	var err error
	for _, v := range []any{l.kind, l.lo, l.step, l.n, int64(len(l.table)), l.table} {
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// UnmarshalBinary decodes a ladder from AppendBinary.
func (l *Ladder) UnmarshalBinary(data []byte) error {
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

// Key identifies the ladder: ladders with equal keys have equal levels.
func (l Ladder) Key() string {
	if l.kind == table {
		return fmt.Sprintf("table:%d:%016x", l.n, xxh3.Hash(Bytes(l.table)))
	}
	return l.String()
}

// ParseLadder parses a Key for images of a type. Tables cannot be parsed, because their key is a
// hash.
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

// String describes the ladder for users.
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
