package extrema_test

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// Lanes are no wider than the levels need, and what is outside an image is above all of
// them, or on the last where they take all values of a lane.
func TestLanes(t *testing.T) {
	affine := func(lo float64, n int64) grid.Ladder {
		l, err := grid.Affine(lo, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		typ       grid.Type
		ladder    grid.Ladder
		size, pad int64
	}{
		{grid.Uint8, grid.Identity(grid.Uint8), 1, 255}, {grid.Uint8, affine(0, 255), 1, 255}, {grid.Uint8, affine(-1, 256), 2, 256},
		{grid.Uint8, affine(0, 257), 2, 257}, {grid.Int16, grid.Identity(grid.Int16), 2, 65535}, {grid.Uint16, grid.Identity(grid.Uint16), 2, 65535},
		{grid.Uint16, affine(-1, 1<<16), 4, 1 << 16}, {grid.Uint16, affine(0, 255), 1, 255}, {grid.Uint16, affine(0, 256), 2, 256},
		{grid.Float32, affine(0, 255), 1, 255}, {grid.Float32, affine(0, 256), 2, 256}, {grid.Float32, affine(0, 65535), 2, 65535},
		{grid.Float32, affine(0, 65536), 4, 65536}, {grid.Float32, affine(0, 1<<20+1), 4, 1<<20 + 1},
	} {
		if size, pad := extrema.Lanes(c.typ, c.ladder); size != c.size || pad != c.pad {
			t.Errorf("%v, %d levels: lanes of %d bytes, outside on %d; want %d and %d", c.typ, c.ladder.Len(), size, pad, c.size, c.pad)
		}
	}
}

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

// Pieces that are joined add up to the image, by strips that hand on changes from piece to piece
// and by others, whether they may be left open or not.
func TestPiecesJoin(t *testing.T) {
	few, err := grid.Affine(0, 1, 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		typ    grid.Type
		ladder grid.Ladder
	}{{grid.Uint8, grid.Identity(grid.Uint8)}, {grid.Uint16, grid.Identity(grid.Uint16)}, {grid.Float32, few}, {grid.Float32, grid.Identity(grid.Float32)}} {
		f := ecctest.Image(t, grid.Shape{D: 9, H: 9, W: 70}, of.typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 199) })
		changes := map[float32]int64{}
		for _, s := range ecc.Enumerate(f) {
			changes[few.Value(s.Level)] = s.Change
		}
		if f, err = grid.Trusted(f.Shape(), of.typ, f.Data(), of.ladder); err != nil {
			t.Fatal(err)
		}
		for _, isa := range extrema.Available() {
			for _, rows := range []int64{1, 2, 5} {
				for _, threads := range []int{1, 2} {
					for step := int64(2); step < 6; step++ {
						for _, open := range []bool{false, true} {
							var job bench.Job[ecc.VCEC]
							if err := grid.EachJoined(f, grid.Whole(f), step, false, func(p grid.Piece) error {
								if job == nil {
									var err error
									if job, err = extrema.InStrips(rows).Setup(p.Field, bench.Conditions{Setting: bench.Setting{Threads: threads, ISA: isa}}); err != nil {
										return err
									}
									job.(bench.Adder[grid.Source]).Begin()
								}
								p.More = p.More && open
								return job.(ecc.Joiner).AddJoined(p)
							}); err != nil {
								t.Fatal(err)
							}
							got, err := job.Out()
							if err != nil {
								t.Fatal(err)
							}
							want := maps.Clone(changes)
							for _, s := range got {
								want[f.Ladder().Value(s.Level)] -= s.Change
							}
							for value, left := range want {
								if left != 0 {
									t.Fatalf("%v, %s, strips of %d rows, %d cores, pieces of %d, open %v: at %v the change is wrong by %d", of.typ, isa, rows, threads, step, open, value, -left)
								}
							}
						}
					}
				}
			}
		}
	}
}

// A job adds up what it counts of several images, some many times and some to be taken off, of
// its own dimension and of another, in each way in which it keeps changes.
func TestImagesAddUp(t *testing.T) {
	of := func(levels int64) grid.Ladder {
		l, err := grid.Affine(0, 1, levels)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	few, many := of(3000), of(1<<20+1)
	for _, c := range []struct{ ladder, counted grid.Ladder }{{of(200), of(200)}, {few, few}, {many, many}, {grid.Identity(grid.Float32), few}} {
		image := func(ladder grid.Ladder, d, h, w, seed int64) *grid.Field {
			return ecctest.Image(t, grid.Shape{D: d, H: h, W: w}, grid.Float32, ladder, func(i int64) float64 { return float64((i*i + seed + 2) * 7919 % c.counted.Len()) })
		}
		for _, threads := range []int{1, 3} {
			job, err := extrema.Implementation{}.Setup(image(c.ladder, 3, 4, 5, 0), bench.Conditions{Setting: bench.Setting{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			for round := range int64(2) {
				adder := job.(bench.Adder[grid.Source])
				adder.Begin()
				want := map[int64]int64{}
				for _, of := range [][4]int64{{3, 4, 5, 1}, {1, 6, 7, 1}, {2, 9, 3, 5}, {1, 4, 8, -2}, {5, 2, 2, 1}, {7, 3, 66, 1}} {
					d, h, w, times := of[0], of[1], of[2], of[3]
					if err := adder.Add(image(c.ladder, d, h, w, times+round), times); err != nil {
						t.Fatal(err)
					}
					for _, s := range ecc.Enumerate(image(c.counted, d, h, w, times+round)) {
						want[c.ladder.Level(c.counted.Value(s.Level))] += times * s.Change
					}
				}
				got, err := job.Out()
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range got {
					want[s.Level] -= s.Change
				}
				for level, left := range want {
					if left != 0 {
						t.Fatalf("%v, %d cores, round %d: at level %d the change is wrong by %d", c.ladder, threads, round, level, -left)
					}
				}
			}
			if err := job.Close(); err != nil {
				t.Fatal(err)
			}
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
