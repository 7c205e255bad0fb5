package reductions

import (
	"slices"

	"eccbench/internal/simplicial"
)

// An incidence is the given simplices of a complex in one list, and those around each vertex.
type incidence struct {
	of            []int    // where the vertices of each simplex begin, and the end
	all           []uint32 // vertices
	first, around []uint32
}

func incident(c *simplicial.Complex) *incidence {
	n := int(c.Given())
	i := &incidence{of: make([]int, 0, n+1)}
	for d, tops := range c.Tops {
		for s := 0; s < len(tops); s += d + 1 {
			i.of = append(i.of, len(i.all)+s)
		}
		if len(i.all) == 0 { // of one dimension alone no copy is made
			i.all = slices.Clip(tops)
		} else {
			i.all = append(i.all, tops...)
		}
	}
	i.of = append(i.of, len(i.all))
	i.first = make([]uint32, c.Vertices+1)
	for _, v := range i.all {
		i.first[v+1]++
	}
	for v := range c.Vertices {
		i.first[v+1] += i.first[v]
	}
	i.around = make([]uint32, len(i.all))
	next := slices.Clone(i.first)
	for s := range n {
		for _, v := range i.vertices(uint32(s)) {
			i.around[next[v]] = uint32(s)
			next[v]++
		}
	}
	return i
}

func (i *incidence) vertices(s uint32) []uint32 { return i.all[i.of[s]:i.of[s+1]] }

func (i *incidence) at(v uint32) []uint32 { return i.around[i.first[v]:i.first[v+1]] }

// scattered reports whether the vertices of a simplex are as a rule far from each other by number,
// as in a mesh whose vertices were numbered at random.
func scattered(c *simplicial.Complex) bool {
	const looks, far = 1 << 12, 8 // of the vertices, one part of so many
	d := c.Dim()
	if d < 1 {
		return false
	}
	tops := c.Tops[d]
	n, sum := len(tops)/(d+1), 0
	step := max(1, n/looks)
	count := 0
	for s := 0; s < n; s += step {
		v := tops[s*(d+1) : (s+1)*(d+1)]
		sum += int(slices.Max(v) - slices.Min(v))
		count++
	}
	return sum/count > c.Vertices/far
}

// near is the complex with its vertices numbered breadth first, and its simplices in the order in
// which they are met on the way, so that what is reduced together is close in memory.
func near(c *simplicial.Complex) *simplicial.Complex {
	const none = ^uint32(0)
	i := incident(c)
	number := slices.Repeat([]uint32{none}, c.Vertices)
	seen := make([]bool, c.Given())
	out := &simplicial.Complex{Tops: make([][]uint32, len(c.Tops)), Vertices: c.Vertices}
	for d, tops := range c.Tops {
		out.Tops[d] = make([]uint32, 0, len(tops))
	}
	queue := make([]uint32, 0, c.Vertices)
	for start := range number {
		if number[start] != none {
			continue
		}
		number[start] = uint32(len(queue))
		queue = append(queue, uint32(start))
		for at := len(queue) - 1; at < len(queue); at++ {
			for _, s := range i.at(queue[at]) {
				if seen[s] {
					continue
				}
				seen[s] = true
				v := i.vertices(s)
				for _, w := range v {
					if number[w] == none {
						number[w] = uint32(len(queue))
						queue = append(queue, w)
					}
				}
				d := len(v) - 1
				for _, w := range v {
					out.Tops[d] = append(out.Tops[d], number[w])
				}
			}
		}
	}
	return out
}
