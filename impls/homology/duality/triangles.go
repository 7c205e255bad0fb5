package duality

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// A triangle is a word: the low bits of its lowest vertex, the other two vertices, and two bits for
// the sides on which it has a tetrahedron.
const sides = 3

// sort distributes the triangles to their buckets, each with the side of its tetrahedron. It
// computes all orientations first, so that coordinates stay in the cache.
func (j *job) sort() error {
	j.round()
	if err := j.spread(j.count); err != nil {
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
	return j.spread(j.place)
}

// count counts a core's triangles by bucket, and computes the orientations of its tetrahedra.
func (j *job) count(core int) error {
	count := j.next[core*j.buckets : (core+1)*j.buckets]
	clear(count)
	var near [ahead][4]uint64
	lo, hi := j.share(core, len(j.side))
	for ; lo < hi; lo += ahead {
		list := j.side[lo:min(lo+ahead, hi)]
		tets := j.tets[4*lo:]
		for t := range list {
			s, at := (*[4]uint32)(tets[4*t:]), &near[t%ahead]
			at[0], at[1], at[2], at[3] = j.rounded[s[0]], j.rounded[s[1]], j.rounded[s[2]], j.rounded[s[3]]
		}
		for t := range list {
			s := (*[4]uint32)(tets[4*t:])
			o := side(&near[t%ahead])
			if o == 0 {
				var err error
				if o, err = orientation(j.in.Points, s); err != nil {
					return fmt.Errorf("tetrahedron %d: %w", lo+t, err)
				}
			}
			a, b, _, _, odd := sorted(s)
			list[t] = uint8(o ^ uint32(odd)&sides)
			// The lowest vertex has three of the triangles, the next one the fourth.
			count[a>>j.low] += 3
			count[b>>j.low]++
		}
	}
	return nil
}

// place writes the triangles of a core's tetrahedra to their buckets.
func (j *job) place(core int) error {
	next := j.next[core*j.buckets : (core+1)*j.buckets]
	lo, hi := j.share(core, len(j.side))
	low, width := j.low&63, j.bits&31
	mask := uint64(1)<<low - 1
	for t := lo; t < hi; t++ {
		a, b, c, d, _ := sorted((*[4]uint32)(j.tets[4*t : 4*t+4]))
		o := uint64(j.side[t])
		n := &next[a>>low]
		words := j.words[*n : *n+3]
		*n += 3
		top, z := a&mask<<(2*width+2), d<<2|o
		words[0] = top | b<<(width+2) | c<<2 | o ^ sides
		words[1] = top | b<<(width+2) | z
		words[2] = top | c<<(width+2) | z ^ sides
		m := &next[b>>low]
		j.words[*m] = b&mask<<(2*width+2) | c<<(width+2) | z
		*m++
	}
	return nil
}

// sorted returns the vertices of a tetrahedron in order. odd has all bits set if the number of
// swaps is odd, because each swap mirrors the tetrahedron. It is branch-free, because the outcomes
// are unpredictable.
func sorted(s *[4]uint32) (a, b, c, d, odd uint64) {
	a, b, c, d = uint64(s[0]), uint64(s[1]), uint64(s[2]), uint64(s[3])
	a, b, odd = order(a, b, odd)
	c, d, odd = order(c, d, odd)
	a, c, odd = order(a, c, odd)
	b, d, odd = order(b, d, odd)
	b, c, odd = order(b, c, odd)
	return a, b, c, d, odd
}

// order returns two numbers below 2⁶³ in order, and inverts odd if they swap.
func order(a, b, odd uint64) (low, high, _ uint64) {
	swap := uint64(int64(b-a) >> 63)
	differ := (a ^ b) & swap
	return a ^ differ, b ^ differ, odd ^ swap
}

// unmatched returns the triangles of a core's buckets that only one tetrahedron has, as three
// vertices in two words.
func (j *job) unmatched(core int) (list []uint64, err error) {
	lo, hi := j.sharedBuckets(core)
	var table []uint64
	for b := lo; b < hi; b++ {
		words := j.words[j.start[b]:j.start[b+1]]
		if len(words) == 0 {
			continue
		}
		// At most two thirds full: a repeated triangle takes one place.
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
			// No branch tests whether it was seen before, because the outcome is unpredictable.
			if seen&w&sides != 0 {
				if seen&sides == sides {
					return nil, fmt.Errorf("triangle %v has three tetrahedra, which cannot be in space; use reduced",
						j.vertices(b, key))
				}
				return nil, fmt.Errorf("triangle %v has two tetrahedra on one side, which overlap; use reduced", j.vertices(b, key))
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

// sharedBuckets returns a core's range of buckets, with an equal share of the triangles. The
// buckets differ in size: if vertices are numbered at random, the lowest of three is usually a
// small number.
func (j *job) sharedBuckets(core int) (lo, hi int) {
	first, last := j.share(core, len(j.words))
	from := func(word int) int {
		b, _ := slices.BinarySearch(j.start, uint32(word))
		return b
	}
	return from(first), from(last)
}

// other reports whether a place contains a different triangle.
func other(seen, w uint64) bool {
	differs := (seen ^ w) >> 2
	return (differs|-differs)&(seen|-seen)>>63 != 0
}

// vertices returns the vertices of a triangle in a bucket.
func (j *job) vertices(bucket int, w uint64) [3]uint32 {
	mask := uint64(1)<<j.bits - 1
	return [3]uint32{uint32(bucket)<<j.low | uint32(w>>(2*j.bits+2)), uint32(w >> (j.bits + 2) & mask),
		uint32(w >> 2 & mask)}
}

// ahead is the number of tetrahedra whose points are loaded together. If vertices are numbered at
// random, each load misses the cache. A processor overlaps many misses only if there is little work
// between them.
const ahead = 64

// placeBits is the number of bits of a rounded coordinate, so that the determinant of three
// differences fits a signed word.
const placeBits = 20

// round scales the coordinates of each axis to integers, so that a vertex is a single word and more
// of them fit the cache.
func (j *job) round() {
	least, most := make([][3]float64, j.cores), make([][3]float64, j.cores)
	_ = j.spread(func(core int) error {
		lo, hi := j.share(core, j.in.Vertices)
		p := j.in.Points[3*lo : 3*hi]
		for k := range 3 {
			least[core][k], most[core][k] = math.Inf(1), math.Inf(-1)
		}
		for ; len(p) >= 3; p = p[3:] {
			for k := range 3 {
				least[core][k], most[core][k] = min(least[core][k], p[k]), max(most[core][k], p[k])
			}
		}
		return nil
	})
	var scale [3]float64
	for k := range 3 {
		for core := range j.cores {
			least[0][k], most[0][k] = min(least[0][k], least[core][k]), max(most[0][k], most[core][k])
		}
		scale[k] = (1<<placeBits - 1) / (most[0][k] - least[0][k])
		if size := most[0][k] - least[0][k]; !(size <= math.MaxFloat64) || !(scale[k] <= math.MaxFloat64) {
			clear(j.rounded) // then every orientation is computed exactly
			return
		}
	}
	_ = j.spread(func(core int) error {
		lo, hi := j.share(core, j.in.Vertices)
		at := least[0]
		for v := lo; v < hi; v++ {
			p := (*[3]float64)(j.in.Points[3*v:])
			j.rounded[v] = uint64((p[0]-at[0])*scale[0]) | uint64((p[1]-at[1])*scale[1])<<placeBits |
				uint64((p[2]-at[2])*scale[2])<<(2*placeBits)
		}
		return nil
	})
}

// side returns the orientation by rounded coordinates, or 0 if rounding makes it uncertain.
func side(at *[4]uint64) uint32 {
	const mask = 1<<placeBits - 1
	a, b, c, d := at[0], at[1], at[2], at[3]
	ax, ay, az := int64(a&mask), int64(a>>placeBits&mask), int64(a>>(2*placeBits))
	bx, by, bz := int64(b&mask)-ax, int64(b>>placeBits&mask)-ay, int64(b>>(2*placeBits))-az
	cx, cy, cz := int64(c&mask)-ax, int64(c>>placeBits&mask)-ay, int64(c>>(2*placeBits))-az
	dx, dy, dz := int64(d&mask)-ax, int64(d>>placeBits&mask)-ay, int64(d>>(2*placeBits))-az
	det := (by*cz-bz*cy)*dx + (bz*cx-bx*cz)*dy + (bx*cy-by*cx)*dz
	// Each difference is off by less than 2. So each of the six products of three is off by less
	// than (m+2)³−m³, where m is a bound of the differences.
	m := 1 + (sizeBits(bx) | sizeBits(by) | sizeBits(bz) | sizeBits(cx) | sizeBits(cy) | sizeBits(cz) |
		sizeBits(dx) | sizeBits(dy) | sizeBits(dz))
	if max(det, -det) <= 36*(m+2)*(m+2) {
		return 0
	}
	return 1 + uint32(uint64(det)>>63)
}

// sizeBits returns the bits of |d|, or of |d|−1 for a negative d.
func sizeBits(d int64) int64 { return d ^ d>>63 }

// orientation returns 1 or 2, depending on the side of the first three vertices on which the last
// one is.
func orientation(p []float64, s *[4]uint32) (uint32, error) {
	a, b, c, d := p[3*s[0]:][:3], p[3*s[1]:][:3], p[3*s[2]:][:3], p[3*s[3]:][:3]
	bx, by, bz := b[0]-a[0], b[1]-a[1], b[2]-a[2]
	cx, cy, cz := c[0]-a[0], c[1]-a[1], c[2]-a[2]
	dx, dy, dz := d[0]-a[0], d[1]-a[1], d[2]-a[2]
	x, y, z := by*cz, bz*cx, bx*cy
	x2, y2, z2 := bz*cy, bx*cz, by*cx
	det := (x-x2)*dx + (y-y2)*dy + (z-z2)*dz
	// The rounding error is less than a few units in the last place of the summands.
	bound := 1e-14 * ((math.Abs(x)+math.Abs(x2))*math.Abs(dx) + (math.Abs(y)+math.Abs(y2))*math.Abs(dy) +
		(math.Abs(z)+math.Abs(z2))*math.Abs(dz))
	if math.Abs(det) > bound {
		return 1 + uint32(math.Float64bits(det)>>63), nil
	}
	return exactly(a, b, c, d)
}

// exactly is orientation in exact arithmetic.
func exactly(points ...[]float64) (uint32, error) {
	var v [3][3]*big.Rat
	for i, p := range points {
		for k, x := range p {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return 0, fmt.Errorf("a vertex is at %v, which is no point; use reduced", p)
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
	return 0, fmt.Errorf("its vertices are in one plane, %v; use reduced", points)
}
