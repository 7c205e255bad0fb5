package duality_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/impls/betti/duality"
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

// uniform are images with tiles that are entirely in the set or in the background.
var uniform = []string{betti.NameOf(0, "point/shape=200x100x100/type=uint8"), betti.NameOf(0, "cavities/shape=200x100x100/type=uint8/count=1")}

// asked returns images for the kernels: with several tiles along each axis, of each kind, and all
// adversarial ones.
func asked() []string {
	var list []string
	for _, image := range []string{
		"noise/shape=130x70x66/levels=256/type=uint8/seed=1", "noise/shape=65x33x97/levels=256/type=int16/seed=3", "noise/shape=130x600x2/levels=256/type=float32/seed=5",
		"noise/shape=300x1030/levels=256/type=uint16/seed=6",
	} {
		for _, at := range []int64{20, 79, 128, 176, 235} {
			list = append(list, betti.NameOf(at, image))
		}
	}
	for _, image := range []string{
		"serpent/shape=131x67x66/type=uint8", "cavities/shape=131x67x66/type=uint8", "drills/shape=131x67x66/type=uint8", "sponge/shape=81x81x81/type=uint8",
		"checkerboard/shape=131x67x66/type=uint8", "constant/shape=64x64x64/type=uint8", "shell/shape=131x67x66/type=uint8",
	} {
		list = append(list, betti.NameOf(0, image))
	}
	list = append(list, uniform...)
	list = append(list, betti.NameOf(-1, "grf/shape=130x70x66/type=uint8/smooth=2/seed=1"), betti.NameOf(-1, "grf/shape=200x1100/type=uint8/smooth=2/seed=2"))
	return slices.Concat(list, betti.Workload().Adversarial)
}

// onHost returns the kernels, compiled for the host, on a stand-in for a device.
func onHost(t *testing.T, fault string) resident.Opener {
	driver := devicetest.New(1, hosttest.Modules(t, fault, "betti_duality"))
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// Launches are slow on the host, so only some images are counted there.
func TestKernelsOnHost(t *testing.T) {
	const each = 4
	some := slices.Clone(uniform)
	for i, name := range asked() {
		if i%each == 0 {
			some = append(some, name)
		}
	}
	testKernels(t, onHost(t, ""), 1, some)
}

func TestKernelsOnDevice(t *testing.T) { testKernels(t, ecctest.Device(t), len(asked()), asked()) }

// testKernels compares the kernels with cores, for some images repeatedly.
func testKernels(t *testing.T, open resident.Opener, again int, names []string) {
	t.Helper()
	for i, name := range names {
		times := 1
		if i < again {
			times = 3
		}
		scopes := duality.OnDevice(nil).About().Scopes
		if err := differs(t, open, name, scopes[i%len(scopes)], times); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// differs returns a difference between the answers of the kernels and of cores, over several calls.
func differs(t *testing.T, open resident.Opener, name string, scope bench.Scope, times int) error {
	t.Helper()
	in, err := betti.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	want := answer(t, duality.Implementation{}, in, 2)
	return countingtest.Differs(duality.OnDevice(open), in, scope, times, betti.Poisoned, want)
}

// rows returns an image whose rows are at random entirely inside or outside, except for some voxels
// at their ends.
func rows(t *testing.T, shape grid.Shape, ends int64, density float64, seed uint64) *betti.Image {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	data := grid.NewBuffer(shape.Voxels())
	bit := func() byte {
		if rng.Float64() < density {
			return 0
		}
		return 1
	}
	for row := range shape.D * shape.H {
		own := bit()
		for x := range shape.W {
			data[row*shape.W+x] = own
			if x < ends || x >= shape.W-ends {
				data[row*shape.W+x] = bit()
			}
		}
	}
	f, err := grid.Trusted(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return &betti.Image{Source: f, Threshold: 0}
}

// Tiles have uniform rows. Some tiles are the last ones of their rows, and some are inside.
func TestKernelsOfRowsOnHost(t *testing.T) { testRows(t, onHost(t, ""), 2) }

func TestKernelsOfRowsOnDevice(t *testing.T) { testRows(t, ecctest.Device(t), 40) }

func testRows(t *testing.T, open resident.Opener, times int) {
	t.Helper()
	for i, shape := range []grid.Shape{{D: 70, H: 67, W: 230}, {D: 66, H: 70, W: 77}, {D: 40, H: 33, W: 256}, {D: 2, H: 1030, W: 230}, {D: 1, H: 520, W: 130}} {
		for j, density := range []float64{0.1, 0.3, 0.5, 0.7, 0.9} {
			if times < 10 && (i+j)%3 != 0 {
				continue // launches are slow on the host
			}
			for _, ends := range []int64{0, 3} {
				in := rows(t, shape, ends, density, uint64(i))
				want := answer(t, duality.Implementation{}, in, 2)
				if err := countingtest.Differs(duality.OnDevice(open), in, bench.Kernel, times, betti.Poisoned, want); err != nil {
					t.Errorf("%v, %v of rows, %d at their ends: %v", shape, density, ends, err)
				}
			}
		}
	}
}

// Some image exposes each fault planted in the kernels.
func TestFaultsPlantedInKernelsShow(t *testing.T) {
	for _, fault := range []string{"edges", "eighteen", "outside", "seam", "twice", "narrow", "square", "end", "full", "whole"} {
		t.Run(fault, func(t *testing.T) {
			open := onHost(t, fault)
			if !slices.ContainsFunc(asked(), func(name string) bool { return differs(t, open, name, bench.Kernel, 1) != nil }) {
				t.Error("no answer differs")
			}
		})
	}
}
