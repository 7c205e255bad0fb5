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
	dir    string     // of the package
	part   string     // part of the names of assembly files, for a target of assembly
	verify [][]string // arguments of eccbench verify, one list for each run
	own    bool       // verify uses the workload's adversarial inputs instead of inputs
	whole  bool       // verify uses both, inputs first
	tests  []string   // packages, the nearest first; names of tests follow a package to run only these
	tested bool       // its score counts only its tests
	share  int        // size of the sample in percent of the usual one
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
	both    = [][]string{{"--impl", "cpu,extrema"}}
	extrema = [][]string{{"--impl", "extrema"}, {"--impl", "extrema", "--isa", "avx2"}, {"--impl", "extrema", "--isa", "portable"}}
	betti   = [][]string{{"--workload", "betti", "--impl", "duality,labels"}}
	curves  = [][]string{{"--workload", "betti-curves", "--impl", "duality"}}
	soft    = [][]string{{"--workload", "softecc", "--impl", "dense,binned"}}
	flow    = [][]string{{"--workload", "gvf", "--impl", "cpu,blocked"}}
	steady  = [][]string{{"--workload", "gvf-steady"}}
	halves  = [][]string{{"--workload", "gvf-float16", "--impl", "definition"}, {"--workload", "gvf-snorm16", "--impl", "definition"}}
	groups  = [][]string{{"--workload", "homology", "--impl", "definition,duality,reduced,reductions,partitions,race"}}
	voxels  = [][]string{{"--workload", "eigenmap", "--impl", "multigrid"}}
	patches = [][]string{{"--workload", "eigenmap-patch", "--impl", "windowed"}}
	lanczos = [][]string{{"--workload", "eigenmap-lanczos", "--impl", "lanczos"}}
)

// failing selects tests of all implementations, with unreadable images, overwritten answers and
// named parts of calls.
const failing = "impls Test(FailuresAreTold|AnswersAreOverwritten|PartsAreNamed|Limits)"

var targets = []Target{
	{Name: "impls/cpu", dir: "impls/cpu", verify: [][]string{{"--impl", "cpu"}}, whole: true,
		tests: []string{"impls/cpu", failing}},
	{Name: "impls/extrema", dir: "impls/extrema", verify: extrema, whole: true, tests: []string{"impls/extrema", failing}},
	{Name: "impls/extrema, AVX-512", dir: "impls/extrema", part: "avx512", verify: extrema[:1], whole: true,
		tests: []string{"impls/extrema"}},
	{Name: "impls/extrema, AVX2", dir: "impls/extrema", part: "avx2", verify: extrema[1:2], whole: true,
		tests: []string{"impls/extrema"}},
	{Name: "internal/workloads/ecc", dir: "internal/workloads/ecc", verify: both, whole: true,
		tests: []string{"internal/workloads/ecc", "internal/workloads/ecc/ecctest", "impls/cpu", "impls TestOnePass"}},
	{Name: "internal/workloads/ecc/counting", dir: "internal/workloads/ecc/counting",
		tests: []string{"internal/workloads/ecc/counting", "impls/tiled TestKernelsOnHost", "impls/fullsweep TestKernelsOnHost"}, share: 50},
	{Name: "internal/workloads/ecc/parts", dir: "internal/workloads/ecc/parts",
		verify: [][]string{{"--impl", "cpu"}}, own: true, tests: []string{"internal/workloads/ecc/parts"}, share: 50},
	{Name: "internal/workloads/ecc/fingerprint", dir: "internal/workloads/ecc/fingerprint", verify: both, whole: true,
		tests: []string{"internal/workloads/ecc/fingerprint", "internal/workloads/ecc"}, share: 50},
	{Name: "internal/workloads/ecc/fingerprint, AVX-512", dir: "internal/workloads/ecc/fingerprint", part: "avx512",
		verify: both, whole: true, tests: []string{"internal/workloads/ecc/fingerprint"}, share: 50},
	{Name: "internal/workloads/ecc/fingerprint, AVX2", dir: "internal/workloads/ecc/fingerprint", part: "avx2",
		verify: both, whole: true, tests: []string{"internal/workloads/ecc/fingerprint"}, share: 50},
	{Name: "impls/betti/duality", dir: "impls/betti/duality",
		verify: [][]string{{"--workload", "betti", "--impl", "duality"}}, whole: true,
		tests: []string{"impls/betti/duality", failing, "impls/betti/duality Test(Kernels|Several)OnHost"}},
	{Name: "impls/betti/labels", dir: "impls/betti/labels",
		verify: [][]string{{"--workload", "betti", "--impl", "labels"}}, whole: true,
		tests: []string{"impls/betti/labels", failing, "impls/betti/labels TestKernelsOnHost"}},
	{Name: "impls/betti/definition", dir: "impls/betti/definition",
		verify: [][]string{{"--workload", "betti", "--impl", "definition"}}, whole: true,
		tests: []string{"impls/betti/definition", "impls/betti/labels", failing}},
	{Name: "impls/betti/rings", dir: "impls/betti/rings", tests: []string{"impls/betti/rings"}, tested: true},
	{Name: "internal/workloads/betti", dir: "internal/workloads/betti", verify: append(betti, curves...), whole: true,
		tests: []string{"internal/workloads/betti", "impls/betti/rings", "impls/betti/duality", "impls/betticurves/duality", failing}},
	{Name: "internal/workloads/betti/flood", dir: "internal/workloads/betti/flood",
		verify: append(betti, curves...), whole: true,
		tests: []string{"internal/workloads/betti/flood", "internal/workloads/betti"}},
	{Name: "internal/workloads/betti/reductions", dir: "internal/workloads/betti/reductions",
		verify: betti, whole: true, tests: []string{"internal/workloads/betti"}},
	{Name: "internal/workloads/betti/unions", dir: "internal/workloads/betti/unions", verify: curves, own: true,
		tests: []string{"internal/workloads/betti/unions"}},
	{Name: "impls/betticurves/duality", dir: "impls/betticurves/duality",
		verify: append(curves, []string{"--workload", "betti-curves", "--impl", "duality", "--isa", "portable"}), whole: true,
		tests: []string{"impls/betticurves/duality", failing, "impls/betticurves/duality TestKernelsOnHost"}},
	{Name: "impls/betticurves/duality, AVX-512", dir: "impls/betticurves/duality", part: "avx512",
		verify: curves, whole: true, tests: []string{"impls/betticurves/duality"}, share: 50},
	{Name: "impls/betticurves/duality, AVX2", dir: "impls/betticurves/duality", part: "avx2",
		verify: [][]string{{"--workload", "betti-curves", "--impl", "duality", "--isa", "avx2"}}, whole: true,
		tests: []string{"impls/betticurves/duality"}, share: 50},
	{Name: "impls/betticurves/bylevel", dir: "impls/betticurves/bylevel",
		verify: [][]string{{"--workload", "betti-curves", "--impl", "labels"}}, whole: true,
		tests: []string{"impls/betticurves/bylevel", "impls/betticurves/duality", failing}},
	{Name: "impls/softecc/definition", dir: "impls/softecc/definition",
		verify: [][]string{{"--workload", "softecc", "--impl", "definition"}}, own: true,
		tests: []string{"impls/softecc/definition", "impls/softecc/dense", failing}},
	{Name: "impls/softecc/dense", dir: "impls/softecc/dense", verify: soft, own: true,
		tests: []string{"impls/softecc/dense", "impls/softecc/binned", failing, "impls/softecc/dense Test.*OnHost"}},
	{Name: "impls/softecc/binned", dir: "impls/softecc/binned",
		verify: append(soft, []string{"--workload", "softecc", "--impl", "binned", "--isa", "portable"},
			[]string{"--workload", "softecc", "--impl", "binned", "--isa", "avx2"}), own: true,
		tests: []string{"impls/softecc/binned", failing, "impls/softecc/binned Test(Kernels|Arrays)OnHost"}},
	{Name: "impls/softecc/binned, AVX-512", dir: "impls/softecc/binned", part: "avx512", verify: soft, own: true,
		tests: []string{"impls/softecc/binned"}, share: 50},
	{Name: "impls/softecc/binned, AVX2", dir: "impls/softecc/binned", part: "avx2",
		verify: [][]string{{"--workload", "softecc", "--impl", "binned", "--isa", "avx2"}}, own: true,
		tests: []string{"impls/softecc/binned"}, share: 50},
	{Name: "internal/workloads/softecc", dir: "internal/workloads/softecc", verify: soft, own: true,
		tests: []string{"internal/workloads/softecc", "impls/softecc/binned", "impls/softecc/dense", failing}},
	{Name: "impls/gvf/definition", dir: "impls/gvf/definition",
		verify: [][]string{{"--workload", "gvf", "--impl", "definition"}}, own: true,
		tests: []string{"impls/gvf/definition", "internal/workloads/gvf", failing}},
	{Name: "impls/gvf/cpu", dir: "impls/gvf/cpu", verify: flow, own: true, tests: []string{"impls/gvf/cpu", failing}},
	{Name: "impls/gvf/blocked", dir: "impls/gvf/blocked", verify: flow, own: true,
		tests: []string{"impls/gvf/blocked", failing}},
	{Name: "impls/gvf/multigrid", dir: "impls/gvf/multigrid", verify: steady, own: true,
		tests: []string{"impls/gvf/multigrid", failing}},
	{Name: "impls/gvf/gpu", dir: "impls/gvf/gpu", own: true, tests: []string{"impls/gvf/gpu", failing}, share: 50},
	{Name: "internal/workloads/gvf", dir: "internal/workloads/gvf", verify: slices.Concat(flow, steady, halves), own: true,
		tests: []string{"internal/workloads/gvf", "impls/gvf/blocked", "impls/gvf/multigrid", failing}},
	{Name: "internal/workloads/gvf/rows", dir: "internal/workloads/gvf/rows", verify: flow, own: true,
		tests: []string{"internal/workloads/gvf/rows", "impls/gvf/blocked", failing}},
	{Name: "internal/workloads/gvf/rows, AVX-512", dir: "internal/workloads/gvf/rows", part: "avx512",
		verify: flow, own: true, tests: []string{"internal/workloads/gvf/rows", "impls/gvf/blocked"}, share: 50},
	{Name: "internal/workloads/gvf/rows, AVX2", dir: "internal/workloads/gvf/rows", part: "avx2", verify: flow, own: true,
		tests: []string{"internal/workloads/gvf/rows"}, share: 50},
	{Name: "impls/homology/definition", dir: "impls/homology/definition",
		verify: [][]string{{"--workload", "homology", "--impl", "definition"}}, own: true,
		tests: []string{"impls/homology/definition", "impls Test(Homology|Limits)"}},
	{Name: "impls/homology/duality", dir: "impls/homology/duality",
		verify: [][]string{{"--workload", "homology", "--impl", "duality"}}, own: true,
		tests: []string{"impls Test(Homology|Limits)", "impls/homology/duality", "impls/homology/duality TestKernelsOnHost"}},
	{Name: "impls/homology/reduced", dir: "impls/homology/reduced",
		verify: [][]string{{"--workload", "homology", "--impl", "reduced"}}, own: true,
		tests: []string{"impls/homology/reduced", "impls Test(Homology|Limits)"}},
	{Name: "impls/homology/reductions", dir: "impls/homology/reductions",
		verify: [][]string{{"--workload", "homology", "--impl", "reductions,partitions,race"}}, own: true,
		tests: []string{"impls Test(Homology|Limits)", "impls/homology/reductions", "impls/homology/reductions TestKernelsOnHost"}},
	{Name: "internal/workloads/homology", dir: "internal/workloads/homology", verify: groups, own: true,
		tests: []string{"internal/workloads/homology", "impls Test(Homology|Limits)"}},
	{Name: "internal/simplicial", dir: "internal/simplicial", verify: groups, own: true,
		tests: []string{"internal/simplicial", "internal/workloads/homology", "impls Test(Homology|Limits)"}},
	{Name: "internal/ranks", dir: "internal/ranks", verify: groups, own: true,
		tests: []string{"internal/ranks", "internal/workloads/homology", "impls/betti/definition"}},
	{Name: "impls/eigenmap/definition", dir: "impls/eigenmap/definition",
		verify: [][]string{{"--workload", "eigenmap", "--impl", "definition"}}, own: true,
		tests: []string{"impls/eigenmap/definition", failing}},
	{Name: "impls/eigenmap/multigrid", dir: "impls/eigenmap/multigrid", verify: voxels, own: true,
		tests: []string{"impls/eigenmap/multigrid", failing, "impls/eigenmap/multigrid Test(Kernels|LevelsAreThoseOfTheCPU)OnHost"}, share: 50},
	{Name: "impls/eigenmap/multigrid, AVX2", dir: "impls/eigenmap/multigrid", part: "avx2", verify: voxels, own: true,
		tests: []string{"impls/eigenmap/multigrid"}, share: 50},
	{Name: "impls/eigenmap/windowed", dir: "impls/eigenmap/windowed", verify: patches, own: true,
		tests: []string{"impls/eigenmap/windowed", failing, "impls/eigenmap/windowed TestKernelsOnHost"}, share: 50},
	{Name: "impls/eigenmap/windowed, AVX2", dir: "impls/eigenmap/windowed", part: "avx2", verify: patches, own: true,
		tests: []string{"impls/eigenmap/windowed"}, share: 50},
	{Name: "impls/eigenmap/lanczos", dir: "impls/eigenmap/lanczos", verify: lanczos, own: true,
		tests: []string{"impls/eigenmap/lanczos", failing, "impls/eigenmap/lanczos TestKernelsOnHost"}, share: 50},
	{Name: "internal/workloads/ecc/cells", dir: "internal/workloads/ecc/cells", verify: both,
		tests: []string{"internal/workloads/ecc/cells", "internal/workloads/ecc"}},
	{Name: "internal/workloads/eigenmap", dir: "internal/workloads/eigenmap",
		verify: slices.Concat(voxels, patches, lanczos), own: true,
		tests: []string{"internal/workloads/eigenmap", "impls/eigenmap/windowed", "impls/eigenmap/lanczos",
			"impls/eigenmap/multigrid", failing}, share: 50},
	{Name: "internal/grid", dir: "internal/grid", verify: both, whole: true,
		tests: []string{"internal/grid", "impls/cpu", "datasets", "impls/batch"}},
	{Name: "internal/verify", dir: "internal/verify", verify: both, whole: true,
		tests: []string{"internal/verify", "internal/workloads/ecc", "internal/runner"}},
	{Name: "internal/runner", dir: "internal/runner", verify: both, tests: []string{"internal/runner"}, tested: true},
	{Name: "internal/worker", dir: "internal/worker", verify: both, tests: []string{"internal/worker", "internal/runner"},
		tested: true},
	{Name: "internal/gate", dir: "internal/gate", tests: []string{"internal/gate"}, tested: true},
	{Name: "internal/stats", dir: "internal/stats", verify: both, tests: []string{"internal/stats"}, tested: true},
	{Name: "internal/report", dir: "internal/report", verify: both, tests: []string{"internal/report"}, tested: true},
	{Name: "datasets", dir: "datasets", verify: both, whole: true, tests: []string{"datasets"}},
	{Name: "datasets/random", dir: "datasets/random", verify: both, tests: []string{"datasets/random", "datasets"}},
	{Name: "datasets/files", dir: "datasets/files", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/files/format", dir: "datasets/files/format", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/files/arrays", dir: "datasets/files/arrays", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/files/dicom", dir: "datasets/files/dicom", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/files/raster", dir: "datasets/files/raster", verify: both, tests: []string{"datasets/files"}},
	{Name: "datasets/zarr", dir: "datasets/zarr", verify: both,
		tests: []string{"datasets/zarr", "datasets/files Test.*Zarr|Chunk|Shard|TestChecks"}},
	{Name: "datasets/element", dir: "datasets/element", verify: both,
		tests: []string{"datasets/element", "datasets/files"}},
	{Name: "datasets/storage", dir: "datasets/storage", verify: both,
		tests: []string{"datasets/storage", "datasets/files"}},
	{Name: "datasets/vectors", dir: "datasets/vectors", verify: both,
		tests: []string{"datasets/vectors", "datasets", "datasets/element"}},
	{Name: "kernels/ecc", share: 25},
	{Name: "kernels/gvf", share: 25},
}

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

// holds reports whether a file, as a path below the root, belongs to the target.
func (t Target) holds(file string) bool {
	dir, base := path.Split(file)
	switch {
	case t.dir == "":
		return dir == t.Name+"/"
	case dir != t.dir+"/":
		return false
	case path.Ext(base) == ".s":
		return t.part != "" && strings.Contains(base, t.part)
	}
	return t.part == ""
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
