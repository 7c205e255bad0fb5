package multigrid

import (
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
	for _, f := range []Fault{Lost, Early, BorderOff} {
		if race.Enabled {
			break // without a fault all goroutines were seen
		}
		t.Run(string(f), func(t *testing.T) {
			for _, law := range []string{"residual", "a made steady state"} {
				if law != "residual" && f == Early {
					continue // its first guess already satisfies that law
				}
				t.Run(law, func(t *testing.T) {
					judgedtest.Caught(t, judgedtest.WithLaws(gvf.ToSteady(Faulty(f)), func(name string) bool { return strings.HasPrefix(name, law) }), true, 0)
				})
			}
		})
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
