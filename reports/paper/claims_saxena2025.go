package paper

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// saxena2025 returns the claims of Saxena 2025, by section. The paper has no numbers about its
// layer, so those claims are computed.
func saxena2025(p Paper) []Claim {
	speedup := func(n numbers) (s span) {
		for _, t := range p.Tables {
			for _, r := range t.Rows {
				s.of++
				from, ok := n.value(t.N, r, "baseline")
				for _, l := range n.of[t.N] { // whose clock may run over more than the paper's
					if l.Impl == "chunked" && l.Series.Column == "baseline" && l.Row.Label == r.Label && l.Measured > 0 &&
						l.Mark == "" {
						from, ok = l.Measured, true
					}
				}
				if to, ok2 := n.value(t.N, r, "new"); ok && ok2 {
					s.add(from / to)
				}
			}
		}
		return s
	}
	return []Claim{
		{Section: "4", Says: "the full sweep is 16 to 2000 times as fast as the streaming baseline",
			Test: "baseline over new at least 16 in every row", check: func(n numbers) finding {
				s := speedup(n)
				return s.finding(s.lo >= 16, " times")
			}, impls: []string{"fullsweep", "extrema-gpu"}},
		{Section: "2", Says: "c(p) is −1, 0 or 1", Test: "the change of every voxel of noise, 256² and 64³",
			compute: func() (finding, error) {
				var s span
				for _, shape := range []grid.Shape{{D: 1, H: 256, W: 256}, {D: 64, H: 64, W: 64}} {
					s.of++
					c, err := changesOf(shape, noiseOf(shape), softecc.Problem{})
					if err != nil {
						return finding{}, err
					}
					s.n++
					s.lo, s.hi = min(s.lo, float64(slices.Min(c))), max(s.hi, float64(slices.Max(c)))
				}
				return finding{s.lo >= -1 && s.hi <= 1, fmt.Sprintf("%g to %g", s.lo, s.hi), s.n, s.of}, nil
			}},
		{Section: "2", Says: "equation 5 becomes the exact curve where λ → ∞",
			Test: "the sum of c(p) over X(p) ≤ τ is χ of that set, noise of 24² at all levels",
			compute: func() (finding, error) {
				return hardCurves(softecc.Problem{}, false)
			}},
		{Section: "2", Says: "equation 6 is a directional curve, with c(p) of X",
			Test: "the sum of c(p) over X(p) + α⟨u, p⟩ ≤ τ is χ of that set, where λ → ∞; noise of 24² at all levels, α = " +
				"0.05 of the range", compute: func() (finding, error) {
				return hardCurves(softecc.Problem{Alpha: 0.05, V: [3]float64{0.6, 0.8}}, true)
			}},
	}
}

// noiseOf returns values from 0 to 1.
func noiseOf(s grid.Shape) []float64 {
	rng := rand.New(rand.NewPCG(2025, 10))
	values := make([]float64, s.Voxels())
	for i := range values {
		values[i] = rng.Float64()
	}
	return values
}

// changesOf returns c(p) of an image that is tilted by a problem's direction.
func changesOf(s grid.Shape, values []float64, p softecc.Problem) ([]int8, error) {
	p.Source, p.Tau, p.G, p.Lambda = binned.Blank(s), []float64{0}, []float64{1}, 1
	if p.V == [3]float64{} {
		p.V[0] = 1
	}
	l := binned.Layer[float64]{Problem: &p, Image: values, Changes: make([]uint8, len(values)), Threads: 1}
	if err := l.Forward(context.Background(), binned.Curve{Chi: make([]float64, 1)}); err != nil {
		return nil, err
	}
	changes := make([]int8, len(values))
	for i, c := range l.Changes {
		changes[i] = int8(c)
	}
	return changes, nil
}

// hardCurves compares two curves over the values of Y. One is the sum of c(p), of X or of Y, over
// the voxels at or below each value. The other is the Euler characteristic of the set of these
// voxels, by enumeration of its cells.
func hardCurves(p softecc.Problem, ofX bool) (finding, error) {
	const side = 24
	s := grid.Shape{D: 1, H: side, W: side}
	x := noiseOf(s)
	y := slices.Clone(x)
	for i := range y {
		_, row, column := s.Coordinates(int64(i))
		y[i] += p.Alpha * (p.V[0]*softecc.Place(column, side) + p.V[1]*softecc.Place(row, side)) // |V| is 0 or 1
	}
	of := p
	if ofX {
		of = softecc.Problem{}
	}
	c, err := changesOf(s, x, of)
	if err != nil {
		return finding{}, err
	}
	wrong, most := 0, 0
	for _, tau := range y {
		sum := 0
		for i, v := range y {
			if v <= tau {
				sum += int(c[i])
			}
		}
		if off := sum - characteristic(s, func(i int64) bool { return y[i] <= tau }); off != 0 {
			wrong, most = wrong+1, max(most, int(math.Abs(float64(off))))
		}
	}
	return finding{wrong == 0, fmt.Sprintf("wrong at %d of %d levels, by up to %d", wrong, len(y), most), len(y), len(y)},
		nil
}

// characteristic counts the pixels, edges and corners of a set of pixels.
func characteristic(s grid.Shape, in func(i int64) bool) (chi int) {
	at := func(y, x int64) bool { return y >= 0 && x >= 0 && y < s.H && x < s.W && in(y*s.W+x) }
	one := map[bool]int{true: 1}
	for y := range s.H + 1 {
		for x := range s.W + 1 {
			here, left, above := at(y, x), at(y, x-1), at(y-1, x)
			chi += one[here] - one[here || left] - one[here || above] + one[here || left || above || at(y-1, x-1)]
		}
	}
	return chi
}
