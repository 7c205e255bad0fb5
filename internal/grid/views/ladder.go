package views

import (
	"errors"
	"fmt"

	"eccbench/internal/grid"
)

// OnLadder shows a float32 source on a given ladder, and checks its values during reads. A value
// that is not finite, is above the last level, or is missing from a table is an error.
func OnLadder(s grid.Source, l grid.Ladder) grid.Source {
	o := onLadder{Source: s, ladder: l, top: l.Value(l.Len() - 1)}
	if l.Listed() != nil {
		o.levels = grid.NewLevels[float32](l)
	}
	return o
}

// ErrAbove reports a value above every level, and ErrNotListed a value that a table lacks.
var (
	ErrAbove     = errors.New("above the last level")
	ErrNotListed = errors.New("none of the table's")
)

type onLadder struct {
	grid.Source
	ladder grid.Ladder
	top    float32
	levels *grid.Levels[float32] // for a table only
}

func (o onLadder) Ladder() grid.Ladder { return o.ladder }

func (o onLadder) Step() int64 { return grid.Step(o.Source) }

func (o onLadder) CachedBytes() int64 { return grid.CachedBytes(o.Source) }

func (o onLadder) ReadSlab(dst []byte, lo, hi int64) error {
	if err := o.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	first := lo * o.Shape().SliceVoxels()
	if err := grid.Normalise(grid.Values[float32](dst), first, o.Shape()); err != nil {
		return err
	}
	if o.levels != nil {
		return o.listed(grid.Values[float32](dst), first)
	}
	for i, v := range grid.Values[float32](dst) {
		if v > o.top {
			return fmt.Errorf("the value %v, at index %d, is %w, %v", v, first+int64(i), ErrAbove, o.top)
		}
	}
	return nil
}

// listed returns an error if a value is not in the table. The values start at index first.
func (o onLadder) listed(values []float32, first int64) error {
	var levels [1 << 10]int32
	for at := 0; at < len(values); at += len(levels) {
		block := values[at:min(at+len(levels), len(values))]
		o.levels.Convert(levels[:], block)
		for i, v := range block {
			if k := int64(levels[i]); k == o.ladder.Len() || o.ladder.Listed()[k] != v {
				return fmt.Errorf("the value %v, at index %d, is %w", v, first+int64(at+i), ErrNotListed)
			}
		}
	}
	return nil
}
