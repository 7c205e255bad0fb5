package runs

import (
	"math/bits"

	"eccbench/internal/workloads/assess"
)

// A run is voxels lo ≤ x < hi of a row.
type run struct{ lo, hi int32 }

// runs are those of all rows, in order.
type runs struct {
	start []int32 // where the runs of each row begin in the list, and its length at last
	list  []run
}

// row is the runs of a row.
func (r runs) row(i int) []run { return r.list[r.start[i]:r.start[i+1]] }

// runsOf are the longest runs of a bitmap.
func runsOf(b bitmap) runs {
	r := runs{start: make([]int32, 1, b.d*b.h+1)}
	n := int64(0)
	for i := range b.d * b.h {
		before := uint64(0)
		for _, v := range b.row(i) {
			n += starts(v, before)
			before = v
		}
	}
	r.list = make([]run, 0, n)
	for i := range b.d * b.h {
		before, lo := uint64(0), int32(-1)
		for k, v := range b.row(i) {
			for edges := v ^ (v<<1 | before>>63); edges != 0; edges &= edges - 1 {
				x := int32(64*k + bits.TrailingZeros64(edges))
				if lo < 0 {
					lo = x
				} else {
					r.list = append(r.list, run{lo, x})
					lo = -1
				}
			}
			before = v
		}
		if lo >= 0 {
			r.list = append(r.list, run{lo, int32(b.w)})
		}
		r.start = append(r.start, int32(len(r.list)))
	}
	return r
}

// complement returns the gaps between the runs of each row; the first and the last gap are unbounded.
func (r runs) complement() runs {
	rows := len(r.start) - 1
	g := runs{start: make([]int32, 1, rows+1), list: make([]run, 0, len(r.list)+rows)}
	for i := range rows {
		lo := int32(-1)
		for _, s := range r.row(i) {
			g.list = append(g.list, run{lo, s.lo})
			lo = s.hi
		}
		g.list = append(g.list, run{lo, 1<<31 - 2})
		g.start = append(g.start, int32(len(g.list)))
	}
	// A run at the first voxel leaves a gap before it, too: the outside.
	return g
}

// meet calls f with the nodes of the runs of both that have voxels in common.
func (r runs) meet(o runs, f func(mine, its int32)) {
	for i := range len(r.start) - 1 {
		a, b := r.row(i), o.row(i)
		first, second := r.start[i]+1, o.start[i]+1
		for len(a) > 0 && len(b) > 0 {
			if a[0].lo < b[0].hi && b[0].lo < a[0].hi {
				f(first, second)
			}
			if a[0].hi < b[0].hi {
				a, first = a[1:], first+1
			} else {
				b, second = b[1:], second+1
			}
		}
	}
}

// A forest is which runs are connected: node i + 1 is run i of a list, and node 0 the outside.
type forest struct {
	parent     []int32 // the least node of the component of each
	components int64   // without the outside
}

// A forests is those of both constructions.
type forests [assess.Constructions]forest

// join joins the runs of a mask of d planes of h rows. at is the construction in which runs that touch at corners
// are joined, too; in the other one they are not.
func join(r runs, d, h, at int) forests {
	parent := make([]int32, len(r.list)+1)
	for i := range parent {
		parent[i] = int32(i)
	}
	return joined(r, parent, d, h, at)
}

// joinAround joins the runs between those of a mask, and with the outside those at the sides of the box.
func joinAround(r runs, d, h, at int, flat bool) forests {
	parent := make([]int32, len(r.list)+1)
	for i := range d * h {
		z, y := i/h, i%h
		if y == 0 || y == h-1 || !flat && (z == 0 || z == d-1) {
			continue
		}
		for k := r.start[i] + 1; k < r.start[i+1]-1; k++ {
			parent[k+1] = k + 1
		}
	}
	return joined(r, parent, d, h, at)
}

// joined joins runs whose parents are set: first at faces, then that at corners, too.
func joined(r runs, parent []int32, d, h, at int) (f forests) {
	corners := append([]int32(nil), parent...)
	for z := range d {
		for y := range h {
			i := z*h + y
			if r.start[i] == r.start[i+1] {
				continue
			}
			if y > 0 {
				link(r, parent, corners, i, i-1)
			}
			if z == 0 {
				continue
			}
			link(r, parent, corners, i, i-h)
			if y > 0 {
				link(r, nil, corners, i, i-h-1)
			}
			if y < h-1 {
				link(r, nil, corners, i, i-h+1)
			}
		}
	}
	f[at], f[1-at] = counted(corners), counted(parent)
	return f
}

// counted is the forest of some parents.
func counted(parent []int32) forest {
	f := forest{parent: parent}
	flatten(parent)
	for i, p := range parent[1:] {
		if p == int32(i+1) {
			f.components++
		}
	}
	return f
}

// link joins the runs of two touching rows: runs with common faces in one forest, and all touching
// runs in the other. The forest of faces is nil for rows without common faces.
func link(r runs, faces, corners []int32, row, other int) {
	a, b := r.row(row), r.row(other)
	first, second := r.start[row]+1, r.start[other]+1
	for i, j := 0, 0; i < len(a) && j < len(b); {
		p, q := a[i], b[j]
		if p.lo <= q.hi && q.lo <= p.hi {
			m, n := first+int32(i), second+int32(j)
			if corners[m] != corners[n] {
				unite(corners, m, n)
			}
			if faces != nil && p.lo < q.hi && q.lo < p.hi && faces[m] != faces[n] {
				unite(faces, m, n)
			}
		}
		if p.hi < q.hi {
			i++
		} else {
			j++
		}
	}
}

// unite makes one component of those of two nodes: Rem's algorithm (Dijkstra 1976). Parents are never greater.
func unite(parent []int32, a, b int32) {
	for parent[a] != parent[b] {
		if parent[a] < parent[b] {
			a, b = b, a
		}
		p := parent[a]
		if parent[a] = parent[b]; p == a {
			return
		}
		a = p
	}
}

// flatten makes the parent of each node the least node of its component.
func flatten(parent []int32) {
	for i, p := range parent {
		parent[i] = parent[p]
	}
}
