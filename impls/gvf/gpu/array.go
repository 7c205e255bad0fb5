package gpu

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// An ArrayKind is what arrays of other programs have in common whose flow one Arrays finds.
type ArrayKind struct {
	Shape    grid.Shape
	Type     grid.Type
	Steps    int64
	Mu       float32
	Boundary gvf.Boundary
	// Components are how many are asked for, as those of the array's axes are: x last.
	Components int64
	// Align is a number of bytes that the addresses of fields are multiples of.
	Align int64
}

// Arrays finds the flow of images in memory that other programs allocated, to the bits of the
// plain loop: all that it writes is in memory that it is given, and nothing is looked at on the
// host. So flows may be added to several streams at once, and be played back as part of a graph.
// No block waits for another, which would have to run at the same time: what else runs on the
// device may not let it.
type Arrays struct {
	program
	lends  device.Guest
	kind   ArrayKind
	within bool // one of the two fields is where the answer is written
}

// outline is an image of which nobody reads anything.
type outline struct{ ArrayKind }

func (o outline) Shape() grid.Shape                 { return o.ArrayKind.Shape }
func (o outline) Type() grid.Type                   { return o.ArrayKind.Type }
func (o outline) Ladder() grid.Ladder               { return grid.Identity(o.ArrayKind.Type) }
func (outline) ReadSlab(_ []byte, _, _ int64) error { return errors.New("nobody reads an outline") }

// vector is what fields begin at multiples of, so that vectors of four numbers are read.
const vector = 16

// OpenArrays loads the kernels for images alike.
func OpenArrays(d device.Guest, a ArrayKind) (*Arrays, error) {
	p := gvf.NewProblem(outline{a}, a.Mu, a.Steps, 0, a.Boundary)
	if !p.StableAnyway() {
		dim := float64(p.Dim())
		return nil, fmt.Errorf("μ = %v in %dD: steps may grow without bound, and nobody looks at the image; want μ of at most %.4g", a.Mu, p.Dim(), (2-dim/4)/(4*dim))
	}
	if err := errors.Join(p.Check(), kernelsTake(p, d, math.MaxUint32)); err != nil {
		return nil, err
	}
	o := &Arrays{program: program{d: d, p: p}, lends: d, kind: a, within: a.Components == int64(p.Dim()) && a.Align%vector == 0}
	if err := o.load(planPasses); err != nil {
		return nil, errors.Join(err, o.unload())
	}
	return o, nil
}

// apart is what parts of memory begin at multiples of.
const apart = 256

// parts are the sizes of what a flow works in: the extents, V0, b, and a field or two.
func (o *Arrays) parts() []int64 {
	n := 4 * o.kind.Shape.Voxels()
	field := n * int64(o.p.Dim())
	list := []int64{extentBytes, field, n, field}
	if !o.within {
		list = append(list, field)
	}
	return list
}

// Memory is how many bytes Enqueue is to be given, at an address that is a multiple of 256.
func (o *Arrays) Memory() (bytes int64) {
	for _, n := range o.parts() {
		bytes += grid.CeilDiv(n, apart) * apart
	}
	return bytes
}

// Out is how many bytes the answer takes.
func (o *Arrays) Out() int64 { return 4 * o.kind.Shape.Voxels() * o.kind.Components }

// Enqueue adds to a stream the flow of an image, float32: the components that were asked for are
// written to field. What it works in must not be used by anything else until then.
func (o *Arrays) Enqueue(s device.Stream, image, field, work device.Buffer) error {
	n := o.kind.Shape.Voxels()
	if image.Bytes() < n*o.kind.Type.Size() || field.Bytes() < o.Out() || work.Bytes() < o.Memory() {
		return fmt.Errorf("an image of %d bytes, %d for the field, %d of memory: want %d, %d and %d",
			image.Bytes(), field.Bytes(), work.Bytes(), n*o.kind.Type.Size(), o.Out(), o.Memory())
	}
	var parts []device.Buffer
	at := work.Address()
	for _, bytes := range o.parts() {
		parts = append(parts, o.lends.LentBuffer("part of "+work.Name(), at, bytes))
		at += uint64(grid.CeilDiv(bytes, apart) * apart)
	}
	m := &memory{image: image, parts: parts[0], v0: parts[1], b: parts[2], v: [2]device.Buffer{parts[3], field}}
	if !o.within {
		m.v[1] = parts[4]
	}
	return o.d.Do(func() error {
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

// Close frees the kernels. Nothing may run that uses them.
func (o *Arrays) Close() error { return o.unload() }
