package ask

import (
	"fmt"

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

// eachSlice calls answer for each slice of a 3D image, several at a time while the image is read.
// name names a slice.
func eachSlice[Out any](
	src grid.Source, of string, threads int, answer func(plane *grid.Field, name string) (Out, error),
) ([]Out, error) {
	answers := make([]Out, src.Shape().D)
	size := grid.SliceBytes(src)
	err := grid.EachSlab(src, func(slab []byte, lo, hi int64) error {
		return crew.Try(threads, int(hi-lo), func(_, k int) error {
			i := int64(k)
			plane, err := grid.Trusted(src.Shape().WithSlices(1), src.Type(), slab[i*size:(i+1)*size], src.Ladder())
			if err == nil {
				answers[lo+i], err = answer(plane, fmt.Sprintf("slice %d of %s", lo+i, of))
			}
			return err
		})
	})
	return answers, err
}
