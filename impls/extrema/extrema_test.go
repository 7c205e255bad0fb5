package extrema_test

import (
	"fmt"
	"testing"

	"eccbench/datasets"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/ecc"
	"eccbench/internal/ecc/ecctest"
	"eccbench/internal/grid"
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
			if err := (extrema.Implementation{}).CanDo(constant(t), bench.Conditions{ISA: isa}); err != nil {
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
	each(t, func(t *testing.T, isa string) {
		for _, rows := range []int64{1, 3} {
			if failing := ecctest.Failures(t, on{extrema.InStrips(rows), isa}); len(failing) > 0 {
				t.Errorf("strips of %d rows: %d cases fail, such as %s", rows, len(failing), failing[0])
			}
		}
	})
}

func FuzzConformance(f *testing.F) { ecctest.Fuzz(f, extrema.Implementation{}) }

func TestSuiteCatchesPlantedFaults(t *testing.T) {
	each(t, func(t *testing.T, isa string) {
		for _, fault := range extrema.Faults() {
			t.Run(string(fault), func(t *testing.T) {
				failing := ecctest.Failures(t, on{extrema.Faulty(fault), isa})
				if len(failing) == 0 {
					t.Fatal("no case of the suite fails")
				}
				t.Logf("%d cases fail, such as %s", len(failing), failing[0])
			})
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
		src, err := datasets.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		f, err := grid.Load(src)
		if err != nil {
			b.Fatal(err)
		}
		for _, isa := range extrema.Available() {
			b.Run(fmt.Sprintf("%s/%s", name, isa), func(b *testing.B) {
				job, err := extrema.Implementation{}.Setup(f, bench.Conditions{Scope: bench.E2E, Threads: 1, ISA: isa})
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
