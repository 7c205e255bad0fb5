//go:build amd64 && !noasm

package gvf

import "eccbench/internal/isa"

// Vectors are the functions of an instruction set, and the number of values of a vector.
type vectors struct {
	lanes int
	flat  func(to, here, north, south, v0, b *float32, n int, mu float32)
	deep  func(to, here, north, south, below, above, v0, b *float32, n int, mu float32)
}

// sets are those of this machine, the longest vectors first.
var sets = func() (list []vectors) {
	for _, name := range isa.Available(true) {
		switch name {
		case isa.AVX512:
			list = append(list, vectors{16, define2DAVX512, define3DAVX512})
		case isa.AVX2:
			list = append(list, vectors{8, define2DAVX2, define3DAVX2})
		}
	}
	return list
}()

// stepVectors is stepInner by vector instructions; the last vector of a row overlaps the one
// before. It returns false for other types, for short rows and without these instructions.
func (l *line[T]) stepVectors() bool {
	f, ok := any(l).(*line[float32])
	n := len(l.to) - 2
	for _, v := range sets {
		if ok && n >= v.lanes {
			v.step(f, 1, n&^(v.lanes-1))
			v.step(f, 1+n-v.lanes, v.lanes)
			return true
		}
	}
	return false
}

// step sets n values, a multiple of the lanes, from x on.
func (v *vectors) step(l *line[float32], x, n int) {
	to, here, v0, b := l.to[x:][:n], l.here[x-1:][:n+2], l.v0[x:][:n], l.b[x:][:n]
	north, south := l.north[x:][:n], l.south[x:][:n]
	if !l.deep {
		v.flat(&to[0], &here[1], &north[0], &south[0], &v0[0], &b[0], n, l.mu)
		return
	}
	below, above := l.below[x:][:n], l.above[x:][:n]
	v.deep(&to[0], &here[1], &north[0], &south[0], &below[0], &above[0], &v0[0], &b[0], n, l.mu)
}
