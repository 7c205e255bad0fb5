package datasets

import (
	"math/bits"

	"eccbench/datasets/random"
	"eccbench/internal/grid"
)

func distinctGenerator() generator {
	return newGenerator("distinct", "every voxel on a level of its own, as many levels as voxels, in random order",
		"distinct/shape=128x128x128/type=float32/seed=7",
		[]Param{shapeParam(), typeParam(), seedParam()}, readDistinct)
}

func readDistinct(r *reading) maker {
	shape := r.shape()
	t := r.elementType()
	seed := r.seed()
	n := shape.Voxels()
	if n > random.MaxLevels(t) {
		r.reject("shape=%v has %d voxels: want at most %d, one for each value of type %v", shape, n, random.MaxLevels(t), t)
	}
	return func() (grid.Source, error) {
		s, err := random.NewScale(t, n, 0, 1)
		if err != nil {
			return nil, err
		}
		s.Prepare()
		m := &image{shape: shape, scale: s}
		if n == 1 {
			m.period = 1
		}
		p := newPermutation(uint32(n), seed)
		m.levels = func(dst []uint32, x, y, z int64) {
			first := uint32((z*shape.H+y)*shape.W + x)
			for i := range dst {
				dst[i] = p.image(first + uint32(i))
			}
		}
		return m, nil
	}
}

// A permutation is a pseudorandom bijection of 0…n−1 that is evaluated at one point at a time. It
// is a Feistel network on the smallest power of two from n on, repeated until the result is below n
// (cycle walking; Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
type permutation struct {
	n           uint32
	left, right uint32 // masks of the two halves
	width       uint   // bits of the right half
	keys        [8]uint32
}

func newPermutation(n uint32, seed uint64) *permutation {
	b := uint(bits.Len32(n - 1))
	p := &permutation{n: n, width: (b + 1) / 2}
	p.left, p.right = 1<<(b/2)-1, 1<<p.width-1
	stream := random.NewLattice(seed, random.DistinctStream)
	stream.Fill(p.keys[:], 0, 0, 0)
	return p
}

// image returns the image of i < n.
func (p *permutation) image(i uint32) uint32 {
	for {
		l, r := i>>p.width, i&p.right
		for k := 0; k < len(p.keys); k += 2 {
			l ^= mix(r^p.keys[k]) & p.left
			r ^= mix(l^p.keys[k+1]) & p.right
		}
		if i = l<<p.width | r; i < p.n {
			return i
		}
	}
}

// mix is the finaliser of MurmurHash3 (Appleby): every bit of the result depends on every bit of x.
func mix(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85ebca6b
	x = (x ^ x>>13) * 0xc2b2ae35
	return x ^ x>>16
}
