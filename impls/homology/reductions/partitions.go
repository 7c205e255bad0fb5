package reductions

import (
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// Partitions is ready to use as its zero value.
type Partitions struct{}

// About describes the method.
func (Partitions) About() bench.About {
	return bench.About{
		Name: "partitions", Where: "cpu",
		Method: "algebraic reductions of a part of the complex on each core, then of the rest on one; parts by " +
			"recursive bisection; over Z/2",
		Source: "Murty 2013, section 4.2, algorithm 1",
		Scopes: []bench.Scope{bench.E2E, bench.File}, Options: options(),
	}
}

// CanDo rejects other rings, and a complex that needs more time or memory than the conditions
// allow.
func (Partitions) CanDo(p *homology.Problem, c bench.Conditions) error { return canDo(p, c) }

// Setup binds the method to a complex, with one part per core.
func (Partitions) Setup(in *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	return newJob(in, c, max(1, c.Threads)), nil
}

// between is the owner of a simplex between parts.
const between = -1

// owners returns for each simplex the part that contains it. A vertex is shared if given simplices
// of several parts meet there. A simplex is between parts if all its vertices are shared; its other
// vertices all belong to the same part.
func owners(f *simplicial.Faces, c *simplicial.Complex, parts int) [][]int32 {
	vertex := slices.Repeat([]int32{unused}, c.Vertices)
	part := bisect(c, parts)
	at := 0
	for d, tops := range c.Tops {
		for s := 0; s < len(tops); s += d + 1 {
			for _, v := range tops[s : s+d+1] {
				switch {
				case vertex[v] == unused:
					vertex[v] = part[at]
				case vertex[v] != part[at]:
					vertex[v] = between
				}
			}
			at++
		}
	}
	owner := make([][]int32, len(f.Vertices))
	for d, vertices := range f.Vertices {
		owner[d] = slices.Repeat([]int32{between}, len(vertices)/(d+1))
		for i, v := range vertices {
			if vertex[v] != between {
				owner[d][i/(d+1)] = vertex[v]
			}
		}
	}
	return owner
}

// unused is the owner of a vertex in no simplex.
const unused = -2

// bisect assigns each given simplex to a part. It sorts the simplices breadth first and divides
// them in two, then does the same with both halves. Parts have about the same size.
func bisect(c *simplicial.Complex, parts int) []int32 {
	n := int(c.Given())
	part := make([]int32, n)
	in := simplicial.NewIncidence(nil, c, parts)
	list := make([]uint32, n)
	for i := range list {
		list[i] = uint32(i)
	}
	seen := make([]int32, n) // the cut in which a simplex was last seen
	vertexSeen := make([]int32, c.Vertices)
	cuts := int32(0)
	var cut func(list []uint32, lo, hi int32)
	cut = func(list []uint32, lo, hi int32) {
		for _, s := range list {
			part[s] = lo
		}
		if hi-lo == 1 {
			return
		}
		// Two breadth-first searches; the second starts where the first ended.
		order := make([]uint32, 0, len(list))
		start := list
		for range 2 {
			cuts++
			order = order[:0]
			for _, from := range start {
				if seen[from] == cuts {
					continue
				}
				seen[from] = cuts
				order = append(order, from)
				for at := len(order) - 1; at < len(order); at++ {
					s := order[at]
					for _, v := range in.Simplex(s) {
						if vertexSeen[v] == cuts {
							continue
						}
						vertexSeen[v] = cuts
						for _, t := range in.Around(v) {
							if part[t] == lo && seen[t] != cuts {
								seen[t] = cuts
								order = append(order, t)
							}
						}
					}
				}
			}
			start = slices.Clone(order)
			slices.Reverse(start)
		}
		middle := (lo + hi) / 2
		split := len(order) * int(middle-lo) / int(hi-lo)
		// The second half first, because a cut finds its simplices by their current part.
		cut(order[split:], middle, hi)
		cut(order[:split], lo, middle)
	}
	cut(list, 0, int32(parts))
	return part
}

// among reduces the cells inside each part with faces inside it. Each part has its own core and
// memory. Faces between parts need no lists of cells, because no cell is reduced with them.
func (r *reducer) among(cell, face []int32, parts int, order string) {
	local := make([]uint32, len(face)) // numbers of the faces within their part
	faces := make([]uint32, parts)
	for f, p := range face {
		if p >= 0 {
			local[f] = faces[p]
			faces[p]++
		}
	}
	cells := make([][]uint32, parts)
	for c, p := range cell {
		if p >= 0 && !r.deleted[c] {
			cells[p] = append(cells[p], uint32(c))
		}
	}
	workers := make([]*worker, parts)
	var group crew.Group
	for p := range workers {
		group.Go(func() {
			w := &worker{faceDeleted: r.faceDeleted, deleted: make([]bool, len(cells[p])), local: local,
				owner: face, part: int32(p)}
			w.boundary = r.boundary.selected(cells[p])
			w.coboundary = inverted(nil, w.boundary, int64(faces[p]), nil,
				func(f uint32) (uint32, bool) { return local[f], face[f] == w.part })
			w.all(order)
			workers[p] = w
		})
	}
	group.Wait()
	for p, w := range workers {
		r.longest = max(r.longest, w.longest)
		for i, c := range cells[p] {
			r.deleted[c] = w.deleted[i]
			if !w.deleted[i] {
				r.boundary.set(c, w.boundary.get(uint32(i)))
			}
		}
	}
}
