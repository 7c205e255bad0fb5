package blocked

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/gvf/cpu"
	"eccbench/impls/gvf/definition"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/verify/judged"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// random is a flow of a random image whose shape is random, too.
func random(t testing.TB, rng *rand.Rand, most int64) *gvf.Problem {
	side := func() int64 { return 1 + rng.Int64N(most) }
	shape := grid.Shape{D: side(), H: side(), W: side()}
	if rng.IntN(3) == 0 {
		shape.D = 1
	}
	data := grid.NewBuffer(shape.Voxels())
	for i := range data {
		data[i] = byte(rng.IntN(256))
	}
	f, err := grid.NewField(shape, grid.Uint8, data, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return gvf.NewProblem(f, 0.02+0.08*rng.Float32(), rng.Int64N(14), 0, gvf.Boundary(rng.IntN(2)))
}

// Fields have the bits of the plain loop, however they are cut, on any number of cores, in
// each instruction set.
func TestBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	images := 60
	if race.Enabled {
		images = 8
	}
	for range images {
		p := random(t, rng, 40)
		want, err := gvf.Define(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, isa := range rows.Available() {
			conditions := bench.Conditions{Setting: bench.Setting{Threads: 1 + rng.IntN(4), ISA: isa}}
			for _, i := range []bench.Implementation[*gvf.Problem, gvf.Flow]{Implementation{}, cpu.Implementation{}} {
				job, err := i.Setup(p, conditions)
				if err != nil {
					t.Fatal(err)
				}
				if b, ok := job.(*blockedJob); ok {
					b.cut = cut{depth: 1 + rng.IntN(7), planes: 1 + rng.IntN(40), rows: 1 + rng.IntN(40), columns: 1 + rng.IntN(40)}
				}
				for range 2 {
					job.Poison()
					if err := job.Do(nil); err != nil {
						t.Fatal(err)
					}
					got, err := job.Out()
					if err != nil {
						t.Fatal(err)
					}
					if d := gvf.Steps().Policy.Agree(p, want, got); d != nil {
						t.Fatalf("%s, %s: %v of %d steps, %v: %v (%s)", i.About().Name, isa, p.Shape(), p.Steps, p.Boundary, d, d.Context)
					}
				}
				if err := job.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

type blockedJob = job

// Tiles cover a field once.
func TestTiles(t *testing.T) {
	for _, s := range [][3]int{{1, 1, 1}, {512, 1, 512}, {64, 64, 64}, {181, 217, 181}, {3, 5, 3000}, {40, 1, 16384}} {
		for _, threads := range []int{1, 2, 16} {
			c := cutting(s[0], s[1], s[2], threads, s[1] == 1)
			covered := 0
			for _, t := range c.tiles(s[0], s[1], s[2]) {
				covered += (t.z.hi - t.z.lo) * (t.y.hi - t.y.lo) * (t.x.hi - t.x.lo)
			}
			if covered != s[0]*s[1]*s[2] {
				t.Errorf("%v on %d cores: tiles %+v cover %d", s, threads, c, covered)
			}
		}
	}
	if list := pieces(10, 4); !slices.Equal(list, []span{{0, 3}, {3, 6}, {6, 10}}) {
		t.Errorf("pieces of 10: %v", list)
	}
}

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	for _, i := range []bench.Implementation[*gvf.Problem, gvf.Flow]{Implementation{}, cpu.Implementation{}, definition.Implementation{}} {
		if race.Enabled && i != (Implementation{}) {
			continue
		}
		if n := judged.Alone(t, gvf.Steps(i), true, 0); !n.All() {
			t.Errorf("%s: right answers are found %+v", i.About().Name, n)
		}
	}
	for _, f := range Faults() {
		if race.Enabled {
			break // of the right one all goroutines were seen
		}
		t.Run(string(f), func(t *testing.T) {
			boxes := judged.By(gvf.Steps(Faulty(f)), func(name string) bool { return strings.Contains(name, "boxes") })
			boxes.Adversarial = []string{"gvf/steps=5/mu=50/boundary=0/of=noise/shape=900x700/type=uint8/seed=1", "gvf/steps=3/mu=50/boundary=1/of=noise/shape=130x90x80/type=uint8/seed=1"}
			if n := judged.Alone(t, boxes, true, 0); n.Wrong != len(boxes.Adversarial) {
				t.Errorf("by boxes that are a part of the image: %+v", n)
			}
			for what, laws := range map[string]func(string) bool{"all": func(string) bool { return true }, "laws that ask": func(name string) bool { return !strings.Contains(name, "plain") && !strings.Contains(name, "float64") }} {
				t.Run(what, func(t *testing.T) { judged.Caught(t, judged.By(gvf.Steps(Faulty(f)), laws), true, 0) })
			}
		})
	}
}

func BenchmarkSteps(b *testing.B) {
	for _, image := range []string{"grf/shape=256x256x256/type=float32/levels=1024/smooth=2/seed=1", "grf/shape=128x128x128/type=float32/levels=1024/smooth=2/seed=1", "grf/shape=512x512/type=float32/levels=1024/smooth=2/seed=1", "grf/shape=4096x4096/type=float32/levels=1024/smooth=2/seed=1"} {
		p, err := gvf.Steps().Inputs.Open("gvf/steps=32/mu=50/boundary=0/of=" + image)
		if err != nil {
			b.Fatal(err)
		}
		for _, threads := range []int{1, 2} {
			for _, i := range []bench.Implementation[*gvf.Problem, gvf.Flow]{cpu.Implementation{}, Implementation{}} {
				b.Run(fmt.Sprintf("%s/%v/%d", i.About().Name, p.Shape(), threads), func(b *testing.B) {
					job, err := i.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: threads}})
					if err != nil {
						b.Fatal(err)
					}
					for b.Loop() {
						if err := job.Do(nil); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(p.Shape().Voxels()*p.Steps)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gvox·it/s")
				})
			}
		}
	}
}
