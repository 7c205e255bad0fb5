// Package random makes the random numbers of generated images: the lattice of Philox words, Gaussian random
// fields from it, and the scales that turn levels into values. It knows no names of images.
package random

// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3"
// (SC11). It is a bijection of 128-bit counters under a 64-bit key, so that each voxel's random
// bits are computed independently.
const (
	philoxM0 = 0xD2511F53
	philoxM1 = 0xCD9E8D57
	philoxW0 = 0x9E3779B9
	philoxW1 = 0xBB67AE85
)

// A stream is the part of a counter that separates generators: equal seeds of different generators
// give unrelated images.
type stream uint32

const (
	NoiseStream stream = iota + 1
	grfStream
	DistinctStream
	ExtremesStream
	BetweenStream
	BesideStream
	TubesStream
)

// A Lattice is the lattice of random 32-bit words of one seed and stream. The word at (x, y, z) is
// lane x mod 4 of the block with counter (⌊x/4⌋, y, z, stream). Coordinates and ⌊x/4⌋ are modulo
// 2³², so negative ones are valid.
type Lattice struct {
	keys [10][2]uint32
	Tag  uint32
}

func NewLattice(seed uint64, s stream) Lattice {
	p := Lattice{Tag: uint32(s)}
	k0, k1 := uint32(seed), uint32(seed>>32)
	for i := range p.keys {
		p.keys[i] = [2]uint32{k0, k1}
		k0 += philoxW0
		k1 += philoxW1
	}
	return p
}

// Block computes the bijection.
func (p *Lattice) Block(c [4]uint32) [4]uint32 {
	for i := range p.keys {
		a, b := uint64(c[0])*philoxM0, uint64(c[2])*philoxM1
		c = [4]uint32{
			uint32(b>>32) ^ c[1] ^ p.keys[i][0], uint32(b),
			uint32(a>>32) ^ c[3] ^ p.keys[i][1], uint32(a),
		}
	}
	return c
}

// Fill sets dst[i] to the word at (x+i, y, z). x is a multiple of 4.
func (p *Lattice) Fill(dst []uint32, x, y, z int64) {
	first := uint32(x >> 2)
	// Two blocks at a time keep the multiplier busy during its latency.
	for ; len(dst) >= 8; dst = dst[8:] {
		a0, a1, a2, a3 := first, uint32(y), uint32(z), p.Tag
		b0, b1, b2, b3 := first+1, uint32(y), uint32(z), p.Tag
		for i := range p.keys {
			k0, k1 := p.keys[i][0], p.keys[i][1]
			p0, p1 := uint64(a0)*philoxM0, uint64(a2)*philoxM1
			q0, q1 := uint64(b0)*philoxM0, uint64(b2)*philoxM1
			a0, a1, a2, a3 = uint32(p1>>32)^a1^k0, uint32(p1), uint32(p0>>32)^a3^k1, uint32(p0)
			b0, b1, b2, b3 = uint32(q1>>32)^b1^k0, uint32(q1), uint32(q0>>32)^b3^k1, uint32(q0)
		}
		d := dst[:8]
		d[0], d[1], d[2], d[3] = a0, a1, a2, a3
		d[4], d[5], d[6], d[7] = b0, b1, b2, b3
		first += 2
	}
	for len(dst) > 0 {
		c := p.Block([4]uint32{first, uint32(y), uint32(z), p.Tag})
		dst = dst[copy(dst, c[:]):]
		first++
	}
}
