package extrema_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/ecc"
	"eccbench/internal/ecc/ecctest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/verify"
)

// compileOnHost compiles the sliced or deep kernels of a type for the host
// (kernels/onhost/launch.cc), with a fault or fault none.
func compileOnHost(t *testing.T, kind string, typ grid.Type, fault string) (program string) {
	t.Helper()
	skip := t.Skipf
	if os.Getenv("ECCBENCH_REQUIRE_FAKE") == "1" {
		skip = t.Fatalf
	}
	if runtime.GOOS != "linux" {
		skip("the kernels' threads on the host need the contexts of Linux, this is %s", runtime.GOOS)
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		if compiler, err = exec.LookPath("clang++"); err != nil {
			skip("the kernels on the host need g++ or clang++: %v", err)
		}
	}
	program = filepath.Join(t.TempDir(), "launch")
	args := []string{"-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-DON_HOST", "-DKIND=" + kind, "-DTYPE=" + typ.String()}
	if fault != "none" {
		args = append(args, "-DFAULT="+fault)
	}
	args = append(args, "-o", program, filepath.Join("..", "..", "kernels", "onhost", "launch.cc"))
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(args, " "), err, out)
	}
	return program
}

// An arrangement is how a launch divides an image; segment 0 is as the implementation
// chooses.
type arrangement struct{ blocks, segment int32 }

// onHostKernels are kernels whose launches are runs of a program. It sees what is on a
// stand-in for a device, with the arguments of the launch but for the arrangement.
type onHostKernels struct {
	program string
	in      grid.Source
	as      arrangement

	withheld, withheldShared int64 // bytes at the end of the image's memory, and of shared memory
}

func (k *onHostKernels) find(name string) devicetest.Kernel {
	switch {
	case strings.HasPrefix(name, "ecc_extrema_sliced_"), isDeep(name):
		return func(at func(uint64) ([]byte, error), args []any) error { return k.launch(name, at, args) }
	case strings.HasPrefix(name, "ecc_extrema_strays_"):
		return func(func(uint64) ([]byte, error), []any) error { return nil } // every value stands on the ladder
	}
	return func(func(uint64) ([]byte, error), []any) error { return fmt.Errorf("%s: not a sliced kernel", name) }
}

func isDeep(name string) bool { return strings.HasPrefix(name, "ecc_extrema_deep_") }

func (k *onHostKernels) launch(name string, at func(uint64) ([]byte, error), args []any) error {
	const bias, copyTo, word = 7, 8, 9
	levels, lut, total := 10, 15, 17
	if isDeep(name) { // hands nothing over
		levels, lut, total = 8, 13, 15
	}
	edge := extrema.Guard(k.in)
	memory, err := at(args[0].(uint64) - uint64(edge))
	if err != nil {
		return err
	}
	memory = memory[:int64(len(memory))-k.withheld]
	var values []byte
	if b, ok := args[lut].(device.Buffer); ok {
		if values, err = at(b.Address()); err != nil {
			return err
		}
	}
	segment := args[4].(int32)
	if k.as.segment > 0 {
		segment = k.as.segment
	}
	threads, shared := extrema.SlicedBlock(k.in.Type(), isDeep(name))
	shared -= k.withheldShared
	var list []string
	for _, arg := range []any{name, k.as.blocks, threads, shared, len(memory), edge, args[1], args[2], args[3], segment, args[bias], args[levels], len(values) / 4} {
		list = append(list, fmt.Sprint(arg))
	}
	var out, problem bytes.Buffer
	launch := exec.Command(k.program, list...)
	launch.Stdin = bytes.NewReader(append(bytes.Clone(memory), values...))
	launch.Stdout, launch.Stderr = &out, &problem
	if err := launch.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(problem.String()))
	}
	if size := 8 * int(args[levels].(int32)); out.Len() != size {
		return fmt.Errorf("%s: a table of %d bytes, want %d", name, out.Len(), size)
	}
	to := args[total].(device.Buffer).Address()
	if !isDeep(name) {
		to = args[copyTo].(uint64)
		done, err := at(args[word].(uint64))
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(done, 1)
	}
	table, err := at(to)
	if err != nil {
		return err
	}
	copy(table, out.Bytes())
	return nil
}

// A disagreement is a wrong answer, and no other failure.
type disagreement struct{ *verify.Diff }

func (d disagreement) Error() string { return d.String() }

// arranged asks for the kernels' image in arrangements, and returns why the first that
// does not succeed does not.
func (k *onHostKernels) arranged(t *testing.T, want ecc.VCEC, list []arrangement) error {
	t.Helper()
	driver := devicetest.New(1, k.find)
	open := ecctest.Closing(t, resident.Once(func() (device.Driver, error) { return driver, nil }))
	job, err := extrema.AsLarge(extrema.OnDevice{Open: open}).Setup(k.in, bench.Conditions{Scope: bench.Kernel, Threads: 1})
	if err != nil {
		return err
	}
	defer job.Close()
	for _, k.as = range list {
		job.Poison()
		if err := job.Do(nil); err != nil {
			return fmt.Errorf("%+v: %w", k.as, err)
		}
		out, err := job.Out()
		if err != nil {
			return err
		}
		if d := ecc.Policy().Agree(k.in, want, out); d != nil {
			return fmt.Errorf("%+v: %w", k.as, disagreement{d})
		}
	}
	return nil
}

// A slicedCase is an image for the sliced kernels, of all levels in no order or one of
// crowds, and how it is divided.
type slicedCase struct {
	shape      grid.Shape
	lo, levels int64
	list       []arrangement
	crowd      string
}

func (c slicedCase) String() string {
	return fmt.Sprintf("%s%v, %d levels from %d", c.crowd, c.shape, c.levels, c.lo)
}

func (c slicedCase) image(t *testing.T, typ grid.Type) *grid.Field {
	level := scattered(c.levels)
	if c.crowd != "" {
		level = crowds()[c.crowd]
	}
	return imageFrom(t, c.shape, typ, c.lo, c.levels, level)
}

// slicedCases are for the kernels that have counters of each level for each lane.
func slicedCases(typ grid.Type) []slicedCase {
	if typ == grid.Uint8 {
		return casesOf(typ, 2, 5, 256)
	}
	return casesOf(typ, 2, 5, 256, 1000, 1024)
}

// deepCases are for those that have counters of 16 bits, which are to hold more than that
// in some.
func deepCases(typ grid.Type) []slicedCase {
	list := casesOf(typ, 31745, 50001, 65535, 65536)
	for name := range crowds() {
		list = append(list, slicedCase{grid.Shape{D: 30, H: 46, W: 64}, least(typ), 1 << 16, []arrangement{{1, 0}, {1, 7}}, name})
	}
	return list
}

// casesOf have tiles that the image fills and does not, rows that begin at multiples
// of 16 bytes, of four, and anywhere, and levels to both extremes of the type. Not all are
// tried with all, but each with many.
func casesOf(typ grid.Type, numbers ...int64) (list []slicedCase) {
	lo, between := least(typ), int64(1000)
	switch typ {
	case grid.Uint8:
		between = 0
	case grid.Int16:
		between = -300
	}
	hi := lo + 1<<(8*typ.Size())
	divided := []arrangement{{1, 0}, {1, 1}, {3, 2}, {2, 3}, {3, 100}}
	for i, s := range []grid.Shape{
		{D: 2, H: 1, W: 1}, {D: 5, H: 40, W: 1}, {D: 3, H: 20, W: 2}, {D: 4, H: 1, W: 4}, {D: 9, H: 7, W: 5}, {D: 3, H: 31, W: 8},
		{D: 4, H: 15, W: 63}, {D: 5, H: 46, W: 64}, {D: 3, H: 16, W: 65}, {D: 4, H: 16, W: 127}, {D: 3, H: 15, W: 128}, {D: 3, H: 16, W: 128},
		{D: 4, H: 31, W: 129}, {D: 3, H: 30, W: 131}, {D: 4, H: 15, W: 132}, {D: 3, H: 17, W: 134}, {D: 4, H: 18, W: 136},
		{D: 3, H: 31, W: 256}, {D: 4, H: 1, W: 260}, {D: 4, H: 32, W: 300},
	} {
		for j, n := range numbers {
			if len(numbers) > 3 && (i+j)%2 == 1 {
				continue
			}
			first := []int64{lo, hi - n, min(between, hi-n)}[(i+j)%3]
			k := (i + j/2) % len(divided)
			list = append(list, slicedCase{s, first, n, []arrangement{divided[k], divided[(k+1)%len(divided)]}, ""})
		}
	}
	return list
}

// The sliced kernels, compiled for the host, agree with the enumeration of all cells, and
// reach no memory that they are not given.
func TestSlicedOnHost(t *testing.T) {
	for _, kind := range onHostKinds() {
		for _, typ := range kind.types {
			t.Run(kind.name+"/"+typ.String(), func(t *testing.T) {
				t.Parallel()
				program := compileOnHost(t, kind.name, typ, "none")
				for _, c := range kind.cases(typ) {
					in := c.image(t, typ)
					k := onHostKernels{program: program, in: in}
					if err := k.arranged(t, ecctest.BruteForce(in), c.list); err != nil {
						t.Errorf("%v, %v", c, err)
					}
				}
			})
		}
	}
}

// onHostKinds are kinds of kernels that are compiled for the host, of which types, and
// cases for them.
func onHostKinds() []onHostKind {
	words := []grid.Type{grid.Int16, grid.Uint16}
	return []onHostKind{{"sliced", append(words, grid.Uint8), slicedCases}, {"deep", words, deepCases}}
}

type onHostKind struct {
	name  string
	types []grid.Type
	cases func(grid.Type) []slicedCase
}

// faulty is the type whose kernels have faults planted, and their source.
func (k onHostKind) faulty() (t grid.Type, source string) {
	t = k.types[len(k.types)-1]
	return t, fmt.Sprintf("ecc_extrema_%s_%v", k.name, t)
}

func TestFaultsPlantedInSlicedKernelsShowOnHost(t *testing.T) {
	for _, kind := range onHostKinds() {
		typ, source := kind.faulty()
		for fault := range planted(t, source) {
			t.Run(kind.name+"/"+fault, func(t *testing.T) {
				t.Parallel()
				program := compileOnHost(t, kind.name, typ, fault)
				for _, c := range kind.cases(typ) {
					in := c.image(t, typ)
					k := onHostKernels{program: program, in: in}
					err := k.arranged(t, ecctest.BruteForce(in), c.list)
					if errors.As(err, &disagreement{}) {
						t.Logf("%v, %v", c, err)
						return
					}
					if err != nil {
						t.Fatalf("%v, %v", c, err)
					}
				}
				t.Error("all answers are right")
			})
		}
	}
}

// A kernel that is given less than it reaches fails: where the memory after the image is
// missing, or the planes of the last warp that has some.
func TestSlicedOnHostKeepToTheirMemory(t *testing.T) {
	t.Parallel()
	const warp = 3 * 16 * 144
	program := compileOnHost(t, "sliced", grid.Uint8, "none")
	in := imageFrom(t, grid.Shape{D: 3, H: 16, W: 256}, grid.Uint8, 0, 5, scattered(5))
	want := ecctest.BruteForce(in)
	for what, k := range map[string]onHostKernels{
		"the image's memory": {withheld: extrema.Guard(in)},
		"shared memory":      {withheldShared: 11*warp + 16},
	} {
		k.program, k.in = program, in
		if err := k.arranged(t, want, []arrangement{{1, 0}}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("without bytes of %s: %v", what, err)
		}
	}
}
