// Package counting provides the shared parts of device implementations of the curve: a loaded
// kernel with its ladder and its table of changes. impls/chunked, impls/tiled and the other device
// implementations build on it.
package counting

import (
	"errors"
	"math"
	"unsafe"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// A Ladder contains the parameters of a grid.Ladder for kernels (kernels/ecc/voxel.h).
type Ladder struct {
	levels, least, affine int32
	lo, inverse           float32
	lut, values           device.Buffer // nil if the kernel does not need it
}

// putLadder copies the ladder's tables to the device: none for an identity ladder, the level of
// each value for other ladders of 8 and 16-bit types, and the levels' values for float32.
func putLadder(d device.Device, s device.Stream, kernel Kernel) (*Ladder, error) {
	t, l := kernel.Type, kernel.Ladder
	k := &Ladder{levels: int32(l.Len())}
	var err error
	lo, step, even := l.Affinity()
	if even {
		k.lo = float32(lo)
	}
	if t == grid.Float32 {
		k.values, err = put(d, s, "values of the levels", l.Len(), func(values []float32) {
			for i := range values {
				values[i] = l.Value(int64(i))
			}
		})
		if even {
			k.affine, k.inverse = 1, float32(1/step)
		}
		return k, err
	}
	if t == grid.Int16 {
		k.least = math.MinInt16
	}
	if l.Key() == grid.Identity(t).Key() {
		return k, nil
	}
	n := int64(1) << (8 * t.Size())
	k.lut, err = put(d, s, "levels of the values", n, func(lut []int32) {
		of := l.OfPatterns(t)
		least := int(k.least) & (len(of) - 1) // tables start at the least value; patterns start at 0
		copy(lut[copy(lut, of[least:]):], of[:least])
	})
	return k, err
}

// put allocates n elements on the device and copies the values from fill to it.
func put[T float32 | int32](d device.Device, s device.Stream, name string, n int64,
	fill func([]T)) (device.Buffer, error) {
	list := make([]T, n)
	fill(list)
	b, err := d.Alloc(name, 4*n)
	if err != nil {
		return nil, err
	}
	if err := s.Upload(b, 0, bits(list)); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// bits views a list as bytes. Devices and hosts are little-endian.
func bits[T float32 | int32 | int64](list []T) []byte {
	if len(list) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0])))
}

// args returns the ladder's kernel parameters, in order.
func (k *Ladder) args() []any {
	pointer := func(b device.Buffer) any {
		if b == nil {
			return uint64(0)
		}
		return b
	}
	return []any{k.levels, k.least, k.affine, k.lo, k.inverse, pointer(k.lut), pointer(k.values)}
}

func (k *Ladder) close() error {
	var errs []error
	for _, b := range []device.Buffer{k.lut, k.values} {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}

// view interprets host bytes as elements that a device wrote. Both are little-endian.
func view[T int32 | int64](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(T(0))))
}
