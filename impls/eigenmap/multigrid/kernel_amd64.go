//go:build amd64 && !noasm

package multigrid

func gramVector(to []float64, a, b block, mass []float64) {
	n := len(a) / Lanes
	if _, _ = to[:Lanes*Lanes], b[:Lanes*n]; n == 0 {
		return
	}
	if mass == nil {
		gram256(&to[0], &a[0], &b[0], n)
		return
	}
	gramOfMass256(&to[0], &a[0], &b[0], &mass[:n][0], n)
}

func accumulateVector(to, from block, c *[Lanes * Lanes]float64) {
	if n := len(from) / Lanes; n > 0 {
		accumulate256(&to[:Lanes*n][0], &from[0], &c[0], n)
	}
}

func flowVector(to, here, there block, link []float64) {
	if n := len(link); n > 0 {
		flow256(&to[:Lanes*n][0], &here[:Lanes*n][0], &there[:Lanes*n][0], &link[0], n)
	}
}

// relaxVector sets every second cell of a row, from the i-th on. The links are given from there on.
func (l *level) relaxVector(i, n int, links [4][]float32, to [4]int) {
	last := 2 * (n - 1)
	at := Lanes * (i + 1)
	_, _ = l.u[at-Lanes:at+Lanes*(last+2)], l.f[Lanes*i:Lanes*(i+last+1)]
	_, _ = l.inv[i:i+last+1], l.along[i:i+last+2]
	for k, list := range links {
		_, _ = list[:last+1], l.u[at+to[k]:at+to[k]+Lanes*(last+1)]
	}
	const size = 4
	relax256(&l.u[at], &l.f[Lanes*i], &l.inv[i], &l.along[i], &links[0][0], &links[1][0], &links[2][0], &links[3][0],
		size*to[0], size*to[1], size*to[2], size*to[3], n)
}

// gatherVector adds shares of n pairs of cells of a row to coarser ones.
func gatherVector(to, from, share []float32, n int, across bool) {
	if n == 0 {
		return
	}
	_, _ = from[:2*Lanes*n], share[:2*n]
	if across {
		gatherAcross256(&to[:Lanes*(n+1)][0], &from[0], &share[0], n)
		return
	}
	gather256(&to[:Lanes*n][0], &from[0], &share[0], n)
}

// interpolateVector adds the values of coarser cells to n pairs of cells from the i-th on. The
// first coarser cell is at index at; its neighbours are byY and byZ away.
func (l *level) interpolateVector(i, n int, c []float32, at, byY, byZ int) {
	if n == 0 {
		return
	}
	for _, by := range []int{-Lanes, Lanes, byY, byZ} {
		_ = c[at+by : at+by+Lanes*n]
	}
	for _, share := range [][]float32{l.own, l.share[0], l.share[1], l.share[2]} {
		_ = share[i : i+2*n]
	}
	const size = 4
	interpolate256(&l.u[Lanes*(i+1) : Lanes*(i+1+2*n)][0], &l.own[i], &l.share[0][i], &l.share[1][i], &l.share[2][i], &c[at],
		size*byY, size*byZ, n)
}
