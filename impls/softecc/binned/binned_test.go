package binned_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/impls/softecc/dense"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

type implementation = bench.Implementation[*softecc.Problem, softecc.Answer]

func answer(i implementation, threads int, isa string) func(p *softecc.Problem) (softecc.Answer, error) {
	return func(p *softecc.Problem) (softecc.Answer, error) {
		return bench.Answer(i, p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads, ISA: isa}})
	}
}

// Answers are within the limits of the definition on all adversarial inputs, and on planes cut into
// strips. The test covers both constructions, each instruction set, one core and several.
func TestWithinLimits(t *testing.T) {
	names := append(slices.Clone(softecc.Workload().Adversarial), "softecc/m=3/lambda=100/alpha=100/dir=1/of=noise/shape=900x40x3/type=float32/levels=1024/seed=1")
	for i := range 2 * len(names) {
		name := names[i/2]
		p := softtest.Open(t, name)
		p.Vertices = i%2 > 0
		want, err := softecc.Define(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, set := range (binned.Implementation{}).About().ISAs {
			for _, threads := range []int{1, 3} {
				got, err := answer(binned.Implementation{}, threads, set)(p)
				if err != nil {
					t.Fatal(err)
				}
				if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("%s, vertices %v, %s, %d cores: %v", name, p.Vertices, set, threads, d)
				}
			}
		}
	}
}

// The bound of doc/proofs/softecc.md holds beyond λ·range = 1000, for values on no level, and for
// every width of bins down to none.
func TestBound(t *testing.T) {
	for _, lambda := range []string{"1", "20", "150", "1000", "9000", "40000", "10000000"} {
		for _, image := range []string{"between/shape=31x11x7/levels=1024/seed=20", "noise/shape=16x15x14/type=float32/levels=70000/seed=5"} {
			for _, alpha := range []string{"0", "100"} {
				p := softtest.Open(t, "softecc/m=64/lambda="+lambda+"/alpha="+alpha+"/dir=2/of="+image)
				want, err := softecc.Define(p)
				if err != nil {
					t.Fatal(err)
				}
				got, err := answer(binned.Implementation{}, 2, "")(p)
				if err != nil {
					t.Fatal(err)
				}
				if d, list := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("λ·range %s, α %s, %s: %v (%v)", lambda, alpha, image, d, list)
				}
			}
		}
	}
}

// A repeated call gives the same answer, also after Poison, and does not change the problem.
func TestAgain(t *testing.T) {
	p := softtest.Open(t, "softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=40x31x20/type=uint16/levels=300/seed=5")
	tau, before := slices.Clone(p.Tau), []softecc.Answer{}
	j, err := binned.Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for range 3 {
		j.Poison()
		if a, err := j.Out(); err != nil || len(a.Chi) != 0 {
			t.Errorf("poisoned: %v, %v", a.Chi, err)
		}
		if err := j.Do(&bench.Trace{}); err != nil {
			t.Fatal(err)
		}
		a, err := j.Out()
		if err != nil {
			t.Fatal(err)
		}
		a.DX = slices.Clone(a.DX)
		before = append(before, a)
	}
	for _, a := range before[1:] {
		for _, m := range softecc.Distance(p, before[0], a) {
			if m.Value > 1e-12 {
				t.Errorf("another answer: %v", m)
			}
		}
	}
	if !slices.Equal(tau, p.Tau) {
		t.Error("the thresholds were changed")
	}
}

// The laws alone confirm an answer, without the definition's.
func TestLawsConfirm(t *testing.T) {
	p := softtest.Open(t, "softecc/m=24/lambda=200/alpha=300/dir=3/of=noise/shape=24x20x16/levels=1024/type=float32/seed=3")
	ask := answer(binned.Implementation{}, 2, "")
	out, err := ask(p)
	if err != nil {
		t.Fatal(err)
	}
	v := verify.Judge([]string{"p"}, softecc.Policy().Check(verify.Question[*softecc.Problem, softecc.Answer]{Name: "p", In: p, Out: out, Budget: 1 << 45, Thorough: true, Ask: ask}))
	if v.Status != verify.Verified {
		t.Fatalf("%s: %s", v.Status, v.Reason)
	}
}

// Values beyond the ends of the ladder are in no bin, but are counted.
func TestValuesBeyondTheBins(t *testing.T) {
	p := softtest.Open(t, "softecc/m=24/lambda=200/alpha=300/dir=3/of=between/shape=24x20x6/levels=64/seed=3")
	far := *p
	far.Tau = slices.Clone(p.Tau)
	for i := range far.Tau {
		far.Tau[i] -= 40 * math.Abs(far.Tau[i]) // in any order, and far from all values
	}
	for _, q := range []*softecc.Problem{p, &far} {
		want, err := softecc.Define(q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := answer(binned.Implementation{}, 2, "")(q)
		if err != nil {
			t.Fatal(err)
		}
		if d, _ := softecc.Policy().Compare(q, want, got); d != nil {
			t.Error(d)
		}
	}
}

// Answers are right in any units of the image, also if gradients nearly exceed float32.
func TestUnits(t *testing.T) {
	for _, step := range []string{"2e-35", "1e-13", "1e13", "1e27"} {
		for _, alpha := range []string{"0", "100"} {
			p := softtest.Open(t, "softecc/m=5/lambda=100/alpha="+alpha+"/dir=3/of=noise/shape=9x8x7/levels=64/type=float32/step="+step+"/seed=3")
			if step == "2e-35" {
				part := 0.99 * math.MaxFloat32 / p.Steepest()
				for j := range p.G {
					p.G[j] *= part
				}
			}
			want, err := softecc.Define(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range []implementation{binned.Implementation{}, dense.Implementation{}} {
				got, err := answer(i, 2, "")(p)
				if err != nil {
					t.Fatal(err)
				}
				if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("levels %s apart, α %s, %s: %v", step, alpha, i.About().Name, d)
				}
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	p := softtest.Open(t, "softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=40x31x20/type=uint8/seed=5")
	two := bench.Setting{Threads: 2}
	for _, c := range []struct {
		given bench.Conditions
		want  string // "" where it is allowed
	}{
		{bench.Conditions{Setting: two, Time: 743_999}, "24800 voxels × 60 ns on 2 cores"}, {bench.Conditions{Setting: two, Time: 744_000}, ""},
		{bench.Conditions{Time: 1_487_999}, "on 1 cores"}, {bench.Conditions{Time: 1_488_000}, ""},
		{bench.Conditions{Setting: two, Memory: 14_804_063}, "5 bytes for each of 24800 voxels, and bins for 2 cores"}, {bench.Conditions{Setting: two, Memory: 14_804_064}, ""},
		{bench.Conditions{Setting: bench.Setting{ISA: "altivec"}}, "altivec is not available"},
	} {
		if err := (binned.Implementation{}).CanDo(p, c.given); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.given, err, c.want)
		}
	}
	p.Lambda = -1
	if err := (binned.Implementation{}).CanDo(p, bench.Conditions{}); err == nil {
		t.Error("takes a problem without an answer")
	}
}

func BenchmarkBinned(b *testing.B) {
	for _, image := range []string{"grf/shape=256x256x128/type=float32/levels=1024/smooth=2/seed=1", "noise/shape=256x256x128/type=float32/levels=1024/seed=1"} {
		kind, _, _ := strings.Cut(image, "/")
		for _, lambda := range []string{"100", "1000"} {
			b.Run(kind+"/lambda="+lambda, func(b *testing.B) {
				p, err := softecc.Inputs().Open("softecc/m=64/lambda=" + lambda + "/alpha=100/dir=1/of=" + image)
				if err != nil {
					b.Fatal(err)
				}
				if p.Source, err = grid.Load(p.Source); err != nil {
					b.Fatal(err)
				}
				j, err := binned.Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: 2}})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if err := j.Do(nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(p.Shape().Voxels())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "Gvox/s")
			})
		}
	}
}
