package main

import (
	"path"
	"slices"
	"strings"
)

// A Target is the subject of a line in the report: the Go code of a package, its assembly for one
// instruction set, or kernels.
type Target struct {
	Name   string
	dir    string     // of the package; "" for kernels
	part   string     // part of the names of assembly files, for a target of assembly
	verify [][]string // arguments of eccbench verify, one list for each run
	own    bool       // verify uses the workload's adversarial inputs instead of inputs
	whole  bool       // verify uses both, inputs first
	tests  []string   // packages, the nearest first; names of tests follow a package to run only these
	// elsewhere means that tests is complete. Otherwise the package itself comes first, unless it is in tests.
	elsewhere bool
	tested    bool // its score counts only its tests
	share     int  // size of the sample in percent of the usual one
}

// inputs are the images for verify: every type, 2D and 3D, few levels and all levels, the highest
// values at borders, and values between levels.
var inputs = []string{
	"constant/shape=1x1x1/type=float32", "noise/shape=1x37/type=int16/seed=2", "noise/shape=31x1x1/type=uint16/levels=4/seed=3",
	"noise/shape=2x2x3/type=uint8/levels=3/seed=5", "noise/shape=13x17/type=float32/seed=6",
	"noise/shape=31x17x13/type=float32/seed=7", "noise/shape=33x9x15/type=uint16/levels=300/seed=7", "noise/shape=65x33x5/type=uint8/seed=8",
	"noise/shape=101x67/type=uint8/seed=9", "noise/shape=67x101/type=int16/levels=1000/seed=9", "noise/shape=64x63/type=uint8/levels=2/seed=10",
	"distinct/shape=16x15x14/type=float32/seed=11", "ball/shape=16x16x16/type=uint8", "dots/shape=9x8x7/type=uint16", "ramp/shape=40x40/type=float32",
	"noise/shape=12x11x10/type=float32/levels=64/lo=0/step=2e-45/seed=12", "grf/shape=20x20x20/type=int16/levels=500/seed=13",
	"noise/shape=7x9x131/type=float32/levels=9/seed=16", "noise/shape=31x29/type=uint16/levels=65536/seed=15",
	"noise/shape=11x10x9/type=int16/levels=65536/seed=15", "noise/shape=19x18x17/type=float32/levels=1025/seed=14",
	"between/shape=263x31/levels=200/seed=20", "between/shape=213x31/levels=200/step=0.1/seed=20", "between/shape=43x11x7/levels=1024/seed=20",
	"between/shape=263x31/levels=1000/lo=-3.3/step=0.1/seed=20", "between/shape=213x31/levels=70000/seed=20", "between/shape=43x11x7/levels=70000/lo=-4/step=0.001/seed=20",
}

var (
	cpu     = [][]string{{"--impl", "cpu"}}
	both    = [][]string{{"--impl", "cpu,extrema"}}
	extrema = [][]string{{"--impl", "extrema"}, {"--impl", "extrema", "--isa", "avx2"}, {"--impl", "extrema", "--isa", "portable"}}
	betti   = by("betti", "duality,labels")
	curves  = by("betti-curves", "duality")
	soft    = by("softecc", "dense,binned")
	flow    = by("gvf", "cpu,blocked")
	steady  = [][]string{{"--workload", "gvf-steady"}}
	halves  = slices.Concat(by("gvf-float16", "definition"), by("gvf-snorm16", "definition"))
	groups  = by("homology", "definition,duality,reduced,reductions,partitions,race")
	voxels  = by("eigenmap", "multigrid")
	patches = by("eigenmap-patch", "windowed")
	lanczos = by("eigenmap-lanczos", "lanczos")
)

// by returns the arguments for some implementations of a workload.
func by(workload, impls string, more ...string) [][]string {
	return [][]string{append([]string{"--workload", workload, "--impl", impls}, more...)}
}

// complete sets the package, the assembly and the nearest tests of targets from their names: PACKAGE, or
// PACKAGE, ISA.
func complete(list []Target) []Target {
	for i := range list {
		t := &list[i]
		dir, isa, _ := strings.Cut(t.Name, ", ")
		if strings.HasPrefix(dir, "kernels/") {
			continue
		}
		t.dir, t.part = dir, strings.ReplaceAll(strings.ToLower(isa), "-", "")
		if !t.elsewhere && !slices.Contains(t.tests, dir) {
			t.tests = append([]string{dir}, t.tests...)
		}
	}
	return list
}

// failing selects tests of all implementations, with unreadable images, overwritten answers and
// named parts of calls.
const failing = "impls Test(FailuresAreTold|AnswersAreOverwritten|PartsAreNamed|Limits)"

var targets = complete([]Target{
	{Name: "impls/cpu", verify: cpu, whole: true, tests: []string{failing}},
	{Name: "impls/extrema", verify: extrema, whole: true, tests: []string{failing}},
	{Name: "impls/extrema, AVX-512", verify: extrema[:1], whole: true},
	{Name: "impls/extrema, AVX2", verify: extrema[1:2], whole: true},
	{Name: "internal/workloads/ecc", verify: both, whole: true, tests: []string{"internal/workloads/ecc/ecctest",
		"impls/cpu", "impls TestOnePass"}},
	{Name: "internal/workloads/ecc/counting", tests: []string{"impls/tiled TestKernelsOnHost",
		"impls/fullsweep TestKernelsOnHost"}, share: 50},
	{Name: "internal/workloads/ecc/parts", verify: cpu, own: true, share: 50},
	{Name: "internal/workloads/ecc/fingerprint", verify: both, whole: true,
		tests: []string{"internal/workloads/ecc"}, share: 50},
	{Name: "internal/workloads/ecc/fingerprint, AVX-512", verify: both, whole: true, share: 50},
	{Name: "internal/workloads/ecc/fingerprint, AVX2", verify: both, whole: true, share: 50},
	{Name: "impls/betti/duality", verify: by("betti", "duality"), whole: true, tests: []string{failing,
		"impls/betti/duality Test(Kernels|Several)OnHost"}},
	{Name: "impls/betti/labels", verify: by("betti", "labels"), whole: true, tests: []string{failing,
		"impls/betti/labels TestKernelsOnHost"}},
	{Name: "impls/betti/definition", verify: by("betti", "definition"), whole: true,
		tests: []string{"impls/betti/labels", failing}},
	{Name: "impls/betti/rings", tested: true},
	{Name: "internal/workloads/betti", verify: append(betti, curves...), whole: true,
		tests: []string{"impls/betti/rings", "impls/betti/duality", "impls/betticurves/duality", failing}},
	{Name: "internal/workloads/betti/flood", verify: append(betti, curves...), whole: true,
		tests: []string{"internal/workloads/betti"}},
	{Name: "internal/workloads/betti/reductions", verify: betti, whole: true,
		tests: []string{"internal/workloads/betti"}, elsewhere: true},
	{Name: "internal/workloads/betti/unions", verify: curves, own: true},
	{Name: "impls/betticurves/duality", verify: slices.Concat(curves, by("betti-curves", "duality", "--isa",
		"portable")), whole: true, tests: []string{failing, "impls/betticurves/duality TestKernelsOnHost"}},
	{Name: "impls/betticurves/duality, AVX-512", verify: curves, whole: true, share: 50},
	{Name: "impls/betticurves/duality, AVX2", verify: by("betti-curves", "duality", "--isa", "avx2"), whole: true,
		share: 50},
	{Name: "impls/betticurves/bylevel", verify: by("betti-curves", "labels"), whole: true,
		tests: []string{"impls/betticurves/duality", failing}},
	{Name: "impls/softecc/definition", verify: by("softecc", "definition"), own: true,
		tests: []string{"impls/softecc/dense", failing}},
	{Name: "impls/softecc/dense", verify: soft, own: true, tests: []string{"impls/softecc/binned", failing,
		"impls/softecc/dense Test.*OnHost"}},
	{Name: "impls/softecc/binned", verify: slices.Concat(soft, by("softecc", "binned", "--isa", "portable"),
		by("softecc", "binned", "--isa", "avx2")), own: true, tests: []string{failing,
		"impls/softecc/binned Test(Kernels|Arrays)OnHost"}},
	{Name: "impls/softecc/binned, AVX-512", verify: soft, own: true, share: 50},
	{Name: "impls/softecc/binned, AVX2", verify: by("softecc", "binned", "--isa", "avx2"), own: true, share: 50},
	{Name: "internal/workloads/softecc", verify: soft, own: true, tests: []string{"impls/softecc/binned",
		"impls/softecc/dense", failing}},
	{Name: "impls/gvf/definition", verify: by("gvf", "definition"), own: true,
		tests: []string{"internal/workloads/gvf", failing}},
	{Name: "impls/gvf/cpu", verify: flow, own: true, tests: []string{failing}},
	{Name: "impls/gvf/blocked", verify: flow, own: true, tests: []string{failing}},
	{Name: "impls/gvf/multigrid", verify: steady, own: true, tests: []string{failing}},
	{Name: "impls/gvf/gpu", own: true, tests: []string{failing}, share: 50},
	{Name: "internal/workloads/gvf", verify: slices.Concat(flow, steady, halves), own: true,
		tests: []string{"impls/gvf/blocked", "impls/gvf/multigrid", failing}},
	{Name: "internal/workloads/gvf/rows", verify: flow, own: true, tests: []string{"impls/gvf/blocked", failing}},
	{Name: "internal/workloads/gvf/rows, AVX-512", verify: flow, own: true, tests: []string{"impls/gvf/blocked"},
		share: 50},
	{Name: "internal/workloads/gvf/rows, AVX2", verify: flow, own: true, share: 50},
	{Name: "impls/homology/definition", verify: by("homology", "definition"), own: true,
		tests: []string{"impls Test(Homology|Limits)"}},
	{Name: "impls/homology/duality", verify: by("homology", "duality"), own: true,
		tests: []string{"impls Test(Homology|Limits)", "impls/homology/duality",
			"impls/homology/duality TestKernelsOnHost"}},
	{Name: "impls/homology/reduced", verify: by("homology", "reduced"), own: true,
		tests: []string{"impls Test(Homology|Limits)"}},
	{Name: "impls/homology/reductions", verify: by("homology", "reductions,partitions,race"), own: true,
		tests: []string{"impls Test(Homology|Limits)", "impls/homology/reductions",
			"impls/homology/reductions TestKernelsOnHost"}},
	{Name: "internal/workloads/homology", verify: groups, own: true, tests: []string{"impls Test(Homology|Limits)"}},
	{Name: "internal/simplicial", verify: groups, own: true, tests: []string{"internal/workloads/homology",
		"impls Test(Homology|Limits)"}},
	{Name: "internal/ranks", verify: groups, own: true, tests: []string{"internal/workloads/homology",
		"impls/betti/definition"}},
	{Name: "impls/eigenmap/definition", verify: by("eigenmap", "definition"), own: true, tests: []string{failing}},
	{Name: "impls/eigenmap/multigrid", verify: voxels, own: true, tests: []string{failing,
		"impls/eigenmap/multigrid Test(Kernels|LevelsAreThoseOfTheCPU)OnHost"}, share: 50},
	{Name: "impls/eigenmap/multigrid, AVX2", verify: voxels, own: true, share: 50},
	{Name: "impls/eigenmap/windowed", verify: patches, own: true, tests: []string{failing,
		"impls/eigenmap/windowed TestKernelsOnHost"}, share: 50},
	{Name: "impls/eigenmap/windowed, AVX2", verify: patches, own: true, share: 50},
	{Name: "impls/eigenmap/lanczos", verify: lanczos, own: true, tests: []string{failing,
		"impls/eigenmap/lanczos TestKernelsOnHost"}, share: 50},
	{Name: "internal/workloads/ecc/cells", verify: both, tests: []string{"internal/workloads/ecc"}},
	{Name: "internal/workloads/eigenmap", verify: slices.Concat(voxels, patches, lanczos), own: true,
		tests: []string{"impls/eigenmap/windowed", "impls/eigenmap/lanczos", "impls/eigenmap/multigrid", failing},
		share: 50},
	{Name: "internal/grid", verify: both, whole: true, tests: []string{"impls/cpu", "datasets", "impls/batch"}},
	{Name: "internal/verify", verify: both, whole: true, tests: []string{"internal/workloads/ecc",
		"internal/runner"}},
	{Name: "internal/runner", verify: both, tested: true},
	{Name: "internal/worker", verify: both, tests: []string{"internal/runner"}, tested: true},
	{Name: "internal/gate", tested: true},
	{Name: "internal/stats", verify: both, tested: true},
	{Name: "internal/report", verify: both, tested: true},
	{Name: "datasets", verify: both, whole: true},
	{Name: "datasets/random", verify: both, tests: []string{"datasets"}},
	{Name: "datasets/files", verify: both},
	{Name: "datasets/files/format", verify: both, tests: []string{"datasets/files"}, elsewhere: true},
	{Name: "datasets/files/arrays", verify: both, tests: []string{"datasets/files"}, elsewhere: true},
	{Name: "datasets/files/dicom", verify: both, tests: []string{"datasets/files"}, elsewhere: true},
	{Name: "datasets/files/raster", verify: both, tests: []string{"datasets/files"}, elsewhere: true},
	{Name: "datasets/zarr", verify: both, tests: []string{"datasets/files Test.*Zarr|Chunk|Shard|TestChecks"}},
	{Name: "datasets/element", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/storage", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/vectors", verify: both, tests: []string{"datasets", "datasets/element"}},
	{Name: "kernels/ecc", share: 25},
	{Name: "kernels/gvf", share: 25},
})

// kernelTests maps a file of kernels to the tests that run its code on the host: a package and the
// names of tests. The target has the name of the folder.
var kernelTests = map[string][][2]string{
	"kernels/ecc/histogram.h": {{"impls/tiled", "TestKernelsOnHost"}, {"impls/fullsweep", "TestKernelsOnHost"},
		{"impls/extrema/gpu", "TestKernelsOnHost/single"}},
	"kernels/ecc/voxel.h":           {{"impls/tiled", "TestKernelsOnHost"}, {"impls/fullsweep", "TestKernelsOnHost"}},
	"kernels/ecc/sweep.h":           {{"impls/fullsweep", "TestKernelsOnHost"}, {"impls/chunked", "TestKernelsOnHost"}},
	"kernels/ecc/ecc_tiled.cu":      {{"impls/tiled", "TestKernelsOnHost"}},
	"kernels/ecc/ecc_fullsweep.cu":  {{"impls/fullsweep", "TestKernelsOnHost"}, {"impls/chunked", "TestKernelsOnHost"}},
	"kernels/ecc/extrema.h":         {{"impls/extrema/gpu", "TestKernelsOnHost/(single|pairs)"}},
	"kernels/ecc/extrema_2d.h":      {{"impls/extrema/gpu", "TestKernelsOnHost/(single|pairs)"}},
	"kernels/ecc/extrema_3d.h":      {{"impls/extrema/gpu", "TestKernelsOnHost/(single|pairs)"}},
	"kernels/ecc/extrema_kernels.h": {{"impls/extrema/gpu", "TestKernelsOnHost/(single|pairs)"}},
	"kernels/ecc/packed.h":          {{"impls/extrema/gpu", "TestKernelsOnHost/(single|pairs)"}},
	"kernels/ecc/extrema_small.h":   {{"impls/extrema/gpu", "TestKernelsOnHost/small/(int16|uint8)"}},
	"kernels/ecc/extrema_batch.h":   {{"impls/extrema/gpu", "TestKernelsOnHost/batch/(int16|float32)"}},
	"kernels/ecc/extrema_ranked.h":  {{"impls/extrema/gpu", "TestKernelsOnHost/ranked/int16"}},
	"kernels/ecc/extrema_wide.h":    {{"impls/extrema/gpu", "TestKernelsOnHost/wide/int16"}},
	"kernels/ecc/extrema_sliced.h":  {{"impls/extrema/gpu", "TestKernelsOnHost/sliced/uint8"}},
	"kernels/ecc/sliced_planes.h":   {{"impls/extrema/gpu", "TestKernelsOnHost/sliced/uint8"}},
	"kernels/gvf/blocked.h":         {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
	"kernels/gvf/blocked_2d.h":      {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
	"kernels/gvf/blocked_3d.h":      {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
	"kernels/gvf/gvf_plain.cu":      {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
	"kernels/gvf/gvf_resident.cu":   {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
	"kernels/gvf/gvf_start.cu":      {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
	"kernels/gvf/gvf_steady.cu":     {{"impls/gvf/gpu", "TestRest.*OnHost"}, {"impls/gvf/gpu", "TestGivenFieldsRestOnHost"}},
	"kernels/gvf/step.h":            {{"impls/gvf/gpu", "Test(Kernels|Fields)OnHost"}},
}

const onDevice = "what drives a device"

// aside returns the category of a mutant that changes neither the computation nor the transport of
// an answer, or "". The categories are planted faults, estimates that refuse work, numbers of calls
// of a law and durations, descriptions of implementations, texts of errors, and the inputs of
// verify. Code that only runs with a device is also a category.
func (m *Mutant) aside() string {
	method := m.Func[strings.LastIndexByte(m.Func, '.')+1:]
	switch base := path.Base(m.File); {
	case base == "fault.go", strings.Contains(m.Before, "fault =="), strings.Contains(m.Before, "fault !="):
		return "planted faults"
	case method == "CanDo", method == "canDo":
		return "refusals"
	case method == "About" || method == "String":
		return "words"
	case m.Operator == "constant" && strings.Contains(m.Before, "Calls: "), m.estimate:
		return "estimates"
	case strings.Contains(m.Before, "fmt.Errorf(") && (m.Operator == "constant" || m.Operator == "arithmetic"):
		return "words" // or a value returned with an error, which is not used
	case strings.Contains(m.Before, ".NameOf("):
		return "names of inputs"
	case strings.HasPrefix(base, "device") && strings.HasPrefix(m.File, "impls/"),
		strings.HasSuffix(path.Dir(m.File), "/gpu"), path.Dir(m.File) == "internal/workloads/ecc/counting":
		return onDevice
	}
	return ""
}
