package impls

import (
	"fmt"
	"slices"
	"testing"
	"time"

	bettidual "eccbench/impls/betti/duality"
	"eccbench/impls/homology/duality"
	"eccbench/impls/homology/reduced"
	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/homology"
)

// limit keeps the definition from long computations.
const limit = 5 * time.Second

func TestHomologyOfAdversarialInputs(t *testing.T) {
	for _, i := range homologies(nil) {
		if i.About().Where != "cpu" {
			continue
		}
		t.Run(i.About().Name, func(t *testing.T) {
			n := judgedtest.Alone(t, homology.Workload(i), !testing.Short() && !race.Enabled, limit)
			if t.Logf("%+v", n); n.Wrong+n.Open > 0 || n.Right == 0 {
				t.Error("right answers are not confirmed")
			}
		})
	}
}

// The policy alone finds mistakes in the sums of duality.
func TestPolicyCatchesWrongHomologyByDuality(t *testing.T) {
	for name, fault := range map[string]func(p *homology.Problem, b []int64){
		"b2 without the outside": func(_ *homology.Problem, b []int64) { b[1], b[2] = b[1]+b[0], b[2]+b[0] },
		"a union counted twice":  func(_ *homology.Problem, b []int64) { b[0], b[1] = b[0]-1, b[1]-1 },
		"unused vertices as components": func(p *homology.Problem, b []int64) {
			used := map[uint32]bool{}
			for _, v := range slices.Concat(p.Tops...) {
				used[v] = true
			}
			more := int64(p.Vertices - len(used))
			b[0], b[1] = b[0]+more, b[1]+more
		},
	} {
		t.Run(name, func(t *testing.T) {
			wrong := judgedtest.Spoiled[*homology.Problem, homology.Groups](duality.Implementation{}, func(p *homology.Problem, g homology.Groups) homology.Groups {
				g.Betti = slices.Clone(g.Betti)
				fault(p, g.Betti)
				return g
			})
			judgedtest.Caught(t, homology.Workload(wrong), false, limit)
		})
	}
}

// Voxels cut in tetrahedra have the Betti numbers that the workload of images finds.
func TestHomologyOfVoxelsIsThatOfTheImage(t *testing.T) {
	for _, image := range []string{"noise/shape=17x16x15/type=uint8/levels=2/seed=4", "cavities/shape=9x9x9/type=uint8", "links/shape=32x32x32/type=uint8"} {
		for _, cut := range []string{"kuhn", "five"} {
			const level = 0
			of, err := betti.Inputs{}.Open(betti.NameOf(level, image))
			if err != nil {
				t.Fatal(err)
			}
			conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
			want, err := bench.Answer(bettidual.Implementation{}, of, conditions)
			if err != nil {
				t.Fatal(err)
			}
			p, err := homology.Inputs{}.Open(fmt.Sprintf("voxels/at=%d/cut=%s/over=2/of=%s", level, cut, image))
			if err != nil {
				t.Fatal(err)
			}
			got, err := bench.Answer(reduced.Implementation{}, p, conditions)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Betti[:3], []int64{want.B0, want.B1, want.B2}) {
				t.Errorf("%s of %s: %v, want %v", cut, image, got, want)
			}
		}
	}
}
