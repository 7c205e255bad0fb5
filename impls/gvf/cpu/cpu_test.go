package cpu

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// The adversarial inputs have the bits of the plain loop, in each instruction set.
func TestBits(t *testing.T) {
	w := gvf.Steps(Implementation{})
	for _, name := range w.Adversarial {
		p, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := gvf.Define(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for k, isa := range rows.Available() {
			got, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{Setting: bench.Setting{Threads: 1 + k, ISA: isa}})
			if err != nil {
				t.Fatal(err)
			}
			if d := w.Policy.Agree(p, want, got); d != nil {
				t.Errorf("%s, %s: %v (%s)", name, isa, d, d.Context)
			}
		}
	}
}
