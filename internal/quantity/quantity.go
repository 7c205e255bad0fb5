// Package quantity prints and reads the quantities of the project: rates in
// items per second, bytes, and durations.
package quantity

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"eccbench/internal/decimal"
)

// Giga prints a rate in units of 10⁹, with four significant digits.
func Giga(rate float64) string { return Significant(rate/1e9, 4) }

// A Scale is a unit of rates: a prefix of the International System, and its factor.
type Scale struct {
	Prefix string
	By     float64
}

// ScaleOf returns the scale for rates up to the largest. Voxels always use G. Other units use the
// largest of G, M, k and none that is at most ten times the rate; a rate of 0 uses G.
func ScaleOf(largest float64, unit string) Scale {
	for _, s := range []Scale{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if unit == "vox" || largest == 0 || largest >= s.By/10 {
			return s
		}
	}
	return Scale{By: 1}
}

// Format prints a rate in the scale's unit, with four significant digits.
func (s Scale) Format(rate float64) string { return Significant(rate/s.By, 4) }

// Rate prints a rate per second, with the unit.
func Rate(rate float64, unit string) string {
	s := ScaleOf(rate, unit)
	return s.Format(rate) + " " + s.Prefix + unit + "/s"
}

// Significant prints v with the given number of significant digits and no
// exponent.
func Significant(v float64, digits int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	decimals := digits - 1 - int(math.Floor(math.Log10(math.Abs(v))))
	return strconv.FormatFloat(v, 'f', max(0, decimals), 64)
}

// Percent prints a share with the given number of significant digits: "12.3 %", or "—" for 0.
func Percent(share float64, digits int) string {
	if share == 0 {
		return "—"
	}
	return Significant(share*100, digits) + " %"
}

// Bytes prints a byte count with a binary unit.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return Significant(v, 3) + " " + units[u]
}

// ParseBytes reads a byte count such as "512MiB", "2GiB", "1.5G" or "4096";
// K, M, G and T are binary with or without "iB".
func ParseBytes(s string) (int64, error) {
	number := strings.TrimSpace(s)
	number = strings.TrimSuffix(strings.TrimSuffix(number, "B"), "i")
	scale := 1.0
	for i, unit := range []string{"K", "M", "G", "T"} {
		if cut, ok := strings.CutSuffix(number, unit); ok {
			number, scale = cut, math.Pow(1024, float64(i+1))
		}
	}
	v, err := decimal.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(v >= 0) || v*scale > math.MaxInt64/2 {
		return 0, fmt.Errorf("size %q: want a number with an optional unit, such as 512MiB or 2GiB", s)
	}
	return int64(v * scale), nil
}

// Duration prints a duration with three significant digits.
func Duration(d time.Duration) string {
	switch s := d.Seconds(); {
	case s >= 7200:
		return Significant(s/3600, 3) + " h"
	case s >= 120:
		return Significant(s/60, 3) + " min"
	case s >= 1 || s == 0:
		return Significant(s, 3) + " s"
	case s >= 1e-3:
		return Significant(s*1e3, 3) + " ms"
	case s >= 1e-6:
		return Significant(s*1e6, 3) + " µs"
	default:
		return Significant(s*1e9, 3) + " ns"
	}
}

// Seconds is the duration of a number of seconds, at most the longest there is.
func Seconds(s float64) time.Duration {
	if s >= math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(s * 1e9)
}

// Count returns a number with its noun: "1 step", "2 steps".
func Count[N int | int64](n N, one string) string {
	return fmt.Sprintf("%d %s", n, Noun(int64(n), one))
}

// Noun returns a noun for a count, in the singular or plural.
func Noun(n int64, one string) string {
	switch {
	case n == 1:
		return one
	case one == "vertex":
		return "vertices"
	case strings.HasSuffix(one, "y"):
		return one[:len(one)-1] + "ies"
	case strings.HasSuffix(one, "ss"):
		return one + "es"
	case one == "tetrahedron":
		return "tetrahedra"
	}
	return one + "s"
}
