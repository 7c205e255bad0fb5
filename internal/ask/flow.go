package ask

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/gvf"
)

// FlowOptions are the options of a gradient vector flow: after some steps, or at rest if there is a
// tolerance.
type FlowOptions struct {
	Steps    int64   `json:"steps"`
	Tol      float64 `json:"tol"` // residual relative to |b·V0|; 0 for a number of steps
	Mu       float64 `json:"mu"`  // weight of the diffusion
	Boundary string  `json:"boundary"`
}

// Check returns the first invalid option.
func (o FlowOptions) Check() error {
	switch {
	case !(o.Tol >= 0 && o.Tol < 1):
		return OptionError{"tol", fmt.Sprint(o.Tol), "want more than 0 and less than 1, such as 1e-4"}
	case o.Steps < 0:
		return OptionError{"steps", fmt.Sprint(o.Steps), "want 0 or more"}
	case !(o.Mu > 0) || math.IsInf(float64(float32(o.Mu)), 0) || float32(o.Mu) == 0:
		return OptionError{"mu", fmt.Sprint(o.Mu), "want a number above 0, such as 0.05"}
	case !slices.Contains(gvf.Boundaries(), o.Boundary):
		return OptionError{"boundary", o.Boundary, "want " + strings.Join(gvf.Boundaries(), " or ")}
	}
	return nil
}

// Problem returns the problem of an image.
func (o FlowOptions) Problem(s grid.Source) *gvf.Problem {
	return gvf.NewProblem(s, float32(o.Mu), o.Steps, o.Tol, gvf.Boundary(slices.Index(gvf.Boundaries(), o.Boundary)))
}

// FlowImpls are in the order in which they are tried. The first three run on the cores, the fastest
// first. The last one runs on a device in slabs, for fields larger than the memory.
var FlowImpls = []string{"blocked", "cpu", "definition", "slabs-gpu"}

// A Flow requests the gradient vector flow of an image. Nothing flows between voxels with different
// values in the mask, and voxels with mask 0 are outside the image.
type Flow struct {
	Question
	FlowOptions
	By, Steady bench.Workload[*gvf.Problem, gvf.Flow]
}

// A FlowAnswer is a confirmed field.
type FlowAnswer struct {
	Image WholeImage
	Answered[gvf.Flow]
	What string // description of the field
}

// Answer computes the confirmed field.
func (q *Flow) Answer() (a FlowAnswer, err error) {
	if a.Image, err = q.load("a flow"); err != nil {
		return a, err
	}
	w, impls, problem := q.By, FlowImpls, q.Problem(a.Image.Field)
	a.What = "field after " + quantity.Count(q.Steps, "step")
	if q.Tol != 0 {
		w, impls, a.What = q.Steady, []string{"multigrid"}, fmt.Sprintf("steady state to %v", q.Tol)
	}
	if !q.Mask.IsZero() {
		within, err := q.loadOther(a.Image.Name, "mask", q.Mask)
		if err != nil {
			return a, err
		}
		q.Follow.Missing("--mask", within)
		if problem, err = problem.WithMask(within); err != nil {
			return a, Usagef("--mask %s: %w", q.MaskShown, err)
		}
		a.What += " within a mask"
	}
	a.Answered, err = answerWhole(&q.Question, w, a.Image, problem, a.What, impls...)
	return a, err
}
