// Package counting provides the shared parts of device implementations of the curve: a loaded
// kernel with its ladder and its table of changes. impls/chunked, impls/tiled and the other device
// implementations build on it.
package counting

import (
	"math"
	"slices"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
)

// A Ladder contains the parameters of a grid.Ladder for kernels (kernels/ecc/voxel.h).
type Ladder struct {
	levels, least, affine int32
	lo, inverse           float32
	lut, values           device.Buffer // nil if the kernel does not need it
}

// putLadder copies the ladder's tables to the device: none for an identity ladder, the level of
// each value for other ladders of 8 and 16-bit types, and the levels' values for float32.
func putLadder(o *resident.Objects, s device.Stream, kernel Kernel) *Ladder {
	t, l := kernel.Type, kernel.Ladder
	k := &Ladder{levels: int32(l.Len())}
	lo, step, even := l.Affinity()
	if even {
		k.lo = float32(lo)
	}
	if t == grid.Float32 {
		values := make([]float32, l.Len())
		for i := range values {
			values[i] = l.Value(int64(i))
		}
		k.values = resident.NewNumbers(o, s, "values of the levels", values)
		if even {
			k.affine, k.inverse = 1, float32(1/step)
		}
		return k
	}
	if t == grid.Int16 {
		k.least = math.MinInt16
	}
	if l.Key() == grid.Identity(t).Key() {
		return k
	}
	of := l.OfPatterns(t)
	least := int(k.least) & (len(of) - 1) // tables start at the least value; patterns start at 0
	k.lut = resident.NewNumbers(o, s, "levels of the values", slices.Concat(of[least:], of[:least]))
	return k
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
