// Package library answers the questions of programs in other languages, in their own process: the
// curve of an image in memory or of a file, confirmed by its fingerprint, and its Betti numbers. It
// also has gradient vector flow, the lowest eigenpairs of the image's graph, and soft curves with
// gradients. It compares a segmentation with its truth, and computes persistence pairs and the homology of a
// complex. The answers equal the answers of the commands curve, betti, pairs, gvf, eigenmap, assess and homology,
// and of the workload softecc.
//
// It does not import the list of all implementations, which would add the device kernels and the
// runner.
package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"eccbench/datasets"
	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// A Request is a question with its images.
type Request struct {
	// Input is a file or an input string; "" for images in memory.
	Input string `json:"input"`
	// Shape is the shape of each image in memory, or of a raw file: 1 to 3 axes, the slowest first.
	Shape []int64 `json:"shape"`
	// Type is the NumPy name of the type of the voxels in memory, or of a raw file.
	Type string `json:"type"`
	// Images is the number of images in memory, one after the other.
	Images int `json:"images"`

	ask.Options
	// Strict makes a missing chunk of a Zarr array an error.
	Strict bool `json:"strict"`
	// Levels is 0 for a row at each level where χ changes. Otherwise it is the number of evenly spaced
	// levels of a float32 image, one row each.
	Levels  int64 `json:"levels"`
	Threads int   `json:"threads"`
	// Sets restricts the curves of images in memory to these values, of the images' type, ascending.
	Sets []json.Number `json:"sets"`
	// Betti replaces χ by the Betti numbers: at every level where one changes, or at the values of At.
	Betti bool `json:"betti"`
	// At are the only values for which the curve of an input is used. It may lack other levels.
	At []grid.Number `json:"at"`
	// Part requests the slabs of some slices at the values of At, and Join the merged slabs of several
	// parts; nil otherwise.
	Part *Part `json:"part"`
	Join *Join `json:"join"`
	// Flow replaces χ by the gradient vector flow; nil otherwise.
	Flow *ask.FlowOptions `json:"flow"`
	// Eigenmap requests the lowest eigenpairs of the image's graph; nil otherwise.
	Eigenmap *ask.EigenmapOptions `json:"eigenmap"`
	// Assess compares the first of two images in memory, a prediction, with the second, its truth; nil
	// otherwise.
	Assess *Assess `json:"assess"`
	// Homology requests the groups of a complex; nil otherwise.
	Homology *Homology `json:"homology"`
	// Pairs requests the persistence pairs of an image; nil otherwise.
	Pairs *Pairs `json:"pairs"`
	// Verify compares each answer with an independent witness, such as the fingerprint of a curve.
	Verify bool `json:"verify"`
	// Describe requests the shape and the types of an image, without its curve.
	Describe bool `json:"describe"`
	// Read copies the voxels of an input to those in memory. They have the answer's type, or the type
	// of its levels if the voxels are ranked.
	Read bool `json:"read"`

	masked bool
	memory int64                                         // free for the answer; 0 if unknown, or for a small image
	within []byte                                        // the mask of a flow
	by     []bench.Implementation[grid.Source, ecc.VCEC] // for tests; nil for Implementations
}

// Implementations returns the implementations that count curves on the host, the fastest first.
func Implementations() []bench.Implementation[grid.Source, ecc.VCEC] {
	return []bench.Implementation[grid.Source, ecc.VCEC]{extrema.Implementation{}, cpu.Implementation{}}
}

// An Answer describes the answer for an image: a curve, Betti numbers, pairs, a flow, eigenpairs, a
// comparison or groups. Fill writes its rows.
type Answer struct {
	Shape          []int64 `json:"shape"` // 2 or 3 axes, the slowest first
	Type           string  `json:"type"`  // of the voxels
	Made           bool    `json:"made"`  // the input is generated, with its own levels
	Rows           int64   `json:"rows"`
	Levels         string  `json:"levels"` // NumPy name of their type: "<f4", "<i8", "<u8" or "<f8"
	Implementation string  `json:"implementation"`
	Verdict        string  `json:"verdict"`
	Witness        string  `json:"witness"`
	Missing        string  `json:"missing,omitempty"` // the description of missing parts of the file, from grid.Missing
	// Affine maps the indices x, y, z and 1 of a described file to millimetres; nil if its header does not.
	Affine *[3][4]float64 `json:"affine,omitempty"`
	// Slabs has one slab per set, of a Part or a Join. Chi is the part's contribution to the Euler
	// characteristics of the sets.
	Slabs [][]byte `json:"slabs,omitempty"`
	Chi   []int64  `json:"chi,omitempty"`
	// Sets are the names of the label sets of an Assess, and Columns the names of the numbers of each.
	Sets    []string `json:"sets,omitempty"`
	Columns []string `json:"columns,omitempty"`
	// Groups are the Betti numbers of a complex by dimension, and Torsion the orders of the cyclic
	// parts by dimension.
	Groups       []int64    `json:"groups,omitempty"`
	Torsion      [][]uint64 `json:"torsion,omitempty"`
	Coefficients string     `json:"coefficients,omitempty"`

	lines numbers
}

// numbers are rows of a level and columns numbers each.
type numbers interface {
	columns() int64
	// fill appends the rows in order.
	fill(*table)
}

// A table is the destination of rows, with enough capacity: their levels, little-endian, and their
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

// check returns the reason why a request, with or without a mask, is invalid, or nil.
func (r Request) check(masked bool) error {
	if err := r.Check(); err != nil {
		return err
	}
	if _, err := r.Axes(); err != nil {
		return fmt.Errorf("periodic: %w", err)
	}
	if err := crew.CheckThreads(r.Threads); err != nil {
		return err
	}
	switch {
	case r.Levels < 0 || r.Levels > 0 && (r.Construction == "V" || r.Superlevel):
		return fmt.Errorf("%d levels: evenly spaced levels are for sublevel sets in the T-construction", r.Levels)
	case r.Betti && r.Levels > 0:
		return errors.New("evenly spaced levels: Betti numbers are computed at all levels or at some values; leave them out")
	case r.Pairs != nil:
		return r.checkPairs()
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

// Answers returns one answer for each image of a request. A mask has a byte for each voxel in
// memory, 0 for a voxel outside of its image; nil for no mask.
func Answers(ctx context.Context, r Request, voxels, mask []byte) ([]Answer, error) {
	if err := r.check(mask != nil); err != nil {
		return nil, err
	}
	for i, v := range r.At { // float64 of Python, whose digits are no others
		r.At[i] = v.Exact()
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
		return r.sampled(ctx, shape, voxels, mask)
	}
	return r.ofImages(ctx, shape, voxels, mask)
}

// Effort returns the effort for images in a number of bytes, with or without a mask.
func (r Request) Effort(bytes int, masked bool) Effort {
	const most = 1 << 20
	brief := bytes <= most && r.Input == "" && r.curve()
	masked = masked || r.NaN == ask.NaNMask // the fingerprint of such a curve is computed on all cores
	return Effort{Threads: r.Threads, Brief: brief, Bounded: brief && !masked}
}

// curve reports whether the request is for a curve.
func (r Request) curve() bool {
	return !r.Betti && r.Pairs == nil && r.Part == nil && r.Join == nil && r.Flow == nil && r.Eigenmap == nil &&
		r.Assess == nil && r.Homology == nil
}

// convention returns the convention for an image of a type.
func (r Request) convention(t grid.Type) ecc.Convention {
	c, _ := r.Convention(r.masked || r.Gaps(t)) // Answers checked the axes
	return c
}

// fewestLimited is the number of voxels from which free memory is looked up, which takes about 0.1 ms.
const fewestLimited = 1 << 23

// fewCounted is FewVoxels for images whose levels are counted in a table.
const fewCounted = 1 << 18

func (r Request) ofImages(ctx context.Context, shape grid.Shape, voxels, mask []byte) ([]Answer, error) {
	size, within := len(voxels)/r.Images, len(mask)/r.Images
	answers := make([]Answer, r.Images)
	err := crew.EachImage(r.Images, size, r.Threads, func(i, threads int) (err error) {
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

// A Fault is the error of a panic, which is a bug of the library.
type Fault struct{ cause any }

func (f Fault) Error() string {
	cause := f.cause
	if p, ok := cause.(*crew.Panic); ok {
		cause = p.Value
	}
	return fmt.Sprintf("internal error: %v", cause)
}

// Caught converts a panic of a function to an error.
func Caught[T any](f func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Fault{p}
		}
	}()
	return f()
}

// withAxes returns an image in memory with all axes of the request's shape.
func (r Request) withAxes(f *grid.Field) *grid.Field {
	if len(r.Shape) == 3 {
		return f.Volume()
	}
	return f
}

func (r Request) ofVoxels(ctx context.Context, shape grid.Shape, voxels, mask []byte) (Answer, error) {
	if r.curve() && r.convention(grid.Uint8) == (ecc.Convention{}) { // other conventions change the order of values
		if g := element.Guessed(shape, r.Type, voxels, r.Levels); g != nil {
			a, err := r.answer(ctx, r.withAxes(g.Field))
			if err == nil && g.Confirmed() || errors.Is(err, errMemory) {
				return a, err
			}
			if err := ctx.Err(); err != nil {
				return Answer{}, err
			}
		}
	}
	f, err := element.Voxels(ctx, r.Threads, shape, r.Type, voxels, r.Levels)
	if err != nil {
		return Answer{}, err
	}
	if native := f.Type(); native != grid.Float32 && f.Shape().Voxels() < f.Ladder().Len() && r.Eigenmap == nil {
		// A table of all levels of the type costs more than these few voxels, which float32 represents
		// exactly. The grey values of eigenmaps depend on the type.
		if f, err = element.Voxels(ctx, r.Threads, shape, grid.Float32.String(), grid.Bytes(f.Floats()), 0); err != nil {
			return Answer{}, err
		}
	}
	if f = r.withAxes(f); !r.masked {
		return r.answer(ctx, f)
	}
	within, err := grid.Trusted(shape, grid.Uint8, mask, grid.Identity(grid.Uint8))
	if err != nil {
		return Answer{}, err
	}
	s, err := views.Mask(f, within)
	if err != nil {
		return Answer{}, err
	}
	return r.answer(ctx, s)
}

// ofInput returns the answer for a file or an input string. Like the command, it uses each float32
// as a level. Only an image with NaN or infinite values is read twice, to count them.
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
	name, s, err := r.open(every)
	if err != nil {
		return Answer{}, err
	}
	defer grid.Close(s)
	file := s
	several := r.Betti || r.Pairs != nil || r.Flow != nil || r.Eigenmap != nil // these read the image more than once
	if several && !r.Describe {
		if s, err = grid.Load(grid.WithContext(ctx, s)); err != nil {
			return Answer{}, err
		}
	}
	a, err := r.answer(ctx, s)
	if err == nil {
		err = grid.Unchanged(file)
	}
	a.Missing = grid.Missing(file)
	if err == nil && r.Describe {
		var g *format.Geometry
		if g, err = name.Geometry(); g != nil && !g.Unplaced {
			a.Affine = &g.Affine
		}
	}
	return a, err
}

// readInto copies the voxels of an input to memory.
func (r Request) readInto(ctx context.Context, voxels []byte) (Answer, error) {
	r.Describe, r.Levels = true, 0
	_, s, err := r.open(true)
	if err != nil {
		return Answer{}, err
	}
	defer grid.Close(s)
	a, err := r.answer(ctx, s)
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
	err = grid.EachSlab(grid.WithContext(ctx, s), func(slab []byte, _, _ int64) error {
		if labels == nil {
			at = append(at, slab...)
			if s.Type() == grid.Float32 {
				added := grid.Values[float32](at[len(at)-len(slab):])
				for i, v := range added {
					if v > math.MaxFloat32 { // outside the image
						added[i] = float32(math.NaN())
					}
				}
			}
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

// open opens the input.
func (r Request) open(every bool) (datasets.Name, grid.Source, error) {
	name, err := r.name(every)
	if err != nil {
		return name, nil, err
	}
	ranks := element.Ranks{Superlevel: r.Superlevel}
	switch {
	case r.Read:
	case r.Describe: // ranks among any value have the same types
		ranks.At = func(*grid.Labels) []grid.Number { return make([]grid.Number, 1) }
	case r.Betti || r.curve():
		ranks.At = func(*grid.Labels) []grid.Number { return r.At }
	}
	s, err := name.OpenRanked(0, ranks)
	return name, s, err
}

// name returns the name of the input.
func (r Request) name(every bool) (datasets.Name, error) {
	name, is, err := datasets.GivenName(r.Input)
	if is {
		if len(r.Shape) > 0 || r.Type != "" || r.Levels > 0 || r.Strict {
			err = fmt.Errorf("input %s: specifies its own shape, type, levels and strict; leave them out", r.Input)
		}
		masks := r.NaN == ask.NaNMask
		return ask.Opening{Every: masks, Gaps: masks}.Of(name), err // as of a path
	}
	name = name.With("type", r.Type)
	if len(r.Shape) > 0 {
		shape, err := grid.ShapeOf(r.Shape)
		if err != nil {
			return name, err
		}
		text := shape.String()
		if len(r.Shape) > shape.Dim() {
			text += "x1"
		}
		name = name.With("shape", text)
	}
	if r.Strict {
		name = name.With("strict", "true")
	}
	return ask.Opening{Levels: r.Levels, Every: every, Once: true, Gaps: r.NaN == ask.NaNMask}.Of(name), nil
}

// answer returns the answer for an image.
func (r Request) answer(ctx context.Context, s grid.Source) (Answer, error) {
	a := Answer{Made: datasets.IsName(r.Input), Shape: []int64{s.Shape().H, s.Shape().W}, Type: s.Type().String(),
		Levels: "<f4"}
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
	if r.Part == nil && r.Pairs == nil && r.Flow == nil && r.Eigenmap == nil {
		s, c.Periodic = views.Upright(s, c.Periodic)
	}
	if err := c.Periodic.Check(s.Shape()); err != nil {
		return a, fmt.Errorf("periodic: %w", err)
	}
	defer r.limit(s)()
	w := bench.Workload[grid.Source, ecc.VCEC]{Impls: r.by}
	if w.Impls == nil {
		w.Impls = Implementations()
	}
	in := grid.WithContext(ctx, s)
	if r.Betti {
		return r.betti(a, s, in, c)
	}
	if r.Pairs != nil {
		return r.pairs(ctx, a, in, c)
	}
	if r.Flow != nil {
		return r.flow(a, in)
	}
	if r.Eigenmap != nil {
		return r.eigenmap(a, in)
	}
	// An image in memory is counted and checked separately; others in one pass.
	if _, whole := s.(*grid.Field); whole || grid.Period(s) > 0 {
		w = ecc.InConvention(w, c)
		w.Policy = verify.Policy[grid.Source, ecc.VCEC]{Laws: []verify.Law[grid.Source,
			ecc.VCEC]{ecc.Fingerprinted(fingerprint.Draw(1).WithConvention(c), r.Threads)}}
	} else {
		w, in = ecc.InOnePass(w, c, 0), guarded{in}
		w.Impls = w.Impls[:1] // the implementation whose partial curves can be added
	}
	out, err := answered(&a, w, in, r)
	if err != nil {
		return a, err
	}
	lines := ecc.LinesOf(s, out, c, r.Levels > 0)
	a.lines, a.Rows = curveLines{lines}, lines.Len()
	return a, nil
}

// limit adapts the threads and the memory of a request to an image, until the returned function is called.
func (r *Request) limit(s grid.Source) (end func()) {
	few := int64(crew.FewVoxels)
	if r.curve() && s.Ladder().Indexed() {
		few = fewCounted
	}
	r.Threads = int(min(int64(r.Threads), 1+(s.Shape().Voxels()-1)/few))
	if s.Shape().Voxels() >= fewestLimited {
		if r.memory = host.AvailableMemory(); r.memory > 0 {
			return host.LimitGrowth(r.memory)
		}
	}
	return func() {}
}

// errMemory ends errors about images that take more memory than is free.
var errMemory = errors.New(ask.MoreMemory)

// answered returns the answer of the first implementation that accepts the image, verified by the
// laws on request.
func answered[In, Out any](a *Answer, w bench.Workload[In, Out], in In, r Request) (out Out, err error) {
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: r.Threads}, Memory: r.memory, Once: true}
	found, verdict, err := ask.First(w, in, c, r.Verify)
	var most bench.TooMuch
	for errors.As(err, &most) && c.Threads > 1 { // fewer cores take less
		c.Threads /= 2
		found, verdict, err = ask.First(w, in, c, r.Verify)
	}
	if errors.As(err, &most) {
		err = fmt.Errorf("the answer takes %s of memory, %s are free; %w",
			quantity.Bytes(most.Need), quantity.Bytes(most.Limit), errMemory)
	}
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

// guarded converts the panics of a source to errors, for goroutines that have no recover.
type guarded struct{ grid.Source }

func (g guarded) ReadSlab(dst []byte, lo, hi int64) error {
	_, err := Caught(func() (struct{}, error) { return struct{}{}, g.Source.ReadSlab(dst, lo, hi) })
	return err
}

// Fill writes the rows: their levels, in the answer's type of levels, and their numbers: χ, or b0,
// b1 and b2. Rows of pairs have the values of birth and death as levels, and the dimension and both voxels as numbers.
func (a Answer) Fill(levels []byte, numbers []int64) error {
	size := int64(grid.LabelBytes)
	if a.Levels == "<f4" {
		size = grid.Float32.Size()
	}
	switch a.lines.(type) {
	case sampledRows:
		size = 0
	case pairedLines:
		size *= 2
	}
	if int64(len(levels)) != a.Rows*size || int64(len(numbers)) != a.Numbers() {
		return fmt.Errorf("%d rows to %d bytes and %d numbers", a.Rows, len(levels), len(numbers))
	}
	if a.lines != nil {
		a.lines.fill(&table{levels[:0], numbers[:0]})
	}
	return nil
}

// Numbers returns the number of numbers that Fill writes.
func (a Answer) Numbers() int64 {
	if a.lines == nil {
		return 0
	}
	return a.Rows * a.lines.columns()
}
