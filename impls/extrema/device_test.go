package extrema_test

import (
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/ecc"
	"eccbench/internal/ecc/ecctest"
	"eccbench/internal/grid"
	"eccbench/kernels"
)

func TestConformanceOnDevice(t *testing.T) {
	ecctest.Run(t, extrema.OnDevice{Open: ecctest.Device(t)})
}

func TestConformanceAsLargeOnDevice(t *testing.T) {
	ecctest.Run(t, extrema.AsLarge(extrema.OnDevice{Open: ecctest.Device(t)}))
}

// The sliced kernels where a row begins at multiples of 16 bytes, of four, and anywhere;
// with tiles that the image fills and does not; in the extremes of a type, and with one
// voxel that stands on no level.
func TestSlicedOnDevice(t *testing.T) {
	impl := extrema.AsLarge(extrema.OnDevice{Open: ecctest.Device(t)})
	for _, typ := range []grid.Type{grid.Uint8, grid.Int16, grid.Uint16} {
		for _, levels := range []int64{2, 256, 257, 1023, 1024, 1025} {
			if typ == grid.Uint8 && levels > 256 {
				continue
			}
			for _, w := range []int64{1, 2, 63, 64, 65, 127, 128, 130, 132, 256, 264, 300} {
				for _, hd := range [][2]int64{{1, 9}, {15, 3}, {16, 2}, {31, 40}} {
					in := image(t, grid.Shape{D: hd[1], H: hd[0], W: w}, typ, levels, scattered(levels))
					if d := agree(t, impl, in, onHost(t, in)); d != nil {
						t.Errorf("%v %v, %d levels: %v", in.Shape(), typ, levels, d)
					}
				}
			}
		}
	}
}

func TestSuiteCatchesFaultsPlantedInSlicedKernels(t *testing.T) {
	open := ecctest.Device(t)
	const source = "ecc_extrema_sliced_uint8"
	ecctest.CatchesPlanted(t, source, func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return extrema.AsLarge(extrema.OnDevice{Open: open, PTX: func(name string) ([]byte, error) {
			if name == source {
				return ptx(name)
			}
			return kernels.PTX(name)
		}})
	})
}

func TestSuiteCatchesFaultsPlantedInKernels(t *testing.T) {
	open := ecctest.Device(t)
	ecctest.CatchesPlanted(t, "ecc_extrema_float32", func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC] {
		return extrema.OnDevice{Open: open, PTX: ptx}
	})
}

func FuzzConformanceOnDevice(f *testing.F) {
	ecctest.Fuzz(f, extrema.OnDevice{Open: ecctest.Device(f)})
}
