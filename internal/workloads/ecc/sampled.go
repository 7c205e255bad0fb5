package ecc

import (
	"slices"
	"sort"

	"eccbench/internal/grid"
)

// Sampled returns the curve at the given values, distinct and ascending, instead of at its own
// levels.
func (l Lines) Sampled(values []float64) (Lines, error) {
	s := Lines{In: l.In, All: l.All}
	ranks := make([]float32, len(values))
	for i := range ranks {
		ranks[i] = grid.Ranked(i)
	}
	var err error
	if s.Labels, err = grid.NewLabels("float64", values); err != nil {
		return s, err
	}
	if s.Ladder, err = grid.Table(ranks); err != nil {
		return s, err
	}
	at := 0 // the first step that is not counted yet
	for i, value := range grid.Numbers(values...) {
		if l.In.Superlevel {
			i = len(values) - 1 - i
			value = grid.Numbers(values[i])[0]
		}
		end := at + sort.Search(len(l.Curve)-at, func(k int) bool { return l.isBeyond(at+k, value) })
		var change int64
		for ; at < end; at++ {
			change += l.step(at).Change
		}
		if change != 0 {
			s.Curve = append(s.Curve, Step{int64(i), change})
		}
	}
	if l.In.Superlevel {
		slices.Reverse(s.Curve)
	}
	return s, nil
}
