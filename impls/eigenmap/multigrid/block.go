package multigrid

import "math"

// A block contains several vectors side by side in float64: for each cell, the numbers of all
// lanes.
type block []float64

type wide = [Lanes]float64

// chunk is the number of cells per partial sum on every core, so sums have one order.
const chunk = 1 << 11

// sums calls f with chunks of n cells and sums the k numbers that each call sets, in the order of
// chunks.
func sums(n, k, threads int, f func(lo, hi int, to []float64)) []float64 {
	chunks := (n + chunk - 1) / chunk
	list := make([]float64, chunks*k)
	if n < 1<<13 {
		threads = 1
	}
	parts(chunks, threads, func(lo, hi int) {
		for c := lo; c < hi; c++ {
			f(c*chunk, min((c+1)*chunk, n), list[c*k:][:k])
		}
	})
	total := make([]float64, k)
	for c := range chunks {
		for i, v := range list[c*k:][:k] {
			total[i] += v
		}
	}
	return total
}

// gram adds to to the products aᵀ·diag(mass)·b of all pairs of lanes, by rows of a. A nil mass
// means ones.
func gram(fast bool, to []float64, a, b block, mass []float64, lo, hi int) {
	if fast {
		if mass != nil {
			mass = mass[lo:hi]
		}
		gramVector(to, a[Lanes*lo:Lanes*hi], b[Lanes*lo:Lanes*hi], mass)
		return
	}
	t := (*[Lanes * Lanes]float64)(to)
	for i := lo; i < hi; i++ {
		m := 1.0
		if mass != nil {
			m = mass[i]
		}
		x, y := (*wide)(a[Lanes*i:]), (*wide)(b[Lanes*i:])
		x0, x1, x2, x3 := m*x[0], m*x[1], m*x[2], m*x[3]
		y0, y1, y2, y3 := y[0], y[1], y[2], y[3]
		t[0] += x0 * y0
		t[1] += x0 * y1
		t[2] += x0 * y2
		t[3] += x0 * y3
		t[4] += x1 * y0
		t[5] += x1 * y1
		t[6] += x1 * y2
		t[7] += x1 * y3
		t[8] += x2 * y0
		t[9] += x2 * y1
		t[10] += x2 * y2
		t[11] += x2 * y3
		t[12] += x3 * y0
		t[13] += x3 * y1
		t[14] += x3 * y2
		t[15] += x3 * y3
	}
}

// accumulate adds from · c to to, where c is a lanes × lanes matrix by rows.
func accumulate(fast bool, to, from block, c *[Lanes * Lanes]float64) {
	if fast {
		accumulateVector(to, from, c)
		return
	}
	for i := range len(from) / Lanes {
		t, v := (*wide)(to[Lanes*i:]), (*wide)(from[Lanes*i:])
		a, b, d, e := v[0], v[1], v[2], v[3]
		t[0] += (a*c[0] + b*c[4]) + (d*c[8] + e*c[12])
		t[1] += (a*c[1] + b*c[5]) + (d*c[9] + e*c[13])
		t[2] += (a*c[2] + b*c[6]) + (d*c[10] + e*c[14])
		t[3] += (a*c[3] + b*c[7]) + (d*c[11] + e*c[15])
	}
}

// apply sets rows lo ≤ r < hi of to to Au, computed from differences.
func (l *level) apply(to, u block, lo, hi int) {
	clear(to[Lanes*lo*l.nx : Lanes*hi*l.nx])
	if l.beside != nil {
		for _, o := range l.beside {
			l.exchange(to, u, o, lo, hi)
		}
		return
	}
	l.exchange(to, u, offset{1, 0, 0, l.link[0]}, lo, hi)
	l.exchange(to, u, offset{0, 1, 0, l.link[1]}, lo, hi)
	if l.nz > 1 {
		l.exchange(to, u, offset{0, 0, 1, l.link[2]}, lo, hi)
	}
}

// exchange adds the flow along the links of one offset, in both directions.
func (l *level) exchange(to, u block, o offset, lo, hi int) {
	nx, ny := l.nx, l.ny
	by := (o.z*ny+o.y)*nx + o.x
	x0, x1 := max(0, -o.x), nx-max(0, o.x) // cells with a neighbour at the offset
	for r := lo; r < hi; r++ {
		y, z := r%ny, r/ny
		if y+o.y >= 0 && y+o.y < ny && z+o.z < l.nz {
			i, end := r*nx+x0, r*nx+x1
			flow(l.fast, to[Lanes*i:Lanes*end], u[Lanes*i:Lanes*end], u[Lanes*(i+by):Lanes*(end+by)], o.link[i:end])
		}
		if y-o.y >= 0 && y-o.y < ny && z-o.z >= 0 {
			i, end := r*nx+x0+o.x, r*nx+x1+o.x
			flow(l.fast, to[Lanes*i:Lanes*end], u[Lanes*i:Lanes*end], u[Lanes*(i-by):Lanes*(end-by)], o.link[i-by:end-by])
		}
	}
}

// flow adds link · (here − there) to to, for each cell.
func flow(fast bool, to, here, there block, link []float64) {
	if fast {
		flowVector(to, here, there, link)
		return
	}
	for i, w := range link {
		t, h, o := (*wide)(to[Lanes*i:]), (*wide)(here[Lanes*i:]), (*wide)(there[Lanes*i:])
		t[0] += w * (h[0] - o[0])
		t[1] += w * (h[1] - o[1])
		t[2] += w * (h[2] - o[2])
		t[3] += w * (h[3] - o[3])
	}
}

// Root returns √v, or 0 if rounding made v negative.
func Root(v float64) float64 { return math.Sqrt(max(0, v)) }
