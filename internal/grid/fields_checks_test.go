package grid_test

import (
	"bytes"
	"errors"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// An image in memory has a shape, as many bytes as that needs, and levels; bytes that are not aligned move.
func trusted(t *testing.T) {
	shape := grid.Shape{D: 1, H: 2, W: 2}
	buf := grid.NewBuffer(24)
	for i := range buf {
		buf[i] = byte(i)
	}
	ladder := grid.Identity(grid.Float32)
	for _, c := range []struct {
		shape  grid.Shape
		bytes  int
		ladder grid.Ladder
	}{{grid.Shape{D: 1, H: 2}, 0, ladder}, {shape, 15, ladder}, {shape, 17, ladder}, {shape, 16, grid.Ladder{}}} {
		for _, make := range []func(grid.Shape, grid.Type, []byte, grid.Ladder) (*grid.Field, error){grid.Trusted, grid.NewField} {
			if f, err := make(c.shape, grid.Float32, buf[:c.bytes], c.ladder); err == nil || f != nil {
				t.Errorf("%v of %d bytes, %d levels: no error", c.shape, c.bytes, c.ladder.Len())
			}
		}
	}
	for at := range 8 {
		f, err := grid.Trusted(shape, grid.Float32, buf[at:at+16], ladder)
		if err != nil || !bytes.Equal(f.Data(), buf[at:at+16]) || (&f.Data()[0] == &buf[at]) != (at%4 == 0) {
			t.Errorf("at byte %d: %v (%v)", at, f.Data(), err)
			continue
		}
		grid.Values[float32](f.Data())
		if whole, err := grid.Load(struct{ grid.Source }{f}); err != nil || whole == f || !bytes.Equal(whole.Data(), f.Data()) || whole.Shape() != shape || whole.Type() != grid.Float32 || whole.Ladder().Key() != ladder.Key() {
			t.Errorf("it is loaded as %v (%v)", whole, err)
		}
		if whole, err := grid.Load(f); whole != f || err != nil {
			t.Errorf("an image in memory is loaded again (%v)", err)
		}
		if _, err := grid.Load(gridtest.Unread{Source: f}); !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("an image that cannot be read is loaded (%v)", err)
		}
	}
}

// The images of a batch in memory are parts of it.
func batches(t *testing.T) {
	for _, images := range []int64{1, 2, 3, 6} {
		f := gridtest.Numbered(t, grid.Shape{D: 6, H: 3, W: 2})
		b := grid.Batch{Source: f, Images: images}
		want := grid.Shape{D: 6 / images, H: 3, W: 2}
		size := grid.TotalBytes(f) / images
		if b.Image() != want {
			t.Errorf("%d images of %v, want %v", images, b.Image(), want)
		}
		for i := range images {
			one, ok := b.FieldAt(i)
			if !ok || one.Shape() != want || one.Type() != f.Type() || one.Ladder().Key() != f.Ladder().Key() || !bytes.Equal(one.Data(), f.Data()[i*size:][:size]) {
				t.Errorf("image %d of %d: %v, %v", i, images, one, ok)
			}
		}
		if _, ok := (grid.Batch{Source: struct{ grid.Source }{f}, Images: images}).FieldAt(0); ok {
			t.Error("an image that is not in memory is there")
		}
	}
}

// tall has slices of 1 MiB, each of one value, its number.
type tall int64

func (s tall) Shape() grid.Shape { return grid.Shape{D: int64(s), H: 1 << 10, W: 1 << 10} }
func (tall) Type() grid.Type     { return grid.Uint8 }
func (tall) Ladder() grid.Ladder { return grid.Identity(grid.Uint8) }
func (s tall) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil || lo == hi {
		return errors.Join(err, errBroken)
	}
	for i := lo; i < hi; i++ {
		dst[(i-lo)<<20], dst[(i-lo+1)<<20-1] = byte(i+1), byte(i+1)
	}
	return nil
}

// Slabs that are read in parts are whole.
func partsOfSlabs(t *testing.T) {
	for _, n := range []int64{7, 8, 9, 12, 16, 19} {
		next := int64(0)
		if err := grid.EachSlab(tall(n), func(slab []byte, lo, hi int64) error {
			for i := lo; i < hi; i++ {
				if i != next || slab[(i-lo)<<20] != byte(i+1) || slab[(i-lo+1)<<20-1] != byte(i+1) {
					t.Errorf("slice %d of %d is not what was read", i, n)
				}
				next++
			}
			return nil
		}); err != nil || next != n {
			t.Errorf("%d of %d slices: %v", next, n, err)
		}
	}
}

func axes(t *testing.T) {
	a, err := grid.ParseAxes([]string{"z", "x"})
	if err != nil || a != (grid.Axes{X: true, Z: true}) || a.String() != "x,z" || a.Without('x') != (grid.Axes{Z: true}) {
		t.Errorf("%+v %q (%v)", a, a, err)
	}
	for _, wrong := range []string{"", "X", "xy", "w"} {
		if _, err := grid.ParseAxes([]string{wrong}); err == nil {
			t.Errorf("%q is an axis", wrong)
		}
	}
	flat, deep := grid.Shape{D: 1, H: 2, W: 3}, grid.Shape{D: 2, H: 2, W: 2}
	if a.Check(flat) == nil || a.Check(deep) != nil || a.Slices(flat) || !a.Slices(deep) || a.WithinSlices(deep) != (grid.Axes{X: true}) || !(grid.Axes{Y: true}).Slices(flat) {
		t.Error("axes of shapes")
	}
}
