package ask

import (
	"fmt"
	"math"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
)

// mostEven bounds the evenly spaced levels of images that are counted at every value.
const mostEven = 1 << 24

// evenLadder returns the name of a ladder of evenly spaced values.
func evenLadder(values []float64) string {
	return fmt.Sprintf("%d evenly spaced values of float64", len(values))
}

// evenly returns n evenly spaced values, ascending, from the least value of an image to the
// greatest. Ends that float64 cannot represent are rounded in the direction in which sets grow, so that the first set
// has a voxel and the last set all. An image that is not in memory is read once more.
func (q *Question) evenly(i image, n int64) ([]float64, error) {
	if i.even != nil {
		return i.even, nil
	}
	src := i.Source
	if _, whole := src.(*grid.Field); !whole {
		var err error
		if src, err = OpenMasked(q.memory(), i.name, i.mask, element.Ranks{}); err != nil {
			return nil, Usage(err)
		}
		defer grid.Close(src)
	}
	least, greatest, err := RangeWithin(src)
	if err != nil {
		return nil, err
	}
	return q.between(grid.LabelsOf(src), least, greatest, n)
}

// between is evenly for the least and the greatest value of an image.
func (q *Question) between(labels *grid.Labels, least, greatest float32, n int64) ([]float64, error) {
	if n < 1 || n > mostEven {
		return nil, Usagef("--levels %d: want 1 to %d", n, mostEven)
	}
	lo, hi := labels.Float64(least), labels.Float64(greatest)
	outside, last := 1, math.Inf(1)
	if q.Superlevel {
		outside, last = -1, math.Inf(-1)
	}
	if labels.Compare(least, grid.Numbers(lo)[0]) == outside {
		lo = math.Nextafter(lo, last)
	}
	if labels.Compare(greatest, grid.Numbers(hi)[0]) == outside {
		hi = math.Nextafter(hi, last)
	}
	if n == 1 || least == greatest {
		return []float64{hi}, nil
	}
	values := make([]float64, 0, n)
	for i := range n {
		part := float64(i) / float64(n-1)
		v := min(float64((1-part)*lo)+float64(part*hi), hi)
		if len(values) == 0 || v > values[len(values)-1] {
			values = append(values, v)
		}
	}
	if int64(len(values)) < n && labels != nil && labels.Kind() != "<f8" {
		return nil, Usagef("%s: %d evenly spaced levels from %s to %s need more digits than float64 has; leave --levels out",
			q.Shown, n, labels.Append(nil, least), labels.Append(nil, greatest))
	}
	return values, nil
}

// RangeWithin returns the least and the greatest value of the voxels inside an image.
func RangeWithin(src grid.Source) (least, greatest float32, err error) {
	if src.Type() != grid.Float32 {
		return grid.Range(src, grid.Whole(src))
	}
	least, greatest = float32(math.Inf(1)), float32(math.Inf(-1))
	err = grid.EachSlab(src, func(slab []byte, _, _ int64) error {
		for _, v := range grid.Values[float32](slab) {
			if v <= math.MaxFloat32 { // larger values are outside the image
				least, greatest = min(least, v), max(greatest, v)
			}
		}
		return nil
	})
	if err == nil && least > greatest {
		err = Usagef("no voxel is part of the image, which has no levels then")
	}
	return least, greatest, err
}
