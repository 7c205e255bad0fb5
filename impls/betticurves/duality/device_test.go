package duality_test

import (
	"slices"
	"testing"

	"eccbench/impls/betticurves/duality"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting/countingtest"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/hosttest"
)

// asked are images for the kernels: rows of several words and of part of one, each type, with and
// without flats, and some with long descents.
var asked = []string{
	"noise/shape=37x9x8/levels=5/type=uint8/seed=1", "noise/shape=66x7x6/type=uint8/seed=2", "noise/shape=33x8x7/levels=300/type=uint16/seed=3",
	"noise/shape=20x10x9/levels=12/type=int16/seed=4", "noise/shape=40x11x5/levels=9/type=float32/seed=5", "noise/shape=70x40/levels=6/type=uint8/seed=6",
	"noise/shape=40x9x2/levels=6/type=uint8/seed=7", "noise/shape=1x9x33/levels=6/type=uint8/seed=8", "noise/shape=3x3x3/levels=3/type=uint8/seed=9",
	"dots/shape=35x13x11/type=uint8", "constant/shape=35x13x11/type=uint8", "checkerboard/shape=35x13x11/type=uint8", "serpent/shape=35x13x11/type=uint8",
	"cavities/shape=35x13x11/type=uint8", "grf/shape=40x16x16/type=uint8/smooth=2/seed=1",
	"noise/shape=80x9x5/levels=6/type=uint8/seed=10", "noise/shape=68x9x5/levels=200/type=uint8/seed=11", // whole fours, and sixteens, of rows of three words
}

// onHost returns the kernels, compiled for the host, on a stand-in for a device.
func onHost(t *testing.T, fault string) resident.Opener {
	driver := devicetest.New(1, hosttest.Modules(t, fault, "betti_curves"))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

func TestKernelsOnHost(t *testing.T) { testKernels(t, onHost(t, ""), asked) }

func TestKernelsOnDevice(t *testing.T) {
	testKernels(t, ecctest.Device(t), slices.Concat(asked, []string{
		"noise/shape=130x70x66/type=uint8/seed=1", "noise/shape=130x70x66/levels=1000/type=uint16/seed=1", "grf/shape=256x256x256/type=uint8/smooth=2.5/seed=1",
		"noise/shape=256x256x256/type=uint8/seed=1", "dots/shape=200x200x200/type=uint8", "constant/shape=256x256x256/type=uint8", "noise/shape=1030x1000/type=uint8/seed=6",
	}))
}

// testKernels compares the kernels with cores, twice.
func testKernels(t *testing.T, open resident.Opener, names []string) {
	t.Helper()
	scopes := duality.OnDevice(nil).About().Scopes
	for i, name := range names {
		if err := differs(t, open, name, scopes[i%len(scopes)], 2); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// differs returns a difference between the answers of the kernels and of cores, over several calls.
func differs(t *testing.T, open resident.Opener, name string, scope bench.Scope, times int) error {
	t.Helper()
	_, whole := ecctest.Open(t, name)
	var in grid.Source = whole
	want := answer(t, ours(0), in, 2)
	return countingtest.Differs(duality.OnDevice(open), in, scope, times, betti.PoisonedCurves, want)
}

// Some image exposes each fault planted in the kernels.
func TestFaultsPlantedInKernelsShow(t *testing.T) {
	for _, fault := range []string{"side", "waiting", "third", "path", "moved"} {
		t.Run(fault, func(t *testing.T) {
			open := onHost(t, fault)
			if !slices.ContainsFunc(asked, func(name string) bool { return differs(t, open, name, bench.Kernel, 1) != nil }) {
				t.Error("no answer differs")
			}
		})
	}
}

// BenchmarkSteps measures each kernel.
func BenchmarkSteps(b *testing.B) {
	for _, name := range []string{
		"grf/shape=1024x1024x1024/levels=256/type=uint8/smooth=2.5/seed=1",
		"noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1",
		"dots/shape=512x512x512/type=uint8", "constant/shape=1024x1024x1024/type=uint8",
		"noise/shape=512x512x512/levels=1000/type=uint16/seed=1", "noise/shape=16384x16384/levels=256/type=uint8/seed=1",
	} {
		b.Run(name, func(b *testing.B) {
			_, in := ecctest.Open(b, name)
			countingtest.Steps[grid.Source](b, duality.OnDevice(ecctest.Device(b)), in, in.Shape().Voxels())
		})
	}
}
