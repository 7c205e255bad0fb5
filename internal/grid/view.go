package grid

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
)

// Flip, Transpose, Crop and Relabel show a source differently. None of them copies more than a
// slab.

// Flip shows a source in reverse along one axis: its slices ('s'), the rows of each plane ('y', 3D
// only), or the values of each row ('x').
func Flip(s Source, axis byte) Source { return flip{s, axis} }

type flip struct {
	Source
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
	reverse(dst, SliceBytes(f))
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
	case size == 2 && aligned(b, 2):
		slices.Reverse(Values[uint16](b))
		return
	case size == 4 && aligned(b, 4):
		slices.Reverse(Values[float32](b))
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
func Transpose(s Source) Source { return transpose{s} }

type transpose struct{ Source }

func (t transpose) Shape() Shape {
	s := t.Source.Shape()
	return Shape{D: s.D, H: s.W, W: s.H}
}

func (t transpose) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(t, dst, lo, hi); err != nil {
		return err
	}
	from := t.Source.Shape()
	buf := NewBuffer(from.H * from.W * t.Type().Size())
	if from.D == 1 {
		if err := t.Source.ReadSlab(buf, 0, from.H); err != nil {
			return err
		}
		swapRows(dst, buf, from, t.Type().Size(), lo, hi)
		return nil
	}
	for z := lo; z < hi; z++ {
		if err := t.Source.ReadSlab(buf, z, z+1); err != nil {
			return err
		}
		at := (z - lo) * int64(len(buf))
		swapRows(dst[at:at+int64(len(buf))], buf, from, t.Type().Size(), 0, from.W)
	}
	return nil
}

// swapRows writes columns lo ≤ x < hi of a plane as rows.
func swapRows(dst, plane []byte, from Shape, size, lo, hi int64) {
	for x := lo; x < hi; x++ {
		for y := range from.H {
			out := ((x-lo)*from.H + y) * size
			in := (y*from.W + x) * size
			copy(dst[out:out+size], plane[in:in+size])
		}
	}
}

// Crop shows slices lo ≤ i < hi of a source; a Field keeps its memory. A single plane of a 3D image
// becomes a 2D image, whose slices are rows.
func Crop(s Source, lo, hi int64) Source {
	if f, ok := s.(*Field); ok {
		size := SliceBytes(f)
		return &Field{shape: f.shape.WithSlices(hi - lo), typ: f.typ, ladder: f.ladder,
			data: f.data[lo*size : hi*size : hi*size], until: f.until}
	}
	if s.Shape().D > 1 && hi-lo == 1 {
		return plane{s, lo}
	}
	return crop{s, lo, hi}
}

type plane struct {
	Source
	z int64
}

func (p plane) Shape() Shape { return p.Source.Shape().WithSlices(1) }

func (p plane) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(p, dst, lo, hi); err != nil {
		return err
	}
	whole := NewBuffer(SliceBytes(p.Source))
	if err := p.Source.ReadSlab(whole, p.z, p.z+1); err != nil {
		return err
	}
	row := SliceBytes(p)
	copy(dst, whole[lo*row:hi*row])
	return nil
}

type crop struct {
	Source
	lo, hi int64
}

func (c crop) Shape() Shape { return c.Source.Shape().WithSlices(c.hi - c.lo) }

func (c crop) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(c, dst, lo, hi); err != nil {
		return err
	}
	return c.Source.ReadSlab(dst, c.lo+lo, c.lo+hi)
}

// Relabel shows a source as float32 with random new values for the levels, in the same order. The
// new ladder is a table of values drawn from the seed.
func Relabel(s Source, seed uint64) (Source, error) {
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
	ladder, err := Table(values)
	if err != nil {
		return nil, err
	}
	return relabel{s, ladder, NewConverter(s.Type(), s.Ladder())}, nil
}

type relabel struct {
	Source
	ladder Ladder
	from   Converter
}

func (r relabel) Type() Type     { return Float32 }
func (r relabel) Ladder() Ladder { return r.ladder }

func (r relabel) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(r, dst, lo, hi); err != nil {
		return err
	}
	buf := NewBuffer((hi - lo) * SliceBytes(r.Source))
	if err := r.Source.ReadSlab(buf, lo, hi); err != nil {
		return err
	}
	levels := make([]int32, (hi-lo)*r.Shape().SliceVoxels())
	r.from.Convert(levels, buf)
	out := Values[float32](dst)
	for i, k := range levels {
		out[i] = r.ladder.table[k]
	}
	return nil
}

// Upright permutes the axes of an image, and returns the periodic axes in the new order. Curves and
// Betti numbers do not depend on the order of axes. In a volume of one slice that is periodic along
// z, rows become slices, and z the fastest axis, because a 2D image has no axis z. Without periodic
// axes, sides of one voxel become the slowest axes: a line of up to mostRow bytes is one row, whatever its direction.
func Upright(s Source, a Axes) (Source, Axes) {
	shape := s.Shape()
	switch {
	case a == Axes{} && min(shape.H, shape.W) == 1 && Period(s) == 0:
		if shape.D > 1 {
			shape = Shape{D: 1, H: shape.D, W: shape.H * shape.W}
		}
		if shape.W == 1 && TotalBytes(s) <= mostRow {
			shape.H, shape.W = 1, shape.H
		}
	case !a.Z || shape.D > 1 || Dim(s) < 3:
	case shape.H > 1:
		shape, a = Shape{D: shape.H, H: shape.W, W: 1}, Axes{X: a.Z, Y: a.X, Z: a.Y}
	case shape.W > 1:
		shape, a = Shape{D: shape.W, H: 1, W: 1}, Axes{X: a.Z, Y: a.Y, Z: a.X}
	default: // one voxel: a torus of two periodic axes is equivalent to one of three
		a = Axes{X: true, Y: a.X || a.Y}
	}
	if shape == s.Shape() {
		return s, a
	}
	if f, ok := s.(*Field); ok {
		g := *f
		g.shape = shape
		return &g, a
	}
	u := upright{Wrapped: Wrapped{s}, shape: shape}
	if shape.Slices() != s.Shape().Slices() {
		u.row = sync.OnceValues(func() (*Field, error) { return Load(s) })
	}
	return u, a
}

// mostRow is the largest image in bytes that Upright loads as one row.
const mostRow = 1 << 30

// upright has the slices of an image in another shape, or the voxels of a line as one row or as slices.
type upright struct {
	Wrapped
	shape Shape
	row   func() (*Field, error) // nil unless the image is a line
}

func (u upright) Shape() Shape { return u.shape }
func (u upright) Dim() int     { return u.shape.Dim() }

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

// Step returns the step of the image.
func (u upright) Step() int64 { return Step(u.Source) }

// Repeat shows a source that repeats its first slices: slice i is slice i mod period of the
// original.
func Repeat(s Source, period int64) Source {
	if period >= s.Shape().Slices() {
		return s
	}
	return repeat{Wrapped{s}, period}
}

type repeat struct {
	Wrapped
	period int64
}

func (r repeat) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(r, dst, lo, hi); err != nil {
		return err
	}
	size := SliceBytes(r)
	for at := lo; at < hi; {
		part := dst[(at-lo)*size:]
		if at >= lo+r.period { // this period is already in dst
			copy(part, dst[:(at-lo)*size][(at-lo-r.period)*size:])
			at += r.period
			continue
		}
		from := at % r.period
		count := min(hi-at, r.period-from, lo+r.period-at)
		if err := r.Source.ReadSlab(part[:count*size], from, from+count); err != nil {
			return err
		}
		at += count
	}
	return nil
}

// Period returns the number of slices after which a source of Repeat, or a Field made of one,
// repeats. It returns 0 for any other source.
func Period(s Source) int64 {
	switch s := s.(type) {
	case repeat:
		return s.period
	case *Field:
		return s.period
	}
	return 0
}

// Repeating marks the field as periodic. The caller guarantees that slice i is slice i mod period.
func (f *Field) Repeating(period int64) *Field {
	g := *f
	g.period = period
	return &g
}

// Unrepeated hides the period of a source.
func Unrepeated(s Source) Source {
	if f, ok := s.(*Field); ok {
		return f.Repeating(0)
	}
	if Period(s) > 0 {
		return struct{ Source }{s}
	}
	return s
}

// OverPeriods computes a quantity of a source without reading every repetition. The argument of
// computes the quantity of a part: a sum over slices and pairs of adjacent slices, plus terms of the
// first and last slice. add adds a value to the sum the given number of times, possibly negative.
// The sum starts at the zero T.
func OverPeriods[T any](s Source, of func(Source) (T, error), add func(sum *T, said T, times int64)) (T, error) {
	var sum T
	for _, p := range parts(s) {
		said, err := of(p.viewOf(s))
		if err != nil {
			return sum, err
		}
		add(&sum, said, p.times)
	}
	return sum, nil
}

// LookedAt returns the number of voxels that OverPeriods reads.
func LookedAt(s Source) int64 {
	slices := int64(0)
	for _, p := range parts(s) {
		slices += p.hi - p.lo
	}
	return slices * s.Shape().SliceVoxels()
}

// A part is slices lo ≤ i < hi of a source with a factor.
type part struct{ lo, hi, times int64 }

// parts decomposes a source into slabs with factors. Without a period, the source is the only part.
// With period p there are n = r + q·p slices. The parts are a slab of r slices, and q times the
// difference of two slabs whose lengths differ by p. The slab of r slices may be replaced by the
// slab of p + 2 slices minus the rest. A part never is a single plane of a 3D image, because that
// would be a 2D image.
func parts(s Source) []part {
	n, p := s.Shape().Slices(), Period(s)
	if p == 0 {
		return []part{{0, n, 1}}
	}
	r := (n-2)%p + 2
	q := (n - r) / p
	list := []part{{0, p + 2, q}, {0, 2, -q}}
	if beyond := p + 2 - r; r <= beyond+4 {
		list = append(list, part{0, r, 1})
	} else {
		list[0].times++
		if beyond > 0 {
			list = append(list, part{r - 2, p + 2, -1}, part{r - 2, r, 1})
		}
	}
	slices := int64(0)
	for _, p := range list {
		slices += p.hi - p.lo
	}
	if slices >= n {
		return []part{{0, n, 1}}
	}
	return list
}

// viewOf returns the part of a source.
func (p part) viewOf(s Source) Source {
	if p.lo == 0 && p.hi == s.Shape().Slices() {
		return s
	}
	return Crop(s, p.lo, p.hi)
}
