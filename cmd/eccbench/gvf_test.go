package main

import (
	"testing"

	"eccbench/impls"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// A field is computed on a device in slabs if host memory is too small for the CPU and there is a
// device.
func TestFieldBeyondTheMemoryOfTheCores(t *testing.T) {
	with := func(devices int) bench.Workload[*gvf.Problem, gvf.Flow] {
		driver := devicetest.New(devices, func(string) devicetest.Kernel { return nil })
		return impls.All(resident.OpenOnce(func() (device.Driver, error) { return driver, nil })).Flow
	}
	shape := grid.Shape{D: 64, H: 64, W: 64}
	image, err := grid.Trusted(shape, grid.Uint8, grid.NewBuffer(shape.Voxels()), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	p := gvf.NewProblem(image, 0.05, 20, 0, gvf.Replicate)
	for _, c := range []struct {
		devices int
		numbers int64 // for each voxel that memory has room for
		want    string
	}{{1, 1000, "blocked"}, {0, 1000, "blocked"}, {1, 8, "cpu"}, {1, 7, "slabs-gpu"}, {1, 3, "slabs-gpu"}, {1, 2, ""}, {0, 7, ""}} {
		conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}, Memory: 4*c.numbers*shape.Voxels() + 1<<10}
		got, err := ask.Choose(with(c.devices), "", "scan", p, conditions, ask.FlowImpls...)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%d devices, room for %d numbers a voxel: %q (%v), want %q", c.devices, c.numbers, got, err, c.want)
		}
	}
}
