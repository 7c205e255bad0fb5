package binned

import (
	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// A Fault is a mistake that is planted to see that it is caught.
type Fault string

// The faults.
const (
	WrongSign   Fault = "wrong sign of ∂X"
	ImageOrder  Fault = "changes of X in place of those of Y"
	Unprojected Fault = "the factor of u = V/|V| left out"
	DroppedTail Fault = "the tail of σ cut off"
	NextBin     Fault = "values one bin too high"
)

// planted makes what is wrong of what a job is set up with.
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
