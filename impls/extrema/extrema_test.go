package extrema_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/datasets"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// on is an implementation held to one instruction set.
type on struct {
	extrema.Implementation
	isa string
}

func (o on) CanDo(in grid.Source, c bench.Conditions) error {
	c.ISA = o.isa
	return o.Implementation.CanDo(in, c)
}

func (o on) Setup(in grid.Source, c bench.Conditions) (bench.Job[ecc.VCEC], error) {
	c.ISA = o.isa
	return o.Implementation.Setup(in, c)
}

// each runs a test with every instruction set of this machine, and says which it
// lacks.
func each(t *testing.T, f func(t *testing.T, isa string)) {
	for _, isa := range extrema.ISAs() {
		t.Run(isa, func(t *testing.T) {
			if err := (extrema.Implementation{}).CanDo(constant(t), bench.Conditions{Setting: bench.Setting{ISA: isa}}); err != nil {
				t.Skip(err)
			}
			f(t, isa)
		})
	}
}

func constant(t testing.TB) grid.Source {
	t.Helper()
	src, err := datasets.Open("constant/shape=1x1/type=uint8")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestConformance(t *testing.T) {
	each(t, func(t *testing.T, isa string) { ecctest.Run(t, on{extrema.Implementation{}, isa}) })
}

// Strips of few rows meet inside small images.
func TestConformanceInStrips(t *testing.T) {
	heights := []int64{1, 3}
	if testing.Short() {
		heights = heights[:1]
	}
	each(t, func(t *testing.T, isa string) {
		for _, rows := range heights {
			if failing := ecctest.Failures(t, on{extrema.InStrips(rows), isa}); len(failing) > 0 {
				t.Errorf("strips of %d rows: %d cases fail, such as %s", rows, len(failing), failing[0])
			}
		}
	})
}

func FuzzConformance(f *testing.F) { ecctest.Fuzz(f, extrema.Implementation{}) }

// Values on levels, a rounding beside them, anywhere between, and below all of them, by
// every instruction set, where float32 arithmetic gives the levels and where it does not.
func TestValuesAroundLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range []struct {
		lo, step float64
		n        int64
	}{{0, 1. / 1024, 1024}, {0, 0.1, 200}, {-3.3, 0.1, 256}, {-1e6, 1. / 3, 60000}, {-4, 0.001, 70000}, {1, 1.3e-7, 50}, {5, 1, 1}, {-7, 2, 2}, {0, 1e-42, 99}} {
		ladder, err := grid.Affine(l.lo, l.step, l.n)
		if err != nil {
			t.Fatal(err)
		}
		shape := grid.Shape{D: 1, H: 31, W: 213}
		data := grid.NewBuffer(4 * shape.Voxels())
		values := grid.Values[float32](data)
		for i := range values {
			at := ladder.Value(rng.Int64N(l.n))
			switch rng.IntN(8) {
			case 0:
				at = math.Nextafter32(at, float32(math.Inf(1)))
			case 1:
				at = math.Nextafter32(at, float32(math.Inf(-1)))
			case 2:
				at += float32((rng.Float64() - 0.5) * l.step)
			case 3:
				at -= float32(rng.Float64() * 3 * l.step)
			case 4:
				if rng.IntN(20) == 0 {
					at = -1e30
				}
			}
			values[i] = min(at, ladder.Value(l.n-1))
		}
		field, err := grid.NewField(shape, grid.Float32, data, ladder)
		if err != nil {
			t.Fatal(err)
		}
		want := ecc.Enumerate(field)
		for _, isa := range extrema.Available() {
			job, err := on{extrema.Implementation{}, isa}.Setup(field, bench.Conditions{Setting: bench.Setting{Threads: 2}})
			if err != nil {
				t.Fatal(err)
			}
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			got, err := job.Out()
			if err != nil || !slices.Equal(want, got) {
				t.Errorf("%+v, %s: %v, %d changes, want %d", l, isa, err, len(got), len(want))
			}
		}
	}
}

// FuzzInstructionSets holds every instruction set of this machine against the
// way without any, on images of many vectors and what is left of one, on levels
// that the values stand on and that they do not.
func FuzzInstructionSets(f *testing.F) {
	f.Add(uint16(130), uint8(5), uint8(3), uint8(0), uint16(256), uint64(1))
	f.Add(uint16(64), uint8(9), uint8(1), uint8(3), uint16(255), uint64(2))
	f.Add(uint16(257), uint8(3), uint8(4), uint8(1), uint16(1000), uint64(3))
	f.Add(uint16(95), uint8(4), uint8(2), uint8(2), uint16(65535), uint64(4))
	f.Add(uint16(33), uint8(4), uint8(2), uint8(3), uint16(65535), uint64(5))
	f.Fuzz(func(t *testing.T, w uint16, h, d, typ uint8, levels uint16, seed uint64) {
		shape := grid.Shape{D: 1 + int64(d%6), H: 1 + int64(h%24), W: 1 + int64(w%400)}
		element := grid.Types()[int(typ)%len(grid.Types())]
		top := float64(levels) + 1
		if element == grid.Uint8 {
			top = min(top, 256)
		}
		rng := rand.New(rand.NewPCG(seed, uint64(levels)))
		data := grid.NewBuffer(shape.Voxels() * element.Size())
		for i := range shape.Voxels() {
			v := rng.Float64() * top
			switch element {
			case grid.Uint8:
				data[i] = uint8(v)
			case grid.Int16:
				grid.Values[int16](data)[i] = int16(int(v) - 32768)
			case grid.Uint16:
				grid.Values[uint16](data)[i] = uint16(v)
			case grid.Float32:
				grid.Values[float32](data)[i] = float32(int(v)) / 3
			}
		}
		lo, step := 0.0, 1+float64(seed%3)/2 // at 1 every value stands on a level
		if element == grid.Int16 {
			lo = -32768
		} else if element == grid.Float32 {
			step /= 3
		}
		ladder, err := grid.Affine(lo, step, int64(levels)+1)
		if err != nil {
			t.Fatal(err)
		}
		field, err := grid.NewField(shape, element, data, ladder)
		if err != nil {
			t.Fatal(err)
		}
		var want ecc.VCEC
		isas := extrema.Available()
		for i := range isas {
			isa := isas[len(isas)-1-i] // Go alone first
			job, err := on{extrema.InStrips(int64(seed%7) + 1), isa}.Setup(field, bench.Conditions{Setting: bench.Setting{Threads: 1 + int(seed%3)}})
			if err != nil {
				t.Fatal(err)
			}
			if err := job.Do(nil); err != nil {
				t.Fatal(err)
			}
			got, err := job.Out()
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				want = got
			} else if !slices.Equal(want, got) {
				t.Fatalf("%v %v %v: %s gives %v, without vector instructions it is %v", shape, element, ladder, isa, got, want)
			}
		}
	})
}

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	each(t, func(t *testing.T, isa string) {
		for _, fault := range extrema.Faults() {
			t.Run(string(fault), func(t *testing.T) { ecctest.Catches(t, on{extrema.Faulty(fault), isa}) })
		}
	})
}

func BenchmarkCount(b *testing.B) {
	for _, name := range []string{
		"noise/shape=256x256x256/type=uint8/seed=1", "grf/shape=256x256x256/type=uint8/seed=1",
		"noise/shape=256x256x256/levels=1024/type=float32/seed=1", "grf/shape=256x256x256/levels=1024/type=float32/seed=1",
		"noise/shape=256x256x256/type=uint16/seed=1",
		"noise/shape=4096x4096/type=uint8/seed=1", "grf/shape=4096x4096/levels=1024/type=float32/seed=1",
	} {
		_, f := ecctest.Open(b, name)
		for _, isa := range extrema.Available() {
			b.Run(fmt.Sprintf("%s/%s", name, isa), func(b *testing.B) {
				job, err := extrema.Implementation{}.Setup(f, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1, ISA: isa}})
				if err != nil {
					b.Fatal(err)
				}
				defer job.Close()
				for b.Loop() {
					if err := job.Do(nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(f.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds(), "vox/s")
			})
		}
	}
}
