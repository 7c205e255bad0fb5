package grid

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseShape(t *testing.T) {
	for s, want := range map[string]Shape{"3x4": {1, 4, 3}, "3x4x5": {5, 4, 3}, "3x4x1": {1, 4, 3}, "1x1": {1, 1, 1}, "4096x4096x4096": {4096, 4096, 4096}} {
		got, err := ParseShape(s)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
		if back, err := ParseShape(got.String()); err != nil || back != got {
			t.Errorf("%q prints as %q, which reads as %v, %v", s, got, back, err)
		}
	}
	for _, s := range []string{"", "3", "3x", "x3", "0x1", "-1x2", "3x4x5x6", "axb", "9999999999x9999999999x9"} {
		if got, err := ParseShape(s); err == nil {
			t.Errorf("%q: %v, want an error", s, got)
		}
	}
	if s := (Shape{4096, 4096, 4096}); s.Voxels() != 1<<36 || s.Slices() != 4096 || s.SliceVoxels() != 1<<24 || s.Dim() != 3 {
		t.Errorf("4096³: %d voxels", s.Voxels())
	}
	if s := (Shape{1, 5, 7}); s.Slices() != 5 || s.SliceVoxels() != 7 || s.Dim() != 2 || s.WithSlices(2) != (Shape{1, 2, 7}) {
		t.Errorf("a 2D shape streams by rows: %d slices", s.Slices())
	}
}

func TestTypes(t *testing.T) {
	for _, typ := range Types() {
		if back, err := ParseType(typ.String()); err != nil || back != typ {
			t.Errorf("%v reads as %v, %v", typ, back, err)
		}
	}
	if _, err := ParseType("float64"); err == nil {
		t.Error("float64 is a type")
	}
	if TypeOf[uint8]() != Uint8 || TypeOf[int16]() != Int16 || TypeOf[uint16]() != Uint16 || TypeOf[float32]() != Float32 {
		t.Error("TypeOf")
	}
}

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

// The levels of all bit patterns are those that the ladder says: of levels a value apart, closer,
// further, and of none or all of the values.
func TestOfPatterns(t *testing.T) {
	var list []Ladder
	for _, typ := range Types()[:3] {
		list = append(list, Identity(typ))
	}
	for _, l := range []struct {
		lo, step float64
		n        int64
	}{{-5, 1, 11}, {0.5, 0.25, 700}, {-40000, 0.5, 200_000}, {-32768, 300, 219}, {1e6, 1, 3}, {-1e6, 1, 3}, {254, 1, 1}} {
		affine, err := Affine(l.lo, l.step, l.n)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, affine)
	}
	uneven, err := Table([]float32{-40000, -7.5, -7.25, -7, 0, 254, 255, 65535})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range append(list, uneven) {
		for _, typ := range Types()[:3] {
			of := l.OfPatterns(typ)
			if len(of) != 1<<(8*typ.Size()) {
				t.Fatalf("%v: %d patterns of %v", l, len(of), typ)
			}
			for b, got := range of {
				value := float32(b)
				if typ == Int16 {
					value = float32(int16(b))
				}
				if want := l.Level(value); int64(got) != want {
					t.Fatalf("%v: %v of %v is on level %d, want %d", l, value, typ, got, want)
				}
			}
		}
	}
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

func TestLadderRefuses(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	for _, values := range [][]float32{{}, {1, 1}, {2, 1}, {nan}, {inf}, {-inf, 0}} {
		if _, err := Table(values); err == nil {
			t.Errorf("a ladder of %v", values)
		}
	}
	for _, c := range []struct {
		lo, step float64
		n        int64
	}{{0, 0, 2}, {0, -1, 2}, {math.NaN(), 1, 2}, {0, math.NaN(), 2}, {0, 1, 0}, {0, 1, math.MaxInt32}, {1, 1e-9, 2}, {0, 1e38, 9}, {math.Inf(1), 1, 1}} {
		if l, err := Affine(c.lo, c.step, c.n); err == nil {
			t.Errorf("%+v: ladder %v", c, l)
		}
	}
}

// Ladders of other levels have other keys.
func TestInFloat32(t *testing.T) {
	affine := func(lo, step float64, n int64) Ladder {
		l, err := Affine(lo, step, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	uneven, err := Table([]float32{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		l    Ladder
		want bool
	}{
		{Identity(Int16), true}, {affine(-3, 0.75, 3000), true}, {affine(0.1, 0.1, 1), true},
		{affine(0, 0.1, 255), false}, {affine(-0.125, 0.1, 255), false}, {uneven, false},
	} {
		if got := c.l.InFloat32(); got != c.want {
			t.Errorf("%v: %v, want %v", c.l, got, c.want)
		}
	}
}

func TestLadderKeys(t *testing.T) {
	seen := map[string]Ladder{}
	for _, l := range []Ladder{Identity(Uint8), Identity(Int16), Identity(Uint16)} {
		if other, ok := seen[l.Key()]; ok {
			t.Errorf("%v and %v, from %v and %v, have the key %s", l, other, l.Value(0), other.Value(0), l.Key())
		}
		seen[l.Key()] = l
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

func TestNewField(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	ladder, err := Table([]float32{-1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	s := Shape{2, 1, 3}
	f, err := NewField(s, Float32, Bytes([]float32{0, float32(math.Copysign(0, -1)), 1, -1, 0, 1}), ladder)
	if err != nil {
		t.Fatal(err)
	}
	if b := math.Float32bits(Values[float32](f.Data())[1]); b != 0 {
		t.Errorf("-0 became %#x", b)
	}
	_, err = NewField(s, Float32, Bytes([]float32{0, 0, 0, 0, nan, inf}), ladder)
	var bad *NotFiniteError
	if !errors.As(err, &bad) || *bad != (NotFiniteError{Count: 2, First: 4, Z: 1, Y: 0, X: 1}) {
		t.Errorf("NaN: %v", err)
	}
	if _, err = NewField(s, Float32, Bytes([]float32{0, 2, 0, 0, 3, 0}), ladder); err == nil || !strings.Contains(err.Error(), "2 values are above the ladder's last level 1, the first at index 1") {
		t.Errorf("above the ladder: %v", err)
	}
	if _, err = NewField(s, Uint8, make([]byte, 5), Identity(Uint8)); err == nil || !strings.Contains(err.Error(), "5 bytes, want 6") {
		t.Errorf("short: %v", err)
	}
	odd := make([]byte, 13)[1:]
	if _, err = NewField(Shape{1, 1, 3}, Float32, odd, ladder); err != nil {
		t.Errorf("misaligned bytes: %v", err)
	}
}

func TestDigest(t *testing.T) {
	field := func(s Shape, l Ladder, v ...uint8) string {
		f, err := NewField(s, Uint8, append(NewBuffer(0), v...), l)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Digest(f)
		if err != nil {
			t.Fatal(err)
		}
		streamed, err := Digest(struct{ Source }{f})
		if err != nil || streamed != d {
			t.Fatalf("in memory %s, streamed %s, %v", d, streamed, err)
		}
		return d
	}
	other, err := Affine(0, 1, 300)
	if err != nil {
		t.Fatal(err)
	}
	base := field(Shape{1, 2, 3}, Identity(Uint8), 1, 2, 3, 4, 5, 6)
	for what, d := range map[string]string{
		"shape":  field(Shape{1, 3, 2}, Identity(Uint8), 1, 2, 3, 4, 5, 6),
		"value":  field(Shape{1, 2, 3}, Identity(Uint8), 1, 2, 3, 4, 5, 7),
		"ladder": field(Shape{1, 2, 3}, other, 1, 2, 3, 4, 5, 6),
	} {
		if d == base || len(d) != 32 {
			t.Errorf("another %s has the same digest %s", what, d)
		}
	}
}

// Bytes that are no whole number of values, or do not lie as values do, are refused.
func TestValuesRefuses(t *testing.T) {
	whole := NewBuffer(16)
	for what, b := range map[string][]byte{"half a value": whole[:6], "beside a value": whole[2:10]} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", what)
				}
			}()
			Values[float32](b)
		}()
	}
}
