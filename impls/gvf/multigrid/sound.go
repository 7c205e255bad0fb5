package multigrid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/sound"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// Checks are of how soon fields come to rest, of the levels, of bits that do not depend on who takes
// them, and of what is refused.
func (Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		{Name: "cycles", Of: cyclesAreFew},
		{Name: "restrictions", Of: restrictionIsTheTranspose},
		{Name: "refusals", Of: refusals},
		{Name: "instruction sets and cores", Of: sameBits},
		{Name: "a call after another", Of: again},
		{Name: "images of any shape", Of: anyShape},
	}
}

func open(t sound.T, name string) *gvf.Problem {
	t.Helper()
	p, err := gvf.ToSteady().Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cycles is how many cycles an answer takes on the average of its components, or why there is
// none.
func cycles(t sound.T, i Implementation, name string) (float64, error) {
	t.Helper()
	p := open(t, name)
	j, err := i.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	err = j.Do(nil)
	return float64(j.(*job).cycles) / float64(p.Dim()), err
}

// The number of cycles does not grow with the image, nor where sizes are odd.
func cyclesAreFew(t sound.T) {
	for _, c := range []struct {
		name string
		most float64
	}{
		{"gvf-steady/tol=6/mu=100/boundary=0/of=grf/shape=64x64/levels=1024/type=float32/smooth=3/seed=1", 8},
		{"gvf-steady/tol=6/mu=50/boundary=0/of=grf/shape=255x193/levels=1024/type=float32/smooth=3/seed=1", 8},
		{"gvf-steady/tol=4/mu=50/boundary=0/of=ball/shape=301x300/type=uint8", 6},
		{"gvf-steady/tol=5/mu=50/boundary=0/of=grf/shape=45x37x41/levels=1024/type=float32/smooth=3/seed=1", 7},
		{"gvf-steady/tol=5/mu=50/boundary=1/of=grf/shape=45x37x41/levels=1024/type=float32/smooth=3/seed=1", 12},
	} {
		n, err := cycles(t, Implementation{}, c.name)
		if err != nil || n > c.most {
			t.Errorf("%s: %v cycles, %v, want at most %v", c.name, n, err, c.most)
		}
	}
}

// transposed is ⟨Pu, v⟩ and ⟨u, Rv⟩ for random u and v, of every level.
func transposed(t sound.T, p *gvf.Problem, fault Fault) (worst float64) {
	t.Helper()
	start, err := p.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	kit, err := rows.ChooseKit("")
	if err != nil {
		t.Fatal(err)
	}
	s := newSolver(p, kit, 2)
	s.begin(start.B)
	h := s.levels
	if fault == NotAdjoint {
		h.inject()
	}
	rng := rand.New(rand.NewPCG(1, 1))
	random := func(row []float32) {
		for i := range row {
			row[i] = rng.Float32() - 0.5
		}
	}
	for k, l := range h.levels[:len(h.levels)-1] {
		next := h.levels[k+1]
		v := make([]float32, len(l.f))
		for r := range l.y.n * l.z.n {
			random(v[r*l.stride:][:l.x.n])
		}
		clear(l.u)
		for r := range next.y.n * next.z.n {
			random(next.row(r)[:next.x.n])
		}
		l.interpolate(next)
		l.restrict(next, v)
		one, other, size := 0.0, 0.0, 0.0
		for r := range l.y.n * l.z.n {
			for i, x := range v[r*l.stride:][:l.stride] {
				u := float64(l.row(r)[i])
				one += float64(x) * u
				size += math.Abs(float64(x) * u)
			}
		}
		for r := range next.y.n * next.z.n {
			for i, x := range next.f[r*next.stride:][:next.stride] {
				other += float64(x) * float64(next.row(r)[i])
			}
		}
		worst = max(worst, math.Abs(one-other)/size)
	}
	return worst
}

// A right answer comes of another restriction, too, after as many cycles: its products tell.
func restrictionIsTheTranspose(t sound.T) {
	for _, name := range []string{"gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=45x37x41/type=uint8/seed=1", "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=131x62/type=uint8/seed=1"} {
		p := open(t, name)
		if worst := transposed(t, p, ""); worst > 1e-5 {
			t.Errorf("%s: products differ by %g", name, worst)
		}
		if worst := transposed(t, p, NotAdjoint); worst < 1e-3 {
			t.Errorf("%s: products of what is not the transpose differ by %g", name, worst)
		}
	}
}

// What float32 cannot hold is said in one line, and so is what is not asked.
func refusals(t sound.T) {
	p := open(t, "gvf-steady/tol=12/mu=100/boundary=0/of=grf/shape=40x41/levels=1024/type=float32/smooth=3/seed=1")
	if _, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{}); err == nil || !strings.Contains(err.Error(), "ask for a larger tolerance") {
		t.Errorf("a tolerance of 1e-12: %v", err)
	}
	for want, c := range map[string]bench.Conditions{"1640 voxels × 2 components": {Time: 1}, "bytes for each of 1640 voxels": {Memory: 1000}} {
		if err := (Implementation{}).CanDo(p, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (Implementation{}).CanDo(gvf.NewProblem(p.Source, 0.1, 3, 0, gvf.Replicate), bench.Conditions{}); err == nil {
		t.Error("steps are taken")
	}
}

// Every instruction set and every number of cores has the same bits.
func sameBits(t sound.T) {
	for _, name := range []string{"gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=45x37x41/type=uint8/seed=1", "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=331x62/type=uint8/seed=1", "gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=1x19x2/type=uint8/seed=1"} {
		p := open(t, name)
		var want gvf.Flow
		for _, isa := range rows.Available() {
			for _, threads := range []int{1, 3} {
				got, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{Setting: bench.Setting{Threads: threads, ISA: isa}})
				if err != nil {
					t.Fatal(err)
				}
				if want.V == nil {
					want = got
				}
				if d := gvf.Steps().Policy.Agree(p, want, got); d != nil {
					t.Errorf("%s, %s on %d cores: %v (%s)", name, isa, threads, d, d.Context)
				}
			}
		}
	}
}

// What a job keeps from a call does not change the next.
func again(t sound.T) {
	p := open(t, "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=45x37x41/type=uint8/seed=1")
	j, err := Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	var first gvf.Flow
	for k := range 3 {
		j.Poison()
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		out, err := j.Out()
		if err != nil {
			t.Fatal(err)
		}
		if k == 0 {
			for _, list := range out.V {
				first.V = append(first.V, slices.Clone(list))
			}
		}
		if d := gvf.Steps().Policy.Agree(p, first, out); d != nil {
			t.Fatalf("call %d: %v", k, d)
		}
	}
}

// Images of any shape, with weak and strong diffusion, come to rest by Residuals, which shares
// nothing with the solver.
func anyShape(t sound.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	images := 80
	if race.Enabled {
		images = 8
	}
	for range images {
		side := func() int64 { return 1 + rng.Int64N(1<<rng.IntN(7)) }
		shape := grid.Shape{D: side(), H: side(), W: side()}
		if rng.IntN(2) == 0 {
			shape.D = 1
		}
		name := fmt.Sprintf("gvf-steady/tol=4/mu=%d/boundary=%d/of=noise/shape=%v/type=uint8/seed=%d", 1+rng.IntN(1<<rng.IntN(13)), rng.IntN(2), shape, rng.IntN(9))
		p := open(t, name)
		out, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{Setting: bench.Setting{Threads: 1 + rng.IntN(3)}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		of, relative, err := gvf.Residuals(p, out)
		if err != nil {
			t.Fatal(err)
		}
		for c := range of {
			if !(of[c] <= p.Tol*1.000001*relative[c]) {
				t.Errorf("%s: component %d leaves %g of %g", name, c, of[c], relative[c])
			}
		}
	}
}
