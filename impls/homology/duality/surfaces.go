package duality

import "fmt"

// surfaces counts the components of the triangles of the boundary and their Euler
// characteristic, or says why they are no surface: each edge must have two of them, and those at
// a vertex must be a single fan.
func (j *job) surfaces(lists [][]uint64) (count, chi int64, err error) {
	var triangles [][3]uint32
	for _, list := range lists {
		for i := 0; i < len(list); i += 2 {
			triangles = append(triangles, [3]uint32{uint32(list[i] >> 32), uint32(list[i]), uint32(list[i+1])})
		}
	}
	n := len(triangles)
	// Corners at a vertex are joined where their triangles share an edge there; so are triangles.
	corners, parts := newForest(3*n), newForest(n)
	edges := newTable(3 * n / 2)
	matched := 0
	for t, v := range triangles {
		for k := range 3 {
			a, b := (k+1)%3, (k+2)%3
			if v[a] > v[b] {
				a, b = b, a
			}
			side := edges.at(uint64(v[a])<<32 | uint64(v[b]))
			seen := *side
			if seen == 0 {
				*side = uint32(3*t+k) + 1
				continue
			}
			if seen == twice {
				if j.fault == AnyBoundary {
					continue
				}
				return 0, 0, fmt.Errorf("the boundary is no surface: the edge of vertices %d and %d has more than two of its triangles; take reduced", v[a], v[b])
			}
			*side = twice
			matched++
			other := int(seen-1) / 3
			parts.join(uint32(t), uint32(other))
			for _, corner := range [2]int{a, b} {
				for i, w := range triangles[other] {
					if w == v[corner] {
						corners.join(uint32(3*t+corner), uint32(3*other+i))
					}
				}
			}
		}
	}
	if 2*matched != 3*n && j.fault == "" {
		return 0, 0, fmt.Errorf("the boundary is no surface: %d of %d edges have one triangle alone; take reduced", 3*n-2*matched, matched)
	}
	// A vertex with two fans has two classes of corners.
	fan := newTable(n/2 + 4)
	vertices := int64(0)
	for t, v := range triangles {
		for k, w := range v {
			root := corners.find(uint32(3*t + k))
			if seen := fan.at(uint64(w) + 1); *seen == 0 {
				*seen = root + 1
				vertices++
			} else if *seen != root+1 && j.fault != AnyBoundary {
				return 0, 0, fmt.Errorf("the boundary is no surface: parts of it touch at vertex %d alone; take reduced", w)
			}
		}
	}
	return int64(n) - parts.joined, vertices - int64(matched) + int64(n), nil
}

// A forest is things in components.
type forest struct {
	parent []uint32
	joined int64 // unions that succeeded
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

// twice is what a table says of an edge that two triangles have.
const twice = ^uint32(0)

// A table has a number for each key, 0 for one that is new. Keys are not 0.
type table struct {
	places []place
	count  int
}

type place struct {
	key    uint64
	number uint32
}

func newTable(n int) *table {
	size := 64
	for size < 2*n {
		size *= 2
	}
	return &table{places: make([]place, size)}
}

// at is the number of a key, which is made.
func (t *table) at(key uint64) (number *uint32) {
	if 2*t.count >= len(t.places) {
		old := t.places
		*t = *newTable(len(old))
		for _, p := range old {
			if p.key != 0 {
				*t.at(p.key) = p.number
			}
		}
	}
	mask := uint64(len(t.places) - 1)
	at := key * 0x9e3779b97f4a7c15 >> 20 & mask
	for t.places[at].key != 0 && t.places[at].key != key {
		at = (at + 1) & mask
	}
	p := &t.places[at]
	if p.key == 0 {
		p.key = key
		t.count++
	}
	return &p.number
}
