//go:build amd64 && !noasm

package unions

import "eccbench/internal/isa"

// assembled reports whether this program has vector instructions.
const assembled = true

func kernelOf[K key](name string) kernel[K] {
	k := portable[K]()
	if name != isa.AVX512 {
		return k
	}
	switch compare := any(&k.compare).(type) {
	case *func(to []uint64, own, other []uint8):
		*compare = func(to []uint64, own, other []uint8) { notAbove8AVX512(&to[0], &own[0], &other[0], len(to)) }
	case *func(to []uint64, own, other []uint32):
		*compare = func(to []uint64, own, other []uint32) { notAbove32AVX512(&to[0], &own[0], &other[0], len(to)) }
	}
	const word = 8 // bytes
	k.near = func(p *plan, g *group, z, at int, reverse bool) {
		bits := func(is bool) (v uint64) {
			if is {
				v = ^uint64(0)
			}
			return v
		}
		nearAVX512(&g.before[0][0], &p.notAbove[z&1][p.base+at], &p.notAbove[(z+1)&1][p.base+at], &p.exist[at], word*p.apart,
			word*p.words, word*p.size, bits(z > 0), bits(z+1 < p.d), bits(reverse))
	}
	k.choose = func(g *group, to *[groupVoxels]uint8, corners bool) {
		if corners {
			cornersAVX512(&g.before[0][0], &to[0])
		} else {
			facesAVX512(&g.before[0][0], &to[0])
		}
	}
	return k
}
