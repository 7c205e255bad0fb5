package gpu

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// An ArrayKind describes arrays of other programs for which one Arrays can compute the flow.
type ArrayKind struct {
	Shape    grid.Shape
	Type     grid.Type
	Steps    int64
	Mu       float32
	Boundary gvf.Boundary
	// Components is the number of requested components, in the order of the array's axes: x last.
	Components int64
	// Align is a number of bytes that divides the addresses of fields.
	Align int64
}

// Arrays computes the flow of images in memory that other programs allocated, bit-identical to the
// plain loop. It writes only to memory from the caller, and the host reads nothing. So flows may be
// enqueued on several streams at once, and be captured in a graph. No block waits for another one,
// because other work on the device could keep that from running.
type Arrays struct {
	program
	lends  device.Guest
	kind   ArrayKind
	within bool // the caller's field is one of the two fields
}

// outline is an image without data: only its shape and type are used.
type outline struct{ ArrayKind }

func (o outline) Shape() grid.Shape                 { return o.ArrayKind.Shape }
func (o outline) Type() grid.Type                   { return o.ArrayKind.Type }
func (o outline) Ladder() grid.Ladder               { return grid.Identity(o.ArrayKind.Type) }
func (outline) ReadSlab(_ []byte, _, _ int64) error { return errors.New("nobody reads an outline") }

// vector divides the addresses of fields, so that kernels can read vectors of four numbers.
const vector = 16

// OpenArrays loads the kernels for arrays of one kind.
func OpenArrays(d device.Guest, a ArrayKind) (*Arrays, error) {
	p := gvf.NewProblem(outline{a}, a.Mu, a.Steps, 0, a.Boundary)
	if !p.StableAnyway() {
		dim := float64(p.Dim())
		return nil, fmt.Errorf("μ = %v in %dD: steps may grow without bound, and the image is not checked; want μ of at "+
			"most %.4g", a.Mu, p.Dim(), (2-dim/4)/(4*dim))
	}
	if err := errors.Join(p.Check(), kernelsTake(p, d, math.MaxUint32)); err != nil {
		return nil, err
	}
	o := &Arrays{program: program{Objects: resident.NewObjects(d), p: p}, lends: d, kind: a,
		within: a.Components == int64(p.Dim()) && a.Align%vector == 0}
	if err := o.load(planPasses); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// parts lists the sizes of the parts of the memory: the extents, V0, b, and one or two fields.
func (o *Arrays) parts() []int64 {
	n := 4 * o.kind.Shape.Voxels()
	field := n * int64(o.p.Dim())
	list := []int64{extentBytes, field, n, field}
	if !o.within {
		list = append(list, field)
	}
	return list
}

// Memory returns the number of bytes that Enqueue needs, at an address that is a multiple of 256.
func (o *Arrays) Memory() int64 { return resident.PartsBytes(o.parts()) }

// Out returns the size of the answer in bytes.
func (o *Arrays) Out() int64 { return 4 * o.kind.Shape.Voxels() * o.kind.Components }

// Enqueue enqueues the flow of an image on a stream. It writes the requested components to field,
// as float32. Nothing else may use work until then.
func (o *Arrays) Enqueue(s device.Stream, image, field, work device.Buffer) error {
	n := o.kind.Shape.Voxels()
	if image.Bytes() < n*o.kind.Type.Size() || field.Bytes() < o.Out() || work.Bytes() < o.Memory() {
		return fmt.Errorf("an image of %d bytes, %d for the field, %d of memory: want %d, %d and %d",
			image.Bytes(), field.Bytes(), work.Bytes(), n*o.kind.Type.Size(), o.Out(), o.Memory())
	}
	parts := resident.Parts(o.lends, work, o.parts())
	m := &memory{image: image, parts: parts[0], v0: parts[1], b: parts[2], v: [2]device.Buffer{parts[3], field}}
	if !o.within {
		m.v[1] = parts[4]
	}
	return o.On.Do(func() error {
		if err := o.gradients(s, m); err != nil {
			return err
		}
		if err := o.steps(s, m); err != nil {
			return err
		}
		for c := range o.kind.Components {
			if err := s.Copy(field, 4*n*(o.kind.Components-1-c), m.v[0], 4*n*c, 4*n); err != nil {
				return err
			}
		}
		return nil
	})
}
