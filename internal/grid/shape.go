package grid

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Shape is the extent of an image in voxels: depth, height, width, slowest axis first. D is 1 for
// a 2D image.
type Shape struct{ D, H, W int64 }

// ParseShape parses "WxH" or "WxHxD". D defaults to 1.
func ParseShape(s string) (Shape, error) {
	parts := strings.Split(s, "x")
	if len(parts) < 2 || len(parts) > 3 {
		return Shape{}, fmt.Errorf("shape %q: want WIDTHxHEIGHT or WIDTHxHEIGHTxDEPTH", s)
	}
	n := [3]int64{1, 1, 1}
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 64)
		if err != nil {
			return Shape{}, fmt.Errorf("shape %q: %q is not a whole number", s, p)
		}
		n[i] = v
	}
	shape := Shape{W: n[0], H: n[1], D: n[2]}
	return shape, shape.Check()
}

// ShapeOf returns the shape of an image of 1 to 3 axes, the slowest first.
func ShapeOf(axes []int64) (Shape, error) {
	s := Shape{D: 1, H: 1, W: 1}
	if len(axes) < 1 || len(axes) > 3 {
		return s, fmt.Errorf("%d axes: want an image of 1 to 3", len(axes))
	}
	for i, to := range []*int64{&s.W, &s.H, &s.D}[:len(axes)] {
		*to = axes[len(axes)-1-i]
	}
	return s, s.Check()
}

// Check returns an error unless every axis is at least 1 and the image's size in bytes fits an
// int64 for every element type.
func (s Shape) Check() error {
	if s.D < 1 || s.H < 1 || s.W < 1 {
		return fmt.Errorf("shape %v: every axis must be at least 1", s)
	}
	const limit = math.MaxInt64 / 8
	if s.W > limit/s.H || s.W*s.H > limit/s.D {
		return fmt.Errorf("shape %v: more voxels than can be counted", s)
	}
	return nil
}

// String is the inverse of ParseShape: "WxH" for a 2D shape, else "WxHxD".
func (s Shape) String() string {
	if s.D == 1 {
		return fmt.Sprintf("%dx%d", s.W, s.H)
	}
	return fmt.Sprintf("%dx%dx%d", s.W, s.H, s.D)
}

// WithAxes formats the shape of an image with n axes: "WxHx1" for a volume of one slice.
func (s Shape) WithAxes(n int) string {
	if n > s.Dim() {
		return s.String() + "x1"
	}
	return s.String()
}

// Dim is 2 for depth 1, else 3.
func (s Shape) Dim() int {
	if s.D == 1 {
		return 2
	}
	return 3
}

// Voxels is the number of voxels, D·H·W.
func (s Shape) Voxels() int64 { return s.D * s.H * s.W }

// Slices returns the number of slices: planes of a 3D image, rows of a 2D one.
func (s Shape) Slices() int64 {
	if s.D == 1 {
		return s.H
	}
	return s.D
}

// SliceVoxels is the number of voxels in one slice.
func (s Shape) SliceVoxels() int64 { return s.Voxels() / s.Slices() }

// Sides returns the sides with the slowest axis first: z, y, x, or y, x of a 2D image.
func (s Shape) Sides() []int64 {
	if s.D == 1 {
		return []int64{s.H, s.W}
	}
	return []int64{s.D, s.H, s.W}
}

// WithSlices returns the shape with n slices.
func (s Shape) WithSlices(n int64) Shape {
	if s.D == 1 {
		return Shape{D: 1, H: n, W: s.W}
	}
	return Shape{D: n, H: s.H, W: s.W}
}

// Coordinates returns the depth, row and column of the voxel at a row-major index.
func (s Shape) Coordinates(index int64) (z, y, x int64) {
	plane := s.H * s.W
	return index / plane, index % plane / s.W, index % s.W
}

// CeilDiv returns a/n, rounded up.
func CeilDiv(a, n int64) int64 { return (a + n - 1) / n }
