package library

import (
	"context"
	"errors"
	"fmt"

	"eccbench/datasets/element"
	"eccbench/impls/assess/runs"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// An Assess compares the topology of a prediction with that of the truth: the two images in memory.
type Assess struct {
	Labels []grid.Number  `json:"labels"` // none for all labels of the images
	Groups []assess.Group `json:"groups"`
}

// assess returns the answer of a comparison. Its rows are float64: the columns of each set, first
// for construction T and then for V.
func (r Request) assess(ctx context.Context, shape grid.Shape, voxels []byte) (a Answer, err error) {
	if r.Images != 2 || r.Betti || r.Flow != nil || r.Eigenmap != nil || r.Superlevel || r.OfSets() || r.Levels > 0 {
		return a, errors.New("a comparison needs two images in memory, without conventions or levels; leave them out")
	}
	size := len(voxels) / 2
	var images [2]*grid.Field
	for i := range images {
		if images[i], err = element.Voxels(ctx, r.Threads, shape, r.Type, voxels[i*size:(i+1)*size], 0); err != nil {
			return a, fmt.Errorf("the %s: %w", []string{"prediction", "truth"}[i], err)
		}
	}
	p, err := assess.NewPair(images[0], images[1], r.Assess.Labels, r.Assess.Groups)
	if err != nil {
		return a, err
	}
	if err := ctx.Err(); err != nil {
		return a, err
	}
	w := assess.Workload(runs.Implementation{})
	w.Policy = w.Policy.Witnesses()
	out, err := answered(&a, w, p, r)
	if err != nil {
		return a, err
	}
	lines := pairLines{}
	for i, c := range out {
		a.Sets = append(a.Sets, p.Sets[i].Name)
		for k := range assess.Constructions {
			lines = append(lines, c.Values(k, shape.Dim()))
		}
	}
	a.Columns, a.Levels, a.lines = assess.Columns(), "<f8", lines
	a.Rows = int64(len(lines) * len(a.Columns))
	return a, nil
}
