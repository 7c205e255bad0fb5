package binned

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// A Fault is a planted mistake, for tests that the witnesses detect it.
type Fault string

// The faults.
const (
	WrongSign   Fault = "wrong sign of ∂X"
	ImageOrder  Fault = "changes of X in place of those of Y"
	Unprojected Fault = "the factor of u = V/|V| left out"
	DroppedTail Fault = "the tail of σ cut off"
	NextBin     Fault = "values one bin too high"
)

// planted applies the fault to the parts of a job.
func (j *job) planted(p *softecc.Problem, field *grid.Field, k kernel[float32]) {
	switch j.fault {
	case WrongSign:
		j.sweep.sign = -j.sweep.sign
	case ImageOrder:
		flat := *p
		flat.Alpha = 0
		j.sweep.before = rowsOf(p, field, flat.Tilt(), k)
	case DroppedTail:
		j.sweep.reach = 8
	}
}
