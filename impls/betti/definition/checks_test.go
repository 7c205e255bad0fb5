package definition

import (
	"math/big"
	"strings"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/workloads/betti"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks are of what no set in space has: torsion, and cycles of cubes.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "fields", Of: fieldsAre},
		{Name: "torsion", Of: torsionIsSeen},
		{Name: "cycles of cubes", Of: cubesAreTold},
	}
}

// Elements of a number of them make a field where it is prime. One of two fields is that of 2, in which 2 is 0, and
// in the other one it is not.
func fieldsAre(t *testing.T) {
	of := fields()
	for _, p := range of {
		if !big.NewInt(p).ProbablyPrime(0) { // which is exact for numbers of 64 bits
			t.Errorf("%d is no prime", p)
		}
	}
	if of[0] != 2 || of[1] == 2 {
		t.Errorf("the fields are of %d elements", of)
	}
}

// Chains over a field are what they are over the integers: a square that is glued to itself
// as a Klein bottle has torsion, which the field of 2 elements sees and the other does not.
func torsionIsSeen(t *testing.T) {
	// One vertex, edges a and b, and one square with boundary 2a, twice the same edge.
	c := &complex{count: [4]int64{1, 2, 1, 0}}
	c.boundary[1] = []chain{nil, nil}
	c.boundary[2] = []chain{{{Row: 0, Times: 2}}}
	for i, want := range [2]int64{0, 1} {
		if got := c.rank(2, fields()[i]); got != want {
			t.Errorf("rank %d over the field of %d elements, want %d", got, fields()[i], want)
		}
	}
	if n, err := c.numbers(); err == nil || !strings.Contains(err.Error(), "are (1, 2, 1) over ℤ₂ and (1, 1, 0) over") {
		t.Errorf("%v (%v) with torsion", n, err)
	}
	c.boundary[2][0][0].Times = 1 // without
	if n, err := c.numbers(); err != nil || n != (betti.Numbers{B0: 1, B1: 1}) {
		t.Errorf("%v (%v) without torsion", n, err)
	}
}

// A cube whose faces are glued to each other bounds nothing, which no set in space does.
func cubesAreTold(t *testing.T) {
	c := &complex{count: [4]int64{1, 3, 3, 1}}
	for dim := range 3 {
		c.boundary[1+dim] = make([]chain, c.count[1+dim])
	}
	if n, err := c.numbers(); err == nil || !strings.Contains(err.Error(), "1 cycles of cubes") {
		t.Errorf("%v (%v) with a cycle of cubes", n, err)
	}
}
