//go:build amd64 && !noasm

package unions

import "eccbench/internal/isa"

// assembled reports whether this program has vector instructions.
const assembled = true

// Vectors are the functions of an instruction set. A call of near, faces or corners takes words of
// a group.
type vectors struct {
	words          int
	notAbove8      func(to *uint64, own, other *uint8, words int)
	notAbove32     func(to *uint64, own, other *uint32, words int)
	near           func(group, here, next, masks *uint64, apart, row, plane int, before, behind, flip uint64)
	faces, corners func(group *uint64, to *uint8)
}

func kernelOf[K key](name string) kernel[K] {
	k := portable[K]()
	var v vectors
	switch name {
	case isa.AVX512:
		v = vectors{8, notAbove8AVX512, notAbove32AVX512, nearAVX512, facesAVX512, cornersAVX512}
	case isa.AVX2:
		v = vectors{4, notAbove8AVX2, notAbove32AVX2, nearAVX2, facesAVX2, cornersAVX2}
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
	k.near = func(p *plan, g *group, z, at int, reverse bool) {
		here, next, exist := p.notAbove[z&1][p.base+at:], p.notAbove[(z+1)&1][p.base+at:], p.exist[at:]
		for i := 0; i < groupWords; i += v.words {
			v.near(&g.before[0][i], &here[i], &next[i], &exist[i], word*p.apart, word*p.words, word*p.size,
				bits(z > 0), bits(z+1 < p.d), bits(reverse))
		}
	}
	k.choose = func(g *group, to *[groupVoxels]uint8, corners bool) {
		choose := v.faces
		if corners {
			choose = v.corners
		}
		for i := 0; i < groupWords; i += v.words {
			choose(&g.before[0][i], &to[64*i])
		}
		if v.words < groupWords {
			for i := range 4 {
				g.some[i] |= g.some[4+i] << 4
				g.some[4+i] = 0
			}
		}
	}
	return k
}
