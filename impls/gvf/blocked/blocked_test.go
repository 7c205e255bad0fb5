package blocked

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/gvf/cpu"
	"eccbench/impls/gvf/definition"
	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/gvf"
)

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	for _, i := range []bench.Implementation[*gvf.Problem, gvf.Flow]{Implementation{}, cpu.Implementation{}, definition.Implementation{}} {
		if race.Enabled && i != (Implementation{}) {
			continue
		}
		if n := judgedtest.Alone(t, gvf.Steps(i), true, 0); !n.All() {
			t.Errorf("%s: right answers are found %+v", i.About().Name, n)
		}
	}
	again := func(p *gvf.Problem, steps int64, b gvf.Boundary) gvf.Flow {
		f, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, gvf.NewProblem(p.Source, p.Mu, steps, 0, b), bench.Conditions{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	changed := func(f gvf.Flow, component int, change func(i int, v float32) float32) gvf.Flow {
		f.V = slices.Clone(f.V)
		f.V[component] = slices.Clone(f.V[component])
		for i, v := range f.V[component] {
			f.V[component][i] = change(i, v)
		}
		return f
	}
	for name, spoil := range map[string]func(*gvf.Problem, gvf.Flow) gvf.Flow{
		"the field of one step less after an odd number": func(p *gvf.Problem, _ gvf.Flow) gvf.Flow { return again(p, p.Steps-p.Steps%2, p.Boundary) },
		"the border of the other boundary":               func(p *gvf.Problem, _ gvf.Flow) gvf.Flow { return again(p, p.Steps, gvf.Third-p.Boundary) },
		"other rounding": func(_ *gvf.Problem, f gvf.Flow) gvf.Flow {
			return changed(f, 0, func(_ int, v float32) float32 { return math.Nextafter32(v, 1) })
		},
		"a component lost at the edge of tiles": func(_ *gvf.Problem, f gvf.Flow) gvf.Flow {
			return changed(f, 1, func(i int, v float32) float32 { return v * float32(min(1, i%lead)) })
		},
	} {
		if race.Enabled {
			break // without a fault all goroutines were seen
		}
		t.Run(name, func(t *testing.T) {
			wrong := gvf.Steps(judgedtest.Spoiled(Implementation{}, spoil))
			boxes := judgedtest.WithLaws(wrong, func(name string) bool { return strings.Contains(name, "boxes") })
			boxes.Adversarial = []string{"gvf/steps=5/mu=50/boundary=0/of=noise/shape=900x700/type=uint8/seed=1", "gvf/steps=3/mu=50/boundary=1/of=noise/shape=130x90x80/type=uint8/seed=1"}
			if n := judgedtest.Alone(t, boxes, true, 0); n.Wrong != len(boxes.Adversarial) {
				t.Errorf("by boxes that are a part of the image: %+v", n)
			}
			for what, laws := range map[string]func(string) bool{"all": func(string) bool { return true }, "laws that ask": func(name string) bool { return !strings.Contains(name, "plain") && !strings.Contains(name, "float64") }} {
				t.Run(what, func(t *testing.T) { judgedtest.Caught(t, judgedtest.WithLaws(wrong, laws), true, 0) })
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
