package gvf

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
)

// unit is the largest error of a rounding to float32, relative to the result.
const unit = 1.0 / (1 << 24)

// Estimated nanoseconds for each voxel, about three times the cost on a busy machine: startNS for the
// start, stepNS for one component in a step.
const startNS, stepNS = 80, 5

// PlainLoop compares a field after N steps with the plain loop, bit for bit.
func PlainLoop() verify.Law[*Problem, Flow] {
	return law{Name: "the plain loop, bit for bit", Independent: true, Work: stepCost(startNS, stepNS),
		Memory: bytesEach(40), Check: plain}
}

// Rest compares the residual of a steady state with the tolerance, and reports the first component
// above it.
func Rest() verify.Law[*Problem, Flow] {
	check := func(p *Problem, out Flow, ask ask) (*verify.Diff, error) {
		list, err := residuals(p, out, ask)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if !(m.Value <= m.Limit) {
				return &verify.Diff{Where: m.Name, Want: fmt.Sprintf("at most %v", m.Limit), Got: fmt.Sprint(m.Value)}, nil
			}
		}
		return nil, nil
	}
	return law{Name: "residual in float64", Independent: true, Work: stepCost(startNS, 0), Check: check}
}

// bytesEach estimates the memory of a law as n bytes for each voxel.
func bytesEach(n int64) func(*Problem) int64 {
	return func(p *Problem) int64 { return n * p.Shape().Voxels() }
}

func stepsLaws() []law {
	return verify.Bounded([]law{
		PlainLoop(),
		plainBoxes(),
		{Name: "float64 within the bound of rounding", Independent: true, Work: stepCost(startNS, stepNS),
			Memory: bytesEach(72), Measure: precise},
		{Name: "closed form of |V0| constant along x, y and z", Calls: 3, Work: stepCost(20, 0),
			Measure: constantMagnitude},
		{Name: "a constant V0 stays", Calls: 1, Work: stepCost(5, 0), Check: fixedPoint},
		{Name: "one step from the field before", Calls: 1, Work: stepCost(startNS, 0), Check: oneStep},
		{Name: "flip along x", Calls: 1.1, Work: stepCost(5, 0), Check: flipped('x')},
		{Name: "flip of the rows", Calls: 1.1, Work: stepCost(5, 0), Check: flipped('y')},
		{Name: "flip of the slices", Calls: 1.1, Work: stepCost(5, 0), Check: flipped('s')},
		{Name: "the energy falls", Calls: 0.6, Work: stepCost(startNS, 0), Check: energyFalls},
	}, bytesEach(24))
}

func steadyLaws() []law {
	return verify.Bounded([]law{
		{Name: "residual in float64", Independent: true, Work: stepCost(startNS, 0), Measure: residuals},
		{Name: "closed form of |V0| constant along x, y and z", Calls: 3, Work: stepCost(20, 0),
			Measure: constantMagnitude},
		{Name: "a made steady state, by the maximum principle", Calls: 1, Work: stepCost(10*startNS, 0),
			Measure: manufactured},
		{Name: "a constant V0 stays", Calls: 1, Work: stepCost(5, 0), Measure: fixedState},
	}, bytesEach(24))
}

// plain compares the field with the definition, one component after the other if all are right.
func plain(p *Problem, out Flow, _ ask) (*verify.Diff, error) {
	if d := p.misshapen(out); d != nil {
		return d, nil
	}
	if p.Storage == Float32 {
		v0, b, err := p.definedStart()
		if err != nil {
			return nil, err
		}
		var v pair[float32]
		same := true
		for c := 0; c < len(v0) && same; c++ {
			same = hasSameBits(v.evolve(p, v0[c], b, p.Steps, 0), out.V[c])
		}
		if same {
			return nil, nil
		}
	}
	want, err := Define(p, 0)
	if err != nil {
		return nil, err
	}
	return agree(p, want, out), nil
}

// precise compares the field with steps in float64 from the same V0 and b. An error of one step
// does not grow: its largest is multiplied by |1 − 2dμ − b| + 2dμ, at most 1 if 4dμ + b ≤ 2. A step
// adds at most 16·u·max|V|, in 3D with μ ≤ 1/6. max|V| is max|V0| if 2dμ + b ≤ 1, and at most three
// times that otherwise.
func precise(p *Problem, out Flow, _ ask) ([]verify.Measure, error) {
	if d := p.misshapen(out); d != nil {
		return []verify.Measure{{Name: "largest error", Value: math.NaN(), At: d.String()}}, nil
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return nil, err
	}
	m := verify.Measure{Name: "largest error", Limit: p.rounding(v0, b)}
	wide := widened(b)
	for c := range v0 {
		for i, want := range evolve(p, widened(v0[c]), wide, p.Steps, 0) {
			if e := math.Abs(want - float64(out.V[c][i])); m.Below(e) {
				m.Value, m.At = e, p.place(c, i)
			}
		}
	}
	return []verify.Measure{m}, nil
}

// rounding bounds the rounding error of all steps in float32.
func (p *Problem) rounding(v0 [][]float32, b []float32) float64 {
	c := 16.0
	if 2*float64(p.Dim())*float64(p.Mu)+float64(slices.Max(b)) > 1 {
		c *= 3
	}
	top := 0.0
	for _, list := range v0 {
		top = max(top, largest(list))
	}
	const underflow = 1e-44 // of a step
	return float64(p.Steps) * (c*unit*top + underflow)
}

func largest(list []float32) (top float64) {
	for _, v := range list {
		top = max(top, math.Abs(float64(v)))
	}
	return top
}

func widened(list []float32) []float64 {
	out := make([]float64, len(list))
	for i, v := range list {
		out[i] = float64(v)
	}
	return out
}

// turning returns the components of a field along an axis of n voxels, in d dimensions: it has the
// magnitude r, and turns.
func turning(n int64, d, along int, r float64) [][]float32 {
	lines := make([][]float32, d)
	for c := range lines {
		lines[c] = make([]float32, n)
		for i := range lines[c] {
			turn := 0.3 + 7*float64(i)/float64(n)
			lines[c][i] = float32(r / math.Sqrt(float64(d-1)) * []float64{math.Sin(turn), math.Cos(turn), 1}[(c+along)%d])
		}
	}
	return lines
}

// constantMagnitude asks for the flow of fields that turn along one axis and have a magnitude r
// everywhere. Then b is a number, and the cosines of the boundary are the operator's
// eigenvectors: with their coefficients û,
//
//	û(∞) = b·û(0)/(μλ + b)    û(N) = û(∞) + (1 − μλ − b)^N (û(0) − û(∞))
func constantMagnitude(p *Problem, _ Flow, ask ask) ([]verify.Measure, error) {
	s, d := p.Shape(), p.Dim()
	b := 0.25
	if p.Tol == 0 {
		b = min(b, (2-4*float64(d)*float64(p.Mu))/2)
	}
	if b < 1e-3 || p.Boundary != Replicate || p.Mask != nil {
		return nil, verify.ErrNotApplicable
	}
	r := math.Sqrt(b)
	var list []verify.Measure
	for along, n := range []int64{s.W, s.H, s.D}[:d] {
		if n == 1 || n > mostTurned {
			continue
		}
		lines, want := turning(n, d, along, r), make([][]float64, d)
		q := p.Flowing(spread(s, along, lines), p.Steps)
		got, err := ask(q)
		if err != nil {
			return nil, err
		}
		m := verify.Measure{Name: "error of the closed form", At: "along " + axis(along),
			Limit: 3*q.rounding(lines, []float32{float32(b)}) + 1e-9}
		if d := p.misshapen(got); d != nil {
			m.Value, m.At = math.NaN(), d.String()
			return append(list, m), nil
		}
		for c := range want {
			want[c] = p.line(lines[c], b)
		}
		if p.Tol != 0 {
			// The least eigenvalue is b, so that the error is at most the residual over b.
			m.Limit = p.Tol*1.01 + 4*unit
		}
		for c := range want {
			square, of := 0.0, 0.0
			for i, v := range got.V[c] {
				k := stepAlong(s, along, int64(i))
				e := float64(v) - want[c][k]
				square, of = square+e*e, of+float64(lines[c][k])*float64(lines[c][k])
				if p.Tol == 0 && m.Below(math.Abs(e)) {
					m.Value, m.At = math.Abs(e), "along "+axis(along)+": "+p.place(c, i)
				}
			}
			if e := math.Sqrt(square / of); p.Tol != 0 && m.Below(e) {
				m.Value, m.At = e, "along "+axis(along)+": component "+axis(c)
			}
		}
		list = append(list, m)
	}
	if list == nil {
		return nil, verify.ErrNotApplicable
	}
	return list, nil
}

// mostTurned bounds the length of an axis whose cosines are summed.
const mostTurned = 8192

// line returns the flow of a line of voxels where b is constant.
func (p *Problem) line(v []float32, b float64) []float64 {
	n, mu := len(v), float64(p.Mu)
	cosine := func(k, i int) float64 { return math.Cos(math.Pi * float64(k) * (float64(i) + 0.5) / float64(n)) }
	out := make([]float64, n)
	for k := range n {
		u := 0.0
		for i, x := range v {
			u += float64(x) * cosine(k, i)
		}
		u *= 2 / float64(n)
		if k == 0 {
			u /= 2
		}
		half := math.Sin(math.Pi * float64(k) / float64(2*n))
		decay := mu*4*half*half + b
		rest := b * u / decay
		if p.Tol == 0 {
			rest += math.Pow(1-decay, float64(p.Steps)) * (u - rest)
		}
		for i := range out {
			out[i] += rest * cosine(k, i)
		}
	}
	return out
}

// stepAlong is the place of a voxel along an axis.
func stepAlong(s grid.Shape, along int, i int64) int64 {
	z, y, x := s.Coordinates(i)
	return [3]int64{x, y, z}[along]
}

// spread makes a field of lines along one axis, the same for all places of the others.
func spread(s grid.Shape, along int, lines [][]float32) [][]float32 {
	v := lists(len(lines), s.Voxels())
	inParts(s.Voxels(), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
		for i := lo; i < hi; i++ {
			at := stepAlong(s, along, i)
			for c := range v {
				v[c][i] = lines[c][at]
			}
		}
	})
	return v
}

// constant is a field that is the same everywhere, and flows without growing.
func (p *Problem) constant() *Problem {
	v0 := make([][]float32, p.Dim())
	for c := range v0 {
		v0[c] = slices.Repeat([]float32{[]float32{0.0123, -0.0456, 0.0789}[c]}, int(p.Shape().Voxels()))
	}
	for i, part := range p.Mask {
		if part == 0 {
			for c := range v0 {
				v0[c][i] = 0
			}
		}
	}
	return p.Flowing(v0, p.Steps)
}

func fixedPoint(p *Problem, _ Flow, ask ask) (*verify.Diff, error) {
	q := p.constant()
	if err := q.Check(); err != nil {
		return nil, verify.ErrNotApplicable
	}
	got, err := ask(q)
	if err != nil {
		return nil, err
	}
	return agree(p, Flow{q.V0}, got), nil
}

func fixedState(p *Problem, _ Flow, ask ask) ([]verify.Measure, error) {
	q := p.constant()
	got, err := ask(q)
	if err != nil {
		return nil, err
	}
	return residuals(q, got, ask)
}

// oneStep takes a step from the field of one step less.
func oneStep(p *Problem, out Flow, ask ask) (*verify.Diff, error) {
	if p.Steps == 0 {
		return nil, verify.ErrNotApplicable
	}
	before, err := ask(p.afterSteps(p.Steps - 1))
	if err != nil {
		return nil, err
	}
	if d := p.misshapen(before); d != nil {
		return d, nil
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return nil, err
	}
	s := p.Shape()
	want := p.zeros()
	for c := range want.V {
		inParts(s.D*s.H, runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
			sweep(p, want.V[c], before.V[c],
				v0[c], b, lo, hi)
		})
	}
	return agree(p, want, out), nil
}

// afterSteps returns the problem with another number of steps.
func (p *Problem) afterSteps(steps int64) *Problem { return p.Flowing(p.V0, steps) }

// flipped tests that the flow of the reversed image is the reversed field, with one component
// negated. A sum of two neighbours does not depend on their order, so only the sign of a zero may
// differ.
func flipped(by byte) func(*Problem, Flow, ask) (*verify.Diff, error) {
	return func(p *Problem, out Flow, ask ask) (*verify.Diff, error) {
		s, along := p.Shape(), map[byte]int{'x': 0, 'y': 1, 's': p.Dim() - 1}[by]
		if by == 'y' && p.Dim() == 2 || p.V0 != nil || p.Mask != nil || grid.LabelsOf(p.Source) != nil {
			return nil, verify.ErrNotApplicable
		}
		if d := p.misshapen(out); d != nil {
			return d, nil
		}
		got, err := ask(NewProblem(views.Flip(p.Source, by), p.Mu, p.Steps, p.Tol, p.Boundary))
		if err != nil {
			return nil, err
		}
		want := p.zeros()
		stride := [3]int64{1, s.W, s.W * s.H}[along]
		n := [3]int64{s.W, s.H, s.D}[along]
		for c, list := range want.V {
			for i := range list {
				k := stepAlong(s, along, int64(i))
				v := out.V[c][int64(i)+(n-1-2*k)*stride]
				if c == along {
					v = -v
				}
				list[i] = v
			}
		}
		return compareFields(p, want, got, func(a, b float32) bool { return a == b }), nil
	}
}

// energyFalls tests that E = Σ μ|∇V|² + b|V − V0|² falls from V0 to half of the steps, and from
// there to the end. The steps follow the gradient of E.
func energyFalls(p *Problem, out Flow, ask ask) (*verify.Diff, error) {
	if p.Steps < 2 || p.Boundary != Replicate {
		return nil, verify.ErrNotApplicable
	}
	half, err := ask(p.afterSteps(p.Steps / 2))
	if err != nil {
		return nil, err
	}
	for _, f := range []Flow{half, out} {
		if d := p.misshapen(f); d != nil {
			return d, nil
		}
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return nil, err
	}
	const slack = 1 + 1e-5 // where it is at rest, but for rounding
	last, from := math.Inf(1), ""
	for _, f := range []struct {
		what string
		Flow
	}{{"at V0", Flow{v0}}, {fmt.Sprintf("after %d steps", p.Steps/2), half},
		{fmt.Sprintf("after %d steps", p.Steps), out}} {
		e := p.energy(f.Flow, v0, b)
		if !(e <= last*slack+1e-30) {
			return &verify.Diff{Where: "energy " + f.what, Want: fmt.Sprintf("at most %g, that %s", last, from),
				Got: fmt.Sprint(e)}, nil
		}
		last, from = e, f.what
	}
	return nil, nil
}

func (p *Problem) energy(f Flow, v0 [][]float32, b []float32) (sum float64) {
	s := p.Shape()
	strides := [3]int64{1, s.W, s.W * s.H}
	for c, v := range f.V {
		parts := make([]float64, runtime.GOMAXPROCS(0))
		inParts(s.D*s.H, len(parts), func(part int, lo, hi int64) {
			for i := lo * s.W; i < hi*s.W; i++ {
				z, y, x := s.Coordinates(i)
				for a, more := range [3]bool{x+1 < s.W, y+1 < s.H, z+1 < s.D} {
					if more && (p.Mask == nil || p.Mask[i] == p.Mask[i+strides[a]]) {
						d := float64(v[i+strides[a]]) - float64(v[i])
						parts[part] += float64(p.Mu) * d * d
					}
				}
				d := float64(v[i]) - float64(v0[c][i])
				parts[part] += float64(b[i]) * d * d
			}
		})
		for _, part := range parts {
			sum += part
		}
	}
	return sum
}

var errNoFlow = errors.New("the number of values does not fit the image")

// Residuals returns the norms of b·V0 − (μL + b)V and of b·V0 for each component, in float64,
// summed in the order of rows. LV is 2d·V − the sum of the neighbours of V.
func Residuals(p *Problem, f Flow) (of, relativeTo []float64, err error) {
	if p.misshapen(f) != nil {
		return nil, nil, errNoFlow
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return nil, nil, err
	}
	s, mu := p.Shape(), float64(p.Mu)
	rows := s.D * s.H
	squares, sources := make([]float64, rows), make([]float64, rows)
	for c, v := range f.V {
		inParts(rows, runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
			for r := lo; r < hi; r++ {
				z, y := r/s.H, r%s.H
				squares[r], sources[r] = 0, 0
				for x := range s.W {
					i := r*s.W + x
					u := float64(v[i])
					sum := 0.0 // the sum of neighbour − voxel
					for a, at := range []int64{x, y, z}[:p.Dim()] {
						n, stride := [3]int64{s.W, s.H, s.D}[a], [3]int64{1, s.W, s.W * s.H}[a]
						before, after := at-1, at+1
						if at == 0 {
							before = p.Boundary.Before(n)
						}
						if at == n-1 {
							after = p.Boundary.After(n)
						}
						sum += float64(v[i+(before-at)*stride]) - u + (float64(v[i+(after-at)*stride]) - u)
					}
					source := float64(b[i]) * float64(v0[c][i])
					e := source - float64(b[i])*u + mu*sum
					squares[r] += e * e
					sources[r] += source * source
				}
			}
		})
		square, source := 0.0, 0.0
		for r := range squares {
			square, source = square+squares[r], source+sources[r]
		}
		of, relativeTo = append(of, math.Sqrt(square)), append(relativeTo, math.Sqrt(source))
	}
	return of, relativeTo, nil
}

// residuals compares the residual of a steady state with the tolerance. If b·V0 is 0 everywhere,
// the field must be 0.
func residuals(p *Problem, out Flow, _ ask) ([]verify.Measure, error) {
	of, relative, err := Residuals(p, out)
	if errors.Is(err, errNoFlow) {
		return []verify.Measure{{Name: "residual", Value: math.NaN(), At: p.misshapen(out).String()}}, nil
	}
	if err != nil {
		return nil, err
	}
	var list []verify.Measure
	for c := range of {
		m := verify.Measure{Name: "residual of " + axis(c), Value: of[c] / relative[c], Limit: p.Tol}
		if relative[c] == 0 {
			if m.Value = 0; largest(out.V[c]) != 0 {
				m.Value, m.At = math.Inf(1), "b·V0 is 0 all over, and the field is not"
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// steadyField returns the components of a field that is nowhere 0.
func steadyField(s grid.Shape, d, cores int) [][]float64 {
	u := make([][]float64, d)
	for c := range u {
		u[c] = grid.NewValues[float64](s.Voxels())
	}
	inParts(s.D*s.H, cores, func(_ int, lo, hi int64) {
		for i := lo * s.W; i < hi*s.W; i++ {
			z, y, x := s.Coordinates(i)
			fx, fy, fz := float64(x)/float64(s.W), float64(y)/float64(s.H), float64(z)/float64(s.D)
			size, turn := 0.3+0.05*math.Cos(3*fx-2*fy+fz), 1+2*fx+3*fy-2*fz
			for c, v := range []float64{math.Cos(turn), math.Sin(turn), 0.5}[:d] {
				u[c][i] = size * v
			}
		}
	})
	return u
}

// manufactured asks for the steady state of a V0 made for a known field U that is nowhere 0. V0 = U
// + t·d, where d is the direction of s = μLU and t solves t·|U + t·d|² = |s|, so that b·(V0 − U) =
// s. By the maximum principle an error is at most the largest residual over the least b. The
// largest residual is at most the norm that the tolerance bounds.
func manufactured(p *Problem, _ Flow, ask ask) ([]verify.Measure, error) {
	if p.Mask != nil {
		return nil, verify.ErrNotApplicable
	}
	s, d := p.Shape(), p.Dim()
	rows, cores := s.D*s.H, runtime.GOMAXPROCS(0)
	u := steadyField(s, d, cores)
	v0 := p.zeros().V
	leasts := slices.Repeat([]float64{math.Inf(1)}, int(rows)) // b
	// Squares of the residual due to the rounding of V0, and of b·V0.
	left, given := make([][3]float64, rows), make([][3]float64, rows)
	inParts(rows, cores, func(_ int, lo, hi int64) {
		for i := lo * s.W; i < hi*s.W; i++ {
			r := i / s.W
			source, b := p.madeFor(u, v0, i)
			leasts[r] = min(leasts[r], b)
			for c := range u {
				v := float64(v0[c][i])
				e := b*(v-u[c][i]) - source[c]
				left[r][c], given[r][c] = left[r][c]+e*e, given[r][c]+b*v*b*v
			}
		}
	})
	least := slices.Min(leasts)
	rounded, sources := make([]float64, d), make([]float64, d)
	for r := range rows {
		for c := range u {
			rounded[c], sources[c] = rounded[c]+left[r][c], sources[c]+given[r][c]
		}
	}
	if !(least > 1e-3) {
		return nil, verify.ErrNotApplicable // so strong a diffusion that V0 turns against U
	}
	got, err := ask(p.Flowing(v0, 0))
	if err != nil {
		return nil, err
	}
	if d := p.misshapen(got); d != nil {
		return []verify.Measure{{Name: "error of a made state", Value: math.NaN(), At: d.String()}}, nil
	}
	var list []verify.Measure
	for c := range u {
		// b of an implementation is rounded to float32, too.
		m := verify.Measure{Name: "error of a made state, " + axis(c),
			Limit: (p.Tol*1.01*math.Sqrt(sources[c])+math.Sqrt(rounded[c])+8*unit*math.Sqrt(sources[c]))/least + unit}
		for i, want := range u[c] {
			if e := math.Abs(float64(got.V[c][i]) - want); m.Below(e) {
				m.Value, m.At = e, p.place(c, i)
			}
		}
		list = append(list, m)
	}
	return list, nil
}

// madeFor sets V0 of voxel i so that u is at rest there. It returns μLu of each component, and b.
func (p *Problem) madeFor(u [][]float64, v0 [][]float32, i int64) (source [3]float64, b float64) {
	s := p.Shape()
	z, y, x := s.Coordinates(i)
	sizes, strides := [3]int64{s.W, s.H, s.D}, [3]int64{1, s.W, s.W * s.H}
	size, along, square := 0.0, 0.0, 0.0
	for c := range u {
		for a, at := range []int64{x, y, z}[:len(u)] {
			before, after := at-1, at+1
			if at == 0 {
				before = p.Boundary.Before(sizes[a])
			}
			if at == sizes[a]-1 {
				after = p.Boundary.After(sizes[a])
			}
			source[c] += float64(p.Mu) * (2*u[c][i] - u[c][i+(before-at)*strides[a]] - u[c][i+(after-at)*strides[a]])
		}
		size, along, square = size+source[c]*source[c], along+u[c][i]*source[c], square+u[c][i]*u[c][i]
	}
	size = math.Sqrt(size)
	t := 0.0
	if size > 0 {
		along /= size
		// The root lies between 0 and this bound; bisect.
		for lo, hi := 0.0, 2*math.Abs(along)+math.Cbrt(size)+1; ; {
			if t = (lo + hi) / 2; t == lo || t == hi {
				break
			}
			if t*((t+2*along)*t+square) < size {
				lo = t
			} else {
				hi = t
			}
		}
		t /= size
	}
	for c := range u {
		v0[c][i] = float32(u[c][i] + t*source[c])
		b += float64(v0[c][i]) * float64(v0[c][i])
	}
	return source, b
}
