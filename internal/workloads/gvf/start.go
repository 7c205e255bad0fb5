package gvf

import (
	"math"
	"runtime"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A Start is the initial state of a flow.
type Start struct {
	V0 [][]float32 // the gradient, as in a Flow; not to be modified
	B  []float32   // |V0|²
}

// Start computes V0 and b on threads goroutines (0: one for each core), bit for bit as in Define.
func (p *Problem) Start(threads int) (Start, error) { return new(Starter).Start(p, threads) }

// A Starter makes Starts of one shape. Each reuses the memory of the previous Start, which it
// overwrites.
type Starter struct {
	V0 [][]float32 // the memory of V0, unless a problem has its own; nil to allocate it
	B  []float32   // the memory of b, first used for the image from 0 to 1; nil to allocate it
}

// Start is Problem.Start.
func (k *Starter) Start(p *Problem, threads int) (Start, error) {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	s := p.Shape()
	rows := s.D * s.H
	v0 := p.V0
	if k.B == nil {
		k.B = grid.NewValues[float32](s.Voxels())
	}
	if v0 == nil {
		f, err := k.scaled(p, threads)
		if err != nil {
			return Start{}, err
		}
		if k.V0 == nil {
			k.V0 = lists(s.Dim(), s.Voxels())
		}
		v0 = k.V0
		inParts(rows, threads, func(_ int, lo, hi int64) { gradientRows(s, f, v0, lo, hi) })
		p.mend(v0, f)
	}
	b := k.B
	inParts(rows, threads, func(_ int, lo, hi int64) {
		lo, hi = lo*s.W, hi*s.W
		b, vx, vy := b[lo:hi], v0[0][lo:hi], v0[1][lo:hi]
		for i := range b {
			b[i] = float32(float32(vx[i]*vx[i]) + float32(vy[i]*vy[i]))
		}
		if len(v0) > 2 {
			vz := v0[2][lo:hi]
			for i := range b {
				b[i] = float32(b[i] + float32(vz[i]*vz[i]))
			}
		}
	})
	return Start{v0, b}, nil
}

// inParts splits 0 ≤ i < n into ranges and calls f for all of them concurrently.
func inParts(n int64, parts int, f func(part int, lo, hi int64)) {
	var g crew.Group
	for k := range int64(parts) {
		g.Go(func() { f(int(k), n*k/int64(parts), n*(k+1)/int64(parts)) })
	}
	g.Wait()
}

// lists returns many lists of n zeros.
func lists(many int, n int64) [][]float32 {
	v := make([][]float32, many)
	for c := range v {
		v[c] = grid.NewValues[float32](n)
	}
	return v
}

// scaled returns the image, scaled to the range from 0 to 1.
func (k *Starter) scaled(p *Problem, threads int) ([]float32, error) {
	if grid.LabelsOf(p.Source) != nil || p.Mask != nil { // rare
		return p.normalised()
	}
	f, err := grid.Load(p.Source)
	if err != nil {
		return nil, err
	}
	out := k.B
	switch f.Type() {
	case grid.Uint8:
		scaleTo(out, grid.Values[uint8](f.Data()), threads)
	case grid.Int16:
		scaleTo(out, grid.Values[int16](f.Data()), threads)
	case grid.Uint16:
		scaleTo(out, grid.Values[uint16](f.Data()), threads)
	case grid.Float32:
		scaleTo(out, grid.Values[float32](f.Data()), threads)
	}
	return out, nil
}

func scaleTo[T grid.Element](out []float32, values []T, threads int) {
	n := int64(len(values))
	least, most := make([]float64, threads), make([]float64, threads)
	inParts(n, threads, func(part int, lo, hi int64) {
		least[part], most[part] = math.Inf(1), math.Inf(-1)
		if lo < hi {
			a, z := values[lo], values[lo]
			for _, v := range values[lo:hi] {
				a, z = min(a, v), max(z, v)
			}
			least[part], most[part] = float64(a), float64(z)
		}
	})
	from, to := math.Inf(1), math.Inf(-1)
	for part := range least {
		from, to = min(from, least[part]), max(to, most[part])
	}
	if to == from {
		clear(out)
		return
	}
	inParts(n, threads, func(_ int, lo, hi int64) {
		out, values := out[lo:hi], values[lo:hi]
		for i, v := range values {
			out[i] = float32((float64(v) - from) / (to - from))
		}
	})
}

// gradientRows sets rows lo ≤ r < hi of V0.
func gradientRows(s grid.Shape, f []float32, v0 [][]float32, lo, hi int64) {
	row := func(z, y int64) []float32 { return f[(z*s.H+y)*s.W:][:s.W] }
	half := func(dst, before, after []float32) {
		for x := range dst {
			dst[x] = 0.5 * float32(after[x]-before[x])
		}
	}
	for r := lo; r < hi; r++ {
		z, y := r/s.H, r%s.H
		of := func(c int) []float32 { return v0[c][r*s.W:][:s.W] }
		here, dst, last := row(z, y), of(0), s.W-1
		if last > 0 {
			half(dst[1:last], here[:last-1], here[2:])
			dst[0], dst[last] = 0.5*float32(here[1]-here[0]), 0.5*float32(here[last]-here[last-1])
		} else {
			dst[0] = 0
		}
		half(of(1), row(z, max(y-1, 0)), row(z, min(y+1, s.H-1)))
		if s.D > 1 {
			half(of(2), row(max(z-1, 0), y), row(min(z+1, s.D-1), y))
		}
	}
}
