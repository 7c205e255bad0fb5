package duality

import (
	"fmt"
	"math/bits"
)

// surfaces counts the components of the boundary triangles and their Euler characteristic. It
// returns an error if they are no surface: each edge must have two of them, and the triangles at a
// vertex must form a single fan.
func (j *job) surfaces(lists [][]uint64) (count, chi int64, err error) {
	var triangles [][3]uint32
	for _, list := range lists {
		for i := 0; i < len(list); i += 2 {
			triangles = append(triangles, [3]uint32{uint32(list[i] >> 32), uint32(list[i]), uint32(list[i+1])})
		}
	}
	n := len(triangles)
	// Corners at a vertex are joined if their triangles share an edge there. Such triangles are
	// joined too.
	corners, parts := newForest(3*n), newForest(n)
	matched := 0
	edges, start := j.edges(triangles)
	var met table
	for b := range j.buckets {
		met.clear(int(start[b+1] - start[b]))
		for _, e := range edges[start[b]:start[b+1]] {
			side := met.numberOf(e.ends)
			seen := *side
			if seen == 0 {
				*side = e.corner + 1
				continue
			}
			if seen == twice {
				return 0, 0, fmt.Errorf("the boundary is no surface: the edge of vertices %d and %d has more than two of its "+
					"triangles; use reduced", e.ends>>32, uint32(e.ends))
			}
			*side = twice
			matched++
			t, other := e.corner/3, (seen-1)/3
			parts.join(t, other)
			low, high := ends(e.corner % 3)
			low2, high2 := ends((seen - 1) % 3)
			corners.join(3*t+low, 3*other+low2)
			corners.join(3*t+high, 3*other+high2)
		}
	}
	if 2*matched != 3*n {
		return 0, 0, fmt.Errorf("the boundary is no surface: %d of %d edges have one triangle alone; use reduced",
			3*n-2*matched, 3*n-matched)
	}
	vertices := int64(0)
	seen := make([]uint64, (j.in.Vertices+63)/64)
	for _, v := range triangles {
		for _, w := range v {
			seen[w/64] |= 1 << (w % 64)
		}
	}
	for _, w := range seen {
		vertices += int64(bits.OnesCount64(w))
	}
	// A vertex with two fans has two classes of corners.
	if int64(3*n)-corners.joined != vertices {
		return 0, 0, fmt.Errorf("the boundary is no surface: parts of it touch at vertex %d alone; use reduced",
			corners.twoFans(triangles))
	}
	return int64(n) - parts.joined, vertices - int64(matched) + int64(n), nil
}

// An edge is the edge of a triangle opposite to a corner.
type edge struct {
	ends   uint64 // the lower vertex, then the higher
	corner uint32
}

// ends returns the corners of the edge opposite to a corner. The vertices of the triangle are in
// ascending order.
func ends(corner uint32) (low, high uint32) { return (2 - corner) / 2, 2 - corner/2 }

// edges returns the edges of triangles, sorted by the bucket of the lower vertex.
func (j *job) edges(triangles [][3]uint32) (list []edge, start []uint32) {
	start = make([]uint32, j.buckets+2)
	for _, v := range triangles {
		start[v[0]>>j.low+2] += 2
		start[v[1]>>j.low+2]++
	}
	for b := range j.buckets {
		start[b+2] += start[b+1]
	}
	list = make([]edge, 3*len(triangles))
	for t, v := range triangles {
		for corner := range uint32(3) {
			low, high := ends(corner)
			at := &start[v[low]>>j.low+1]
			list[*at] = edge{uint64(v[low])<<32 | uint64(v[high]), uint32(3*t) + corner}
			*at++
		}
	}
	return list, start
}

// twoFans returns the first vertex whose corners belong to two classes.
func (f *forest) twoFans(triangles [][3]uint32) uint32 {
	fans := map[uint32]uint32{}
	for t, v := range triangles {
		for k, w := range v {
			root := f.find(uint32(3*t + k))
			if seen, ok := fans[w]; ok && seen != root {
				return w
			}
			fans[w] = root
		}
	}
	return 0 // unreachable, because there are more classes than vertices
}

// A forest is a union-find structure.
type forest struct {
	parent []uint32
	joined int64 // number of successful unions
}

func newForest(n int) *forest {
	f := &forest{parent: make([]uint32, n)}
	for i := range f.parent {
		f.parent[i] = uint32(i)
	}
	return f
}

func (f *forest) find(i uint32) uint32 {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

func (f *forest) join(a, b uint32) {
	if a, b = f.find(a), f.find(b); a != b {
		f.parent[max(a, b)] = min(a, b)
		f.joined++
	}
}

// twice marks an edge that two triangles have.
const twice = ^uint32(0)

// A table maps keys other than 0 to numbers; a new key has the number 0.
type table []place

type place struct {
	key    uint64
	number uint32
}

// clear empties a table and makes room for n keys.
func (t *table) clear(n int) {
	size := 1 << bits.Len(uint(2*n))
	if size > cap(*t) {
		*t = make(table, size)
		return
	}
	*t = (*t)[:size]
	clear(*t)
}

// numberOf returns the number of a key, and adds the key if it is new.
func (t table) numberOf(key uint64) (number *uint32) {
	mask := uint64(len(t) - 1)
	at := key * 0x9e3779b97f4a7c15 >> 20 & mask
	for t[at].key != 0 && t[at].key != key {
		at = (at + 1) & mask
	}
	t[at].key = key
	return &t[at].number
}
