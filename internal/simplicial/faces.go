package simplicial

import "slices"

// Faces are all simplices of a complex, numbered within their dimension: those of the greatest
// dimension in the order in which they are given, others in the lexicographic order of their
// vertices.
type Faces struct {
	// Vertices[d] are the d+1 vertices of each simplex, ascending.
	Vertices [][]uint32
	// Boundary[d] are the d+1 faces of each simplex: at d+1 times its number + k, the one
	// without its vertex k, which is in its boundary with the sign (-1)^k. Nil for vertices.
	Boundary [][]uint32
}

// Counts are how many simplices there are of each dimension.
func (f *Faces) Counts() []int64 {
	n := make([]int64, len(f.Vertices))
	for d := range n {
		n[d] = f.Count(d)
	}
	return n
}

// Count is how many simplices there are of a dimension.
func (f *Faces) Count(d int) int64 { return int64(len(f.Vertices[d]) / (d + 1)) }

// NewFaces numbers the simplices of a complex.
func NewFaces(c *Complex) *Faces {
	n := len(c.Tops)
	f := &Faces{Vertices: make([][]uint32, n), Boundary: make([][]uint32, n)}
	if n == 0 {
		return f
	}
	f.Vertices[n-1] = distinct(c.Tops[n-1], n, c.Vertices)
	for d := n - 2; d >= 0; d-- {
		f.Boundary[d+1] = make([]uint32, len(f.Vertices[d+1]))
		f.Vertices[d] = number(f.Vertices[d+1], ascending(c.Tops[d], d+1), d, c.Vertices, f.Boundary[d+1])
	}
	return f
}

// distinct is the simplices of k vertices with ascending vertices, each once, in the order in
// which they come first.
func distinct(tops []uint32, k, vertices int) []uint32 {
	list := ascending(tops, k)
	id := make([]uint32, len(list)/k)
	number(nil, list, k-1, vertices, id) // numbers of simplices, not of faces
	seen := make([]bool, len(id))
	out := list[:0]
	for i, to := range id {
		if !seen[to] {
			seen[to] = true
			out = append(out, list[i*k:(i+1)*k]...)
		}
	}
	return out
}

// ascending is the simplices of k vertices, each with its vertices in order.
func ascending(tops []uint32, k int) []uint32 {
	list := slices.Clone(tops)
	for at := 0; at < len(list); at += k {
		ascend(list[at : at+k])
	}
	return list
}

// ascend sorts a few vertices.
func ascend(s []uint32) {
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

// A record is a simplex on its way to its number: its vertices but the least, and where the
// number goes. The vertices of one of up to three are in key, those of others are found at
// where they come from.
type record struct {
	key  uint64
	from uint32
}

// number lists the simplices of dimension d that are given or faces of those of dimension d+1, all
// with ascending vertices, each once and in lexicographic order, and writes the number of each
// face to ids: at place (d+2)·simplex + vertex left out, those of given ones behind.
func number(above, given []uint32, d, vertices int, ids []uint32) []uint32 {
	k := d + 1
	faces := len(above) // each simplex above has as many faces as vertices
	total := faces + len(given)/k
	// vertex is vertex i of the simplex of a record.
	vertex := func(from uint32, i int) uint32 {
		if int(from) >= faces {
			return given[(int(from)-faces)*k+i]
		}
		cell, out := int(from)/(k+1), int(from)%(k+1)
		if i >= out {
			i++
		}
		return above[cell*(k+1)+i]
	}
	start := make([]uint32, vertices+1)
	each(above, given, k, func(_ uint32, s []uint32) { start[s[0]+1]++ })
	for v := range vertices {
		start[v+1] += start[v]
	}
	records := make([]record, total)
	next := slices.Clone(start)
	each(above, given, k, func(from uint32, s []uint32) {
		r := record{from: from}
		switch k {
		case 1:
		case 2:
			r.key = uint64(s[1])
		default:
			r.key = uint64(s[1])<<32 | uint64(s[2])
		}
		records[next[s[0]]] = r
		next[s[0]]++
	})
	compare := func(a, b record) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		for i := 3; i < k; i++ {
			if x, y := vertex(a.from, i), vertex(b.from, i); x != y {
				if x < y {
					return -1
				}
				return 1
			}
		}
		return 0
	}
	var out []uint32
	count := uint32(0)
	for v := range vertices {
		bucket := records[start[v]:start[v+1]]
		if k > 1 {
			if k <= 3 {
				sortKeys(bucket)
			} else {
				slices.SortFunc(bucket, compare)
			}
		}
		for i, r := range bucket {
			if i == 0 || r.key != bucket[i-1].key || k > 3 && compare(r, bucket[i-1]) != 0 {
				count++
				switch k {
				case 1:
					out = append(out, uint32(v))
				case 2:
					out = append(out, uint32(v), uint32(r.key))
				case 3:
					out = append(out, uint32(v), uint32(r.key>>32), uint32(r.key))
				default:
					for j := range k {
						out = append(out, vertex(r.from, j))
					}
				}
			}
			if int(r.from) < len(ids) {
				ids[r.from] = count - 1
			}
		}
	}
	return out
}

// each calls f with the faces of simplices of k+1 vertices and with those of k that are given,
// each with the place of its number.
func each(above, given []uint32, k int, f func(from uint32, s []uint32)) {
	var face [MaxDim + 1]uint32
	for at := 0; at < len(above); at += k + 1 {
		s := above[at : at+k+1]
		copy(face[:], s[1:])
		for out := range k + 1 {
			if out > 0 {
				face[out-1] = s[out-1]
			}
			f(uint32(at+out), face[:k])
		}
	}
	for at := 0; at < len(given); at += k {
		f(uint32(len(above)+at/k), given[at:at+k])
	}
}

// sortKeys sorts the few records of a bucket by their keys.
func sortKeys(list []record) {
	if len(list) > 48 {
		slices.SortFunc(list, func(a, b record) int {
			switch {
			case a.key < b.key:
				return -1
			case a.key > b.key:
				return 1
			}
			return 0
		})
		return
	}
	for i := 1; i < len(list); i++ {
		r := list[i]
		j := i
		for ; j > 0 && list[j-1].key > r.key; j-- {
			list[j] = list[j-1]
		}
		list[j] = r
	}
}
