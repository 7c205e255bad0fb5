package ecc

import (
	"slices"
	"testing"

	"eccbench/datasets"
)

// Every other level that is looked at has a step, however few these are, and the others are
// any.
func TestSampledLevels(t *testing.T) {
	in, err := datasets.Open("noise/shape=9x9/type=float32/levels=16777216")
	if err != nil {
		t.Fatal(err)
	}
	out := VCEC{{5, 1}, {1 << 20, -3}, {1<<24 - 1, 3}}
	isStep := map[int64]bool{5: true, 1 << 20: true, 1<<24 - 1: true}
	seen := map[int64]bool{}
	for stream := range uint64(20) {
		for i, level := range sampled(in, out, stream, 8) {
			if level < 0 || level >= 1<<24 || isStep[level] != (i%2 == 0) {
				t.Errorf("stream %d: level %d at place %d", stream, level, i)
			}
			seen[level] = true
		}
	}
	if len(seen) < 80 {
		t.Errorf("%d levels were looked at, want 3 steps and 80 others", len(seen))
	}
	for _, level := range sampled(in, nil, 0, 4) {
		if level < 0 || level >= 1<<24 {
			t.Errorf("of an answer without steps: level %d", level)
		}
	}
}

// Who has seen enough of an answer's changes is not shown the rest.
func TestAllStops(t *testing.T) {
	v := VCEC{{1, 5}, {3, -2}, {9, 1}}
	for most := range len(v) + 1 {
		var seen VCEC
		for level, change := range v.All() {
			if len(seen) == most {
				break
			}
			seen = append(seen, Step{level, change})
		}
		if !slices.Equal(seen, v[:most]) {
			t.Errorf("%d of them: %v", most, seen)
		}
	}
}
