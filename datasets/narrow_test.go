package datasets

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// npyOf is an npy file of one row.
func npyOf(descr string, values any, n int) []byte {
	var b []byte
	b, err := binary.Append(b, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return writeNpy(npyHeaderText(descr, "False", fmt.Sprintf("(%d,)", n)), b)
}

// Values that float32 does not hold keep their order and stand for themselves, and equal
// ones are one level.
func TestRanked(t *testing.T) {
	many := make([]float64, chunkVoxels+30_000) // more than are sorted at a time
	for i := range many {
		many[i] = float64(i*7919%1_000_003) + 0.1
	}
	for name, c := range map[string]struct {
		descr  string
		values any
		want   []string // in ascending order
	}{
		"floats":   {"<f8", []float64{1e300, 0.1, math.Copysign(0, -1), -1e-320, 0, -1e300, 0.1}, []string{"-1e+300", "-1e-320", "0", "0.1", "1e+300"}},
		"int64":    {"<i8", []int64{math.MaxInt64, math.MinInt64, -1, 0, math.MaxInt64 - 1}, []string{"-9223372036854775808", "-1", "0", "9223372036854775806", "9223372036854775807"}},
		"uint64":   {"<u8", []uint64{math.MaxUint64, 3, 0, math.MaxUint64 - 1}, []string{"0", "3", "18446744073709551614", "18446744073709551615"}},
		"int32":    {"<i4", []int32{1<<24 + 1, -5, 1 << 24, -1<<24 - 1}, []string{"-16777217", "-5", "16777216", "16777217"}},
		"uint32":   {"<u4", []uint32{math.MaxUint32, 7, math.MaxUint32 - 1}, []string{"7", "4294967294", "4294967295"}},
		"in parts": {"<f8", many, nil},
	} {
		n := binary.Size(c.values) / int(c.descr[2]-'0')
		for _, every := range []bool{false, true} {
			s, err := openFileBytes("image.npy", npyOf(c.descr, c.values, n), FileOptions{Every: every})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			labels := grid.LabelsOf(s)
			if labels == nil {
				t.Fatalf("%s: no labels", name)
			}
			codes := slices.Clone(s.(*grid.Field).Floats())
			fields := strings.Fields(strings.Trim(fmt.Sprint(c.values), "[]"))
			for i, code := range codes {
				if got, want := string(labels.Append(nil, code)), fields[i]; got != want && !(got == "0" && want == "-0") {
					t.Errorf("%s: voxel %d stands for %s, want %s", name, i, got, want)
				}
			}
			slices.Sort(codes)
			var got []string
			for _, code := range slices.Compact(codes) {
				got = append(got, string(labels.Append(nil, code)))
			}
			if c.want != nil && !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
			if c.want == nil && len(got) != len(many) {
				t.Errorf("%s: %d distinct values, want %d", name, len(got), len(many))
			}
		}
		if _, err := openFileBytes("image.npy", npyOf(c.descr, c.values, n), FileOptions{Levels: 5}); err == nil || !strings.Contains(err.Error(), "ranks have no evenly spaced levels") {
			t.Errorf("%s on 5 levels: %v", name, err)
		}
	}
}

// Values that float32 holds are themselves.
func TestNarrowedExactly(t *testing.T) {
	for name, c := range map[string]struct {
		descr  string
		values any
	}{
		"floats": {"<f8", []float64{0.5, -3, 1, 1 << 60, 0.1328125}},
		"int64":  {"<i8", []int64{1 << 60, -3, 0, 1 << 24, math.MinInt64}},
		"uint64": {"<u8", []uint64{1 << 63, 3}},
		"int32":  {"<i4", []int32{math.MinInt32, 1 << 24, 7}},
	} {
		n := binary.Size(c.values) / int(c.descr[2]-'0')
		s, err := openFileBytes("image.npy", npyOf(c.descr, c.values, n), FileOptions{})
		if err != nil || grid.LabelsOf(s) != nil {
			t.Fatalf("%s: labels %v (%v)", name, grid.LabelsOf(s), err)
		}
		var got []string
		for _, v := range s.(*grid.Field).Floats() {
			if strings.Contains(c.descr, "f") {
				got = append(got, fmt.Sprint(float64(v)))
			} else {
				got = append(got, fmt.Sprintf("%.0f", v))
			}
		}
		if want := fmt.Sprint(c.values); "["+strings.Join(got, " ")+"]" != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// What is not a number is refused with its place, whether other values are held or not.
func TestNarrowRefusesNaN(t *testing.T) {
	for _, values := range [][]float64{{1, math.NaN(), 2, math.Inf(1)}, {0.1, math.NaN(), 0.2, math.Inf(-1)}} {
		for _, every := range []bool{false, true} {
			_, err := openFileBytes("image.npy", npyOf("<f8", values, 4), FileOptions{Every: every})
			checkFileError(t, fmt.Sprint(values), err, "2 values are NaN or infinite, the first at index 1")
		}
	}
}

// Every float16, by the sum of its parts.
func TestHalf(t *testing.T) {
	for h := range 1 << 16 {
		exponent, fraction := h>>10&31, h&1023
		want := math.Ldexp(float64(1024+fraction), exponent-25)
		switch {
		case exponent == 0:
			want = math.Ldexp(float64(fraction), -24)
		case exponent == 31 && fraction == 0:
			want = math.Inf(1)
		case exponent == 31:
			want = math.NaN()
		}
		if h>>15 == 1 {
			want = -want
		}
		if got := float64(half(uint16(h))); got != want && !(math.IsNaN(got) && math.IsNaN(want)) || math.Signbit(got) != math.Signbit(want) && want == want {
			t.Errorf("%#04x is %v, want %v", h, got, want)
		}
	}
}

// A scaling that makes one float32 of several values is not rounded: they are ranked.
func TestScaledWithoutMerging(t *testing.T) {
	text := niftiOf(storedUint8, false, []byte{1, 2, 3, 200, 201, 1}, 3, 2)
	text.slope, text.inter = 1, 1e9
	s, err := openFileBytes("image.nii", writeNifti(text), FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := grid.LabelsOf(s)
	if labels == nil {
		t.Fatal("values were merged")
	}
	var got []string
	for _, v := range s.(*grid.Field).Floats() {
		got = append(got, fmt.Sprintf("%.0f", labels.Float64(v)))
	}
	if want := []string{"1000000001", "1000000002", "1000000003", "1000000200", "1000000201", "1000000001"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
