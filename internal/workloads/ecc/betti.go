package ecc

import (
	"fmt"

	"eccbench/internal/grid"
)

// Betti counts, for every level of a 2D image, the connected components of the
// sublevel set (pixels that share an edge or a corner are connected) and its
// holes: the components of the rest of the plane (connected by edges) but the
// unbounded one. Both are found by union and find over the pixels in the order of
// their levels; no Euler characteristic is used. It holds about 20 bytes for each
// pixel.
func Betti(s grid.Source) (components, holes []int64, err error) {
	shape := s.Shape()
	if shape.Dim() != 2 || shape.Voxels() > 1<<30 {
		return nil, nil, fmt.Errorf("Betti numbers of %v: counts 2D images of at most 2³⁰ pixels", shape)
	}
	data := grid.NewBuffer(grid.TotalBytes(s))
	if err := s.ReadSlab(data, 0, shape.Slices()); err != nil {
		return nil, nil, err
	}
	b := bettiCounter{w: shape.W, h: shape.H, levels: make([]int32, shape.Voxels())}
	grid.NewConverter(s.Type(), s.Ladder()).Convert(b.levels, data)
	b.sort(s.Ladder().Len())
	return b.components(), b.holes(), nil
}

type bettiCounter struct {
	w, h   int64
	levels []int32
	order  []int32 // pixels by level
	first  []int64 // where each level begins in order, and its end
	parent []int32 // of the sets of pixels
}

// sort orders the pixels by level.
func (b *bettiCounter) sort(levels int64) {
	b.first = make([]int64, levels+1)
	for _, k := range b.levels {
		b.first[k+1]++
	}
	for k := range levels {
		b.first[k+1] += b.first[k]
	}
	b.order = make([]int32, len(b.levels))
	at := append([]int64(nil), b.first...)
	for i, k := range b.levels {
		b.order[at[k]] = int32(i)
		at[k]++
	}
}

// find is the root of a set; the way there is halved.
func (b *bettiCounter) find(i int32) int32 {
	for b.parent[i] != i {
		b.parent[i] = b.parent[b.parent[i]]
		i = b.parent[i]
	}
	return i
}

// join makes one set of two, and returns how many sets that leaves less.
func (b *bettiCounter) join(i, j int32) int64 {
	i, j = b.find(i), b.find(j)
	if i == j {
		return 0
	}
	b.parent[j] = i
	return 1
}

const absent = -1

// start makes n sets that are not there yet.
func (b *bettiCounter) start(n int) {
	b.parent = make([]int32, n)
	for i := range b.parent {
		b.parent[i] = absent
	}
}

// components adds the pixels level by level, from the lowest.
func (b *bettiCounter) components() []int64 {
	b.start(len(b.levels))
	list := make([]int64, len(b.first)-1)
	var n int64
	for k := range list {
		for _, i := range b.order[b.first[k]:b.first[k+1]] {
			b.parent[i] = i
			n++
			y, x := int64(i)/b.w, int64(i)%b.w
			for v := max(0, y-1); v <= min(b.h-1, y+1); v++ {
				for u := max(0, x-1); u <= min(b.w-1, x+1); u++ {
					if j := int32(v*b.w + u); b.parent[j] != absent {
						n -= b.join(i, j)
					}
				}
			}
		}
		list[k] = n
	}
	return list
}

// holes adds the pixels above each level, from the highest; the last set is what
// is outside the image.
func (b *bettiCounter) holes() []int64 {
	outside := int32(len(b.levels))
	b.start(len(b.levels) + 1)
	b.parent[outside] = outside
	list := make([]int64, len(b.first)-1)
	var n int64
	for k := len(list) - 1; k >= 0; k-- {
		list[k] = n
		for _, i := range b.order[b.first[k]:b.first[k+1]] {
			b.parent[i] = i
			n++
			y, x := int64(i)/b.w, int64(i)%b.w
			for _, to := range [4][2]int64{{y - 1, x}, {y + 1, x}, {y, x - 1}, {y, x + 1}} {
				j := outside
				if to[0] >= 0 && to[0] < b.h && to[1] >= 0 && to[1] < b.w {
					j = int32(to[0]*b.w + to[1])
				}
				if b.parent[j] != absent {
					n -= b.join(i, j)
				}
			}
		}
	}
	return list
}
