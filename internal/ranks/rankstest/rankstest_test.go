package rankstest

import (
	"fmt"
	"testing"
)

func TestByHand(t *testing.T) {
	for _, c := range []struct {
		m                [][]int64
		divisors, factor string
		two              int64
	}{
		{nil, "[]", "[]", 0},
		{[][]int64{{0, 0}, {0, 0}, {0, 0}}, "[]", "[]", 0},
		{[][]int64{{2, 4, 4}, {-6, 6, 12}, {10, -4, -16}}, "[2 12 144]", "[2 6 12]", 0},
		{[][]int64{{1, 2}, {3, 4}}, "[1 2]", "[1 2]", 1},
		{[][]int64{{1, -1, 0}, {0, 1, -1}, {1, 0, -1}}, "[1 1]", "[1 1]", 2},
	} {
		if got := fmt.Sprint(Divisors(c.m)); got != c.divisors {
			t.Errorf("%v: divisors %s, want %s", c.m, got, c.divisors)
		}
		if got := fmt.Sprint(Factors(c.m)); got != c.factor {
			t.Errorf("%v: factors %s, want %s", c.m, got, c.factor)
		}
		if got := Rank(c.m, 2); got != c.two {
			t.Errorf("%v: rank %d over 2, want %d", c.m, got, c.two)
		}
		if got := Rank(c.m, 0); got != int64(len(Factors(c.m))) {
			t.Errorf("%v: rank %d", c.m, got)
		}
	}
}
