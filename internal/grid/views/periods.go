package views

import "eccbench/internal/grid"

// OverPeriods computes a quantity of a source without reading every repetition. The argument of
// computes the quantity of a part: a sum over slices and pairs of adjacent slices, plus terms of the
// first and last slice. add adds a value to the sum the given number of times, possibly negative.
// The sum starts at the zero T.
func OverPeriods[T any](
	s grid.Source, of func(grid.Source) (T, error), add func(sum *T, said T, times int64),
) (T, error) {
	var sum T
	for _, p := range parts(s) {
		said, err := of(p.viewOf(s))
		if err != nil {
			return sum, err
		}
		add(&sum, said, p.times)
	}
	return sum, nil
}

// LookedAt returns the number of voxels that OverPeriods reads.
func LookedAt(s grid.Source) int64 {
	slices := int64(0)
	for _, p := range parts(s) {
		slices += p.hi - p.lo
	}
	return slices * s.Shape().SliceVoxels()
}

// A part is slices lo ≤ i < hi of a source with a factor.
type part struct{ lo, hi, times int64 }

// parts decomposes a source into slabs with factors. Without a period, the source is the only part.
// With period p there are n = r + q·p slices. The parts are a slab of r slices, and q times the
// difference of two slabs whose lengths differ by p. The slab of r slices may be replaced by the
// slab of p + 2 slices minus the rest. A part never is a single plane of a 3D image, because that
// would be a 2D image.
func parts(s grid.Source) []part {
	n, p := s.Shape().Slices(), grid.Period(s)
	if p == 0 {
		return []part{{0, n, 1}}
	}
	r := (n-2)%p + 2
	q := (n - r) / p
	list := []part{{0, p + 2, q}, {0, 2, -q}}
	if beyond := p + 2 - r; r <= beyond+4 {
		list = append(list, part{0, r, 1})
	} else {
		list[0].times++
		if beyond > 0 {
			list = append(list, part{r - 2, p + 2, -1}, part{r - 2, r, 1})
		}
	}
	slices := int64(0)
	for _, p := range list {
		slices += p.hi - p.lo
	}
	if slices >= n {
		return []part{{0, n, 1}}
	}
	return list
}

// viewOf returns the part of a source.
func (p part) viewOf(s grid.Source) grid.Source {
	if p.lo == 0 && p.hi == s.Shape().Slices() {
		return s
	}
	return Crop(s, p.lo, p.hi)
}
