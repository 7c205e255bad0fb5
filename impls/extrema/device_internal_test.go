package extrema

import (
	"testing"

	"eccbench/internal/grid"
)

// What the kernels do with a value that stands on a level gives four times the
// level, for each level of the ladders that pairs are said to hold.
func TestScalingsOfPairs(t *testing.T) {
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
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		want   bool
	}{
		{grid.Float32, affine(0, 1.0/1024, 1024), true},
		{grid.Float32, affine(-3.7, 0.0123, 4096), true},
		{grid.Float32, affine(0, 1, pairLevels), true},
		{grid.Float32, affine(0, 1, pairLevels+1), false},
		{grid.Float32, affine(4096, 0.001, 1000), false}, // the values are rounded by more than a quarter of a step
		{grid.Float32, table, false},
		{grid.Uint16, affine(1000, 1, 1024), true},
		{grid.Uint16, affine(0, 2, 1024), false},
		{grid.Uint16, grid.Identity(grid.Uint16), false},
		{grid.Int16, affine(-512, 1, 1024), true},
	} {
		s, ok := pairs(c.typ, c.ladder)
		if ok != c.want {
			t.Errorf("%v on %v: pairs %v, want %v", c.typ, c.ladder, ok, c.want)
			continue
		}
		for k := range c.ladder.Len() {
			if !ok {
				break
			}
			v, got := c.ladder.Value(k), uint32(0)
			switch c.typ {
			case grid.Float32:
				got = uint32(int64(float32(float64(s.scale)*float64(v)+float64(s.offset))) - (1<<23 + 1<<16))
			case grid.Uint16:
				got = 4*uint32(v)*0x10001 - s.bias
			case grid.Int16:
				got = 4*(uint32(uint16(int16(v)))*0x10001^0x80008000) - s.bias
			}
			if got&0xffff != uint32(4*k) {
				t.Fatalf("%v on %v: level %d is taken for %v/4", c.typ, c.ladder, k, got&0xffff)
			}
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
