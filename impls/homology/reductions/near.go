package reductions

import (
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/simplicial"
)

// An incidence is the given simplices of a complex in one list, and those around each vertex.
type incidence struct {
	k             int      // vertices of each simplex, 0 where they differ
	of            []int    // where those of each begin, and the end; nil where they are as many
	all           []uint32 // vertices
	first, around []uint32
}

// mostCores is how many count simplices around vertices, each in a list of its own.
const mostCores = 16

func incident(c *simplicial.Complex, cores int) *incidence {
	n, i := int(c.Given()), &incidence{}
	for d, tops := range c.Tops {
		if len(tops) == n*(d+1) {
			i.k, i.all = d+1, tops
		}
	}
	if i.k == 0 {
		i.of = make([]int, 0, n+1)
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
	crew.Each(cores, func(core int) {
		count := make([]uint32, c.Vertices)
		for s := n * core / cores; s < n*(core+1)/cores; s++ {
			for _, v := range i.vertices(uint32(s)) {
				count[v]++
			}
		}
		next[core] = count
	})
	i.first = make([]uint32, c.Vertices+1)
	at := uint32(0)
	for v := range c.Vertices {
		i.first[v] = at
		for _, next := range next {
			at, next[v] = at+next[v], at
		}
	}
	i.first[c.Vertices] = at
	i.around = make([]uint32, len(i.all))
	crew.Each(cores, func(core int) {
		next := next[core]
		for s := n * core / cores; s < n*(core+1)/cores; s++ {
			for _, v := range i.vertices(uint32(s)) {
				i.around[next[v]] = uint32(s)
				next[v]++
			}
		}
	})
	return i
}

func (i *incidence) vertices(s uint32) []uint32 {
	if i.k > 0 {
		return i.all[int(s)*i.k:][:i.k]
	}
	return i.all[i.of[s]:i.of[s+1]]
}

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

// several is from how many vertices the search goes on at a time. What it comes to is the same as
// one by one, but the simplices and their vertices are anywhere in memory, and a processor waits
// for many at a time where one does not hang on the other.
const several = 64

// near is the complex with its vertices numbered breadth first, and its simplices in the order in
// which they are met on the way, so that what is reduced together is close in memory.
func near(c *simplicial.Complex, cores int) *simplicial.Complex {
	const none = ^uint32(0)
	i := incident(c, cores)
	number := slices.Repeat([]uint32{none}, c.Vertices)
	seen := make([]uint64, (c.Given()+63)/64)
	out := &simplicial.Complex{Tops: make([][]uint32, len(c.Tops)), Vertices: c.Vertices}
	for d, tops := range c.Tops {
		out.Tops[d] = make([]uint32, 0, len(tops))
	}
	queue := make([]uint32, 0, c.Vertices)
	var met, ends, vertices []uint32
	for start := range number {
		if number[start] != none {
			continue
		}
		number[start] = uint32(len(queue))
		queue = append(queue, uint32(start))
		for at := len(queue) - 1; at < len(queue); {
			from := queue[at:min(at+several, len(queue))]
			at += len(from)
			met, vertices, ends = met[:0], vertices[:0], ends[:0]
			for _, v := range from {
				around := i.at(v)
				met = slices.Grow(met, len(around))
				list := met[:len(met)+len(around)]
				n := len(met)
				for _, s := range around {
					list[n] = s
					n += int(^seen[s/64] >> (s % 64) & 1) // no branch, which would be as likely as not
					seen[s/64] |= 1 << (s % 64)
				}
				met = list[:n]
			}
			for _, s := range met {
				vertices = append(vertices, i.vertices(s)...)
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
	return out
}
