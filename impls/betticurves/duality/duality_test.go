package duality_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/impls/betti/definition"
	"eccbench/impls/betti/labels"
	"eccbench/impls/betticurves/bylevel"
	"eccbench/impls/betticurves/duality"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc/ecctest"
)

func ours(box int64) duality.Implementation {
	return duality.InBoxes(duality.Implementation{Counter: extrema.Implementation{}}, box)
}

func answer(t testing.TB, i bench.Implementation[grid.Source, betti.Curves], in grid.Source, threads int) betti.Curves {
	t.Helper()
	c, err := bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// random returns an image of a random shape with few levels, so that there are flats.
func random(t testing.TB, rng *rand.Rand, most int64) *grid.Field {
	side := func() int64 { return 1 + rng.Int64N(most) }
	shape := grid.Shape{D: side(), H: side(), W: side()}
	if rng.IntN(4) == 0 { // more than a word
		shape.W += 60
	}
	return gridtest.Drawn(t, shape, grid.Types()[rng.IntN(4)], uint16(2+rng.IntN(12)), rng.Uint64())
}

// Tiny images agree with the ranks of their boundary matrices at every level, for any boxes and any
// number of cores.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		in := random(t, rng, 5)
		if in.Ladder().Len() > 1<<16 {
			continue
		}
		want := answer(t, bylevel.Implementation{Of: definition.Implementation{}}, in, 1)
		if got := answer(t, bylevel.Implementation{Of: labels.Implementation{}}, in, 1); !slices.Equal(got, want) {
			t.Fatalf("labels: %v of %v, want %v", got, in.Shape(), want)
		}
		for _, box := range []int64{0, 8, 27, 64} {
			for threads := 1; threads < 4; threads++ {
				if got := answer(t, ours(box), in, threads); !slices.Equal(got, want) {
					t.Fatalf("%v of %v %v in boxes of %d on %d cores, want %v", got, in.Shape(), in.Type(), box, threads, want)
				}
			}
		}
	}
}

// Every instruction set gives the same answer, and a missing one is rejected.
func TestInstructionSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	of := func(name string) bench.Conditions {
		return bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2, ISA: name}}
	}
	for range 40 {
		in := random(t, rng, 12)
		want := answer(t, ours(500), in, 1)
		for _, name := range ours(0).About().ISAs {
			if got, err := bench.Answer[grid.Source](ours(500), in, of(name)); err != nil || !slices.Equal(got, want) {
				t.Fatalf("%s: %v, %v of %v, want %v", name, got, err, in.Shape(), want)
			}
		}
	}
	in := random(t, rng, 5)
	if err := ours(0).CanDo(in, of("altivec")); err == nil {
		t.Error("altivec is taken")
	}
	if _, err := ours(0).Setup(in, of("altivec")); err == nil {
		t.Error("altivec is set up")
	}
}

func BenchmarkDuality(b *testing.B) {
	for _, image := range []string{"noise/shape=256x256x256/type=uint8/seed=1", "grf/shape=256x256x256/type=uint8/smooth=2.5/seed=1", "grf/shape=128x128x128/type=float32/levels=100000/smooth=2.5/seed=1"} {
		_, in := ecctest.Open(b, image)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", image[:5], threads), func(b *testing.B) {
				job, err := ours(0).Setup(in, bench.Conditions{Setting: bench.Setting{Threads: threads}})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := job.Do(nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(in.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvox/s")
			})
		}
	}
}
