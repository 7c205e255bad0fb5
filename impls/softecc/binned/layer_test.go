package binned_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
)

// layered is the answer to a problem of a layer that goes forward and backward.
func layered[T float32 | float64](t *testing.T, p *softecc.Problem, threads int) (softecc.Answer, []T) {
	t.Helper()
	values, err := p.Values()
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Source = binned.Blank(p.Shape())
	l := binned.Layer[T]{Problem: &q, Image: make([]T, len(values)), Changes: make([]uint8, len(values)), Threads: threads}
	for i, v := range values {
		l.Image[i] = T(v)
	}
	before, dx := slices.Clone(l.Image), make([]T, len(values))
	c, err := l.Forward(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := softecc.Answer{Chi: c.Chi}
	for j, g := range p.G {
		a.DTau = append(a.DTau, g*c.ByTau[j])
		a.Lambda += g * c.ByLambda[j]
	}
	if a.DV, a.Alpha, err = l.Backward(t.Context(), dx); err != nil {
		t.Fatal(err)
	}
	for _, v := range dx {
		a.DX = append(a.DX, float32(v))
	}
	if !slices.Equal(before, l.Image) {
		t.Error("the image was written to")
	}
	return a, dx
}

// A layer's answers are those of the definition, of either type, in both constructions, and the
// same bits each time.
func TestLayer(t *testing.T) {
	names := append(slices.Clone(softecc.Workload().Adversarial),
		"softecc/m=9/lambda=100/alpha=100/dir=1/of=grf/shape=40x30x20/type=float32/levels=1024/smooth=1/seed=1", "softecc/m=9/lambda=300/alpha=0/dir=2/of=noise/shape=150x100/type=float32/levels=70000/seed=5")
	for i := range 2 * len(names) {
		p := open(t, names[i/2])
		p.Vertices = i%2 > 0
		want, err := softecc.Define(p)
		if err != nil {
			t.Fatal(err)
		}
		got, dx := layered[float32](t, p, 3)
		if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
			t.Errorf("%s, vertices %v: %v", names[i/2], p.Vertices, d)
		}
		again, same := layered[float32](t, p, 3)
		if !slices.Equal(got.Chi, again.Chi) || !slices.Equal(dx, same) || got.DV != again.DV {
			t.Errorf("%s: other bits, of the same call", names[i/2])
		}
		if p.Alpha != 0 { // Y of float64 is another image
			continue
		}
		wide, _ := layered[float64](t, p, 3)
		for _, m := range softecc.Distance(p, want, wide) {
			if m.Value > 1e-12 && m.Name != "error of ∂X" || m.Value > 1e-7 {
				t.Errorf("%s, vertices %v, float64: %v", names[i/2], p.Vertices, m)
			}
		}
	}
}

// In the V-construction λ → ∞ is the exact curve of the enumeration of all cells.
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
		b, _ := layered[float32](t, p, 1)
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

// What is not finite is an error forward, and NaN backward; what is cancelled ends.
func TestLayerRefuses(t *testing.T) {
	p := open(t, "softecc/m=3/lambda=100/alpha=100/dir=1/of=noise/shape=5x4x3/type=float32/seed=1")
	p.Source = binned.Blank(p.Shape())
	l := binned.Layer[float64]{Problem: p, Image: make([]float64, 60), Changes: make([]uint8, 60), Threads: 2}
	l.Image[23], l.Image[31] = math.NaN(), math.Inf(-1)
	var bad *grid.NotFiniteError
	if _, err := l.Forward(t.Context()); !errors.As(err, &bad) || *bad != (grid.NotFiniteError{Count: 2, First: 23, Z: 1, Y: 0, X: 3}) {
		t.Errorf("%v", err)
	}
	l.Image[23], l.Image[31] = 0, 0
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Forward(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	for _, g := range []float64{math.NaN(), math.Inf(1), math.MaxFloat32} {
		p.G[1] = g
		dx := make([]float64, 60)
		v, alpha, err := l.Backward(t.Context(), dx)
		if err != nil || !math.IsNaN(v[0]) || !math.IsNaN(alpha) || slices.ContainsFunc(dx, func(v float64) bool { return !math.IsNaN(v) }) {
			t.Errorf("%v: %v, %v, %v", g, v, alpha, err)
		}
	}
}
