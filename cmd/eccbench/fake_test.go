package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"eccbench/internal/cli"
	"eccbench/kernels"
)

// fakeDriver builds the stand-in for the CUDA driver that whole runs use.
func fakeDriver(t *testing.T) string {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("ECCBENCH_REQUIRE_FAKE") == "1" {
		skip = t.Fatalf
	}
	if runtime.GOOS != "linux" {
		skip("the stand-in for the driver needs Linux")
	}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		skip("the stand-in for the driver needs gcc: %v", err)
	}
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	source := filepath.Join("testdata", "fake", "anykernel.c")
	out, err := exec.Command(gcc, "-O1", "-fPIC", "-shared", "-pthread", "-DWITHOUT_PARAM_INFO",
		"-I", filepath.Join("..", "..", "internal", "cuda", "testdata"), "-o", path, source).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", source, err, out)
	}
	return path
}

// runFake runs a program with the stand-in for the driver, and requires the exit code.
// ECCBENCH_FAKE selects the stand-in's faults.
func runFake(t *testing.T, driver, fake string, code int, program string, args ...string) (stdout []byte) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "ECCBENCH_LIBCUDA="+driver, "ECCBENCH_FAKE="+fake)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d: %s", got, code, &stderr)
	}
	return stdout
}

// wantAll requires that each of the patterns matches the output of a program.
func wantAll(t *testing.T, output []byte, patterns ...string) {
	t.Helper()
	for _, want := range patterns {
		if !regexp.MustCompile(want).Match(output) {
			t.Errorf("%q is missing in\n%s", want, output)
		}
	}
}

// An error of the driver affects the cell of one implementation. It is SKIPPED if it cannot run and
// CRASHED if it broke, with the driver's message; the next cell runs. The kernels of the stand-in
// driver count nothing. So the answers of a working driver are WRONG, and the ceiling's copy too if
// it finishes.
func TestFailingDriver(t *testing.T) {
	driver := fakeDriver(t)
	const crashed = `CRASHED: the worker ended with exit status 1: eccbench: `
	for name, c := range map[string]struct {
		impl, fake string
		devices    string
		want       string // in the cell, after its name
		code       int
		verify     bool // instead of a run; it takes ten times as long
	}{
		"kernels that count nothing": {fake: "", want: `WRONG: `, code: cli.ExitWrong, verify: true},
		"driver too old":             {fake: "version:11040", want: `SKIPPED: the NVIDIA driver is too old: it supports CUDA 11\.4, this needs 11\.8$`},
		"no device":                  {fake: "devices:0", want: `SKIPPED: no usable NVIDIA device: .*CUDA_ERROR_NO_DEVICE, 100\)`, verify: true},
		"a small device":             {fake: "memory:256", want: `SKIPPED: .* of device memory, 256 B are free`},
		"no memory for the table":    {fake: "fail:cuMemAlloc_v2:2:0", want: `SKIPPED: .*cuMemAlloc_v2: out of memory \(CUDA_ERROR_OUT_OF_MEMORY, 2\)`},
		"no pinned memory":           {fake: "fail:cuMemHostAlloc:2:0", want: `SKIPPED: .*cuMemHostAlloc: out of memory \(CUDA_ERROR_OUT_OF_MEMORY, 2\)`},
		"no memory for the array":    {impl: "tiled", fake: "fail:cuArray3DCreate_v2:2:0", want: `SKIPPED: .*array "image".*cuArray3DCreate_v2: out of memory \(CUDA_ERROR_OUT_OF_MEMORY, 2\)`, verify: true},
		"no memory for a slab":       {impl: "chunked", fake: "fail:cuMemAlloc_v2:2:2", want: `SKIPPED: .*cuMemAlloc_v2: out of memory \(CUDA_ERROR_OUT_OF_MEMORY, 2\)`},
		"a launch is too large":      {impl: "greedy", want: `SKIPPED: .*kernel "ecc_greedy_3d_float32" .*cuLaunchKernel: invalid argument \(CUDA_ERROR_INVALID_VALUE, 1\)`, verify: true},
		// Machine code is tried first, and rejected.
		"the code does not compile":  {fake: "fail:cuModuleLoadDataEx:218:1", want: crashed + `.*kernel ecc_fullsweep_3d_float32: module "ecc_fullsweep": .*a PTX JIT compilation failed \(CUDA_ERROR_INVALID_PTX, 218\)`, code: cli.ExitCrash},
		"the driver fails to load":   {fake: "fail:cuModuleLoadDataEx:999:0", want: crashed + `.*kernel ecc_fullsweep_3d_float32: module "ecc_fullsweep": .*, 999\)`, code: cli.ExitCrash},
		"machine code":               {fake: "machine:1", want: `WRONG: `, code: cli.ExitWrong},
		"a launch fails":             {fake: "fail:cuLaunchKernel:719:0", want: crashed + `.*cuLaunchKernel: unspecified launch failure \(CUDA_ERROR_LAUNCH_FAILED, 719\)`, code: cli.ExitCrash, verify: true},
		"a kernel crashes":           {fake: "kernel:crash", want: crashed + `.*unspecified launch failure \(CUDA_ERROR_LAUNCH_FAILED, 719\)`, code: cli.ExitCrash},
		"a kernel goes astray":       {fake: "kernel:stray", want: crashed + `.*an illegal memory access was encountered \(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)`, code: cli.ExitCrash},
		"tiled goes astray":          {impl: "tiled", fake: "kernel:stray", want: crashed + `.*\(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)`, code: cli.ExitCrash},
		"chunked goes astray":        {impl: "chunked", fake: "kernel:stray", want: crashed + `.*\(CUDA_ERROR_ILLEGAL_ADDRESS, 700\)`, code: cli.ExitCrash},
		"memory that cannot be read": {fake: "async_lost:214", want: crashed + `.*, 214\)`, code: cli.ExitCrash},
		"the device is lost":         {impl: "chunked", fake: "fail:cuEventRecord:46:0", want: crashed + `.*cuEventRecord: .*, 46\)`, code: cli.ExitCrash, verify: true},
		"several devices":            {impl: "extrema-gpus", devices: "all", fake: "devices:3", want: `WRONG: `, code: cli.ExitWrong},
		"no list of devices":         {impl: "extrema-gpus", fake: "devices:2", want: `SKIPPED: no devices are listed; --devices all takes all there are`},
		"a device too many":          {impl: "extrema-gpus", devices: "1,2", fake: "devices:2", want: `SKIPPED: device 2: there are 2: 0 Fake GPU A `},
		"a device twice":             {impl: "extrema-gpus", devices: "1,B", fake: "devices:2", want: `SKIPPED: devices 1,B: "1" and "B" are the same one`},
		"several small devices":      {impl: "extrema-gpus", devices: "all", fake: "devices:2 memory:4096", want: `SKIPPED: slices 0 to 1 on device 0: .* of device memory, 4.00 KiB are free`},
		"no memory on one of them":   {impl: "extrema-gpus", devices: "all", fake: "devices:2 fail:cuMemAlloc_v2:2:5", want: `SKIPPED: .*cuMemAlloc_v2: out of memory \(CUDA_ERROR_OUT_OF_MEMORY, 2\)`},
		"a launch on one of them":    {impl: "extrema-gpus", devices: "all", fake: "devices:2 fail:cuLaunchKernel:719:5", want: crashed + `.*cuLaunchKernel: unspecified launch failure`, code: cli.ExitCrash},
		"kernels crash on several":   {impl: "extrema-gpus", devices: "all", fake: "devices:2 kernel:crash", want: crashed + `.*unspecified launch failure \(CUDA_ERROR_LAUNCH_FAILED, 719\)`, code: cli.ExitCrash},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.impl == "" {
				c.impl = "fullsweep"
			}
			args, told, next := []string{"--max-samples", "3"}, `^(copy-gpu, )?`+c.impl+`( 5x4x3)?: `, `^ cpu +5x4x3 +VERIFIED `
			if c.verify {
				args, told, next = []string{"verify"}, `^`+c.impl+`( noise\S+)?: `, `^ *cpu +1 +[0-9]+ +1 +0( +0)* *$`
			}
			args = append(args, "--impl", c.impl+",cpu", "--input", "noise/shape=5x4x3/type=float32/levels=9/seed=1", "-q")
			if c.devices != "" {
				args = append(args, "--devices", c.devices)
			}
			stdout := runFake(t, driver, c.fake, c.code, "eccbench-planted", args...)
			wantAll(t, stdout, `(?m)`+told+c.want, `(?m)`+next)
		})
	}
}

// A batch is counted in one launch and image by image, with a ceiling. The stand-in's kernels count
// nothing and return no curve.
func TestBatchOnADevice(t *testing.T) {
	driver := fakeDriver(t)
	stdout := runFake(t, driver, "", cli.ExitWrong, "eccbench", "--batch", "3", "--sizes", "64", "--dim", "2", "--impl", "extrema-gpu*", "--scope", "device", "--max-samples", "3", "--time-limit", "9s", "-q")
	wantAll(t, stdout,
		`gen=batch of=noise dim=2 levels=1024 type=float32, scope device`, `memread-gpu 64x64x3: CRASHED: .*ended without handing its table over`,
		`extrema-gpu-batch 64x64x3: WRONG: .*image 0, sum of all changes: want 1, got 0\n +reproduce: eccbench verify --impl extrema-gpu-batch --workload ecc-batch --input 'batch/count=1/of=noise/shape=64x64/`,
		`extrema-gpu 64x64x3: CRASHED: .*ended without handing its table over`,
	)
}

// In the kernel scope every implementation on a device reports the time of its events. The
// stand-in's kernels take a millisecond by its clock, so waits must take longer.
func TestKernelScope(t *testing.T) {
	driver := fakeDriver(t)
	for impls, flags := range map[string][]string{
		"fullsweep,tiled,extrema-gpu,extrema-gpus": {"--levels", "9000", "--devices", "all"}, // that extrema-gpu does not hand over
		"extrema-gpu-batch":                        {"--batch", "3"},
	} {
		t.Run(impls, func(t *testing.T) {
			t.Parallel()
			stdout := runFake(t, driver, "slow_us:3000", cli.ExitWrong, "eccbench-timed", append(flags, "--scope", "kernel", "--impl", impls, "--sizes", "16", "--dim", "2", "--max-samples", "3", "--max-time", "10ms", "-q")...)
			for _, impl := range strings.Split(impls, ",") {
				wantAll(t, stdout, `(?m)^`+impl+` \S+: WRONG: `)
			}
		})
	}
}

// With a device the cells of a paper's tables on devices run too, also the batch's and the
// pipeline's. The stand-in's kernels count nothing.
func TestPaperOnADevice(t *testing.T) {
	driver := fakeDriver(t)
	for impl, table := range map[string]string{"smooth-gpu": "2", "chunked": "3", "extrema-gpu-batch": "3"} {
		t.Run(impl, func(t *testing.T) {
			t.Parallel()
			stdout := runFake(t, driver, "", cli.ExitWrong, "eccbench", "paper", "wang2022", "--table", table,
				"--impl", impl, "--max-bytes", "4MiB", "--max-samples", "1", "--time-limit", "9s", "--wide", "-q")
			wantAll(t, stdout, `×1 +`+impl+` +[0-9.]+ [µm]?s +WRONG `, impl+` .*: WRONG: .*sum to 1`, `reproduce: eccbench paper wang2022 --table `+table, `measured on: .*; .*compute capability`)
		})
	}
}

// A run on a list of devices names them in its heading and its records, with the UUIDs of the
// devices of each cell. An implementation for one device uses the first.
func TestListOfDevices(t *testing.T) {
	driver := fakeDriver(t)
	for list, want := range map[string]struct{ one, all string }{
		"all": {`"GPU-0011[^"]*"`, `"GPU-0011[^"]*","GPU-0112[^"]*","GPU-0213[^"]*"`},
		"2,0": {`"GPU-0213[^"]*"`, `"GPU-0213[^"]*","GPU-0011[^"]*"`},
	} {
		t.Run(list, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(t.TempDir(), "r.jsonl")
			stdout := runFake(t, driver, "devices:3", cli.ExitWrong, "eccbench", "--scope", "device", "--devices", list, "--impl", "fullsweep,extrema-gpus", "--sizes", "5x4x7", "--max-samples", "3", "-q", "--out", out)
			wantAll(t, stdout, `scope device, \d+ threads, devices `+list)
			records, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			for impl, uuids := range map[string]string{"fullsweep": want.one, "memread-gpus": want.all, "extrema-gpus": want.all} {
				wantAll(t, records, `"impl":"`+impl+`".*"devices":"`+list+`".*"uuids":\[`+uuids+`\]`)
			}
		})
	}
}

// An upload that fails between two pieces fails its cell with only the driver's message, from host
// memory and from a file.
func TestFailingUpload(t *testing.T) {
	driver := fakeDriver(t)
	const failed, words = ":719:", `unspecified launch failure \(CUDA_ERROR_LAUNCH_FAILED, 719\)\n`
	for _, c := range []struct{ impl, shape, fail, skip, object string }{
		{"fullsweep", "256x256x100", "cuMemcpyHtoDAsync_v2", "4", `buffer "image" \(25.0 MiB\)`},
		{"extrema-gpu", "256x256x100", "cuMemcpyHtoDAsync_v2", "7", `buffer "image" \(25.0 MiB\)`},
		{"tiled", "256x256x100", "cuMemcpy3DAsync_v2", "1", `array "image" \(25.0 MiB\)`},
		{"tiled", "2560x2560", "cuMemcpy3DAsync_v2", "2", `array "image" \(25.0 MiB\)`},
		{"fullsweep", "2560x2560", "cuEventSynchronize", "1", `.*event "piece [01] sent"`},
	} {
		for _, scope := range []string{"e2e", "file"} {
			if scope == "e2e" && c.fail == "cuEventSynchronize" {
				continue // it is pinned where it is
			}
			t.Run(c.impl+" "+c.shape+" "+scope, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command("eccbench", "--impl", c.impl, "--scope", scope, "--input", "noise/shape="+c.shape+"/type=float32/levels=3/seed=1", "--max-samples", "3", "--time-limit", "20s", "-q")
				cmd.Env = append(os.Environ(), "ECCBENCH_LIBCUDA="+driver, "ECCBENCH_FAKE=fail:"+c.fail+failed+c.skip)
				out, err := cmd.CombinedOutput()
				if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
					t.Fatal(err)
				}
				want := `(?m)^` + c.impl + ` \S+: CRASHED: the worker ended with exit status 1: eccbench: ` + c.impl + ` on noise/\S+: ` + c.object + `: ` + c.fail + `: ` + words
				code := cli.ExitCrash
				if scope == "e2e" && c.fail == "cuMemcpy3DAsync_v2" {
					code = cli.ExitWrong // the ceiling's copies do not fail, but the fake runs no kernel that adds up
				}
				if cmd.ProcessState.ExitCode() != code || !regexp.MustCompile(want).Match(out) {
					t.Errorf("exit code %d, want %d, and %q in\n%s", cmd.ProcessState.ExitCode(), code, want, out)
				}
			})
		}
	}
}

// doctor loads the kernels of a device one by one, and names the failing ones.
func TestDoctorLoadsKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("doctor tries an image of 256³ voxels, which takes seconds")
	}
	driver := fakeDriver(t)
	stdout := runFake(t, driver, "machine:1", cli.ExitOK, "eccbench", "doctor")
	wantAll(t, stdout, `\n +kernels ecc_fullsweep: 8 of 8 load, as machine code in \S+ \S+\n`)
	ptx, err := kernels.PTX("betti_curves")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := kernels.Entries("betti_curves", ptx)
	if err != nil {
		t.Fatal(err)
	}
	// Machine code is tried first, and rejected.
	stdout = runFake(t, driver, "fail:cuModuleLoadDataEx:218:2", cli.ExitOK, "eccbench", "doctor")
	wantAll(t, stdout,
		`\n +kernels betti_curves: betti_\w+: module "betti_curves": .*a PTX JIT compilation failed`,
		fmt.Sprintf(`\n +kernels betti_curves: %d of %d load, one by one in at most \S+ \S+ each, \S+ \S+ together\n`, len(entries)-1, len(entries)),
		`\n +kernels ecc_fullsweep: compiled, the driver rejects machine code: module "ecc_fullsweep": .*, 209\)`+
			`\n +kernels ecc_fullsweep: 8 of 8 load, one by one in at most \S+ \S+ each, \S+ \S+ together\n`,
		`(?m)^cpu +VERIFIED`,
	)
}
