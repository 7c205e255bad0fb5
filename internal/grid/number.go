package grid

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A Number is a value from a user, such as a threshold. It compares exactly with values of every
// type, also with 64-bit integers that float64 would round. It may be infinite, but not NaN.
type Number struct {
	float float64
	exact *big.Rat // nil if float is exact
}

// wholeFloat is the limit below which float64 represents every integer.
const wholeFloat = 1 << 53

// ParseNumber parses a decimal.
func ParseNumber(text string) (Number, error) {
	text = strings.TrimSpace(text)
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil && math.IsInf(f, 0):
		return Number{}, fmt.Errorf("%q is beyond float64", text)
	case err != nil:
		return Number{}, fmt.Errorf("%q is no number", text)
	case math.IsNaN(f):
		return Number{}, errors.New("NaN is neither above nor below any value")
	}
	n := Number{float: f}
	if a := math.Abs(f); a >= 1 && !math.IsInf(f, 0) {
		if exact, ok := new(big.Rat).SetString(text); ok && exact.Cmp(n.rat()) != 0 {
			n.exact = exact
		}
	}
	return n, nil
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

// Float64 returns the number, rounded.
func (n Number) Float64() float64 { return n.float }

// Compare returns -1, 0 or 1 if n is below, equal to or above m.
func (n Number) Compare(m Number) int {
	if c := cmp.Compare(n.float, m.float); c != 0 || n.exact == nil && m.exact == nil {
		return c
	}
	return n.rat().Cmp(m.rat())
}

// String formats the number with the fewest digits that read back exactly.
func (n Number) String() string {
	text := strconv.FormatFloat(n.float, 'g', -1, 64)
	if n.float == math.Trunc(n.float) && math.Abs(n.float) < 1<<64 {
		text = strconv.FormatFloat(n.float, 'f', 0, 64)
	}
	if n.exact == nil {
		return text
	}
	if same, ok := new(big.Rat).SetString(text); ok && same.Cmp(n.exact) == 0 {
		return text
	}
	digits, _ := n.exact.FloatPrec()
	return n.exact.FloatString(digits)
}

// MarshalJSON writes a number, which must be finite.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsInf(n.float, 0) || math.IsNaN(n.float) {
		return nil, fmt.Errorf("JSON has no number %v", n.float)
	}
	return []byte(n.String()), nil
}

// UnmarshalJSON parses a number.
func (n *Number) UnmarshalJSON(text []byte) (err error) {
	*n, err = ParseNumber(string(text))
	return err
}

// Compare returns -1, 0 or 1 if the original value of v is below, equal to or above a number. A
// decimal such as 0.1 is rounded to float64 before the comparison.
func (l *Labels) Compare(v float32, n Number) int {
	x := float64(v)
	if l != nil {
		switch label := l.label(v).(type) {
		case int64:
			return n.compareWhole(new(big.Int).SetInt64(label))
		case uint64:
			return n.compareWhole(new(big.Int).SetUint64(label))
		default:
			x = label.(float64)
		}
	}
	if math.Abs(n.float) < wholeFloat {
		return cmp.Compare(x, n.float)
	}
	return Number{float: x}.Compare(n)
}

// compareWhole returns -1, 0 or 1 if an integer is below, equal to or above n.
func (n Number) compareWhole(x *big.Int) int {
	if math.IsInf(n.float, 0) {
		return cmp.Compare(0, n.float)
	}
	return new(big.Rat).SetInt(x).Cmp(n.rat())
}
