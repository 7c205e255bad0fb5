package grid

import (
	"fmt"
	"slices"
	"testing"
)

// Wrapped images have their first voxels again at their ends, and the first voxels of an axis
// are an image, whole and in any slabs.
func TestWrapAndFirst(t *testing.T) {
	for _, typ := range []Type{Uint8, Float32} {
		for _, shape := range []Shape{{1, 1, 1}, {1, 3, 4}, {2, 1, 3}, {3, 4, 2}} {
			data := NewBuffer(shape.Voxels() * typ.Size())
			for i := range shape.Voxels() {
				fillValue(typ, data[i*typ.Size():][:typ.Size()], float32(i+2))
			}
			f, err := NewField(shape, typ, data, Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			was := f.Floats()
			check := func(what string, s Source, want Shape) {
				t.Helper()
				if s.Shape() != want {
					t.Fatalf("%v %s: shape %v, want %v", shape, what, s.Shape(), want)
				}
				whole, err := Load(s)
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range whole.Floats() {
					z, y, x := want.Coordinates(int64(i))
					if v != was[(z%shape.D*shape.H+y%shape.H)*shape.W+x%shape.W] {
						t.Errorf("%v %s: z %d y %d x %d is %v", shape, what, z, y, x, v)
					}
				}
				n, size := s.Shape().Slices(), SliceBytes(s)
				for lo := range n + 1 {
					for hi := lo; hi <= n; hi++ {
						slab := NewBuffer((hi - lo) * size)
						if err := s.ReadSlab(slab, lo, hi); err != nil || !slices.Equal(slab, whole.Data()[lo*size:hi*size]) {
							t.Errorf("%v %s: slab %d..%d differs (%v)", shape, what, lo, hi, err)
						}
					}
				}
			}
			for i := range 8 {
				a := Axes{i&1 > 0, i&2 > 0, i&4 > 0}
				if a.Of(shape) != nil {
					continue
				}
				want := shape
				for axis := range a.Each() {
					*map[byte]*int64{'x': &want.W, 'y': &want.H, 'z': &want.D}[axis]++
				}
				check("wrapped along "+a.String(), Wrap(f, a), want)
			}
			for _, s := range []Source{f, struct{ Source }{f}} {
				for i, want := range []Shape{{shape.D, shape.H, 1}, {shape.D, 1, shape.W}, {1, shape.H, shape.W}} {
					if axis := "xyz"[i]; shape.D > 1 || axis != 'z' {
						check(fmt.Sprintf("first along %c", axis), First(s, axis), want)
					}
				}
			}
		}
	}
}

func TestAxes(t *testing.T) {
	a, err := ParseAxes([]string{"z", "x"})
	if err != nil || a != (Axes{X: true, Z: true}) || a.String() != "x,z" || a.Without('x') != (Axes{Z: true}) {
		t.Errorf("%+v %q (%v)", a, a, err)
	}
	for _, wrong := range []string{"", "X", "xy", "w"} {
		if _, err := ParseAxes([]string{wrong}); err == nil {
			t.Errorf("%q is an axis", wrong)
		}
	}
	flat, deep := Shape{1, 2, 3}, Shape{2, 2, 2}
	if a.Of(flat) == nil || a.Of(deep) != nil || a.Slices(flat) || !a.Slices(deep) || a.WithinSlices(deep) != (Axes{X: true}) || !(Axes{Y: true}).Slices(flat) {
		t.Error("axes of shapes")
	}
}

// Who has seen enough axes is not shown the rest.
func TestAxesStop(t *testing.T) {
	for most := 1; most <= 3; most++ {
		seen := 0
		for range (Axes{true, true, true}).Each() {
			if seen++; seen == most {
				break
			}
		}
		if seen != most {
			t.Errorf("%d axes, want %d", seen, most)
		}
	}
}
