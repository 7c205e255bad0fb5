package views_test

import (
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
)

// box returns a shape.
func box(d, h, w int64) grid.Shape { return grid.Shape{D: d, H: h, W: w} }

// The slices of a volume of one slice are its rows, whatever holds it.
func TestUpright(t *testing.T) {
	var none grid.Axes
	x, z := grid.Axes{X: true}, grid.Axes{Z: true}
	xy, xz, xyz := grid.Axes{X: true, Y: true}, grid.Axes{X: true, Z: true}, grid.Axes{X: true, Y: true, Z: true}
	for _, c := range []struct {
		shape, want  grid.Shape
		axes, turned grid.Axes
	}{
		{box(1, 3, 2), box(3, 2, 1), z, x},
		{box(1, 3, 2), box(3, 2, 1), xz, xy},
		{box(1, 1, 4), box(4, 1, 1), xz, xz},
		{box(1, 3, 2), box(1, 3, 2), x, x},
		{box(1, 1, 1), box(1, 1, 1), z, x},
		{box(1, 1, 1), box(1, 1, 1), xyz, xy},
		{box(2, 3, 2), box(2, 3, 2), z, z},
		{box(2, 1, 2), box(2, 1, 2), x, x},
		{box(5, 1, 2), box(1, 5, 2), none, none},
		{box(5, 3, 1), box(1, 5, 3), none, none},
		{box(5, 1, 1), box(1, 1, 5), none, none},
		{box(1, 5, 1), box(1, 1, 5), none, none},
		{box(1, 1, 1), box(1, 1, 1), none, none},
		{box(5, 3, 2), box(5, 3, 2), none, none},
	} {
		data := make([]byte, c.shape.Voxels())
		for i := range data {
			data[i] = byte(i)
		}
		f, err := grid.NewField(c.shape, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		if s, axes := views.Upright(f, c.axes); c.axes.Z && f.Dim() == 2 && (s != grid.Source(f) || axes != c.axes) {
			t.Errorf("%v, an image of 2 axes, is %v along %v", c.shape, s.Shape(), axes)
		}
		for _, s := range []grid.Source{f.Volume(), grid.NewDigester(f.Volume()), grid.WithContext(t.Context(), slab{f.Volume()})} {
			up, axes := views.Upright(s, c.axes)
			if up.Shape() != c.want || axes != c.turned {
				t.Errorf("%v along %v is %v along %v", c.shape, c.axes, up.Shape(), axes)
				continue
			}
			got, err := grid.Load(up)
			if err != nil || string(got.Data()) != string(data) {
				t.Errorf("%v: %v, %v", c.shape, got, err)
			}
			part := make([]byte, grid.SliceBytes(up))
			if err := up.ReadSlab(part, up.Shape().Slices()-1, up.Shape().Slices()); err != nil || string(part) != string(data[len(data)-len(part):]) {
				t.Errorf("%v: the last slice is %v, %v", c.shape, part, err)
			}
		}
	}
}

// Rows and columns of a volume with many short rows are exchanged, with the axes that are periodic.
func TestUprightExchangesShortRows(t *testing.T) {
	x, y, z := grid.Axes{X: true}, grid.Axes{Y: true}, grid.Axes{Z: true}
	for _, kind := range []grid.Type{grid.Uint8, grid.Uint16, grid.Int16, grid.Float32} {
		for _, c := range []struct {
			shape        grid.Shape
			axes, turned grid.Axes
			is           bool
		}{
			{box(3, 128, 31), x, y, true},
			{box(2, 300, 1), y, x, true},
			{box(2, 300, 5), z, z, true},
			{box(2, 300, 5), grid.Axes{}, grid.Axes{}, true},
			{box(3, 128, 32), x, x, false},
			{box(3, 127, 31), x, x, false},
			{box(1, 300, 2), x, x, false},
		} {
			data := grid.NewBuffer(c.shape.Voxels() * kind.Size())
			for i := range data {
				data[i] = byte(i * i >> 3 & 63)
			}
			f, err := grid.NewField(c.shape, kind, data, grid.Identity(kind))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []grid.Source{f, grid.NewDigester(f), slab{f}} {
				up, axes := views.Upright(s, c.axes)
				if is := up.Shape() != c.shape; is != c.is || axes != c.turned {
					t.Errorf("%v along %v is %v along %v", c.shape, c.axes, up.Shape(), axes)
					continue
				}
				if !c.is {
					continue
				}
				if want := (grid.Shape{D: c.shape.D, H: c.shape.W, W: c.shape.H}); up.Shape() != want {
					t.Errorf("%v is %v, want %v", c.shape, up.Shape(), want)
				}
				size, last := kind.Size(), c.shape.D-1
				got := grid.NewBuffer(grid.SliceBytes(up))
				if err := up.ReadSlab(got, last, last+1); err != nil {
					t.Fatal(err)
				}
				for at := range c.shape.SliceVoxels() {
					row, column := at/c.shape.W, at%c.shape.W
					want := data[(last*c.shape.SliceVoxels()+at)*size:][:size]
					if is := got[(column*c.shape.H+row)*size:][:size]; string(is) != string(want) {
						t.Fatalf("%v %v, row %d, column %d: %v, want %v", c.shape, kind, row, column, is, want)
					}
				}
			}
			if up, _ := views.Upright(f.Repeating(1), c.axes); up.Shape() != c.shape {
				t.Errorf("%v that repeats itself is %v", c.shape, up.Shape())
			}
		}
	}
}

// slab is a volume that is no Field.
type slab struct{ f *grid.Field }

func (s slab) Shape() grid.Shape { return s.f.Shape() }

func (s slab) Type() grid.Type { return s.f.Type() }

func (s slab) Ladder() grid.Ladder { return s.f.Ladder() }

func (s slab) Dim() int { return s.f.Dim() }

func (s slab) ReadSlab(dst []byte, lo, hi int64) error { return s.f.ReadSlab(dst, lo, hi) }
