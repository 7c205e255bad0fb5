package library

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"eccbench/impls/eigenmap/multigrid"
	"eccbench/impls/eigenmap/windowed"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap"
)

// An Eigenmap asks for the lowest eigenpairs of the Laplacian of an image's graph, of voxels or of
// patches.
type Eigenmap struct {
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
}

// checkEigenmap is nil, or why a request asks for no pairs.
func (r Request) checkEigenmap() error {
	switch {
	case r.Betti || r.Flow != nil || r.OfSets() || r.Levels > 0 || r.Images > 1:
		return errors.New("eigenpairs are of one image, without conventions or levels; leave them out")
	case r.Eigenmap.Graph != "grid" && r.Eigenmap.Graph != "patch":
		return fmt.Errorf("graph %q: want grid or patch", r.Eigenmap.Graph)
	}
	return nil
}

// eigenmap is the answer of eigenpairs. Its rows are float64: the values, the residuals of the pairs,
// and the vectors with their signs fixed, one after the other.
func (r Request) eigenmap(a Answer, in grid.Source) (Answer, error) {
	q := r.Eigenmap
	p, w := eigenmap.OfPatches(in, q.Pairs, q.Tol, q.Alpha, q.Beta, q.Side), eigenmap.OnPatches(windowed.Implementation{})
	if q.Graph == "grid" {
		p = eigenmap.OfVoxels(in, q.Pairs, q.Tol, q.Sigma, q.Floor, q.Corners, q.Plain).Within(q.Radius)
		w = eigenmap.OnGrid(multigrid.Implementation{})
	}
	if err := p.Check(); err != nil {
		return a, err
	}
	complete, err := eigenmap.Complete(p)
	if err != nil {
		return a, err
	}
	w.Policy = verify.Policy[*eigenmap.Problem, eigenmap.Map]{Laws: []verify.Law[*eigenmap.Problem, eigenmap.Map]{complete}}
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
