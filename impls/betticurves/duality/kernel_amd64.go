//go:build amd64 && !noasm

package duality

import (
	"unsafe"

	"eccbench/internal/isa"
)

// assembled reports whether this program has vector instructions.
const assembled = true

// The assembly uses these offsets in found.
var (
	_ [0]struct{} = [unsafe.Offsetof(found{}.layers) - 64]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(found{}.more) - 256]struct{}{}
)

// Vectors are the functions of an instruction set. A call of links, set or around takes words of a group.
type vectors struct {
	words   int
	compare map[int]func(to *uint64, keys *byte, apart, row, plane, words int)
	links   func(link, here, next, masks *uint64, apart, row, plane int, before, behind uint64)
	set     func(link, work *uint64, found, place, to *byte) int
	around  func(link, masks *uint64, plane int, before, behind, outBefore, outBehind uint64, work *uint64,
		found, place, to *byte) int
}

func vectorsOf(name string) (v vectors, ok bool) {
	type compare = map[int]func(to *uint64, keys *byte, apart, row, plane, words int)
	switch name {
	case isa.AVX512:
		return vectors{8, compare{1: compare8avx512, 2: compare16avx512, 4: compare32avx512}, linksavx512, setavx512,
			aroundavx512}, true
	case isa.AVX2:
		return vectors{4, compare{1: compare8avx2, 2: compare16avx2, 4: compare32avx2}, linksavx2, setavx2, aroundavx2}, true
	}
	return v, false
}

func kernelOf[K key](name string) kernel[K] {
	k := portable[K]()
	v, ok := vectorsOf(name)
	if !ok {
		return k
	}
	const word = 8 // bytes
	size := int(unsafe.Sizeof(K(0)))
	compare := v.compare[size]
	k.compare = func(to []uint64, keys []K, at, apart, row, plane, words int) {
		compare(&to[0], (*byte)(unsafe.Pointer(&keys[at])), word*apart, size*64*row, size*64*plane, words)
	}
	k.links = func(g *group, s *sight) {
		for i := 0; i < groupWords; i += v.words {
			v.links(&g.link[0][i], &s.bits[s.here+i], &s.bits[s.next+i], &s.masks[s.at+i], word*s.apart, word*s.row,
				word*s.plane, s.in[0], s.in[1])
		}
	}
	// each scans the words of a group.
	each := func(f *found, scan func(i int, found, place *byte) int) {
		var rounds [2]int
		for i := 0; i < groupWords; i += v.words {
			rounds[i/v.words] = scan(i, (*byte)(unsafe.Pointer(&f.minima[i])), &f.place[0][64*i])
		}
		f.rounds = int64(max(rounds[0], rounds[1]))
		if v.words == groupWords || rounds[0] == rounds[1] {
			return
		}
		for half, n := range rounds {
			for ; n < int(f.rounds); n++ {
				clear(f.more[n][half*v.words:][:v.words])
			}
		}
	}
	k.set = func(g *group, to *[groupVoxels]uint8) {
		each(&g.set, func(i int, found, place *byte) int {
			return v.set(&g.link[0][i], &g.work[0][i], found, place, &to[64*i])
		})
	}
	k.around = func(g *group, s *sight, to *[groupVoxels]uint8) {
		each(&g.around, func(i int, found, place *byte) int {
			return v.around(&g.link[0][i], &s.masks[s.at+i], word*s.plane, s.in[0], s.in[1], s.out[0], s.out[1],
				&g.work[0][i], found, place, &to[64*i])
		})
	}
	return k
}
