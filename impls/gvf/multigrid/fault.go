package multigrid

import "eccbench/internal/workloads/gvf"

// A Fault is a defect that tests plant to show that it is detected.
type Fault string

// The faults.
const (
	NotAdjoint Fault = "restriction not the transpose of interpolation"
	Lost       Fault = "the last component left as that before it"
	Early      Fault = "the first guess for the solution"
	BorderOff  Fault = "the border of the other boundary"
)

// Faulty returns the implementation with a fault.
func Faulty(f Fault) Implementation { return Implementation{f} }

func (f Fault) problem(right *gvf.Problem) *gvf.Problem {
	if f == BorderOff {
		return gvf.NewProblem(right.Source, right.Mu, 0, right.Tol, gvf.Third-right.Boundary)
	}
	return right
}

func (f Fault) solver(right *solver) *solver {
	if f == NotAdjoint {
		right.levels.inject()
	}
	return right
}

// inject makes the restriction pass a cell's value only to the coarser cell that contains it.
func (h *hierarchy) inject() {
	for _, l := range h.levels {
		for _, a := range []axis{l.x, l.y, l.z} {
			if len(a.nearGiven) == 0 {
				continue // the coarsest level
			}
			for i := range a.n {
				a.nearGiven[i], a.farGiven[i] = 1, 0
			}
		}
	}
}
