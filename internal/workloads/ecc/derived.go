package ecc

import (
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// fewLevels bounds the levels for laws whose cost grows faster with the levels than with the image.
const fewLevels = 1 << 9

// mostHeld is the largest image that OnLevels loads into memory; views read some slices repeatedly.
const mostHeld = 64 << 20

// everyFloat32 asks for the curve on the ladder of every float32. Its changes, summed within the
// levels of the image's own ladder, must be the answer.
func everyFloat32(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if in.Type() != grid.Float32 || !in.Ladder().Indexed() {
		return nil, verify.ErrNotApplicable
	}
	every := grid.Identity(grid.Float32)
	asked := grid.Source(onEvery{in})
	if f, ok := in.(*grid.Field); ok {
		whole, err := grid.Trusted(f.Shape(), f.Type(), f.Data(), every)
		if err != nil {
			return nil, err
		}
		asked = whole
	}
	fine, err := answer(asked)
	if errors.As(err, new(bench.Refusal)) { // most implementations keep a table of levels
		return nil, verify.ErrNotApplicable
	}
	if err != nil {
		return nil, err
	}
	sum := map[int64]int64{}
	for i, s := range fine {
		if s.Level < 0 || s.Level >= every.Len() || i > 0 && s.Level <= fine[i-1].Level {
			return misplaced(fine, every.Len()), nil
		}
		sum[in.Ladder().Level(every.Value(s.Level))] += s.Change
	}
	delete(sum, in.Ladder().Len()) // above all levels
	return first(in, fromMap(sum), out), nil
}

// onEvery shows a float32 image on the ladder of every float32.
type onEvery struct{ grid.Source }

func (onEvery) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// OnLevels replaces each value by its level's value. That changes no sublevel set of the ladder,
// and it makes the superlevel sets those of the ladder too, which laws of other conventions need.
// It returns verify.ErrNotApplicable for too many levels, and for values that it cannot move.
func OnLevels(in grid.Source) (grid.Source, error) {
	if in.Ladder().Len() > fewLevels {
		return nil, verify.ErrNotApplicable
	}
	if grid.TotalBytes(in) > mostHeld {
		return levelsView{in}, nil
	}
	return grid.Load(levelsView{in})
}

// levelsView is the view of OnLevels.
type levelsView struct{ grid.Source }

func (s levelsView) ReadSlab(dst []byte, lo, hi int64) error {
	if err := s.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	l := s.Ladder()
	stand := func(v float32) (float32, error) {
		k := l.Level(v)
		if k == l.Len() || s.Type() != grid.Float32 && l.Value(k) != v {
			return 0, fmt.Errorf("value %v: %w", v, verify.ErrNotApplicable)
		}
		return l.Value(k), nil
	}
	var err error
	switch s.Type() {
	case grid.Uint8:
		_, err = each(dst, stand)
	case grid.Int16:
		_, err = each(grid.Values[int16](dst), stand)
	case grid.Uint16:
		_, err = each(grid.Values[uint16](dst), stand)
	case grid.Float32:
		_, err = each(grid.Values[float32](dst), stand)
	}
	return err
}

// each replaces each value by f of it. It returns the number of replaced values.
func each[T grid.Element](values []T, f func(float32) (float32, error)) (n int, err error) {
	for i, v := range values {
		w, err := f(float32(v))
		if err != nil {
			return i, err
		}
		values[i] = T(w)
	}
	return len(values), nil
}
