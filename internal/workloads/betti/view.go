package betti

import (
	"fmt"
	"math"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/workloads/ecc"
)

// twoLevels is the ladder of binary images as grey images: 0 inside, 1 outside.
func twoLevels() grid.Ladder {
	l, err := grid.Affine(0, 1, 2)
	if err != nil {
		panic(err) // never: both are float32
	}
	return l
}

// Binary shows a binary image as a grey image of uint8: 0 inside, 1 outside.
func (i *Image) Binary() grid.Source { return binaryView{i, false} }

// set returns the set of a binary image in a convention: the voxels at or below its threshold, or
// at or above it. Masked voxels are +Inf and in no set.
func (i *Image) set(c ecc.Convention) *Image {
	set := i
	if c.Superlevel {
		set = i.negated()
	}
	if c.Masked {
		set = set.viewOf(set.Source)
		set.Threshold = min(set.Threshold, math.MaxFloat32)
	}
	return set
}

// negated returns the voxels at or above the threshold as a set of values at or below one.
func (i *Image) negated() *Image {
	s, err := views.Negate(natural{i.Source})
	if err != nil {
		panic(err) // never: ladders of types have no table
	}
	t, l := i.Threshold, s.Ladder()
	if i.Type() != grid.Float32 {
		t = float32(math.Ceil(float64(t))) // the difference below is exact
	}
	return &Image{s, l.Value(0) + l.Value(l.Len()-1) - t}
}

// natural shows an image on the ladder of its type.
type natural struct{ grid.Source }

func (n natural) Ladder() grid.Ladder { return grid.Identity(n.Type()) }

// complement returns the voxels of the box that are not in a binary image.
func (i *Image) complement() *Image { return &Image{Source: binaryView{i, true}} }

type binaryView struct {
	*Image
	inverted bool
}

func (b binaryView) Type() grid.Type     { return grid.Uint8 }
func (b binaryView) Ladder() grid.Ladder { return twoLevels() }

func (b binaryView) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(b, dst, lo, hi); err != nil {
		return err
	}
	slab, err := slabOf(b.Image, lo, hi)
	if err != nil {
		return err
	}
	above := byte(1) // for the values above the threshold
	if b.inverted {
		above = 0
	}
	switch b.Image.Type() {
	case grid.Uint8:
		var shown [256]byte
		for v := range shown {
			show(shown[v:v+1], []uint8{uint8(v)}, b.Threshold, above)
		}
		for i, v := range grid.Values[uint8](slab) {
			dst[i] = shown[v]
		}
	case grid.Int16:
		show(dst, grid.Values[int16](slab), b.Threshold, above)
	case grid.Uint16:
		show(dst, grid.Values[uint16](slab), b.Threshold, above)
	case grid.Float32:
		show(dst, grid.Values[float32](slab), b.Threshold, above)
	}
	return nil
}

// slabOf returns slices lo ≤ k < hi of an image, in place or read.
func slabOf(i *Image, lo, hi int64) ([]byte, error) {
	size := grid.SliceBytes(i.Source)
	if f, ok := i.Source.(*grid.Field); ok {
		return f.Data()[lo*size : hi*size], nil
	}
	slab := grid.NewBuffer((hi - lo) * size)
	return slab, i.ReadSlab(slab, lo, hi)
}

// show writes above, 0 or 1, for the values above a threshold and the other one for the others.
func show[T grid.Element](dst []byte, values []T, t float32, above byte) {
	for i, v := range values {
		// Without branches, because their outcomes are noise.
		var in byte
		if float32(v) <= t {
			in = 1
		}
		dst[i] = in ^ above
	}
}

// viewOf returns another view of the image with the same threshold.
func (i *Image) viewOf(s grid.Source) *Image { return &Image{s, i.Threshold} }

// doubled shows each voxel of an image as 2³ voxels, or 2² in an image of one plane.
type doubled struct{ grid.Source }

func (d doubled) Shape() grid.Shape {
	s := d.Source.Shape()
	if s.D > 1 {
		s.D *= 2
	}
	return grid.Shape{D: s.D, H: 2 * s.H, W: 2 * s.W}
}

func (d doubled) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(d, dst, lo, hi); err != nil || lo == hi {
		return err
	}
	first, inner := lo/2, d.Source.Shape()
	size := grid.SliceBytes(d.Source)
	from := grid.NewBuffer(((hi+1)/2 - first) * size)
	if err := d.Source.ReadSlab(from, first, (hi+1)/2); err != nil {
		return err
	}
	value, row, rows := d.Type().Size(), inner.W*d.Type().Size(), 2*inner.H
	if inner.D == 1 {
		rows = 1 // a slice is a row
	}
	for z := lo; z < hi; z++ {
		slice := from[(z/2-first)*size:][:size]
		for y := range rows {
			for at := y / 2 * row; at < y/2*row+row; at += value {
				dst = dst[copy(dst, slice[at:at+value]):]
				dst = dst[copy(dst, slice[at:at+value]):]
			}
		}
	}
	return nil
}

// extruded repeats a 2D image in a number of planes.
type extruded struct {
	grid.Source
	planes int64
}

func (e extruded) Shape() grid.Shape {
	s := e.Source.Shape()
	s.D = e.planes
	return s
}

func (e extruded) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(e, dst, lo, hi); err != nil || lo == hi {
		return err
	}
	size := grid.TotalBytes(e.Source)
	if err := e.Source.ReadSlab(dst[:size], 0, e.Source.Shape().Slices()); err != nil {
		return err
	}
	for z := int64(1); z < hi-lo; z++ {
		copy(dst[z*size:], dst[:size])
	}
	return nil
}

// withoutVoxel shows a binary image as Binary does, with one voxel removed.
type withoutVoxel struct {
	grid.Source
	voxel int64 // row-major index
}

func (w withoutVoxel) ReadSlab(dst []byte, lo, hi int64) error {
	if err := w.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	size := grid.SliceBytes(w)
	if w.voxel >= lo*size && w.voxel < hi*size {
		if dst[w.voxel-lo*size] != 0 {
			return fmt.Errorf("voxel %d is not in the set", w.voxel)
		}
		dst[w.voxel-lo*size] = 1
	}
	return nil
}
