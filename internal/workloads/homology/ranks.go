package homology

import "eccbench/internal/ranks"

// The code below uses only the list of given simplices of package simplicial. So it is an
// independent witness for implementations that number faces by that package.

// A chains is all simplices of a complex with their boundaries, as numbers that come in no
// order that means anything.
type chains struct {
	count    []int64
	vertices [][]uint32 // of each simplex, by dimension
	boundary [][]uint32 // of each simplex, its faces; of face k the sign is (-1)^k
	tables   [][]uint32 // for each dimension: the number of a simplex plus 1, or 0
}

// chainsOf enumerates the faces of a complex, from the given simplices down.
func chainsOf(p *Problem) *chains {
	dims := len(p.Tops)
	c := &chains{make([]int64, dims), make([][]uint32, dims), make([][]uint32, dims), make([][]uint32, dims)}
	const least = 1 << 6
	for d := range dims {
		c.tables[d] = make([]uint32, least)
	}
	s := make([]uint32, dims)
	for d, tops := range p.Tops {
		for at := 0; at < len(tops); at += d + 1 {
			s = append(s[:0], tops[at:at+d+1]...)
			for i := range s {
				for j := i; j > 0 && s[j] < s[j-1]; j-- {
					s[j], s[j-1] = s[j-1], s[j]
				}
			}
			c.number(s)
		}
	}
	// Faces of a dimension below its own that were met are numbered in their turn.
	for d := dims - 1; d > 0; d-- {
		face := make([]uint32, d)
		c.boundary[d] = make([]uint32, len(c.vertices[d]))
		for at := 0; at < len(c.vertices[d]); at += d + 1 {
			v := c.vertices[d][at : at+d+1]
			copy(face, v[1:])
			for k := range v {
				if k > 0 {
					face[k-1] = v[k-1]
				}
				c.boundary[d][at+k] = c.number(face)
			}
		}
		c.tables[d] = nil
	}
	return c
}

// number returns the number of a simplex with ascending vertices, or the next number of its
// dimension if it is new. The table is probed linearly.
func (c *chains) number(s []uint32) uint32 {
	d := len(s) - 1
	if table := c.tables[d]; 2*c.count[d] >= int64(len(table)) {
		c.tables[d] = make([]uint32, 4*len(table))
		for n := range uint32(c.count[d]) {
			at := c.place(c.vertices[d][int(n)*(d+1) : (int(n)+1)*(d+1)])
			c.tables[d][at] = n + 1
		}
	}
	at := c.place(s)
	if n := c.tables[d][at]; n > 0 {
		return n - 1
	}
	c.count[d]++
	c.tables[d][at] = uint32(c.count[d])
	c.vertices[d] = append(c.vertices[d], s...)
	return uint32(c.count[d] - 1)
}

// place returns the place of a simplex in the table of its dimension, or its free place.
func (c *chains) place(s []uint32) int {
	d := len(s) - 1
	h := uint64(0)
	for _, v := range s {
		h = (h ^ uint64(v)) * 0x9fb21c651e98df25
		h ^= h >> 32
	}
	table, mask := c.tables[d], len(c.tables[d])-1
	at := int(h) & mask
search:
	for ; table[at] > 0; at = (at + 1) & mask {
		n := int(table[at] - 1)
		for i, v := range c.vertices[d][n*(d+1) : (n+1)*(d+1)] {
			if s[i] != v {
				continue search
			}
		}
		break
	}
	return at
}

// betti returns the Betti numbers over the field of p elements, by the ranks of the boundary
// matrices from the greatest dimension down. If a column of the dimension above begins with a
// simplex, the simplex ends a boundary, and its own column is in the span of others.
func (c *chains) betti(p int64) []int64 {
	rank := make([]int64, len(c.count)+1)
	var known []bool
	for d := len(c.count) - 1; d > 0; d-- {
		faces := c.boundary[d]
		rank[d], known = ranks.Of(c.count[d-1], c.count[d], p, func(i int64, list []ranks.Term) []ranks.Term {
			for k, f := range faces[int(i)*(d+1) : (int(i)+1)*(d+1)] {
				list = append(list, ranks.Term{Row: f, Times: int64(1 - 2*(k&1))})
			}
			return list
		}, known)
	}
	b := make([]int64, len(c.count))
	for d, n := range c.count {
		b[d] = n - rank[d] - rank[d+1]
	}
	return b
}
