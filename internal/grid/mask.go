package grid

import (
	"cmp"
	"fmt"
	"math"
)

// absent is the value of voxels that are no part of a masked image: above every level.
var absent = float32(math.Inf(1))

// Mask shows a source as float32 with its voxels where a mask of the same shape is 0 above the
// last level, as no part of the image.
func Mask(s, mask Source) (Source, error) {
	if s.Shape() != mask.Shape() {
		return nil, fmt.Errorf("the mask is %v and the image %v; want a mask of the same shape", mask.Shape(), s.Shape())
	}
	l := s.Ladder()
	if lo, step, ok := l.Affinity(); ok { // not as all values of the type
		var err error
		if l, err = Affine(lo, step, l.Len()); err != nil {
			return nil, err
		}
	}
	return masked{s, mask, l}, nil
}

type masked struct {
	Source
	mask   Source
	ladder Ladder
}

// Unmasked is the image that Mask shows a part of, of its own type; any other source itself.
func Unmasked(s Source) Source {
	if m, ok := s.(masked); ok {
		return m.Source
	}
	return s
}

func (m masked) Type() Type     { return Float32 }
func (m masked) Ladder() Ladder { return m.ladder }

// Labels are those of the image.
func (m masked) Labels() *Labels { return LabelsOf(m.Source) }

// Dim is that of the image.
func (m masked) Dim() int { return Dim(m.Source) }

// Missing is what the image's file lacks, or else the mask's.
func (m masked) Missing() string {
	if lacks := Missing(m.mask); lacks != "" && Missing(m.Source) == "" {
		return "mask: " + lacks
	}
	return Missing(m.Source)
}

// Unchanged is that of both sources.
func (m masked) Unchanged() error { return cmp.Or(Unchanged(m.Source), Unchanged(m.mask)) }

// Close closes both sources.
func (m masked) Close() error {
	Close(m.mask)
	return Close(m.Source)
}

func (m masked) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(m, dst, lo, hi); err != nil {
		return err
	}
	if lo == hi {
		return nil
	}
	image, err := Load(Crop(m.Source, lo, hi))
	if err != nil {
		return err
	}
	mask, err := Load(Crop(m.mask, lo, hi))
	if err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	values := Values[float32](dst)
	copy(values, image.Floats())
	for i, v := range mask.Floats() {
		if v == 0 {
			values[i] = absent
		}
	}
	return nil
}

// Present shows a float32 source with the voxels that are no part of it on the first level;
// Gaps shows those alone, and no others.
func Present(s Source) Source { return swapped{s, s.Ladder().Value(0), false} }

// Gaps is what Present adds to a source.
func Gaps(s Source) Source { return swapped{s, s.Ladder().Value(0), true} }

type swapped struct {
	Source
	first float32
	gaps  bool
}

func (p swapped) ReadSlab(dst []byte, lo, hi int64) error {
	if err := p.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	values := Values[float32](dst)
	for i, v := range values {
		switch {
		case v == absent:
			values[i] = p.first
		case p.gaps:
			values[i] = absent
		}
	}
	return nil
}
