package algebra

import (
	"slices"

	"eccbench/internal/crew"
)

// A Hierarchy is the graph of voxels and ever coarser graphs. A node of the next graph is two pairs
// along the heaviest links (Notay 2010). A cycle of Gauss–Seidel sweeps approximates the inverse of
// D − W + shift·M. It is a linear, symmetric and positive definite operator.
type Hierarchy struct {
	rungs []*rung
	last  *Band   // LDLᵀ of the last graph, nil if it is large
	same  []int32 // each node
	sums  [sweptParts]sums
}

// A network is a graph with a mass for each node. Links are in rows, and both ends have them.
type network struct {
	first  []int32 // link of each node, and the end
	to     []int32
	weight []float32
	mass   []float64
}

// A rung is a network of a hierarchy, with the next one. The nodes of its parts are swept in parallel, with the numbers
// of other parts from before the sweep: their nodes with links across have copies behind all nodes. The links of a node
// to earlier nodes of its part come first.
type rung struct {
	*network
	bounds   []int     // first node of each part, and the end
	reach    int       // greatest distance of linked nodes of a part
	later    []int32   // first link of each node to others than earlier nodes of its part
	border   []int32   // nodes with links to other parts
	within   float64   // least share of the diagonal that is not links to other parts
	diagonal []float64 // sum of the links, plus shift times the mass
	inverse  []float64 // of the diagonal

	into     []int32   // node of the next network
	next     []int     // first node of the next network that a part begins
	strays   []int32   // nodes whose node of the next network another part begins
	right, x []float64 // right-hand sides and solutions
}

const (
	// mostFactored is the size up to which a matrix is factored.
	mostFactored = 128
	// A network of at least sweptNodes is swept in sweptParts.
	sweptParts, sweptNodes = 4, 1 << 13
	// sweptNow is the number of nodes of a part that are corrected and swept back together: a core's cache has them.
	sweptNow = 1 << 12
	// over is the multiple of a correction that is added. It is less than 2.
	over = 1.6
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
	h, bounds := &Hierarchy{same: make([]int32, n)}, make([]int, sweptParts+1)
	for i := range h.same {
		h.same[i] = int32(i)
	}
	for k := range bounds {
		bounds[k] = n * k / sweptParts
	}
	for {
		n := len(a.mass)
		if n < sweptNodes {
			bounds = []int{0, n}
		}
		if n <= mostFactored {
			r := newRung(a, bounds, nil, nil, shift)
			h.rungs, h.last = append(h.rungs, r), r.factor()
			return h
		}
		pairs, into, middle := a.merge(bounds)
		b, further, next := pairs.merge(middle)
		for i, c := range into {
			into[i] = further[c]
		}
		if h.rungs = append(h.rungs, newRung(a, bounds, into, next, shift)); len(b.mass) > n*3/4 {
			return h // nodes without links remain
		}
		a, bounds = b, next
	}
}

// merge returns the network of pairs of nodes, the pair of each node, and the first pair that the nodes of each part
// begin.
func (a *network) merge(bounds []int) (b *network, into []int32, first []int) {
	pairs, into, first := a.pair(bounds)
	up, b := a.linkOnce(pairs, into)
	links := 2 * len(up.to) // room for one without any: vector instructions take an address
	b.to, b.weight = make([]int32, links, links+1), make([]float32, links, links+1)
	end := slices.Clone(b.first)
	put := func(i, j int32, w float32) {
		b.to[end[i]], b.weight[end[i]] = j, w
		end[i]++
	}
	for c := range pairs {
		for k := up.first[c]; k < up.first[c+1]; k++ {
			put(int32(c), up.to[k], up.weight[k])
			put(up.to[k], int32(c), up.weight[k])
		}
	}
	return b, into, first
}

// pair returns the pairs of nodes along the heaviest links, a single node twice. A link far below the heaviest one of
// its node, such as from a cluster to the next, makes no pair.
func (a *network) pair(bounds []int) (pairs [][2]int32, into []int32, first []int) {
	n := len(a.mass)
	into = make([]int32, n)
	for i := range into {
		into[i] = -1
	}
	for i := range n {
		for i == bounds[len(first)] {
			first = append(first, len(pairs))
		}
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
	for len(first) < len(bounds) { // the last parts may begin no pair
		first = append(first, len(pairs))
	}
	return pairs, into, first
}

// linkOnce returns the links of pairs, each from the earlier pair, and their network with masses and the places where
// its links begin.
func (a *network) linkOnce(pairs [][2]int32, into []int32) (up, b *network) {
	up = &network{make([]int32, 1, len(pairs)+1), make([]int32, 0, len(a.to)/2), make([]float32, 0, len(a.to)/2), nil}
	b = &network{first: make([]int32, len(pairs)+1), mass: make([]float64, len(pairs))}
	place := make([]int32, len(pairs)) // of the link to a pair, plus one
	for c, pair := range pairs {
		begin := int32(len(up.to))
		for m, i := range pair {
			if m == 1 && i == pair[0] {
				break
			}
			b.mass[c] += a.mass[i]
			for k := a.first[i]; k < a.first[i+1]; k++ {
				j := into[a.to[k]]
				if int(j) <= c {
					continue
				}
				if place[j] <= begin {
					up.to, up.weight = append(up.to, j), append(up.weight, 0)
					place[j] = int32(len(up.to))
					b.first[j+1]++
				}
				up.weight[place[j]-1] += a.weight[k]
			}
		}
		up.first = append(up.first, int32(len(up.to)))
		b.first[c+1] += int32(len(up.to)) - begin
	}
	for c := range pairs {
		b.first[c+1] += b.first[c]
	}
	return up, b
}

func newRung(a *network, bounds []int, into []int32, next []int, shift float64) *rung {
	n := len(a.mass)
	r := &rung{network: a, bounds: bounds, later: make([]int32, n), diagonal: make([]float64, n),
		inverse: make([]float64, n), into: into, next: next, right: make([]float64, Systems*n)}
	across, reach := make([]bool, n), make([]int, len(bounds)) // whether a node has links to other parts
	least := slices.Repeat([]float64{1}, len(bounds))
	r.eachPart(func(part, lo, hi int) {
		for i := lo; i < hi; i++ {
			at, end := a.first[i], a.first[i+1]
			r.diagonal[i] = shift * a.mass[i]
			within := r.diagonal[i]
			for k := at; k < end; k++ {
				r.diagonal[i] += float64(a.weight[k])
				j := int(a.to[k])
				if j < lo || j >= hi {
					across[i] = true
					continue
				}
				if within += float64(a.weight[k]); j < i {
					reach[part] = max(reach[part], i-j)
					a.to[at], a.to[k] = a.to[k], a.to[at]
					a.weight[at], a.weight[k] = a.weight[k], a.weight[at]
					at++
				}
			}
			least[part] = min(least[part], within/r.diagonal[i])
			r.inverse[i], r.later[i] = 1/r.diagonal[i], at
			slices.Reverse(a.to[at:end]) // a sweep back soon needs the solution of the next node
			slices.Reverse(a.weight[at:end])
		}
	})
	r.reach, r.within = slices.Max(reach), slices.Min(least)
	copies := make([]int32, n)
	for i, across := range across {
		if across {
			copies[i] = int32(n + len(r.border))
			r.border = append(r.border, int32(i))
		}
	}
	r.x = make([]float64, Systems*(n+len(r.border)))
	r.eachPart(func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			for k := r.later[i]; across[i] && k < a.first[i+1]; k++ {
				if j := int(a.to[k]); j < lo || j >= hi {
					a.to[k] = copies[j]
				}
			}
		}
	})
	for k, first := range next[:max(0, len(next)-1)] {
		for i := bounds[k]; i < bounds[k+1]; i++ {
			if int(into[i]) < first {
				r.strays = append(r.strays, int32(i))
			}
		}
	}
	return r
}

// eachPart calls f with the number and the nodes of each part, in parallel.
func (r *rung) eachPart(f func(k, lo, hi int)) {
	crew.Each(len(r.bounds)-1, func(k int) { f(k, r.bounds[k], r.bounds[k+1]) })
}

// copyBorder copies the solutions that other parts use, with the corrections of the next rung, if any.
func (r *rung) copyBorder(next *rung) {
	for b, i := range r.border {
		to := at(r.x, len(r.mass)+b)
		if *to = *at(r.x, int(i)); next != nil {
			for s, v := range at(next.x, int(r.into[i])) {
				to[s] += v
			}
		}
	}
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

// Finest returns the right-hand sides that Cycle reads, the solutions that it sets, and the diagonal of the
// matrix. The inverse of a cycle is at most most times the diagonal: at most that of both sweeps alone, which is
// M(M + Mᵀ − A)⁻¹Mᵀ with the matrix M of a sweep forwards. It is at most twice the diagonal, and M + Mᵀ − A at least
// the diagonal without links to other parts.
func (h *Hierarchy) Finest() (right, x, diagonal []float64, most float64) {
	r := h.rungs[0]
	return r.right, r.x, r.diagonal, 4 / r.within
}

// Cycle sets the solutions of the finest graph to approximate ones. It returns the sums of their products with the
// right-hand sides, and of their squares times the diagonal.
func (h *Hierarchy) Cycle() (product, square float64) {
	h.cycle(0)
	for _, own := range h.sums {
		product += Sum(own.products[:])
		square += Sum(own.squares[:])
	}
	return product, square
}

// cycle sets x of rung l to an approximate solution of its right-hand side: a sweep forwards, the
// solution of the next rung for the rest, and a sweep backwards.
func (h *Hierarchy) cycle(l int) {
	r, next := h.rungs[l], (*rung)(nil)
	if h.last != nil && l == len(h.rungs)-1 {
		copy(r.x, r.right)
		h.last.SolveSystems(r.x)
		h.sums[0] = sums{}
		for i, v := range r.x {
			h.sums[0].products[i%Systems] += v * r.right[i]
			h.sums[0].squares[i%Systems] += v * v * r.diagonal[i/Systems]
		}
		return
	}
	r.eachPart(func(_, lo, hi int) { r.sweep(new(sums), lo, hi, false) })
	if l+1 < len(h.rungs) {
		next = h.rungs[l+1]
		r.copyBorder(nil)
		clear(next.right)
		r.eachPart(func(k, lo, hi int) { r.addRows(next.right, r.later, r.into, lo, hi, r.next[k]) })
		for _, i := range r.strays {
			r.addLinks(at(next.right, int(r.into[i])), r.x, r.later[i], r.first[i+1])
		}
		h.solve(l + 1)
	}
	r.copyBorder(next)
	r.eachPart(func(k, lo, hi int) {
		var own sums
		for ready := hi; hi > lo; {
			from := max(lo, hi-sweptNow)
			if need := max(lo, from-r.reach); next != nil && need < ready {
				r.interpolate(next, need, ready)
				ready = need
			}
			r.sweep(&own, from, hi, true)
			hi = from
		}
		h.sums[k] = own
	})
}

// solve sets x of a coarse rung by one cycle, or by two if that is cheap: not on the largest one. Two cycles are at
// most the inverse, and then more of it is a better correction (Braess 1995). It is below twice the inverse, so that
// two cycles for the rung before are positive definite.
func (h *Hierarchy) solve(l int) {
	r := h.rungs[l]
	h.cycle(l)
	if l+1 < len(h.rungs) {
		if l == 1 || 3*len(r.mass) > len(h.rungs[l-1].mass) {
			return
		}
		r.copyBorder(nil)
		r.eachPart(func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				for s, v := range at(r.x, i) {
					at(r.right, i)[s] -= r.diagonal[i] * v
				}
			}
			r.addRows(r.right, r.first, h.same, lo, hi, 0)
		})
		first := append([]float64(nil), r.x...)
		h.cycle(l)
		AddTimes(1, first, r.x)
	}
	for i := range r.x {
		r.x[i] *= over
	}
}
