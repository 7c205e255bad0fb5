package duality_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"eccbench/impls/betti/definition"
	"eccbench/impls/betti/duality"
	"eccbench/impls/betti/labels"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
)

func answer(t testing.TB, i bench.Implementation[*betti.Image, betti.Numbers], in *betti.Image, threads int) betti.Numbers {
	t.Helper()
	n, err := bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// random returns an image of a random shape and density.
func random(t testing.TB, rng *rand.Rand, most int64) *betti.Image {
	side := func() int64 { return 1 + rng.Int64N(most) }
	shape := grid.Shape{D: side(), H: side(), W: side()}
	if rng.IntN(3) == 0 { // more than a word
		shape.W += 60
	}
	data := grid.NewBuffer(shape.Voxels())
	for i := range data {
		data[i] = byte(rng.IntN(256))
	}
	f, err := grid.NewField(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return &betti.Image{Source: f, Threshold: float32(rng.IntN(256))}
}

// Tiny images of every density agree with the ranks of their boundary matrices, on any number of
// cores.
func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		in := random(t, rng, 6)
		want := answer(t, definition.Implementation{}, in, 1)
		if got := answer(t, labels.Implementation{}, in, 1); got != want {
			t.Fatalf("labels: %v of %v not above %v, want %v", got, in.Shape(), in.Threshold, want)
		}
		for threads := 1; threads < 5; threads++ {
			for planes := range int64(4) {
				if got := answer(t, duality.InWindows(planes), in, threads); got != want {
					t.Fatalf("%v of %v not above %v on %d cores, in windows of %d planes, want %v", got, in.Shape(), in.Threshold, threads, planes, want)
				}
			}
		}
	}
}

// Larger images agree with plain labels.
func TestLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 100 {
		in := random(t, rng, 40)
		want := answer(t, labels.Implementation{}, in, 1)
		for _, threads := range []int{1, 2, 3, 7} {
			for _, planes := range []int64{0, 1, 2, 5} {
				if got := answer(t, duality.InWindows(planes), in, threads); got != want {
					t.Fatalf("%v of %v not above %v on %d cores, in windows of %d planes, want %v", got, in.Shape(), in.Threshold, threads, planes, want)
				}
			}
		}
	}
}

func BenchmarkDuality(b *testing.B) {
	for _, image := range []string{"noise/shape=256x256x256/type=uint8/seed=1", "grf/shape=256x256x256/type=uint8/smooth=2.5/seed=1", "ball/shape=256x256x256/type=uint8", "serpent/shape=256x256x256/type=uint8"} {
		in, err := betti.Inputs{}.Open(betti.NameOf(-1, image))
		if err != nil {
			b.Fatal(err)
		}
		f, err := grid.Load(in.Source)
		if err != nil {
			b.Fatal(err)
		}
		in.Source = f
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/%d", image[:5], threads), func(b *testing.B) {
				job, err := duality.Implementation{}.Setup(in, bench.Conditions{Setting: bench.Setting{Threads: threads}})
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
