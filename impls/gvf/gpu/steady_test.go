package gpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/gvf"
)

// restOnHost has few threads, which are slow there, and as many blocks as there are components.
func restOnHost(t *testing.T, fault string) resident.Opener {
	return standIn(t, fault, 3, 128, "gvf_start", "gvf_steady")
}

func setUp(t testing.TB, i Implementation, p *gvf.Problem, scope bench.Scope) *job {
	t.Helper()
	return ecctest.SetUp(t, i, p, bench.Conditions{Setting: bench.Setting{Scope: scope}}).(*job)
}

// rest returns the field at rest, its residual relative to the tolerance, and the number of steps.
// Repeated calls must have the same bits.
func rest(t testing.TB, i Implementation, p *gvf.Problem, scope bench.Scope, times int) (f gvf.Flow, share, steps float64) {
	t.Helper()
	j := setUp(t, i, p, scope)
	for k := range times {
		j.Poison()
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		out, err := j.Out()
		if err != nil {
			t.Fatal(err)
		}
		if k > 0 {
			if d := gvf.Steps().Policy.Agree(p, f, out); d != nil {
				t.Errorf("call %d has other bits: %v", k, d)
			}
		}
		f = gvf.Flow{}
		for _, list := range out.V {
			f.V = append(f.V, slices.Clone(list)) // the next answer takes its place
		}
	}
	of, relative, err := gvf.Residuals(p, f)
	if err != nil {
		t.Fatal(err)
	}
	for c := range of {
		if of[c] > 0 {
			share = max(share, of[c]/(p.Tol*relative[c]))
		}
	}
	return f, share, j.solver.steps()
}

// thin has b almost only in a few pixels of a line, which each level places elsewhere. A smoother
// that is too weak for cells of large b needs 14 steps.
const thin = "gvf-steady/tol=4/mu=50/boundary=0/of=ball/shape=600x5/type=uint8"

// Residuals, which shares no code with the solver, confirms that fields settle after few
// steps.
func TestRestOnHost(t *testing.T) {
	testRest(t, Multigrid(restOnHost(t, "")), append(gvf.ToSteady().Adversarial, thin))
}

// manyNames have levels of more than fewCells cells, whose passes can be launches: one or two
// levels, with whole and partial rows. The last has none, because its rows have two cells.
var manyNames = []string{
	"gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=21x19x18/type=uint8/seed=1", "gvf-steady/tol=5/mu=50/boundary=0/of=noise/shape=40x22x16/type=uint8/seed=4", "gvf-steady/tol=4/mu=200/boundary=1/of=grf/shape=44x33x27/type=float32/levels=1024/smooth=2/seed=3",
	"gvf-steady/tol=4/mu=50/boundary=0/of=ball/shape=64x9x8/type=uint8", "gvf-steady/tol=3/mu=50/boundary=0/of=noise/shape=2x70x40/type=uint8/seed=2",
}

// launching has passes of levels as launches of their own that are not worth it.
func (i Implementation) launching() Implementation {
	i.many = fewCells
	return i
}

func TestRestByLaunchesOnHost(t *testing.T) {
	testRest(t, Multigrid(restOnHost(t, "")).launching(), manyNames)
}

func TestRestOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	testRest(t, Multigrid(open).launching(), append(gvf.ToSteady().Adversarial, manyNames...))
	if testing.Short() {
		testRest(t, Multigrid(open), []string{thin})
		return
	}
	testRest(t, Multigrid(open), append(gvf.ToSteady().Adversarial, thin,
		"gvf-steady/tol=6/mu=50/boundary=0/of=noise/shape=512x512/levels=1024/type=float32/seed=1", "gvf-steady/tol=5/mu=200/boundary=1/of=grf/shape=1001x747/levels=1024/type=float32/smooth=3/seed=1",
		"gvf-steady/tol=4/mu=50/boundary=0/of=grf/shape=181x217x181/levels=1024/type=float32/smooth=2/seed=1", "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=130x65x71/type=uint8/seed=1",
		"gvf-steady/tol=4/mu=50/boundary=0/of=ball/shape=3000x5/type=uint8", "gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=5x3000x2/type=uint8/seed=2",
	))
}

func testRest(t *testing.T, i Implementation, names []string) {
	scopes := i.About().Scopes
	for k, name := range names {
		_, share, steps := rest(t, i, problemOf(t, name), scopes[k%len(scopes)], 1+k%2)
		if !(share <= 1) || steps > 12 {
			t.Errorf("%s: %v steps leave %v of what they may", name, steps, share)
		}
	}
}

// A given field settles, too.
func TestGivenFieldsRestOnHost(t *testing.T) {
	p := problemOf(t, "gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=20x9x6/type=uint8/seed=5")
	start, err := p.Start(1)
	if err != nil {
		t.Fatal(err)
	}
	if _, share, _ := rest(t, Multigrid(restOnHost(t, "")), p.Flowing(start.V0, 0), bench.Device, 2); !(share <= 1) {
		t.Errorf("it leaves %v of what it may", share)
	}
}

func TestRestFaultsAreSeenOnHost(t *testing.T) {
	p := problemOf(t, "gvf-steady/tol=4/mu=200/boundary=1/of=grf/shape=67x35/type=float32/levels=1024/smooth=2/seed=3")
	for _, f := range []Fault{Early, BorderOff} {
		if _, share, _ := rest(t, faulty(Multigrid(restOnHost(t, "")), f), p, bench.Kernel, 1); share <= 1 {
			t.Errorf("%s is not seen", f)
		}
	}
}

// A kernel that concludes before all blocks are done underestimates the residual.
func TestHasteIsSeenOnHost(t *testing.T) {
	p := problemOf(t, manyNames[2])
	j, err := Multigrid(restOnHost(t, "hasty")).launching().Setup(p, bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close() // reports the failed launch again
	if err := j.Do(nil); err != nil {
		t.Logf("no step gains anything: %v", err)
		return
	}
	f, err := j.Out()
	if err != nil {
		t.Fatal(err)
	}
	of, relative, err := gvf.Residuals(p, f)
	if err != nil {
		t.Fatal(err)
	}
	for c := range of {
		if of[c] > p.Tol*relative[c] {
			return
		}
	}
	t.Error("it is not seen")
}

// A tolerance beyond float32 is an error of one line.
func TestRestRefusalsOnHost(t *testing.T) {
	p := problemOf(t, "gvf-steady/tol=12/mu=100/boundary=0/of=noise/shape=9x8/type=uint8/seed=1")
	i := Multigrid(restOnHost(t, ""))
	if err := setUp(t, i, p, bench.Kernel).Do(nil); err == nil || !strings.Contains(err.Error(), "ask for a larger tolerance") {
		t.Errorf("a tolerance of 1e-12: %v", err)
	}
	p = problemOf(t, "gvf/steps=3/mu=50/boundary=0/of=noise/shape=9x8/type=uint8/seed=1")
	if err := i.CanDo(p, bench.Conditions{}); err == nil {
		t.Error("steps are taken")
	}
}

// With another restriction the answer is still right, after more steps. So inner products of random
// lists compare interpolation with restriction.
func TestRestrictionIsTheTransposeOnHost(t *testing.T) {
	for _, name := range []string{"gvf-steady/tol=4/mu=50/boundary=0/of=noise/shape=13x11x9/type=uint8/seed=1", "gvf-steady/tol=4/mu=50/boundary=1/of=noise/shape=31x22/type=uint8/seed=1"} {
		p := problemOf(t, name)
		for fault, wrong := range map[string]bool{"": false, "adjoint": true} {
			if worst := transposed(t, Multigrid(restOnHost(t, fault)), p); worst > 1e-5 != wrong {
				t.Errorf("%s, fault %q: products differ by %g", name, fault, worst)
			}
		}
	}
}

// transposed returns the largest difference of ⟨Pu, v⟩ and ⟨u, Rv⟩ on any level.
func transposed(t *testing.T, i Implementation, p *gvf.Problem) (worst float64) {
	j := setUp(t, i, p, bench.Kernel)
	s := j.solver
	s.most = 0
	levels := int64(len(s.ladder.plan) / ofLevel)
	s.ladder.tape = nil
	for k := range levels - 1 {
		s.ladder.tape = append(s.ladder.tape, entry{what: opUp, level: k, from: inZ, to: inX, flags: meets}, entry{what: opRestricts, level: k, from: inP, to: inF, flags: meets})
	}
	s.once = int64(len(s.ladder.tape))
	s.ladder.tape = append(s.ladder.tape, entry{what: opAdvance, flags: meets | sumsUp})
	random, rng := make([]float32, s.ladder.arena), rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = rng.Float32() - 0.5
	}
	for k := range levels { // which have nothing beyond the end of a row
		p := s.ladder.plan[ofLevel*k:]
		for i := p[12]; i < p[13]; i++ {
			room := (p[13] - p[12]) / lists / s.components
			if at := (i - p[12]) % room; at%p[7] >= p[0] || at >= p[7]*p[1]*p[2] {
				random[i] = 0
			}
		}
	}
	s.walk()
	if err := errors.Join(j.stream.Upload(s.tape, 0, s.entries()), j.stream.Upload(s.arena, 0, grid.Bytes(random))); err != nil {
		t.Fatal(err)
	}
	if err := j.Do(nil); err != nil {
		t.Fatal(err)
	}
	after := make([]byte, 4*len(random))
	if err := j.stream.Download(after, s.arena, 0); err != nil {
		t.Fatal(err)
	}
	list := func(of []float32, level, which int64) []float32 {
		p := s.ladder.plan[ofLevel*level:]
		n := (p[13] - p[12]) / lists
		return of[p[12]+which*n:][:n]
	}
	made := make([]float32, len(random))
	for i := range made {
		made[i] = math.Float32frombits(binary.LittleEndian.Uint32(after[4*i:]))
	}
	for k := range levels - 1 {
		one, other, size := 0.0, 0.0, 0.0
		// The finest x takes turns with t at the last entry.
		x := list(made, k, inX)
		for i, v := range list(random, k, inP) {
			one += float64(x[i]) * float64(v)
			size += math.Abs(float64(x[i]) * float64(v))
		}
		for i, u := range list(random, k+1, inZ) {
			other += float64(u) * float64(list(made, k+1, inF)[i])
		}
		worst = max(worst, math.Abs(one-other)/size)
	}
	return worst
}

// BenchmarkRestOnDevice also reports the time to rest by the device's events.
func BenchmarkRestOnDevice(b *testing.B) {
	for _, of := range []string{
		"tol=6/mu=50/boundary=0/of=noise/shape=512x512/levels=1024/type=float32/seed=1", "tol=6/mu=50/boundary=0/of=grf/shape=512x512/levels=1024/type=float32/smooth=2/seed=1",
		"tol=4/mu=50/boundary=0/of=noise/shape=256x256x256/levels=1024/type=float32/seed=1", "tol=4/mu=50/boundary=0/of=grf/shape=256x256x256/levels=1024/type=float32/smooth=2/seed=1",
		"tol=4/mu=50/boundary=0/of=noise/shape=181x217x181/levels=1024/type=float32/seed=1", "tol=4/mu=50/boundary=0/of=noise/shape=512x512x512/levels=1024/type=float32/seed=1",
	} {
		b.Run(of, func(b *testing.B) {
			j := setUp(b, Multigrid(ecctest.Device(b)), problemOf(b, "gvf-steady/"+of), bench.Kernel)
			sum := 0.0
			for b.Loop() {
				sum += timed(b, j)
			}
			b.ReportMetric(sum/float64(b.N)*1e3, "device-ms")
			b.ReportMetric(j.solver.steps(), "steps")
		})
	}
}

// timed returns the seconds of a call by the device's events.
func timed(b *testing.B, j *job) float64 {
	b.Helper()
	if err := j.Do(nil); err != nil {
		b.Fatal(err)
	}
	took, err := j.Elapsed()
	if err != nil {
		b.Fatal(err)
	}
	return took.Seconds()
}

// BenchmarkStepsOnDevice reports the voxel steps per ns, from the difference of 68 and 4 steps, and
// the start separately.
func BenchmarkStepsOnDevice(b *testing.B) {
	for _, storage := range []string{"gvf", "gvf-float16"} {
		for _, shape := range []string{"256x256x256", "512x512x512", "16384x16384"} {
			if storage != "gvf" && shape == "16384x16384" {
				continue
			}
			b.Run(storage+"/"+shape, func(b *testing.B) {
				const few, many = 4, 68
				jobs := map[int]*job{}
				var voxels int64
				for _, steps := range []int{few, many} {
					p := problemOf(b, fmt.Sprintf("%s/steps=%d/mu=50/boundary=0/of=noise/shape=%s/levels=1024/type=float32/seed=1", storage, steps, shape))
					voxels = p.Shape().Voxels()
					jobs[steps] = setUp(b, Blocked(ecctest.Device(b)), p, bench.Kernel)
				}
				sum := 0.0
				for b.Loop() {
					sum += timed(b, jobs[many]) - timed(b, jobs[few])
				}
				b.ReportMetric(float64((many-few)*voxels*int64(b.N))/sum/1e9, "Gvox·it/s")
			})
		}
	}
}

// steps returns the number of steps of the last answer.
func (s *solver) steps() float64 { return grid.Values[float64](s.report.Data())[0] }
