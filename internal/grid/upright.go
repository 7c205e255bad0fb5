package grid

import "sync"

// Upright permutes the axes of a volume of one slice that is periodic along z. Its shape is that of
// a 2D image, which has no axis z; afterwards z is the fastest axis and rows are slices. Upright
// returns the periodic axes in the new order. Curves and Betti numbers do not depend on the order
// of axes. Other images stay as they are.
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
	default: // one voxel: a torus of two periodic axes is equivalent to one of three
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

// upright has the rows of an image as slices, or the voxels of its only row.
type upright struct {
	Source
	shape Shape
	row   func() (*Field, error) // nil if there are several rows
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

// Labels returns the labels of the image.
func (u upright) Labels() *Labels { return LabelsOf(u.Source) }

// InBulk reports whether the image prefers many parallel requests.
func (u upright) InBulk() bool { return InBulk(u.Source) }

// Step returns the step of the image, whose slices are its rows.
func (u upright) Step() int64 {
	if u.row != nil {
		return 1
	}
	return Step(u.Source)
}

// Missing describes the data that the image's file lacks.
func (u upright) Missing() string { return Missing(u.Source) }

// Unchanged checks the image's file.
func (u upright) Unchanged() error { return Unchanged(u.Source) }

// Close closes the image.
func (u upright) Close() error { return Close(u.Source) }
