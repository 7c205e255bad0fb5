package element

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// The sets at thresholds have the voxels whose exact values are at or below them, or at or above, in
// every type. NaN keeps its place.
func ranksAmongThresholds(t *testing.T) {
	const odd = 1<<24 + 1 // which float32 does not hold
	setsOf(t, Int32, []int32{math.MinInt32, -odd, -1, 0, 1, odd, odd + 1, math.MaxInt32})
	setsOf(t, Uint32, []uint32{0, 1, odd, odd + 1, math.MaxUint32})
	setsOf(t, Int64, []int64{math.MinInt64, math.MinInt64 + 1, -1<<53 - 1, -1 << 53, 0, odd, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64})
	setsOf(t, Uint64, []uint64{0, odd, 1<<53 + 1, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64})
	setsOf(t, Int64, []int64{odd, odd, odd})
	setsOf(t, Float64, []float64{-math.MaxFloat64, -1e300, -0.1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.NaN(),
		math.SmallestNonzeroFloat64, 0.1, 67108863, 1 << 53, 1e23, math.MaxFloat64, math.NaN()})
	setsOf(t, Float64, []float64{math.NaN(), -0.3, -0.2, -0.1})
}

func setsOf[T wide](t *testing.T, s Type, values []T) {
	texts := []string{"0", "-0", "-1", "-0.5", "0.1", "0.10000000000000000001", "-0.2", "1e23", "-1e300", "16777217", "16777217.5",
		"67108863", "67108863.5", "9007199254740992", "9007199254740993", "-9007199254740993", "-2147483648", "2147483647.5",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551615", "18446744073709551616",
		"4.9e-324", "-4.9e-324", "1.7976931348623157e308", "-1.7976931348623157e308", "inf", "-inf"}
	lists := [][]string{texts, {"-inf"}, {"inf"}, {"-0.5", "-0.5"}}
	for _, text := range texts {
		lists = append(lists, []string{text})
	}
	for _, super := range []bool{false, true} {
		for _, list := range lists {
			numbers := make([]grid.Number, len(list))
			for i, text := range list {
				var err error
				if numbers[i], err = grid.ParseNumber(text); err != nil {
					t.Fatal(err)
				}
			}
			var ends string
			r := Ranks{Superlevel: super, Hashed: len(list) > 1, At: func(l *grid.Labels) []grid.Number {
				ends = string(l.Append(append(l.Append(nil, grid.Ranked(0)), ' '), grid.Ranked(l.Len()-1)))
				return numbers
			}}
			data, labels, err := Narrow(AllCores(), grid.Bytes(values), s, false, 0, 0, r)
			if err != nil || labels == nil || labels.Len() > len(list)+1 || labels.Type() != s.String() {
				t.Fatalf("%v of %v: %v; %v", list, s, labels, err)
			}
			want := ""
			if r.Hashed {
				want = fmt.Sprintf("sha256:%x", sha256.Sum256(grid.Bytes(values)))
			}
			if labels.Digest() != want || r.Hashed != (labels.String() == "thresholds of "+s.String()) {
				t.Errorf("%v with the digest %q, want %q", labels, labels.Digest(), want)
			}
			var inside []T
			for i, v := range grid.Values[float32](data) {
				if values[i] != values[i] {
					if v == v {
						t.Errorf("NaN became %v", v)
					}
					continue
				}
				inside = append(inside, values[i])
				for k, n := range numbers {
					c, want := labels.Compare(v, n), compared(values[i], list[k])
					if super && c >= 0 != (want >= 0) || !super && c <= 0 != (want <= 0) {
						t.Errorf("%v of %v, superlevel %t: set at %s: %d, want %d", values[i], s, super, list[k], c, want)
					}
				}
			}
			l, err := grid.NewLabels(s.String(), []T{slices.Min(inside), slices.Max(inside)})
			if want := string(l.Append(append(l.Append(nil, grid.Ranked(0)), ' '), grid.Ranked(1))); err != nil || ends != want {
				t.Errorf("ends %s, want %s", ends, want)
			}
		}
	}
	// No thresholds, or too many: the distinct values.
	_, want, err := Narrow(AllCores(), grid.Bytes(slices.Clone(values)), s, false, 0, 0, Ranks{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, grid.MaxRanks + 1} {
		r := Ranks{At: func(*grid.Labels) []grid.Number { return make([]grid.Number, n) }}
		if _, got, err := Narrow(AllCores(), grid.Bytes(slices.Clone(values)), s, false, 0, 0, r); err != nil || got.Len() != want.Len() {
			t.Errorf("%d thresholds of %v: %v, want %v; %v", n, s, got, want, err)
		}
	}
}

// compared is the definition: fractions and exponents mean the nearest float64 for values of float64,
// other numbers are exact.
func compared[T wide](v T, text string) int {
	if strings.HasSuffix(text, "inf") {
		return map[bool]int{false: -1, true: 1}[text[0] == '-']
	}
	n, _ := new(big.Rat).SetString(text)
	exact := new(big.Rat)
	switch v := any(v).(type) {
	case float64:
		exact.SetFloat64(v)
		if strings.ContainsAny(text, ".e") {
			f, _ := strconv.ParseFloat(text, 64)
			n.SetFloat64(f)
		}
	case int32:
		exact.SetInt64(int64(v))
	case int64:
		exact.SetInt64(v)
	case uint32:
		exact.SetUint64(uint64(v))
	case uint64:
		exact.SetUint64(v)
	}
	return exact.Cmp(n)
}
