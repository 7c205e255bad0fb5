package name

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"eccbench/internal/decimal"
)

// Decimal returns the shortest decimal that parseDecimal reads as the same number: 0.05, 1e-4, 1000.
func Decimal(v float64) string {
	if v == 0 || !(math.Abs(v) < 1e-3) { // NaN too
		return strconv.FormatFloat(v+0, 'f', -1, 64) // without the sign of −0
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e-")
	return digits + "e-" + strings.TrimLeft(exponent, "0")
}

// parseDecimal reads a finite decimal number.
func parseDecimal(s string) (float64, error) {
	v, err := decimal.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, fmt.Errorf("%s is no decimal number", Quoted(s))
	}
	return v, nil
}

// Current returns the present spelling of a name, or of a class after its kind. In names of earlier releases a whole
// number above 0 of some keys counted thousandths, millionths, or the digits of a tolerance: mu=50 was 0.05 and tol=4
// was 1e-4. Now these keys have a point or an exponent, so no name has two meanings.
func Current(s string) string {
	n, err := Parse(s)
	if err != nil {
		return s
	}
	n.respell()
	return n.String()
}

// respell gives the values of a name their present spelling.
func (n Name) respell() {
	for i, p := range n.Pairs {
		n.Pairs[i].Value = current(n.Kind, p.Key, p.Value)
	}
}

// current returns the present spelling of a key's value.
func current(kind, key, value string) string {
	if !strings.HasPrefix(kind, "gvf") && !strings.HasPrefix(kind, "eigenmap") && kind != "softecc" {
		return value
	}
	v, err := strconv.ParseUint(value, 10, 40)
	if err != nil || v == 0 {
		return value
	}
	switch {
	case key == "tol" && v <= 300:
		return Decimal(math.Pow10(-int(v)))
	case key == "mu" || key == "sigma" || key == "alpha" && kind == "softecc":
		return pointed(float64(v) / 1e3)
	case key == "floor":
		return pointed(float64(v) / 1e6)
	}
	return value
}

// pointed returns a decimal with a point or an exponent.
func pointed(v float64) string {
	s := Decimal(v)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
