// Package impls lists all workloads and their implementations. It is the one list from which the
// commands, the library and the tests take them; a new implementation is added here.
package impls

import (
	"slices"
	"strings"

	"eccbench/datasets/files/format"
	"eccbench/impls/assess/flood"
	"eccbench/impls/assess/runs"
	batchimpl "eccbench/impls/batch"
	bettidefinition "eccbench/impls/betti/definition"
	"eccbench/impls/betti/duality"
	"eccbench/impls/betti/labels"
	"eccbench/impls/betticurves/bylevel"
	curvesduality "eccbench/impls/betticurves/duality"
	"eccbench/impls/chunked"
	"eccbench/impls/cpu"
	eigendefinition "eccbench/impls/eigenmap/definition"
	"eccbench/impls/eigenmap/lanczos"
	eigenmultigrid "eccbench/impls/eigenmap/multigrid"
	eigenmultigridgpu "eccbench/impls/eigenmap/multigrid/gpu"
	"eccbench/impls/eigenmap/windowed"
	"eccbench/impls/extrema"
	"eccbench/impls/extrema/gpu"
	"eccbench/impls/foreign"
	"eccbench/impls/fullsweep"
	"eccbench/impls/gvf/blocked"
	gvfcpu "eccbench/impls/gvf/cpu"
	gvfdefinition "eccbench/impls/gvf/definition"
	gvfgpu "eccbench/impls/gvf/gpu"
	"eccbench/impls/gvf/multigrid"
	homologydefinition "eccbench/impls/homology/definition"
	homologyduality "eccbench/impls/homology/duality"
	"eccbench/impls/homology/reduced"
	"eccbench/impls/homology/reductions"
	"eccbench/impls/naive"
	readimpl "eccbench/impls/read"
	smoothimpl "eccbench/impls/smooth"
	"eccbench/impls/softecc/binned"
	"eccbench/impls/softecc/definition"
	"eccbench/impls/softecc/dense"
	"eccbench/impls/softecc/each"
	"eccbench/impls/tiled"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/read"
	"eccbench/internal/workloads/smooth"
	"eccbench/internal/workloads/softbatch"
	"eccbench/internal/workloads/softecc"
)

// ECC is the name of the workload: the Euler characteristic curve of an image.
const ECC = "ecc"

// Batch is the name of the workload for many images.
const Batch = batch.Name

// Ceiling is the name of the workload whose speed bounds all others: reading.
const Ceiling = read.Name

// BatchCeiling is the name of the ceiling for batches of images.
const BatchCeiling = batch.Reading

// List returns every implementation of the Euler characteristic curve, the reference first. Device
// implementations get their device from open.
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

// Limits on voxels times levels for implementations that answer level by level: by ranks and by
// labels.
const mostRanked, mostLabelled = 1 << 16, 1 << 24

// A Set is the program's workloads with their implementations.
type Set struct {
	// Curve is the Euler characteristic curve. CurveV is the same with voxels as vertices.
	Curve, CurveV bench.Workload[grid.Source, ecc.VCEC]
	// Betti is the Betti numbers of a sublevel set. BettiV is the same with voxels as vertices.
	Betti, BettiV bench.Workload[*betti.Image, betti.Numbers]
	// Euler and Components ask for one number of a set.
	Euler, Components bench.Workload[*betti.Image, betti.Numbers]
	// BettiCurves is the Betti numbers of all sublevel sets.
	BettiCurves bench.Workload[grid.Source, betti.Curves]
	// Flow is the gradient vector flow after some steps. Steady is the flow at rest.
	Flow, Steady bench.Workload[*gvf.Problem, gvf.Flow]
	// Soft is the soft curve and its gradients.
	Soft bench.Workload[*softecc.Problem, softecc.Answer]
	// Voxels and Patches are the lowest eigenpairs of the graph of an image's voxels and of its
	// patches. Lanczos is the same by a fixed number of steps.
	Voxels, Patches, Lanczos bench.Workload[*eigenmap.Problem, eigenmap.Map]
	// Homology is the homology groups of a simplicial complex.
	Homology bench.Workload[*homology.Problem, homology.Groups]
	Benches  []runner.Bench
	Open     resident.Opener
}

// With returns every workload, with the given implementations of the curve. Other device implementations get their
// device from open.
func With(list []bench.Implementation[grid.Source, ecc.VCEC], open resident.Opener) Set {
	var batches []bench.Implementation[*batch.Batch, []ecc.VCEC]
	for _, i := range list {
		batches = append(batches, batchimpl.Each{Of: i})
	}
	batches = append(batches, batchimpl.Together{Of: gpu.BatchOnDevice{Open: open}})
	images := fields.Inputs{Surveys: new(format.Surveys)}
	curve := bench.Workload[grid.Source, ecc.VCEC]{
		Name:      ECC,
		Question:  ecc.Question(),
		Inputs:    images,
		Impls:     list,
		Reference: naive.Implementation{}.About().Name,
		Policy:    ecc.Policy(),
		Encode:    bench.Small(ecc.Encode),
		Decode:    ecc.Decode,
	}
	sum := read.Workload(readimpl.All(open)...)
	sum.Inputs = images
	many := batch.Workload(batches...)
	smoothed := smooth.Workload(smoothimpl.OnHost{Counter: cpu.Implementation{}}, smoothimpl.OnDevice{Open: open})
	// Reading bounds every implementation that reads each byte once.
	reading := func(bench.Scope) string { return Ceiling }
	soft := softecc.Workload(definition.Implementation{}, dense.Implementation{}, dense.OnDevice{Open: open},
		binned.Implementation{}, binned.OnDevice{Open: open})
	softs := softbatch.Workload(each.Implementation{Of: definition.Implementation{}},
		each.Implementation{Of: dense.Implementation{}}, binned.Many{}, binned.ManyOnDevice{Open: open})
	softs.Ceiling = reading
	holes := betti.Workload(bettidefinition.Implementation{}, duality.Implementation{}, labels.Implementation{},
		duality.OnDevice(open), duality.OnDevices{Open: open}, labels.OnDevice(open))
	flow := gvf.Steps(gvfdefinition.Implementation{}, gvfcpu.Implementation{}, gvfgpu.Global(open),
		gvfgpu.GlobalShared(open), gvfgpu.Texture(open), gvfgpu.TextureShared(open), blocked.Implementation{},
		gvfgpu.Blocked(open),
		gvfgpu.InSlabs(open), gvfgpu.InSlabsOnDevices(open))
	halves := gvf.Keeping(gvf.NameFloat16, gvfdefinition.Implementation{}, gvfgpu.Global(open), gvfgpu.GlobalShared(open),
		gvfgpu.Texture(open), gvfgpu.TextureShared(open), gvfgpu.Blocked(open))
	snorms := gvf.Keeping(gvf.NameSnorm16, gvfdefinition.Implementation{}, gvfgpu.Global(open), gvfgpu.GlobalShared(open),
		gvfgpu.Texture(open), gvfgpu.TextureShared(open))
	steady := gvf.ToSteady(multigrid.Implementation{}, gvfgpu.Multigrid(open))
	voxels := eigenmap.OnGrid(eigendefinition.Implementation{}, eigenmultigrid.Implementation{},
		eigenmultigridgpu.OnDevice{Open: open})
	patches := eigenmap.OnPatches(eigendefinition.Implementation{}, windowed.Implementation{},
		windowed.OnDevice{Open: open})
	steps := eigenmap.BySteps(lanczos.Implementation{}, lanczos.OnDevice{Open: open})
	numbers := betti.CurvesWorkload(bylevel.Implementation{Of: bettidefinition.Implementation{}, Most: mostRanked},
		curvesduality.Implementation{Counter: extrema.Implementation{}}, curvesduality.OnDevice(open),
		bylevel.Implementation{Of: labels.Implementation{}, Most: mostLabelled})
	numbers.Inputs = images
	curve.Ceiling, smoothed.Ceiling, soft.Ceiling, holes.Ceiling, numbers.Ceiling, flow.Ceiling, steady.Ceiling,
		halves.Ceiling, snorms.Ceiling = reading, reading, reading, reading, reading, reading, reading, reading, reading
	voxels.Ceiling, patches.Ceiling, steps.Ceiling = reading, reading, reading
	groups := homology.Workload(homologies(open)...)
	many.Ceiling = func(s bench.Scope) string {
		if s == bench.File {
			return BatchCeiling
		}
		return Ceiling
	}
	curveV, holesV := vertices(curve), bettiVertices(holes)
	chi := betti.NumberOf(holes, "euler", "the Euler characteristic of the voxels of an image at or below a level",
		betti.Numbers.Euler)
	b0 := betti.NumberOf(holes, "components", "the number of components of the voxels of an image at or below a level",
		func(n betti.Numbers) int64 { return n.B0 })
	return Set{curve, curveV, holes, holesV, chi, b0, numbers, flow, steady, soft, voxels, patches, steps, groups,
		[]runner.Bench{
			runner.Bind(curve), runner.Bind(sum),
			runner.Bind(many), runner.Bind(batch.ReadingWorkload(batchimpl.Reader{})),
			runner.Bind(smoothed), runner.Bind(soft), runner.Bind(softs), runner.Bind(holes), runner.Bind(numbers),
			runner.Bind(flow), runner.Bind(steady), runner.Bind(halves), runner.Bind(snorms),
			runner.Bind(voxels), runner.Bind(patches), runner.Bind(steps), runner.Bind(groups),
			runner.Bind(curveV), runner.Bind(holesV), runner.Bind(chi), runner.Bind(b0),
			runner.Bind(assess.Workload(flood.Implementation{}, runs.Implementation{})),
		}, open}
}

// ofVertices and vertexDoc end the names and descriptions of workloads whose voxels are vertices.
const ofVertices, vertexDoc = "-v", ", voxels as vertices (V-construction)"

// vertices returns the workload of the curve with voxels as vertices, for peers with that construction.
func vertices(w bench.Workload[grid.Source, ecc.VCEC]) bench.Workload[grid.Source, ecc.VCEC] {
	w = ecc.InConvention(w, ecc.Convention{Vertices: true})
	w.Name += ofVertices
	// Our implementations answer through views, which need every value to be a level. So none is a
	// reference for other images, and images with values between levels are left out.
	w.Reference = ""
	w.Adversarial = slices.DeleteFunc(slices.Clone(w.Adversarial), func(name string) bool {
		return strings.HasPrefix(name, "between/")
	})
	w.Doc += vertexDoc
	return w
}

// bettiVertices returns the workload of the Betti numbers with voxels as vertices.
func bettiVertices(w bench.Workload[*betti.Image, betti.Numbers]) bench.Workload[*betti.Image, betti.Numbers] {
	w = betti.InConvention(w, ecc.Convention{Vertices: true})
	w.Name += ofVertices
	w.Doc += vertexDoc
	return w
}

// A peerQuestion is the question of a workload that peers are asked.
type peerQuestion struct {
	foreign.Question
	of bench.Workload[any, any]
}

func ask[In, Out any](q foreign.Question, w bench.Workload[In, Out]) peerQuestion {
	return peerQuestion{q, bench.Untyped(w)}
}

// peerQuestions returns the questions that peers are asked.
func (s Set) peerQuestions() []peerQuestion {
	return []peerQuestion{
		ask(foreign.Curves(), s.Curve), ask(foreign.Curves(), s.CurveV), ask(foreign.Betti(), s.Betti),
		ask(foreign.Betti(), s.BettiV), ask(foreign.Number(), s.Euler), ask(foreign.Number(), s.Components),
		ask(foreign.BettiCurves(), s.BettiCurves), ask(foreign.Flows(), s.Flow), ask(foreign.SoftCurves(), s.Soft),
		ask(foreign.Eigenmaps(), s.Voxels),
	}
}

// WithPeers returns the set with benches that have the implementations of peers after its own.
func (s Set) WithPeers(list ...*peers.Peer) Set {
	s.Benches = slices.Clone(s.Benches)
	for _, q := range s.peerQuestions() {
		for _, p := range list {
			q.of.Impls = append(q.of.Impls, q.Of(p, q.of.Name)...)
		}
		i := slices.IndexFunc(s.Benches, func(b runner.Bench) bool { return b.Name() == q.of.Name })
		s.Benches[i] = runner.Bind(q.of)
	}
	return s
}

// Service returns a service of the CPU implementation with a name, for the questions that peers are
// asked.
func (s Set) Service(impl string) foreign.Service {
	service := foreign.Service{}
	for _, q := range s.peerQuestions() {
		q.Serve(service, q.of, impl)
	}
	return service
}

// Edits reports whether calls of a workload that peers are asked change the image a little.
func (s Set) Edits(workload string) bool {
	return slices.ContainsFunc(s.peerQuestions(), func(q peerQuestion) bool {
		return q.Edits() && q.of.Name == workload
	})
}

// homologies returns the implementations of homology groups, the reference first.
func homologies(open resident.Opener) []bench.Implementation[*homology.Problem, homology.Groups] {
	return []bench.Implementation[*homology.Problem, homology.Groups]{
		homologydefinition.Implementation{}, homologyduality.Implementation{}, reduced.Implementation{},
		reductions.Implementation{}, reductions.Partitions{}, reductions.Race{},
		homologyduality.OnDevice{Open: open}, reductions.RaceOnDevice{Open: open},
	}
}

// All returns every workload with every implementation. Device implementations get their device
// from open.
func All(open resident.Opener) Set { return With(List(open), open) }
