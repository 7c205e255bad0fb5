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
	_ [0]struct{} = [unsafe.Offsetof(found{}.place) - 704]struct{}{}
	_ [0]struct{} = [unsafe.Offsetof(found{}.rounds) - 4288]struct{}{}
)

type compareFunc func(to *uint64, keys *byte, apart, row, plane, words int)

func kernelOf[K key](name string) kernel[K] {
	k := portable[K]()
	const word = 8 // bytes
	size := int(unsafe.Sizeof(K(0)))
	compare := map[string]map[int]compareFunc{
		isa.AVX512: {1: compare8avx512, 2: compare16avx512, 4: compare32avx512},
		isa.AVX2:   {1: compare8avx2},
	}[name][size]
	if compare != nil {
		k.compare = func(to []uint64, keys []K, at, apart, row, plane, words int) {
			compare(&to[0], (*byte)(unsafe.Pointer(&keys[at])), word*apart, size*64*row, size*64*plane, words)
		}
	}
	if name != isa.AVX512 {
		return k
	}
	k.links = func(g *group, s *sight) {
		linksavx512(&g.link[0][0], &s.bits[s.here], &s.bits[s.next], &s.masks[s.at], word*s.apart, word*s.row, word*s.plane, s.in[0], s.in[1])
	}
	k.set = func(g *group, to *[groupVoxels]uint8) {
		setavx512(&g.link[0][0], &g.work[0][0], (*byte)(unsafe.Pointer(&g.set)), &to[0])
	}
	k.around = func(g *group, s *sight, to *[groupVoxels]uint8) {
		aroundavx512(&g.link[0][0], &s.masks[s.at], word*s.plane, s.in[0], s.in[1], s.out[0], s.out[1], &g.work[0][0], (*byte)(unsafe.Pointer(&g.around)), &to[0])
	}
	return k
}
