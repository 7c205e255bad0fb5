package binned

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// An ArrayKind is what images of float32 in memory of other programs have in common whose soft
// curves one Arrays finds.
type ArrayKind struct {
	Shape      grid.Shape
	Thresholds int64
	// Bins are as many as there are, whatever the image is: how wide they are is said on the device.
	Bins int64
	// Align is a number of bytes that the addresses of images and gradients are multiples of.
	Align int64
}

// Arrays find the soft curves of images, and their gradients, in two calls as a Layer does: all that
// is read and written is in memory that other programs allocated, and all numbers but shapes are
// there, too, where the programs may have made them on the device.
type Arrays struct {
	kind         ArrayKind
	on           device.Device
	both         device.Module
	curve, table device.Function
	by           *counter
}

// An ArrayMemory is that of an image: forward the image, the changes and the curve, backward the
// image, the changes, the gradient and its moments.
type ArrayMemory struct {
	Image   device.Buffer // float32
	Changes device.Buffer // a byte for each voxel, each row filled up to four
	Over    device.Buffer // float64: the middle of the first bin, 1 over their width, their width, and λ
	Middles device.Buffer // float64, of the bins
	Along   device.Buffer // float32: what is added to the voxels along x
	OfRow   device.Buffer // float32, and to those of each row
	Tau     device.Buffer // float64
	G       device.Buffer // float64, of each threshold: what forward derivatives are times, ones; or the upstream gradient
	Work    device.Buffer // Work() bytes
	Curve   device.Buffer // float64: of each threshold χ, and what G is times its derivatives by it and by λ
	DX      device.Buffer // float32
	Moments device.Buffer // float64, for each of Blocks() of them four: sums of c·G' and of that times x, y and z
}

// aligned says that all rows begin at multiples of four voxels' bytes.
func (a ArrayKind) aligned() bool { return a.Shape.W%4 == 0 && a.Align%16 == 0 }

// OpenArrays loads the kernels for images alike.
func OpenArrays(d device.Device, a ArrayKind) (*Arrays, error) {
	s := a.Shape
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := countable(s, d.Info()); err != nil {
		return nil, err
	}
	if a.Thresholds < 1 || a.Thresholds > math.MaxInt32 || a.Bins < 4 || a.Bins > most {
		return nil, fmt.Errorf("%d thresholds, %d bins: want 1 or more, and 4 to %d", a.Thresholds, a.Bins, most)
	}
	o := &Arrays{kind: a, on: d, by: &counter{name: "bins", each: 3, n: a.Bins}}
	var err error
	if o.both, err = resident.Load(d, "softecc_curve", "softecc_curve", "softecc_table"); err == nil {
		if o.curve, err = o.both.Function("softecc_curve"); err == nil {
			o.table, err = o.both.Function("softecc_table")
		}
	}
	if err == nil {
		err = o.by.load(d, grid.Float32, s, a.aligned())
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Blocks is how many moments Backward writes.
func (o *Arrays) Blocks() int64 { return o.by.backwards.Grid.X }

// Changes is how many bytes the changes of an image take.
func (o *Arrays) Changes() int64 { return 4 * words(o.kind.Shape) }

// Work is how many bytes either call works in.
func (o *Arrays) Work() int64 { return 8 * (o.by.each*o.by.n + 1) }

// image are the first parameters of both kernels.
func (o *Arrays) image(m ArrayMemory) []any {
	s := o.kind.Shape
	return []any{m.Image, m.Along, m.OfRow, int32(s.W), int32(s.H), int32(s.D), m.Changes}
}

// Forward adds the changes and the curve of an image to a stream.
func (o *Arrays) Forward(s device.Stream, m ArrayMemory) error {
	n := int32(o.by.n)
	return o.on.Do(func() error {
		if err := s.Fill32(m.Work, 0, o.Work()/4, 0); err != nil {
			return err
		}
		if err := s.Launch(o.by.forward, o.by.forwards, append(o.image(m), int32(o.by.length(o.kind.Shape)), m.Over, m.Work, n)...); err != nil {
			return err
		}
		return s.Launch(o.curve, ofCurves(o.kind.Thresholds), m.Middles, m.Work, n, int32(o.by.each), m.Over, m.Tau, m.G, m.Curve)
	})
}

// Backward adds the gradient to a stream.
func (o *Arrays) Backward(s device.Stream, m ArrayMemory) error {
	n := int32(o.by.n)
	return o.on.Do(func() error {
		if err := s.Launch(o.table, ofTables(o.by.n), m.Middles, n, int32(o.by.each), m.Over, m.Tau, m.G, int32(o.kind.Thresholds), m.Work); err != nil {
			return err
		}
		return s.Launch(o.by.backward, o.by.backwards, append(o.image(m), m.Work, m.DX, m.Moments, m.Over, m.Work, n)...)
	})
}

// Close frees the kernels. Nothing may run that uses them.
func (o *Arrays) Close() error {
	errs := []error{o.by.close()}
	if o.both != nil {
		errs = append(errs, o.both.Close())
	}
	return errors.Join(errs...)
}
