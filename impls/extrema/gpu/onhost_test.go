package gpu_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/hosttest"
	"eccbench/kernels/source"
)

// An arrangement is the division of an image by a launch. Segment 0 means the implementation's
// choice.
type arrangement struct{ blocks, segment int32 }

// onHostKernels are kernels that run as a program on the host. The program accesses the memory of a
// stand-in device, with the arguments of the launch except its grid.
type onHostKernels struct {
	program string
	fault   string // the planted fault, or none
	in      grid.Source
	as      arrangement
	small   bool // uses the kernels for small images if the size allows it
	level   bool // every value is on a level, and the program has no kernel for strays

	withheld, withheldShared int64 // bytes withheld at the end of the image's memory, and of shared memory

	launched string // the last kernel that counted
}

func (k *onHostKernels) find(name string) devicetest.Kernel {
	if k.level && strings.HasPrefix(name, "ecc_extrema_strays_") {
		return func(device.Launch, func(uint64) ([]byte, error), []any) error { return nil }
	}
	return func(shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
		return k.launch(name, shape, at, args)
	}
}

func (k *onHostKernels) launch(name string, shape device.Launch, at func(uint64) ([]byte, error), args []any) error {
	const ofLadder = 7 // number of parameters
	var own, rest []any
	image, args := args[0].(uint64), slices.Clone(args[1:])
	does, entries, entry := "adds", int64(1), int64(8)
	var to, done uint64 // address for handing over the table
	segment := -1       // the index of that parameter
	switch {
	case strings.HasPrefix(name, "ecc_extrema_strays_"):
		own, rest = args[:1], args[1:]
	case strings.HasPrefix(name, "ecc_extrema_batch_"):
		own, rest, segment = args[:10], args[10:], 5
		images, stored := own[1].(int32), &own[6]
		if k.as.segment > 0 {
			*stored = int32(0)
		}
		if *stored == int32(1) {
			does = "stores"
		}
		entries, entry = int64(images)*int64(rest[0].(int32)), 4
	default:
		own, rest, segment = args[:7], args[7:], 3
		if len(rest) > ofLadder+2 {
			does, to, done, rest = "hands", rest[0].(uint64), rest[1].(uint64), rest[2:]
			if to == 0 {
				does = "keeps"
			}
		}
		if entries = int64(rest[0].(int32)); strings.HasPrefix(name, "ecc_extrema_small_") {
			entry = 4
		}
	}
	if segment >= 0 {
		k.launched = name
		if k.as.segment > 0 {
			own[segment] = k.as.segment
		}
	}
	if to == 0 {
		to = rest[ofLadder].(device.Buffer).Address()
	}
	rest = append(rest, int32(0)) // of a kernel without copies
	edge := gpu.Guard(k.in)
	memory, err := at(image - uint64(edge))
	if err != nil {
		return err
	}
	memory = memory[:int64(len(memory))-k.withheld]
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
	var list []string
	for _, arg := range slices.Concat(
		[]any{k.fault, name, k.as.blocks, shape.Block.X, shape.Shared - k.withheldShared, len(memory), edge, does, entries, entry},
		own, rest[:5], []any{len(lut) / 4, len(values) / 4, rest[ofLadder+1]},
	) {
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
	if does == "hands" {
		entry = 8
		word, err := at(done)
		if err != nil {
			return err
		}
		binary.LittleEndian.PutUint32(word, 1)
	}
	if size := entries * entry; int64(out.Len()) != size {
		return fmt.Errorf("%s: a table of %d bytes, want %d", name, out.Len(), size)
	}
	if segment < 0 {
		if n, want := int64(binary.LittleEndian.Uint64(out.Bytes())), k.strays(); n != want {
			return fmt.Errorf("%s: %d values stand on no level, want %d", name, n, want)
		}
	}
	result, err := at(to)
	if err != nil {
		return err
	}
	copy(result, out.Bytes())
	return nil
}

// strays returns the number of values between levels.
func (k *onHostKernels) strays() (n int64) {
	in := k.in
	if batch, ok := in.(grid.Batch); ok {
		in = batch.Source
	}
	ladder := in.Ladder()
	for _, v := range in.(*grid.Field).Floats() {
		if level := ladder.Level(v); level == ladder.Len() || ladder.Value(level) != v {
			n++
		}
	}
	return n
}

// A disagreement is a wrong answer, as opposed to another failure.
type disagreement struct{ *verify.Diff }

func (d disagreement) Error() string { return d.String() }

// An aloneJob presents the job of one image as the job of a batch.
type aloneJob struct{ bench.Job[ecc.VCEC] }

func (a aloneJob) Out() ([]ecc.VCEC, error) {
	v, err := a.Job.Out()
	return []ecc.VCEC{v}, err
}

func (k *onHostKernels) setup(open resident.Opener) (bench.Job[[]ecc.VCEC], error) {
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel, Threads: 1}}
	if batch, ok := k.in.(grid.Batch); ok {
		return gpu.BatchOnDevice{Open: open}.Setup(batch, c)
	}
	impl := gpu.OnDevice{Open: open}
	if !k.small {
		impl = gpu.AsLarge(impl)
	}
	job, err := impl.Setup(k.in, c)
	return aloneJob{job}, err
}

// arranged counts the kernels' images in some arrangements, and returns the first error.
func (k *onHostKernels) arranged(t *testing.T, want []ecc.VCEC, list []arrangement) error {
	t.Helper()
	driver := devicetest.New(1, k.find)
	k.as = list[0] // the arrangement for counting strays
	job, err := k.setup(ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil })))
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
		if len(out) != len(want) {
			return fmt.Errorf("%+v: %d curves, want %d", k.as, len(out), len(want))
		}
		for i := range out {
			if d := ecc.Policy().Agree(k.in, want[i], out[i]); d != nil {
				return fmt.Errorf("%+v, image %d: %w", k.as, i, disagreement{d})
			}
		}
	}
	return nil
}

// An onHostCase is an image or a batch of images for kernels on the host, and its arrangements. The
// image has scattered levels or is one of crowds.
type onHostCase struct {
	shape      grid.Shape
	lo, levels int64
	list       []arrangement
	crowd      string
	ladder     spacing
	images     int64 // 0 if it is no batch
}

// A spacing describes the values of an image relative to its levels.
type spacing string

const (
	even   spacing = ""
	before spacing = "the first levels below what the type has, "
	astray spacing = "some values below the levels and between them, "
	uneven spacing = "levels at uneven distances, "
)

func (c onHostCase) String() string {
	batch := ""
	if c.images > 0 {
		batch = fmt.Sprintf("batch of %d, ", c.images)
	}
	return fmt.Sprintf("%s%s%s%v, %d levels from %d", batch, c.ladder, c.crowd, c.shape, c.levels, c.lo)
}

// fields returns the images of a case.
func (c onHostCase) fields(t *testing.T, typ grid.Type) (list []*grid.Field) {
	t.Helper()
	level := scattered(c.levels)
	if of := ends(c.levels)[c.crowd]; of != nil {
		level = of
	} else if c.crowd != "" {
		level = crowds()[c.crowd]
	}
	for i := range max(1, c.images) {
		of := func(z, y, x int64) int64 { return level(z+17*i, y, x) }
		if c.ladder == even {
			list = append(list, imageFrom(t, c.shape, typ, c.lo, c.levels, of))
			continue
		}
		list = append(list, c.unusual(t, typ, of))
	}
	return list
}

// unusual returns an image whose values are on levels at uneven distances.
func (c onHostCase) unusual(t *testing.T, typ grid.Type, level func(z, y, x int64) int64) *grid.Field {
	t.Helper()
	if c.ladder == before {
		f := imageFrom(t, c.shape, typ, least(typ), c.levels, level)
		ladder, err := grid.Affine(float64(least(typ)-5), 1, c.levels+5)
		if err == nil {
			f, err = grid.NewField(f.Shape(), typ, f.Data(), ladder)
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// The levels omit the first value of the image and, if they are uneven, every fifth.
	values := []float32{}
	for k := int64(1); int64(len(values)) < c.levels; k++ {
		if c.ladder == astray || k%5 != 4 {
			values = append(values, float32(c.lo+k))
		}
	}
	last := int64(values[len(values)-1]) - c.lo
	f := imageFrom(t, c.shape, typ, c.lo, last+1, func(z, y, x int64) int64 {
		return level(z, y, x) * last / max(1, c.levels-1)
	})
	ladder, err := grid.Table(values)
	if c.ladder == astray {
		ladder, err = grid.Affine(float64(c.lo+1), 1, c.levels)
	}
	if err != nil {
		t.Fatal(err)
	}
	if typ == grid.Float32 {
		v := grid.Values[float32](f.Data())
		for i := 0; i < len(v); i += 7 {
			v[i] -= 0.25
		}
	}
	if f, err = grid.NewField(f.Shape(), typ, f.Data(), ladder); err != nil {
		t.Fatal(err)
	}
	return f
}

// slicedCases returns cases for the kernels with counters of each level for each lane.
func slicedCases(typ grid.Type) []onHostCase {
	if typ == grid.Uint8 {
		return casesOf(typ, solids(), 2, 5, 256)
	}
	return casesOf(typ, solids(), 2, 5, 256, 1000, 1024)
}

// deepCases returns cases for the kernels with 16-bit counters. Some counts need more than 16 bits.
func deepCases(typ grid.Type) []onHostCase {
	list := casesOf(typ, solids(), 31745, 50001, 65535, 65536)
	return append(list, overflowing(typ)...)
}

// overflowing returns the crowds for one block.
func overflowing(typ grid.Type) (list []onHostCase) {
	for name := range crowds() {
		list = append(list, onHostCase{grid.Shape{D: 30, H: 46, W: 64}, least(typ), 1 << 16, []arrangement{{1, 0}, {1, 7}}, name, even, 0})
	}
	return list
}

// casesOf returns cases with full and partial tiles, and with rows at multiples of 16 bytes, of
// four, and elsewhere. Levels reach both extremes of the type. Each property is combined with many
// others, but not with all.
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
			list = append(list, onHostCase{s, first, n, []arrangement{divided[k], divided[(k+1)%len(divided)]}, "", even, 0})
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

// flats returns 2D shapes of one tile of columns or several. Steep ones have a seam of more planes
// than are counted at once.
func flats() []grid.Shape {
	return []grid.Shape{
		{D: 1, H: 1, W: 1}, {D: 1, H: 7, W: 1}, {D: 1, H: 1, W: 9}, {D: 1, H: 5, W: 4}, {D: 1, H: 9, W: 33}, {D: 1, H: 40, W: 131},
		{D: 1, H: 31, W: 128}, {D: 1, H: 33, W: 256}, {D: 1, H: 17, W: 260}, {D: 1, H: 5, W: 516}, {D: 1, H: 70, W: 64},
	}
}

func steep() []grid.Shape { return []grid.Shape{{D: 70, H: 5, W: 132}, {D: 40, H: 9, W: 41}} }

// The kernels, compiled for the host, agree with the enumeration of all cells. The sliced ones
// access no memory outside of their buffers.
func TestKernelsOnHost(t *testing.T) {
	for _, kind := range onHostKinds() {
		for _, typ := range kind.types {
			t.Run(kind.label+"/"+typ.String(), func(t *testing.T) {
				t.Parallel()
				program := hosttest.Program(t, kind.source(typ))
				for c, err := range kind.failures(t, program, "none", typ) {
					t.Errorf("%v, %v", c, err)
				}
			})
		}
	}
}

// An onHostKind is a kind of kernels compiled for the host, with its name in sources, its types and
// its cases. Small images may be treated as large ones.
type onHostKind struct {
	label, name string
	types       []grid.Type
	cases       func(grid.Type) []onHostCase
	small       bool
	runs        string // part of the names of its kernels
}

// faulty returns the type whose kernels have planted faults, and their source.
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

// failures returns the cases that a program's kernels of a type fail, with the reasons. fault names
// the planted fault, or none.
func (k onHostKind) failures(t *testing.T, program, fault string, typ grid.Type) iter.Seq2[onHostCase, error] {
	return func(yield func(onHostCase, error) bool) {
		cases := k.cases(typ)
		if part := ecctest.Part(cases); len(part) < len(cases) {
			cases = append(fewer(cases), part...)
		}
		if typ.Size() == 2 {
			cases = append(cases, early(cases)...)
		}
		cases = append(cases, atTheEnds(cases, typ)...)
		for _, c := range cases {
			images := c.fields(t, typ)
			kernels := onHostKernels{program: program, fault: fault, in: images[0], small: k.small, level: k.name != "" && k.name != "batch"}
			if c.images > 0 {
				kernels.in = join(t, images)
			}
			var want []ecc.VCEC
			for _, f := range images {
				want = append(want, ecc.Enumerate(f))
			}
			err := kernels.arranged(t, want, c.list)
			if err == nil && !strings.Contains(kernels.launched, k.runs) {
				err = fmt.Errorf("%s was launched", kernels.launched)
			}
			if err != nil && !yield(c, err) {
				return
			}
		}
	}
}

// traits returns the properties of a case in one arrangement that may matter.
func (c onHostCase) traits(a arrangement) []string {
	return []string{
		fmt.Sprint("shape ", c.shape), fmt.Sprint("crowd ", c.crowd), fmt.Sprintf("%d levels from %d", c.levels, c.lo),
		fmt.Sprintf("%s%d levels", c.ladder, c.levels), fmt.Sprint("images ", c.images), fmt.Sprintf("%+v, flat %v", a, c.shape.D == 1),
	}
}

// fewer returns cases in one arrangement each that have all traits of a list. It repeatedly adds
// the case with the most new traits.
func fewer(list []onHostCase) (some []onHostCase) {
	var single []onHostCase
	for _, c := range list {
		for _, a := range c.list {
			c.list = []arrangement{a}
			single = append(single, c)
		}
	}
	seen := map[string]bool{}
	for {
		best, most := onHostCase{}, 0
		for _, c := range single {
			n := 0
			for _, trait := range c.traits(c.list[0]) {
				if !seen[trait] {
					n++
				}
			}
			if n > most {
				best, most = c, n
			}
		}
		if most == 0 {
			return some
		}
		for _, trait := range best.traits(best.list[0]) {
			seen[trait] = true
		}
		some = append(some, best)
	}
}

// The fewer cases have all traits.
func TestFewerCasesHaveAllTraits(t *testing.T) {
	for _, kind := range onHostKinds() {
		for _, typ := range kind.types {
			of := func(list []onHostCase) map[string]int {
				n := map[string]int{}
				for _, c := range list {
					for _, a := range c.list {
						for _, trait := range c.traits(a) {
							n[trait]++
						}
					}
				}
				return n
			}
			all := kind.cases(typ)
			some := of(fewer(all))
			for trait, n := range of(all) {
				if some[trait] == 0 {
					t.Errorf("%s/%v: %s, of %d cases, is in none of the fewer", kind.label, typ, trait, n)
				}
			}
			t.Logf("%s/%v: %d of %d cases", kind.label, typ, len(fewer(all)), len(all))
		}
	}
}

// slicedKinds lists the kinds that compare 32 voxels at a time.
func slicedKinds() []onHostKind {
	words := []grid.Type{grid.Int16, grid.Uint16}
	return []onHostKind{
		{"sliced", "sliced", append(words, grid.Uint8), slicedCases, false, "_sliced_"},
		{"deep", "deep", words, deepCases, false, "_deep_"},
	}
}

// some returns a third of the shapes for int16, which differs from uint16 only in reading.
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
				return append(casesOf(typ, flats(), 2, 256), unusually(casesOf(typ, flats(), 8, 256), uneven)...)
			case grid.Float32:
				return casesOf(typ, slices.Concat(flats(), solids(), steep()), 2, 300, 1024, 7900)
			}
			// 3D images of fewer levels are sliced.
			return slices.Concat(casesOf(typ, some(typ, flats()), 2, 300), casesOf(typ, some(typ, solids(), steep()), 1025, 7900))
		}, false, ""},
		onHostKind{"small", "", all, func(typ grid.Type) []onHostCase {
			shapes := some(typ, flats(), solids(), steep())
			if typ == grid.Uint8 {
				return append(casesOf(typ, shapes, 2, 256), unusually(casesOf(typ, flats(), 8, 256), uneven)...)
			}
			return casesOf(typ, shapes, 2, 300, 1024)
		}, true, ""},
		onHostKind{"wide", "wide", wide, func(typ grid.Type) []onHostCase {
			return casesOf(typ, some(typ, flats(), solids()[6:], steep()), 7901, 31744)
		}, true, "_wide_"},
		onHostKind{"ranked", "ranked", wide, func(typ grid.Type) []onHostCase {
			list := casesOf(typ, some(typ, flats(), solids()[6:], steep()), 31745, 65536)
			return append(list, overflowing(typ)...)
		}, true, "_ranked_"},
		onHostKind{"single", "", wide, func(typ grid.Type) []onHostCase {
			list := casesOf(typ, some(typ, flats(), solids(), steep()), 8, 300, 7900)
			if typ == grid.Float32 { // more levels than a block has counters for
				list = append(list, casesOf(typ, solids()[5:9], 100000)...)
			}
			return unusually(list, astray, uneven)
		}, false, "_single_"},
		onHostKind{"batch", "batch", all, func(typ grid.Type) []onHostCase {
			shapes := some(typ, flats(), solids(), steep())
			if typ == grid.Uint8 {
				return batched(append(casesOf(typ, shapes, 256), unusually(casesOf(typ, flats(), 8, 256), uneven)...))
			}
			return batched(casesOf(typ, shapes, 2, 1024))
		}, false, "_batch_"},
		onHostKind{"batch of singles", "batch", wide, func(typ grid.Type) []onHostCase {
			return batched(unusually(casesOf(typ, some(typ, flats(), solids(), steep()), 8, 300, 1024), astray, uneven))
		}, false, "_batch_single_"},
	)
}

// ends returns images with only the first and the last of the levels, at every border.
func ends(levels int64) map[string]func(z, y, x int64) int64 {
	of := scattered(2)
	return map[string]func(z, y, x int64) int64{
		"highest two": func(z, y, x int64) int64 { return levels - 1 - of(z, y, x) },
		"lowest two":  of,
		"both ends":   func(z, y, x int64) int64 { return (levels - 1) * of(z, y, x) },
	}
}

// atTheEnds returns some cases of more than a vector per row, with images of the first and last
// level. For integer types the last levels are the highest of the type.
func atTheEnds(list []onHostCase, typ grid.Type) (some []onHostCase) {
	kinds := []string{"highest two", "lowest two", "both ends"}
	seen := map[string]int{}
	for _, c := range list {
		if c.ladder != even || c.crowd != "" || c.shape.W < 33 || c.levels < 2 {
			continue
		}
		// Twice each of flat images and of others.
		flat := fmt.Sprint(c.shape.D == 1)
		if seen[flat] == 2*len(kinds) {
			continue
		}
		c.crowd = kinds[seen[flat]%len(kinds)]
		if typ != grid.Float32 {
			c.lo = least(typ) + 1<<(8*typ.Size()) - c.levels
		}
		seen[flat]++
		some = append(some, c)
	}
	return some
}

// early returns a third of the cases, with the first levels below the values of the type.
func early(list []onHostCase) (third []onHostCase) {
	for i, c := range list {
		if i%3 == 0 && c.levels > 6 && c.ladder == even && c.crowd == "" {
			c.levels, c.ladder = c.levels-5, before
			third = append(third, c)
		}
	}
	return third
}

// unusually returns cases on fewer levels than values, with the given spacings in turn.
func unusually(list []onHostCase, ways ...spacing) []onHostCase {
	for i := range list {
		list[i].levels = (list[i].levels - 3) * 4 / 5
		list[i].ladder = ways[i%len(ways)]
	}
	return list
}

// batched returns cases with as many images as blocks, with more, and with fewer.
func batched(list []onHostCase) []onHostCase {
	for i := range list {
		list[i].images = 1 + int64(i)%4
	}
	return list
}

func TestFaultsPlantedShowOnHost(t *testing.T) {
	var seen []string
	for _, kind := range onHostKinds() {
		typ, name := kind.faulty()
		if slices.Contains(seen, name) {
			continue
		}
		seen = append(seen, name)
		for _, fault := range source.Faults(name) {
			t.Run(kind.label+"/"+fault, func(t *testing.T) {
				t.Parallel()
				program := hosttest.Program(t, name)
				for c, err := range kind.failures(t, program, fault, typ) {
					if strings.Contains(err.Error(), "no such kernel") { // a fault is only in some kernels of a source
						continue
					}
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

// The images of the suite, also with swapped axes if the suite requests it, expose planted faults
// in the most frequent kernels.
func TestSuiteCatchesFaultsPlantedInKernels(t *testing.T) {
	const name = "ecc_extrema_float32"
	var images []*grid.Field
	for _, c := range ecctest.Cases(t) {
		if c.Field.Type() != grid.Float32 {
			continue
		}
		images = append(images, c.Field)
		for _, law := range ecc.Laws() {
			if law.Name != "swap of the fastest axes" {
				continue
			}
			_, err := law.Check(c.Field, ecc.Enumerate(c.Field), func(in grid.Source) (ecc.VCEC, error) {
				f, err := grid.Load(in)
				if err != nil {
					return nil, err
				}
				images = append(images, f)
				return ecc.Enumerate(f), nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, fault := range source.Faults(name) {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			program := hosttest.Program(t, name)
			for _, in := range images {
				k := onHostKernels{program: program, fault: fault, in: in, small: true}
				err := k.arranged(t, []ecc.VCEC{ecc.Enumerate(in)}, []arrangement{{2, 0}})
				if errors.As(err, &disagreement{}) {
					t.Logf("%v: %v", in.Shape(), err)
					return
				}
			}
			t.Error("no image of the suite shows it")
		})
	}
}

// A kernel fails if it gets less memory than it accesses: after the image, or for the planes of the
// last warp.
func TestSlicedOnHostKeepToTheirMemory(t *testing.T) {
	t.Parallel()
	const warp = 3 * 16 * 144
	program := hosttest.Program(t, "ecc_extrema_sliced_uint8")
	in := imageFrom(t, grid.Shape{D: 3, H: 16, W: 256}, grid.Uint8, 0, 5, scattered(5))
	want := ecc.Enumerate(in)
	for what, k := range map[string]onHostKernels{
		"the image's memory": {withheld: gpu.Guard(in)},
		"shared memory":      {withheldShared: 11*warp + 16},
	} {
		k.program, k.fault, k.in, k.level = program, "none", in, true
		if err := k.arranged(t, []ecc.VCEC{want}, []arrangement{{1, 0}}); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("without bytes of %s: %v", what, err)
		}
	}
}
