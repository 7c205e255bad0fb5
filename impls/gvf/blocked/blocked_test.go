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
	"eccbench/internal/verify"
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

// judged is what the policy alone, without another implementation, says of the answers to the
// adversarial inputs: how many are right, and how many wrong.
func judged(t *testing.T, i bench.Implementation[*gvf.Problem, gvf.Flow], laws func(name string) bool, thorough bool) (right, wrong, open int) {
	t.Helper()
	w := gvf.Steps(i)
	w.Policy.Laws = slices.DeleteFunc(slices.Clone(w.Policy.Laws), func(l verify.Law[*gvf.Problem, gvf.Flow]) bool { return !laws(l.Name) })
	ask := func(p *gvf.Problem) (gvf.Flow, error) {
		return bench.Answer(i, p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}})
	}
	for _, name := range w.Adversarial {
		p, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ask(p)
		if err != nil {
			t.Fatal(err)
		}
		evidence := w.Policy.Check(verify.Question[*gvf.Problem, gvf.Flow]{Name: name, In: p, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: thorough})
		for _, e := range evidence {
			if e.Diff == nil && !e.Passed {
				t.Errorf("%s: %v", name, e)
			}
		}
		switch v := verify.Judge([]string{name}, evidence); v.Status {
		case verify.Verified:
			right++
		case verify.Wrong:
			wrong++
		default:
			open++
		}
	}
	return right, wrong, open
}

func all(string) bool { return true }

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	for _, i := range []bench.Implementation[*gvf.Problem, gvf.Flow]{Implementation{}, cpu.Implementation{}, definition.Implementation{}} {
		if race.Enabled && i != (Implementation{}) {
			continue
		}
		if _, wrong, open := judged(t, i, all, true); wrong+open > 0 {
			t.Errorf("%s: %d right answers are found wrong and %d are not confirmed", i.About().Name, wrong, open)
		}
	}
	for _, f := range Faults() {
		if race.Enabled {
			break // of the right one all goroutines were seen
		}
		t.Run(string(f), func(t *testing.T) {
			for what, laws := range map[string]func(string) bool{"all": all, "laws that ask": func(name string) bool { return !strings.Contains(name, "plain") && !strings.Contains(name, "float64") }} {
				if _, wrong, _ := judged(t, Faulty(f), laws, true); wrong == 0 {
					t.Errorf("by %s no answer is found wrong", what)
				}
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
