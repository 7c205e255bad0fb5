package blocked

import (
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/race"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/gvftest"
	"eccbench/internal/workloads/gvf/rows"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover fields in tiles, which small fields do not need, and the division into tiles.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		gvftest.Calls(i, gvf.Name, "gradient", "steps"),
		{Name: "fields in tiles of any size", Of: bits},
		{Name: "tiles", Of: tilesCover},
		{Name: "refusals", Of: refusals},
	}
}

// random is a flow of a random image whose shape is random, too.
func random(t *testing.T, rng *rand.Rand, most int64) *gvf.Problem {
	side := func() int64 { return 1 + rng.Int64N(most) }
	shape := grid.Shape{D: side(), H: side(), W: side()}
	if rng.IntN(3) == 0 {
		shape.D = 1
	}
	data := grid.NewBuffer(shape.Voxels())
	for i := range data {
		data[i] = byte(rng.IntN(256))
	}
	return gvf.NewProblem(gridtest.OfBytes(t, shape, data...), 0.02+0.08*rng.Float32(), rng.Int64N(14), 0, gvf.Boundary(rng.IntN(2)))
}

// Fields have the bits of the plain loop, however they are cut, on any number of cores, in each
// instruction set, and again.
func bits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	images := 24
	if race.Enabled {
		images = 8
	}
	for range images {
		p := random(t, rng, 30)
		want, err := gvf.Define(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, isa := range rows.Available() {
			made, err := Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: 1 + rng.IntN(4), ISA: isa}})
			if err != nil {
				t.Fatal(err)
			}
			j := made.(*job)
			j.cut = cut{depth: 1 + rng.IntN(7), planes: 1 + rng.IntN(40), rows: 1 + rng.IntN(40), columns: 1 + rng.IntN(40)}
			for range 2 {
				j.Poison()
				if err := j.Do(nil); err != nil {
					t.Fatal(err)
				}
				got, err := j.Out()
				if err != nil {
					t.Fatal(err)
				}
				if d := gvf.Steps().Policy.Agree(p, want, got); d != nil {
					t.Fatalf("%s: %v of %d steps, %v, cut %+v: %v (%s)", isa, p.Shape(), p.Steps, p.Boundary, j.cut, d, d.Context)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Tiles cover a field once, and the memory of one does not exceed the estimate.
func tilesCover(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {512, 1, 512}, {64, 64, 64}, {181, 217, 181}, {3, 5, 3000}, {40, 1, 16384}, {3, 4000, 3}, {1000, 1000, 1000}, {1, 300, 300}} {
		for _, threads := range []int{1, 2, 16} {
			c := cutting(s[0], s[1], s[2], threads, s[1] == 1)
			covered := 0
			for _, tile := range c.tiles(s[0], s[1], s[2]) {
				covered += (tile.z.hi - tile.z.lo) * (tile.y.hi - tile.y.lo) * (tile.x.hi - tile.x.lo)
				if _, _, numbers := room(tile.x.wider(c.depth, s[2]), tile.y.wider(c.depth, s[1]), c.depth); 4*numbers > tileBytes {
					t.Fatalf("%v on %d cores: %d numbers of a tile of %+v", s, threads, numbers, c)
				}
			}
			if covered != s[0]*s[1]*s[2] {
				t.Errorf("%v on %d cores: tiles %+v cover %d", s, threads, c, covered)
			}
		}
	}
	if list := pieces(10, 4); !slices.Equal(list, []span{{0, 3}, {3, 6}, {6, 10}}) {
		t.Errorf("pieces of 10: %v", list)
	}
	// Other cuts have the same bits, but take longer.
	for of, want := range map[[4]int]cut{
		{512, 1, 512, 2}: {16, 256, 1, 512}, {4096, 1, 4096, 2}: {16, 2048, 1, 4096}, {20000, 1, 20000, 8}: {16, 2500, 1, 4096}, {128, 128, 128, 1}: {8, 128, 39, 128},
		{181, 217, 181, 16}: {8, 37, 26, 181}, {1000, 1000, 1000, 16}: {8, 1000, 16, 256}, {3, 4000, 3, 2}: {8, 3, 176, 3}, {40, 9, 300, 3}: {8, 40, 9, 256},
	} {
		if c := cutting(of[0], of[1], of[2], of[3], of[1] == 1); c != want {
			t.Errorf("%v on %d cores is cut by %+v, want %+v", of[:3], of[3], c, want)
		}
	}
	for n := 1; n < 20; n++ {
		for most := 1; most < 20; most++ {
			list := pieces(n, most)
			if len(list)*most < n || (len(list)-1)*most >= n {
				t.Errorf("%d in pieces of at most %d: %v", n, most, list)
			}
		}
	}
}

// Problems of another workload are rejected, and so are settings that no machine has.
func refusals(t *testing.T) {
	p := random(t, rand.New(rand.NewPCG(2, 2)), 9)
	unknown := bench.Conditions{Setting: bench.Setting{ISA: "sse"}}
	if err := (Implementation{}).CanDo(p, unknown); err == nil {
		t.Error("an unknown instruction set is taken")
	}
	if _, err := (Implementation{}).Setup(p, unknown); err == nil {
		t.Error("an unknown instruction set is set up")
	}
	if err := (Implementation{}).CanDo(gvf.NewProblem(p.Source, 0.1, 0, 1e-4, gvf.Replicate), bench.Conditions{}); err == nil {
		t.Error("a steady state is taken")
	}
}
