package cpu

import "eccbench/internal/grid"

// Memory is the number of bytes that a job is expected to allocate.
func Memory(in grid.Source, threads int) int64 { return newPlan(in, threads).memory() }
