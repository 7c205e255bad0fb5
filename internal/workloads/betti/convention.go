package betti

import (
	"errors"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// InConvention is the question in another convention, put to the same implementations: each
// is asked about a view of the image in the project's, and what it says is turned back. The
// flood fill knows the conventions by itself and is held to the image.
//
// Voxels that are vertices are the complement of the others as top cells. By Alexander
// duality the components of the one are the cavities of the other in a layer that is
// outside, the tunnels of both are as many, and there is one component more than cavities.
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

// errPeriodic is the error of periodic axes: no view of an image has the numbers of a set on a torus.
var errPeriodic = errors.New("takes no periodic axes, which OnRings is for")

// A viewer answers about a view of an image.
type viewer struct {
	bench.Implementation[*Image, Numbers]
	in ecc.Convention
}

// view is what is asked about.
func (v viewer) view(i *Image) (*Image, error) {
	if v.in.Periodic != (grid.Axes{}) {
		return nil, errPeriodic
	}
	set := i.set(v.in)
	if !v.in.Vertices {
		return set, nil
	}
	// All of the layer is on the first level, which is the set.
	return &Image{Source: grid.Pad(set.complement().Source)}, nil
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

// A dual job turns the numbers of a complement back.
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
