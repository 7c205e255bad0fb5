package grid

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"

	"eccbench/internal/decimal"
)

// Labels are the original values of an image whose type does not fit into float32, such as int64.
// The image then contains the ranks of its distinct values (see Ranked), and Labels lists these
// values in ascending order. Nothing is rounded, and no two values become one. Nil Labels mean that
// the float32 values are the original ones.
type Labels struct {
	typ    string
	number int
	kind   string                // of the bits, as NumPy type string: "<i8", "<u8" or "<f8"
	at     func(rank int) uint64 // the bits of an int64, a uint64 or a float64
	digest string                // of the voxels, if the labels are not all of their values
}

// NewLabels makes Labels of distinct ascending values and the NumPy name of their type. It keeps
// the slice.
func NewLabels[T int32 | uint32 | int64 | uint64 | float64](typ string, values []T) (*Labels, error) {
	if len(values) > mostRanks {
		return nil, fmt.Errorf("%d distinct values of %s; want at most %d", len(values), typ, mostRanks)
	}
	l := &Labels{typ: typ, number: len(values), kind: "<i8", at: func(rank int) uint64 { return uint64(values[rank]) }}
	switch list := any(values).(type) {
	case []uint32, []uint64:
		l.kind = "<u8"
	case []float64:
		l.kind, l.at = "<f8", func(rank int) uint64 { return math.Float64bits(list[rank]) }
	}
	return l, nil
}

// firstRank is the bit pattern for rank 0: the smallest normal float32, as some processors treat
// smaller ones as 0.
const firstRank = 0x00800000

// mostRanks is the number of larger finite float32.
const mostRanks = largest - firstRank

// Ranked returns the float32 that encodes a rank.
func Ranked(rank int) float32 { return math.Float32frombits(firstRank + uint32(rank)) }

func (l *Labels) label(v float32) uint64 { return l.at(int(math.Float32bits(v) - firstRank)) }

// Len returns the number of labels.
func (l *Labels) Len() int { return l.number }

// Type returns the type of the labels.
func (l *Labels) Type() string { return l.typ }

// WithDigest returns the labels of voxels that are ranked among thresholds, with a digest of their original values.
func (l *Labels) WithDigest(voxels string) *Labels {
	k := *l
	k.digest = voxels
	return &k
}

// Digest returns the digest of WithDigest, or "".
func (l *Labels) Digest() string {
	if l == nil {
		return ""
	}
	return l.digest
}

// String describes the labels for users.
func (l *Labels) String() string {
	if l.digest != "" {
		return "thresholds of " + l.typ
	}
	return fmt.Sprintf("%d distinct values of %s", l.number, l.typ)
}

// Append appends the original value as text, with the fewest digits that read back exactly.
func (l *Labels) Append(b []byte, v float32) []byte {
	if l == nil {
		return decimal.AppendFloat32(b, v)
	}
	switch x := l.label(v); l.kind {
	case "<i8":
		return decimal.AppendInt(b, int64(x))
	case "<u8":
		return strconv.AppendUint(b, x, 10)
	default:
		return strconv.AppendFloat(b, math.Float64frombits(x), 'g', -1, 64)
	}
}

// LabelBytes is the number of bytes that AppendBytes writes for labels.
const LabelBytes = 8

// AppendBytes appends the original value in little-endian bytes: LabelBytes of an int64, a uint64
// or a float64, or a float32 for nil Labels.
func (l *Labels) AppendBytes(b []byte, v float32) []byte {
	if l == nil {
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	if v > math.MaxFloat32 { // outside the image
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(math.NaN()))
	}
	return binary.LittleEndian.AppendUint64(b, l.label(v))
}

// Kind returns the NumPy type string of these bytes.
func (l *Labels) Kind() string {
	if l == nil {
		return "<f4"
	}
	return l.kind
}

// Float64 returns the original value, rounded to float64.
func (l *Labels) Float64(v float32) float64 {
	if l == nil {
		return float64(v)
	}
	switch x := l.label(v); l.kind {
	case "<i8":
		return float64(int64(x))
	case "<u8":
		return float64(x)
	default:
		return math.Float64frombits(x)
	}
}

// Shifted returns an original value as float64, for integers less the original value of least,
// which is not above it. Float64 rounds large integers, but not their small differences.
func (l *Labels) Shifted(v, least float32) float64 {
	if l != nil && l.kind != "<f8" {
		return float64(l.label(v) - l.label(least))
	}
	return l.Float64(v)
}

// Labelled returns the field with labels for its values.
func (f *Field) Labelled(l *Labels) *Field {
	g := *f
	g.labels = l
	return &g
}

// Marks returns the values of a mask as float32: 0 only where the image is 0, and equal only where its
// values are equal. Use it in place of Floats for masks: no label has a float32 of 0 there.
func (f *Field) Marks() []float32 {
	values := f.Floats()
	if f.labels == nil {
		return values
	}
	rank, has := sort.Find(f.labels.number, func(rank int) int { return -f.labels.Compare(Ranked(rank), Number{}) })
	if !has {
		return values
	}
	marks, zero := slices.Clone(values), Ranked(rank)
	for i, v := range marks {
		if v == zero {
			marks[i] = 0
		}
	}
	return marks
}

// Labels returns the labels of the field's values, or nil.
func (f *Field) Labels() *Labels { return f.labels }

// LabelsOf returns the labels of a source, or nil.
func LabelsOf(s Source) *Labels {
	if l, ok := s.(interface{ Labels() *Labels }); ok {
		return l.Labels()
	}
	return nil
}

// A Number is a value from a user, such as a threshold. It compares exactly with values of every type, also with 64-bit
// integers that float64 would round, but digits may mean the nearest value of a type. It may be infinite, but not NaN.
type Number struct {
	float float64
	exact *big.Rat // nil if float is exact
	// large is set for large numbers with an exponent, as large levels are printed. They and fractions mean the nearest
	// float64 to float64 values, and single to float32 values: 0.1 is the level that is printed as 0.1. Whole digits
	// such as 67108863 compare exactly, because the float32 values may be those of an image of int32.
	large  bool
	single *float32 // the nearest float32, if it differs from the number and is not the integer next to a fraction
}

// wholeSingle is the limit below which float32 represents every integer.
const wholeSingle = 1 << 24

// ParseNumber parses a decimal.
func ParseNumber(text string) (Number, error) {
	text = strings.TrimSpace(text)
	digits, _, exponent := strings.Cut(strings.ToLower(text), "e")
	f, err := decimal.ParseFloat(text, 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return Number{}, fmt.Errorf("%q is beyond float64", text)
	case err != nil:
		return Number{}, fmt.Errorf("%q is no number", text)
	case math.IsNaN(f):
		return Number{}, errors.New("NaN is neither above nor below any value")
	case f == 0 && strings.ContainsAny(digits, "123456789"):
		return Number{}, fmt.Errorf("%q is closer to 0 than any other float64", text)
	}
	n := Number{float: f, large: exponent && math.Abs(f) >= wholeSingle}
	if a := math.Abs(f); a >= 1 && !math.IsInf(f, 0) { // a smaller fraction is rounded anyway
		if exact, ok := new(big.Rat).SetString(text); ok && exact.Cmp(n.rat()) != 0 {
			n.exact = exact
		}
	}
	if f, err := decimal.ParseFloat(text, 32); err == nil && (f != n.float || n.exact != nil) &&
		(n.large || f != math.Trunc(f)) {
		single := float32(f)
		n.single = &single
	}
	n.large = n.large && (n.exact != nil || n.single != nil) // else it means the same either way
	return n, nil
}

// rounded reports whether the number means the nearest float64 to float64 values.
func (n Number) rounded() bool { return n.large || n.float != math.Trunc(n.float) }

// Exact returns the number that compares exactly with float32 values too. Rounded digits are those of a float64.
func (n Number) Exact() Number {
	if n.rounded() {
		n.exact = nil
	}
	n.large, n.single = false, nil
	return n
}

// Numbers converts float64 values.
func Numbers(values ...float64) []Number {
	list := make([]Number, len(values))
	for i, v := range values {
		list[i].float = v
	}
	return list
}

// rat returns the number as a fraction; it must be finite.
func (n Number) rat() *big.Rat {
	if n.exact != nil {
		return n.exact
	}
	return new(big.Rat).SetFloat64(n.float)
}

// IsWhole reports whether the number is an integer.
func (n Number) IsWhole() bool { return !math.IsInf(n.float, 0) && n.rat().IsInt() }

// Float64 returns the number, rounded.
func (n Number) Float64() float64 { return n.float }

// Float32 returns the number, rounded.
func (n Number) Float32() float32 {
	if n.single != nil {
		return *n.single
	}
	return float32(n.float)
}

// Compare returns -1, 0 or 1 if n is below, equal to or above m.
func (n Number) Compare(m Number) int {
	if c := cmp.Compare(n.float, m.float); c != 0 || n.exact == nil && m.exact == nil {
		return c
	}
	return n.rat().Cmp(m.rat())
}

// String formats the number with the fewest digits that read back as the same number.
func (n Number) String() string {
	format, decimals := byte('g'), -1
	switch {
	case n.large:
		format = 'e'
	case n.float == math.Trunc(n.float):
		format, decimals = 'f', 0
	case math.Abs(n.float) >= wholeSingle:
		format = 'f'
	}
	text := strconv.FormatFloat(n.float, format, decimals, 64)
	if n.exact == nil && decimals == 0 || math.Abs(n.float) < 1 || math.IsInf(n.float, 0) {
		return text
	}
	is := n.rat()
	if same, ok := new(big.Rat).SetString(text); ok && same.Cmp(is) == 0 {
		return text
	}
	digits, _ := is.FloatPrec()
	text = is.FloatString(digits)
	if n.large {
		text += "e0"
	}
	return text
}

// MarshalJSON writes a number, which must be finite.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsInf(n.float, 0) || math.IsNaN(n.float) {
		return nil, fmt.Errorf("JSON has no number %v", n.float)
	}
	return []byte(n.String()), nil
}

// UnmarshalJSON parses a number, or the text of one: JSON has no infinite numbers.
func (n *Number) UnmarshalJSON(text []byte) (err error) {
	*n, err = ParseNumber(strings.Trim(string(text), `"`))
	return err
}

// Compare returns -1, 0 or 1 if the original value of v is below, equal to or above a number. Rounded digits such as
// 0.1 or 1e+300 mean the nearest value of its type.
func (l *Labels) Compare(v float32, n Number) int {
	switch {
	case l == nil && n.single != nil:
		return cmp.Compare(v, *n.single)
	case l != nil && l.kind == "<f8" && n.rounded():
		return cmp.Compare(l.Float64(v), n.float)
	}
	return l.Number(v).Compare(n)
}

// Number returns the original value.
func (l *Labels) Number(v float32) Number {
	n := Number{float: l.Float64(v)}
	if l == nil || l.kind == "<f8" {
		return n
	}
	exact := new(big.Rat).SetUint64(l.label(v))
	if l.kind == "<i8" {
		exact.SetInt64(int64(l.label(v)))
	}
	if exact.Cmp(n.rat()) != 0 {
		n.exact = exact
	}
	return n
}
