package ondevice

import (
	"errors"

	"eccbench/impls/betti/duality"
	curves "eccbench/impls/betticurves/duality"
	extrema "eccbench/impls/extrema/gpu"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti/counting"
)

// numbers returns a function that loads kernels for the Betti numbers at each value, counted on its own.
func (r Request) numbers(s grid.Shape, t grid.Type) (func(device.Guest) (*Plan, error), error) {
	if len(r.At) == 0 {
		return nil, errors.New("at is empty: want one value or more")
	}
	values := make([]float32, len(r.At))
	for i, v := range r.At {
		values[i] = float32(v)
	}
	return func(d device.Guest) (*Plan, error) {
		b, err := duality.OpenBatch(d, s, t, values, r.Betti.Above)
		if err != nil {
			return nil, err
		}
		return planOf(b, int64(len(values)), s.Voxels()*t.Size(), byLabels(s, t, values, r.Betti.Above)), nil
	}, nil
}

// curves returns a function that loads kernels for the Betti numbers at all values together.
func (r Request) curves(kind extrema.ArrayKind) (func(device.Guest) (*Plan, error), error) {
	if r.Betti.Above {
		return nil, errors.New("sets above values: count those up to the values of the negated image")
	}
	values := make([]float32, kind.Rows)
	for i := range values {
		values[i] = kind.Ladder.Value(int64(i))
	}
	return func(d device.Guest) (*Plan, error) {
		b, err := curves.OpenBatch(d, kind.Shape, kind.Type, kind.Ladder, kind.Rows)
		if err != nil {
			return nil, err
		}
		return planOf(b, kind.Rows, kind.Shape.Voxels()*kind.Type.Size(), byLabels(kind.Shape, kind.Type, values, false)), nil
	}, nil
}

func planOf(b *counting.Batch, rows, image int64, c *check) *Plan {
	return &Plan{
		Rows: rows, Memory: b.Memory(), Most: b.Most(), kernels: b, enqueue: b.Enqueue, check: c, image: image, answer: b.Answer(),
	}
}
