package extrema_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc/ecctest"
)

// A vast source is of a shape alone.
type vast struct{ grid.Source }

func (vast) Shape() grid.Shape { return grid.Shape{D: 9, H: 1 << 13, W: 1 << 13} }

// A step is of two planes, so that a slab has two slices however large they are.
func TestSlabsHaveAStep(t *testing.T) {
	for threads := 1; threads < 5; threads++ {
		if n := extrema.Slab(vast{constant(t)}, threads); n != 2 {
			t.Errorf("%d cores: slabs of %d slices, want 2", threads, n)
		}
	}
}

// A row says that its levels were searched for, where they were.
func TestSearchedLevelsAreFlagged(t *testing.T) {
	uneven, err := grid.Table([]float32{0, 1, 3, 7})
	if err != nil {
		t.Fatal(err)
	}
	even, err := grid.Affine(0, 1, 8)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		want   []string
	}{{grid.Float32, uneven, []string{"levels=searched"}}, {grid.Float32, even, nil}, {grid.Uint8, uneven, nil}} {
		shape := grid.Shape{D: 1, H: 2, W: 2}
		f, err := grid.NewField(shape, c.typ, grid.NewBuffer(shape.Voxels()*c.typ.Size()), c.ladder)
		if err != nil {
			t.Fatal(err)
		}
		job, err := extrema.Implementation{}.Setup(f, bench.Conditions{Setting: bench.Setting{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := job.(bench.Flagged).Flags(); !slices.Equal(got, c.want) {
			t.Errorf("%v: flags %q, want %q", c.typ, got, c.want)
		}
	}
}

// A set of instructions that there is not is refused by whoever asks for it.
func TestUnknownInstructions(t *testing.T) {
	c := bench.Conditions{Setting: bench.Setting{Threads: 1, ISA: "avx3"}}
	if err := (extrema.Implementation{}).CanDo(constant(t), c); err == nil {
		t.Error("can be done")
	}
	if job, err := (extrema.Implementation{}).Setup(constant(t), c); job != nil || err == nil {
		t.Errorf("%v, %v", job, err)
	}
}

// Where changes are gathered a voxel may change a level of its own: what that takes at most is in
// what a job needs.
func TestMemoryOfTallies(t *testing.T) {
	image := func(d int64, l grid.Ladder) *grid.Field {
		return ecctest.Image(t, grid.Shape{D: d, H: 30, W: 50}, grid.Float32, l, func(int64) float64 { return 0 })
	}
	few, err := grid.Affine(0, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ladder grid.Ladder
		voxel  int64
	}{{grid.Identity(grid.Float32), 32}, {few, 0}} {
		if got, want := extrema.Memory(image(200, c.ladder), 2)-extrema.Memory(image(100, c.ladder), 2), 100*30*50*c.voxel; got != want {
			t.Errorf("%v: 100 planes more take %d bytes more, want %d", c.ladder, got, want)
		}
	}
}

// What a job is expected to allocate before it counts it does, within a tenth: with tables for each
// core and with one for all, with tallies, in memory and streamed.
func TestMemoryIsWhatIsAllocated(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates, too")
	}
	for _, name := range []string{
		"noise/shape=300x200x20/levels=256/type=uint8/seed=1", "noise/shape=64x64x64/levels=1000000/type=float32/seed=1", "noise/shape=64x64x16/levels=4000000/type=float32/seed=1",
		"noise/shape=3000x200/levels=1024/type=float32/seed=1", "noise/shape=3000x200/levels=60000/type=float32/seed=1", "every/noise/shape=300x300x10/levels=1024/type=float32/seed=1",
	} {
		name, every := strings.CutPrefix(name, "every/")
		made, whole := ecctest.Open(t, name)
		after := int64(0) // what comes as levels are found
		if every {
			f, err := grid.Trusted(whole.Shape(), whole.Type(), whole.Data(), grid.Identity(grid.Float32))
			if err != nil {
				t.Fatal(err)
			}
			made, whole, after = everyValue{made}, f, 32*whole.Shape().Voxels()
		}
		for _, in := range []grid.Source{made, whole} {
			for _, threads := range []int{1, 3} {
				want := extrema.Memory(in, threads) - after
				least := int64(1 << 62) // of a few, because the runtime allocates too
				for range 3 {
					var before, then runtime.MemStats
					runtime.ReadMemStats(&before)
					if _, err := (extrema.Implementation{}).Setup(in, bench.Conditions{Setting: bench.Setting{Threads: threads}}); err != nil {
						t.Fatal(err)
					}
					runtime.ReadMemStats(&then)
					least = min(least, int64(then.TotalAlloc-before.TotalAlloc))
				}
				if apart := least - want; apart > want/10+65536 || apart < -want/10-65536 {
					t.Errorf("%s, in memory %v, %d cores: %d bytes allocated, %d expected", name, in == grid.Source(whole), threads, least, want)
				}
			}
		}
	}
}
