package chains

import (
	"math/bits"
	"testing"
)

// Squares match edges if there are as many, and no sum of some of their boundaries is 0 on the edges.
func TestMatchedIsNonsingular(t *testing.T) {
	seen := [2]int{}
	for e := range uint32(1 << edges) {
		for s := range uint32(1 << squares) {
			if bits.OnesCount32(e) != bits.OnesCount32(s) {
				if matched(e, s) {
					t.Fatalf("%b and %b are matched", e, s)
				}
				continue
			}
			want := true
			for some := s; some != 0 && want; some = (some - 1) & s {
				sum := uint32(0)
				for of := some; of != 0; of &= of - 1 {
					sides := stars.squareEdges[bits.TrailingZeros32(of)]
					sum ^= 1<<sides[0] ^ 1<<sides[1]
				}
				want = sum&e != 0
			}
			if matched(e, s) != want {
				t.Fatalf("edges %b and squares %b: matched %v", e, s, !want)
			}
			if want {
				seen[1]++
			} else {
				seen[0]++
			}
		}
	}
	if seen[0] == 0 || seen[1] == 0 {
		t.Error(seen)
	}
}
