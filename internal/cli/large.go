package cli

import (
	"strconv"

	"eccbench/datasets"
	"eccbench/internal/grid"
)

// blockBytes is what a large image repeats: more than the caches of a machine hold, and
// made in about a second.
const blockBytes = 1 << 30

// Repeated are the given generated images, but that those repeat their first slices of
// which so many do not fit in memory together: each then stands there once, and is seen
// again and again.
func Repeated(names []string, together, memory int64) ([]string, error) {
	var list []string
	for _, name := range names {
		n, err := datasets.ParseName(name)
		if err != nil {
			return nil, Usage(err)
		}
		src, err := datasets.Open(name)
		if err != nil {
			return nil, Usage(err)
		}
		total, period := grid.TotalBytes(src), period(src, memory/together)
		grid.Close(src)
		if total > memory/together && period > 0 {
			name = n.With("repeat", strconv.FormatInt(period, 10)).String()
		}
		list = append(list, name)
	}
	return list, nil
}

// period is how many slices take about blockBytes, and no more than most, and end with a
// large page of memory, or at least with a small one; 0 where there are none.
func period(s grid.Source, most int64) int64 {
	slice := grid.SliceBytes(s)
	for _, page := range []int64{2 << 20, 4096} {
		step := page / gcd(page, slice)
		if n := max(step, min(blockBytes, most)/slice/step*step); n*slice <= most {
			return n
		}
	}
	return 0
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
