package binned

import (
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
)

// Layers agree with the definition on all adversarial inputs and on larger images.
func TestLayer(t *testing.T) {
	layersAnswer(t, append(slices.Clone(softecc.Workload().Adversarial),
		"softecc/m=9/lambda=100/alpha=100/dir=1/of=grf/shape=40x30x20/type=float32/levels=1024/smooth=1/seed=1", "softecc/m=9/lambda=300/alpha=0/dir=2/of=noise/shape=150x100/type=float32/levels=70000/seed=5"))
}

// In the V-construction the limit λ → ∞ is the exact curve by enumeration of all cells.
func TestVerticesToTheLimit(t *testing.T) {
	for _, image := range []string{"noise/shape=9x8x7/type=uint8/levels=5/seed=3", "grf/shape=19x17/type=uint8/levels=50/smooth=1/seed=3", "noise/shape=1x9/type=uint8/seed=4"} {
		p := open(t, "softecc/m=1/lambda=1/alpha=0/dir=4/of="+image)
		p.Lambda, p.Tau, p.G, p.Vertices = 1700, nil, nil, true
		for k := range p.Ladder().Len() {
			p.Tau, p.G = append(p.Tau, float64(p.Ladder().Value(k))+0.5), append(p.G, 1)
		}
		field, err := grid.Load(p.Source)
		if err != nil {
			t.Fatal(err)
		}
		changes, chi := ecctest.EnumerateIn(field, ecc.Convention{Vertices: true}), int64(0)
		a, err := softecc.Define(p)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := layered[float32](t, p, 1, nil)
		for k := range p.Tau {
			for len(changes) > 0 && changes[0].Level <= int64(k) {
				chi, changes = chi+changes[0].Change, changes[1:]
			}
			if a.Chi[k] != float64(chi) || b.Chi[k] != float64(chi) {
				t.Fatalf("%s, level %d: %v and %v, want %d", image, k, a.Chi[k], b.Chi[k], chi)
			}
		}
	}
}
