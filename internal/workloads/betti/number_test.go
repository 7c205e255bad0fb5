package betti

import (
	"errors"
	"testing"

	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// The laws of one number confirm the right one and reject a number that differs by one.
func TestNumberOf(t *testing.T) {
	for name, of := range map[string]func(Numbers) int64{
		"euler":      Numbers.Euler,
		"components": func(n Numbers) int64 { return n.B0 },
	} {
		w := NumberOf(Workload(), name, name, of)
		answer := func(in *Image) (Numbers, error) {
			n, err := ByFlooding(in, ecc.Convention{})
			return Numbers{B0: of(n)}, err
		}
		for _, input := range []string{
			"noise/shape=7x5x3/levels=9/type=uint8/seed=6", "noise/shape=9x8/levels=9/type=uint8/seed=2",
		} {
			in, err := Inputs{}.Open(NameOf(4, input))
			if err != nil {
				t.Fatal(err)
			}
			right, err := answer(in)
			if err != nil {
				t.Fatal(err)
			}
			independent := 0
			for _, law := range w.Policy.Laws {
				d, _, err := law.Try(in, right, answer)
				if d != nil || err != nil && !errors.Is(err, verify.ErrNotApplicable) {
					t.Errorf("%s of %s: %s: %v, %v", name, input, law.Name, d, err)
				}
				if d, _, _ := law.Try(in, Numbers{B0: right.B0 + 1}, answer); law.Independent && d != nil {
					independent++
				}
			}
			if independent == 0 {
				t.Errorf("%s of %s: no witness finds another number", name, input)
			}
			in.Close()
		}
	}
}

// Only 0 and 1 are answers that a program could give without its input.
func TestWeakNumbers(t *testing.T) {
	weak := NumberOf(Workload(), "euler", "euler", Numbers.Euler).Policy.Weak
	for number, want := range map[int64]bool{-3089: false, -1: false, 0: true, 1: true, 2: false} {
		if why := weak(nil, Numbers{B0: number}); (why != "") != want {
			t.Errorf("%d: %q", number, why)
		}
	}
}
