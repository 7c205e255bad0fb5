package cli

import (
	"strconv"

	"eccbench/datasets"
	"eccbench/internal/grid"
)

// blockBytes is the size of the repeated block of a large image. It is larger than the caches of a
// machine, and generating it takes about a second.
const blockBytes = 1 << 30

// MostRotating bounds the images of a cell. A worker keeps all of them in memory.
const MostRotating = 1000

// Repeated replaces generated images that do not fit in memory by images that repeat their first
// slices. The argument together is the number of images that are in memory at the same time. A
// repeated image is stored once and read repeatedly.
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

// period returns the number of slices with about blockBytes, at most most. If possible, it ends at
// a boundary of a large page of memory, else of a small page. It returns 0 if there is no such
// number.
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
