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

// slab is a volume that is no Field.
type slab struct{ f *grid.Field }

func (s slab) Shape() grid.Shape { return s.f.Shape() }

func (s slab) Type() grid.Type { return s.f.Type() }

func (s slab) Ladder() grid.Ladder { return s.f.Ladder() }

func (s slab) Dim() int { return s.f.Dim() }

func (s slab) ReadSlab(dst []byte, lo, hi int64) error { return s.f.ReadSlab(dst, lo, hi) }
