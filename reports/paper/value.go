package paper

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"eccbench/internal/decimal"
)

// A Value is a printed number. V is in seconds, bytes or voxels a second, or a ratio. Half is half
// a unit of its last digit: the largest error of its rounding.
type Value struct {
	Printed string
	V, Half float64
	scale   float64 // of the printed unit
}

// Interval returns the range of the numbers that round to the printed one.
func (v Value) Interval() (lo, hi float64) { return v.V - v.Half, v.V + v.Half }

// suffix is an ending of a printed number, and its scale.
type suffix struct {
	text  string
	scale float64
}

// suffixes returns the endings of a unit, longer ones first.
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
		v, err := decimal.ParseFloat(strings.ReplaceAll(number, ",", ""), 64)
		mantissa, power, scientific := strings.Cut(number, "e")
		if err != nil || strings.Contains(number, "E") || scientific && unit != "1" || v < 0 {
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
