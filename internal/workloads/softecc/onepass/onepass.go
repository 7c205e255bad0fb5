// Package onepass computes the soft Euler characteristic curve and all its gradients in one pass
// over the cells of an image, at a cost that hardly depends on the number of thresholds. It is a
// witness: it shares no code with implementations. doc/proofs/softecc.md has the bound of its error.
package onepass

import (
	"math"
	"math/bits"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A Question holds the parameters of the curve. The values of the image are given to Answer.
type Question struct {
	Shape         grid.Shape
	Tau, G        []float64 // thresholds in any order, and the upstream gradient
	Lambda, Alpha float64
	V             [3]float64 // the direction
	Vertices      bool       // voxels are vertices of cells in place of top cells
}

// An Answer is the curve, and the gradients of Σ g_j χ(τ_j).
type Answer struct {
	Chi, DTau     []float64
	DX            []float32
	DV            [3]float64
	Lambda, Alpha float64
}

// Bounds of the table of the soft step.
const (
	finest    = 64      // nodes in 1/λ, of the first table
	mostNodes = 1 << 18 // of a table
	far       = 45      // 1/λ from a threshold at which its sigmoid is 0 or 1
)

// Nanoseconds estimates the time of an answer on one core.
func (q *Question) Nanoseconds() int64 {
	t, within := q.table(finest), q.mostWithin()
	each := int64(80)
	if t.n == 0 {
		each += 25 * within
	}
	return each*q.Shape.Voxels() + 50*int64(t.n)*within
}

// Bytes bounds the memory of an answer without the values.
func (q *Question) Bytes() int64 {
	s := q.Shape
	return 4*(s.W+2)*(s.H+2)*(s.D+2) + 4*s.Voxels() + int64(runtime.GOMAXPROCS(0)+2)*8*mostNodes
}

// Answer returns the answer for the values of an image. The error of each number is at most a share
// of its scale: the largest number of its kind, or the largest that one cell can have.
func (q *Question) Answer(x []float32, share float64) Answer {
	keys := q.order(x)
	for parts := float64(finest); ; parts *= 4 {
		a, enough := q.pass(keys, q.table(parts), share)
		if enough {
			return a
		}
	}
}

// pass computes the answer with a table, and reports whether the table is fine enough.
func (q *Question) pass(keys []int32, t table, share float64) (Answer, bool) {
	cores, rows := runtime.GOMAXPROCS(0), q.Shape.D*q.Shape.H
	t.slopes = make([]float64, t.n)
	crew.Each(cores, func(i int) {
		c := q.curve()
		for k := t.n * i / cores; k < t.n*(i+1)/cores; k++ {
			t.slopes[k] = c.add(t.value(k), 0)
		}
	})
	a := Answer{DX: grid.NewValues[float32](q.Shape.Voxels())}
	parts := make([]part, cores)
	crew.Each(cores, func(i int) {
		p := &parts[i]
		*p = part{q: q, keys: keys, table: t, dx: a.DX, curve: q.curve(), mass: make([]float64, t.n)}
		for r := rows * int64(i) / int64(cores); r < rows*int64(i+1)/int64(cores); r++ {
			p.row(r%q.Shape.H, r/q.Shape.H)
		}
	})
	first := &parts[0]
	for i := range parts[1:] {
		first.merge(&parts[1+i])
	}
	crew.Each(cores, func(i int) {
		for k := t.n * i / cores; k < t.n*(i+1)/cores; k++ {
			parts[i].curve.add(t.value(k), first.mass[k])
		}
	})
	for i := range parts[1:] {
		first.curve.merge(parts[1+i].curve)
	}
	first.curve.finish(&a)
	q.direct(&a, first.moment)
	return a, t.n == 0 || q.error(&a, t, float64(first.cells), first.most) <= share
}

// direct completes an answer by the moment M = Σ c G' p: ∂α = −⟨u, M⟩, and ∂v by u = v/|v|.
func (q *Question) direct(a *Answer, moment [3]float64) {
	norm := math.Hypot(math.Hypot(q.V[0], q.V[1]), q.V[2])
	for i, v := range q.V {
		a.Alpha -= v / norm * moment[i]
	}
	for i, v := range q.V {
		a.DV[i] = -q.Alpha / norm * (moment[i] + a.Alpha*v/norm)
	}
}

// error bounds the error of any number of an answer, relative to its scale. Cells are those whose
// signs have not cancelled. Interpolation by cubics changes f by at most 3/128 h⁴ max|f⁗|.
func (q *Question) error(a *Answer, t table, cells, most float64) float64 {
	const (
		curve, slope, steep = 0.13, 0.25, 1.0 // max of |s⁗|, |s⁽⁵⁾| and |4s⁗ + z s⁽⁵⁾| of the logistic s
		mostChange          = 7               // of χ by a voxel
	)
	h := q.Lambda * t.step
	of := 3.0 / 128 * h * h * h * h
	g, sum, square := 0.0, 0.0, 0.0
	for j, v := range q.G {
		g, sum, square = max(g, math.Abs(v)), sum+math.Abs(v), square+a.DTau[j]*a.DTau[j]
	}
	worst := of * curve * cells / max(1, largest(a.Chi))
	if g == 0 {
		return worst
	}
	cell := g * q.Lambda / 4
	return max(worst, of*slope*cells*g*q.Lambda/max(cell, largest(a.DTau)),
		of*slope*mostChange*sum*q.Lambda/max(cell, most),
		of*steep*cells*sum/q.Lambda/max(math.Abs(a.Lambda), math.Sqrt(square)/(q.Lambda*q.Lambda), g/(4*q.Lambda)))
}

func largest(list []float64) (top float64) {
	for _, v := range list {
		top = max(top, math.Abs(v))
	}
	return top
}

// order returns the image Y = X + α⟨u, p⟩, each sum rounded to float32, as integers of the same
// order, with a border: +∞ around top cells. Of vertices it is −Y, with −∞ around.
func (q *Question) order(x []float32) []int32 {
	s := q.Shape
	keys := grid.NewValues[int32]((s.W+2)*(s.H+2)*(s.D+2) + 64) // rows are read by 64
	outside := int32(math.MaxInt32)
	if q.Vertices {
		outside = math.MinInt32
	}
	norm := math.Sqrt(q.V[0]*q.V[0] + q.V[1]*q.V[1] + q.V[2]*q.V[2])
	rise := func(axis int, i, n int64) float64 {
		return float64(q.Alpha*(q.V[axis]/norm)) * (float64(i) - float64(n-1)/2)
	}
	rows := (s.D + 2) * (s.H + 2)
	cores := int64(runtime.GOMAXPROCS(0))
	crew.Each(int(cores), func(core int) {
		for r := rows * int64(core) / cores; r < rows*int64(core+1)/cores; r++ {
			y, z, to := r%(s.H+2)-1, r/(s.H+2)-1, keys[r*(s.W+2):][:s.W+2]
			for i := range to {
				to[i] = outside
			}
			if y < 0 || z < 0 || y == s.H || z == s.D {
				continue
			}
			all := float32(float64(rise(1, y, s.H)) + float64(rise(2, z, s.D)))
			for i, v := range x[(z*s.H+y)*s.W:][:s.W] {
				v = float32(v + float32(all+float32(rise(0, int64(i), s.W))))
				to[i+1] = keyOf(v, q.Vertices)
			}
		}
	})
	return keys
}

// keyOf returns an integer for a value, or for its negative, in the same order. Both zeros have the
// same key.
func keyOf(v float32, negative bool) int32 {
	if negative {
		v = -v
	}
	k := int32(math.Float32bits(v + 0))
	return k ^ k>>31&math.MaxInt32
}

func valueOf(k int32, negative bool) float64 {
	v := float64(math.Float32frombits(uint32(k ^ k>>31&math.MaxInt32)))
	if negative {
		v = -v
	}
	return v
}

// A part holds the sums of one core.
type part struct {
	q *Question
	table
	curve  *curve    // of the voxels, or of the nodes if there is a table
	mass   []float64 // of the nodes of the table
	keys   []int32
	dx     []float32
	moment [3]float64
	cells  int64   // cells that have not cancelled
	most   float64 // greatest |∂X|
}

// merge adds another part, all but its curve.
func (p *part) merge(o *part) {
	p.cells, p.most = p.cells+o.cells, max(p.most, o.most)
	for k, v := range o.mass {
		p.mass[k] += v
	}
	for k, v := range o.moment {
		p.moment[k] += v
	}
}

// row adds up a row of voxels.
func (p *part) row(y, z int64) {
	s := p.q.Shape
	at, sum, along := ((z+1)*(s.H+2)+y+1)*(s.W+2)+1, 0.0, 0.0
	dx := p.dx[(z*s.H+y)*s.W:][:s.W]
	for x := int64(0); x < s.W; x += 64 {
		n := min(64, s.W-x)
		count, some := changes(p.keys, at+x, n, s.W+2, (s.W+2)*(s.H+2))
		for ; some != 0; some &= some - 1 {
			i := bits.TrailingZeros64(some)
			c := -middle
			for k, word := range &count {
				c += int(word >> i & 1 << k)
			}
			if !p.q.Vertices {
				c = -c
			}
			p.cells += int64(max(c, -c))
			w := float64(c) * p.add(valueOf(p.keys[at+x+int64(i)], p.q.Vertices), float64(c))
			dx[x+int64(i)], p.most = float32(-w), max(p.most, w, -w)
			sum += w
			along += w * float64(x+int64(i))
		}
	}
	p.moment[0] += along - sum*float64(s.W-1)/2
	p.moment[1] += sum * (float64(y) - float64(s.H-1)/2)
	p.moment[2] += sum * (float64(z) - float64(s.D-1)/2)
}

// add adds a change of χ at a value, and returns G' there.
func (p *part) add(v, change float64) (slope float64) {
	if p.n == 0 {
		return p.curve.add(v, change)
	}
	t := (min(max(v, p.from), p.to) - p.from) / p.step
	k := min(max(int(t), 1), p.n-3)
	f := t - float64(k)
	mass, slopes := p.mass[k-1:][:4], p.slopes[k-1:][:4]
	for i, w := range [4]float64{
		-f * (f - 1) * (f - 2) / 6, (f + 1) * (f - 1) * (f - 2) / 2, -(f + 1) * f * (f - 2) / 2, (f + 1) * f * (f - 1) / 6,
	} {
		mass[i] += change * w
		slope += slopes[i] * w
	}
	return slope
}
