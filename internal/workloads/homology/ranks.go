package homology

import "slices"

// What follows shares nothing with the package simplicial but the list of the given simplices:
// it is the witness of those who number faces by that.

// A term of a chain is a simplex with its coefficient.
type term struct {
	at    uint32
	times int64
}

// most are the vertices of a simplex as what tells it from others: those that are left over
// are not there.
type most [4]uint32

const nothing = ^uint32(0)

// A chains is all simplices of a complex with their boundaries, as numbers that come in no
// order that means anything.
type chains struct {
	count    []int64
	boundary [][][]uint32 // by dimension and simplex; of face k the sign is (-1)^k
}

// chainsOf enumerates the faces of a complex, from the given simplices down.
func chainsOf(p *Problem) *chains {
	dims := len(p.Tops)
	c := &chains{make([]int64, dims), make([][][]uint32, dims)}
	small, large := make([]map[most]uint32, dims), make([]map[string]uint32, dims)
	for d := range dims {
		if d < len(most{}) {
			small[d] = map[most]uint32{}
		} else {
			large[d] = map[string]uint32{}
		}
	}
	var number func(s []uint32) uint32
	number = func(s []uint32) uint32 {
		d := len(s) - 1
		var key most
		var text string
		if d < len(key) {
			n := copy(key[:], s)
			for ; n < len(key); n++ {
				key[n] = nothing
			}
			if id, ok := small[d][key]; ok {
				return id
			}
		} else {
			b := make([]byte, 0, 4*len(s))
			for _, v := range s {
				b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
			}
			text = string(b)
			if id, ok := large[d][text]; ok {
				return id
			}
		}
		id := uint32(c.count[d])
		c.count[d]++
		if d < len(key) {
			small[d][key] = id
		} else {
			large[d][text] = id
		}
		var faces []uint32
		if d > 0 {
			faces = make([]uint32, d+1)
			for k := range faces {
				faces[k] = number(append(append(make([]uint32, 0, 4), s[:k]...), s[k+1:]...))
			}
		}
		c.boundary[d] = append(c.boundary[d], nil)
		c.boundary[d][id] = faces
		return id
	}
	for d, tops := range p.Tops {
		for at := 0; at < len(tops); at += d + 1 {
			s := slices.Clone(tops[at : at+d+1])
			slices.Sort(s)
			number(s)
		}
	}
	return c
}

// betti are the Betti numbers over the field of p elements: by the ranks of the boundary
// matrices, from the greatest dimension down. A simplex that a column of the dimension above
// begins with is the end of a boundary, and its own column is in the span of others.
func (c *chains) betti(p int64) []int64 {
	rank := make([]int64, len(c.count)+1)
	var led map[uint32]bool
	for d := len(c.count) - 1; d > 0; d-- {
		rank[d], led = c.rank(d, p, led)
	}
	b := make([]int64, len(c.count))
	for d, n := range c.count {
		b[d] = n - rank[d] - rank[d+1]
	}
	return b
}

// rank eliminates the columns of a boundary matrix: each by those before that begin with the
// same face. It leaves out those that are known to come to nothing, and says which faces
// columns begin with.
func (c *chains) rank(d int, p int64, known map[uint32]bool) (rank int64, led map[uint32]bool) {
	first := make([][]term, c.count[d-1])
	led = map[uint32]bool{}
	var now, sum []term
	for i, faces := range c.boundary[d] {
		if known[uint32(i)] {
			continue
		}
		now = now[:0]
		for k, f := range faces {
			t := term{f, 1}
			if k%2 == 1 {
				t.times = p - 1
			}
			now = append(now, t)
		}
		slices.SortFunc(now, func(a, b term) int { return int(int64(b.at) - int64(a.at)) })
		for len(now) > 0 {
			other := first[now[0].at]
			if other == nil {
				inverse := power(now[0].times, p-2, p)
				kept := slices.Clone(now)
				for j := range kept {
					kept[j].times = kept[j].times * inverse % p
				}
				first[now[0].at] = kept
				led[now[0].at] = true
				rank++
				break
			}
			sum = less(sum[:0], now, other, now[0].times, p)
			now, sum = sum, now
		}
	}
	return rank, led
}

// less appends a chain less so many times another.
func less(sum, a, b []term, times, p int64) []term {
	for len(a) > 0 || len(b) > 0 {
		var t term
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].at > b[0].at:
			t, a = a[0], a[1:]
		case len(a) == 0 || b[0].at > a[0].at:
			t = term{b[0].at, (p - times) * b[0].times % p}
			b = b[1:]
		default:
			t = term{a[0].at, (a[0].times + (p-times)*b[0].times) % p}
			a, b = a[1:], b[1:]
		}
		if t.times != 0 {
			sum = append(sum, t)
		}
	}
	return sum
}

// power is v to the power of n modulo p.
func power(v, n, p int64) int64 {
	out := int64(1)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			out = out * v % p
		}
		v = v * v % p
	}
	return out
}
