package duality

import (
	"fmt"
	"math"
	"math/big"
)

// A triangle is a word: the low bits of its least vertex, the other two vertices, and two bits
// for the sides on which it was seen to have a tetrahedron.
const sides = 3

// sort counts the triangles of each bucket and puts them there, each with the side on which
// its tetrahedron lies.
func (j *job) sort() error {
	tets := len(j.tets) / 4
	err := j.spread(func(core int) error {
		count := j.next[core*j.buckets : (core+1)*j.buckets]
		clear(count)
		lo, hi := j.share(core, tets)
		for t := lo; t < hi; t++ {
			s := j.tets[4*t : 4*t+4]
			a, b, c, d := s[0], s[1], s[2], s[3]
			// The least vertex has three of the triangles, the next one the fourth.
			if a > b {
				a, b = b, a
			}
			if c > d {
				c, d = d, c
			}
			least, second := min(a, c), min(max(a, c), b, d)
			count[least>>j.low] += 3
			count[second>>j.low]++
		}
		return nil
	})
	if err != nil {
		return err
	}
	at := uint32(0)
	for b := range j.buckets {
		j.start[b] = at
		for core := range j.cores {
			n := &j.next[core*j.buckets+b]
			at, *n = at+*n, at
		}
	}
	j.start[j.buckets] = at
	return j.spread(func(core int) error {
		next := j.next[core*j.buckets : (core+1)*j.buckets]
		lo, hi := j.share(core, tets)
		mask := uint64(1)<<j.low - 1
		width := j.bits
		for t := lo; t < hi; t++ {
			s := (*[4]uint32)(j.tets[4*t : 4*t+4])
			o, err := orientation(j.in.Points, s)
			if err != nil {
				return fmt.Errorf("tetrahedron %d: %w", t, err)
			}
			a, b, c, d := s[0], s[1], s[2], s[3]
			// Each swap mirrors the tetrahedron.
			if a > b {
				a, b, o = b, a, o^sides
			}
			if c > d {
				c, d, o = d, c, o^sides
			}
			if a > c {
				a, c, o = c, a, o^sides
			}
			if b > d {
				b, d, o = d, b, o^sides
			}
			if b > c {
				b, c, o = c, b, o^sides
			}
			n := &next[a>>j.low]
			words := j.words[*n : *n+3]
			*n += 3
			top := uint64(a) & mask << (2*width + 2)
			x, y, z := uint64(b)<<(width+2), uint64(c)<<2, uint64(d)<<2
			words[0] = top | x | y | uint64(o^sides)
			words[1] = top | x | z | uint64(o)
			words[2] = top | uint64(c)<<(width+2) | z | uint64(o^sides)
			m := &next[b>>j.low]
			j.words[*m] = uint64(b)&mask<<(2*width+2) | uint64(c)<<(width+2) | z | uint64(o)
			*m++
		}
		return nil
	})
}

// unmatched is the triangles of a core's buckets that one tetrahedron has alone: as words, with
// the number of the bucket for the high bits.
func (j *job) unmatched(core int) (list []uint64, err error) {
	lo, hi := j.share(core, j.buckets)
	var table []uint64
	for b := lo; b < hi; b++ {
		words := j.words[j.start[b]:j.start[b+1]]
		if len(words) == 0 {
			continue
		}
		// At most two thirds full: a triangle that is seen twice is there once.
		size := 64
		for size < len(words)*3/2 {
			size *= 2
		}
		if size > len(table) {
			table = make([]uint64, size)
		}
		places := table[:size]
		clear(places)
		mask := uint64(size - 1)
		for _, w := range words {
			key := w &^ sides
			at := key * 0x9e3779b97f4a7c15 >> 20 & mask
			seen := places[at]
			for other(seen, w) {
				at = (at + 1) & mask
				seen = places[at]
			}
			// Whether it was seen before no branch asks, which would be as likely as not.
			if seen&w&sides != 0 {
				if seen&sides == sides {
					return nil, fmt.Errorf("triangle %v has three tetrahedra, which cannot be in space; take reduced", j.vertices(b, key))
				}
				return nil, fmt.Errorf("triangle %v has two tetrahedra on one side, which overlap; take reduced", j.vertices(b, key))
			}
			places[at] = seen | w
		}
		for _, w := range places {
			if s := w & sides; s == 1 || s == 2 {
				v := j.vertices(b, w)
				list = append(list, uint64(v[0])<<32|uint64(v[1]), uint64(v[2]))
			}
		}
	}
	return list, nil
}

// other reports whether a place is taken by another triangle than a word's.
func other(seen, w uint64) bool {
	differs := (seen ^ w) >> 2
	return (differs|-differs)&(seen|-seen)>>63 != 0
}

// vertices are those of a triangle in a bucket.
func (j *job) vertices(bucket int, w uint64) [3]uint32 {
	mask := uint64(1)<<j.bits - 1
	return [3]uint32{uint32(bucket)<<j.low | uint32(w>>(2*j.bits+2)), uint32(w >> (j.bits + 2) & mask), uint32(w >> 2 & mask)}
}

// orientation is 1 for a tetrahedron whose last vertex is on the one side of the first three, 2
// for one on the other.
func orientation(p []float64, s *[4]uint32) (uint32, error) {
	a, b, c, d := p[3*s[0]:][:3], p[3*s[1]:][:3], p[3*s[2]:][:3], p[3*s[3]:][:3]
	bx, by, bz := b[0]-a[0], b[1]-a[1], b[2]-a[2]
	cx, cy, cz := c[0]-a[0], c[1]-a[1], c[2]-a[2]
	dx, dy, dz := d[0]-a[0], d[1]-a[1], d[2]-a[2]
	x, y, z := by*cz, bz*cx, bx*cy
	x2, y2, z2 := bz*cy, bx*cz, by*cx
	det := (x-x2)*dx + (y-y2)*dy + (z-z2)*dz
	// Rounding moves the sum by less than some units in the last place of what is added up.
	bound := 1e-14 * ((math.Abs(x)+math.Abs(x2))*math.Abs(dx) + (math.Abs(y)+math.Abs(y2))*math.Abs(dy) + (math.Abs(z)+math.Abs(z2))*math.Abs(dz))
	if math.Abs(det) > bound {
		return 1 + uint32(math.Float64bits(det)>>63), nil
	}
	return exactly(a, b, c, d)
}

// exactly is orientation without rounding.
func exactly(points ...[]float64) (uint32, error) {
	var v [3][3]*big.Rat
	for i, p := range points {
		for k, x := range p {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return 0, fmt.Errorf("a vertex is at %v, which is no point; take reduced", p)
			}
			if i > 0 {
				v[i-1][k] = new(big.Rat).Sub(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(points[0][k]))
			}
		}
	}
	det := new(big.Rat)
	for k := range 3 {
		l, m := (k+1)%3, (k+2)%3
		minor := new(big.Rat).Sub(new(big.Rat).Mul(v[0][l], v[1][m]), new(big.Rat).Mul(v[0][m], v[1][l]))
		det.Add(det, minor.Mul(minor, v[2][k]))
	}
	switch det.Sign() {
	case 1:
		return 1, nil
	case -1:
		return 2, nil
	}
	return 0, fmt.Errorf("its vertices are in one plane, %v; take reduced", points)
}
