package algebra

import "eccbench/internal/isa"

// Systems is the number of right-hand sides that are solved together. A node has one number for each, one after the
// other.
const Systems = 4

// fast reports whether vector instructions compute them.
var fast = isa.Available(assembled)[0] != isa.Portable && isa.FMA()

type numbers = [Systems]float64

// at returns the numbers of a node.
func at(x []float64, i int) *numbers { return (*numbers)(x[Systems*i:]) }

// Fast reports whether vector instructions compute them.
func Fast() bool { return fast }

// AddFlows adds w(u − v) to the numbers of each node, with a weight for each node.
func AddFlows(to, u, v, weights []float64) {
	if fast {
		addFlowsVector(to, u, v, weights)
		return
	}
	addFlows(to, u, v, weights)
}

func addFlows(to, u, v, weights []float64) {
	for i, w := range weights {
		to, u, v := at(to, i), at(u, i), at(v, i)
		for s := range to {
			to[s] += w * (u[s] - v[s])
		}
	}
}

// AddProducts adds the dot products of y with all systems to sums.
func AddProducts(sums, y, x []float64) {
	done := 0
	if fast {
		done = addProductsVector(sums, y, x)
	}
	addProducts(sums, y[done:], x[Systems*done:])
}

func addProducts(sums, y, x []float64) {
	sum := (*numbers)(sums)
	for i, v := range y {
		for s, x := range at(x, i) {
			sum[s] += v * x
		}
	}
}

// AddMultiples adds multiples of y to all systems.
func AddMultiples(to, y, by []float64) {
	if fast {
		addMultiplesVector(to, y, by)
		return
	}
	addMultiples(to, y, by)
}

func addMultiples(to, y, by []float64) {
	times := *(*numbers)(by)
	for i, v := range y {
		to := at(to, i)
		for s, b := range times {
			to[s] += b * v
		}
	}
}

// addLinks adds the weights from link lo to hi times the numbers at their ends.
func (a *network) addLinks(sum *numbers, x []float64, lo, hi int32) {
	to := a.to[lo:hi]
	for k, w := range a.weight[lo:hi] {
		x, w := at(x, int(to[k])), float64(w)
		sum[0] += w * x[0]
		sum[1] += w * x[1]
		sum[2] += w * x[2]
		sum[3] += w * x[3]
	}
}

// The sums of a sweep are, for each system, the products of the solutions with the right-hand sides, and the squares of
// the solutions times the diagonal.
type sums struct{ products, squares numbers }

// sweep solves the equations of the nodes lo ≤ i < hi in order: forwards with the links to earlier nodes, or back with
// all links. It adds to sums.
func (r *rung) sweep(to *sums, lo, hi int, back bool) {
	first, step, last, end := lo, 1, hi, r.later
	if back {
		first, step, last, end = hi-1, -1, lo-1, r.first[1:]
	}
	if fast {
		r.sweepVector(to, first, step, last, end)
		return
	}
	r.sweepPlain(to, first, step, last, end)
}

func (r *rung) sweepPlain(to *sums, first, step, last int, end []int32) {
	for i := first; i != last; i += step {
		right, x := at(r.right, i), at(r.x, i)
		sum := *right
		r.addLinks(&sum, r.x, r.first[i], end[i])
		for s, v := range sum {
			x[s] = v * r.inverse[i]
			to.products[s] += x[s] * right[s]
			to.squares[s] += x[s] * v
		}
	}
}

// addRows adds the products of the links of nodes lo ≤ i < hi, from their first one on, to the numbers of the nodes in
// into, if these are at least least.
func (r *rung) addRows(to []float64, first, into []int32, lo, hi, least int) {
	if fast {
		r.addRowsVector(to, first, into, lo, hi, least)
		return
	}
	r.addRowsPlain(to, first, into, lo, hi, least)
}

func (r *rung) addRowsPlain(to []float64, first, into []int32, lo, hi, least int) {
	for i := lo; i < hi; i++ {
		if c := int(into[i]); c >= least {
			r.addLinks(at(to, c), r.x, first[i], r.first[i+1])
		}
	}
}

// interpolate adds the solution of the next rung to nodes lo ≤ i < hi.
func (r *rung) interpolate(next *rung, lo, hi int) {
	if fast {
		addNextVector(r.x[Systems*lo:], next.x, r.into[lo:hi])
		return
	}
	addNext(r.x[Systems*lo:], next.x, r.into[lo:hi])
}

func addNext(to, x []float64, into []int32) {
	for i, c := range into {
		to := at(to, i)
		for s, v := range at(x, int(c)) {
			to[s] += v
		}
	}
}
