package views

import (
	"cmp"
	"fmt"

	"eccbench/internal/grid"
)

// Mask shows a source as float32. Voxels where the mask is 0 become +Inf, above the last level, and
// so are in no sublevel set. The mask must have the same shape.
func Mask(s, mask grid.Source) (grid.Source, error) {
	if s.Shape() != mask.Shape() {
		return nil, fmt.Errorf("the mask is %v and the image %v; want a mask of the same shape", mask.Shape(), s.Shape())
	}
	l := s.Ladder()
	if lo, step, ok := l.Affinity(); ok { // the identity ladder of the original type does not apply to float32
		var err error
		if l, err = grid.Affine(lo, step, l.Len()); err != nil {
			return nil, err
		}
	}
	return masked{grid.Wrapped{Source: s}, mask, l}, nil
}

type masked struct {
	grid.Wrapped
	mask   grid.Source
	ladder grid.Ladder
}

// Unmasked returns the source that Mask wrapped, or any other source as it is.
func Unmasked(s grid.Source) grid.Source {
	if m, ok := s.(masked); ok {
		return m.Source
	}
	return s
}

func (m masked) Type() grid.Type     { return grid.Float32 }
func (m masked) Ladder() grid.Ladder { return m.ladder }

// Missing describes missing data of the image's file, or else of the mask's.
func (m masked) Missing() string {
	if lacks := grid.Missing(m.mask); lacks != "" && grid.Missing(m.Source) == "" {
		return "mask: " + lacks
	}
	return grid.Missing(m.Source)
}

// Unchanged checks the files of both sources.
func (m masked) Unchanged() error { return cmp.Or(grid.Unchanged(m.Source), grid.Unchanged(m.mask)) }

// Step returns the step of the image.
func (m masked) Step() int64 { return grid.Step(m.Source) }

// CachedBytes counts the caches of both sources.
func (m masked) CachedBytes() int64 { return grid.CachedBytes(m.Source) + grid.CachedBytes(m.mask) }

// ScratchBytes has a slice of both sources.
func (m masked) ScratchBytes() int64 {
	return grid.SliceBytes(m.Source) + grid.SliceBytes(m.mask) + grid.ScratchBytes(m.Source) + grid.ScratchBytes(m.mask)
}

// Close closes both sources.
func (m masked) Close() error {
	grid.Close(m.mask)
	return grid.Close(m.Source)
}

func (m masked) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(m, dst, lo, hi); err != nil {
		return err
	}
	if lo == hi {
		return nil
	}
	image, err := grid.Load(Crop(m.Source, lo, hi))
	if err != nil {
		return err
	}
	mask, err := grid.Load(Crop(m.mask, lo, hi))
	if err != nil {
		return fmt.Errorf("mask: %w", err)
	}
	values := grid.Values[float32](dst)
	copy(values, image.Floats())
	for i, v := range mask.Marks() {
		if v == 0 {
			values[i] = grid.Absent
		}
	}
	return nil
}

// Present shows a masked source with the masked-out voxels on the first level, so that all voxels
// belong to the image.
func Present(s grid.Source) grid.Source { return swapped{s, s.Ladder().Value(0), false} }

// Gaps shows only the masked-out voxels, on the first level: the complement that Present adds.
func Gaps(s grid.Source) grid.Source { return swapped{s, s.Ladder().Value(0), true} }

type swapped struct {
	grid.Source
	first float32
	gaps  bool
}

func (p swapped) ReadSlab(dst []byte, lo, hi int64) error {
	if err := p.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	values := grid.Values[float32](dst)
	for i, v := range values {
		switch {
		case v == grid.Absent:
			values[i] = p.first
		case p.gaps:
			values[i] = grid.Absent
		}
	}
	return nil
}
