// Package hosttest compiles kernels for the host, for tests of their results without a device
// (kernels/onhost/launch.cc).
package hosttest

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/isa"
	"eccbench/internal/race"
	"eccbench/kernels"
	"eccbench/kernels/source"
)

// Program compiles a module for the host, with all faults that can be planted in it (ecc/fault.h).
// All tests of a package share the compilation. If it is impossible, the test is skipped, or fails
// under ECCBENCH_REQUIRE_FAKE=1.
func Program(t testing.TB, module string) (program string) {
	t.Helper()
	return build(t, module, "launch.cc", false)
}

// build compiles a module with a main program from the folder onhost, whose threads are interrupted if interleaved.
func build(t testing.TB, module, with string, interleaved bool, flags ...string) (program string) {
	t.Helper()
	if testing.Short() {
		t.Skip("the kernels are compiled for the host and run there, which takes long")
	}
	if race.Enabled {
		t.Skip("the kernels run in programs of their own, which the race detector does not see")
	}
	skip := t.Skipf
	if os.Getenv("ECCBENCH_REQUIRE_FAKE") == "1" {
		skip = t.Fatalf
	}
	if runtime.GOOS != "linux" {
		skip("the kernels' threads on the host need the contexts of Linux, this is %s", runtime.GOOS)
	}
	root, ok := folder()
	if !ok {
		skip("the sources of the kernels are not above this folder")
	}
	modules, err := source.Modules(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(modules, func(m source.Module) bool { return m.Name() == module })
	if i < 0 {
		t.Fatalf("no kernels called %s", module)
	}
	// Reading the files makes the test cache depend on them. It does not track the files that the
	// compiler reads.
	headers, err := source.HostClosure(os.DirFS(root), modules[i].File)
	for _, file := range []string{with, "fibers.h", "interleave.h", atomic} {
		if err == nil {
			_, err = os.ReadFile(filepath.Join(root, "onhost", file))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	// Only clang has vectors of halves, and instruments all functions except some.
	compilers := []string{"clang++-19", "clang++"}
	halves := []string{"ecc/extrema.h", "softecc/softecc.h", "gvf/step.h"}
	if interleaved {
		flags = append(flags[:len(flags):len(flags)], "-DINTERLEAVED", "-fsanitize=thread", "-fno-sanitize-link-runtime",
			"-fsanitize-ignorelist="+filepath.Join(root, "onhost", atomic), "-finstrument-functions-after-inlining",
			"-fno-threadsafe-statics", "-mllvm", "-tsan-instrument-memintrinsics=0",
			"-mllvm", "-tsan-instrument-func-entry-exit=0")
	}
	if !interleaved && !slices.ContainsFunc(halves, func(header string) bool { return slices.Contains(headers, header) }) {
		compilers = append([]string{"g++"}, compilers...)
	} else if slices.Contains(isa.Available(true), isa.AVX2) {
		// Use instructions for halves instead of library calls, with the same results. All CPUs
		// with AVX2 have them.
		flags = append(flags[:len(flags):len(flags)], "-mf16c")
	}
	c := slices.IndexFunc(compilers, func(c string) bool { _, err := exec.LookPath(c); return err == nil })
	if c < 0 {
		skip("the kernels of %s on the host need one of %s", module, strings.Join(compilers, ", "))
	}
	args := []string{
		"-std=c++17", "-O1", "-w", "-fno-exceptions", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-DON_HOST",
		"-DSOURCE=" + strings.TrimSuffix(modules[i].File, ".cu"),
	}
	args = append(append(args, flags...), "-rdynamic", filepath.Join(root, "onhost", with), "-ldl")
	once, _ := compiled.LoadOrStore(strings.Join(args, " "), sync.OnceValues(func() ([]byte, error) { return compile(compilers[c], args) }))
	code, err := once.(func() ([]byte, error))()
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "launch")
	checktest.Program(t, program, code)
	return program
}

// Modules runs the kernels of some modules on the host in place of a stand-in's device
// (kernels/onhost/run.cc), on the memory of the launch's parameters and with the launch's blocks.
// fault is the defect to plant, or "". Parameters in device memory must be buffers.
func Modules(t testing.TB, fault string, modules ...string) func(name string) devicetest.Kernel {
	t.Helper()
	return all(t, modules, false, "FAULT="+fault)
}

// Interleaved is Modules without a fault. The blocks, warps and lanes of a launch run in a random order, and threads
// are interrupted between their accesses to memory (kernels/onhost/interleave.h), so that kernels whose results depend
// on the order of threads fail. The same seed results in the same order. It needs clang++.
func Interleaved(t testing.TB, seed int, modules ...string) func(name string) devicetest.Kernel {
	t.Helper()
	return all(t, modules, true, fmt.Sprintf("ORDER=%d", seed))
}

// all returns the kernels of some modules, which run with a variable of the environment.
func all(t testing.TB, modules []string, interleaved bool, with string) func(name string) devicetest.Kernel {
	t.Helper()
	var list []func(string) devicetest.Kernel
	for _, module := range modules {
		list = append(list, kernelsOf(t, module, interleaved, with))
	}
	return func(name string) devicetest.Kernel {
		for _, find := range list {
			if k := find(name); k != nil {
				return k
			}
		}
		return nil
	}
}

// kernelsOf returns the kernels of one module.
func kernelsOf(t testing.TB, module string, interleaved bool, with string) func(name string) devicetest.Kernel {
	t.Helper()
	ptx, err := kernels.PTX(module)
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, m := range entry.FindAllSubmatch(ptx, -1) {
		entries = append(entries, string(m[1]))
	}
	program := build(t, module, "run.cc", interleaved, "-DENTRIES=ENTRY("+strings.Join(entries, ")ENTRY(")+")")
	return func(name string) devicetest.Kernel {
		if !slices.Contains(entries, name) {
			return nil
		}
		return func(shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
			return run(program, with, name, shape, at, args)
		}
	}
}

// atomic is the list of functions in which threads are not interrupted.
const atomic = "atomic.txt"

// entry matches the start of a kernel in PTX.
var entry = regexp.MustCompile(`(?m)^\s*\.visible \.entry (\w+)`)

func run(program, with, name string, shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
	list := []string{name, fmt.Sprint(shape.Grid.X), fmt.Sprint(max(1, shape.Grid.Y)), fmt.Sprint(shape.Block.Count()), fmt.Sprint(shape.Shared)}
	var memory [][]byte
	for _, arg := range args {
		switch v := arg.(type) {
		case device.Buffer:
			data, err := at(v.Address())
			if err != nil {
				return err
			}
			data = data[:v.Bytes()]
			memory = append(memory, data)
			list = append(list, fmt.Sprintf("m%d", len(data)))
		case float32:
			list = append(list, fmt.Sprintf("f%d", math.Float32bits(v)))
		case float64:
			list = append(list, fmt.Sprintf("d%d", math.Float64bits(v)))
		default:
			list = append(list, fmt.Sprintf("i%d", v))
		}
	}
	var out, problem bytes.Buffer
	launch := exec.Command(program, list...)
	launch.Env = append(os.Environ(), with)
	launch.Stdin = bytes.NewReader(slices.Concat(memory...))
	launch.Stdout, launch.Stderr = &out, &problem
	if err := launch.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(problem.String()))
	}
	for _, m := range memory {
		if n, _ := out.Read(m); n != len(m) {
			return fmt.Errorf("%s: the program on the host wrote too little", name)
		}
	}
	if out.Len() > 0 {
		return fmt.Errorf("%s: the program on the host wrote too much", name)
	}
	return nil
}

// compiled has the programs that a test binary has compiled, by the compiler's arguments.
var compiled sync.Map

func compile(compiler string, args []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "eccbench-onhost-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "launch")
	args = append(slices.Clip(args), "-o", program)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", compiler, strings.Join(args, " "), err, out)
	}
	return os.ReadFile(program)
}

// folder returns the folder of the kernels' sources: that of the environment variable ECCBENCH_KERNELS, or one that is
// searched from the current folder upward.
func folder() (root string, ok bool) {
	if root := os.Getenv("ECCBENCH_KERNELS"); root != "" {
		return root, true
	}
	dir, err := os.Getwd()
	for err == nil {
		root = filepath.Join(dir, "kernels")
		if _, err := os.Stat(filepath.Join(root, "onhost", "launch.cc")); err == nil {
			return root, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}
