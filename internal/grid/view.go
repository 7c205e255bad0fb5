package grid

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
		return &Field{shape: f.shape.WithSlices(hi - lo), typ: f.typ, ladder: f.ladder, data: f.data[lo*size : hi*size : hi*size], until: f.until}
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
