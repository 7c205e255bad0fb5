package ask

import (
	"fmt"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// checkSlices returns an error for an image without separate slices.
func (q *Question) checkSlices(i image) error {
	if i.Shape().D == 1 {
		return Usagef("--each-slice: %s is one slice, of %v: leave --each-slice out", q.Shown, grid.Extent(i.Source))
	}
	if i.convention.Periodic.Z {
		return Usagef("--each-slice answers for slices by themselves, which have no axis z: leave z out of --periodic")
	}
	return nil
}

// answerBytes is the memory of an answer about a slice without its numbers: with its evidence and lines.
const answerBytes = 512

// slicesTake begins errors about the memory of answers.
const slicesTake = "answers about slices take"

// eachSlice calls answer for each slice of a 3D image, several at a time while the image is read.
// name names a slice. answer also returns the memory of the numbers of a slice. eachSlice returns an error before the
// answers take more memory than is free.
func eachSlice[Out any](
	q *Question, src grid.Source, of string, answer func(plane *grid.Field, name string) (Out, int64, error),
) ([]Out, error) {
	n, size := src.Shape().D, grid.SliceBytes(src)
	if err := q.checkMemory(n*answerBytes+grid.SlabBytes(src), slicesTake, MoreMemory); err != nil {
		return nil, err
	}
	answers, free := make([]Out, n), q.memory()
	var held atomic.Int64
	err := grid.EachSlab(src, func(slab []byte, lo, hi int64) error {
		if lo > 0 {
			need := (held.Load()+lo*answerBytes)/lo*n*5/4 + grid.SlabBytes(src) // with garbage
			if err := q.fits(need, free, slicesTake, MoreMemory); err != nil {
				return err
			}
		}
		return crew.Try(q.Threads, int(hi-lo), func(_, k int) error {
			i := int64(k)
			plane, err := grid.Trusted(src.Shape().WithSlices(1), src.Type(), slab[i*size:(i+1)*size], src.Ladder())
			if err != nil {
				return err
			}
			bytes := int64(0)
			answers[lo+i], bytes, err = answer(plane, fmt.Sprintf("slice %d of %s", lo+i, of))
			held.Add(bytes)
			return err
		})
	})
	return answers, err
}
