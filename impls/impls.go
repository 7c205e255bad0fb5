// Package impls is the one list of what eccbench runs.
package impls

import (
	batchimpl "eccbench/impls/batch"
	"eccbench/impls/chunked"
	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/impls/extrema/gpu"
	"eccbench/impls/fullsweep"
	"eccbench/impls/naive"
	readimpl "eccbench/impls/read"
	smoothimpl "eccbench/impls/smooth"
	"eccbench/impls/tiled"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/read"
	"eccbench/internal/workloads/smooth"
)

// ECC is the name of the workload: the Euler characteristic curve of an image.
const ECC = "ecc"

// Ceiling is the name of the workload whose speed bounds all others.
const Ceiling = read.Name

// BatchCeiling is that of batches of images.
const BatchCeiling = batch.Reading

// List is every implementation of the Euler characteristic curve, the reference
// first. Those on a device take it from open.
func List(open resident.Opener) []bench.Implementation[grid.Source, ecc.VCEC] {
	return []bench.Implementation[grid.Source, ecc.VCEC]{
		naive.Implementation{},
		cpu.Implementation{},
		chunked.Implementation{Open: open},
		tiled.Implementation{Open: open},
		fullsweep.Implementation{Open: open},
		extrema.Implementation{},
		gpu.OnDevice{Open: open},
		gpu.OnDevices{Open: open},
	}
}

// ISAs names the instruction sets of the implementations that have several.
func ISAs() []string { return extrema.ISAs() }

// Workload is the question of the Euler characteristic curve, put to the given
// implementations.
func Workload(list []bench.Implementation[grid.Source, ecc.VCEC]) bench.Workload[grid.Source, ecc.VCEC] {
	return bench.Workload[grid.Source, ecc.VCEC]{
		Name:      ECC,
		Inputs:    fields.Inputs{},
		Impls:     list,
		Reference: naive.Implementation{}.About().Name,
		Policy:    ecc.Policy(),
		Encode:    bench.Small(ecc.Encode),
		Decode:    ecc.Decode,
	}
}

// Benches is every workload, with the given implementations of the curve.
func Benches(list []bench.Implementation[grid.Source, ecc.VCEC], open resident.Opener) []runner.Bench {
	var batches []bench.Implementation[*batch.Batch, []ecc.VCEC]
	for _, i := range list {
		batches = append(batches, batchimpl.Each{Of: i})
	}
	batches = append(batches, batchimpl.Together{Of: gpu.BatchOnDevice{Open: open}})
	return []runner.Bench{
		runner.Bind(Workload(list)), runner.Bind(read.Workload(readimpl.All(open)...)),
		runner.Bind(batch.Workload(batches...)), runner.Bind(batch.ReadingWorkload(batchimpl.Reader{})),
		runner.Bind(smooth.Workload(smoothimpl.OnHost{Counter: cpu.Implementation{}}, smoothimpl.OnDevice{Open: open})),
	}
}
