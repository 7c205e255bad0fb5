package plain_test

import (
	"math"
	"testing"

	"eccbench/datasets"
	"eccbench/doc/examples/tally"
	"eccbench/doc/examples/tally/plain"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// Answers to the adversarial inputs are VERIFIED, and with a wrong count WRONG.
func TestAnswers(t *testing.T) {
	w := tally.Workload(plain.Implementation{})
	for _, name := range w.Adversarial {
		in, err := datasets.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := bench.Answer(w.Impls[0], in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		judge := func() verify.Verdict {
			q := verify.Question[grid.Source, []int64]{Name: name, In: in, Out: out, Budget: math.MaxInt64}
			return verify.Judge([]string{name}, w.Policy.Check(q))
		}
		if v := judge(); v.Status != verify.Verified {
			t.Errorf("%s: %s: %s", name, v.Status, v.Reason)
		}
		out[0]++
		if v := judge(); v.Status != verify.Wrong {
			t.Errorf("%s with a voxel too many: %s", name, v.Status)
		}
	}
}
