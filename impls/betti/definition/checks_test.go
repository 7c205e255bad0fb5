package definition

import (
	"math/big"
	"strings"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/workloads/betti"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test complexes that no set in space has: with torsion, and with cycles of cubes.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "fields", Of: fieldsAre},
		{Name: "torsion", Of: torsionIsSeen},
		{Name: "cycles of cubes", Of: cubesAreTold},
	}
}

// The orders of the fields are prime. 2 is 0 in one field and not in the other.
func fieldsAre(t *testing.T) {
	of := fields()
	for _, p := range of {
		if !big.NewInt(p).ProbablyPrime(0) { // exact for 64-bit numbers
			t.Errorf("%d is no prime", p)
		}
	}
	if of[0] != 2 || of[1] == 2 {
		t.Errorf("the fields are of %d elements", of)
	}
}

// Torsion is detected. A square glued to itself as a Klein bottle has torsion, which the field of 2
// elements shows and the other field does not.
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
	if n, err := c.numbers(); err == nil || !strings.Contains(err.Error(), "differ: (1, 2, 1) over ℤ₂, (1, 1, 0) over") {
		t.Errorf("%v (%v) with torsion", n, err)
	}
	c.boundary[2][0][0].Times = 1 // no torsion
	if n, err := c.numbers(); err != nil || n != (betti.Numbers{B0: 1, B1: 1}) {
		t.Errorf("%v (%v) without torsion", n, err)
	}
}

// A cube whose faces are glued to each other has no boundary. No set in space has such a cycle, so
// it is an error.
func cubesAreTold(t *testing.T) {
	c := &complex{count: [4]int64{1, 3, 3, 1}}
	for dim := range 3 {
		c.boundary[1+dim] = make([]chain, c.count[1+dim])
	}
	if n, err := c.numbers(); err == nil || !strings.Contains(err.Error(), "1 cycles of cubes") {
		t.Errorf("%v (%v) with a cycle of cubes", n, err)
	}
}
