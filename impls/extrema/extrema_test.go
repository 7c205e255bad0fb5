package extrema_test

import (
	"fmt"
	"slices"
	"testing"

	"eccbench/datasets"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// on is an implementation restricted to one instruction set.
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

// each runs a test with every instruction set of this machine, and logs the missing ones.
func each(t *testing.T, f func(t *testing.T, isa string)) {
	for _, isa := range extrema.ISAs() {
		t.Run(isa, func(t *testing.T) {
			if err := (extrema.Implementation{}).CanDo(constant(t), bench.Conditions{Setting: bench.Setting{ISA: isa}}); err != nil {
				t.Skip(err)
			}
			if race.Enabled && isa == "avx2" {
				t.Skip("the goroutines are those of the others")
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

// Strips of few rows also divide small images.
func TestConformanceInStrips(t *testing.T) {
	each(t, func(t *testing.T, isa string) {
		heights := []int64{1, 3} // the cuts do not depend on instructions
		if testing.Short() || race.Enabled || isa != extrema.Available()[0] {
			heights = heights[:1]
		}
		for _, rows := range heights {
			if failing := ecctest.Failures(t, on{extrema.InStrips(rows), isa}); len(failing) > 0 {
				t.Errorf("strips of %d rows: %d cases fail, such as %s", rows, len(failing), failing[0])
			}
		}
	})
}

func FuzzConformance(f *testing.F) { ecctest.Fuzz(f, extrema.Implementation{}) }

// Values are on levels, next to them, between them, and below all of them. Every instruction set is
// tested, with levels that float32 arithmetic gives and with others.
func TestValuesAroundLevels(t *testing.T) {
	for _, field := range ecctest.AroundLevels(t) {
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
				t.Errorf("%v, %s: %v, %d changes, want %d", field.Ladder(), isa, err, len(got), len(want))
			}
		}
	}
}

// FuzzInstructionSets compares every instruction set of this machine with the portable code. Images
// have many vectors and a remainder; values are on levels or between them.
func FuzzInstructionSets(f *testing.F) {
	f.Add(uint16(130), uint8(5), uint8(3), uint8(0), uint16(256), uint64(1))
	f.Add(uint16(64), uint8(9), uint8(1), uint8(3), uint16(255), uint64(2))
	f.Add(uint16(257), uint8(3), uint8(4), uint8(1), uint16(1000), uint64(3))
	f.Add(uint16(95), uint8(4), uint8(2), uint8(2), uint16(65535), uint64(4))
	f.Add(uint16(33), uint8(4), uint8(2), uint8(3), uint16(65535), uint64(5))
	f.Fuzz(func(t *testing.T, w uint16, h, d, typ uint8, levels uint16, seed uint64) {
		shape := grid.Shape{D: 1 + int64(d%6), H: 1 + int64(h%24), W: 1 + int64(w%400)}
		element := grid.Types()[int(typ)%len(grid.Types())]
		field := gridtest.Drawn(t, shape, element, levels, seed)
		var want ecc.VCEC
		isas := extrema.Available()
		for i := range isas {
			isa := isas[len(isas)-1-i] // the portable code first
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
				t.Fatalf("%v %v %v: %s gives %v, without vector instructions it is %v", shape, element, field.Ladder(), isa, got, want)
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
