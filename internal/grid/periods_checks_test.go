package grid_test

import (
	"bytes"
	"errors"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// A slice of a repeated image equals the corresponding slice of the period, in slabs of any size.
func repeat(t *testing.T) {
	for _, s := range []grid.Shape{{D: 11, H: 3, W: 2}, {D: 1, H: 11, W: 3}, {D: 2, H: 3, W: 2}} {
		f := gridtest.Numbered(t, s)
		n, size := s.Slices(), grid.SliceBytes(f)
		for period := int64(1); period <= n+1; period++ {
			r := grid.Repeat(f, period)
			want := period
			if period >= n {
				want = 0
			}
			if r.Shape() != s || grid.Period(r) != want {
				t.Errorf("%v every %d: shape %v, period %d", s, period, r.Shape(), grid.Period(r))
			}
			for lo := range n {
				for hi := lo; hi <= n; hi++ {
					slab := grid.NewBuffer((hi - lo) * size)
					if err := r.ReadSlab(slab, lo, hi); err != nil {
						t.Fatal(err)
					}
					for i := lo; i < hi; i++ {
						if at := i % period * size; !bytes.Equal(slab[(i-lo)*size:(i-lo+1)*size], f.Data()[at:at+size]) {
							t.Errorf("%v every %d: slab %d..%d is wrong at slice %d", s, period, lo, hi, i)
						}
					}
				}
			}
			if r.ReadSlab(nil, 0, n+1) == nil {
				t.Errorf("%v every %d: a slab beyond the image was read", s, period)
			}
		}
	}
	if err := grid.Repeat(counting{9, 2}, 3).ReadSlab(grid.NewBuffer(5<<24), 0, 5); !errors.Is(err, errBroken) {
		t.Errorf("of a broken source: %v", err)
	}
}

// An image that is not periodic is unchanged, and in memory if it was before.
func unrepeated(t *testing.T) {
	f := gridtest.Numbered(t, grid.Shape{D: 9, H: 2, W: 2})
	if n := grid.Period(f.Repeating(3)); n != 3 || grid.Period(f) != 0 {
		t.Errorf("it repeats itself after %d slices, want 3, and after %d where nobody knows", n, grid.Period(f))
	}
	if g, ok := grid.Unrepeated(f.Repeating(3)).(*grid.Field); !ok || grid.Period(g) != 0 || !bytes.Equal(g.Data(), f.Data()) {
		t.Errorf("of a field it is %T", grid.Unrepeated(f.Repeating(3)))
	}
	if r := grid.Repeat(f, 3); grid.Period(r) != 3 || grid.Period(grid.Unrepeated(r)) != 0 || grid.Unrepeated(r).Shape() != f.Shape() {
		t.Error("a source repeats itself still")
	}
	if s := grid.Source(struct{ grid.Source }{f}); grid.Unrepeated(s) != s {
		t.Error("what does not repeat itself is another source")
	}
}
