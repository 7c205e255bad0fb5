package gvf

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A vectors are the functions of an instruction set, and the number of values of a vector.
type vectors struct {
	name  string
	lanes int
	flat  func(to, here, north, south, v0, b *float32, n int, mu float32)
	deep  func(to, here, north, south, below, above, v0, b *float32, n int, mu float32)
}

// stepVectors is stepInner by the longest vectors that a row fills. It returns false for other
// types, for short rows and without these instructions.
func (l *line[T]) stepVectors() bool {
	f, ok := any(l).(*line[float32])
	for i := range sets {
		if ok && sets[i].stepInner(f) {
			return true
		}
	}
	return false
}

// stepInner sets all values except the two at the ends. Vectors begin at multiples of their length,
// where loads are faster; the first and the last one overlap these. It returns false for rows shorter
// than a vector.
func (v *vectors) stepInner(l *line[float32]) bool {
	n := len(l.to) - 2
	if n < v.lanes {
		return false
	}
	v.step(l, 1, v.lanes)
	if whole := (n + 1) &^ (v.lanes - 1); whole > v.lanes {
		v.step(l, v.lanes, whole-v.lanes)
	}
	v.step(l, 1+n-v.lanes, v.lanes)
	return true
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

// SelfTest compares each instruction set with Go code on rows of one to five vectors, of
// numbers drawn from the seed.
func SelfTest(seed uint32) error {
	rng := rand.New(rand.NewPCG(uint64(seed), 5))
	for _, v := range sets {
		for n := 2 + v.lanes; n < 2+5*v.lanes; n++ {
			list := func() []float32 {
				values := make([]float32, n)
				for i := range values {
					values[i] = rng.Float32() - 0.5
				}
				return values
			}
			l := line[float32]{
				to: list(), here: list(), north: list(), south: list(), below: list(), above: list(),
				v0: list(), b: list(), mu: rng.Float32(),
			}
			for _, l.deep = range []bool{false, true} {
				before := slices.Clone(l.to)
				v.stepInner(&l)
				got := l.to
				l.to = before
				if l.stepInner(); !slices.Equal(got, l.to) {
					return fmt.Errorf("%s instructions of this processor give another flow than Go code does", v.name)
				}
			}
		}
	}
	return nil
}
