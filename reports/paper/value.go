package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Value is a printed number: what stands there, what it is in seconds, bytes,
// voxels a second or as a ratio, and the half unit of its last digit, which
// rounding may have taken from it or added.
type Value struct {
	Printed string
	V, Half float64
	scale   float64 // of the unit that it is printed in
}

// Interval is every number that rounds to the printed one.
func (v Value) Interval() (lo, hi float64) { return v.V - v.Half, v.V + v.Half }

// suffix is what a unit may end with and what that is worth.
type suffix struct {
	text  string
	scale float64
}

// suffixes are those of a unit, longer ones first.
func suffixes(unit string) []suffix {
	switch unit {
	case "B":
		return []suffix{{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}}
	case "time":
		return []suffix{{"ms", 1e-3}, {"m", 60}, {"s", 1}}
	case "ms":
		return []suffix{{"", 1e-3}}
	case "1":
		return []suffix{{"", 1}}
	case "x":
		return []suffix{{"x", 1}, {"", 1}}
	case "Gvox/s":
		return []suffix{{"", 1e9}}
	}
	return nil
}

// parse reads a printed number of a column with a unit.
func parse(printed, unit string) (Value, error) {
	for _, s := range suffixes(unit) {
		number, ok := strings.CutSuffix(printed, s.text)
		if !ok {
			continue
		}
		// A comma is of thousands, wherever it was put.
		v, err := strconv.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		mantissa, power, scientific := strings.Cut(number, "e")
		if err != nil || strings.ContainsAny(number, "ExX_") || scientific && unit != "1" || v < 0 {
			return Value{}, fmt.Errorf("%q is not a number of unit %s", printed, unit)
		}
		digits := 0
		if _, decimals, ok := strings.Cut(mantissa, "."); ok {
			digits = len(decimals)
		}
		if scientific {
			e, err := strconv.Atoi(power)
			if err != nil {
				return Value{}, fmt.Errorf("%q is not a number of unit %s", printed, unit)
			}
			digits -= e
		}
		return Value{Printed: printed, V: v * s.scale, Half: 0.5 * math.Pow10(-digits) * s.scale, scale: s.scale}, nil
	}
	return Value{}, fmt.Errorf("%q is not a number of unit %s", printed, unit)
}
