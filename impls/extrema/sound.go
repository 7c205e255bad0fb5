package extrema

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/sound"
	"eccbench/internal/workloads/ecc"
)

// Checks are of lanes, of the instruction set's conversions, and of jobs that add up images, join
// pieces and keep tallies.
func (i Implementation) Checks(asked string) []sound.Check {
	isa, err := choose(asked)
	if err != nil {
		return nil // it is refused
	}
	return append(rowChecks(isa),
		sound.Check{Name: "lanes", Of: lanesFit},
		sound.Check{Name: "images that add up", Of: imagesAddUp},
		sound.Check{Name: "pieces that are joined, " + isa, Of: func(t sound.T) { piecesJoin(t, []string{isa}, []int64{1, 2}, 3) }},
		sound.Check{Name: "tallies", Of: tallyAddsUp},
	)
}

// image is an image whose values are of their places.
func image(t sound.T, shape grid.Shape, typ grid.Type, ladder grid.Ladder, value func(i int64) float64) *grid.Field {
	t.Helper()
	data := grid.NewBuffer(shape.Voxels() * typ.Size())
	for i := range shape.Voxels() {
		at := data[i*typ.Size():][:typ.Size()]
		switch v := value(i); typ {
		case grid.Uint8:
			at[0] = uint8(v)
		case grid.Uint16:
			grid.Values[uint16](at)[0] = uint16(v)
		case grid.Int16:
			grid.Values[int16](at)[0] = int16(v)
		case grid.Float32:
			grid.Values[float32](at)[0] = float32(v)
		}
	}
	f, err := grid.NewField(shape, typ, data, ladder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Lanes are no wider than the levels need, and what is outside an image is above all of
// them, or on the last where they take all values of a lane.
func lanesFit(t sound.T) {
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
		if size, pad := lanes(c.typ, c.ladder); size != c.size || pad != c.pad {
			t.Errorf("%v, %d levels: lanes of %d bytes, outside on %d; want %d and %d", c.typ, c.ladder.Len(), size, pad, c.size, c.pad)
		}
	}
}

// piecesJoin: pieces that are joined add up to the image, by strips that hand on changes from piece to piece
// and by others, whether they may be left open or not.
func piecesJoin(t sound.T, isas []string, heights []int64, most int64) {
	few, err := grid.Affine(0, 1, 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		typ    grid.Type
		ladder grid.Ladder
	}{{grid.Uint8, grid.Identity(grid.Uint8)}, {grid.Uint16, grid.Identity(grid.Uint16)}, {grid.Float32, few}, {grid.Float32, grid.Identity(grid.Float32)}} {
		f := image(t, grid.Shape{D: 9, H: 9, W: 70}, of.typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 199) })
		changes := map[float32]int64{}
		for _, s := range ecc.Enumerate(f) {
			changes[few.Value(s.Level)] = s.Change
		}
		if f, err = grid.Trusted(f.Shape(), of.typ, f.Data(), of.ladder); err != nil {
			t.Fatal(err)
		}
		for _, isa := range isas {
			for _, rows := range heights {
				for _, threads := range []int{1, 2} {
					for step := int64(2); step <= most; step++ {
						for _, open := range []bool{false, true} {
							var job bench.Job[ecc.VCEC]
							if err := grid.EachJoined(f, grid.Whole(f), step, false, func(p grid.Piece) error {
								if job == nil {
									var err error
									if job, err = (Implementation{rows: rows}).Setup(p.Field, bench.Conditions{Setting: bench.Setting{Threads: threads, ISA: isa}}); err != nil {
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
func imagesAddUp(t sound.T) {
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
			return image(t, grid.Shape{D: d, H: h, W: w}, grid.Float32, ladder, func(i int64) float64 { return float64((i*i + seed + 2) * 7919 % c.counted.Len()) })
		}
		for _, threads := range []int{1, 3} {
			job, err := Implementation{}.Setup(image(c.ladder, 3, 4, 5, 0), bench.Conditions{Setting: bench.Setting{Threads: threads}})
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

// Changes of one level that are beyond an int32 together are added up all the same, and
// those that cancel are no step.
func tallyAddsUp(t sound.T) {
	for _, pairs := range []int{2, 8, 100} {
		want := map[uint32]int64{}
		rng := rand.New(rand.NewPCG(1, uint64(pairs)))
		var levels []uint32
		var changes []int32
		for range 20_000 {
			k, c := uint32(rng.Int32N(50))*0x05050505, int32(rng.Uint32())
			if k > 0x80000000 {
				c = math.MaxInt32
			}
			levels, changes = append(levels, k), append(changes, c)
			want[k] += int64(c)
		}
		for k := range want { // every second level is left as it was
			if k%2 == 0 {
				for want[k] != 0 {
					c := int32(max(math.MinInt32, min(math.MaxInt32, -want[k])))
					levels, changes = append(levels, k), append(changes, c)
					want[k] += int64(c)
				}
				delete(want, k)
			}
		}
		got := addedByTallies(pairs, 3, levels, changes)
		if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b ecc.Step) int { return int(a.Level - b.Level) }) {
			t.Errorf("%d pairs: %d steps, want %d", pairs, len(got), len(want))
		}
		for _, s := range got {
			if s.Change != want[uint32(s.Level)] {
				t.Errorf("%d pairs: level %d changes by %d, want %d", pairs, s.Level, s.Change, want[uint32(s.Level)])
			}
		}
	}
}

// addedByTallies is what so many tallies, which gather so many pairs, add up together.
func addedByTallies(pairs, tallies int, levels []uint32, changes []int32) ecc.VCEC {
	list := make([]*tally, tallies)
	for i := range list {
		list[i] = newTally(pairs)
	}
	for i := range levels {
		add(list[i%tallies], levels[i:i+1], changes[i:i+1], 1<<32)
	}
	return steps(list)
}
