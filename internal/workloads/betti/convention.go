package betti

import (
	"errors"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// InConvention returns the workload in another convention for the same implementations. Each
// answers for a view of the image in the default convention, and its answer is converted back.
// Flood fill implements the conventions independently and checks the answer on the image.
//
// If voxels are vertices, the view is the complement, with voxels as top cells. By Alexander
// duality the components of a set are the cavities of the other one in an outer layer. Both have
// the same number of tunnels, and one component more than cavities.
func InConvention(w bench.Workload[*Image, Numbers], c ecc.Convention) bench.Workload[*Image, Numbers] {
	if c == (ecc.Convention{}) {
		return w
	}
	impls := make([]bench.Implementation[*Image, Numbers], len(w.Impls))
	for i, impl := range w.Impls {
		impls[i] = viewer{impl, c}
	}
	w.Impls = impls
	w.Policy = verify.Policy[*Image, Numbers]{Agree: agree, Laws: []law{Flooding(c)}, Weak: weak}
	return w
}

// errPeriodic is the error for periodic axes: no view of an image has the Betti numbers of a set on
// a torus.
var errPeriodic = errors.New("periodic axes are not supported; use rings")

// A viewer answers for a view of an image.
type viewer struct {
	bench.Implementation[*Image, Numbers]
	in ecc.Convention
}

// view returns the image that the implementation receives.
func (v viewer) view(i *Image) (*Image, error) {
	if v.in.Periodic != (grid.Axes{}) {
		return nil, errPeriodic
	}
	set := i.set(v.in)
	if !v.in.Vertices {
		return set, nil
	}
	// The whole layer is on the first level, which is the set.
	return &Image{Source: views.Pad(set.complement().Source)}, nil
}

func (v viewer) CanDo(in *Image, c bench.Conditions) error {
	view, err := v.view(in)
	if err != nil {
		return err
	}
	return v.Implementation.CanDo(view, c)
}

func (v viewer) Setup(in *Image, c bench.Conditions) (bench.Job[Numbers], error) {
	view, err := v.view(in)
	if err != nil {
		return nil, err
	}
	job, err := v.Implementation.Setup(view, c)
	if err != nil || !v.in.Vertices {
		return job, err
	}
	return dual{job, in.Shape().Dim() == 2}, nil
}

// A dual job converts the numbers of a complement back.
type dual struct {
	bench.Job[Numbers]
	flat bool
}

func (d dual) Out() (Numbers, error) {
	n, err := d.Job.Out()
	if err != nil || n == Poisoned {
		return n, err
	}
	if d.flat {
		return Numbers{n.B1, n.B0 - 1, 0}, nil
	}
	return Numbers{n.B2, n.B1, n.B0 - 1}, nil
}
