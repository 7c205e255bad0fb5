package grid

// Upright shows a volume of one slice, whose shape is that of an image of 2 axes, with its axes in
// another order: z is the last of them, so that it can be periodic. Neither a curve nor Betti numbers
// depend on the order of axes. The axes that are returned are the given ones in that order.
func Upright(s Source, a Axes) (Source, Axes, error) {
	shape := s.Shape()
	if shape.D > 1 || !a.Z {
		return s, a, nil
	}
	switch {
	case shape.H > 1:
		shape, a = Shape{D: shape.H, H: shape.W, W: 1}, Axes{X: a.Z, Y: a.X, Z: a.Y}
	case shape.W > 1:
		shape, a = Shape{D: shape.W, H: 1, W: 1}, Axes{X: a.Z, Y: a.Y, Z: a.X}
	default: // one voxel, of which rings along two axes are as good as along three
		return s, Axes{X: true, Y: a.X || a.Y}, nil
	}
	if s.Shape().H > 1 {
		if _, whole := s.(*Field); !whole {
			return upright{s, shape}, a, nil
		}
	}
	f, err := Load(s)
	if err != nil {
		return nil, a, err
	}
	g := *f
	g.shape = shape
	return &g, a, nil
}

// upright has the rows of an image for slices.
type upright struct {
	Source
	shape Shape
}

func (u upright) Shape() Shape { return u.shape }

// Labels are those of the image.
func (u upright) Labels() *Labels { return LabelsOf(u.Source) }

// InBulk is that of the image.
func (u upright) InBulk() bool { return InBulk(u.Source) }

// Close closes the image.
func (u upright) Close() error { return Close(u.Source) }
