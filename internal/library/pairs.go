package library

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/impls/pairs/morse"
	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// Pairs requests the persistence pairs of an image.
type Pairs struct {
	Dims        []int   `json:"dims"`        // only pairs of these dimensions; empty for all
	Persistence float64 `json:"persistence"` // only pairs whose birth and death are at least this far apart
}

// checkPairs returns the reason why a request for pairs is invalid, or nil.
func (r Request) checkPairs() error {
	p := *r.Pairs
	switch {
	case r.Betti || r.Levels > 0 || len(r.At)+len(r.Sets) > 0 || r.Part != nil || r.Join != nil || r.Flow != nil ||
		r.Eigenmap != nil || r.Assess != nil || r.Homology != nil:
		return errors.New("persistence pairs are of all values of an image: leave levels and other questions out")
	case len(r.Periodic) > 0:
		return errors.New("periodic: " + ask.PeriodicPairs)
	case slices.ContainsFunc(p.Dims, func(dim int) bool { return dim < 0 || dim > 2 }):
		return fmt.Errorf("dims %v: want dimensions from 0 to 2", p.Dims)
	case !(p.Persistence >= 0) || math.IsInf(p.Persistence, 0):
		return fmt.Errorf("persistence %v: want a finite number of 0 or more", p.Persistence)
	}
	return nil
}

// pairs returns the persistence pairs of an image.
func (r Request) pairs(ctx context.Context, a Answer, in grid.Source, c ecc.Convention) (Answer, error) {
	f, err := grid.Load(in)
	if err != nil {
		return a, err
	}
	w := pairs.InConvention(pairs.Workload(morse.Implementation{}), c)
	w.Policy = w.Policy.Witnesses()
	out, err := answered(&a, w, grid.WithContext(ctx, f), r)
	if err != nil {
		return a, err
	}
	lines := pairs.LinesOf(f, out.Pairs, c).Select(pairs.Selection{Dims: r.Pairs.Dims, Persistence: r.Pairs.Persistence})
	a.lines, a.Rows = pairedLines{lines}, lines.Len()
	return a, nil
}

// pairedLines are rows with the values of birth and death, and numbers: the dimension and both voxels.
type pairedLines struct{ pairs.Lines }

func (pairedLines) columns() int64 { return 3 }

func (l pairedLines) fill(t *table) {
	l.Each(func(x pairs.Line) {
		t.put(l.Labels.AppendBytes(l.Labels.AppendBytes(nil, x.Born), x.Died), int64(x.Dim), x.Birth, x.Death)
	})
}
