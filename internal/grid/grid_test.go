package grid

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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

// Levels that lie as close together as can be, some of them far away, and so many that
// each has one or two buckets.
func TestLevelsOfLongTables(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	tables := map[string][]float32{}
	near := []float32{-math.MaxFloat32, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32}
	for x := float32(1); len(near) < 200_000; x = math.Nextafter32(x, 2) {
		near = append(near, x)
	}
	tables["neighbours"] = append(near, 7, math.MaxFloat32)
	for _, n := range []int{2, 3000, 70_000, 300_000} {
		var even []float32
		for range n {
			even = append(even, rng.Float32()-0.25)
		}
		slices.Sort(even)
		tables[fmt.Sprint(n)] = slices.Compact(even)
	}
	for name, levels := range tables {
		l, err := Table(levels)
		if err != nil {
			t.Fatal(err)
		}
		values := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1))}
		for _, v := range levels {
			values = append(values, v, math.Nextafter32(v, math.MaxFloat32), math.Nextafter32(v, -math.MaxFloat32))
		}
		for range 10_000 {
			values = append(values, math.Float32frombits(rng.Uint32()&^(1<<30)))
		}
		got := make([]int32, len(values))
		NewLevels[float32](l).Convert(got, values)
		for i, v := range values {
			if k := l.Level(v); int64(got[i]) != k {
				t.Fatalf("%s: %v is converted to %d, looked up as %d", name, v, got[i], k)
			}
		}
	}
}

func TestLadderGob(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, _ := ladders(t)
		var b bytes.Buffer
		var back Ladder
		if err := errors.Join(gob.NewEncoder(&b).Encode(l), gob.NewDecoder(&b).Decode(&back)); err != nil {
			t.Fatal(err)
		}
		if back.Key() != l.Key() || back.Len() != l.Len() || back.Value(0) != l.Value(0) {
			t.Fatalf("%v, then %v", l, back)
		}
	})
}
