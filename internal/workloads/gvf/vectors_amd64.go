//go:build amd64 && !noasm

package gvf

import (
	"slices"

	"eccbench/internal/isa"
)

// lanes is the number of values of a vector.
const lanes = 8

var hasVectors = slices.Contains(isa.Available(true), isa.AVX2)

// stepVectors is stepInner by vector instructions; the last vector of a row overlaps the one
// before. It returns false for other types, for short rows and without these instructions.
func (l *line[T]) stepVectors() bool {
	f, ok := any(l).(*line[float32])
	n := len(l.to) - 2
	if !ok || !hasVectors || n < lanes {
		return false
	}
	vectors(f, 1, n&^(lanes-1))
	vectors(f, 1+n-lanes, lanes)
	return true
}

// vectors sets n values, a multiple of 8, from x on.
func vectors(l *line[float32], x, n int) {
	to, here, v0, b := l.to[x:][:n], l.here[x-1:][:n+2], l.v0[x:][:n], l.b[x:][:n]
	north, south := l.north[x:][:n], l.south[x:][:n]
	if !l.deep {
		define2D(&to[0], &here[1], &north[0], &south[0], &v0[0], &b[0], n, l.mu)
		return
	}
	below, above := l.below[x:][:n], l.above[x:][:n]
	define3D(&to[0], &here[1], &north[0], &south[0], &below[0], &above[0], &v0[0], &b[0], n, l.mu)
}
