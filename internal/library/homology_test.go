package library

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/ask"
	"eccbench/internal/grid"
)

// plane is the real projective plane with six vertices.
var plane = []uint32{
	0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 1, 5, 1, 2, 4, 2, 3, 5, 1, 3, 4, 2, 4, 5, 1, 3, 5,
}

func askHomology(t *testing.T, h Homology, input string, listed []uint32) (Answer, error) {
	t.Helper()
	r := Request{Input: input, Options: ask.Options{Construction: "T"}, Threads: 2, Verify: true, Homology: &h}
	answers, err := Answers(t.Context(), r, grid.Bytes(listed), nil)
	if err != nil {
		return Answer{}, err
	}
	return answers[0], nil
}

// TestHomology computes the groups of the projective plane in memory and by its name.
func TestHomology(t *testing.T) {
	for coefficients, want := range map[string][]int64{
		"": {1, 1, 1}, "2": {1, 1, 1}, "3": {1, 0, 0}, "Q": {1, 0, 0}, "Z": {1, 0, 0},
	} {
		h := Homology{Coefficients: coefficients, Given: []int64{0, 0, 10}, Vertices: 6}
		for input, listed := range map[string][]uint32{"": plane, "rp2": nil} {
			a, err := askHomology(t, h, input, listed)
			if err != nil {
				t.Fatal(err)
			}
			torsion := coefficients == "Z"
			if a.Verdict != "VERIFIED" || !slices.Equal(a.Groups, want) ||
				torsion != slices.Equal(a.Torsion[1], []uint64{2}) {
				t.Errorf("over %q of %q: %+v", coefficients, input, a)
			}
		}
	}
	if a, err := askHomology(t, Homology{}, "", nil); err != nil || len(a.Groups) != 0 {
		t.Errorf("the empty complex: %+v, %v", a, err)
	}
}

// TestHomologyRefused passes lists that are no complex.
func TestHomologyRefused(t *testing.T) {
	for why, h := range map[string]Homology{
		"11 simplices of dimension 2": {Given: []int64{0, 0, 11}, Vertices: 6},
		"beside the simplices":        {Given: []int64{0, 0, 9}, Vertices: 6},
		"want 0 to 4":                 {Given: []int64{0, 0, 10}, Vertices: 5},
		"want a prime":                {Given: []int64{0, 0, 10}, Vertices: 6, Coefficients: "4"},
		"-1 simplices":                {Given: []int64{-1, 0, 10}, Vertices: 6},
	} {
		if _, err := askHomology(t, h, "", plane); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("want %s: %v", why, err)
		}
	}
	r := Request{Options: ask.Options{Construction: "T", Superlevel: true}, Threads: 1, Homology: &Homology{}}
	if _, err := Answers(t.Context(), r, nil, nil); err == nil {
		t.Error("a superlevel complex was answered")
	}
}
