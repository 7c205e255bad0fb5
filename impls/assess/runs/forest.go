package runs

import "eccbench/internal/workloads/assess"

// A run is voxels lo ≤ x < hi of a row.
type run struct{ lo, hi int32 }

// runs are the runs of all rows, in order.
type runs struct {
	start []int32 // index in list of the first run of each row; then the length of list
	list  []run
}

// row returns the runs of a row.
func (r runs) row(i int) []run { return r.list[r.start[i]:r.start[i+1]] }

// count returns the number of voxels.
func (r runs) count() (n int64) {
	for _, s := range r.list {
		n += int64(s.hi - s.lo)
	}
	return n
}

// union returns the runs of the union of two masks.
func (r runs) union(o runs) runs {
	u := runs{start: make([]int32, 1, len(r.start)), list: make([]run, 0, len(r.list)+len(o.list))}
	for i := range len(r.start) - 1 {
		a, b, first := r.row(i), o.row(i), len(u.list)
		for len(a)+len(b) > 0 {
			if len(a) == 0 || len(b) > 0 && b[0].lo < a[0].lo {
				a, b = b, a
			}
			if n := len(u.list); n > first && a[0].lo <= u.list[n-1].hi {
				u.list[n-1].hi = max(u.list[n-1].hi, a[0].hi)
			} else {
				u.list = append(u.list, a[0])
			}
			a = a[1:]
		}
		u.start = append(u.start, int32(len(u.list)))
	}
	return u
}

// complement returns the gaps between the runs of each row. The first and the last gap are
// unbounded.
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
	// A run at the first voxel also leaves a gap before it: the outside.
	return g
}

// meet calls f with each pair of runs of both masks that share voxels.
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

// A forest stores the connected components of runs: node i + 1 is run i of a list, node 0 the
// outside.
type forest struct {
	parent     []int32 // the least node of each node's component
	components int64   // without the outside
}

// forests are the forests of both constructions.
type forests [assess.Constructions]forest

// join joins the runs of a mask of d planes of h rows. Runs that touch at corners are joined in
// construction at only.
func join(r runs, d, h, at int) forests {
	parent := make([]int32, len(r.list)+1)
	for i := range parent {
		parent[i] = int32(i)
	}
	return joined(r, parent, d, h, at, 0)
}

// joinAround joins the gaps of a mask; gaps at the sides of the box are joined with the outside.
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
	return joined(r, parent, d, h, at, 2)
}

// joined joins runs in two forests: at faces in one, at faces and corners in the other. parent
// holds the initial parents. Two rows of at most few runs have nothing to join: they have no run, or
// only gaps of the outside.
func joined(r runs, parent []int32, d, h, at, few int) (f forests) {
	corners := append([]int32(nil), parent...)
	count := func(row int) int { return int(r.start[row+1] - r.start[row]) }
	for i := range d * h {
		if count(i) <= few {
			continue
		}
		z, y := i/h, i%h
		for dz := max(-1, -z); dz <= min(1, d-1-z); dz++ {
			for dy := max(-1, -y); dy <= min(1, h-1-y); dy++ {
				other := i + dz*h + dy
				n := count(other)
				if n == 0 || other == i || other > i && n > few { // a later row of many links the pair itself
					continue
				}
				if dz != 0 && dy != 0 {
					link(r, nil, corners, i, other)
				} else {
					link(r, parent, corners, i, other)
				}
			}
		}
	}
	f[at], f[1-at] = counted(corners), counted(parent)
	return f
}

// counted returns the forest of some parents, with its number of components.
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

// link joins the runs of two touching rows: runs that share faces in one forest, all touching runs
// in the other. The forest of faces is nil for rows without shared faces.
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
		next := 0 // without a branch, which would be unpredictable
		if p.hi < q.hi {
			next = 1
		}
		i, j = i+next, j+1-next
	}
}

// unite merges the components of two nodes with Rem's algorithm (Dijkstra 1976). A parent is at
// most its node.
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
