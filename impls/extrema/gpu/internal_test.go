package gpu

import (
	"testing"

	"eccbench/internal/grid"
)

// The kernels' conversion of a value on a level gives the level's pattern, for each level of the
// supported ladders.
func TestScalings(t *testing.T) {
	affine := func(lo, step float64, n int64) grid.Ladder {
		l, err := grid.Affine(lo, step, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	table, err := grid.Table([]float32{0, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	const none = "none"
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		want   string // the first kind for an image of these levels
	}{
		{grid.Float32, affine(0, 1.0/1024, 1024), pairs},
		{grid.Float32, affine(-3.7, 0.0123, 4096), pairs},
		{grid.Float32, affine(0, 1, 7900), pairs},
		{grid.Float32, affine(0, 1, 7901), wide},
		{grid.Float32, affine(-3.7, 0.0123, 31744), wide},
		{grid.Float32, affine(0, 1.0/31745, 31745), ranked},
		{grid.Float32, affine(-3.7, 0.0123, 65536), ranked},
		{grid.Float32, affine(0, 1, 1<<18), ranked},
		{grid.Float32, affine(0, 1, 1<<18+1), none},
		{grid.Float32, affine(4096, 0.001, 1000), wide}, // the values are rounded by more than a quarter of a step, but by less than a half
		{grid.Float32, affine(9000, 0.001, 1000), none},
		{grid.Float32, table, none},
		{grid.Uint16, affine(1000, 1, 1024), pairs},
		{grid.Uint16, affine(1000, 1, 20000), wide},
		{grid.Uint16, affine(1000, 1, 40000), ranked},
		{grid.Uint16, affine(0, 2, 1024), none},
		{grid.Uint16, affine(0, 0.5, 1<<17), none},
		{grid.Uint16, grid.Identity(grid.Uint16), ranked},
		{grid.Int16, affine(-512, 1, 1024), pairs},
		{grid.Int16, affine(-512, 1, 31744), wide},
		{grid.Int16, grid.Identity(grid.Int16), ranked},
	} {
		got := none
		var s scaling
		for _, k := range kinds() {
			if scaled, ok := k.scaling(c.typ, c.ladder); ok && got == none && !k.large && !k.values {
				got, s = k.name, scaled
			}
		}
		if got != c.want {
			t.Errorf("%v on %v: kind %v, want %v", c.typ, c.ladder, got, c.want)
			continue
		}
		if got == none {
			continue
		}
		unit, mask := uint32(kindNamed(got).unit), uint32(0xffff)
		if got == ranked {
			mask = 1<<32 - 1
		}
		for k := range c.ladder.Len() {
			v, got := c.ladder.Value(k), uint32(0)
			switch {
			case c.typ == grid.Float32:
				got = uint32(int64(float32(float64(s.scale)*float64(v)+float64(s.offset))) - (1<<23 + 1<<16))
			case mask != 0xffff:
				got = unit*uint32(int32(v)) - s.bias
			case c.typ == grid.Uint16:
				got = unit*uint32(v)*0x10001 - s.bias
			case c.typ == grid.Int16:
				got = unit*(uint32(uint16(int16(v)))*0x10001^0x80008000) - s.bias
			}
			if got&mask != unit*uint32(k) {
				t.Fatalf("%v on %v: level %d is taken for %v/%v", c.typ, c.ladder, k, got&mask, unit)
			}
		}
	}
}

// Large 3D integer images use the sliced kernels if their levels have few bits and the tables fit a
// block. float32 images never do.
func TestSliced(t *testing.T) {
	successive := func(typ grid.Type, n int64) grid.Source {
		l, err := grid.Affine(0, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		s := grid.Shape{D: 2, H: 2, W: 2}
		f, err := grid.NewField(s, typ, grid.NewBuffer(s.Voxels()*typ.Size()), l)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	const h200 = 227 << 10
	for _, c := range []struct {
		typ    grid.Type
		levels int64
		shared int64
		large  bool
		want   string
	}{
		{grid.Uint8, 256, h200, true, "sliced"},
		{grid.Uint8, 256, h200, false, pairs},
		{grid.Uint8, 2, 113<<10 + 64, true, "sliced"},
		{grid.Uint8, 2, 112 << 10, true, pairs},
		{grid.Uint16, 1024, h200, true, "sliced"},
		{grid.Uint16, 1024, 163 << 10, true, pairs},
		{grid.Uint16, 1025, h200, true, pairs},
		{grid.Int16, 7, h200, true, "sliced"},
		{grid.Float32, 7, h200, true, pairs},
	} {
		k, _, ok := fastest(successive(c.typ, c.levels), c.shared, c.large)
		if !ok || k.name != c.want {
			t.Errorf("%v, %d levels, %d bytes, large %v: %q, want %q", c.typ, c.levels, c.shared, c.large, k.name, c.want)
		}
	}
}

// Slabs cover all slices, share one with the next, and differ by one slice at most.
func TestCut(t *testing.T) {
	for n := int64(1); n < 40; n++ {
		for devices := 1; devices < 10; devices++ {
			slabs := cut(n, devices)
			if len(slabs) > devices || len(slabs) > 1 && int64(len(slabs)) > n-1 {
				t.Errorf("%d slices on %d devices: %d slabs", n, devices, len(slabs))
			}
			least, most := n, int64(0)
			for k, s := range slabs {
				least, most = min(least, s.hi-s.lo), max(most, s.hi-s.lo)
				if k == 0 && s.lo != 0 || k > 0 && s.lo != slabs[k-1].hi-1 || s.last != (k == len(slabs)-1) || s.last != (s.hi == n) {
					t.Fatalf("%d slices on %d devices: slabs %v", n, devices, slabs)
				}
			}
			if most-least > 1 {
				t.Errorf("%d slices on %d devices: from %d to %d slices", n, devices, least, most)
			}
		}
	}
}
