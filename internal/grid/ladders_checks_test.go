package grid_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// The ladder of every float32 ascends without a gap from the least finite value to the
// greatest, and both zeros are one level.
func everyFloat32(t *testing.T) {
	l := grid.Identity(grid.Float32)
	if l.Value(0) != -math.MaxFloat32 || l.Value(l.Len()-1) != math.MaxFloat32 {
		t.Errorf("from %v to %v", l.Value(0), l.Value(l.Len()-1))
	}
	if a, b := l.Level(0), l.Level(float32(math.Copysign(0, -1))); a != b || l.Value(a) != 0 {
		t.Errorf("0 and −0 are levels %d and %d", a, b)
	}
	if l.Level(float32(math.Inf(-1))) != 0 || l.Level(float32(math.Inf(1))) != l.Len() {
		t.Error("an infinity is within")
	}
	for _, v := range []float32{-math.MaxFloat32, -1e10, -1, -math.SmallestNonzeroFloat32, 0, math.SmallestNonzeroFloat32, 1e-40, 1, 1 << 24, 1e30} {
		k, next := l.Level(v), math.Nextafter32(v, math.MaxFloat32)
		if l.Value(k) != v || k != int64(grid.EveryLevel(v)) || l.Level(next) != k+1 || l.Value(k+1) != next {
			t.Errorf("%v is level %d, whose value is %v; the next one, %v, is level %d", v, k, l.Value(k), next, l.Level(next))
		}
	}
	if l.CheckIndexed() == nil || grid.Identity(grid.Uint16).CheckIndexed() != nil {
		t.Error("the levels of every float32 fit an int32, or those of uint16 do not")
	}
	if _, _, even := l.Affinity(); even {
		t.Error("evenly spaced")
	}
	data, err := l.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back grid.Ladder
	if err := back.UnmarshalBinary(data); err != nil || back.Key() != l.Key() || back.Level(1) != l.Level(1) {
		t.Errorf("comes back as %v (%v)", back, err)
	}
}

func parseShape(t *testing.T) {
	for s, want := range map[string]grid.Shape{"3x4": {D: 1, H: 4, W: 3}, "3x4x5": {D: 5, H: 4, W: 3}, "3x4x1": {D: 1, H: 4, W: 3}, "1x1": {D: 1, H: 1, W: 1}, "4096x4096x4096": {D: 4096, H: 4096, W: 4096}} {
		got, err := grid.ParseShape(s)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", s, got, err)
		}
		if back, err := grid.ParseShape(got.String()); err != nil || back != got {
			t.Errorf("%q prints as %q, which reads as %v, %v", s, got, back, err)
		}
	}
	for _, s := range []string{"", "3", "3x", "x3", "0x1", "-1x2", "3x4x5x6", "axb", "9999999999x9999999999x9"} {
		if got, err := grid.ParseShape(s); err == nil {
			t.Errorf("%q: %v, want an error", s, got)
		}
	}
	if s := (grid.Shape{D: 4096, H: 4096, W: 4096}); s.Voxels() != 1<<36 || s.Slices() != 4096 || s.SliceVoxels() != 1<<24 || s.Dim() != 3 {
		t.Errorf("4096³: %d voxels", s.Voxels())
	}
	if s := (grid.Shape{D: 1, H: 5, W: 7}); s.Slices() != 5 || s.SliceVoxels() != 7 || s.Dim() != 2 || s.WithSlices(2) != (grid.Shape{D: 1, H: 2, W: 7}) {
		t.Errorf("a 2D shape streams by rows: %d slices", s.Slices())
	}
	for want, s := range map[string]grid.Shape{"[5 7]": {D: 1, H: 5, W: 7}, "[3 5 7]": {D: 3, H: 5, W: 7}} {
		if got := fmt.Sprint(s.Sides()); got != want {
			t.Errorf("sides of %v: %s, want %s", s, got, want)
		}
	}
}

func types(t *testing.T) {
	for _, typ := range grid.Types() {
		if back, err := grid.ParseType(typ.String()); err != nil || back != typ {
			t.Errorf("%v reads as %v, %v", typ, back, err)
		}
	}
	if _, err := grid.ParseType("float64"); err == nil {
		t.Error("float64 is a type")
	}
	if grid.TypeOf[uint8]() != grid.Uint8 || grid.TypeOf[int16]() != grid.Int16 || grid.TypeOf[uint16]() != grid.Uint16 || grid.TypeOf[float32]() != grid.Float32 {
		t.Error("TypeOf")
	}
}

// All bit patterns have the levels of the ladder. The levels are adjacent values, closer or further
// apart, and include none or all of the values.
func ofPatterns(t *testing.T) {
	var list []grid.Ladder
	for _, typ := range grid.Types()[:3] {
		list = append(list, grid.Identity(typ))
	}
	for _, l := range []struct {
		lo, step float64
		n        int64
	}{{-5, 1, 11}, {0.5, 0.25, 700}, {-40000, 0.5, 200_000}, {-32768, 300, 219}, {1e6, 1, 3}, {-1e6, 1, 3}, {254, 1, 1}} {
		affine, err := grid.Affine(l.lo, l.step, l.n)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, affine)
	}
	uneven, err := grid.Table([]float32{-40000, -7.5, -7.25, -7, 0, 254, 255, 65535})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range append(list, uneven) {
		for _, typ := range grid.Types()[:3] {
			of := l.OfPatterns(typ)
			if len(of) != 1<<(8*typ.Size()) {
				t.Fatalf("%v: %d patterns of %v", l, len(of), typ)
			}
			for b, got := range of {
				value := float32(b)
				if typ == grid.Int16 {
					value = float32(int16(b))
				}
				if want := l.Level(value); int64(got) != want {
					t.Fatalf("%v: %v of %v is on level %d, want %d", l, value, typ, got, want)
				}
			}
		}
	}
}

func ladderRefuses(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	for _, values := range [][]float32{{}, {1, 1}, {2, 1}, {nan}, {inf}, {-inf, 0}} {
		if _, err := grid.Table(values); err == nil {
			t.Errorf("a ladder of %v", values)
		}
	}
	for _, c := range []struct {
		lo, step float64
		n        int64
	}{{0, 0, 2}, {0, -1, 2}, {math.NaN(), 1, 2}, {0, math.NaN(), 2}, {0, 1, 0}, {0, 1, math.MaxInt32}, {1, 1e-9, 2}, {0, 1e38, 9}, {math.Inf(1), 1, 1}} {
		if l, err := grid.Affine(c.lo, c.step, c.n); err == nil {
			t.Errorf("%+v: ladder %v", c, l)
		}
	}
	// A last level that no value exceeds is valid.
	for _, c := range []struct {
		lo, step float64
		n        int64
	}{{0, 1e38, 4}, {-3e38, 2e38, 4}, {math.MaxFloat32, 1e38, 1}, {0, 1e308, 1}} {
		if _, err := grid.Affine(c.lo, c.step, c.n); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []struct {
		lo, step float64
		n        int64
	}{{0, 1e38, 5}, {-3e38, 2e38, 5}, {-math.MaxFloat64, 1e308, 2}} {
		if l, err := grid.Affine(c.lo, c.step, c.n); err == nil {
			t.Errorf("%+v: ladder %v", c, l)
		}
	}
}

// Ladders of other levels have other keys.
func inFloat32(t *testing.T) {
	affine := func(lo, step float64, n int64) grid.Ladder {
		l, err := grid.Affine(lo, step, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	uneven, err := grid.Table([]float32{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		l    grid.Ladder
		want bool
	}{
		{grid.Identity(grid.Int16), true}, {affine(-3, 0.75, 3000), true}, {affine(0.1, 0.1, 1), true},
		{affine(0, 0.1, 255), false}, {affine(-0.125, 0.1, 255), false}, {uneven, false},
	} {
		if got := c.l.InFloat32(); got != c.want {
			t.Errorf("%v: %v, want %v", c.l, got, c.want)
		}
	}
}

func ladderKeys(t *testing.T) {
	seen := map[string]grid.Ladder{}
	for _, l := range []grid.Ladder{grid.Identity(grid.Uint8), grid.Identity(grid.Int16), grid.Identity(grid.Uint16)} {
		if other, ok := seen[l.Key()]; ok {
			t.Errorf("%v and %v, from %v and %v, have the key %s", l, other, l.Value(0), other.Value(0), l.Key())
		}
		seen[l.Key()] = l
	}
}

func newField(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	ladder, err := grid.Table([]float32{-1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	s := grid.Shape{D: 2, H: 1, W: 3}
	f, err := grid.NewField(s, grid.Float32, grid.Bytes([]float32{0, float32(math.Copysign(0, -1)), 1, -1, 0, 1}), ladder)
	if err != nil {
		t.Fatal(err)
	}
	if b := math.Float32bits(grid.Values[float32](f.Data())[1]); b != 0 {
		t.Errorf("-0 became %#x", b)
	}
	ctx, end := context.WithCancel(context.Background())
	until, slab := grid.WithContext(ctx, f), grid.NewBuffer(grid.SliceBytes(f))
	if err := until.ReadSlab(slab, 1, 2); err != nil {
		t.Error(err)
	}
	if end(); !errors.Is(until.ReadSlab(slab, 1, 2), context.Canceled) || !errors.Is(grid.Ended(until), context.Canceled) || grid.Ended(f) != nil {
		t.Error("an image is read after its end")
	}
	_, err = grid.NewField(s, grid.Float32, grid.Bytes([]float32{0, 0, 0, 0, nan, inf}), ladder)
	var bad *grid.NotFiniteError
	if !errors.As(err, &bad) || *bad != (grid.NotFiniteError{Count: 2, First: 4, Z: 1, Y: 0, X: 1}) {
		t.Errorf("NaN: %v", err)
	}
	if _, err = grid.NewField(s, grid.Float32, grid.Bytes([]float32{0, 2, 0, 0, 3, 0}), ladder); err == nil || !strings.Contains(err.Error(), "2 values are above the ladder's last level 1, the first at index 1") {
		t.Errorf("above the ladder: %v", err)
	}
	if _, err = grid.NewField(s, grid.Uint8, make([]byte, 5), grid.Identity(grid.Uint8)); err == nil || !strings.Contains(err.Error(), "5 bytes, want 6") {
		t.Errorf("short: %v", err)
	}
	odd := make([]byte, 13)[1:]
	if _, err = grid.NewField(grid.Shape{D: 1, H: 1, W: 3}, grid.Float32, odd, ladder); err != nil {
		t.Errorf("misaligned bytes: %v", err)
	}
}

func digest(t *testing.T) {
	field := func(s grid.Shape, l grid.Ladder, v ...uint8) string {
		f, err := grid.NewField(s, grid.Uint8, append(grid.NewBuffer(0), v...), l)
		if err != nil {
			t.Fatal(err)
		}
		d, err := gridtest.Digest(f)
		if err != nil {
			t.Fatal(err)
		}
		streamed, err := gridtest.Digest(struct{ grid.Source }{f})
		if err != nil || streamed != d {
			t.Fatalf("in memory %s, streamed %s, %v", d, streamed, err)
		}
		return d
	}
	other, err := grid.Affine(0, 1, 300)
	if err != nil {
		t.Fatal(err)
	}
	base := field(grid.Shape{D: 1, H: 2, W: 3}, grid.Identity(grid.Uint8), 1, 2, 3, 4, 5, 6)
	for what, d := range map[string]string{
		"shape":  field(grid.Shape{D: 1, H: 3, W: 2}, grid.Identity(grid.Uint8), 1, 2, 3, 4, 5, 6),
		"value":  field(grid.Shape{D: 1, H: 2, W: 3}, grid.Identity(grid.Uint8), 1, 2, 3, 4, 5, 7),
		"ladder": field(grid.Shape{D: 1, H: 2, W: 3}, other, 1, 2, 3, 4, 5, 6),
	} {
		if d == base || len(d) != 32 {
			t.Errorf("another %s has the same digest %s", what, d)
		}
	}
}

// Bytes are rejected if they are no whole number of values, or not aligned.
func valuesRefuses(t *testing.T) {
	whole := grid.NewBuffer(16)
	for what, b := range map[string][]byte{"half a value": whole[:6], "beside a value": whole[2:10]} {
		checktest.Panics(t, what, func() { grid.Values[float32](b) })
	}
}
