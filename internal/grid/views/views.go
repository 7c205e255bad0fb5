// Package views shows images as other images: flipped, transposed, cropped, padded, masked, negated,
// on another ladder or closed along axes. A view is a grid.Source that reads slabs of its source.
package views

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"eccbench/internal/grid"
)

// Flip, Transpose, Crop and Relabel show a source differently. None of them copies more than a
// slab.

// Flip shows a source in reverse along one axis: its slices ('s'), the rows of each plane ('y', 3D
// only), or the values of each row ('x').
func Flip(s grid.Source, axis byte) grid.Source { return flip{s, axis} }

type flip struct {
	grid.Source
	axis byte
}

func (f flip) ReadSlab(dst []byte, lo, hi int64) error {
	if f.axis != 's' {
		if err := f.Source.ReadSlab(dst, lo, hi); err != nil {
			return err
		}
		size, run := f.Type().Size(), f.Shape().W
		if f.axis == 'y' { // whole rows change places within each plane
			size, run = size*f.Shape().W, f.Shape().H
		}
		for at := int64(0); at < int64(len(dst)); at += size * run {
			reverse(dst[at:at+size*run], size)
		}
		return nil
	}
	n := f.Shape().Slices()
	if err := f.Source.ReadSlab(dst, n-hi, n-lo); err != nil {
		return err
	}
	reverse(dst, grid.SliceBytes(f))
	return nil
}

// reverse reverses the order of the size-byte items in b.
func reverse(b []byte, size int64) {
	switch {
	case len(b) == 0:
		return
	case size == 1:
		slices.Reverse(b)
		return
	case size == 2 && grid.Aligned(b, 2):
		slices.Reverse(grid.Values[uint16](b))
		return
	case size == 4 && grid.Aligned(b, 4):
		slices.Reverse(grid.Values[float32](b))
		return
	}
	tmp := make([]byte, size)
	for i, j := int64(0), int64(len(b))-size; i < j; i, j = i+size, j-size {
		copy(tmp, b[i:i+size])
		copy(b[i:i+size], b[j:j+size])
		copy(b[j:j+size], tmp)
	}
}

// Transpose shows a source with its two fastest axes swapped. A 3D source is read plane by plane; a
// 2D source is read whole for each slab.
func Transpose(s grid.Source) grid.Source { return transpose{s} }

type transpose struct{ grid.Source }

func (t transpose) Shape() grid.Shape {
	s := t.Source.Shape()
	return grid.Shape{D: s.D, H: s.W, W: s.H}
}

func (t transpose) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(t, dst, lo, hi); err != nil {
		return err
	}
	from, size := t.Source.Shape(), t.Type().Size()
	plane := from.H * from.W * size
	whole, resident := t.Source.(*grid.Field)
	var buf []byte
	if !resident {
		buf = grid.NewBuffer(plane)
	}
	// of returns a plane of the source, whose slices are lo ≤ i < hi.
	of := func(z, lo, hi int64) ([]byte, error) {
		if resident {
			return whole.Data()[z*plane:][:plane], grid.Ended(whole)
		}
		return buf, t.Source.ReadSlab(buf, lo, hi)
	}
	if from.D == 1 {
		rows, err := of(0, 0, from.H)
		if err == nil {
			swapRows(dst, rows, from, size, lo, hi)
		}
		return err
	}
	for z := lo; z < hi; z++ {
		rows, err := of(z, z, z+1)
		if err != nil {
			return err
		}
		swapRows(dst[(z-lo)*plane:][:plane], rows, from, size, 0, from.W)
	}
	return nil
}

// swapRows writes columns lo ≤ x < hi of a plane as rows.
func swapRows(dst, plane []byte, from grid.Shape, size, lo, hi int64) {
	switch size {
	case 1:
		swap(dst, plane, from, lo, hi)
	case 2:
		swap(grid.Values[uint16](dst), grid.Values[uint16](plane), from, lo, hi)
	default:
		swap(grid.Values[float32](dst), grid.Values[float32](plane), from, lo, hi)
	}
}

func swap[T grid.Element](dst, plane []T, from grid.Shape, lo, hi int64) {
	for x := lo; x < hi; x++ {
		row := dst[(x-lo)*from.H:][:from.H]
		for y := range row {
			row[y] = plane[int64(y)*from.W+x]
		}
	}
}

// Crop shows slices lo ≤ i < hi of a source; a Field keeps its memory. A single plane of a 3D image
// becomes a 2D image, whose slices are rows.
func Crop(s grid.Source, lo, hi int64) grid.Source {
	if f, ok := s.(*grid.Field); ok {
		return f.Slab(lo, hi)
	}
	if s.Shape().D > 1 && hi-lo == 1 {
		return plane{s, lo}
	}
	return crop{s, lo, hi}
}

type plane struct {
	grid.Source
	z int64
}

func (p plane) Shape() grid.Shape    { return p.Source.Shape().WithSlices(1) }
func (p plane) Labels() *grid.Labels { return grid.LabelsOf(p.Source) }

func (p plane) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(p, dst, lo, hi); err != nil {
		return err
	}
	whole := grid.NewBuffer(grid.SliceBytes(p.Source))
	if err := p.Source.ReadSlab(whole, p.z, p.z+1); err != nil {
		return err
	}
	row := grid.SliceBytes(p)
	copy(dst, whole[lo*row:hi*row])
	return nil
}

type crop struct {
	grid.Source
	lo, hi int64
}

func (c crop) Shape() grid.Shape    { return c.Source.Shape().WithSlices(c.hi - c.lo) }
func (c crop) Labels() *grid.Labels { return grid.LabelsOf(c.Source) }

func (c crop) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(c, dst, lo, hi); err != nil {
		return err
	}
	return c.Source.ReadSlab(dst, c.lo+lo, c.lo+hi)
}

// Relabel shows a source as float32 with random new values for the levels, in the same order. The
// new ladder is a table of values drawn from the seed.
func Relabel(s grid.Source, seed uint64) (grid.Source, error) {
	n := s.Ladder().Len()
	if n > 1<<22 {
		return nil, fmt.Errorf("relabel: %d levels, at most %d", n, 1<<22)
	}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	values := make([]float32, n)
	at := int32(-1 << 23)
	for k := range values {
		at += 1 + rng.Int32N(3) // whole numbers below 2²⁴ are exact
		values[k] = float32(at)
	}
	ladder, err := grid.Table(values)
	if err != nil {
		return nil, err
	}
	return relabel{s, ladder, grid.NewConverter(s.Type(), s.Ladder())}, nil
}

type relabel struct {
	grid.Source
	ladder grid.Ladder
	from   grid.Converter
}

func (r relabel) Type() grid.Type     { return grid.Float32 }
func (r relabel) Ladder() grid.Ladder { return r.ladder }

func (r relabel) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(r, dst, lo, hi); err != nil {
		return err
	}
	buf := grid.NewBuffer((hi - lo) * grid.SliceBytes(r.Source))
	if err := r.Source.ReadSlab(buf, lo, hi); err != nil {
		return err
	}
	levels := make([]int32, (hi-lo)*r.Shape().SliceVoxels())
	r.from.Convert(levels, buf)
	out := grid.Values[float32](dst)
	for i, k := range levels {
		out[i] = r.ladder.Listed()[k]
	}
	return nil
}

// Upright permutes the axes of an image, and returns the periodic axes in the new order. Curves and
// Betti numbers do not depend on the order of axes. In a volume of one slice that is periodic along
// z, rows become slices, and z the fastest axis, because a 2D image has no axis z. Without periodic
// axes, sides of one voxel become the slowest axes: a line of up to mostRow bytes is one row,
// whatever its direction. In a volume with many short rows, rows and columns are exchanged, because
// each row costs time and memory.
func Upright(s grid.Source, a grid.Axes) (grid.Source, grid.Axes) {
	shape := s.Shape()
	switch {
	case a == grid.Axes{} && min(shape.H, shape.W) == 1 && grid.Period(s) == 0:
		if shape.D > 1 {
			shape = grid.Shape{D: 1, H: shape.D, W: shape.H * shape.W}
		}
		if shape.W == 1 && grid.TotalBytes(s) <= mostRow {
			shape.H, shape.W = 1, shape.H
		}
	case shape.D > 1 && shape.W < shortRow && shape.H >= manyRows && grid.Period(s) == 0:
		a.X, a.Y = a.Y, a.X
		return turned{grid.Wrapped{Source: s}, Transpose(s)}, a
	case !a.Z || shape.D > 1 || grid.Dim(s) < 3:
	case shape.H > 1:
		shape, a = grid.Shape{D: shape.H, H: shape.W, W: 1}, grid.Axes{X: a.Z, Y: a.X, Z: a.Y}
	case shape.W > 1:
		shape, a = grid.Shape{D: shape.W, H: 1, W: 1}, grid.Axes{X: a.Z, Y: a.Y, Z: a.X}
	default: // one voxel: a torus of two periodic axes is equivalent to one of three
		a = grid.Axes{X: true, Y: a.X || a.Y}
	}
	if shape == s.Shape() {
		return s, a
	}
	if f, ok := s.(*grid.Field); ok {
		return f.Reshaped(shape), a
	}
	u := upright{Wrapped: grid.Wrapped{Source: s}, shape: shape}
	if shape.Slices() != s.Shape().Slices() {
		u.row = sync.OnceValues(func() (*grid.Field, error) { return grid.Load(s) })
	}
	return u, a
}

// mostRow is the largest image in bytes that Upright loads as one row.
const mostRow = 1 << 30

// Upright exchanges rows and columns if slices have manyRows, each shorter than shortRow.
const shortRow, manyRows = 32, 128

// turned has the voxels of a volume with rows and columns exchanged.
type turned struct {
	grid.Wrapped
	transposed grid.Source
}

func (t turned) Shape() grid.Shape  { return t.transposed.Shape() }
func (t turned) Step() int64        { return grid.Step(t.Source) }
func (t turned) CachedBytes() int64 { return grid.CachedBytes(t.Source) }

// ScratchBytes has a slice of the image.
func (t turned) ScratchBytes() int64 { return grid.SliceBytes(t.Source) + grid.ScratchBytes(t.Source) }

func (t turned) ReadSlab(dst []byte, lo, hi int64) error { return t.transposed.ReadSlab(dst, lo, hi) }

// upright has the slices of an image in another shape, or the voxels of a line as one row or as slices.
type upright struct {
	grid.Wrapped
	shape grid.Shape
	row   func() (*grid.Field, error) // nil unless the image is a line
}

func (u upright) Shape() grid.Shape { return u.shape }
func (u upright) Dim() int          { return u.shape.Dim() }

func (u upright) ReadSlab(dst []byte, lo, hi int64) error {
	if u.row == nil {
		return u.Source.ReadSlab(dst, lo, hi)
	}
	if err := grid.CheckSlab(u, dst, lo, hi); err != nil {
		return err
	}
	row, err := u.row()
	if err == nil {
		copy(dst, row.Data()[lo*grid.SliceBytes(u):])
	}
	return err
}

// Step returns the step of the image.
func (u upright) Step() int64 { return grid.Step(u.Source) }

// CachedBytes has the row that is loaded.
func (u upright) CachedBytes() int64 {
	if u.row != nil {
		return grid.TotalBytes(u) + grid.CachedBytes(u.Source)
	}
	return grid.CachedBytes(u.Source)
}
