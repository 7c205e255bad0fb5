package multigrid

import "eccbench/internal/workloads/gvf"

// A Fault is a mistake that is planted to see that it is caught.
type Fault string

// The faults.
const (
	NotAdjoint Fault = "restriction not the transpose of interpolation"
	Lost       Fault = "the last component left as that before it"
	Early      Fault = "the first guess for the solution"
	BorderOff  Fault = "the border of the other boundary"
)

// Faults lists every fault.
func Faults() []Fault { return []Fault{NotAdjoint, Lost, Early, BorderOff} }

// Faulty is the implementation with a fault.
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

// source is what a component is solved for.
func (f Fault) source(v0 [][]float32, c int) []float32 {
	if f == Lost && c == len(v0)-1 {
		c--
	}
	return v0[c]
}

// inject gives what a cell has to the cell of the next level that holds it, and to no other.
func (h *hierarchy) inject() {
	for _, l := range h.levels {
		for _, a := range []axis{l.x, l.y, l.z} {
			if len(a.nearGiven) == 0 {
				continue // of the coarsest
			}
			for i := range a.n {
				a.nearGiven[i], a.farGiven[i] = 1, 0
			}
		}
	}
}
