package main

import (
	"fmt"
	"strings"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/batch"
)

// batched makes names of images those of batches that begin with them.
func batched(names []string, count int) error {
	for i, image := range names {
		names[i] = batch.Spell(count, image)
		if _, err := (batch.Inputs{}).Variants(names[i], 1); err != nil {
			return usagef("--batch %d: %w", count, err)
		}
	}
	return nil
}

// batchPlan has images in memory where no scope is given, where a device may have
// them too, and repeats failures as a batch.
func batchPlan(p *runner.Plan, count int) {
	switch p.Scope {
	case "":
		p.Scope = bench.E2E
	case bench.File:
		p.Ceiling = impls.BatchCeiling
	}
	p.Reproduce = func(impl, input string) string {
		_, image, _ := strings.Cut(input, "/of=")
		return fmt.Sprintf("eccbench --batch %d --impl %s --scope %s --input '%s'", count, impl, p.Scope, strings.ReplaceAll(image, "'", `'\''`))
	}
}
