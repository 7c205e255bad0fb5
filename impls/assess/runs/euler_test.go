package runs

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/isa"
	"eccbench/internal/workloads/assess"
)

// All instruction sets count the cells of the definition.
func TestEuler(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 60 {
		s := newSpace(box{d: 1 + rng.IntN(4), h: 1 + rng.IntN(9), words: 1 + rng.IntN(11)})
		mask := s.newMask()
		s.eachRow(func(_, _, first int) {
			for p := first; p < first+s.words; p++ {
				switch mask[p] = rng.Uint64(); n % 4 {
				case 1:
					mask[p] &= rng.Uint64() & rng.Uint64()
				case 2:
					mask[p] |= rng.Uint64() | rng.Uint64()
				case 3: // runs across words
					mask[p] = -(mask[p] & 1) << (mask[p] >> 1 & 1)
				}
			}
		})
		want := cellsOf(&s, mask)
		for _, name := range isa.Available(assembled) {
			var got [assess.Constructions]int64
			for z := range s.d + 1 {
				counterOf(name)(&got, s.withBorder(mask, z-1), s.withBorder(mask, z), s.stride)
			}
			if got != want {
				t.Errorf("%s, %d planes of %d rows of %d words: got %v, want %v", name, s.d, s.h, s.words, got, want)
			}
		}
	}
}

// cellsOf counts cells one by one. The cell at a corner spans the axes of bits of kind, and lies between the voxels
// before the corner along the others. In T it needs one of the voxels that it touches, in V all of its own corners.
func cellsOf(s *space, mask []uint64) (n [assess.Constructions]int64) {
	has := func(z, y, x int) bool {
		return x >= 0 && x < 64*s.words && mask[s.row(z, y)+x/64]>>(x%64)&1 == 1
	}
	for i := range (s.d + 1) * (s.h + 1) * (64*s.words + 1) {
		z, y, x := i/(64*s.words+1)/(s.h+1), i/(64*s.words+1)%(s.h+1), i%(64*s.words+1)
		for kind := range 8 {
			some, all, sign := false, true, int64(1)
			for axis := range 3 {
				if kind>>axis&1 == 1 {
					sign = -sign
				}
			}
			for by := range 8 {
				if by&kind == by { // a voxel before the corner along some of the axes
					is := has(z-by>>2, y-by>>1&1, x-by&1)
					some, all = some || is, all && is
				}
			}
			if all {
				n[assess.V] += sign
			}
			if some { // its cell touches the corner and spans the other axes
				n[assess.T] -= sign
			}
		}
	}
	return n
}
