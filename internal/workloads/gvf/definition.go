package gvf

import (
	"math"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// Define is the flow by the plain loop, on so many goroutines (0 for one each core). It shares
// nothing with what implementations start from: neither the gradient nor a row of a step.
//
//	f    = float32((value − least)/(greatest − least)), in float64; 0 where all are equal
//	V0   = ½ (f(next) − f(before)) along x, y and z, the border repeated
//	b    = (V0x·V0x + V0y·V0y) + V0z·V0z
//	s    = ((x⁻ + x⁺) + (y⁻ + y⁺)) + (z⁻ + z⁺) of V, the boundary's neighbours at the border
//	V'   = V + (μ·(s − 2d·V) − (V − V0)·b), for each component
//
// In 2D there is no z, and 2d is 4. Each operation is rounded to float32 by itself, in this
// order, and no multiplication is fused with an addition. Within a mask the neighbour of another
// part is the voxel itself, of f and of V, least and greatest are those of what is inside, and
// what is outside is 0.
func Define(p *Problem, threads int) (Flow, error) {
	if p.Storage != Float32 {
		return p.defineKept(threads)
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return Flow{}, err
	}
	f := Flow{V: make([][]float32, len(v0))}
	for c := range v0 {
		f.V[c] = evolve(p, v0[c], b, p.Steps, threads)
	}
	return f, nil
}

// Stored is the flow by the plain loop where each number is kept in another format after each
// step, such as one of 16 bits.
func Stored(p *Problem, keep func(float32) float32) (Flow, error) {
	v0, b, err := p.definedStart()
	if err != nil {
		return Flow{}, err
	}
	f, rows := p.zeros(), p.Shape().D*p.Shape().H
	for c := range v0 {
		v, next := append([]float32(nil), v0[c]...), f.V[c]
		for range p.Steps {
			inParts(rows, runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
				sweep(p, next, v, v0[c], b, lo, hi)
				for i, u := range next[lo*p.Shape().W : hi*p.Shape().W] {
					next[lo*p.Shape().W+int64(i)] = keep(u)
				}
			})
			v, next = next, v
		}
		f.V[c] = v
	}
	return f, nil
}

// definedStart is V0 and b.
func (p *Problem) definedStart() (v0 [][]float32, b []float32, err error) {
	if v0 = p.V0; v0 == nil {
		image, err := p.normalised()
		if err != nil {
			return nil, nil, err
		}
		if p.Mask == nil {
			v0 = gradient(p.Shape(), image)
		} else {
			v0 = p.gradientWithin(image)
		}
	}
	b = make([]float32, len(v0[0]))
	for i := range b {
		sum := float32(v0[0][i]*v0[0][i]) + float32(v0[1][i]*v0[1][i])
		if len(v0) > 2 {
			sum = sum + float32(v0[2][i]*v0[2][i])
		}
		b[i] = sum
	}
	return v0, b, nil
}

// normalised is the image from 0 to 1.
func (p *Problem) normalised() ([]float32, error) {
	values, err := p.values()
	if err != nil {
		return nil, err
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range values.n {
		if p.inside(i) {
			lo, hi = min(lo, values.at(i)), max(hi, values.at(i))
		}
	}
	f, part := make([]float32, values.n), 1.0
	if math.IsInf(hi-lo, 1) { // a range that float64 does not hold
		part = 0.5
	}
	if hi > lo {
		for i := range f {
			if p.inside(i) {
				f[i] = float32((part*values.at(i) - part*lo) / (part*hi - part*lo))
			}
		}
	}
	return f, nil
}

// A list of an image's values as numbers.
type list struct {
	n  int
	at func(i int) float64
}

// values are the image's, row-major: what they stand for where they stand for others.
func (p *Problem) values() (list, error) {
	f, err := grid.Load(p.Source)
	if err != nil {
		return list{}, err
	}
	values, labels := f.Floats(), grid.LabelsOf(p.Source)
	if labels == nil {
		return list{len(values), func(i int) float64 { return float64(values[i]) }}, nil
	}
	return list{len(values), func(i int) float64 { return labels.Float64(values[i]) }}, nil
}

// gradient is by central differences.
func gradient(s grid.Shape, f []float32) [][]float32 {
	v0 := make([][]float32, s.Dim())
	for c := range v0 {
		v0[c] = make([]float32, len(f))
	}
	inParts(int64(len(f)), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) { gradientOf(s, f, v0, lo, hi) })
	return v0
}

func gradientOf(s grid.Shape, f []float32, v0 [][]float32, lo, hi int64) {
	for i := lo; i < hi; i++ {
		z, y, x := s.Coordinates(i)
		at := func(z, y, x int64) float32 {
			return f[(max(0, min(z, s.D-1))*s.H+max(0, min(y, s.H-1)))*s.W+max(0, min(x, s.W-1))]
		}
		v0[0][i] = 0.5 * (at(z, y, x+1) - at(z, y, x-1))
		v0[1][i] = 0.5 * (at(z, y+1, x) - at(z, y-1, x))
		if s.D > 1 {
			v0[2][i] = 0.5 * (at(z+1, y, x) - at(z-1, y, x))
		}
	}
}

// evolve takes steps of one component from V0, in float32 or, to see what rounding does, in
// float64.
func evolve[T float32 | float64](p *Problem, v0, b []T, steps int64, threads int) []T {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	v, next := append([]T(nil), v0...), make([]T, len(v0))
	rows := p.Shape().D * p.Shape().H
	for range steps {
		var g crew.Group
		for k := range int64(threads) {
			if lo, hi := rows*k/int64(threads), rows*(k+1)/int64(threads); lo < hi {
				g.Go(func() { sweep(p, next, v, v0, b, lo, hi) })
			}
		}
		g.Wait()
		v, next = next, v
	}
	return v
}

// sweep takes a step of rows lo ≤ r < hi.
func sweep[T float32 | float64](p *Problem, next, v, v0, b []T, lo, hi int64) {
	if p.Mask != nil {
		sweepWithin(p, next, v, v0, b, lo, hi)
		return
	}
	s, mu := p.Shape(), T(p.Mu)
	beside := func(i, n int64) (before, after int64) {
		before, after = i-1, i+1
		if i == 0 {
			before = p.Boundary.Before(n)
		}
		if i == n-1 {
			after = p.Boundary.After(n)
		}
		return before, after
	}
	row := func(z, y int64) []T { return v[(z*s.H+y)*s.W:][:s.W] }
	for r := lo; r < hi; r++ {
		z, y := r/s.H, r%s.H
		before, after := beside(y, s.H)
		here, north, south := row(z, y), row(z, before), row(z, after)
		below, above := here, here
		if s.D > 1 {
			before, after = beside(z, s.D)
			below, above = row(before, y), row(after, y)
		}
		for x := range s.W {
			before, after := beside(x, s.W)
			sum := T(T(here[before]+here[after]) + T(north[x]+south[x]))
			sides := T(4)
			if s.D > 1 {
				sum, sides = T(sum+T(below[x]+above[x])), 6
			}
			u, i := here[x], r*s.W+x
			laplacian := T(sum - T(sides*u))
			next[i] = T(u + T(T(mu*laplacian)-T(T(u-v0[i])*b[i])))
		}
	}
}
