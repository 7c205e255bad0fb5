package gpu_test

import (
	"iter"
	"testing"

	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestConformanceOnDevice(t *testing.T) {
	ecctest.Run(t, gpu.OnDevice{Open: ecctest.Device(t)})
}

func TestConformanceAsLargeOnDevice(t *testing.T) {
	ecctest.Run(t, gpu.AsLarge(gpu.OnDevice{Open: ecctest.Device(t)}))
}

// wrongSliced returns the images for which an implementation with sliced kernels disagrees with the
// host.
func wrongSliced(t *testing.T, impl bench.Implementation[grid.Source, ecc.VCEC], kind onHostKind, typ grid.Type) iter.Seq2[onHostCase, *verify.Diff] {
	list, most := kind.cases(typ), map[string]int64{"sliced": 1 << 10, "deep": 1 << 16}[kind.name]
	if typ == grid.Uint8 {
		most = 1 << 8
	}
	for _, w := range []int64{64, 132, 300} { // of more segments than one
		list = append(list, onHostCase{shape: grid.Shape{D: 40, H: 31, W: w}, lo: least(typ), levels: most})
	}
	if typ != grid.Uint8 { // by other kernels
		for _, n := range []int64{1<<10 + 1, 31744} {
			list = append(list, onHostCase{shape: grid.Shape{D: 3, H: 31, W: 132}, lo: least(typ), levels: n})
		}
	}
	return func(yield func(onHostCase, *verify.Diff) bool) {
		for _, c := range list {
			in := c.fields(t, typ)[0]
			if d := agree(t, impl, in, onHost(t, in)); d != nil && !yield(c, d) {
				return
			}
		}
	}
}

func TestSlicedOnDevice(t *testing.T) {
	impl := gpu.AsLarge(gpu.OnDevice{Open: ecctest.Device(t)})
	for _, kind := range slicedKinds() {
		for _, typ := range kind.types {
			for c, d := range wrongSliced(t, impl, kind, typ) {
				t.Errorf("%s %v, %v: %v", kind.name, typ, c, d)
			}
		}
	}
}

func FuzzConformanceOnDevice(f *testing.F) {
	ecctest.Fuzz(f, gpu.OnDevice{Open: ecctest.Device(f)})
}
