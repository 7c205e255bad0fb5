package impls_test

import (
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/softecc"
)

// Every size in README and reports has an affordable witness: on two cores and three rotating inputs,
// within the time limit of a cell.
func TestEverySizeHasAWitness(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const noise = "noise/shape="
	s := impls.With(impls.List(nil), nil)
	affords(t, s.Curve, ecc.FingerprintLaw,
		noise+"2048x2048x2048/levels=1024/type=float32/seed=1", noise+"16384x16384/levels=256/type=uint8/seed=1")
	affords(t, s.Betti, betti.FloodName, "betti/at=127/of="+noise+"1024x1024x1024/levels=256/type=uint8/seed=1",
		"betti/at=127/of="+noise+"2048x2048x2048/levels=256/type=uint8/seed=1")
	affords(t, s.BettiCurves, "unions of all voxels in order, and the fingerprint",
		noise+"512x512x512/levels=256/type=uint8/seed=1")
	affords(t, s.Pairs, "both forests, and for volumes the chains by a random hash",
		noise+"256x256x256/levels=256/type=uint8/seed=1", noise+"4096x4096/levels=256/type=uint8/seed=1")
	for _, vertices := range []string{"", "vertices=1/"} {
		affords(t, softecc.Workload(), "one pass over all cells",
			"softecc/m=64/lambda=100/alpha=100/dir=1/"+vertices+"of="+noise+"512x512x512/levels=1024/type=float32/seed=1",
			"softecc/m=64/lambda=100/alpha=0/dir=1/"+vertices+"of="+noise+"8192x8192/levels=1024/type=float32/seed=1",
			"softecc/m=64/lambda=1000000/alpha=0/dir=1/"+vertices+"of="+noise+"512x512x512/levels=1024/type=float32/seed=1")
	}
	const plain, boxes = "the plain loop, bit for bit", "the plain loop in boxes, bit for bit"
	affords(t, s.Flow, plain, "gvf/steps=256/mu=50/boundary=0/of="+noise+"256x256x256/levels=1024/type=float32/seed=1",
		"gvf/steps=16/mu=50/boundary=0/of="+noise+"16384x16384/levels=1024/type=float32/seed=1",
		"gvf/steps=512/mu=50/boundary=0/of="+noise+"512x512/levels=1024/type=float32/seed=1")
	affords(t, gvf.Keeping(gvf.NameFloat16), boxes,
		"gvf-float16/steps=32/mu=50/boundary=0/of="+noise+"512x512x512/levels=1024/type=float32/seed=1")
	affords(t, s.Steady, "residual in float64",
		"gvf-steady/tol=4/mu=50/boundary=0/of="+noise+"512x512x512/levels=1024/type=float32/seed=1")
	affords(t, batch.Workload(), "fingerprint of each image",
		"batch/count=1000/of="+noise+"128x128x128/levels=1024/type=float32/seed=1")
	affords(t, s.Voxels, "nothing missed, by the inertia of LDLᵀ",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of="+noise+"512x512/levels=256/type=uint8/seed=1")
	affords(t, s.Voxels, "nothing missed, by a random system",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of="+noise+"96x96x96/levels=256/type=uint8/seed=1")
	affords(t, s.Lanczos, "the steps' recurrence in float64",
		"eigenmap-lanczos/steps=250/alpha=40/beta=5000/side=4/start=1/of="+noise+"672x560/levels=256/type=uint8/seed=1")
}

// Every question that peers are asked, and whose answer does not change locally, has inputs with other seeds.
func TestOtherSeeds(t *testing.T) {
	s := impls.With(impls.List(nil), nil)
	for form, inputs := range map[string]any{
		"betti/at=127/of=": s.Betti.Inputs, "betti/at=3/of=": s.BettiV.Inputs, "betti/at=4/of=": s.Euler.Inputs,
		"betti/at=5/of=": s.Components.Inputs, "": s.BettiCurves.Inputs, "gvf/steps=1/mu=0.05/boundary=0/of=": s.Flow.Inputs,
		"softecc/m=2/lambda=10/alpha=0/dir=1/of=":                           s.Soft.Inputs,
		"eigenmap/k=2/tol=1e-6/sigma=0.1/floor=0.001/corners=0/plain=0/of=": s.Voxels.Inputs,
	} {
		const image = "noise/shape=4x4/levels=256/type=uint8/seed="
		if got := inputs.(bench.Seeded).Reseed(form+image+"1", 7); got != form+image+"7" {
			t.Errorf("%s: %q", form+image, got)
		}
		if got := inputs.(bench.Seeded).Reseed(form+"ball/shape=9x9", 7); got != "" {
			t.Errorf("%q has no seed", got)
		}
	}
}

// affords compares the cost of a law of a workload with the time limit of a cell.
func affords[In, Out any](t *testing.T, w bench.Workload[In, Out], law string, names ...string) {
	t.Helper()
	at := slices.IndexFunc(w.Policy.Laws, func(l verify.Law[In, Out]) bool { return l.Name == law && l.Independent })
	if at < 0 {
		t.Fatalf("%s has no witness %q", w.Name, law)
	}
	for _, name := range names {
		in, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		const rotating = 3
		cost := w.Policy.Laws[at].Work(in)
		limit := time.Duration(float64(time.Minute) * math.Sqrt(max(1, float64(w.Inputs.Cost(name, in).Items)/(1<<30))))
		t.Logf("%s: %v of %v", name, cost, limit)
		if rotating*cost > limit {
			t.Errorf("%s: %s takes %v, for %d inputs more than %v", name, law, cost, rotating, limit)
		}
	}
}
