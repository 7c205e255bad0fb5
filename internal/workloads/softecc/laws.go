package softecc

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/softecc/onepass"
)

// Limits of the laws. They exceed Limit because a law compares several answers, each within Limit.
// Differences over steps of a fraction of 1/λ also leave terms of higher order.
const (
	byDifferences = 2e-2
	bySymmetry    = 3 * Limit
)

// someLevels is the number of values at which the curve is compared with the exact one.
const someLevels = 6

func laws() []law {
	return verify.Bounded([]law{
		OnePass(), // first, because the calls of other laws may leave no time for it
		{Name: "above all values χ is that of the box", Calls: 1, Measure: box},
		{Name: "the exact curve where λ → ∞", Calls: 1, Work: enumerating, Measure: hard},
		{Name: "∂τ and ∂λ by differences", Calls: 8, Work: nanoseconds(1), Measure: differences},
		{Name: "∂X along a direction by differences", Calls: 4, Work: nanoseconds(80), Measure: waveDerivatives},
		{Name: "∂v and ∂α by differences", Calls: 8, Work: nanoseconds(1), Measure: turned},
		{Name: "linear in the upstream gradient", Calls: 2, Work: nanoseconds(5), Measure: linear},
		{Name: "the image and u flipped", Calls: 1, Work: nanoseconds(60), Measure: flipped},
		{Name: "X and τ shifted", Calls: 2, Work: nanoseconds(10), Measure: shifted},
		{Name: "everything twice as large", Calls: 1, Work: nanoseconds(10), Measure: doubled},
	}, func(p *Problem) int64 { return 24 * p.Shape().Voxels() })
}

// changed returns a copy of the problem with a change.
func (p *Problem) changed(change func(q *Problem)) *Problem {
	q := *p
	q.Tau, q.G = slices.Clone(p.Tau), slices.Clone(p.G)
	change(&q)
	return &q
}

func box(p *Problem, _ Answer, ask ask) ([]verify.Measure, error) {
	l := p.Ladder()
	top := float64(l.Value(l.Len()-1)) + 2*p.Alpha*p.half() + 100/p.Lambda
	// Without an upstream gradient no λ is too large.
	got, err := ask(p.changed(func(q *Problem) { q.Tau, q.G = []float64{top + math.Abs(top)*1e-6}, []float64{0} }))
	if err != nil {
		return nil, err
	}
	return gathered("error of exact χ", "above all values", errorOf("χ", "threshold", []float64{1}, got.Chi, 1, 1e-9)), nil
}

// enumerating estimates the time of hard.
func enumerating(p *Problem) time.Duration {
	if p.Vertices {
		return nanoseconds(300 * someLevels)(p)
	}
	return nanoseconds(60)(p)
}

// OnePass returns the law that compares all numbers of an answer with one pass over all cells.
func OnePass() verify.Law[*Problem, Answer] {
	return law{
		Name: "one pass over all cells", Independent: true, Measure: onePass,
		Work: func(p *Problem) time.Duration {
			return time.Duration(p.inOnePass().Nanoseconds() / int64(runtime.GOMAXPROCS(0)))
		},
		Memory: func(p *Problem) int64 { return p.inOnePass().Bytes() + 8*p.Shape().Voxels() },
	}
}

// onePass measures the distance of an answer from one pass over all cells.
func onePass(p *Problem, out Answer, _ ask) ([]verify.Measure, error) {
	x, err := p.Values()
	if err != nil {
		return nil, err
	}
	return Distance(p, Answer(p.inOnePass().Answer(x, Limit/4)), out), nil
}

// inOnePass returns the problem as a question for package onepass.
func (p *Problem) inOnePass() *onepass.Question {
	return &onepass.Question{
		Shape: p.Shape(), Tau: p.Tau, G: p.G, Lambda: p.Lambda, Alpha: p.Alpha, V: p.V, Vertices: p.Vertices,
	}
}

// allCells sums over all cells, one by one.
func allCells(p *Problem, y []float32) sums {
	layers := 2*p.Shape().D + 1
	if p.Shape().D == 1 {
		layers = 1
	}
	parts := make([]sums, layers)
	var wg sync.WaitGroup
	cores := min(layers, int64(runtime.GOMAXPROCS(0)))
	for i := range cores {
		wg.Go(func() {
			for z := i; z < layers; z += cores {
				parts[z] = newSums(len(p.Tau))
				eachCell(p, y, z, func(sign float64, _, _, _ int64, value float32) { parts[z].add(p, sign, float64(value)) })
			}
		})
	}
	wg.Wait()
	total := newSums(len(p.Tau))
	for _, q := range parts {
		total.merge(q)
	}
	return total
}

// hard compares the curve between neighbouring values with the exact one, for a λ at which every
// sigmoid is exactly 0 or 1.
func hard(p *Problem, _ Answer, ask ask) ([]verify.Measure, error) {
	y, err := p.Y()
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(len(y)), 2))
	var at []float32
	for range someLevels {
		at = append(at, y[rng.IntN(len(y))])
	}
	slices.Sort(at)
	at = slices.Compact(at)
	next := slices.Repeat([]float32{float32(math.Inf(1))}, len(at)) // the least value above each
	for _, v := range y {
		for k := len(at) - 1; k >= 0; k-- {
			if v > at[k] {
				next[k] = min(next[k], v)
				break
			}
		}
	}
	gap := math.Inf(1)
	for k, v := range at {
		gap = min(gap, float64(next[k])-float64(v))
	}
	q := p.changed(func(q *Problem) {
		q.Tau, q.G = nil, nil
		for k, v := range at {
			tau := float64(v) + 1
			if !math.IsInf(float64(next[k]), 1) {
				tau = (float64(v) + float64(next[k])) / 2
			}
			q.Tau, q.G = append(q.Tau, tau), append(q.G, 0) // as in box
		}
		q.Lambda = max(1700, 1700/gap)
	})
	f, err := fieldOf(p.Shape(), y, at)
	if err != nil {
		return nil, err
	}
	var want []float64
	var chi int64
	for k := 0; k < len(at) && err == nil; k++ {
		if p.Vertices {
			want = append(want, allCells(q.changed(func(one *Problem) { one.Tau, one.G = q.Tau[k:k+1], q.G[k:k+1] }), y).chi[0])
			continue
		}
		chi, err = cells.Characteristic(f, int64(k))
		want = append(want, float64(chi))
	}
	got := Answer{}
	if err == nil {
		got, err = ask(q)
	}
	if err != nil {
		return nil, err
	}
	return gathered("error of exact χ", "λ → ∞", errorOf("χ", "threshold", want, got.Chi, 1, 0)), nil
}

// curve returns χ at each threshold, or NaN if the answer has another number of thresholds.
func (p *Problem) curve(a Answer) []float64 {
	if len(a.Chi) != len(p.G) {
		return slices.Repeat([]float64{math.NaN()}, len(p.G))
	}
	return a.Chi
}

// loss returns Σ g_j χ(τ_j).
func (p *Problem) loss(a Answer) (sum float64) {
	for j, v := range p.curve(a) {
		sum += p.G[j] * v
	}
	return sum
}

// slope returns the derivative of a function at 0, by central differences of steps h and 2h. The
// error is of order h⁴.
func slope(h float64, of func(h float64) ([]float64, error)) ([]float64, error) {
	var at [4][]float64
	for i, k := range []float64{-2, -1, 1, 2} {
		v, err := of(k * h)
		if err != nil {
			return nil, err
		}
		at[i] = v
	}
	d := make([]float64, len(at[0]))
	for j := range d {
		d[j] = (at[0][j] - 8*at[1][j] + 8*at[2][j] - at[3][j]) / (12 * h)
	}
	return d, nil
}

func differences(p *Problem, out Answer, ask ask) ([]verify.Measure, error) {
	if p.huge() {
		return nil, verify.ErrNotApplicable
	}
	byTau, err := slope(0.1/p.Lambda, func(h float64) ([]float64, error) {
		a, err := ask(p.changed(func(q *Problem) {
			for j := range q.Tau {
				q.Tau[j] += h
			}
		}))
		return p.curve(a), err
	})
	if err != nil {
		return nil, err
	}
	for j := range byTau {
		byTau[j] *= p.G[j]
	}
	byLambda, err := slope(0.05*p.Lambda, func(h float64) ([]float64, error) {
		a, err := ask(p.changed(func(q *Problem) { q.Lambda += h }))
		return []float64{p.loss(a)}, err
	})
	if err != nil {
		return nil, err
	}
	s := scalesOf(p, Answer{DTau: byTau, Lambda: byLambda[0]})
	return gathered("error by differences", "τ and λ moved",
		errorOf("∂τ", "threshold", byTau, out.DTau, s.dtau, byDifferences),
		errorOf("∂λ", "", byLambda, []float64{out.Lambda}, s.lambda, byDifferences)), nil
}

// huge reports whether the sigmoids are so steep that steps of a fraction of 1/λ vanish in the
// rounding of values.
func (p *Problem) huge() bool { return p.Lambda*p.reach() > 1e4 }

// reach bounds the values of Y.
func (p *Problem) reach() float64 {
	l := p.Ladder()
	return max(math.Abs(float64(l.Value(0))), math.Abs(float64(l.Value(l.Len()-1)))) + p.Alpha*p.half()
}

// coarse reports whether the image is so small that long waves change much from voxel to voxel.
// There a step may break ties of neighbours either way, so that they have two derivatives.
func (p *Problem) coarse() bool {
	s := p.Shape()
	return s.W < 12 || s.H < 12 || s.D > 1 && s.D < 12
}

// waveDerivatives moves the image along a wave of random phase and length, with small differences
// between neighbours. The gradient jumps where neighbours change their order. A step breaks
// every tie, so images with ties have two derivatives along a wave.
func waveDerivatives(p *Problem, out Answer, ask ask) ([]verify.Measure, error) {
	if p.huge() || p.coarse() || int64(len(out.DX)) != p.Shape().Voxels() {
		return nil, verify.ErrNotApplicable
	}
	values, err := p.Values()
	if err != nil {
		return nil, err
	}
	y, err := p.Y()
	if err != nil {
		return nil, err
	}
	if tied(p.Shape(), y) {
		return nil, verify.ErrNotApplicable
	}
	wave := waveOver(p.Shape())
	want, square := 0.0, 0.0
	for i := range wave {
		d := float64(out.DX[i]) * wave[i]
		want += d
		square += d * d
	}
	got, err := slope(0.1/p.Lambda, func(h float64) ([]float64, error) {
		moved := make([]float32, len(values))
		for i, v := range values {
			moved[i] = float32(float64(v) + h*wave[i])
		}
		f, err := p.withValues(moved, func(v float64) float64 { return v + h })
		a := Answer{}
		if err == nil {
			a, err = ask(p.changed(func(q *Problem) { q.Source = f }))
		}
		return []float64{p.loss(a)}, err
	})
	if err != nil {
		return nil, err
	}
	scale := max(math.Abs(got[0]), math.Sqrt(square), largest(p.G)*p.Lambda/4, largest(out.DTau))
	return gathered("error by differences", "along a wave", errorOf("∂X", "", got, []float64{want}, scale, byDifferences)),
		nil
}

// waveOver returns a wave between ½ and 1 over an image, with at most one period along each axis.
func waveOver(s grid.Shape) []float64 {
	rng := rand.New(rand.NewPCG(uint64(s.Voxels()), 3))
	kx, ky, kz, phase := rng.Float64()/float64(s.W), rng.Float64()/float64(s.H), rng.Float64()/float64(s.D), rng.Float64()
	wave := make([]float64, s.Voxels())
	for i := range wave {
		z, y, x := s.Coordinates(int64(i))
		wave[i] = 0.75 + 0.25*math.Cos(2*math.Pi*(kx*float64(x)+ky*float64(y)+kz*float64(z)+phase))
	}
	return wave
}

// withValues returns an image with other values for the problem. turn also maps its least and its greatest
// level.
func (p *Problem) withValues(values []float32, turn func(float64) float64) (*grid.Field, error) {
	l := p.Ladder()
	ends := []float32{float32(turn(float64(l.Value(0)))), float32(turn(float64(l.Value(l.Len() - 1))))}
	return fieldOf(p.Shape(), values, slices.Compact(ends))
}

// fieldOf returns an image in memory on a table of levels.
func fieldOf(s grid.Shape, values, levels []float32) (*grid.Field, error) {
	ladder, err := grid.Table(levels)
	if err != nil {
		return nil, err
	}
	return grid.Trusted(s, grid.Float32, grid.Bytes(values), ladder)
}

// turned changes the direction and the length of V, and α.
func turned(p *Problem, out Answer, ask ask) ([]verify.Measure, error) {
	if p.huge() || p.coarse() || p.Alpha == 0 {
		return nil, verify.ErrNotApplicable
	}
	rng := rand.New(rand.NewPCG(uint64(p.Shape().Voxels()), 4))
	_, norm := p.U()
	var way [3]float64
	want := 0.0
	for i := range way {
		way[i] = norm * rng.NormFloat64()
		want += way[i] * out.DV[i]
	}
	// u is not linear in V over steps near |V|, and α must not change its sign. Shorter steps vanish in the rounding of Y.
	step := min(0.1/(p.Lambda*p.Alpha*p.half()), 0.05)
	if step*p.Alpha*p.half() < 1e-5*p.reach() {
		return nil, verify.ErrNotApplicable
	}
	got, err := slope(step, func(h float64) ([]float64, error) {
		a, err := ask(p.changed(func(q *Problem) {
			for i := range q.V {
				q.V[i] += h * way[i]
			}
		}))
		return []float64{p.loss(a)}, err
	})
	if err != nil {
		return nil, err
	}
	byAlpha, err := slope(step*p.Alpha, func(h float64) ([]float64, error) {
		a, err := ask(p.changed(func(q *Problem) { q.Alpha += h }))
		return []float64{p.loss(a)}, err
	})
	if err != nil {
		return nil, err
	}
	s := scalesOf(p, out)
	return gathered("error by differences", "the direction turned",
		errorOf("∂v", "", got, []float64{want}, max(s.dv*norm, math.Abs(got[0])), byDifferences),
		errorOf("∂α", "", byAlpha, []float64{out.Alpha}, max(s.alpha, math.Abs(byAlpha[0])), byDifferences)), nil
}

func linear(p *Problem, out Answer, ask ask) ([]verify.Measure, error) {
	m := len(p.G)
	rng := rand.New(rand.NewPCG(uint64(m), 5))
	other := make([]float64, m)
	for j := range other {
		other[j] = rng.NormFloat64()
	}
	second, err := ask(p.changed(func(q *Problem) { q.G = other }))
	if err != nil {
		return nil, err
	}
	both, err := ask(p.changed(func(q *Problem) {
		for j := range q.G {
			q.G[j] -= 3 * other[j]
		}
	}))
	if err != nil {
		return nil, err
	}
	if len(second.DX) != len(out.DX) || len(both.DX) != len(out.DX) || len(second.DTau) != len(out.DTau) {
		return gathered("error by symmetries", "linearity", counted("∂X", len(out.DX), len(second.DX), bySymmetry),
				counted("∂X", len(out.DX), len(both.DX), bySymmetry), counted("∂τ", len(out.DTau), len(second.DTau), bySymmetry)),
			nil
	}
	want := Answer{Chi: out.Chi, DTau: slices.Clone(out.DTau), DX: slices.Clone(out.DX),
		Lambda: out.Lambda - 3*second.Lambda, Alpha: out.Alpha - 3*second.Alpha}
	for j := range want.DTau {
		want.DTau[j] -= 3 * second.DTau[j]
	}
	for i := range want.DX {
		want.DX[i] -= 3 * second.DX[i]
	}
	for i := range want.DV {
		want.DV[i] = out.DV[i] - 3*second.DV[i]
	}
	return symmetry(p, "linearity", out, want, both, second), nil
}

// symmetry compares two answers that should be equal. Errors are relative to the largest number of
// all answers involved.
func symmetry(p *Problem, name string, of, want, got Answer, more ...Answer) []verify.Measure {
	s := scalesOf(p, of)
	for _, a := range append(more, want) {
		t := scalesOf(p, a)
		s = scales{max(s.chi, t.chi), max(s.dtau, t.dtau), max(s.dx, t.dx), max(s.dv, t.dv), max(s.lambda, t.lambda),
			max(s.alpha, t.alpha)}
	}
	list := []verify.Measure{
		errorOf("χ", "threshold", want.Chi, got.Chi, s.chi, bySymmetry),
		errorOf("∂τ", "threshold", want.DTau, got.DTau, s.dtau, bySymmetry),
		errorOf("∂λ", "", []float64{want.Lambda}, []float64{got.Lambda}, s.lambda, bySymmetry),
	}
	if want.DX != nil {
		list = append(list, errorOf("∂X", "voxel", want.DX, got.DX, s.dx, bySymmetry),
			errorOf("∂v", "axis", want.DV[:], got.DV[:], s.dv, bySymmetry),
			errorOf("∂α", "", []float64{want.Alpha}, []float64{got.Alpha}, s.alpha, bySymmetry))
	}
	return gathered("error by symmetries", name, list...)
}

// gathered gives measures one name, so that they share a column of the results. The place of the
// worst error names the measure.
func gathered(name, by string, list ...verify.Measure) []verify.Measure {
	for i := range list {
		m := &list[i]
		m.At = strings.TrimSuffix(strings.TrimPrefix(m.Name, "error of ")+", "+by+", "+m.At, ", ")
		m.Name = name
	}
	return verify.Worst(list)
}

// flipped reverses the rows and the x axis of u. Among tied neighbours another one is then first,
// so ∂X, ∂v and ∂α are compared only without ties.
func flipped(p *Problem, out Answer, ask ask) ([]verify.Measure, error) {
	y, err := p.Y()
	if err != nil {
		return nil, err
	}
	got, err := ask(p.changed(func(q *Problem) { q.Source, q.V[0] = views.Flip(p.Source, 'x'), -p.V[0] }))
	if err != nil {
		return nil, err
	}
	want := Answer{Chi: out.Chi, DTau: out.DTau, Lambda: out.Lambda}
	if s := p.Shape(); !tied(s, y) && int64(len(out.DX)) == s.Voxels() {
		want.DX, want.DV, want.Alpha = slices.Clone(out.DX), out.DV, out.Alpha
		want.DV[0] = -want.DV[0]
		for r := range s.D * s.H {
			slices.Reverse(want.DX[r*s.W:][:s.W])
		}
	}
	return symmetry(p, "flipped", out, want, got), nil
}

// tied reports whether any neighbours, also along a diagonal, have the same value.
func tied(s grid.Shape, y []float32) bool {
	for i, v := range y {
		z, r, x := s.Coordinates(int64(i))
		for dz := int64(0); dz <= 1; dz++ {
			for dy := int64(-1); dy <= 1; dy++ {
				for dx := int64(-1); dx <= 1; dx++ {
					if dz == 0 && (dy < 0 || dy == 0 && dx <= 0) || z+dz >= s.D || r+dy < 0 || r+dy >= s.H || x+dx < 0 || x+dx >= s.W {
						continue
					}
					if y[int64(i)+(dz*s.H+dy)*s.W+dx] == v {
						return true
					}
				}
			}
		}
	}
	return false
}

// shifted adds a constant to all values and thresholds. α is 0, because Y is rounded and the shift
// must be exact.
func shifted(p *Problem, _ Answer, ask ask) ([]verify.Measure, error) {
	values, err := p.Values()
	if err != nil {
		return nil, err
	}
	l := p.Ladder()
	by := math.Exp2(math.Ceil(math.Log2(max(1e-30, float64(l.Value(l.Len()-1))-float64(l.Value(0)))))) // for exact sums
	moved := make([]float32, len(values))
	for i, v := range values {
		if moved[i] = float32(float64(v) + by); float64(moved[i]) != float64(v)+by {
			return nil, verify.ErrNotApplicable
		}
	}
	flat := p.changed(func(q *Problem) { q.Alpha = 0 })
	want, err := ask(flat)
	if err != nil {
		return nil, err
	}
	f, err := p.withValues(moved, func(v float64) float64 { return v + by })
	got := Answer{}
	if err == nil {
		got, err = ask(flat.changed(func(q *Problem) {
			q.Source = f
			for j := range q.Tau {
				q.Tau[j] += by
			}
		}))
	}
	if err != nil {
		return nil, err
	}
	return symmetry(flat, "shifted", want, want, got), nil
}

// doubled doubles all grey values, which is exact.
func doubled(p *Problem, out Answer, ask ask) ([]verify.Measure, error) {
	values, err := p.Values()
	if err != nil {
		return nil, err
	}
	twice := make([]float32, len(values))
	for i, v := range values {
		twice[i] = 2 * v
		if float64(twice[i]) != 2*float64(v) {
			return nil, verify.ErrNotApplicable
		}
	}
	f, err := p.withValues(twice, func(v float64) float64 { return 2 * v })
	if err != nil {
		return nil, err
	}
	q := p.changed(func(q *Problem) {
		q.Source, q.Lambda, q.Alpha = f, p.Lambda/2, 2*p.Alpha
		for j := range q.Tau {
			q.Tau[j] *= 2
		}
	})
	got, err := ask(q)
	if err != nil {
		return nil, err
	}
	want := Answer{Chi: out.Chi, DTau: slices.Clone(out.DTau), DX: slices.Clone(out.DX), DV: out.DV,
		Lambda: 2 * out.Lambda, Alpha: out.Alpha / 2}
	for j := range want.DTau {
		want.DTau[j] /= 2
	}
	for i := range want.DX {
		want.DX[i] /= 2
	}
	return symmetry(q, "doubled", want, want, got), nil
}
