//go:build amd64 && !noasm

package unions

import "eccbench/internal/isa"

// assembled reports whether this program has vector instructions.
const assembled = true

// Vectors are the functions of an instruction set. A call of corners or faces takes words of a group.
type vectors struct {
	words      int
	notAbove8  func(to *uint64, own, other *uint8, words int)
	notAbove32 func(to *uint64, own, other *uint32, words int)
	corners    func(group, here, next, masks *uint64, apart, row, plane int, before, behind, flip uint64)
	faces      func(group, masks *uint64, plane int, before, behind uint64, to *uint8)
}

func kernelOf[K key](name string) kernel[K] {
	k := portable[K]()
	var v vectors
	switch {
	case name == isa.AVX512 && isa.Matrices():
		v = vectors{8, notAbove8AVX512, notAbove32AVX512, cornersAVX512, facesAVX512}
	case name != isa.Portable:
		v = vectors{4, notAbove8AVX2, notAbove32AVX2, cornersAVX2, facesAVX2}
	default:
		return k
	}
	switch compare := any(&k.compare).(type) {
	case *func(to []uint64, own, other []uint8):
		*compare = func(to []uint64, own, other []uint8) { v.notAbove8(&to[0], &own[0], &other[0], len(to)) }
	case *func(to []uint64, own, other []uint32):
		*compare = func(to []uint64, own, other []uint32) { v.notAbove32(&to[0], &own[0], &other[0], len(to)) }
	}
	const word = 8 // bytes
	bits := func(is bool) (v uint64) {
		if is {
			v = ^uint64(0)
		}
		return v
	}
	gather := func(g *group) { // the words of both halves
		if v.words == groupWords {
			return
		}
		for i := range 4 {
			g.some[i] |= g.some[4+i] << 4
			g.some[4+i] = 0
		}
	}
	k.corners = func(p *plan, g *group, z, at int, reverse bool) {
		here, next, exist := p.of(z)[p.base+at:], p.of(z + 1)[p.base+at:], p.exist[at:]
		for i := 0; i < groupWords; i += v.words {
			v.corners(&g.before[0][i], &here[i], &next[i], &exist[i], word*p.apart, word*p.words, word*p.size,
				bits(z > 0), bits(z+1 < p.d), bits(reverse))
		}
		gather(g)
	}
	k.faces = func(p *plan, g *group, z, at int, to *[groupVoxels]uint8) {
		exist := p.exist[at:]
		for i := 0; i < groupWords; i += v.words {
			v.faces(&g.before[0][i], &exist[i], word*p.size, bits(z > 0), bits(z+1 < p.d), &to[64*i])
		}
		gather(g)
	}
	return k
}
