package library

import (
	"encoding/binary"
	"errors"
	"math"

	"eccbench/impls/eigenmap/multigrid"
	"eccbench/impls/eigenmap/windowed"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap"
)

// checkEigenmap returns the reason why a request for eigenpairs is invalid, or nil.
func (r Request) checkEigenmap() error {
	if r.Betti || r.Flow != nil || r.OfSets() || r.Levels > 0 || r.Images > 1 || r.Eigenmap.Steps != 0 {
		return errors.New("eigenpairs need one image, without conventions, levels or steps; leave them out")
	}
	return r.Eigenmap.Check()
}

// eigenmap returns the answer of eigenpairs. Its rows are float64: the values, the residuals of the
// pairs, and the vectors with normalised signs, one after the other.
func (r Request) eigenmap(a Answer, in grid.Source) (Answer, error) {
	p, w := r.Eigenmap.Problem(in), eigenmap.OnPatches(windowed.Implementation{})
	if r.Eigenmap.Graph == "grid" {
		w = eigenmap.OnGrid(multigrid.Implementation{})
	}
	if err := p.Check(); err != nil {
		return a, err
	}
	w.Policy = verify.Policy[*eigenmap.Problem, eigenmap.Map]{Laws: eigenmap.Complete(p)}
	out, err := answered(&a, w, p, r)
	if err != nil {
		return a, err
	}
	residuals, err := p.Residuals(out)
	if err != nil {
		return a, err
	}
	lines := pairLines{out.Values, residuals}
	for _, x := range out.Vectors {
		lines = append(lines, eigenmap.Signed(x))
	}
	a.lines, a.Rows, a.Levels = lines, int64(len(out.Values))*(2+p.Nodes().Voxels()), "<f8"
	return a, nil
}

type pairLines [][]float64

func (pairLines) columns() int64 { return 0 }

func (l pairLines) fill(t *table) {
	var number [8]byte
	for _, list := range l {
		for _, v := range list {
			binary.LittleEndian.PutUint64(number[:], math.Float64bits(v))
			t.put(number[:])
		}
	}
}
