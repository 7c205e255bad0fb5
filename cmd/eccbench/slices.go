package main

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// answerSlices answers for each slice of a 3D image by itself, several at a time, as they
// come; each is verified by itself. It returns the answer for the first one too.
func (j curveJob) answerSlices(c *cli.Program, src grid.Source, impl, name string, conditions bench.Conditions) (slices []ecc.Lines, first cli.Answered[ecc.VCEC], err error) {
	if src.Shape().D == 1 {
		return nil, first, cli.Usagef("--each-slice: %s is one slice, of %v: leave --each-slice out", name, grid.Extent(src))
	}
	if j.rings.Z {
		return nil, first, cli.Usagef("--each-slice answers for slices by themselves, which have no axis z: leave z out of --periodic")
	}
	w := ecc.InConvention(c.Curve, j.convention(), c.Eyes...)
	conditions.Threads = 1
	slices = make([]ecc.Lines, src.Shape().D)
	size := grid.SliceBytes(src)
	err = grid.EachSlab(src, func(slab []byte, lo, hi int64) error {
		next, errs := atomic.Int64{}, make([]error, hi-lo)
		var wg sync.WaitGroup
		for range min(int64(j.threads), hi-lo) {
			wg.Go(func() {
				for i := next.Add(1) - 1; i < hi-lo; i = next.Add(1) - 1 {
					var plane *grid.Field
					plane, errs[i] = grid.Trusted(src.Shape().WithSlices(1), src.Type(), slab[i*size:(i+1)*size], src.Ladder())
					if errs[i] != nil {
						return
					}
					var a cli.Answered[ecc.VCEC]
					a, errs[i] = cli.Answer(w, impl, fmt.Sprintf("slice %d of %s", lo+i, name), grid.Source(plane), conditions, j.budget, "curve")
					slices[lo+i] = ecc.LinesOf(src, a.Out, j.convention(), j.all)
					if lo+i == 0 {
						first = a
					}
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	})
	return slices, first, err
}
