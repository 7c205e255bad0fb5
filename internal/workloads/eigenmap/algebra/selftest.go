package algebra

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SelfTest compares the vector instructions for several systems with Go code, on a graph and numbers from the seed.
func SelfTest(seed uint32) error {
	if !fast {
		return nil
	}
	const n = 61
	random := rand.New(rand.NewPCG(uint64(seed), 3))
	list := func(n int) []float64 {
		l := make([]float64, n)
		for i := range l {
			l[i] = random.Float64() - 0.5
		}
		return l
	}
	r, into := linkedAtRandom(n, list), make([]int32, n)
	for i := range into {
		into[i] = int32(random.IntN(n))
	}
	start, right, y := list(Systems*n), list(Systems*n), list(n)
	copy(r.right, right)
	var results [2][][]float64
	for k, do := range []struct {
		flows     func(to, u, v, weights []float64)
		products  func(sums, y, x []float64)
		multiples func(to, y, by []float64)
		sweep     func(*rung, *sums, int, int, int, []int32)
		rows      func(*rung, []float64, []int32, []int32, int, int, int)
		next      func(to, x []float64, into []int32)
	}{
		{addFlows, addProducts, addMultiples, (*rung).sweepPlain, (*rung).addRowsPlain, addNext},
		{AddFlows, AddProducts, AddMultiples, (*rung).sweepVector, (*rung).addRowsVector, addNextVector},
	} {
		result := func() []float64 {
			results[k] = append(results[k], append([]float64(nil), start...))
			return results[k][len(results[k])-1]
		}
		do.flows(result(), start, right, y)
		do.products(result(), y, right)
		do.multiples(result(), y, right)
		copy(r.x, start)
		do.rows(r, result(), r.later, into, 1, n, n/2)
		do.next(result(), right, into)
		for _, back := range []bool{false, true} {
			var own sums
			copy(r.x, start)
			if back {
				do.sweep(r, &own, n-1, -1, 0, r.first[1:])
			} else {
				do.sweep(r, &own, 1, 1, n, r.later)
			}
			copy(result(), r.x)
			copy(result(), append(own.products[:], own.squares[:]...))
		}
	}
	if !near(results[0], results[1]) {
		return fmt.Errorf("several systems of equations with seed %d: vector instructions of this processor give another "+
			"result than Go code does", seed)
	}
	return nil
}

// near reports whether numbers agree to twelve digits.
func near(want, got [][]float64) bool {
	for k, want := range want {
		for i, v := range want {
			if !(math.Abs(v-got[k][i]) <= 1e-12*(1+math.Abs(v))) {
				return false
			}
		}
	}
	return true
}

// linkedAtRandom returns the finest rung of n nodes, with weights from list that both ends of a link have.
func linkedAtRandom(n int, list func(int) []float64) *rung {
	mass, links := make([]float64, n), make([][]float64, n)
	for i := range links {
		mass[i], links[i] = 1, list(n)
		for j, other := range links[:i] {
			links[i][j] = other[i]
		}
	}
	return NewHierarchy(mass, 0, func(i int, f func(int, float64)) {
		for j, w := range links[i] {
			if j != i {
				f(j, w)
			}
		}
	}, 0.1).rungs[0]
}
