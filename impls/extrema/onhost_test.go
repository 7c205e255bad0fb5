package extrema_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
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
	"eccbench/kernels/faults"
)

// compileOnHost compiles a source of kernels of a type for the host
// (kernels/onhost/launch.cc), with a fault or fault none.
func compileOnHost(t *testing.T, source string, typ grid.Type, fault string) (program string) {
	t.Helper()
	if ecctest.RaceDetector {
		t.Skip("the kernels run in programs of their own, which the race detector does not see")
	}
	skip := t.Skipf
	if os.Getenv("ECCBENCH_REQUIRE_FAKE") == "1" {
		skip = t.Fatalf
	}
	if runtime.GOOS != "linux" {
		skip("the kernels' threads on the host need the contexts of Linux, this is %s", runtime.GOOS)
	}
	// Clang alone has the vectors of halves that all but the sliced kernels use.
	compilers := []string{"clang++-19", "clang++"}
	if strings.Contains(source, "_sliced_") || strings.Contains(source, "_deep_") {
		compilers = append([]string{"g++"}, compilers...)
	}
	i := slices.IndexFunc(compilers, func(c string) bool { _, err := exec.LookPath(c); return err == nil })
	if i < 0 {
		skip("the kernels of %s on the host need one of %s", source, strings.Join(compilers, ", "))
	}
	// Go runs the test again where a file differs that the test looked at; the compiler's
	// reading it does not see.
	for _, pattern := range []string{"*.h", "*.cu", "onhost/*"} {
		sources, err := filepath.Glob(filepath.Join("..", "..", "kernels", pattern))
		if err != nil || len(sources) == 0 {
			t.Fatalf("no %s among the kernels' sources: %v", pattern, err)
		}
		for _, s := range sources {
			if _, err := os.Stat(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	program = filepath.Join(t.TempDir(), "launch")
	args := []string{"-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-DON_HOST", "-DSOURCE=" + source, "-DTYPE=" + typ.String()}
	if fault != "none" {
		args = append(args, "-DFAULT="+fault)
	}
	args = append(args, "-rdynamic", "-o", program, filepath.Join("..", "..", "kernels", "onhost", "launch.cc"), "-ldl")
	if out, err := exec.Command(compilers[i], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compilers[i], strings.Join(args, " "), err, out)
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
	small   bool // as the implementation counts an image of its size

	withheld, withheldShared int64 // bytes at the end of the image's memory, and of shared memory
}

func (k *onHostKernels) find(name string) devicetest.Kernel {
	if strings.HasPrefix(name, "ecc_extrema_strays_") { // every value stands on the ladder
		return func(device.Launch, func(uint64) ([]byte, error), []any) error { return nil }
	}
	return func(shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
		return k.launch(name, shape, at, args)
	}
}

func (k *onHostKernels) launch(name string, shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
	const own, handing, ladder = 8, 2, 7 // parameters
	edge := extrema.Guard(k.in)
	memory, err := at(args[0].(uint64) - uint64(edge))
	if err != nil {
		return err
	}
	memory = memory[:int64(len(memory))-k.withheld]
	given, rest, hands := args[:own], args[own:], 0
	var to, done uint64
	if len(rest) > ladder+2 {
		hands, to, done, rest = 1, rest[0].(uint64), rest[1].(uint64), rest[handing:]
	}
	table := func(arg any) []byte {
		b, ok := arg.(device.Buffer)
		if !ok || err != nil {
			return nil
		}
		var data []byte
		data, err = at(b.Address())
		return data
	}
	lut, values := table(rest[5]), table(rest[6])
	if err != nil {
		return err
	}
	segment := given[4].(int32)
	if k.as.segment > 0 {
		segment = k.as.segment
	}
	totals := 8
	if strings.Contains(name, "_small_") {
		totals = 4
	}
	var list []string
	for _, arg := range []any{
		name, k.as.blocks, shape.Block.X, shape.Shared - k.withheldShared, len(memory), edge, given[1], given[2], given[3], segment,
		given[5], given[6], given[7], hands, totals, rest[0], rest[1], rest[2], rest[3], rest[4], rest[ladder+1], len(lut) / 4, len(values) / 4,
	} {
		if f, ok := arg.(float32); ok {
			arg = math.Float32bits(f)
		}
		list = append(list, fmt.Sprint(arg))
	}
	var out, problem bytes.Buffer
	launch := exec.Command(k.program, list...)
	launch.Stdin = bytes.NewReader(slices.Concat(memory, lut, values))
	launch.Stdout, launch.Stderr = &out, &problem
	if err := launch.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(problem.String()))
	}
	if size := 8 * int(rest[0].(int32)); out.Len() != size {
		return fmt.Errorf("%s: a table of %d bytes, want %d", name, out.Len(), size)
	}
	if hands == 1 {
		word, err := at(done)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(word, 1)
	} else {
		to = rest[ladder].(device.Buffer).Address()
	}
	result, err := at(to)
	if err != nil {
		return err
	}
	copy(result, out.Bytes())
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
	impl := extrema.OnDevice{Open: open}
	if !k.small {
		impl = extrema.AsLarge(impl)
	}
	job, err := impl.Setup(k.in, bench.Conditions{Scope: bench.Kernel, Threads: 1})
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

// An onHostCase is an image for kernels on the host, of all levels in no order or one of
// crowds, and how it is divided.
type onHostCase struct {
	shape      grid.Shape
	lo, levels int64
	list       []arrangement
	crowd      string
}

func (c onHostCase) String() string {
	return fmt.Sprintf("%s%v, %d levels from %d", c.crowd, c.shape, c.levels, c.lo)
}

func (c onHostCase) image(t *testing.T, typ grid.Type) *grid.Field {
	level := scattered(c.levels)
	if c.crowd != "" {
		level = crowds()[c.crowd]
	}
	return imageFrom(t, c.shape, typ, c.lo, c.levels, level)
}

// slicedCases are for the kernels that have counters of each level for each lane.
func slicedCases(typ grid.Type) []onHostCase {
	if typ == grid.Uint8 {
		return casesOf(typ, solids(), 2, 5, 256)
	}
	return casesOf(typ, solids(), 2, 5, 256, 1000, 1024)
}

// deepCases are for those that have counters of 16 bits, which are to hold more than that
// in some.
func deepCases(typ grid.Type) []onHostCase {
	list := casesOf(typ, solids(), 31745, 50001, 65535, 65536)
	return append(list, overflowing(typ)...)
}

// overflowing are crowds for one block.
func overflowing(typ grid.Type) (list []onHostCase) {
	for name := range crowds() {
		list = append(list, onHostCase{grid.Shape{D: 30, H: 46, W: 64}, least(typ), 1 << 16, []arrangement{{1, 0}, {1, 7}}, name})
	}
	return list
}

// casesOf have tiles that the image fills and does not, rows that begin at multiples
// of 16 bytes, of four, and anywhere, and levels to both extremes of the type. Not all are
// tried with all, but each with many.
func casesOf(typ grid.Type, shapes []grid.Shape, numbers ...int64) (list []onHostCase) {
	lo, between := least(typ), int64(1000)
	switch typ {
	case grid.Uint8:
		between = 0
	case grid.Int16:
		between = -300
	}
	hi := lo + 1<<min(8*typ.Size(), 20)
	divided := []arrangement{{1, 0}, {1, 1}, {3, 2}, {2, 3}, {3, 100}}
	for i, s := range shapes {
		for j, n := range numbers {
			if len(numbers) > 3 && (i+j)%2 == 1 {
				continue
			}
			first := []int64{lo, hi - n, min(between, hi-n)}[(i+j)%3]
			k := (i + j/2) % len(divided)
			list = append(list, onHostCase{s, first, n, []arrangement{divided[k], divided[(k+1)%len(divided)]}, ""})
		}
	}
	return list
}

func solids() []grid.Shape {
	return []grid.Shape{
		{D: 2, H: 1, W: 1}, {D: 5, H: 40, W: 1}, {D: 3, H: 20, W: 2}, {D: 4, H: 1, W: 4}, {D: 9, H: 7, W: 5}, {D: 3, H: 31, W: 8},
		{D: 4, H: 15, W: 63}, {D: 5, H: 46, W: 64}, {D: 3, H: 16, W: 65}, {D: 4, H: 16, W: 127}, {D: 3, H: 15, W: 128}, {D: 3, H: 16, W: 128},
		{D: 4, H: 31, W: 129}, {D: 3, H: 30, W: 131}, {D: 4, H: 15, W: 132}, {D: 3, H: 17, W: 134}, {D: 4, H: 18, W: 136},
		{D: 3, H: 31, W: 256}, {D: 4, H: 1, W: 260}, {D: 4, H: 32, W: 300},
	}
}

// flats have one tile of columns or several, and steep ones a seam of more planes than
// are counted at once.
func flats() []grid.Shape {
	return []grid.Shape{
		{D: 1, H: 1, W: 1}, {D: 1, H: 7, W: 1}, {D: 1, H: 1, W: 9}, {D: 1, H: 5, W: 4}, {D: 1, H: 9, W: 33}, {D: 1, H: 40, W: 131},
		{D: 1, H: 31, W: 128}, {D: 1, H: 33, W: 256}, {D: 1, H: 17, W: 260}, {D: 1, H: 5, W: 516}, {D: 1, H: 70, W: 64},
	}
}

func steep() []grid.Shape { return []grid.Shape{{D: 70, H: 5, W: 132}, {D: 40, H: 9, W: 41}} }

// The kernels, compiled for the host, agree with the enumeration of all cells, and the
// sliced ones reach no memory that they are not given.
func TestKernelsOnHost(t *testing.T) {
	for _, kind := range onHostKinds() {
		for _, typ := range kind.types {
			t.Run(kind.label+"/"+typ.String(), func(t *testing.T) {
				t.Parallel()
				program := compileOnHost(t, kind.source(typ), typ, "none")
				for c, err := range kind.failures(t, program, typ) {
					t.Errorf("%v, %v", c, err)
				}
			})
		}
	}
}

// An onHostKind is a kind of kernels that are compiled for the host, by what it is in the
// names of sources, of which types, and cases for them; small images as such or as large
// ones.
type onHostKind struct {
	label, name string
	types       []grid.Type
	cases       func(grid.Type) []onHostCase
	small       bool
}

// faulty is the type whose kernels have faults planted, and their source.
func (k onHostKind) faulty() (t grid.Type, source string) {
	t = k.types[len(k.types)-1]
	return t, k.source(t)
}

func (k onHostKind) source(t grid.Type) string {
	if k.name == "" {
		return fmt.Sprintf("ecc_extrema_%v", t)
	}
	return fmt.Sprintf("ecc_extrema_%s_%v", k.name, t)
}

// failures are the cases that a program's kernels of a type fail, and why.
func (k onHostKind) failures(t *testing.T, program string, typ grid.Type) iter.Seq2[onHostCase, error] {
	return func(yield func(onHostCase, error) bool) {
		for _, c := range k.cases(typ) {
			in := c.image(t, typ)
			kernels := onHostKernels{program: program, in: in, small: k.small}
			if err := kernels.arranged(t, ecctest.BruteForce(in), c.list); err != nil && !yield(c, err) {
				return
			}
		}
	}
}

// slicedKinds are those that compare 32 voxels at a time.
func slicedKinds() []onHostKind {
	words := []grid.Type{grid.Int16, grid.Uint16}
	return []onHostKind{
		{"sliced", "sliced", append(words, grid.Uint8), slicedCases, false},
		{"deep", "deep", words, deepCases, false},
	}
}

// some are a third of shapes for int16, which differs from uint16 by how it is read.
func some(typ grid.Type, shapes ...[]grid.Shape) (list []grid.Shape) {
	for i, s := range slices.Concat(shapes...) {
		if typ != grid.Int16 || i%3 == 0 {
			list = append(list, s)
		}
	}
	return list
}

func onHostKinds() []onHostKind {
	wide := []grid.Type{grid.Int16, grid.Uint16, grid.Float32}
	all := append([]grid.Type{grid.Uint8}, wide...)
	return append(slicedKinds(),
		onHostKind{"pairs", "", all, func(typ grid.Type) []onHostCase {
			switch typ {
			case grid.Uint8:
				return casesOf(typ, flats(), 2, 256)
			case grid.Float32:
				return casesOf(typ, slices.Concat(flats(), solids(), steep()), 2, 300, 1024, 7900)
			}
			// 3D images of fewer levels are sliced.
			return slices.Concat(casesOf(typ, some(typ, flats()), 2, 300), casesOf(typ, some(typ, solids(), steep()), 1025, 7900))
		}, false},
		onHostKind{"small", "", all, func(typ grid.Type) []onHostCase {
			numbers := []int64{2, 300, 1024}
			if typ == grid.Uint8 {
				numbers = []int64{2, 256}
			}
			return casesOf(typ, some(typ, flats(), solids(), steep()), numbers...)
		}, true},
		onHostKind{"wide", "wide", wide, func(typ grid.Type) []onHostCase {
			return casesOf(typ, some(typ, flats(), solids()[6:], steep()), 7901, 31744)
		}, true},
		onHostKind{"ranked", "ranked", wide, func(typ grid.Type) []onHostCase {
			list := casesOf(typ, some(typ, flats(), solids()[6:], steep()), 31745, 65536)
			return append(list, overflowing(typ)...)
		}, true},
	)
}

func TestFaultsPlantedShowOnHost(t *testing.T) {
	for _, kind := range onHostKinds() {
		typ, source := kind.faulty()
		if len(faults.Of(source)) == 0 || kind.label == "small" { // whose source has those of pairs
			continue
		}
		for fault := range planted(t, source) {
			t.Run(kind.label+"/"+fault, func(t *testing.T) {
				t.Parallel()
				program := compileOnHost(t, source, typ, fault)
				for c, err := range kind.failures(t, program, typ) {
					if !errors.As(err, &disagreement{}) {
						t.Fatalf("%v, %v", c, err)
					}
					t.Logf("%v, %v", c, err)
					return
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
	program := compileOnHost(t, "ecc_extrema_sliced_uint8", grid.Uint8, "none")
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
