package multigrid

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/gvf"
)

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	if n := judgedtest.Alone(t, judgedtest.Thinned(gvf.ToSteady(Implementation{})), true, 0); !n.All() {
		t.Errorf("right answers are found %+v", n)
	}
	for name, fault := range map[string]struct {
		spoil func(*gvf.Problem, gvf.Flow) gvf.Flow
		laws  []string
	}{
		"the last component as that before it": {func(_ *gvf.Problem, f gvf.Flow) gvf.Flow {
			list := slices.Clone(f.V)
			list[len(list)-1] = list[len(list)-2]
			return gvf.Flow{V: list}
		}, []string{"residual", "a made steady state"}},
		"a thousandth too large": {func(_ *gvf.Problem, f gvf.Flow) gvf.Flow {
			list := []float32{}
			for _, v := range f.V[0] {
				list = append(list, v*1.001)
			}
			return gvf.Flow{V: append([][]float32{list}, f.V[1:]...)}
		}, []string{"residual"}},
		"the border of the other boundary": {func(p *gvf.Problem, _ gvf.Flow) gvf.Flow {
			other, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, gvf.NewProblem(p.Source, p.Mu, 0, p.Tol, gvf.Third-p.Boundary), bench.Conditions{})
			if err != nil {
				t.Fatal(err)
			}
			return other
		}, []string{"residual", "a made steady state"}},
	} {
		if race.Enabled {
			break // without a fault all goroutines were seen
		}
		wrong := gvf.ToSteady(judgedtest.Spoiled(Implementation{}, fault.spoil))
		for _, law := range fault.laws {
			t.Run(name+", by "+law, func(t *testing.T) {
				judgedtest.Caught(t, judgedtest.WithLaws(wrong, func(name string) bool { return strings.HasPrefix(name, law) }), true, 0)
			})
		}
	}
}

func BenchmarkSteady(b *testing.B) {
	for _, name := range []string{"gvf-steady/tol=6/mu=50/boundary=0/of=grf/shape=512x512/levels=1024/type=float32/smooth=3/seed=1", "gvf-steady/tol=4/mu=50/boundary=0/of=grf/shape=256x256x256/levels=1024/type=float32/smooth=3/seed=1"} {
		p := open(b, name)
		b.Run(p.Shape().String(), func(b *testing.B) {
			j, err := Implementation{}.Setup(p, bench.Conditions{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := j.Do(nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(j.(*job).cycles)/float64(p.Dim()), "cycles")
		})
	}
}
