package ask

import (
	"fmt"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/eigenmap"
)

// EigenmapOptions are the options of the lowest eigenpairs of an image's graph, of voxels or of
// patches.
type EigenmapOptions struct {
	Graph   string  `json:"graph"` // grid or patch
	Pairs   int     `json:"pairs"`
	Tol     float64 `json:"tol"`
	Sigma   float64 `json:"sigma"`
	Floor   float64 `json:"floor"`
	Corners bool    `json:"corners"`
	Radius  int64   `json:"radius"`
	Plain   bool    `json:"plain"`
	Alpha   float64 `json:"alpha"`
	Beta    float64 `json:"beta"`
	Side    int64   `json:"side"`
	Steps   int     `json:"steps"` // of Lanczos' method on patches; 0 for pairs to the tolerance
	Seed    uint64  `json:"seed"`  // of the initial vector of the steps
}

// Check returns the first invalid option.
func (o EigenmapOptions) Check() error {
	switch {
	case o.Graph != "grid" && o.Graph != "patch":
		return OptionError{"graph", o.Graph, "want grid or patch"}
	case o.Steps != 0 && o.Steps < 2:
		return OptionError{"steps", fmt.Sprint(o.Steps), "want 2 or more"}
	}
	return nil
}

// Problem returns the problem of an image.
func (o EigenmapOptions) Problem(s grid.Source) *eigenmap.Problem {
	switch {
	case o.Graph == "grid":
		return eigenmap.OfVoxels(s, o.Pairs, o.Tol, o.Sigma, o.Floor, o.Corners, o.Plain).WithRadius(o.Radius)
	case o.Steps > 0:
		return eigenmap.OfSteps(s, o.Pairs, o.Steps, o.Seed, o.Alpha, o.Beta, o.Side)
	}
	return eigenmap.OfPatches(s, o.Pairs, o.Tol, o.Alpha, o.Beta, o.Side)
}

// words describes the options in messages.
func (o EigenmapOptions) words() string {
	patches := fmt.Sprintf("alpha %v, beta %v, patches of %d", o.Alpha, o.Beta, o.Side)
	switch {
	case o.Graph == "grid":
		what := fmt.Sprintf("%d lowest pairs of the grid's graph to %v, sigma %v, floor %v", o.Pairs, o.Tol, o.Sigma, o.Floor)
		if o.Corners {
			what += ", corners"
		}
		if o.Radius > 1 {
			what += fmt.Sprintf(", radius %d", o.Radius)
		}
		if o.Plain {
			what += ", plain"
		}
		return what
	case o.Steps > 0:
		return fmt.Sprintf("%d pairs as %d steps of Lanczos' method reach them, %s", o.Pairs, o.Steps, patches)
	}
	return fmt.Sprintf("%d lowest pairs of the patches' graph to %v, %s", o.Pairs, o.Tol, patches)
}

// An Eigenmap requests the lowest eigenpairs of an image's graph.
type Eigenmap struct {
	Question
	EigenmapOptions
	Truth                    datasets.Name // an image that is 0 outside the true mask; zero for none
	TruthShown               string
	Voxels, Patches, Lanczos bench.Workload[*eigenmap.Problem, eigenmap.Map]
}

// An EigenmapAnswer is the confirmed pairs with their residuals.
type EigenmapAnswer struct {
	Image WholeImage
	Answered[eigenmap.Map]
	Of        *eigenmap.Problem
	Residuals []float64
	Truth     []bool // nil for none
	What      string // description of the pairs
}

// Answer computes the confirmed pairs.
func (q *Eigenmap) Answer() (a EigenmapAnswer, err error) {
	if !q.Mask.IsZero() {
		return a, Usagef("--mask: a graph has all voxels of its image; leave it out")
	}
	if a.Image, err = q.load("a graph"); err != nil {
		return a, err
	}
	w, impls := q.Patches, []string{"windowed", "definition"}
	switch {
	case q.Graph == "grid":
		w, impls = q.Voxels, []string{"multigrid", "definition"}
	case q.Steps > 0:
		w, impls = q.Lanczos, []string{"lanczos"}
	}
	a.Of, a.What = q.Problem(a.Image.Field), q.words()
	if a.Truth, err = q.trueMask(a.Image); err != nil {
		return a, err
	}
	if a.Answered, err = answerWhole(&q.Question, w, a.Image, a.Of, "eigenmap", impls...); err != nil {
		return a, err
	}
	a.Residuals, err = a.Of.Residuals(a.Out)
	return a, err
}

// trueMask returns a mask of the voxels where the true image is not 0, or nil if there is none.
func (q *Eigenmap) trueMask(image WholeImage) ([]bool, error) {
	if q.Truth.IsZero() {
		return nil, nil
	}
	f, err := q.loadOther(image.Name, "truth", q.Truth)
	if err != nil {
		return nil, err
	}
	s := image.Shape()
	if f.Shape() != s {
		return nil, Usagef("--truth %s is %v, the image %v: want the same shape", q.TruthShown, f.Shape(), s)
	}
	mask := make([]bool, s.Voxels())
	for i, v := range f.Marks() {
		mask[i] = v != 0
	}
	return mask, nil
}
