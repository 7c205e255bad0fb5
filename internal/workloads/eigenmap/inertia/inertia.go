// Package inertia counts the eigenvalues of the Laplacian of a graph of voxels below a shift. By
// Sylvester's law of inertia this is the number of negative pivots of LDLᵀ. Nodes are numbered by
// nested dissection of the box (George 1973), and fronts are dense (Duff and Reid 1983), so L is
// not stored. The factors give a bound of the rounding.
package inertia

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/internal/crew"
)

// A Graph is weights between voxels of a box, for the eigenvalue problem
//
//	(D − W)u = λMu
//
// with D and M diagonal.
type Graph struct {
	Size   [3]int // along x, y and z; x is the fastest
	Square int    // the largest squared distance of neighbours
	Degree []float64
	Mass   []float64
	Row    func(i int, f func(j int, weight float64)) // calls f with each neighbour of a node
}

// A box is voxels lo ≤ x < hi.
type box struct{ lo, hi [3]int }

func (b box) nodes() int { return (b.hi[0] - b.lo[0]) * (b.hi[1] - b.lo[1]) * (b.hi[2] - b.lo[2]) }

// fewNodes is the largest number of nodes of a box that one front eliminates.
const fewNodes = 64

// cut divides a box by layers of pivots across its longest axis, so that no node on one side has a
// neighbour on the other. It returns false if the box is too small.
func (b box) cut(reach int) (before, pivots, behind box, ok bool) {
	a := 0
	for k := range 3 {
		if b.hi[k]-b.lo[k] > b.hi[a]-b.lo[a] {
			a = k
		}
	}
	n := b.hi[a] - b.lo[a]
	if b.nodes() <= fewNodes || n < reach+2 {
		return b, b, b, false
	}
	before, pivots, behind = b, b, b
	pivots.lo[a] = b.lo[a] + (n-reach)/2
	pivots.hi[a] = pivots.lo[a] + reach
	before.hi[a], behind.lo[a] = pivots.lo[a], pivots.hi[a]
	return before, pivots, behind, true
}

// reach returns the largest distance of a neighbour along an axis.
func reach(square int) (r int) {
	for (r+1)*(r+1) <= square && square != corners {
		r++
	}
	return max(r, 1)
}

// corners is the squared distance of voxels that touch.
const corners = 3

// eachNeighbour calls f with the nodes outside a box that have neighbours inside.
func (b box) eachNeighbour(size [3]int, square int, f func(node int)) {
	r := reach(square)
	var lo, hi [3]int
	for a := range lo {
		lo[a], hi[a] = max(0, b.lo[a]-r), min(size[a], b.hi[a]+r)
	}
	apart := func(a, x int) int { return max(0, b.lo[a]-x, x-b.hi[a]+1) }
	for z := lo[2]; z < hi[2]; z++ {
		for y := lo[1]; y < hi[1]; y++ {
			across := apart(2, z)*apart(2, z) + apart(1, y)*apart(1, y)
			for x := lo[0]; x < hi[0]; x++ {
				if across == 0 && x == b.lo[0] {
					x = b.hi[0] // skip the nodes within
					if x >= hi[0] {
						break
					}
				}
				if d := across + apart(0, x)*apart(0, x); d <= square {
					f((z*size[1]+y)*size[0] + x)
				}
			}
		}
	}
}

// eachNode calls f with the nodes of a box.
func (b box) eachNode(size [3]int, f func(node int)) {
	for z := b.lo[2]; z < b.hi[2]; z++ {
		for y := b.lo[1]; y < b.hi[1]; y++ {
			for x := b.lo[0]; x < b.hi[0]; x++ {
				f((z*size[1]+y)*size[0] + x)
			}
		}
	}
}

// A remainder is the remaining matrix after all nodes of a box are eliminated.
type remainder struct {
	nodes  []int     // nodes with neighbours in the box
	values triangle  // to add to their matrix
	sizes  []float64 // row sums of |L||D||Lᵀ| so far
	chain  int       // largest number of successive roundings of a number
}

// A count is one elimination.
type count struct {
	Graph
	shift    float64
	threads  int
	free     chan struct{} // one per box that can run in parallel
	spaces   sync.Pool     // of *workspace
	negative atomic.Int64
	mutex    sync.Mutex
	moved    float64
}

// Count returns the number of eigenvalues below a shift, and a bound on their error by rounding. The pivots belong to
// D − W − shift·M + E, where each entry of E is at most γ times that of |L|·|D|·|Lᵀ| (Higham 2002, theorem 10.3). So
// |uᵀEu| is at most moved·uᵀMu.
func (g Graph) Count(shift float64, threads int) (n int, moved float64, err error) {
	c := &count{Graph: g, shift: shift, threads: threads, free: make(chan struct{}, threads-1)}
	c.spaces.New = func() any { return &workspace{place: make([]int32, len(g.Degree))} }
	if _, err := c.eliminate(box{hi: g.Size}); err != nil {
		return 0, math.Inf(1), err
	}
	return int(c.negative.Load()), c.moved, nil
}

// eliminate eliminates all nodes of a box.
func (c *count) eliminate(b box) (remainder, error) {
	before, pivots, behind, ok := b.cut(reach(c.Square))
	var parts []remainder
	if ok {
		var err error
		if parts, err = c.eliminateBoth(before, behind); err != nil {
			return remainder{}, err
		}
	}
	var nodes []int
	pivots.eachNode(c.Size, func(node int) { nodes = append(nodes, node) })
	p := len(nodes)
	b.eachNeighbour(c.Size, c.Square, func(node int) { nodes = append(nodes, node) })
	w := c.spaces.Get().(*workspace)
	defer c.spaces.Put(w)
	f, sizes, chain, place := w.newFront(p, len(nodes)-p), make([]float64, len(nodes)), 0, w.place
	for k, node := range nodes {
		place[node] = int32(k + 1)
	}
	for k, node := range nodes[:p] {
		f.add(k, k, c.Degree[node]-c.shift*c.Mass[node])
		c.Row(node, func(j int, weight float64) {
			if at := int(place[j]) - 1; at >= p || at > k { // others are eliminated or already added
				f.add(at, k, -weight)
			}
		})
	}
	for _, part := range parts {
		part.addTo(f, sizes, place)
		w.keep(part.values.values)
		chain = max(chain, part.chain+len(parts))
	}
	for _, node := range nodes {
		place[node] = 0
	}
	threads := c.threads
	if b.nodes()*2 <= len(c.Degree) { // others are eliminated in parallel
		threads = max(1, threads/2)
	}
	if err := f.factor(threads); err != nil {
		return remainder{}, err
	}
	f.sizes(sizes)
	chain += p + few
	c.negative.Add(int64(f.negative()))
	c.move(nodes[:p], sizes, chain)
	return remainder{slices.Clone(nodes[p:]), f.update, sizes[p:], chain}, nil
}

// few bounds the roundings of a number outside of sums: for the matrix, a division and the bounds.
const few = 12

// move records the rounding error of rows whose sizes are complete.
func (c *count) move(nodes []int, sizes []float64, chain int) {
	const unit = 1.0 / (1 << 53)
	gamma := 1.01 * float64(chain) * unit
	worst := 0.0
	for k, node := range nodes {
		worst = max(worst, gamma*sizes[k]/c.Mass[node])
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.moved = max(c.moved, worst)
}

// eliminateBoth eliminates two boxes, in parallel if a core is free.
func (c *count) eliminateBoth(before, behind box) ([]remainder, error) {
	parts, errs := make([]remainder, 2), make([]error, 2)
	const least = 1 << 12
	var group crew.Group
	started := false
	if before.nodes() >= least {
		select {
		case c.free <- struct{}{}:
			started = true
			group.Go(func() {
				defer func() { <-c.free }()
				parts[0], errs[0] = c.eliminate(before)
			})
		default:
		}
	}
	if !started {
		parts[0], errs[0] = c.eliminate(before)
	}
	if started || errs[0] == nil {
		parts[1], errs[1] = c.eliminate(behind)
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// addTo adds the remainder of a box to a front.
func (r remainder) addTo(f *front, sizes []float64, place []int32) {
	p, n := f.pivots, len(r.nodes)
	to, columns := make([]int, n), make([]int, n) // columns of pivots are below 0
	for i, node := range r.nodes {
		to[i] = int(place[node]) - 1
		sizes[to[i]] += r.sizes[i]
		if columns[i] = to[i] - p; to[i] >= p {
			columns[i] = f.update.column(to[i] - p)
		}
	}
	for k := 0; k < n; k += block {
		for i := k; i < n; i++ {
			values, row := r.values.row(i, k/block), to[i]
			columns := columns[k:][:len(values)]
			if row < p {
				for j, v := range values {
					f.add(row, to[k+j], v)
				}
				continue
			}
			panel, at := f.panel[row*p:][:p], block*(row-p)
			for j, v := range values { // both borders are in one order
				if c := columns[j]; c >= 0 {
					f.update.values[c+at] += v
				} else {
					panel[c+p] += v
				}
			}
		}
	}
}

// threadBytes bounds the lists that a thread keeps for later fronts, and its lists of nodes.
const threadBytes = 16 << 20

// Cost returns the approximate number of products of a count, and an upper bound of its memory in bytes on a number of
// threads, without the graph. Each thread has the fronts of one box and the remainders on the way to it.
func Cost(size [3]int, square, threads int) (products float64, bytes int64) {
	nodes := int64(size[0]) * int64(size[1]) * int64(size[2])
	products, numbers := cost(box{hi: size}, size, reach(square))
	return products, int64(threads) * (16*numbers + 4*nodes + threadBytes)
}

// half returns the numbers of a triangle of n rows.
func half(n int64) int64 { return n*n/2 + block*n }

// cost returns the products, and the numbers of one thread.
func cost(b box, size [3]int, r int) (products float64, numbers int64) {
	before, pivots, behind, ok := b.cut(r)
	outer := b
	for a := range size {
		outer.lo[a], outer.hi[a] = max(0, b.lo[a]-r), min(size[a], b.hi[a]+r)
	}
	border := int64(outer.nodes() - b.nodes())
	p := int64(pivots.nodes())
	own := (p+border)*p + half(border)
	x, y := float64(p), float64(border)
	products = x*x*x/6 + x*x*y/2 + x*y*y/2
	if !ok {
		return products, own
	}
	one, first := cost(before, size, r)
	two, second := cost(behind, size, r)
	// Both remainders exist when the front is made, and one while the other box is eliminated.
	remains := func(b box) int64 {
		n := int64(1)
		for a := range size {
			n *= int64(min(size[a], b.hi[a]+r) - max(0, b.lo[a]-r))
		}
		return half(n - int64(b.nodes()))
	}
	peak := max(first, second+remains(before))
	return products + one + two, max(peak, own+remains(before)+remains(behind))
}
