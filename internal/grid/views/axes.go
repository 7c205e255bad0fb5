package views

import "eccbench/internal/grid"

// Wrap shows a source with its first voxels repeated after the last ones, along the given axes.
func Wrap(s grid.Source, a grid.Axes) grid.Source {
	if a == (grid.Axes{}) {
		return s
	}
	return wrapped{s, a}
}

type wrapped struct {
	grid.Source
	axes grid.Axes
}

func (w wrapped) Shape() grid.Shape {
	s := w.Source.Shape()
	if w.axes.X {
		s.W++
	}
	if w.axes.Y {
		s.H++
	}
	if w.axes.Z {
		s.D++
	}
	return s
}

func (w wrapped) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(w, dst, lo, hi); err != nil {
		return err
	}
	if lo == hi {
		return nil
	}
	inner, size := w.Source.Shape(), grid.SliceBytes(w.Source)
	n := inner.Slices()
	// Read into the end of dst, then move each row to its place: the rows ahead stay intact.
	part := dst[int64(len(dst))-(hi-lo)*size:]
	if to := min(hi, n); lo < to {
		if err := w.Source.ReadSlab(part[:(to-lo)*size], lo, to); err != nil {
			return err
		}
	}
	if hi > n {
		if err := w.Source.ReadSlab(part[(n-lo)*size:], 0, 1); err != nil {
			return err
		}
	}
	if w.axes.WithinSlices(inner) == (grid.Axes{}) {
		return nil
	}
	value, row, rows := w.Type().Size(), inner.W*w.Type().Size(), inner.H
	if inner.D == 1 {
		rows = 1
	}
	for range hi - lo {
		first := dst
		for range rows {
			moved := dst[:copy(dst, part[:row])]
			dst, part = dst[row:], part[row:]
			if w.axes.X {
				dst = dst[copy(dst, moved[:value]):]
			}
		}
		if w.axes.Y && inner.D > 1 {
			dst = dst[copy(dst, first[:w.Shape().W*value]):]
		}
	}
	return nil
}

// First shows only the first voxels of a source along an axis, 'x', 'y' or 'z'.
func First(s grid.Source, axis byte) grid.Source {
	if axis == 'z' || axis == 'y' && s.Shape().D == 1 {
		return Crop(s, 0, 1)
	}
	return first{s, axis}
}

type first struct {
	grid.Source
	axis byte
}

func (f first) Shape() grid.Shape {
	s := f.Source.Shape()
	if f.axis == 'x' {
		s.W = 1
	} else {
		s.H = 1
	}
	return s
}

func (f first) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(f, dst, lo, hi); err != nil {
		return err
	}
	// Copy the first "take" bytes of each run.
	take, run := f.Type().Size(), f.Source.Shape().W*f.Type().Size()
	if f.axis == 'y' {
		take, run = run, run*f.Source.Shape().H
	}
	size := grid.SliceBytes(f.Source)
	var from []byte
	if whole, ok := f.Source.(*grid.Field); ok {
		from = whole.Data()[lo*size : hi*size]
	} else {
		from = grid.NewBuffer((hi - lo) * size)
		if err := f.Source.ReadSlab(from, lo, hi); err != nil {
			return err
		}
	}
	for at := int64(0); at < int64(len(from)); at += run {
		dst = dst[copy(dst, from[at:at+take]):]
	}
	return nil
}
