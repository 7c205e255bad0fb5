package grid

import "sync"

// Upright shows a volume of one slice with its axes in another order, if it is periodic along z: z
// is the last of them, as it is of no image of 2 axes. Neither a curve nor Betti numbers depend on
// the order of axes. It returns the given axes in that order. Other images are left as they are.
func Upright(s Source, a Axes) (Source, Axes) {
	shape := s.Shape()
	if !a.Z || shape.D > 1 || Dim(s) < 3 {
		return s, a
	}
	switch {
	case shape.H > 1:
		shape, a = Shape{D: shape.H, H: shape.W, W: 1}, Axes{X: a.Z, Y: a.X, Z: a.Y}
	case shape.W > 1:
		shape, a = Shape{D: shape.W, H: 1, W: 1}, Axes{X: a.Z, Y: a.Y, Z: a.X}
	default: // one voxel, of which rings along two axes are as good as along three
		return s, Axes{X: true, Y: a.X || a.Y}
	}
	if f, ok := s.(*Field); ok {
		g := *f
		g.shape = shape
		return &g, a
	}
	u := upright{Source: s, shape: shape}
	if s.Shape().H == 1 {
		u.row = sync.OnceValues(func() (*Field, error) { return Load(s) })
	}
	return u, a
}

// upright has the rows of an image for slices, or the voxels of its only row.
type upright struct {
	Source
	shape Shape
	row   func() (*Field, error) // nil for several rows
}

func (u upright) Shape() Shape { return u.shape }

func (u upright) ReadSlab(dst []byte, lo, hi int64) error {
	if u.row == nil {
		return u.Source.ReadSlab(dst, lo, hi)
	}
	if err := CheckSlab(u, dst, lo, hi); err != nil {
		return err
	}
	row, err := u.row()
	if err == nil {
		copy(dst, row.data[lo*SliceBytes(u):])
	}
	return err
}

// Labels are those of the image.
func (u upright) Labels() *Labels { return LabelsOf(u.Source) }

// InBulk is that of the image.
func (u upright) InBulk() bool { return InBulk(u.Source) }

// Step is that of the image, whose slices are its rows.
func (u upright) Step() int64 {
	if u.row != nil {
		return 1
	}
	return Step(u.Source)
}

// Missing is what the image's file lacks.
func (u upright) Missing() string { return Missing(u.Source) }

// Unchanged is that of the image.
func (u upright) Unchanged() error { return Unchanged(u.Source) }

// Close closes the image.
func (u upright) Close() error { return Close(u.Source) }
