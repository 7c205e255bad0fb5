// Package ondevice answers the questions of programs in other languages about images in device
// memory. Add and AddSoft enqueue work on the caller's stream, in the caller's memory, and do not
// wait.
package ondevice

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"sync"

	extrema "eccbench/impls/extrema/gpu"
	flows "eccbench/impls/gvf/gpu"
	"eccbench/impls/softecc/binned"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// A Request is a question with the common properties of its images.
type Request struct {
	Device int     `json:"device"` // the driver's number for this process
	Shape  []int64 `json:"shape"`  // of an image, 1 to 3 axes, the slowest first
	Type   string  `json:"type"`   // uint8, int16, uint16 or float32
	// At are the values of the sets, ascending; nil for all values of an integer type.
	At []float64 `json:"at"`
	// Align is a common divisor of the addresses of the images, in bytes.
	Align int64 `json:"align"`
	// OnLevels promises that each value of the images is one of At. It is not checked.
	OnLevels bool `json:"on_levels"`
	// Flow replaces the curve by the gradient vector flow.
	Flow *Flow `json:"flow"`
	// Soft requests soft curves of float32 images, by AddSoft in place of Add.
	Soft *Soft `json:"soft"`
	// Betti requests the Betti numbers of the sets at the values in place of χ.
	Betti *Betti `json:"betti"`
	// Matching requests the matched features of pairs of masks in a construction, T or V. An image is then a pair of
	// arrays of uint8 of the shape, the prediction before the truth.
	Matching string `json:"matching"`
}

// A Soft describes a batch of soft curves. If voxels are vertices, the images are negated and have a border of −∞.
type Soft struct {
	Images     int64 `json:"images"`
	Thresholds int64 `json:"thresholds"`
	Vertices   bool  `json:"vertices"`
	Directed   bool  `json:"directed"` // by a direction
	Doubles    int32 `json:"doubles"`  // as of binned.Numbers
}

// A Flow has the parameters of a gradient vector flow: the number of steps, μ and the boundary.
type Flow struct {
	Steps    int64   `json:"steps"`
	Mu       float64 `json:"mu"`
	Boundary string  `json:"boundary"` // replicate or third
	// Align is a common divisor of the addresses of the fields, in bytes.
	Align int64 `json:"align"`
}

// A Plan holds the kernels and their tables for images of one kind, from Make to Close.
type Plan struct {
	Number uint64 `json:"plan"`
	// Memory is the size in bytes of the working memory, at an address that is a multiple of 256: for
	// each image of a launch of Add, or for all images of AddSoft. Most is the number of images of a
	// launch of Add.
	Memory int64 `json:"memory"`
	Most   int64 `json:"most"`
	// Rows is the length of an answer. A curve has int64 values, Betti numbers and matched features are three int64,
	// and a field has components of a float32 per voxel. Soft curves have the moments of all images, four float64 each.
	Rows int64 `json:"rows"`
	// Kept is the size in bytes of SoftCall.Kept.
	Kept int64 `json:"kept"`
	// Passes are programs (device.Guest) of soft curves: forward, forward with derivatives, and backward. Their
	// addresses are those of a SoftCall.
	Passes [][]uint64 `json:"passes"`

	kernels io.Closer
	// enqueue adds a launch for consecutive images. It is nil for soft curves.
	enqueue func(s device.Stream, images int64, image, answer, memory device.Buffer) error
	soft    *binned.Batch // nil for other answers
	doubles int32         // as of binned.Numbers
	check   *check        // nil for answers without a witness
	on      device.Guest
	image   int64 // bytes
	answer  int64 // bytes
}

// A Call has the addresses of the caller's memory and the handle of its stream. The memory contains
// consecutive images, their answers, and working memory.
type Call struct{ Image, Answer, Memory, Stream uint64 }

// Plans are the plans of a process.
type Plans struct {
	Open resident.Opener

	mu   sync.Mutex
	last uint64
	open map[uint64]*Plan
}

// Make makes a plan. It loads kernels, copies tables of the levels to the device, and waits for it.
func (p *Plans) Make(r Request) (*Plan, error) {
	open, err := r.opener()
	if err != nil {
		return nil, err
	}
	d, err := p.Open(strconv.Itoa(r.Device))
	if err != nil {
		return nil, err
	}
	guest, ok := d.(device.Guest)
	if !ok {
		return nil, fmt.Errorf("device %d: cannot be lent memory", r.Device)
	}
	plan, err := open(guest)
	if err != nil {
		return nil, err
	}
	plan.on = guest
	if plan.soft != nil {
		if err := plan.writePasses(); err != nil {
			return nil, errors.Join(err, plan.kernels.Close())
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	plan.Number = p.last
	if p.open == nil {
		p.open = map[uint64]*Plan{}
	}
	p.open[plan.Number] = plan
	return plan, nil
}

// plan returns an open plan that can answer a question.
func (p *Plans) plan(number uint64, answers func(*Plan) bool) (*Plan, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if plan := p.open[number]; plan != nil && answers(plan) {
		return plan, nil
	}
	return nil, fmt.Errorf("plan %d: there is none", number)
}

// Add enqueues the answers for some images on the stream.
func (p *Plans) Add(number uint64, images int64, c Call) error {
	plan, err := p.plan(number, func(plan *Plan) bool { return plan.enqueue != nil })
	if err != nil {
		return err
	}
	s := plan.on.LentStream("the caller's", c.Stream)
	return plan.on.Do(func() error {
		for i := int64(0); i < images; i += plan.Most {
			n := min(plan.Most, images-i)
			image := plan.on.LentBuffer("the caller's images", c.Image+uint64(i*plan.image), n*plan.image)
			answer := plan.on.LentBuffer("the answers", c.Answer+uint64(i*plan.answer), n*plan.answer)
			memory := plan.on.LentBuffer("the caller's memory", c.Memory, n*plan.Memory)
			if err := plan.enqueue(s, n, image, answer, memory); err != nil {
				return err
			}
		}
		return nil
	})
}

// A SoftCall has the addresses of the caller's memory for soft curves, each of all images one after the other.
type SoftCall struct {
	Image, Kept                   uint64 // Kept is for Plan.Kept bytes
	Tau, Lambda, Alpha, Direction uint64 // as of binned.Numbers
	Work, Curves, Derivatives     uint64 // of the forward pass; Derivatives is 0 if none are wanted
	Upstream, Gradient, Moments   uint64 // of the backward pass; Moments is 0 if none are wanted
}

// AddSoft adds to the stream the forward pass of a batch, or the backward pass.
func (p *Plans) AddSoft(number uint64, backward bool, c SoftCall, stream uint64) error {
	plan, err := p.plan(number, func(plan *Plan) bool { return plan.soft != nil })
	if err != nil {
		return err
	}
	return plan.on.Do(func() error { return plan.addSoft(plan.on.LentStream("the caller's", stream), backward, c) })
}

// writePasses writes the programs of soft curves.
func (p *Plan) writePasses() error {
	at := device.SlotAddress
	call := SoftCall{
		Image: at(0), Kept: at(1), Tau: at(2), Lambda: at(3), Alpha: at(4), Direction: at(5), Work: at(6), Curves: at(7),
		Upstream: at(9), Gradient: at(10), Moments: at(11),
	}
	for pass := range 3 {
		program, err := p.on.Program(func(s device.Stream) error { return p.addSoft(s, pass == 2, call) })
		if err != nil {
			return err
		}
		p.Passes = append(p.Passes, program)
		call.Derivatives = at(8)
	}
	return nil
}

// addSoft adds a pass to a stream.
func (p *Plan) addSoft(s device.Stream, backward bool, c SoftCall) error {
	const single, double = 4, 8 // bytes
	o := p.soft
	voxels, curves := single*o.Shape.Voxels()*o.Images, o.Thresholds*o.Images
	lend := func(name string, at uint64, bytes int64) device.Buffer {
		if at == 0 {
			return nil
		}
		return p.on.LentBuffer(name, at, bytes)
	}
	part := func(name string, bytes int64) device.Buffer { // the next one of Kept
		if bytes == 0 {
			return nil
		}
		c.Kept += uint64(bytes)
		return lend(name, c.Kept-uint64(bytes), bytes)
	}
	along, ofRow := o.Terms()
	memory := binned.BatchMemory{
		Image: lend("the caller's images", c.Image, voxels),
		Laid:  part("how bins lie", o.Laid()), Along: part("terms along x", along), OfRow: part("terms of rows", ofRow),
		Changes: part("changes", o.Changes()),
	}
	if backward {
		upstream, gradient := lend("upstream gradient", c.Upstream, single*curves), lend("gradient", c.Gradient, voxels)
		return o.Backward(s, memory, upstream, gradient, lend("moments", c.Moments, 4*double*o.Blocks()))
	}
	of := func(bit int, name string, at uint64, n int64) device.Buffer {
		if p.doubles>>bit&1 != 0 {
			return lend(name, at, double*n)
		}
		return lend(name, at, single*n)
	}
	numbers := binned.Numbers{
		Tau: of(0, "thresholds", c.Tau, o.Thresholds), Lambda: of(1, "λ", c.Lambda, 1), Alpha: of(2, "α", c.Alpha, 1),
		Direction: of(3, "direction", c.Direction, int64(o.Axes)), Doubles: p.doubles,
	}
	work := lend("the caller's memory", c.Work, o.Work(c.Derivatives != 0))
	chi, derivatives := lend("curves", c.Curves, single*curves), lend("derivatives", c.Derivatives, 2*double*curves)
	return errors.Join(o.Lay(s, numbers, memory), o.Forward(s, numbers, memory, work, chi, derivatives))
}

// Close forgets a plan. Nothing may run that uses it.
func (p *Plans) Close(number uint64) error {
	p.mu.Lock()
	plan := p.open[number]
	delete(p.open, number)
	p.mu.Unlock()
	if plan == nil {
		return nil
	}
	errs := []error{plan.kernels.Close()}
	if plan.check != nil && plan.check.witness != nil {
		errs = append(errs, plan.check.witness.Close())
	}
	return errors.Join(errs...)
}

// opener returns a function that loads the kernels of the request on a device.
func (r Request) opener() (func(device.Guest) (*Plan, error), error) {
	shape, t, err := r.images()
	if err != nil {
		return nil, err
	}
	switch {
	case r.Flow != nil:
		return r.flows(shape, t)
	case r.Soft != nil:
		return r.soft(shape, t)
	case r.Betti != nil:
		return r.numbers(shape, t)
	case r.Matching != "":
		return r.matched(shape, t)
	}
	return r.curves(shape, t)
}

// flows returns opener's function for a flow.
func (r Request) flows(shape grid.Shape, t grid.Type) (func(device.Guest) (*Plan, error), error) {
	kind, err := r.flow(shape, t)
	if err != nil {
		return nil, err
	}
	return func(d device.Guest) (*Plan, error) {
		a, err := flows.OpenArrays(d, kind)
		if err != nil {
			return nil, err
		}
		one := func(s device.Stream, _ int64, image, answer, memory device.Buffer) error {
			return a.Enqueue(s, image, answer, memory)
		}
		return &Plan{
			Rows: kind.Components, Memory: a.Memory(), Most: 1, kernels: a, enqueue: one, image: shape.Voxels() * t.Size(),
			answer: a.Out(),
		}, nil
	}, nil
}

// soft returns opener's function for soft curves.
func (r Request) soft(shape grid.Shape, t grid.Type) (func(device.Guest) (*Plan, error), error) {
	if t != grid.Float32 {
		return nil, fmt.Errorf("soft curves of %v: want %v", t, grid.Float32)
	}
	kind := binned.BatchKind{
		Shape: shape, Type: t, Images: r.Soft.Images, Thresholds: r.Soft.Thresholds, Axes: int32(len(r.Shape)),
		Align: r.Align, Vertices: r.Soft.Vertices, Directed: r.Soft.Directed,
	}
	return func(d device.Guest) (*Plan, error) {
		a, err := binned.OpenBatch(d, kind)
		if err != nil {
			return nil, err
		}
		along, ofRow := a.Terms()
		return &Plan{
			Rows: a.Blocks(), Memory: a.Work(true), Kept: a.Laid() + along + ofRow + a.Changes(),
			kernels: a, soft: a, doubles: r.Soft.Doubles,
		}, nil
	}, nil
}

// curves returns opener's function for a curve.
func (r Request) curves(shape grid.Shape, t grid.Type) (func(device.Guest) (*Plan, error), error) {
	kind, err := r.curve(shape, t)
	if err != nil {
		return nil, err
	}
	return func(d device.Guest) (*Plan, error) {
		a, err := extrema.OpenArrays(d, kind)
		if err != nil {
			return nil, err
		}
		return &Plan{
			Rows: kind.Rows, Memory: a.Memory(), Most: extrema.MostArrays, kernels: a, enqueue: a.Enqueue,
			check: byFingerprint(kind), image: shape.Voxels() * t.Size(), answer: 8 * kind.Rows,
		}, nil
	}, nil
}

// images returns the shape and the type of an image.
func (r Request) images() (shape grid.Shape, t grid.Type, err error) {
	if shape, err = grid.ShapeOf(r.Shape); err != nil {
		return shape, t, err
	}
	t, err = grid.ParseType(r.Type)
	return shape, t, err
}

// flow returns the parameters of the kernels of a flow.
func (r Request) flow(shape grid.Shape, t grid.Type) (kind flows.ArrayKind, err error) {
	kind = flows.ArrayKind{Shape: shape, Type: t, Steps: r.Flow.Steps, Mu: float32(r.Flow.Mu), Align: r.Flow.Align}
	b := slices.Index(gvf.Boundaries(), r.Flow.Boundary)
	switch {
	case b < 0:
		return kind, fmt.Errorf("boundary %q: want one of %v", r.Flow.Boundary, gvf.Boundaries())
	case r.Flow.Align < 4 || r.Flow.Align%4 != 0:
		return kind, fmt.Errorf("fields at addresses that are multiples of %d: want 4 or more of them", r.Flow.Align)
	}
	kind.Boundary = gvf.Boundary(b)
	kind.Components = min(int64(len(r.Shape)), int64(shape.Dim()))
	return kind, nil
}

// curve returns the parameters of the kernels of a curve.
func (r Request) curve(shape grid.Shape, t grid.Type) (kind extrema.ArrayKind, err error) {
	kind = extrema.ArrayKind{Shape: shape, Type: t, Align: r.Align, OnLevels: r.OnLevels}
	if kind.Align < 1 {
		return kind, fmt.Errorf("addresses that are multiples of %d", kind.Align)
	}
	all := grid.Identity(kind.Type)
	if r.At == nil {
		if kind.Type == grid.Float32 {
			return kind, errors.New("at is missing: float32 has too many values for a row each")
		}
		kind.Ladder, kind.Rows, kind.OnLevels = all, all.Len(), true
		return kind, nil
	}
	values := make([]float32, len(r.At))
	for i, v := range r.At {
		values[i] = float32(v)
		if kind.Type == grid.Float32 && float64(values[i]) != v || math.IsNaN(v) || math.IsInf(v, 0) {
			return kind, fmt.Errorf("at %v: want a finite number that float32 has exactly", v)
		}
		if kind.Type != grid.Float32 && (v != math.Trunc(v) || float32(v) < all.Value(0) ||
			float32(v) > all.Value(all.Len()-1)) {
			return kind, fmt.Errorf("at %v: want a value of %v", v, kind.Type)
		}
	}
	kind.Rows = int64(len(values))
	kind.Ladder, err = ladderAbove(kind.Type, values)
	if kind.OnLevels = kind.OnLevels && kind.Type == grid.Float32; err == nil && kind.Type != grid.Float32 &&
		kind.Ladder.Len() == all.Len() {
		kind.Ladder, kind.OnLevels = all, true
	}
	return kind, err
}

// ladderAbove returns a ladder of the values, evenly spaced if they are, and one more level for greater
// values.
func ladderAbove(t grid.Type, values []float32) (grid.Ladder, error) {
	n := len(values)
	if n == 0 {
		return grid.Ladder{}, errors.New("at is empty: want one value or more")
	}
	greatest := float32(math.MaxFloat32)
	if t != grid.Float32 {
		all := grid.Identity(t)
		greatest = all.Value(all.Len() - 1)
	} else if n > 1 {
		lo := float64(values[0])
		step := (float64(values[n-1]) - lo) / float64(n-1)
		even, err := grid.Affine(lo, step, int64(n)+1)
		if err == nil && !slices.ContainsFunc(values, func(v float32) bool { return even.Value(even.Level(v)) != v }) &&
			even.Level(values[n-1]) == int64(n-1) {
			return even, nil
		}
	}
	values = slices.Clone(values)
	if values[n-1] < greatest {
		values = append(values, greatest)
	}
	return grid.Table(values)
}
