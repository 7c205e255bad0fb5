// Package ondevice answers for the programs of other languages where their images are in the memory
// of a device: on the caller's stream, in the caller's memory, without waiting for anything.
package ondevice

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"eccbench/impls/extrema/gpu"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A Request says what is asked of images, and what they have in common.
type Request struct {
	Device int     `json:"device"` // its number, as the driver counts them for this process
	Shape  []int64 `json:"shape"`  // of an image, 1 to 3 axes, the slowest first
	Type   string  `json:"type"`   // uint8, int16, uint16 or float32
	// At are the values whose sets are asked for, each more than the one before; nil for all
	// values of an integer type.
	At []float64 `json:"at"`
	// Align is a number of bytes that the addresses of images are multiples of.
	Align int64 `json:"align"`
	// OnLevels says that each value of the images is one of At. Nobody looks.
	OnLevels bool `json:"on_levels"`
}

// A Plan is how images alike are counted, from Open to Close.
type Plan struct {
	Number uint64 `json:"plan"`
	Memory int64  `json:"memory"` // bytes that Count is to be given
	Rows   int64  `json:"rows"`

	arrays *gpu.Arrays
	on     device.Guest
	bytes  int64 // of an image
}

// A Call is the memory of the caller's that images are counted in, and the stream, by its handle:
// the addresses of images one after the other, of their curves, and of memory to work in.
type Call struct{ Image, Chi, Memory, Stream uint64 }

// Plans are those of a process.
type Plans struct {
	Open resident.Opener

	mu   sync.Mutex
	last uint64
	open map[uint64]*Plan
}

// Make makes a plan: it loads kernels, and brings what they need to know of the levels to the
// device, which waits for it.
func (p *Plans) Make(r Request) (*Plan, error) {
	kind, err := r.kind()
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
	arrays, err := gpu.OpenArrays(d, kind)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	plan := &Plan{
		Number: p.last, Memory: arrays.Memory(), Rows: kind.Rows,
		arrays: arrays, on: guest, bytes: kind.Shape.Voxels() * kind.Type.Size(),
	}
	if p.open == nil {
		p.open = map[uint64]*Plan{}
	}
	p.open[plan.Number] = plan
	return plan, nil
}

// Count adds to the stream the count of some images.
func (p *Plans) Count(number uint64, images int64, c Call) error {
	p.mu.Lock()
	plan := p.open[number]
	p.mu.Unlock()
	if plan == nil {
		return fmt.Errorf("plan %d: there is none", number)
	}
	s, memory := plan.on.LentStream("the caller's", c.Stream), plan.on.LentBuffer("the caller's memory", c.Memory, plan.Memory)
	return plan.on.Do(func() error {
		for i := range uint64(images) {
			image := plan.on.LentBuffer("the caller's image", c.Image+i*uint64(plan.bytes), plan.bytes)
			chi := plan.on.LentBuffer("the caller's curve", c.Chi+8*i*uint64(plan.Rows), 8*plan.Rows)
			if err := plan.arrays.Enqueue(s, image, chi, memory); err != nil {
				return err
			}
		}
		return nil
	})
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
	return plan.arrays.Close()
}

// kind is what kernels are asked for.
func (r Request) kind() (kind gpu.ArrayKind, err error) {
	kind = gpu.ArrayKind{Shape: grid.Shape{D: 1, H: 1, W: 1}, Align: r.Align, OnLevels: r.OnLevels}
	if len(r.Shape) < 1 || len(r.Shape) > 3 {
		return kind, fmt.Errorf("%d axes: want an image of 1 to 3", len(r.Shape))
	}
	for i, to := range []*int64{&kind.Shape.W, &kind.Shape.H, &kind.Shape.D}[:len(r.Shape)] {
		*to = r.Shape[len(r.Shape)-1-i]
	}
	if err := kind.Shape.Check(); err != nil {
		return kind, err
	}
	if kind.Type, err = grid.ParseType(r.Type); err != nil {
		return kind, err
	}
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
			return kind, fmt.Errorf("at %v: is no finite value of float32", v)
		}
		if kind.Type != grid.Float32 && (v != math.Trunc(v) || float32(v) < all.Value(0) || float32(v) > all.Value(all.Len()-1)) {
			return kind, fmt.Errorf("at %v: is no value of %v", v, kind.Type)
		}
	}
	kind.Rows = int64(len(values))
	kind.Ladder, err = beyond(kind.Type, values)
	if kind.OnLevels = kind.OnLevels && kind.Type == grid.Float32; err == nil && kind.Type != grid.Float32 && kind.Ladder.Len() == all.Len() {
		kind.Ladder, kind.OnLevels = all, true
	}
	return kind, err
}

// beyond is a ladder of the values, evenly spaced where they are, and one level more for what is
// above them.
func beyond(t grid.Type, values []float32) (grid.Ladder, error) {
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
		if err == nil && !slices.ContainsFunc(values, func(v float32) bool { return even.Value(even.Level(v)) != v }) && even.Level(values[n-1]) == int64(n-1) {
			return even, nil
		}
	}
	values = slices.Clone(values)
	if values[n-1] < greatest {
		values = append(values, greatest)
	}
	return grid.Table(values)
}
