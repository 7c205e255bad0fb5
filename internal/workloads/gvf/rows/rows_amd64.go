//go:build amd64 && !noasm

package rows

import "eccbench/internal/isa"

// assembled reports that this program has vector instructions.
const assembled = true

func kernel(name string) Kernel {
	switch name {
	case isa.AVX512:
		return func(s *Step) { vector(s, 16, plane512, volume512, short256) }
	case isa.AVX2:
		return short256
	}
	return Portable
}

func short256(s *Step) { vector(s, 8, plane256, volume256, Portable) }

// size is that of a value.
const size = 4

type (
	plane  func(dst, v, north, south, v0, b *float32, n, count, dstStride, stride, fieldStride int, mu, sides float32)
	volume func(dst, v, north, south, below, above, v0, b *float32, n, count, dstStride, stride, fieldStride int, mu, sides float32)
)

// vector takes a step of rows of a vector or more, and leaves shorter ones to another.
func vector(s *Step, lanes int, flat plane, solid volume, short Kernel) {
	if s.Count == 0 || s.N == 0 {
		return
	}
	if s.N < lanes {
		short(s)
		return
	}
	// What the rows take of each list is there.
	end := (s.Count-1)*s.Stride + s.N
	v, north, south := s.V[:end+2], s.North[:end], s.South[:end]
	v0, b := s.V0[:(s.Count-1)*s.FieldStride+s.N], s.B[:(s.Count-1)*s.FieldStride+s.N]
	dst := s.Dst[:(s.Count-1)*s.DstStride+s.N]
	if s.Below == nil {
		flat(&dst[0], &v[1], &north[0], &south[0], &v0[0], &b[0], s.N, s.Count, s.DstStride*size, s.Stride*size, s.FieldStride*size, s.Mu, 4)
		return
	}
	below, above := s.Below[:end], s.Above[:end]
	solid(&dst[0], &v[1], &north[0], &south[0], &below[0], &above[0], &v0[0], &b[0], s.N, s.Count, s.DstStride*size, s.Stride*size, s.FieldStride*size, s.Mu, 6)
}
