package grid

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ladders draws a ladder of any kind with values around its levels.
func ladders(t *rapid.T) (Ladder, []float32) {
	var l Ladder
	switch rapid.SampledFrom([]string{"identity", "affine", "table", "dense"}).Draw(t, "kind") {
	case "identity":
		l = Identity(rapid.SampledFrom([]Type{Uint8, Int16, Uint16}).Draw(t, "type"))
	case "affine":
		var err error
		lo := rapid.Float64Range(-1000, 1000).Draw(t, "lo")
		step := rapid.Float64Range(0.001, 100).Draw(t, "step")
		if l, err = Affine(lo, step, rapid.Int64Range(1, 5000).Draw(t, "n")); err != nil {
			t.Skip(err)
		}
	default:
		v := rapid.SliceOfNDistinct(rapid.Float32Range(-1e30, 1e30), 1, 200, rapid.ID).Draw(t, "levels")
		slices.Sort(v)
		var err error
		if l, err = Table(slices.Compact(v)); err != nil {
			t.Skip(err)
		}
	}
	values := rapid.SliceOfN(rapid.Float32Range(-70000, 70000), 0, 50).Draw(t, "values")
	for _, k := range rapid.SliceOfN(rapid.Int64Range(0, l.Len()-1), 0, 50).Draw(t, "on") {
		v := l.Value(k)
		values = append(values, v, math.Nextafter32(v, float32(math.Inf(1))), math.Nextafter32(v, float32(math.Inf(-1))))
	}
	return l, values
}

// A level is the lowest that is not below the value; the converters agree with
// the ladder on every value of every type.
func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, values := ladders(t)
		got := make([]int32, len(values))
		NewLevels[float32](l).Convert(got, values)
		for i, v := range values {
			k := l.Level(v)
			if k > 0 && l.Value(k-1) >= v || k < l.Len() && l.Value(k) < v {
				t.Fatalf("%v: %v is on level %d", l, v, k)
			}
			if int64(got[i]) != k {
				t.Fatalf("%v: %v is converted to %d, looked up as %d", l, v, got[i], k)
			}
		}
		var small []int16
		for v := -33000; v < 33000; v += 97 {
			small = append(small, int16(v))
		}
		out := make([]int32, len(small))
		NewConverter(Int16, l).Convert(out, Bytes(small))
		for i, v := range small {
			if int64(out[i]) != l.Level(float32(v)) {
				t.Fatalf("%v: int16 %d is converted to %d, looked up as %d", l, v, out[i], l.Level(float32(v)))
			}
		}
	})
}

func TestEncodedLadder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := ladders(t)
		var back Ladder
		data, err := l.AppendBinary(nil)
		if err := errors.Join(err, back.UnmarshalBinary(data)); err != nil {
			t.Fatal(err)
		}
		if back.Key() != l.Key() || back.Len() != l.Len() || back.Value(0) != l.Value(0) {
			t.Fatalf("%v, then %v", l, back)
		}
	})
}
