package multigrid

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/gvftest"
	"eccbench/internal/workloads/gvf/rows"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the rate of convergence, the levels, bits that do not depend on the cores, and
// rejected problems.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		gvftest.Calls(i, gvf.Steady, "gradient", "levels", "solve"),
		{Name: "cycles", Of: cyclesAreFew},
		{Name: "restrictions", Of: restrictionIsTheTranspose},
		{Name: "levels", Of: levelsAreOfOneField},
		{Name: "cycles as operators", Of: cyclesAreSymmetric},
		{Name: "the last cycle", Of: cyclesEnd},
		{Name: "rows that follow others", Of: rowsFollow},
		{Name: "refusals", Of: refusals},
		{Name: "instruction sets and cores", Of: sameBits},
		{Name: "a call after another", Of: again},
		{Name: "images of any shape", Of: anyShape},
	}
}

func open(t testing.TB, name string) *gvf.Problem {
	t.Helper()
	p, err := gvf.ToSteady().Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// cycles returns the mean number of cycles of an answer's components, or the error.
func cycles(t *testing.T, i Implementation, name string) (float64, error) {
	t.Helper()
	p := open(t, name)
	j, err := i.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	err = j.Do(nil)
	return float64(j.(*job).cycles) / float64(p.Dim()), err
}

// The number of cycles grows neither with the image nor with odd sizes.
func cyclesAreFew(t *testing.T) {
	for _, c := range []struct {
		name string
		most float64
	}{
		{"gvf-steady/tol=6/mu=100/boundary=0/of=grf/shape=64x64/levels=1024/type=float32/smooth=3/seed=1", 5},
		{"gvf-steady/tol=6/mu=50/boundary=0/of=grf/shape=255x193/levels=1024/type=float32/smooth=3/seed=1", 6},
		{"gvf-steady/tol=4/mu=50/boundary=0/of=ball/shape=301x300/type=uint8", 5.5},
		{"gvf-steady/tol=5/mu=50/boundary=0/of=grf/shape=45x37x41/levels=1024/type=float32/smooth=3/seed=1", 5},
		{"gvf-steady/tol=5/mu=50/boundary=1/of=grf/shape=45x37x41/levels=1024/type=float32/smooth=3/seed=1", 6},
		{"gvf-steady/tol=5/mu=50/boundary=1/of=constant/shape=9x7/type=uint8", 0},
	} {
		n, err := cycles(t, Implementation{}, c.name)
		if err != nil || n > c.most {
			t.Errorf("%s: %v cycles, %v, want at most %v", c.name, n, err, c.most)
		}
	}
}

// begun is a solver with the operators of a problem.
func begun(t *testing.T, p *gvf.Problem) *solver {
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
	copy(s.b, start.B)
	s.begin()
	return s
}

// inject makes the restriction pass a cell's value only to the coarser cell that contains it.
func (h *hierarchy) inject() {
	for _, l := range h.levels {
		for _, a := range []axis{l.x, l.y, l.z} {
			if len(a.nearGiven) == 0 {
				continue // the coarsest level
			}
			for i := range a.n {
				a.nearGiven[i], a.farGiven[i] = 1, 0
			}
		}
	}
}

// transposed is ⟨Pu, v⟩ and ⟨u, Rv⟩ for random u and v, of every level. With inject the restriction is no transpose.
func transposed(t *testing.T, p *gvf.Problem, inject bool) (worst float64) {
	t.Helper()
	s := begun(t, p)
	h := s.levels
	if inject {
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

// With another restriction the answer is still right, after as many cycles. So inner products
// compare it with the transpose.
func restrictionIsTheTranspose(t *testing.T) {
	for _, name := range []string{"gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=45x37x41/type=uint8/seed=1", "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=131x62/type=uint8/seed=1"} {
		p := open(t, name)
		if worst := transposed(t, p, false); worst > 1e-5 {
			t.Errorf("%s: products differ by %g", name, worst)
		}
		if worst := transposed(t, p, true); worst < 1e-3 {
			t.Errorf("%s: products of what is not the transpose differ by %g", name, worst)
		}
	}
}

// uneven are images whose sides are odd, of either boundary, and large enough for goroutines.
func uneven(t *testing.T) []*gvf.Problem {
	t.Helper()
	return []*gvf.Problem{open(t, "gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=29x23x27/type=uint8/seed=1"), open(t, "gvf-steady/tol=4/mu=80/boundary=1/of=noise/shape=151x110/type=uint8/seed=1")}
}

// The operators of all levels approximate one field. Applied to 1, an operator gives b, which is
// the sum of b of the finer cells. Applied to the position along an axis, it gives b times the
// position, except at the border. Interpolation preserves the position.
func levelsAreOfOneField(t *testing.T) {
	for _, p := range uneven(t) {
		levels := begun(t, p).levels.levels
		mass := make([][]float64, len(levels))
		for k, l := range levels {
			axes := []*axis{&l.x, &l.y, &l.z}
			at := func(r, x int) [3]int { return [3]int{x, r % l.y.n, r / l.y.n} }
			// of applies the operator to values.
			of := func(value func(at [3]int) float64) []float64 {
				clear(l.u)
				clear(l.f)
				var out []float64
				for r := range l.y.n * l.z.n {
					for x := range l.x.n {
						l.row(r)[x] = float32(value(at(r, x)))
					}
				}
				l.remain()
				for r := range l.y.n * l.z.n {
					for _, v := range l.rest[r*l.stride:][:l.x.n] {
						out = append(out, -float64(v))
					}
				}
				return out
			}
			mass[k] = of(func([3]int) float64 { return 1 })
			most := 0.0
			for r := range l.y.n * l.z.n {
				for _, v := range l.diag[r*l.stride:][:l.x.n] {
					most = max(most, float64(v))
				}
			}
			for a, axis := range axes {
				for i, v := range of(func(at [3]int) float64 { return axis.Pos[at[a]] }) {
					cell := at(i/l.x.n, i%l.x.n)
					if c := cell[a]; c > 0 && c < axis.n-1 && math.Abs(v-mass[k][i]*axis.Pos[c]) > 1e-5*most*axis.Pos[axis.n-1] {
						t.Fatalf("%v, level %d, cell %v: of the place along axis %d the operator makes %g, and b is %g", p.Shape(), k, cell, a, v, mass[k][i])
					}
				}
			}
			if k == 0 {
				continue
			}
			fine := levels[k-1]
			sums := make([]float64, len(mass[k]))
			for i, b := range mass[k-1] {
				x, y, z := i%fine.x.n, i/fine.x.n%fine.y.n, i/fine.x.n/fine.y.n
				sums[(z/2*l.y.n+y/2)*l.x.n+x/2] += b
			}
			for i, b := range mass[k] {
				if math.Abs(b-sums[i]) > 1e-5*most {
					t.Fatalf("%v, level %d, cell %v: b is %g, and that of its cells %g", p.Shape(), k, at(i/l.x.n, i%l.x.n), b, sums[i])
				}
			}
			for a, axis := range axes {
				clear(l.u)
				for r := range l.y.n * l.z.n {
					for x := range l.x.n {
						l.row(r)[x] = float32(axis.Pos[at(r, x)[a]])
					}
				}
				clear(fine.u)
				fine.interpolate(l)
				from := [3]gvf.Axis{fine.x.Axis, fine.y.Axis, fine.z.Axis}[a]
				for r := range fine.y.n * fine.z.n {
					for x, v := range fine.row(r)[:fine.x.n] {
						c := [3]int{x, r % fine.y.n, r / fine.y.n}[a]
						want := from.Pos[c]
						if c == 0 || len(from.Pos)%2 == 0 && c == len(from.Pos)-1 { // beyond which is no other to interpolate from
							want = axis.Pos[c/2]
						}
						if math.Abs(float64(v)-want) > 1e-5*(1+want) {
							t.Fatalf("%v, level %d, row %d, cell %d: place %g along axis %d is interpolated as %g", p.Shape(), k, r, x, want, a, v)
						}
					}
				}
			}
		}
	}
}

// From zero, a cycle is a symmetric operator B; from any u it gives u + B(f − Au). So the order of
// colours is the same in the first and the last smoothing.
func cyclesAreSymmetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, p := range uneven(t) {
		h := begun(t, p).levels
		for k, l := range h.levels {
			random := func() []float32 {
				list := make([]float32, len(l.f))
				for r := range l.y.n * l.z.n {
					for x := range l.x.n {
						list[r*l.stride+x] = rng.Float32() - 0.5
					}
				}
				return list
			}
			values := func() []float32 {
				var list []float32
				for r := range l.y.n * l.z.n {
					list = append(list, l.row(r)...)
				}
				return list
			}
			fromZero := func(f []float32) []float32 {
				copy(l.f, f)
				h.cycle(k, true)
				return values()
			}
			product := func(a, b []float32) (sum, size float64) {
				for i, v := range a {
					sum, size = sum+float64(v)*float64(b[i]), size+math.Abs(float64(v)*float64(b[i]))
				}
				return sum, size
			}
			f, g, u := random(), random(), random()
			one, size := product(fromZero(f), g)
			if other, _ := product(f, fromZero(g)); math.Abs(one-other) > 1e-5*size {
				t.Errorf("%v, level %d: products are %g and %g", p.Shape(), k, one, other)
			}
			set := func() {
				for r := range l.y.n * l.z.n {
					copy(l.row(r), u[r*l.stride:][:l.stride])
				}
			}
			set()
			copy(l.f, f)
			l.remain()
			want := fromZero(slices.Clone(l.rest[:len(l.f)]))
			set()
			copy(l.f, f)
			h.cycle(k, false)
			for i, v := range values() {
				if e := math.Abs(float64(v) - float64(u[i]) - float64(want[i])); e > 1e-4 {
					t.Fatalf("%v, level %d: value %d is %g, not %g", p.Shape(), k, i, v, u[i]+want[i])
				}
			}
		}
	}
}

// Each row is first once, and second once, when all around it have been first.
func rowsFollow(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {1, 2}, {1, 9}, {2, 1}, {2, 3}, {3, 2}, {4, 3}, {7, 2}, {12, 1}} {
		for threads := 1; threads < 6; threads++ {
			planes, each := n[0], n[1]
			first, second := make([]atomic.Int32, planes*each), make([]atomic.Int32, planes*each)
			l := &level{y: axis{n: each}, z: axis{n: planes}, threads: threads}
			l.follow(func(_, r int) { first[r].Add(1) }, func(_, r int) {
				for _, beside := range [][2]int{{0, 0}, {0, -1}, {0, 1}, {-1, 0}, {1, 0}} {
					z, y := r/each+beside[0], r%each+beside[1]
					if z >= 0 && z < planes && y >= 0 && y < each && first[z*each+y].Load() != 1 {
						t.Errorf("%v rows, %d threads: row %d is second before %d, %d was first", n, threads, r, z, y)
					}
				}
				second[r].Add(1)
			})
			for r := range first {
				if first[r].Load() != 1 || second[r].Load() != 1 {
					t.Errorf("%v rows, %d threads: row %d is first %d times, and second %d times", n, threads, r, first[r].Load(), second[r].Load())
				}
			}
		}
	}
}

// Cycles end at the tolerance, or when the residual no longer falls fast enough.
func cyclesEnd(t *testing.T) {
	p := open(t, "gvf-steady/tol=3/mu=1000/boundary=0/of=grf/shape=64x64/levels=1024/type=float32/smooth=3/seed=1")
	s := begun(t, p)
	start, err := p.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	solve := func(c int, tol float64) (cycles int, left float64, err error) {
		p.Tol = tol
		cycles, err = s.solve(make([]float32, len(start.B)), start.V0[c])
		return cycles, s.updateResidual(s.d, 0), err
	}
	l, exact, sources := s.finest(), 0, []float64(nil)
	for c, v0 := range start.V0 {
		source := math.Sqrt(s.sum(func(_, r int) (sum float64) {
			for i := r * l.x.n; i < (r+1)*l.x.n; i++ {
				e := float64(start.B[i]) * float64(v0[i])
				sum += e * e
			}
			return sum
		}))
		sources = append(sources, source)
		cycles, left, err := solve(c, 1e-3)
		if size := s.scale * source / math.Sqrt(float64(len(v0))); err != nil || size < 0.5 || size >= 1 {
			t.Errorf("component %d: levels are given values of about %v, %v", c, size, err)
		}
		if tol := left / source; tol*source == left {
			exact++
			if again, _, err := solve(c, tol); again != cycles || err != nil {
				t.Errorf("component %d: %d cycles leave the tolerance, and %d are taken: %v", c, cycles, again, err)
			}
		}
		refused, _, err := solve(c, 1e-12)
		var least float64
		if _, err := fmt.Sscanf(fmt.Sprint(err), "in float32 it leaves %g", &least); err != nil {
			t.Fatal(err)
		}
		if cycles, _, err := solve(c, 1.01*least); err != nil || refused != cycles+patience {
			t.Errorf("component %d: %d cycles are taken where %d bring it as near: %v", c, refused, cycles, err)
		}
	}
	if exact == 0 {
		t.Error("no tolerance is what is left")
	}
	for _, a := range []*axis{&l.x, &l.y} { // so that coarser levels do not help
		clear(a.nearGiven)
		clear(a.farGiven)
	}
	cycles, left, err := solve(0, 1e-12)
	if want := fmt.Sprintf("%d cycles leave %.3g of |b·V0|, not 1e-12", enough, left/sources[0]); cycles != enough || err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%d slow cycles are taken: %v, want %q", cycles, err, want)
	}
}

// A tolerance beyond float32 is an error of one line, and so is another workload.
func refusals(t *testing.T) {
	p := open(t, "gvf-steady/tol=12/mu=100/boundary=0/of=grf/shape=40x41/levels=1024/type=float32/smooth=3/seed=1")
	if _, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{}); err == nil || !strings.Contains(err.Error(), "component x: in float32 it leaves") {
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
	if _, err := (Implementation{}).Setup(p, bench.Conditions{Setting: bench.Setting{ISA: "sse"}}); err == nil {
		t.Error("an unknown instruction set is set up")
	}
}

// Every instruction set and every number of cores has the same bits.
func sameBits(t *testing.T) {
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

// The state of a job after a call does not change the next call.
func again(t *testing.T) {
	p := open(t, "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=45x37x41/type=uint8/seed=1")
	j, err := Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	var first gvf.Flow
	cycles := 0
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
			cycles = j.(*job).cycles
		}
		if n := j.(*job).cycles; n != cycles || n == 0 {
			t.Errorf("call %d takes %d cycles, and the first %d", k, n, cycles)
		}
		if d := gvf.Steps().Policy.Agree(p, first, out); d != nil {
			t.Fatalf("call %d: %v", k, d)
		}
	}
}

// Residuals, which shares no code with the solver, confirms that images of any shape settle,
// with weak and strong diffusion.
func anyShape(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	images := 80
	if race.Enabled {
		images = 8
	}
	for k := range images {
		side := func() int64 { return 1 + rng.Int64N(1<<rng.IntN(7)) }
		shape := grid.Shape{D: side(), H: side(), W: side()}
		if rng.IntN(2) == 0 {
			shape.D = 1
		}
		if k%2 == 0 { // each length of rows of a few vectors
			shape.W, shape.H = int64(26+k/2), min(shape.H, 8)
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
