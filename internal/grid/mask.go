package grid

import (
	"cmp"
	"fmt"
	"math"
)

// absent marks voxels outside a masked image. It is above every level.
var absent = float32(math.Inf(1))

// Mask shows a source as float32. Voxels where the mask is 0 become +Inf, above the last level, and
// so are in no sublevel set. The mask must have the same shape.
func Mask(s, mask Source) (Source, error) {
	if s.Shape() != mask.Shape() {
		return nil, fmt.Errorf("the mask is %v and the image %v; want a mask of the same shape", mask.Shape(), s.Shape())
	}
	l := s.Ladder()
	if lo, step, ok := l.Affinity(); ok { // the identity ladder of the original type does not apply to float32
		var err error
		if l, err = Affine(lo, step, l.Len()); err != nil {
			return nil, err
		}
	}
	return masked{Wrapped{s}, mask, l}, nil
}

type masked struct {
	Wrapped
	mask   Source
	ladder Ladder
}

// Unmasked returns the source that Mask wrapped, or any other source as it is.
func Unmasked(s Source) Source {
	if m, ok := s.(masked); ok {
		return m.Source
	}
	return s
}

func (m masked) Type() Type     { return Float32 }
func (m masked) Ladder() Ladder { return m.ladder }

// Missing describes missing data of the image's file, or else of the mask's.
func (m masked) Missing() string {
	if lacks := Missing(m.mask); lacks != "" && Missing(m.Source) == "" {
		return "mask: " + lacks
	}
	return Missing(m.Source)
}

// Unchanged checks the files of both sources.
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

// Present shows a masked source with the masked-out voxels on the first level, so that all voxels
// belong to the image.
func Present(s Source) Source { return swapped{s, s.Ladder().Value(0), false} }

// Gaps shows only the masked-out voxels, on the first level: the complement that Present adds.
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
