package morse

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/workloads/pairs/pairstest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the table, and the pairs and chains in every convention.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "entries", Of: entriesAreProved},
		{Name: "planes", Of: planes},
		{Name: "homology", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{}, 800) }},
		{Name: "cohomology", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{cohomology: true}, 800) }},
		{Name: "turns", Of: func(t *testing.T) { pairstest.Conform(t, Implementation{turn: 1}, 80) }},
	}
}

func planes(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 5))
	for n := range 3000 {
		c := pairstest.Conventions()[n%8]
		f := pairstest.Drawn(t, rng, c.Masked)
		if f.Shape().Dim() == 3 {
			continue
		}
		if err := pairstest.Answers(Implementation{}, f, c); err != nil {
			t.Fatalf("image %d, %v %v %v %+v %v: %v", n, f.Shape(), f.Type(), f.Ladder(), c, f.Data(), err)
		}
	}
}
