// Package ecctest is the conformance suite of the Euler characteristic curve. An implementation
// calls Run from its test, in one line, and Fuzz from its fuzz target. Answers are compared with
// the enumeration of all cells (ecc.Enumerate), which shares no code with any implementation.
package ecctest

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/race"
	"eccbench/internal/shard"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/kernels/faults"
	"eccbench/kernels/source"
)

type implementation = bench.Implementation[grid.Source, ecc.VCEC]

// LongSuites is the environment variable that selects the long suites: 1 for all their cases, or
// i/n for shard i of n. make test-long sets it.
const LongSuites = "ECCBENCH_LONG"

// Long reports whether the long suites run.
func Long() bool { return os.Getenv(LongSuites) != "" && !testing.Short() }

// Part returns the cases of the long suites that run now.
func Part[C any](cases []C) []C {
	if !Long() {
		return nil
	}
	s, err := shard.Parse(os.Getenv(LongSuites), os.Getenv)
	if err != nil {
		return cases
	}
	return shard.Select(s, cases)
}

// A Case is one image of the suite, shared by all tests.
type Case struct {
	Name  string
	Field *grid.Field
	want  func() ecc.VCEC // the enumeration of all cells, counted once
	other func() other
}

// An other image is of the same shape, type and ladder as a case, and of the same voxels
// in another order.
type other struct {
	data []byte
	want ecc.VCEC
}

func newCase(name string, f *grid.Field) Case {
	return Case{name, f, sync.OnceValue(func() ecc.VCEC { return ecc.Enumerate(f) }), sync.OnceValue(func() other { return shuffled(f) })}
}

func shuffled(f *grid.Field) other {
	g := owned(f)
	rng := rand.New(rand.NewPCG(uint64(f.Shape().Voxels()), 1))
	size := f.Type().Size()
	for i, j := range rng.Perm(int(f.Shape().Voxels())) {
		copy(g.Data()[int64(i)*size:][:size], f.Data()[int64(j)*size:])
	}
	return other{g.Data(), ecc.Enumerate(g)}
}

// owned is a copy of a field, which may be changed.
func owned(f *grid.Field) *grid.Field {
	data := grid.NewBuffer(int64(len(f.Data())))
	copy(data, f.Data())
	g, err := grid.NewField(f.Shape(), f.Type(), data, f.Ladder())
	if err != nil {
		panic(err) // it was one
	}
	return g
}

// Cases returns the adversarial inputs, and images that no name describes: tables of levels for
// every type, levels between values, and one level for each voxel.
func Cases(t testing.TB) []Case {
	t.Helper()
	list, err := cases()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var cases = sync.OnceValues(makeCases)

func makeCases() (list []Case, err error) {
	for _, name := range ecc.Adversarial() {
		src, err := datasets.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		f, err := grid.Load(src)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list = append(list, newCase(name, f))
	}
	for _, shape := range []grid.Shape{{D: 1, H: 23, W: 29}, {D: 7, H: 11, W: 6}} {
		for _, typ := range grid.Types() {
			for _, c := range []struct {
				what   string
				below  uint32
				ladder func([]float32) (grid.Ladder, error)
			}{
				{"table of distinct values", 0, distinct}, {"levels between values", 0, coarse},
				{"levels above some values", 50, late}, {"levels below all values", 50, soon},
			} {
				name := fmt.Sprintf("%s, %v %v", c.what, shape, typ)
				f, err := random(shape, typ, c.below, c.ladder)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				list = append(list, newCase(name, f))
			}
		}
	}
	return list, nil
}

// distinct is the ladder of the values that occur.
func distinct(values []float32) (grid.Ladder, error) {
	v := slices.Clone(values)
	slices.Sort(v)
	return grid.Table(slices.Compact(v))
}

// coarse returns a ladder of nine levels with few values on them, the last at or above all values.
func coarse(values []float32) (grid.Ladder, error) {
	lo, hi := float64(slices.Min(values)), float64(slices.Max(values))
	return grid.Affine(lo+(hi-lo)/16, (hi-lo)/8, 9)
}

// late returns a ladder of integers. Its first levels are above some of the values 0 to 49, its
// last ones far above all.
func late([]float32) (grid.Ladder, error) { return grid.Affine(5, 1, 100) }

// soon returns a ladder whose first levels are below those values, and below the range of unsigned
// types.
func soon([]float32) (grid.Ladder, error) { return grid.Affine(-5, 1, 100) }

// random is an image of any values, or of the integers from 0 below a number.
func random(shape grid.Shape, typ grid.Type, below uint32, ladder func([]float32) (grid.Ladder, error)) (*grid.Field, error) {
	rng := rand.New(rand.NewPCG(uint64(shape.Voxels()), uint64(typ)))
	data := grid.NewBuffer(shape.Voxels() * typ.Size())
	values := make([]float32, shape.Voxels())
	bits := func() uint32 {
		if below > 0 {
			return rng.Uint32() % below
		}
		return rng.Uint32()
	}
	for i := range values {
		switch typ {
		case grid.Uint8:
			v := uint8(bits())
			data[i], values[i] = v, float32(v)
		case grid.Int16:
			v := int16(bits())
			grid.Values[int16](data)[i], values[i] = v, float32(v)
		case grid.Uint16:
			v := uint16(bits())
			grid.Values[uint16](data)[i], values[i] = v, float32(v)
		case grid.Float32:
			v := float32(rng.NormFloat64())
			if below > 0 {
				v = float32(bits())
			}
			grid.Values[float32](data)[i], values[i] = v, v
		}
	}
	l, err := ladder(values)
	if err != nil {
		return nil, err
	}
	return grid.NewField(shape, typ, data, l)
}

// streamed hides that a field is whole in memory, and counts how often its slices are
// read.
type streamed struct {
	grid.Source
	reads []atomic.Int64
}

func newStreamed(s grid.Source) *streamed {
	return &streamed{s, make([]atomic.Int64, s.Shape().Slices())}
}

func (s *streamed) ReadSlab(dst []byte, lo, hi int64) error {
	for i := max(0, lo); i < min(hi, int64(len(s.reads))); i++ {
		s.reads[i].Add(1)
	}
	return s.Source.ReadSlab(dst, lo, hi)
}

// unread returns the first slice that was not read since the last call, or -1.
func (s *streamed) unread() int {
	first := -1
	for i := range s.reads {
		if s.reads[i].Swap(0) == 0 && first < 0 {
			first = i
		}
	}
	return first
}

// A way is the setting in which the suite runs an implementation.
type way struct {
	name    string
	threads int
	scope   bench.Scope
}

func ways() []way {
	return []way{
		{"in memory, 1 thread", 1, bench.E2E}, {"in memory, 3 threads", 3, bench.E2E},
		{"streamed, 2 threads", 2, bench.File}, {"resident on a device", 1, bench.Device},
	}
}

// Run tests an implementation against the enumeration of all cells, the closed forms and the laws.
// It runs every case in memory and streamed, with one thread and several. It also checks that
// poison is seen, answers repeat, the whole image is read anew, and the input stays unchanged.
func Run(t *testing.T, impl implementation) { run(t, impl, func(Case) bool { return false }) }

// RunOnceByLevel is Run for implementations whose cost grows with the levels. A case of many levels
// runs once, in memory, and not at all in a short run.
func RunOnceByLevel(t *testing.T, impl implementation) {
	run(t, impl, func(c Case) bool {
		levels := c.Field.Ladder().Len()
		return levels > many || levels*c.Field.Shape().Voxels() > much
	})
}

// RunOnceByLevel runs a case once above these numbers of levels, and of levels × voxels.
const many, much = 5000, 1 << 22

// beyondRace reports whether a case has too many levels for the race detector, under which the
// reference takes minutes.
func beyondRace(c Case) bool { return race.Enabled && c.Field.Ladder().Len() > many }

// run is Run for an implementation that takes long for some cases.
func run(t *testing.T, impl implementation, slow func(Case) bool) {
	for _, c := range Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			if beyondRace(c) {
				t.Skip("under the race detector this many levels take the reference minutes, and race no more than few do")
			}
			late := slow(c)
			if late && testing.Short() {
				t.Skipf("%d levels of %v take it long", c.Field.Ladder().Len(), c.Field.Shape())
			}
			want := c.want()
			if known, ok := ecc.KnownCurve(c.Name, c.Field); ok && !slices.Equal(known, want) {
				t.Fatalf("closed form %v, enumeration of all cells %v", known, want)
			}
			before, err := gridtest.Digest(c.Field)
			if err != nil {
				t.Fatal(err)
			}
			if late {
				got, err := bench.Answer[grid.Source, ecc.VCEC](impl, c.Field, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}})
				if err != nil {
					t.Error(err)
				} else if d := ecc.Policy().Agree(c.Field, want, got); d != nil {
					t.Errorf("enumeration of all cells: %v\n%s", d, d.Context)
				}
			} else {
				for _, w := range ways() {
					if err := conforms(impl, c, w, want); err != nil {
						t.Errorf("%s: %v", w.name, err)
					}
				}
			}
			if after, err := gridtest.Digest(c.Field); err != nil || after != before {
				t.Errorf("the input changed: digest %s, then %s (%v)", before, after, err)
			}
		})
	}
}

// failures yields the names of the cases with a wrong answer. A case without an answer is no
// failure.
func failures(t testing.TB, impl implementation) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, c := range Cases(t) {
			if beyondRace(c) {
				continue
			}
			for _, w := range ways() {
				if errors.As(conforms(impl, c, w, c.want()), new(wrong)) && !yield(c.Name+", "+w.name) {
					return
				}
			}
		}
	}
}

// Failures returns the names of the cases with a wrong answer, for tests of the suite itself. A
// case without an answer is no failure.
func Failures(t testing.TB, impl implementation) []string {
	return slices.Collect(failures(t, impl))
}

// Catches requires that some case shows an implementation to be wrong, and stops at the first.
func Catches(t testing.TB, impl implementation) {
	t.Helper()
	for first := range failures(t, impl) {
		t.Logf("shown by %s", first)
		return
	}
	t.Error("no case of the suite fails")
}

// CatchesPlanted plants each fault of a source in an implementation on a device, and requires that
// a case shows it.
func CatchesPlanted(t *testing.T, name string, with func(ptx func(string) ([]byte, error)) bench.Implementation[grid.Source, ecc.VCEC]) {
	planted := source.FaultsOnDevice(name)
	if len(planted) == 0 {
		t.Fatalf("no fault is planted in %s", name)
	}
	for _, fault := range planted {
		t.Run(fault, func(t *testing.T) { Catches(t, with(faults.PTX(fault))) })
	}
}

// wrong is an answer that is not right, apart from none at all.
type wrong struct{ error }

// conforms runs a case twice in one way, and once more after another image has replaced the first,
// unless the image is resident. A streamed image must be read whole each time.
func conforms(impl implementation, c Case, w way, want ecc.VCEC) error {
	image := owned(c.Field)
	var in grid.Source = image
	var read *streamed
	conditions := bench.Conditions{Setting: bench.Setting{Scope: w.scope, Threads: w.threads}}
	if w.scope == bench.File {
		read = newStreamed(image)
		in = read
	}
	if !slices.Contains(impl.About().Scopes, conditions.Scope) {
		return nil
	}
	if err := impl.CanDo(in, conditions); err != nil {
		return fmt.Errorf("refuses: %w", err)
	}
	policy := ecc.Policy()
	job, err := impl.Setup(in, conditions)
	if err != nil {
		return err
	}
	defer job.Close()
	ask := func(want ecc.VCEC) error { return answersOnce(job, policy, in, read, want) }
	for range 2 {
		if err := ask(want); err != nil {
			return err
		}
	}
	if !bytes.Equal(image.Data(), c.Field.Data()) {
		return wrong{errors.New("it wrote to its input")}
	}
	if w.scope != bench.Device {
		other := c.other()
		copy(image.Data(), other.data)
		if err := ask(other.want); err != nil {
			return fmt.Errorf("another image in the place of the first: %w", err)
		}
		copy(image.Data(), c.Field.Data())
	}
	// The laws need many calls. One thread suffices for them, and it cannot race.
	if w.threads > 1 || race.Enabled {
		return nil
	}
	return lawful(impl, c, in, conditions, want)
}

// answersOnce does a job and compares its answer. read is the image if it is streamed, or nil.
func answersOnce(job bench.Job[ecc.VCEC], policy verify.Policy[grid.Source, ecc.VCEC], in grid.Source, read *streamed,
	want ecc.VCEC) error {
	job.Poison()
	poisoned, err := job.Out()
	if err == nil && policy.Agree(in, want, poisoned) == nil {
		return fmt.Errorf("poison is not seen: the right answer comes before the question")
	}
	if read != nil {
		read.unread()
	}
	if err := job.Do(nil); err != nil {
		return err
	}
	out, err := job.Out()
	if err != nil {
		return err
	}
	if d := policy.Agree(in, want, out); d != nil {
		return wrong{fmt.Errorf("enumeration of all cells: %v\n%s", d, d.Context)}
	}
	if read != nil {
		if slice := read.unread(); slice >= 0 {
			return wrong{fmt.Errorf("slice %d was not read", slice)}
		}
	}
	return nil
}

// lawful checks the laws of an implementation's answers.
func lawful(impl implementation, c Case, in grid.Source, conditions bench.Conditions, want ecc.VCEC) error {
	policy := ecc.Policy()
	if testing.Short() && in.Shape().Voxels() > 1000 {
		policy.Laws = slices.DeleteFunc(policy.Laws, func(l verify.Law[grid.Source, ecc.VCEC]) bool { return l.Calls > 2 })
	}
	for _, e := range policy.Check(verify.Question[grid.Source, ecc.VCEC]{
		Name: c.Name, In: in, Out: want, Thorough: true, Budget: 1 << 62,
		Ask: func(in grid.Source) (ecc.VCEC, error) { return bench.Answer(impl, in, conditions) },
	}) {
		if e.Diff != nil {
			return wrong{fmt.Errorf("%s: %v", e.Witness, e.Diff)}
		}
		if !e.Passed {
			return fmt.Errorf("%s: %s", e.Witness, e.Note)
		}
	}
	return nil
}

// Fuzz holds an implementation against the enumeration on small images drawn by
// the fuzzer.
func Fuzz(f *testing.F, impl implementation) {
	f.Add(uint8(3), uint8(4), uint8(5), uint8(0), uint8(1), []byte{0, 1, 2, 3, 1, 0})
	f.Add(uint8(9), uint8(1), uint8(2), uint8(3), uint8(2), []byte{7, 7, 7})
	f.Add(uint8(6), uint8(7), uint8(1), uint8(1), uint8(3), []byte{255, 0, 128})
	f.Fuzz(func(t *testing.T, w, h, d, typ, threads uint8, values []byte) {
		shape := grid.Shape{D: 1 + int64(d%8), H: 1 + int64(h%12), W: 1 + int64(w%20)}
		element := grid.Types()[int(typ)%len(grid.Types())]
		ladder, err := grid.Affine(-100, 0.125, 8*400)
		if err != nil {
			t.Fatal(err)
		}
		field := gridtest.Image(t, shape, element, ladder, func(i int64) float64 {
			v := uint8(i * i)
			if len(values) > 0 {
				v = values[i%int64(len(values))]
			}
			switch element {
			case grid.Int16:
				return float64(v) - 100
			case grid.Float32:
				return float64(v) / 8
			}
			return float64(v)
		})
		c := newCase("drawn by the fuzzer", field)
		for _, w := range []way{{"in memory", 1 + int(threads%5), bench.E2E}, {"streamed", 1 + int(threads%3), bench.File}} {
			if err := conforms(impl, c, w, c.want()); err != nil {
				t.Fatalf("%s, %v %v: %v", w.name, shape, element, err)
			}
		}
	})
}
