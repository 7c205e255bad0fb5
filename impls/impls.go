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
	pairsdefinition "eccbench/impls/pairs/definition"
	"eccbench/impls/pairs/morse"
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
	"eccbench/internal/workloads/pairs"
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
	// Pairs is the persistence pairs of an image.
	Pairs bench.Workload[grid.Source, pairs.Answer]
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
	images := fields.Inputs{Surveys: new(format.Surveys)}
	numbers := betti.CurvesWorkload(bylevel.Implementation{Of: bettidefinition.Implementation{}, Most: mostRanked},
		curvesduality.Implementation{Counter: extrema.Implementation{}}, curvesduality.OnDevice(open),
		bylevel.Implementation{Of: labels.Implementation{}, Most: mostLabelled})
	numbers.Inputs = images
	persistence := pairs.Workload(pairsdefinition.Implementation{}, morse.Implementation{})
	persistence.Inputs = images
	s := Set{
		Curve: curve(list, images),
		Betti: bounded(betti.Workload(bettidefinition.Implementation{}, duality.Implementation{}, labels.Implementation{},
			duality.OnDevice(open), duality.OnDevices{Open: open}, labels.OnDevice(open))),
		BettiCurves: bounded(numbers),
		Pairs:       bounded(persistence),
		Flow: bounded(gvf.Steps(gvfdefinition.Implementation{}, gvfcpu.Implementation{}, gvfgpu.Global(open),
			gvfgpu.GlobalShared(open), gvfgpu.Texture(open), gvfgpu.TextureShared(open), blocked.Implementation{},
			gvfgpu.Blocked(open), gvfgpu.InSlabs(open), gvfgpu.InSlabsOnDevices(open))),
		Steady: bounded(gvf.ToSteady(multigrid.Implementation{}, gvfgpu.Multigrid(open))),
		Soft: bounded(softecc.Workload(definition.Implementation{}, dense.Implementation{}, dense.OnDevice{Open: open},
			binned.Implementation{}, binned.OnDevice{Open: open})),
		Voxels: bounded(eigenmap.OnGrid(eigendefinition.Implementation{}, eigenmultigrid.Implementation{},
			eigenmultigridgpu.OnDevice{Open: open})),
		Patches: bounded(eigenmap.OnPatches(eigendefinition.Implementation{}, windowed.Implementation{},
			windowed.OnDevice{Open: open})),
		Lanczos:  bounded(eigenmap.BySteps(lanczos.Implementation{}, lanczos.OnDevice{Open: open})),
		Homology: homology.Workload(homologies(open)...),
		Open:     open,
	}
	s.CurveV, s.BettiV = vertices(s.Curve), bettiVertices(s.Betti)
	s.Euler = betti.NumberOf(s.Betti, "euler", "the Euler characteristic of the voxels of an image at or below a level",
		betti.Numbers.Euler)
	s.Components = betti.NumberOf(s.Betti, "components",
		"the number of components of the voxels of an image at or below a level",
		func(n betti.Numbers) int64 { return n.B0 })
	sum := read.Workload(readimpl.All(open)...)
	sum.Inputs = images
	s.Benches = []runner.Bench{
		runner.Bind(s.Curve), runner.Bind(sum), runner.Bind(batches(list, open)),
		runner.Bind(batch.ReadingWorkload(batchimpl.Reader{})),
		runner.Bind(bounded(smooth.Workload(smoothimpl.OnHost{Counter: cpu.Implementation{}},
			smoothimpl.OnDevice{Open: open}))),
		runner.Bind(s.Soft), runner.Bind(bounded(softbatch.Workload(each.Implementation{Of: definition.Implementation{}},
			each.Implementation{Of: dense.Implementation{}}, binned.Many{}, binned.ManyOnDevice{Open: open}))),
		runner.Bind(s.Betti), runner.Bind(s.BettiCurves), runner.Bind(s.Pairs), runner.Bind(s.Flow),
		runner.Bind(s.Steady),
		runner.Bind(bounded(gvf.Keeping(gvf.NameFloat16, gvfdefinition.Implementation{}, gvfgpu.Global(open),
			gvfgpu.GlobalShared(open), gvfgpu.Texture(open), gvfgpu.TextureShared(open), gvfgpu.Blocked(open)))),
		runner.Bind(bounded(gvf.Keeping(gvf.NameSnorm16, gvfdefinition.Implementation{}, gvfgpu.Global(open),
			gvfgpu.GlobalShared(open), gvfgpu.Texture(open), gvfgpu.TextureShared(open)))),
		runner.Bind(s.Voxels), runner.Bind(s.Patches), runner.Bind(s.Lanczos), runner.Bind(s.Homology),
		runner.Bind(s.CurveV), runner.Bind(s.BettiV), runner.Bind(s.Euler), runner.Bind(s.Components),
		runner.Bind(assess.Workload(flood.Implementation{}, runs.Implementation{})),
	}
	return s
}

// bounded sets the ceiling of a workload whose implementations read each byte at least once.
func bounded[In, Out any](w bench.Workload[In, Out]) bench.Workload[In, Out] {
	w.Ceiling = func(bench.Scope) string { return Ceiling }
	return w
}

// curve returns the workload of the curve.
func curve(list []bench.Implementation[grid.Source, ecc.VCEC],
	images fields.Inputs) bench.Workload[grid.Source, ecc.VCEC] {
	return bounded(bench.Workload[grid.Source, ecc.VCEC]{
		Name:      ECC,
		Question:  ecc.Question(),
		Inputs:    images,
		Impls:     list,
		Reference: naive.Implementation{}.About().Name,
		Policy:    ecc.Policy(),
		Encode:    bench.Small(ecc.Encode),
		Decode:    ecc.Decode,
	})
}

// batches returns the workload of many curves.
func batches(list []bench.Implementation[grid.Source, ecc.VCEC],
	open resident.Opener) bench.Workload[*batch.Batch, []ecc.VCEC] {
	var impls []bench.Implementation[*batch.Batch, []ecc.VCEC]
	for _, i := range list {
		impls = append(impls, batchimpl.Each{Of: i})
	}
	w := batch.Workload(append(impls, batchimpl.Together{Of: gpu.BatchOnDevice{Open: open}})...)
	w.Ceiling = func(s bench.Scope) string {
		if s == bench.File {
			return BatchCeiling
		}
		return Ceiling
	}
	return w
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
