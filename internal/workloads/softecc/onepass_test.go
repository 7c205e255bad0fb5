package softecc

import (
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/softecc/onepass"
)

// One pass agrees with the definition far within the limit for any image. Images have ties, rows of
// several words, and one plane or row. Thresholds are in any order, repeated, or too many for a
// table.
func onePassDefines(t *testing.T) {
	names := append(question().Adversarial,
		"softecc/m=9/lambda=100/alpha=100/dir=3/of=noise/shape=3x5x130/type=uint8/levels=9/seed=5",
		"softecc/m=9/lambda=30/alpha=0/dir=3/of=noise/shape=4x64/type=uint8/levels=3/seed=5",
		"softecc/m=9/lambda=30/alpha=0/dir=3/of=noise/shape=3x2x65/type=uint8/levels=2/seed=5",
		"softecc/m=3/lambda=5/alpha=100/dir=3/of=noise/shape=31x17x13/type=float32/seed=5",
		"softecc/m=3/lambda=5/alpha=100/dir=3/of=noise/shape=33x31/type=uint8/seed=5",
		"softecc/m=500/lambda=5/alpha=100/dir=3/of=constant/shape=4x3x2/type=uint8",
	)
	for _, name := range names {
		p := open(t, name)
		if testing.Short() && p.Shape().Voxels()*int64(len(p.Tau)) > 50_000 {
			continue
		}
		slices.Reverse(p.Tau)
		p.Tau[len(p.Tau)/2] = p.Tau[0]
		x, err := p.Values()
		if err != nil {
			t.Fatal(err)
		}
		share := Limit
		if len(p.Tau) == 3 {
			share = 1e-12 // needs finer tables, or none
		}
		for _, p.Vertices = range []bool{false, true} {
			for _, m := range Distance(p, define(t, p), Answer(p.inOnePass().Answer(x, share))) {
				if !(m.Value <= 1e-7) || share < Limit && !(m.Value <= 1e-11) && m.Name != "error of ∂X" {
					t.Errorf("%s, vertices %v: %v at %s", name, p.Vertices, m, m.At)
				}
			}
		}
	}
}

// The law detects any number a little beyond the limit at any position. It also detects a wrong
// sign, a missing plane and too coarse rounding, but accepts rounding to float32.
func onePassSees(t *testing.T) {
	p := open(t, "softecc/m=20/lambda=100/alpha=100/dir=3/of=noise/shape=9x7x70/type=uint16/levels=1000/seed=3")
	right := define(t, p)
	s := scalesOf(p, right)
	sees := func(what string, change func(a *Answer)) {
		t.Helper()
		a := right
		a.Chi, a.DTau, a.DX = slices.Clone(a.Chi), slices.Clone(a.DTau), slices.Clone(a.DX)
		change(&a)
		list, err := onePass(p, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		within := !slices.ContainsFunc(list, func(m verify.Measure) bool { return !m.IsWithinLimit() })
		if within != strings.HasPrefix(what, "right") {
			t.Errorf("%s: right is %v", what, within)
		}
	}
	off := 1.5 * Limit
	for j := range p.Tau {
		sees("one χ", func(a *Answer) { a.Chi[j] += off * s.chi })
		sees("one ∂τ", func(a *Answer) { a.DTau[j] -= off * s.dtau })
	}
	for i := 0; i < len(right.DX); i += 107 {
		sees("one ∂X", func(a *Answer) { a.DX[i] += float32(off * s.dx) })
	}
	for _, i := range []int{69, len(right.DX) - 70, len(right.DX) - 1} {
		sees("one ∂X at the border", func(a *Answer) { a.DX[i] -= float32(off * s.dx) })
	}
	for i := range right.DV {
		sees("∂v", func(a *Answer) { a.DV[i] += off * s.dv })
	}
	sees("∂α", func(a *Answer) { a.Alpha += off * s.alpha })
	sees("∂λ", func(a *Answer) { a.Lambda += off * limitOfLambda / Limit * s.lambda })
	negated := func(list []float64) {
		for j := range list {
			list[j] = -list[j]
		}
	}
	sees("χ negative", func(a *Answer) { negated(a.Chi) })
	sees("∂τ negative", func(a *Answer) { negated(a.DTau) })
	sees("∂v negative", func(a *Answer) { negated(a.DV[:]) })
	sees("∂X negative", func(a *Answer) {
		for i := range a.DX {
			a.DX[i] = -a.DX[i]
		}
	})
	less := define(t, p.changed(func(q *Problem) { q.Source = views.Crop(p.Source, 0, p.Shape().D-1) }))
	sees("no last plane", func(a *Answer) { copy(a.Chi, less.Chi) })
	sees("no last plane of ∂X", func(a *Answer) { copy(a.DX, less.DX) })
	other := define(t, p.changed(func(q *Problem) { q.Alpha = 0 }))
	sees("X in place of Y", func(a *Answer) { *a = other })
	rounded := func(to int) func(a *Answer) {
		return func(a *Answer) {
			for _, list := range [][]float64{a.Chi, a.DTau} {
				for j, v := range list {
					f, e := math.Frexp(v)
					list[j] = math.Ldexp(math.Round(math.Ldexp(f, to)), e-to)
				}
			}
		}
	}
	sees("right: as float32", rounded(24))
	sees("as bfloat16", rounded(8))
	sees("as float16", rounded(11))
}

// One pass takes the same time for a thousand thresholds as for one, and a fixed memory per voxel.
func onePassTakes(t *testing.T) {
	of := func(m int) *onepass.Question {
		q := &onepass.Question{Shape: grid.Shape{D: 512, H: 512, W: 512}, Lambda: 100, G: make([]float64, m), V: [3]float64{1}}
		for j := range m {
			q.Tau = append(q.Tau, (float64(j)+0.5)/float64(m))
		}
		return q
	}
	if one, many := of(1).Nanoseconds(), of(1024).Nanoseconds(); many > one*6/5 {
		t.Errorf("%d ns for one threshold, %d for 1024", one, many)
	}
	if each := float64(of(64).Bytes()) / (512 * 512 * 512); each < 8 || each > 9 {
		t.Errorf("%g bytes a voxel", each)
	}
}
