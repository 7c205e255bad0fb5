package library

import (
	"errors"
	"fmt"

	bettidirect "eccbench/impls/betti/duality"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Part replaces Betti numbers by the slabs of some slices of an image with 2 or 3 axes. Memory
// has slices Lo to Hi − 1 of the image of that shape, after the slice before them if there is one.
// The answer has a slab of each set, and the slices' contribution to its Euler characteristic, in
// the order in which sets grow.
type Part struct {
	Shape []int64 `json:"shape"`
	Lo    int64   `json:"lo"`
	Hi    int64   `json:"hi"`
}

// A Join merges the slabs of neighbouring parts, set by set, in order. With Chi, the Euler
// characteristics of the sets of the whole image, the answer has the Betti numbers. Without Chi it
// has the merged slabs. Sets are in the order in which they grow.
type Join struct {
	Slabs [][][]byte `json:"slabs"` // of each part
	Chi   []int64    `json:"chi"`
	Flat  bool       `json:"flat"` // of a 2D image
}

// bettiPart returns the answer of some slices.
func (r Request) bettiPart(a Answer, s, in grid.Source, c ecc.Convention) (Answer, error) {
	whole, err := grid.ShapeOf(r.Part.Shape)
	if err != nil {
		return a, err
	}
	f, err := grid.Load(in) // no copy: it is in memory
	if err != nil {
		return a, err
	}
	w := window{Field: f, shape: whole, first: max(0, r.Part.Lo-1)}
	of := grid.Span{Lo: r.Part.Lo, Hi: r.Part.Hi}
	if of.Lo < 0 || of.Lo >= of.Hi || of.Hi > whole.Slices() || (of.Hi-w.first)*whole.SliceVoxels() != s.Shape().Voxels() {
		return a, fmt.Errorf("slices %d to %d of %v, in an image of %v", of.Lo, of.Hi-1, whole, s.Shape())
	}
	counted, err := betti.Sets(w, r.At, c)
	if err != nil {
		return a, err
	}
	growing := ecc.Convention{Vertices: c.Vertices}
	counted = guarded{counted}
	curves := bench.Workload[grid.Source, ecc.VCEC]{Impls: Implementations()[:1]}
	question, _, share := betti.InShare(
		curves, bettidirect.Implementation{}, counted, growing, of, fingerprint.Draw(1), r.Threads)
	steps, err := answered(&a, question, counted, r)
	if err != nil {
		return a, err
	}
	a.Implementation = bettidirect.Implementation{}.About().Name
	a.Chi = make([]int64, len(r.At))
	for _, step := range steps {
		for k := step.Level; k < int64(len(a.Chi)); k++ {
			a.Chi[k] += step.Change
		}
	}
	a.Slabs, err = betti.EncodeSlabs(share.Slabs)
	return a, err
}

// joined returns the answer of several parts.
func (r Request) joined() (a Answer, err error) {
	var all betti.Merging
	for i, part := range r.Join.Slabs {
		if len(part) != len(r.At) {
			return a, fmt.Errorf("part %d has slabs of %d sets, of %d", i, len(part), len(r.At))
		}
		slabs, err := betti.DecodeSlabs(part)
		if err != nil {
			return a, fmt.Errorf("part %d: %w", i, err)
		}
		if err := all.Add(slabs); err != nil {
			return a, err
		}
	}
	vertices := r.Construction == "V"
	a = Answer{Implementation: bettidirect.Implementation{}.About().Name, Verdict: string(verify.Verified),
		Witness: betti.FloodName}
	if r.Join.Chi == nil {
		slabs, d := all.Slabs(r.Join.Flat, vertices)
		if d != nil {
			return a, ask.VerdictError{Status: verify.Wrong,
				Why: fmt.Sprintf("the slabs by %s are WRONG and are not given: %s: %v", a.Implementation, betti.FloodName, d)}
		}
		a.Slabs, err = betti.EncodeSlabs(slabs)
		return a, err
	}
	if len(r.Join.Chi) != len(r.At) || len(r.Join.Slabs) == 0 {
		return a, errors.New("the Euler characteristics and slabs are of different sets")
	}
	numbers, d := all.Numbers(r.Join.Chi, r.Join.Flat, vertices)
	if d != nil {
		return a, ask.VerdictError{Status: verify.Wrong,
			Why: fmt.Sprintf("the answer by %s is WRONG and is not given: %s: %v", a.Implementation, betti.FloodName, d)}
	}
	rows := bettiRows{at: r.At, numbers: make([]betti.Numbers, len(r.At))}
	for k, i := range betti.Growing(r.At, r.Superlevel) {
		rows.numbers[i] = numbers[k]
	}
	a.lines, a.Rows, a.Levels = rows, int64(len(rows.at)), "<f8"
	return a, nil
}

// A window presents some slices in memory at their place in the whole image.
type window struct {
	*grid.Field
	shape grid.Shape
	first int64
}

func (w window) Shape() grid.Shape { return w.shape }

func (w window) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.Ended(w.Field); err != nil {
		return err
	}
	size := grid.SliceBytes(w)
	copy(dst, w.Data()[(lo-w.first)*size:(hi-w.first)*size])
	return nil
}
