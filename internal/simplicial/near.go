package simplicial

//lint:file-ignore S1011 append of a slice costs a call

import (
	"math"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/pool"
)

// An Incidence is the given simplices of a complex in one list, and the simplices around each
// vertex.
type Incidence struct {
	k             int      // vertices per simplex, 0 if they differ
	of            []int    // start of each simplex's vertices, and the end; nil if k > 0
	all           []uint32 // vertices
	first, around []uint32
	touched       uint32 // of reads ahead, so that they are done
}

// NewIncidence lists the simplices around each vertex on some cores.
func NewIncidence(p *pool.Pool, c *Complex, cores int) *Incidence {
	n, i := int(c.Given()), &Incidence{}
	for d, tops := range c.Tops {
		if len(tops) == n*(d+1) {
			i.k, i.all = d+1, tops
		}
	}
	if i.k == 0 {
		for d, tops := range c.Tops {
			for s := 0; s < len(tops); s += d + 1 {
				i.of = append(i.of, len(i.all)+s)
			}
			i.all = append(i.all, tops...)
		}
		i.of = append(i.of, len(i.all))
	}
	cores = min(cores, mostCores)
	next := make([][]uint32, cores)
	for core := range next {
		next[core] = pool.Zeros[uint32](p, c.Vertices)
	}
	crew.Each(cores, func(core int) {
		count := next[core]
		for s := n * core / cores; s < n*(core+1)/cores; s++ {
			for _, v := range i.Simplex(uint32(s)) {
				count[v]++
			}
		}
	})
	i.first = pool.Take[uint32](p, c.Vertices+1)
	crew.Starts(next, i.first)
	i.around = pool.Take[uint32](p, len(i.all))
	crew.Each(cores, func(core int) {
		next := next[core]
		for s := n * core / cores; s < n*(core+1)/cores; s++ {
			for _, v := range i.Simplex(uint32(s)) {
				i.around[next[v]] = uint32(s)
				next[v]++
			}
		}
	})
	for _, next := range next {
		pool.Give(p, next)
	}
	return i
}

// Simplex returns the vertices of a given simplex.
func (i *Incidence) Simplex(s uint32) []uint32 {
	if i.k > 0 {
		return i.all[int(s)*i.k:][:i.k]
	}
	return i.all[i.of[s]:i.of[s+1]]
}

// Around returns the given simplices that have a vertex.
func (i *Incidence) Around(v uint32) []uint32 { return i.around[i.first[v]:i.first[v+1]] }

// Scattered reports whether the vertex numbers of a simplex usually differ much, as in a mesh whose
// vertices were numbered at random.
func Scattered(c *Complex) bool {
	const looks, far = 1 << 12, 8 // far: 1/8 of the number of vertices
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

// leastAround returns the vertex with the fewest simplices, or −1. It is usually at an end of the
// complex. A search from there has smaller fronts than one from the middle.
func (i *Incidence) leastAround() int {
	at, least := -1, uint32(math.MaxUint32)
	for v := range len(i.first) - 1 {
		if n := i.first[v+1] - i.first[v]; n > 0 && n < least {
			at, least = v, n
		}
	}
	return at
}

// several is the number of vertices from which the search continues together. The result is the
// same as for one vertex at a time. But the simplices and their vertices are scattered in memory,
// and a processor can overlap independent cache misses.
const several = 64

// NumberBreadthFirst numbers the vertices breadth first, and sorts the simplices in the order of
// the search. So simplices that are reduced together are close in memory. The complex keeps the
// numbers for Numbers.
func NumberBreadthFirst(p *pool.Pool, c *Complex, cores int) *Complex {
	const none = ^uint32(0)
	i := NewIncidence(p, c, cores)
	number := pool.Take[uint32](p, c.Vertices)
	for v := range number {
		number[v] = none
	}
	seen := pool.Zeros[uint64](p, int(c.Given()+63)/64)
	out := &Complex{Tops: make([][]uint32, len(c.Tops)), Vertices: c.Vertices}
	for d, tops := range c.Tops {
		out.Tops[d] = pool.Take[uint32](p, len(tops))[:0]
	}
	queue := pool.Take[uint32](p, c.Vertices)[:0]
	var met, ends, vertices []uint32
	for at := -1; at < len(number); at++ {
		start := at
		if at < 0 {
			start = i.leastAround()
		}
		if start < 0 || number[start] != none {
			continue
		}
		number[start] = uint32(len(queue))
		queue = append(queue, uint32(start))
		for at := len(queue) - 1; at < len(queue); {
			from := queue[at:min(at+several, len(queue))]
			at += len(from)
			met, vertices, ends = i.unseen(met[:0], from, seen), vertices[:0], ends[:0]
			for _, s := range met { // read ahead
				i.touched += i.Simplex(s)[0]
			}
			for _, s := range met {
				for _, v := range i.Simplex(s) {
					vertices = append(vertices, v)
				}
				ends = append(ends, uint32(len(vertices)))
			}
			begin := uint32(0)
			for _, end := range ends {
				v := vertices[begin:end]
				begin = end
				for k, w := range v {
					if number[w] == none {
						number[w] = uint32(len(queue))
						queue = append(queue, w)
					}
					v[k] = number[w]
				}
				out.Tops[len(v)-1] = append(out.Tops[len(v)-1], v...)
			}
		}
	}
	kept := slices.Clone(number)
	c.numbers.Store(&kept)
	for _, v := range [][]uint32{i.first, i.around, number, queue} {
		pool.Give(p, v)
	}
	pool.Give(p, seen)
	return out
}

// unseen appends the simplices around up to several vertices that are not in seen, and adds them to
// it. It reads the ends of all lists around vertices first, because these cache misses overlap.
func (i *Incidence) unseen(list, vertices []uint32, seen []uint64) []uint32 {
	var all [several][]uint32
	for k, v := range vertices {
		all[k] = i.Around(v)
	}
	for _, around := range all[:len(vertices)] {
		if last := len(around) - 1; last >= 0 {
			i.touched += around[0] ^ around[last]
		}
	}
	for _, around := range all[:len(vertices)] {
		list = slices.Grow(list, len(around))
		n := len(list)
		list = list[:n+len(around)]
		for _, s := range around {
			list[n] = s
			n += int(^seen[s/64] >> (s % 64) & 1) // branch-free, because the outcome is unpredictable
			seen[s/64] |= 1 << (s % 64)
		}
		list = list[:n]
	}
	return list
}

// Numbers returns the numbers of the vertices from the last call of NumberBreadthFirst, or calls it.
func (c *Complex) Numbers(cores int) []uint32 {
	if c.numbers.Load() == nil {
		NumberBreadthFirst(nil, c, cores)
	}
	return *c.numbers.Load()
}
