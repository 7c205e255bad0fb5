// Package library answers questions for programs in other languages, in their own process: the
// curve of an image in their memory or of a file, confirmed by its fingerprint, its Betti numbers,
// its gradient vector flow, the lowest eigenpairs of its graph, the comparison of a segmentation
// with its truth, its soft curve with the gradients, and the homology of a complex. The answers are
// those of the commands curve, betti, gvf, eigenmap, assess and homology, and of the workload softecc.
//
// It does not use the list of all implementations, which would add the device kernels and the
// runner.
package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"eccbench/datasets"
	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Request is what is asked, and of which images.
type Request struct {
	// Input is a file or an input string; "" for images in memory.
	Input string `json:"input"`
	// Shape is that of each image in memory, or of a raw file, 1 to 3 axes, the slowest first.
	Shape []int64 `json:"shape"`
	// Type is the type of the voxels in memory, or of a raw file, as NumPy calls it.
	Type string `json:"type"`
	// Images are how many there are in memory, one after the other.
	Images int `json:"images"`

	ask.Options
	// Strict makes an error of a missing chunk of a Zarr array.
	Strict bool `json:"strict"`
	// Levels is 0 for a row at each level where χ changes, else the number of evenly spaced
	// levels of a float32 image, each of which has a row.
	Levels  int64 `json:"levels"`
	Threads int   `json:"threads"`
	// Sets asks for the curves of images in memory at some values alone: of their type, ascending.
	Sets []json.Number `json:"sets"`
	// Betti asks for the Betti numbers in place of χ: at every level at which one changes, or
	// at these values alone.
	Betti bool          `json:"betti"`
	At    []grid.Number `json:"at"`
	// Part asks for what some slices tell of the sets at these values, and Join for what several
	// tell together; nil where they are not asked for.
	Part *Part `json:"part"`
	Join *Join `json:"join"`
	// Flow asks for the gradient vector flow in place of χ; nil where it is not asked for.
	Flow *ask.FlowOptions `json:"flow"`
	// Eigenmap asks for the lowest eigenpairs of the image's graph; nil where it does not.
	Eigenmap *ask.EigenmapOptions `json:"eigenmap"`
	// Assess asks how the first of two images in memory, a prediction, differs from the second, its
	// truth; nil where it does not.
	Assess *Assess `json:"assess"`
	// Homology asks for the groups of a complex; nil where it does not.
	Homology *Homology `json:"homology"`
	// Verify holds each curve to a fingerprint of its image.
	Verify bool `json:"verify"`
	// Describe asks what an image is, and not for its curve.
	Describe bool `json:"describe"`
	// Read asks for the voxels of an input, which are written to those in memory: each of the
	// answer's type, or where they are ranked of that of its levels.
	Read bool `json:"read"`

	masked bool
	within []byte                                        // the mask of a flow
	by     []bench.Implementation[grid.Source, ecc.VCEC] // in tests; nil for those below
}

// Implementations returns the implementations that count curves on the host, in the order of their speed.
func Implementations() []bench.Implementation[grid.Source, ecc.VCEC] {
	return []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}, cpu.Implementation{}}
}

// An Answer is the curve of an image, its Betti numbers, its flow or its pairs, but for its rows,
// and what is known of it.
type Answer struct {
	Shape          []int64 `json:"shape"` // 2 or 3 axes, the slowest first
	Type           string  `json:"type"`  // of the voxels
	Made           bool    `json:"made"`  // by a generator, on its own levels
	Rows           int64   `json:"rows"`
	Levels         string  `json:"levels"` // their type, as NumPy calls it: "<f4", "<i8", "<u8" or "<f8"
	Implementation string  `json:"implementation"`
	Verdict        string  `json:"verdict"`
	Witness        string  `json:"witness"`
	Missing        string  `json:"missing,omitempty"` // what the file lacks, grid.Missing
	// Slabs are those of each set, of a Part or a Join, and Chi what a part adds to the sets' Euler
	// characteristics.
	Slabs [][]byte `json:"slabs,omitempty"`
	Chi   []int64  `json:"chi,omitempty"`
	// Sets are the names of the sets of labels that an Assess compares, and Columns those of the numbers
	// of each.
	Sets    []string `json:"sets,omitempty"`
	Columns []string `json:"columns,omitempty"`
	// Groups are the Betti numbers of a complex by dimension, and Torsion the orders of the cyclic parts of each.
	Groups       []int64    `json:"groups,omitempty"`
	Torsion      [][]uint64 `json:"torsion,omitempty"`
	Coefficients string     `json:"coefficients,omitempty"`

	lines numbers
}

// numbers are rows of levels, each with as many numbers as there are columns.
type numbers interface {
	columns() int64
	// fill puts the rows in order.
	fill(*table)
}

// A table is where rows are written, which there is room for: their levels, little-endian, and their
// numbers.
type table struct {
	levels  []byte
	numbers []int64
}

func (t *table) put(level []byte, numbers ...int64) {
	t.levels, t.numbers = append(t.levels, level...), append(t.numbers, numbers...)
}

type curveLines struct{ ecc.Lines }

func (curveLines) columns() int64 { return 1 }

func (l curveLines) fill(t *table) {
	l.Each(func(x ecc.Line) {
		t.levels, t.numbers = l.AppendLevel(t.levels, x), append(t.numbers, x.Chi)
	})
}

// check is nil, or why a request, of images with masks or not, has no answer.
func (r Request) check(masked bool) error {
	if err := r.Check(); err != nil {
		return err
	}
	if _, err := r.Axes(); err != nil {
		return fmt.Errorf("periodic: %w", err)
	}
	switch {
	case r.Threads < 1:
		return fmt.Errorf("%d threads: want at least 1", r.Threads)
	case r.Levels < 0 || r.Levels > 0 && (r.Construction == "V" || r.Superlevel):
		return fmt.Errorf("%d levels: evenly spaced levels are for sublevel sets in the T-construction", r.Levels)
	case r.Betti && r.Levels > 0:
		return errors.New("evenly spaced levels: Betti numbers are of all levels or of some values; leave them out")
	case r.Part != nil && (!r.Betti || len(r.At) == 0 || len(r.Periodic) > 0 || r.Input != "" || r.Images != 1):
		return errors.New("a part: want one of the Betti numbers of an image in memory, at some values")
	case r.Flow != nil:
		return r.checkFlow()
	case r.Eigenmap != nil && masked:
		return errors.New("a mask: a graph has all voxels; leave it out")
	case r.Eigenmap != nil:
		return r.checkEigenmap()
	}
	return nil
}

// Answers are those to a Request, one for each image. A mask has a byte for each voxel in
// memory, 0 for one that is no part of its image; nil for none.
func Answers(ctx context.Context, r Request, voxels, mask []byte) ([]Answer, error) {
	if err := r.check(mask != nil); err != nil {
		return nil, err
	}
	if r.Join != nil {
		a, err := r.joined()
		return []Answer{a}, err
	}
	if r.Homology != nil {
		a, err := r.homology(voxels, mask)
		return []Answer{a}, err
	}
	if r.Flow != nil && mask != nil {
		if r.within = mask; len(mask) == 0 {
			return nil, errors.New("a mask of 0 bytes: want float32 of the shape of the image")
		}
		mask = nil
	}
	if r.Input != "" {
		if mask != nil {
			return nil, errors.New("a mask of an input: give the voxels in memory")
		}
		if r.Read {
			a, err := r.readInto(ctx, voxels)
			return []Answer{a}, err
		}
		a, err := r.ofInput(ctx)
		return []Answer{a}, err
	}
	shape, err := grid.ShapeOf(r.Shape)
	if err != nil {
		return nil, err
	}
	if r.Images < 1 || len(voxels)%r.Images != 0 {
		return nil, fmt.Errorf("%d images in %d bytes", r.Images, len(voxels))
	}
	if r.Assess != nil {
		a, err := r.assess(ctx, shape, voxels)
		return []Answer{a}, err
	}
	if r.masked = mask != nil; r.masked && int64(len(mask)) != int64(r.Images)*shape.Voxels() {
		return nil, fmt.Errorf("a mask of %d bytes: want %d of %v", len(mask), r.Images, shape)
	}
	if len(r.Sets) > 0 {
		return r.sampled(ctx, shape, voxels)
	}
	return r.ofImages(ctx, shape, voxels, mask)
}

// Brief reports whether curves of images in so many bytes of memory take a few milliseconds.
func (r Request) Brief(bytes int) bool {
	const most = 1 << 20
	return bytes <= most && r.Input == "" && r.curve()
}

// curve reports whether a curve is asked for.
func (r Request) curve() bool {
	return !r.Betti && r.Part == nil && r.Join == nil && r.Flow == nil && r.Eigenmap == nil && r.Assess == nil &&
		r.Homology == nil
}

// convention is that of an image of a type.
func (r Request) convention(t grid.Type) ecc.Convention {
	c, _ := r.Convention(r.masked || r.Gaps(t)) // Answers looked at the axes
	return c
}

// fewCounted is FewVoxels for voxels that are counted on levels in a table.
const fewCounted = 1 << 18

func (r Request) ofImages(ctx context.Context, shape grid.Shape, voxels, mask []byte) ([]Answer, error) {
	size, within := len(voxels)/r.Images, len(mask)/r.Images
	answers := make([]Answer, r.Images)
	err := ask.EachImage(r.Images, size, r.Threads, func(i, threads int) (err error) {
		one := r
		one.Threads = threads
		answers[i], err = one.ofVoxels(ctx, shape, voxels[i*size:(i+1)*size], mask[i*within:(i+1)*within])
		return err
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// A Fault is the error of a panic, whose cause is in the library itself.
type Fault struct{ cause any }

func (f Fault) Error() string {
	cause := f.cause
	if p, ok := cause.(*crew.Panic); ok {
		cause = p.Value
	}
	return fmt.Sprintf("internal error: %v", cause)
}

// Caught makes an error of a panic.
func Caught[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Fault{p}
		}
	}()
	return f()
}

// withAxes is an image in memory with all axes of the request's shape.
func (r Request) withAxes(f *grid.Field) *grid.Field {
	if len(r.Shape) == 3 {
		return f.Volume()
	}
	return f
}

func (r Request) ofVoxels(ctx context.Context, shape grid.Shape, voxels, mask []byte) (Answer, error) {
	if r.curve() && r.convention(grid.Uint8) == (ecc.Convention{}) { // those of others are seen otherwise
		if g := datasets.Guessed(shape, r.Type, voxels, r.Levels); g != nil {
			a, err := r.of(ctx, r.withAxes(g.Field))
			if err == nil && g.Confirmed() {
				return a, nil
			}
			if err := ctx.Err(); err != nil {
				return Answer{}, err
			}
		}
	}
	f, err := datasets.Voxels(ctx, r.Threads, shape, r.Type, voxels, r.Levels)
	if err != nil {
		return Answer{}, err
	}
	if native := f.Type(); native != grid.Float32 && f.Shape().Voxels() < f.Ladder().Len() {
		// All levels of a type take longer than the few voxels, which float32 holds exactly.
		if f, err = datasets.Voxels(ctx, r.Threads, shape, grid.Float32.String(), grid.Bytes(f.Floats()), 0); err != nil {
			return Answer{}, err
		}
	}
	if f = r.withAxes(f); !r.masked {
		return r.of(ctx, f)
	}
	within, err := grid.Trusted(shape, grid.Uint8, mask, grid.Identity(grid.Uint8))
	if err != nil {
		return Answer{}, err
	}
	s, err := grid.Mask(f, within)
	if err != nil {
		return Answer{}, err
	}
	return r.of(ctx, s)
}

// ofInput is the answer for a file or an input string. As the command does, it takes each
// float32 for a level, and looks at the whole image first only where some of it is NaN or
// infinite, to count how much.
func (r Request) ofInput(ctx context.Context) (Answer, error) {
	every := r.Levels == 0
	if r.NaN == ask.NaNMask {
		return r.opened(ctx, true)
	}
	a, err := r.opened(ctx, every)
	if every && errors.As(err, new(*grid.NotFiniteError)) {
		return r.opened(ctx, false)
	}
	return a, err
}

func (r Request) opened(ctx context.Context, every bool) (Answer, error) {
	name, err := r.name(every)
	if err != nil {
		return Answer{}, err
	}
	s, err := datasets.Open(name)
	if err != nil {
		return Answer{}, err
	}
	defer grid.Close(s)
	file := s
	if (r.Betti || r.Flow != nil || r.Eigenmap != nil) && !r.Describe { // which look at it more than once
		if s, err = grid.Load(grid.Until(ctx, s)); err != nil {
			return Answer{}, err
		}
	}
	a, err := r.of(ctx, s)
	if err == nil {
		err = grid.Unchanged(file)
	}
	a.Missing = grid.Missing(file)
	return a, err
}

// readInto reads the voxels of an input.
func (r Request) readInto(ctx context.Context, voxels []byte) (Answer, error) {
	r.Describe, r.Levels = true, 0
	name, err := r.name(true)
	if err != nil {
		return Answer{}, err
	}
	s, err := datasets.Open(name)
	if err != nil {
		return Answer{}, err
	}
	defer grid.Close(s)
	a, err := r.of(ctx, s)
	if err != nil {
		return a, err
	}
	labels, size := grid.LabelsOf(s), s.Type().Size()
	if labels != nil {
		size = grid.LabelBytes
	}
	if want := s.Shape().Voxels() * size; int64(len(voxels)) != want {
		return a, fmt.Errorf("%v %s to %d bytes, want %d", s.Shape(), a.Type, len(voxels), want)
	}
	at := voxels[:0]
	err = grid.EachSlab(grid.Until(ctx, s), func(slab []byte, _, _ int64) error {
		if labels == nil {
			at = append(at, slab...)
			return nil
		}
		for _, v := range grid.Values[float32](slab) {
			at = labels.AppendBytes(at, v)
		}
		return nil
	})
	if err == nil {
		err = grid.Unchanged(s)
	}
	a.Missing = grid.Missing(s)
	return a, err
}

// name is the name of the input.
func (r Request) name(every bool) (string, error) {
	if datasets.IsName(r.Input) {
		if len(r.Shape) > 0 || r.Type != "" || r.Levels > 0 || r.Strict {
			return "", fmt.Errorf("input %s: says its own shape, type, levels and strict; leave them out", r.Input)
		}
		return datasets.Canonical(r.Input)
	}
	switch info, err := datasets.Stat(r.Input); {
	case err != nil:
		return "", fmt.Errorf("input %s: %w", r.Input, err)
	case info.Folder:
		return "", fmt.Errorf("input %s: is a directory, want an image file", r.Input)
	}
	name := "file"
	if len(r.Shape) > 0 {
		shape, err := grid.ShapeOf(r.Shape)
		if err != nil {
			return "", err
		}
		name += "/shape=" + shape.String()
		if len(r.Shape) > shape.Dim() {
			name += "x1"
		}
	}
	if r.Type != "" {
		name += "/type=" + r.Type
	}
	if r.Levels > 0 {
		name += fmt.Sprintf("/levels=%d", r.Levels)
	} else if every {
		name += "/levels=every"
	}
	if r.Strict {
		name += "/strict=true"
	}
	if r.NaN == ask.NaNMask {
		name += "/nan=mask"
	}
	return datasets.Canonical(name + "/stream=once/path=" + r.Input)
}

// of is the answer for an image.
func (r Request) of(ctx context.Context, s grid.Source) (Answer, error) {
	a := Answer{Made: datasets.IsName(r.Input), Shape: []int64{s.Shape().H, s.Shape().W}, Type: s.Type().String(), Levels: "<f4"}
	if grid.Dim(s) == 3 {
		a.Shape = append([]int64{s.Shape().D}, a.Shape...)
	}
	labels := grid.LabelsOf(s)
	if labels != nil {
		a.Type, a.Levels = labels.Type(), labels.Kind()
	}
	if r.Describe {
		return a, nil
	}
	c := r.convention(s.Type())
	s, c.Periodic = grid.Upright(s, c.Periodic)
	if err := c.Periodic.Of(s.Shape()); err != nil {
		return a, fmt.Errorf("periodic: %w", err)
	}
	few := int64(ask.FewVoxels)
	if r.curve() && s.Ladder().Indexed() {
		few = fewCounted
	}
	r.Threads = int(min(int64(r.Threads), 1+(s.Shape().Voxels()-1)/few))
	w := bench.Workload[grid.Source, ecc.VCEC]{Impls: r.by}
	if w.Impls == nil {
		w.Impls = Implementations()
	}
	in := grid.Until(ctx, s)
	if r.Betti {
		return r.betti(a, s, in, c)
	}
	if r.Flow != nil {
		return r.flow(a, in)
	}
	if r.Eigenmap != nil {
		return r.eigenmap(a, in)
	}
	// An image that is read is counted and checked as it is.
	if _, whole := s.(*grid.Field); whole || grid.Period(s) > 0 {
		w = ecc.InConvention(w, c)
		w.Policy = verify.Policy[grid.Source, ecc.VCEC]{Laws: []verify.Law[grid.Source, ecc.VCEC]{ecc.Fingerprinted(fingerprint.Draw(1).In(c), r.Threads)}}
	} else {
		w, in = ecc.InOnePass(w, c, 0), guarded{in}
		w.Impls = w.Impls[:1] // the one whose jobs add up
	}
	out, err := answered(&a, w, in, r)
	if err != nil {
		return a, err
	}
	lines := ecc.LinesOf(s, out, c, r.Levels > 0)
	a.lines, a.Rows = curveLines{lines}, lines.Len()
	return a, nil
}

// answered is what the first implementation says that takes an image, held to the laws where
// that is asked for.
func answered[In, Out any](a *Answer, w bench.Workload[In, Out], in In, r Request) (out Out, err error) {
	found, verdict, err := ask.First(w, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: r.Threads}}, r.Verify)
	if wrong := (ask.VerdictError{}); errors.As(err, &wrong) && r.Input == "" {
		wrong.Why += "; if another thread wrote to the array meanwhile, that is the cause: give a copy"
		err = wrong
	}
	if err != nil {
		return found.Out, err
	}
	a.Implementation, a.Verdict, a.Witness = found.By, string(verdict), found.Evidence
	return found.Out, nil
}

// guarded is a source that goroutines read which nobody guards: its panics are errors.
type guarded struct{ grid.Source }

func (g guarded) ReadSlab(dst []byte, lo, hi int64) error {
	_, err := Caught(func() (struct{}, error) { return struct{}{}, g.Source.ReadSlab(dst, lo, hi) })
	return err
}

// Fill writes the rows: their levels, each of the answer's type of them, and their numbers: χ,
// or b0, b1 and b2 of each row.
func (a Answer) Fill(levels []byte, numbers []int64) error {
	size := int64(grid.LabelBytes)
	if a.Levels == "<f4" {
		size = grid.Float32.Size()
	}
	if _, bare := a.lines.(sampledRows); bare {
		size = 0
	}
	if int64(len(levels)) != a.Rows*size || int64(len(numbers)) != a.Numbers() {
		return fmt.Errorf("%d rows to %d bytes and %d numbers", a.Rows, len(levels), len(numbers))
	}
	a.lines.fill(&table{levels[:0], numbers[:0]})
	return nil
}

// Numbers is how many Fill writes.
func (a Answer) Numbers() int64 {
	if a.lines == nil {
		return 0
	}
	return a.Rows * a.lines.columns()
}
