package extrema

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

func TestChecks(t *testing.T) {
	for _, isa := range available() {
		t.Run(isa, func(t *testing.T) { checktest.Run(t, checks(isa)...) })
	}
}

func TestPiecesJoin(t *testing.T) {
	piecesJoin(t, available(), []int64{1, 2, 5}, []int64{2, 3, 4, 5}, 9)
}

// checks test lanes, the conversions of an instruction set, and jobs that sum images, join pieces
// and keep tallies.
func checks(isa string) []checktest.Check {
	return append(rowChecks(isa),
		checktest.Check{Name: "lanes", Of: lanesFit},
		checktest.Check{Name: "images that add up", Of: imagesAddUp},
		checktest.Check{Name: "long pieces that are joined, " + isa, Of: func(t *testing.T) { piecesJoin(t, []string{isa}, []int64{1}, []int64{75}, 150) }},
		checktest.Check{Name: "images that are read once", Of: onePassIsTheWhole},
		checktest.Check{Name: "images that are read in slabs", Of: slabsAddUp},
		checktest.Check{Name: "planted faults, " + isa, Of: func(t *testing.T) { faultsAreWrong(t, isa) }},
		checktest.Check{Name: "tallies", Of: tallyAddsUp},
		checktest.Check{Name: "tallies in a limit of memory", Of: tallyHasRoom},
		checktest.Check{Name: "tables of changes", Of: tablesHold},
		checktest.Check{Name: "shares of cores", Of: sharedOut},
		checktest.Check{Name: "slabs", Of: slabs},
		checktest.Check{Name: "strips", Of: strips},
		checktest.Check{Name: "memory", Of: memoryIsWhatIsAllocated, Allocates: true},
		checktest.Check{Name: "memory of tallies", Of: memoryOfTallies},
		checktest.Check{Name: "refusals, " + isa, Of: func(t *testing.T) { refusals(t, isa) }},
		checktest.Check{Name: "flags", Of: searchedLevelsAreFlagged},
		checktest.Check{Name: "parts of a call", Of: partsOfACall},
	)
}

func empty(t *testing.T, shape grid.Shape, typ grid.Type, ladder grid.Ladder) *grid.Field {
	return gridtest.Image(t, shape, typ, ladder, func(int64) float64 { return 0 })
}

// streamed hides that an image is in memory.
func streamed(s grid.Source) grid.Source { return struct{ grid.Source }{s} }

// onEvery is a source on the ladder of every float32.
type onEvery struct{ grid.Source }

func (onEvery) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// An image is divided among all cores for which it has slices, in four chunks per core of at least
// a minimum length. If each core can have strips, the strips are divided instead.
func sharedOut(t *testing.T) {
	for _, c := range []struct {
		shape   grid.Shape
		threads int
		want    [2]int64 // cores and chunk
	}{
		{grid.Shape{D: 1000, H: 3, W: 3}, 1, [2]int64{1, 1000}}, {grid.Shape{D: 1000, H: 3, W: 3}, 0, [2]int64{1, 1000}}, {grid.Shape{D: 1000, H: 3, W: 3}, 2, [2]int64{2, 125}},
		{grid.Shape{D: 1002, H: 3, W: 3}, 2, [2]int64{2, 126}}, {grid.Shape{D: 100, H: 3, W: 3}, 2, [2]int64{2, 32}}, {grid.Shape{D: 40, H: 3, W: 3}, 3, [2]int64{3, 14}},
		{grid.Shape{D: 2, H: 3, W: 3}, 4, [2]int64{2, 1}}, {grid.Shape{D: 1, H: 999, W: 3}, 3, [2]int64{3, 84}}, {grid.Shape{D: 1, H: 90, W: 3}, 2, [2]int64{2, 32}},
	} {
		f := empty(t, c.shape, grid.Uint8, grid.Identity(grid.Uint8))
		if l := (Implementation{}).layout(f, c.threads); int64(l.threads) != c.want[0] || l.chunk != c.want[1] {
			t.Errorf("%v on %d cores: %d cores, chunks of %d slices, want %v", c.shape, c.threads, l.threads, l.chunk, c.want)
		}
	}
	// With many strips each core has sixteen turns.
	l := layout{strips: 8}
	if l.share(100, 2); l.threads != 2 || l.chunk != 32 {
		t.Errorf("8 strips of 100 slices on 2 cores: %d cores, chunks of %d, want 2 and 32", l.threads, l.chunk)
	}
	if l.share(900, 2); l.chunk != 225 {
		t.Errorf("8 strips of 900 slices on 2 cores: chunks of %d, want 225", l.chunk)
	}
	if l = (layout{strips: 2}); true {
		if l.share(400, 2); l.chunk != 50 {
			t.Errorf("2 strips of 400 slices on 2 cores: chunks of %d, want 50", l.chunk)
		}
	}
}

// A core reads its slices and one slice on either side at once, if that is not too much. A step is
// two planes, so that a slab has at least two slices.
func slabs(t *testing.T) {
	for _, c := range []struct {
		shape   grid.Shape
		typ     grid.Type
		threads int
		want    int64
	}{
		{grid.Shape{D: 100, H: 9, W: 9}, grid.Uint8, 1, 102}, {grid.Shape{D: 100, H: 9, W: 9}, grid.Uint8, 4, 27}, {grid.Shape{D: 100, H: 1 << 11, W: 1 << 11}, grid.Uint8, 1, 8},
		{grid.Shape{D: 100, H: 1 << 11, W: 1 << 11}, grid.Uint16, 1, 4}, {grid.Shape{D: 9, H: 1 << 13, W: 1 << 13}, grid.Uint8, 1, 2}, {grid.Shape{D: 9, H: 1 << 13, W: 1 << 13}, grid.Uint8, 4, 2},
		{grid.Shape{D: 1, H: 100, W: 9}, grid.Uint8, 1, 102}, {grid.Shape{D: 1, H: 100, W: 1 << 13}, grid.Uint8, 1, 27},
	} {
		if l := (Implementation{}).layout(gridtest.VastOf(c.shape, c.typ), c.threads); l.slab != c.want {
			t.Errorf("%v of %v on %d cores: slabs of %d slices, want %d", c.shape, c.typ, c.threads, l.slab, c.want)
		}
	}
	if l := (Implementation{}).layout(empty(t, grid.Shape{D: 9, H: 2, W: 2}, grid.Uint8, grid.Identity(grid.Uint8)), 1); l.slab != 0 {
		t.Errorf("of an image in memory, slabs of %d slices", l.slab)
	}
}

// The count of an image does not depend on the number of slices read at a time, or on the number
// kept for the next read.
func slabsAddUp(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 23, H: 5, W: 7}, {D: 1, H: 61, W: 9}} {
		f := gridtest.Image(t, shape, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64((i*i + 3) * 7919 % 251) })
		want := ecc.Enumerate(f)
		for _, i := range []Implementation{{}, {slab: 2}, {slab: 3}, {slab: 4, rows: 2}, {slab: 7, rows: 1}} {
			for _, threads := range []int{1, 2} {
				in := grid.Source(streamed(f))
				if i.slab == 4 {
					in = f
				}
				got, err := bench.Answer(bench.Implementation[grid.Source, ecc.VCEC](i), in, bench.Conditions{Setting: bench.Setting{Threads: threads}})
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v by %d slices, in strips of %d rows, on %d cores: %d steps, want %d (%v)", shape, i.slab, i.rows, threads, len(got), len(want), err)
				}
			}
		}
	}
}

// An implementation with a planted fault reports it, and answers wrongly.
func faultsAreWrong(t *testing.T, isa string) {
	f := gridtest.Image(t, grid.Shape{D: 70, H: 5, W: 7}, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64((i*i + 3) * 7919 % 9) })
	ecctest.FaultsAreWrong(t, f, bench.Setting{Threads: 2, ISA: isa}, Faulty, Faults()...)
}

// A table has an entry for each level and one for the outside, in whole cache lines plus one. A
// core has four tables if they fit into the limit; for many levels all cores share one. A table is
// summed before it can overflow.
func tablesHold(t *testing.T) {
	for levels := range int64(100) {
		if n := (layout{levels: levels}).table(); n%16 != 0 || n-16 <= levels || n-32 > levels {
			t.Errorf("a table of %d levels has %d entries", levels, n)
		}
	}
	for _, c := range []struct {
		levels int64
		want   int
	}{{1, 4}, {2031, 4}, {2032, 1}, {sharedLevels, 1}, {sharedLevels + 1, 0}} {
		ladder, err := grid.Affine(0, 1, c.levels)
		if err != nil {
			t.Fatal(err)
		}
		if l := (Implementation{}).layout(empty(t, grid.Shape{D: 2, H: 2, W: 2}, grid.Float32, ladder), 1); l.tables != c.want {
			t.Errorf("%d levels: %d tables, want %d", c.levels, l.tables, c.want)
		}
	}
	c, sums := core[uint8, int8]{sink: sink[uint8, int8]{tables: []int32{1, 2, 3, 4}, entries: 2}}, []int64{10, 20}
	for i, of := range []struct{ voxels, sum int64 }{{flushAfter - 1, 10}, {1, 14}, {flushAfter - 1, 14}, {1, 18}, {flushAfter + 9, 22}} {
		c.sums = sums
		c.counted(of.voxels)
		if sums[0] != of.sum {
			t.Errorf("at %d: a table is added up to %d, want %d", i, sums[0], of.sum)
		}
		if clean := c.sink.tables[0] == 0; clean != (i%2 == 1 || i == 4) {
			t.Errorf("at %d: tables %v", i, c.sink.tables)
		} else if clean {
			copy(c.sink.tables, []int32{1, 2, 3, 4})
		}
	}
	// A tally sorts its pairs when it is full.
	y := newTally(8, nil)
	for i := range uint32(17) {
		y.gather(newPair(i, 1))
		if want := int(i) / 8; len(y.runs) != want {
			t.Errorf("a tally of 8 pairs has %d runs of %d, want %d", len(y.runs), i+1, want)
		}
	}
}

// Lanes have the least width for the levels. The outside of an image is above all levels, or on the
// last level if the levels use all values of a lane.
func lanesFit(t *testing.T) {
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

// piecesJoin checks that joined pieces sum to the image. Strips pass changes from piece to piece or
// not, and pieces may be left open or not.
func piecesJoin(t *testing.T, isas []string, heights, pieces []int64, depth int64) {
	few, err := grid.Affine(0, 1, 200)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []struct {
		typ    grid.Type
		ladder grid.Ladder
	}{{grid.Uint8, grid.Identity(grid.Uint8)}, {grid.Uint16, grid.Identity(grid.Uint16)}, {grid.Float32, few}, {grid.Float32, grid.Identity(grid.Float32)}} {
		f := gridtest.Image(t, grid.Shape{D: depth, H: 9, W: 70}, of.typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 199) })
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
					for _, step := range pieces {
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

// A job sums the counts of several images with multiplicities, which may be negative. The images
// may have another dimension, and each method of storing changes is used.
func imagesAddUp(t *testing.T) {
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
			return gridtest.Image(t, grid.Shape{D: d, H: h, W: w}, grid.Float32, ladder, func(i int64) float64 { return float64((i*i + seed + 2) * 7919 % c.counted.Len()) })
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
				for _, of := range [][4]int64{{3, 4, 5, 1}, {1, 6, 7, 1}, {2, 9, 3, 5}, {1, 4, 8, -2}, {5, 2, 2, 1}, {7, 3, 66, 1}, {2, 3, 4, 1 << 40}} {
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

// Changes of one level whose sum exceeds an int32 are summed correctly, and changes that cancel
// make no step.
func tallyAddsUp(t *testing.T) {
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
		for k := range want { // every second level stays unchanged
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

// Tallies with a limit of memory count the levels that fit, and report more. They count again after that.
func tallyHasRoom(t *testing.T) {
	for _, c := range []struct {
		levels uint32
		fits   bool
	}{{100, true}, {8000, true}, {60_000, false}, {50, true}} {
		r := newRoom(41_000*(pairBytes+stepBytes), 1000*(pairBytes+stepBytes))
		list := []*tally{newTally(64, r), newTally(64, r)}
		for again := range 2 {
			r.full.Store(false)
			for i, y := range list {
				y.reset()
				for k := range 4 * c.levels { // each level four times
					y.gather(newPair(2*(k*7919%c.levels)+uint32(i), 1))
				}
			}
			got := steps(list)
			if err := r.check(); (err == nil) != c.fits || c.fits && len(got) != 2*int(c.levels) {
				t.Errorf("%d levels, call %d: %d steps, %v", 2*c.levels, again, len(got), err)
			}
		}
	}
}

// addedByTallies returns the sum over several tallies that each gather a number of pairs, after
// they have discarded earlier input.
func addedByTallies(pairs, tallies int, levels []uint32, changes []int32) ecc.VCEC {
	list := make([]*tally, tallies)
	for i := range list {
		list[i] = newTally(pairs, nil)
		add(list[i], levels, changes, 1<<32)
		list[i].reset()
	}
	for i := range levels {
		add(list[i%tallies], levels[i:i+1], changes[i:i+1], 1<<32)
	}
	return steps(list)
}

// A strip of rows of three planes, or one plane of a flat image, fits into its share of a core's
// cache. Strips have equal sizes. Images in memory are cut, and streamed images are read in whole
// slices.
func strips(t *testing.T) {
	for _, c := range []struct {
		shape         grid.Shape
		typ           grid.Type
		strip, strips int64
	}{
		{grid.Shape{D: 9, H: 20, W: 9}, grid.Uint8, 20, 1}, {grid.Shape{D: 9, H: 1000, W: 64}, grid.Uint8, 500, 2}, {grid.Shape{D: 9, H: 1001, W: 64}, grid.Uint8, 501, 2},
		{grid.Shape{D: 9, H: 1000, W: 64}, grid.Uint16, 334, 3}, {grid.Shape{D: 9, H: 100, W: 1 << 16}, grid.Uint8, 8, 13}, {grid.Shape{D: 1, H: 1000, W: 1 << 12}, grid.Uint8, 63, 1},
	} {
		ladder := grid.Identity(c.typ)
		f, err := grid.Trusted(c.shape, c.typ, grid.NewBuffer(c.shape.Voxels()*c.typ.Size()), ladder)
		if err != nil {
			t.Fatal(err)
		}
		l := Implementation{}.layout(f, 1)
		if l.strip != c.strip || l.strips != c.strips {
			t.Errorf("%v of %v: %d strips of %d rows, want %d of %d", c.shape, c.typ, l.strips, l.strip, c.strips, c.strip)
		}
		if l.stride*l.size%4096 == 0 {
			t.Errorf("%v of %v: rows %d bytes apart", c.shape, c.typ, l.stride*l.size)
		}
		if of := (Implementation{}).layout(streamed(f), 1); of.strips != 1 {
			t.Errorf("%v of %v: %d strips of a streamed image", c.shape, c.typ, of.strips)
		}
	}
	for w, want := range map[int64]int64{flushAfter / 3: 3, flushAfter/2 + 1: 1, flushAfter: 1, 2 * flushAfter: 1} { // the changes of a strip fit its integers
		l := layout{w: w}
		if (Implementation{}).cut(&l, 9, 3, 1); l.strip != want {
			t.Errorf("rows of %d voxels: strips of %d rows, want %d", w, l.strip, want)
		}
	}
}

// The forecast of a job's memory equals its allocations. The cases are tables for each core and for
// all cores, tallies, images in memory and streamed, with any long axis. Allocations are rounded
// up.
func memoryIsWhatIsAllocated(t *testing.T) {
	for _, c := range []struct {
		shape  grid.Shape
		levels int64 // 0 for every float32
	}{
		{grid.Shape{D: 3, H: 20000, W: 1}, 200}, {grid.Shape{D: 3, H: 1, W: 40000}, 200}, {grid.Shape{D: 90, H: 50, W: 40}, 200}, {grid.Shape{D: 1, H: 9000, W: 40}, 200}, {grid.Shape{D: 1, H: 3, W: 100000}, 200},
		{grid.Shape{D: 4, H: 3, W: 2}, 500}, {grid.Shape{D: 4, H: 3, W: 2}, 60000}, {grid.Shape{D: 4, H: 3, W: 2}, sharedLevels}, {grid.Shape{D: 4, H: 3, W: 2}, sharedLevels + 1},
		{grid.Shape{D: 40, H: 50, W: 40}, 0}, {grid.Shape{D: 1, H: 300, W: 300}, 0},
	} {
		ladder, err := grid.Affine(0, 1, max(c.levels, 1))
		if err != nil {
			t.Fatal(err)
		}
		whole := empty(t, c.shape, grid.Float32, ladder)
		made, after := streamed(whole), int64(0) // the tallies grow during the count
		if c.levels == 0 {
			f, err := grid.Trusted(whole.Shape(), whole.Type(), whole.Data(), grid.Identity(grid.Float32))
			if err != nil {
				t.Fatal(err)
			}
			made, whole, after = onEvery{made}, f, 32*c.shape.Voxels()
		}
		for _, in := range []grid.Source{made, whole} {
			for _, threads := range []int{1, 3} {
				if threads > 1 && c.levels >= sharedLevels {
					continue // slow
				}
				want := Implementation{}.layout(in, threads).memory() - after
				got := int64(checktest.Allocated(func() {
					if _, err := (Implementation{}).Setup(in, bench.Conditions{Setting: bench.Setting{Threads: threads}}); err != nil {
						t.Fatal(err)
					}
				}))
				if apart, spare := got-want, want/100+int64(threads)<<15; apart > spare || apart < -spare {
					t.Errorf("%v on %d levels, in memory %v, %d cores: %d bytes allocated, %d expected", c.shape, c.levels, in == grid.Source(whole), threads, got, want)
				}
			}
		}
	}
}

// A gathered change may have a level of its own for each voxel; the forecast of memory includes
// this maximum.
func memoryOfTallies(t *testing.T) {
	few, err := grid.Affine(0, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		ladder grid.Ladder
		voxel  int64
	}{{grid.Identity(grid.Float32), 32}, {few, 0}} {
		of := func(d int64) int64 {
			return Implementation{}.layout(empty(t, grid.Shape{D: d, H: 30, W: 50}, grid.Float32, c.ladder), 2).memory()
		}
		if got, want := of(200)-of(100), 100*30*50*c.voxel; got != want {
			t.Errorf("%v: 100 planes more take %d bytes more, want %d", c.ladder, got, want)
		}
	}
}

// A job is rejected if it needs more time or memory than allowed, and only then. The time depends
// on the instruction set. It is higher if levels are searched for or too many for tables.
func refusals(t *testing.T, isa string) {
	uneven, err := grid.Table([]float32{0, 1, 3, 7})
	if err != nil {
		t.Fatal(err)
	}
	many, err := grid.Affine(0, 1, sharedLevels+1)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int64{AVX512: 1, AVX2: 2, Portable: 12}[isa]
	shape := grid.Shape{D: 20, H: 30, W: 40}
	for _, c := range []struct {
		what   string
		typ    grid.Type
		ladder grid.Ladder
		ns     int64
	}{
		{"a table for each core", grid.Uint8, grid.Identity(grid.Uint8), by}, {"levels that are searched for", grid.Float32, uneven, by + 300},
		{"one table for all cores", grid.Float32, many, by + 20}, {"tallies", grid.Float32, grid.Identity(grid.Float32), by + 20 + 40},
	} {
		f := empty(t, shape, c.typ, c.ladder)
		for threads, cores := range map[int]int64{0: 1, 1: 1, 4: 4} {
			given := bench.Conditions{Setting: bench.Setting{Threads: threads, ISA: isa}}
			if got, want := checktest.Least(func(n int64) bool {
				c := given
				c.Time = time.Duration(n)
				return Implementation{}.CanDo(f, c) == nil
			}), shape.Voxels()*c.ns/cores; got < want-1 || got > want+1 {
				t.Errorf("%s, %d cores: %v is enough, want %v", c.what, threads, time.Duration(got), time.Duration(want))
			}
			if got, want := checktest.Least(func(n int64) bool {
				c := given
				c.Memory = n
				return Implementation{}.CanDo(f, c) == nil
			}), (Implementation{}).layout(f, threads).memory(); got != want {
				t.Errorf("%s, %d cores: %d bytes are enough, want %d", c.what, threads, got, want)
			}
		}
	}
	f, given := empty(t, shape, grid.Uint8, grid.Identity(grid.Uint8)), bench.Conditions{Setting: bench.Setting{Threads: 4, ISA: isa}}
	for want, c := range map[string]bench.Conditions{
		"(4 cores × " + quantity.Bytes(Implementation{}.layout(f, 4).core()) + ", 256 levels), the limit is 1 B": {Setting: given.Setting, Memory: 1},
		fmt.Sprintf("(24000 voxels × %d ns on 4 cores); the limit is 1.00 ns", by):                               {Setting: given.Setting, Time: 1},
	} {
		if err := (Implementation{}).CanDo(f, c); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for w, want := range map[int64]bool{2 * flushAfter: true, 2*flushAfter + 1: false} {
		if err := (Implementation{}).CanDo(gridtest.VastOf(grid.Shape{D: 1, H: 2, W: w}, grid.Uint8), given); (err == nil) != want {
			t.Errorf("rows of %d voxels: %v", w, err)
		}
	}
	given.ISA = "avx3"
	if (Implementation{}).CanDo(f, given) == nil {
		t.Error("instructions that there are not are not refused")
	}
	if job, err := (Implementation{}).Setup(f, given); job != nil || err == nil {
		t.Errorf("with instructions that there are not: %v, %v", job, err)
	}
}

// A row has a flag if its levels were searched for.
func searchedLevelsAreFlagged(t *testing.T) {
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
		job, err := Implementation{}.Setup(empty(t, grid.Shape{D: 1, H: 2, W: 2}, c.typ, c.ladder), bench.Conditions{Setting: bench.Setting{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := job.(bench.Flagged).Flags(); !slices.Equal(got, c.want) {
			t.Errorf("%v: flags %q, want %q", c.typ, got, c.want)
		}
	}
}

// A call names its parts; with one table for all cores there is one part fewer.
func partsOfACall(t *testing.T) {
	many, err := grid.Affine(0, 1, sharedLevels+1)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 7, H: 6, W: 5}, {D: 1, H: 6, W: 5}} {
		few, wide := empty(t, shape, grid.Float32, grid.Identity(grid.Float32)), empty(t, shape, grid.Float32, many)
		ecctest.CallHasParts(t, Implementation{}, empty(t, shape, grid.Uint8, grid.Identity(grid.Uint8)), "convert", "count", "reduce")
		ecctest.CallHasParts(t, Implementation{}, streamed(few), "convert", "count", "read", "reduce")
		ecctest.CallHasParts(t, Implementation{}, few, "convert", "count", "reduce")
		ecctest.CallHasParts(t, Implementation{}, wide, "convert", "count")
	}
}

// An image read once, in pieces, has the curve of the whole image in each convention.
func onePassIsTheWhole(t *testing.T) {
	few, err := grid.Affine(0, 1, 12)
	if err != nil {
		t.Fatal(err)
	}
	own := bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{Implementation{}}}
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}}
	for _, shape := range []grid.Shape{{D: 7, H: 4, W: 6}, {D: 1, H: 9, W: 11}} {
		f := gridtest.Image(t, shape, grid.Float32, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 10) })
		for _, in := range []ecc.Convention{{}, {Vertices: true}, {Superlevel: true}, {Vertices: true, Superlevel: true}, {Periodic: grid.Axes{X: true}}, {Vertices: true, Periodic: grid.Axes{X: true, Y: true}}} {
			want, err := bench.Answer(ecc.InConvention(own, in).Impls[0], grid.Source(f), c)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int64{2, 3} {
				once := ecc.InOnePass(own, in, n)
				for _, by := range once.Impls {
					got, err := bench.Answer(by, grid.Source(grid.NewDigester(streamed(f))), c)
					if err != nil || !slices.Equal(got, want) {
						t.Errorf("%v, %+v by %d slices: %v, want %v (%v)", shape, in, n, got, want, err)
					}
				}
			}
		}
	}
}
