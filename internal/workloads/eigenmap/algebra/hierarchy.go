package algebra

import "eccbench/internal/crew"

// A Hierarchy is the graph of voxels and ever coarser graphs. A node of the next graph is two pairs
// along the heaviest links (Notay 2010). A cycle of Gauss–Seidel sweeps approximates the inverse of
// D − W + shift·M. It is a linear, symmetric and positive definite operator.
type Hierarchy struct {
	rungs []*rung
	last  *Band // LDLᵀ of the last graph, nil if it is large
}

// A network is a graph with a mass for each node. Links are in rows, and both ends have them.
type network struct {
	first  []int32 // link of each node, and the end
	to     []int32
	weight []float32
	mass   []float64
}

// A rung is a network of a hierarchy, with the next one. The links of each node are in three runs:
// to earlier nodes of its part, to later ones, and to other parts. Parts are swept in parallel, and
// use the values of other parts from before the sweep.
type rung struct {
	*network
	parts       int
	later, rest []int32   // first link of the second and third run
	diagonal    []float64 // sum of the links, plus shift times the mass

	into      []int32 // node of the next network
	kids      []int32 // nodes in the order of the next network's
	firstKid  []int32
	right     []float64 // right-hand side
	x, before []float64 // solution, and the solution before a sweep
}

const (
	// mostFactored is the size up to which a matrix is factored.
	mostFactored = 512
	// A network of at least sweptNodes is swept in sweptParts.
	sweptParts, sweptNodes = 8, 1 << 13
)

// NewHierarchy makes the hierarchy of a graph with a mass for each node. row calls f with all
// neighbours of a node and their weights; links is the expected number of these calls for all nodes.
func NewHierarchy(mass []float64, links int, row func(i int, f func(j int, w float64)), shift float64) *Hierarchy {
	n := len(mass)
	a := &network{make([]int32, 1, n+1), make([]int32, 0, links), make([]float32, 0, links), mass}
	for i := range n {
		row(i, func(j int, w float64) {
			if w := float32(w); w > 0 {
				a.to, a.weight = append(a.to, int32(j)), append(a.weight, w)
			}
		})
		a.first = append(a.first, int32(len(a.to)))
	}
	h := &Hierarchy{}
	for {
		n := len(a.mass)
		if n <= mostFactored {
			r := newRung(a, nil, 0, shift)
			h.rungs, h.last = append(h.rungs, r), r.factor()
			return h
		}
		pairs, into := a.merge()
		b, further := pairs.merge()
		for i, c := range into {
			into[i] = further[c]
		}
		if h.rungs = append(h.rungs, newRung(a, into, len(b.mass), shift)); len(b.mass) > n*3/4 {
			return h // nodes without links remain
		}
		a = b
	}
}

// merge returns the network of pairs along the heaviest links, and the pair of each node. A link far
// below the heaviest one of its node, such as from a cluster to the next, makes no pair.
func (a *network) merge() (b *network, into []int32) {
	n := len(a.mass)
	into = make([]int32, n)
	for i := range into {
		into[i] = -1
	}
	var pairs [][2]int32 // a single node twice
	for i := range n {
		if into[i] >= 0 {
			continue
		}
		const least = 1. / 8
		mate, most := int32(i), float32(0)
		for _, w := range a.weight[a.first[i]:a.first[i+1]] {
			most = max(most, least*w)
		}
		for k := a.first[i]; k < a.first[i+1]; k++ {
			if j := a.to[k]; into[j] < 0 && a.weight[k] > most {
				mate, most = j, a.weight[k]
			}
		}
		into[i], into[mate] = int32(len(pairs)), int32(len(pairs))
		pairs = append(pairs, [2]int32{int32(i), mate})
	}
	b = &network{first: make([]int32, 1, len(pairs)+1), mass: make([]float64, len(pairs))}
	place := make([]int32, len(pairs)) // of the link to a pair, plus one
	for c, pair := range pairs {
		begin := int32(len(b.to))
		for m, i := range pair {
			if m == 1 && i == pair[0] {
				break
			}
			b.mass[c] += a.mass[i]
			for k := a.first[i]; k < a.first[i+1]; k++ {
				j := into[a.to[k]]
				if int(j) == c {
					continue
				}
				if place[j] <= begin {
					b.to, b.weight = append(b.to, j), append(b.weight, 0)
					place[j] = int32(len(b.to))
				}
				b.weight[place[j]-1] += a.weight[k]
			}
		}
		// Both ends of a link have the same bits.
		for k, j := range b.to[begin:] {
			if int(j) > c {
				continue
			}
			for m := b.first[j]; m < b.first[j+1]; m++ {
				if int(b.to[m]) == c {
					b.weight[int(begin)+k] = b.weight[m]
				}
			}
		}
		b.first = append(b.first, int32(len(b.to)))
	}
	return b, into
}

func newRung(a *network, into []int32, next int, shift float64) *rung {
	n := len(a.mass)
	r := &rung{network: a, parts: 1, later: make([]int32, n), rest: make([]int32, n), diagonal: make([]float64, n),
		into: into, kids: make([]int32, len(into)), firstKid: make([]int32, next+1),
		right: make([]float64, n), x: make([]float64, n), before: make([]float64, n)}
	if n >= sweptNodes {
		r.parts = sweptParts
	}
	r.eachPart(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, end := a.first[i], a.first[i+1]
			r.diagonal[i] = shift * a.mass[i]
			for _, w := range a.weight[at:end] {
				r.diagonal[i] += float64(w)
			}
			move := func(from, below int) int32 { // links to these nodes come next
				for k := at; k < end; k++ {
					if j := int(a.to[k]); from <= j && j < below {
						a.to[at], a.to[k] = a.to[k], a.to[at]
						a.weight[at], a.weight[k] = a.weight[k], a.weight[at]
						at++
					}
				}
				return at
			}
			r.later[i], r.rest[i] = move(lo, i), move(i, hi)
		}
	})
	for _, c := range into {
		r.firstKid[c+1]++
	}
	for c := range next {
		r.firstKid[c+1] += r.firstKid[c]
	}
	at := append([]int32(nil), r.firstKid...)
	for i, c := range into {
		r.kids[at[c]] = int32(i)
		at[c]++
	}
	return r
}

// eachPart calls f with the nodes of each part, in parallel.
func (r *rung) eachPart(f func(lo, hi int)) {
	n := len(r.mass)
	if r.parts == 1 {
		f(0, n)
		return
	}
	crew.Each(r.parts, func(k int) { f(n*k/r.parts, n*(k+1)/r.parts) })
}

// factor returns LDLᵀ of the matrix.
func (r *rung) factor() *Band {
	n := len(r.mass)
	b := NewBand(n, n-1)
	for i := range n {
		b.Add(i, i, r.diagonal[i])
		for k := r.first[i]; k < r.later[i]; k++ {
			b.Add(i, int(r.to[k]), -float64(r.weight[k]))
		}
	}
	if negative, _, err := b.Factor(0); err != nil || negative > 0 {
		return nil
	}
	return b
}

// Finest returns the right-hand side that Cycle reads, the solution that it sets, and the diagonal of the
// matrix.
func (h *Hierarchy) Finest() (right, x, diagonal []float64) {
	r := h.rungs[0]
	return r.right, r.x, r.diagonal
}

// Cycle sets the solution of the finest graph to an approximate one.
func (h *Hierarchy) Cycle() { h.cycle(0) }

// flow returns the sum of the weights from link lo to hi times the numbers at their ends.
func (a *network) flow(x []float64, lo, hi int32) (sum float64) {
	to := a.to[lo:hi]
	for k, w := range a.weight[lo:hi] {
		sum += float64(w) * x[to[k]]
	}
	return sum
}

// cycle sets x of rung l to an approximate solution of its right-hand side: a sweep forwards, the
// solution of the next rung for the rest, and a sweep backwards. If the next rung is much smaller,
// it has two cycles, except on the finest rung.
func (h *Hierarchy) cycle(l int) {
	r := h.rungs[l]
	if h.last != nil && l == len(h.rungs)-1 {
		copy(r.x, r.right)
		h.last.Solve(r.x)
		return
	}
	r.eachPart(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r.x[i] = (r.right[i] + r.flow(r.x, r.first[i], r.later[i])) / r.diagonal[i]
		}
	})
	if l+1 < len(h.rungs) {
		next, residual := h.rungs[l+1], r.before
		r.eachPart(func(lo, hi int) {
			for i := lo; i < hi; i++ {
				residual[i] = r.flow(r.x, r.later[i], r.first[i+1])
			}
		})
		next.eachPart(func(lo, hi int) {
			for c := lo; c < hi; c++ {
				next.right[c] = 0
				for _, i := range r.kids[r.firstKid[c]:r.firstKid[c+1]] {
					next.right[c] += residual[i]
				}
			}
		})
		h.solve(l + 1)
	}
	r.eachPart(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if l+1 < len(h.rungs) {
				r.x[i] += h.rungs[l+1].x[r.into[i]]
			}
			r.before[i] = r.x[i]
		}
	})
	r.eachPart(func(lo, hi int) {
		for i := hi - 1; i >= lo; i-- {
			sum := r.right[i] + r.flow(r.x, r.first[i], r.rest[i]) + r.flow(r.before, r.rest[i], r.first[i+1])
			r.x[i] = sum / r.diagonal[i]
		}
	})
}

// solve sets x of a coarse rung by one cycle, or by two if that is cheap: not on the largest one.
func (h *Hierarchy) solve(l int) {
	r := h.rungs[l]
	h.cycle(l)
	if l == 1 || l+1 == len(h.rungs) || 3*len(r.mass) > len(h.rungs[l-1].mass) {
		return
	}
	first := append([]float64(nil), r.x...)
	r.eachPart(func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r.right[i] += r.flow(first, r.first[i], r.first[i+1]) - r.diagonal[i]*first[i]
		}
	})
	h.cycle(l)
	for i, v := range first {
		r.x[i] += v
	}
}
