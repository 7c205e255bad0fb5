package main

import (
	"testing"

	"eccbench/impls"
	"eccbench/internal/runner"
	"eccbench/reports/paper"
)

// The papers' tables name workloads of the program.
func TestPapersNameWorkloads(t *testing.T) {
	benches := impls.With(nil, nil).Benches
	for _, name := range []string{paper.ECC, paper.Batch, paper.Smooth, paper.BatchCeiling} {
		if _, err := runner.Find(benches, name); err != nil {
			t.Error(err)
		}
	}
	if paper.BatchCeiling != impls.BatchCeiling {
		t.Errorf("the ceiling of a batch is %s, not %s", impls.BatchCeiling, paper.BatchCeiling)
	}
}
