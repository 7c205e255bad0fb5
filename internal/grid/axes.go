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

// Product returns the product of the lengths of axes.
func Product(list []int64) int64 {
	p := int64(1)
	for _, n := range list {
		p *= n
	}
	return p
}
