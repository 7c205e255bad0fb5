package labels_test

import (
	"testing"

	"eccbench/impls/betti/labels"
	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
)

// The policy confirms the labels of all adversarial inputs, but not the labels of a poisoned job.
func TestPolicy(t *testing.T) {
	w := betti.Workload(labels.Implementation{})
	for _, name := range w.Adversarial {
		in, err := betti.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		job, err := labels.Implementation{}.Setup(in, bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		status := func() verify.Status {
			out, err := job.Out()
			if err != nil {
				t.Fatal(err)
			}
			return verify.Judge([]string{name}, w.Policy.Check(verify.Question[*betti.Image, betti.Numbers]{Name: name, In: in, Out: out, Budget: 1 << 40})).Status
		}
		job.Poison()
		if s := status(); s != verify.Wrong {
			t.Errorf("%s: poison is %s", name, s)
		}
		for range 2 {
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			if s := status(); s != verify.Verified {
				t.Errorf("%s: %s", name, s)
			}
		}
	}
}
