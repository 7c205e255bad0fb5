package algebra

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A cycle is symmetric although all nodes of the last part are merged with nodes of other parts: heavy links join
// planes, which parts are made of.
func TestLastPartBeginsNoPair(t *testing.T) {
	const d, h, w, n = 16, 64, 64, 16 * 64 * 64
	mass := make([]float64, n)
	for i := range mass {
		mass[i] = 1
	}
	hierarchy := NewHierarchy(mass, 6*n, func(i int, f func(j int, w float64)) {
		z, y, x := i/(h*w), i/w%h, i%w
		for _, link := range []struct {
			has    bool
			to     int
			weight float64
		}{
			{z > 0, i - h*w, 1}, {y > 0, i - w, 0.02}, {x > 0, i - 1, 0.02},
			{x < w-1, i + 1, 0.02}, {y < h-1, i + w, 0.02}, {z < d-1, i + h*w, 1},
		} {
			if link.has {
				f(link.to, link.weight)
			}
		}
	}, 1e-3)
	for k, r := range hierarchy.rungs {
		if r.into != nil && len(r.next) != len(r.bounds) {
			t.Errorf("rung %d has %d bounds of parts, the next one %d", k, len(r.bounds), len(r.next))
		}
	}
	random := rand.New(rand.NewPCG(4, 7))
	var sides, solutions [2][]float64
	right, x, _, _ := hierarchy.Finest()
	for k := range sides {
		for i := range right {
			right[i] = random.NormFloat64()
		}
		sides[k] = append(sides[k], right...)
		hierarchy.Cycle()
		solutions[k] = append(solutions[k], x[:len(right)]...)
	}
	a, b := Dot(sides[0], solutions[1]), Dot(sides[1], solutions[0])
	if math.Abs(a-b) > 1e-11*Norm(sides[0])*Norm(solutions[1]) {
		t.Errorf("the products of two vectors with a cycle are %g and %g", a, b)
	}
}

// Vector instructions agree with Go code whatever the seed.
func TestSelfTest(t *testing.T) {
	for seed := range uint32(64) {
		if err := SelfTest(seed); err != nil {
			t.Fatal(err)
		}
	}
}
