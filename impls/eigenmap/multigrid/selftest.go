package multigrid

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"eccbench/internal/workloads/eigenmap"
)

// SelfTest compares the vector code for products of blocks and for the passes of a cycle with the
// Go code, on random numbers from the seed.
func SelfTest(seed uint32) error {
	if !eigenmap.Vectors() {
		return nil
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 3))
	blocks, passes := blocksBy(rng), passesBy(rng)
	near := func(a, b []float64) bool { return eigenmap.AlmostEqual(a, b, 1e-12) }
	same := slices.EqualFunc(blocks(true), blocks(false), near) &&
		slices.EqualFunc(passes(true), passes(false), func(a, b []float32) bool { return eigenmap.AlmostEqual(a, b, 1e-5) })
	if !same {
		return fmt.Errorf("blocks of numbers with seed %d: vector instructions of this processor give another result than Go code does", seed)
	}
	return nil
}

// blocksBy returns a function that computes products of random blocks, with or without vector
// instructions.
func blocksBy(rng *rand.Rand) func(fast bool) [][]float64 {
	const n = 37
	list := func(n int) block {
		out := make(block, n)
		for i := range out {
			out[i] = rng.Float64() - 0.5
		}
		return out
	}
	a, b, to, mass := list(Lanes*n), list(Lanes*n), list(Lanes*n), list(n)
	var c [Lanes * Lanes]float64
	copy(c[:], list(Lanes*Lanes))
	return func(fast bool) [][]float64 {
		plain, weighted, sum, flows := c, c, slices.Clone(to), slices.Clone(to)
		gram(fast, plain[:], a, b, nil, 0, n)
		gram(fast, weighted[:], a, b, mass, 0, n)
		accumulate(fast, sum, a, &c)
		flow(fast, flows, a, b, mass)
		return [][]float64{plain[:], weighted[:], sum, flows}
	}
}

// passesBy returns a function that runs each pass of a cycle over a random level, with or without
// vector instructions, and returns the values after each.
func passesBy(rng *rand.Rand) func(fast bool) [][]float32 {
	size := [3]int{33, 5, 3}
	l := newLevel(size[0], size[1], size[2], 1)
	stride := l.stride()
	for i := range l.mass {
		l.mass[i] = 1
		at := [3]int{i % l.nx, i / l.nx % l.ny, i / l.nx / l.ny}
		for a := range l.link {
			if i+stride[a] < l.cells() && at[a]+1 < size[a] {
				l.link[a][i] = rng.Float64() + 0.1
			}
		}
	}
	l.ready()
	coarser := l.coarser()
	coarser.ready()
	for _, list := range [][]float32{l.f, l.u[Lanes : Lanes+len(l.f)], l.rest, coarser.u[Lanes : Lanes+len(coarser.f)]} {
		for i := range list {
			list[i] = rng.Float32()
		}
	}
	start := slices.Clone(l.u)
	return func(fast bool) (values [][]float32) {
		l.fast = fast
		for _, pass := range []func(){func() { l.relax(0) }, func() { l.relax(1) }, func() { l.interpolate(coarser) }} {
			copy(l.u, start)
			pass()
			values = append(values, slices.Clone(l.u))
		}
		l.restrict(coarser)
		return append(values, slices.Clone(coarser.f))
	}
}
