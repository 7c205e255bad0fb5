package grid

import (
	"fmt"
	"iter"
	"strings"
)

// Axes is a set of image axes: x along a row, y across rows, z across planes.
type Axes struct{ X, Y, Z bool }

// ParseAxes parses the letters x, y and z.
func ParseAxes(letters []string) (a Axes, err error) {
	axes := map[string]*bool{"x": &a.X, "y": &a.Y, "z": &a.Z}
	for _, l := range letters {
		axis := axes[l]
		switch {
		case axis == nil:
			return Axes{}, fmt.Errorf("axis %q: want x, y or z", l)
		case *axis:
			return Axes{}, fmt.Errorf("axis %q is given twice", l)
		}
		*axis = true
	}
	return a, nil
}

// String lists the letters of the axes: "x,y".
func (a Axes) String() string {
	var letters []string
	for axis := range a.Each() {
		letters = append(letters, string(axis))
	}
	return strings.Join(letters, ",")
}

// Each yields the letters of the axes.
func (a Axes) Each() iter.Seq[byte] {
	return func(yield func(byte) bool) {
		for i, there := range []bool{a.X, a.Y, a.Z} {
			if there && !yield("xyz"[i]) {
				return
			}
		}
	}
}

// Without returns the axes except one.
func (a Axes) Without(letter byte) Axes {
	return Axes{a.X && letter != 'x', a.Y && letter != 'y', a.Z && letter != 'z'}
}

// Check returns an error if a shape lacks one of the axes.
func (a Axes) Check(s Shape) error {
	if a.Z && s.D == 1 {
		return fmt.Errorf("an image of %v has no axis z", s)
	}
	return nil
}

// Slices reports whether the slice axis of a shape is in the set.
func (a Axes) Slices(s Shape) bool {
	return s.D > 1 && a.Z || s.D == 1 && a.Y
}

// WithinSlices returns the axes without the slice axis of a shape.
func (a Axes) WithinSlices(s Shape) Axes {
	if s.D == 1 {
		return a.Without('y')
	}
	return a.Without('z')
}

// Wrap shows a source with its first voxels repeated after the last ones, along the given axes.
func Wrap(s Source, a Axes) Source {
	if a == (Axes{}) {
		return s
	}
	return wrapped{s, a}
}

type wrapped struct {
	Source
	axes Axes
}

func (w wrapped) Shape() Shape {
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
	if err := CheckSlab(w, dst, lo, hi); err != nil {
		return err
	}
	if lo == hi {
		return nil
	}
	inner, size := w.Source.Shape(), SliceBytes(w.Source)
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
	if w.axes.WithinSlices(inner) == (Axes{}) {
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
func First(s Source, axis byte) Source {
	if axis == 'z' || axis == 'y' && s.Shape().D == 1 {
		return Crop(s, 0, 1)
	}
	return first{s, axis}
}

type first struct {
	Source
	axis byte
}

func (f first) Shape() Shape {
	s := f.Source.Shape()
	if f.axis == 'x' {
		s.W = 1
	} else {
		s.H = 1
	}
	return s
}

func (f first) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(f, dst, lo, hi); err != nil {
		return err
	}
	// Copy the first "take" bytes of each run.
	take, run := f.Type().Size(), f.Source.Shape().W*f.Type().Size()
	if f.axis == 'y' {
		take, run = run, run*f.Source.Shape().H
	}
	size := SliceBytes(f.Source)
	var from []byte
	if whole, ok := f.Source.(*Field); ok {
		from = whole.data[lo*size : hi*size]
	} else {
		from = NewBuffer((hi - lo) * size)
		if err := f.Source.ReadSlab(from, lo, hi); err != nil {
			return err
		}
	}
	for at := int64(0); at < int64(len(from)); at += run {
		dst = dst[copy(dst, from[at:at+take]):]
	}
	return nil
}

// Product returns the product of the lengths of axes.
func Product(list []int64) int64 {
	p := int64(1)
	for _, n := range list {
		p *= n
	}
	return p
}
