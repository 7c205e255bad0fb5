package windowed

import (
	"fmt"
	"math"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/eigenmap"
)

// A graph is the graph of patches. Weights are computed on request, from tables for the squared
// distances of features and of places, which are integers.
type graph struct {
	n, m, threads int
	shape         grid.Shape
	features      []int16
	fast          bool      // use vector instructions
	low, high     []float64 // exp(−d/(Mα²)) is high[d>>bits] · low[d&mask]
	place         []float64 // exp(−d/(2β²)), up to the reach
	degree        []float64
	reach         int64 // distance beyond which weights are negligible
	behind        bool  // only weights of later patches
}

const (
	bits = 10
	mask = 1<<bits - 1
)

// precision is the part of a row that may be left out, relative to its sum.
const precision = 1e-14

func newGraph(p *eigenmap.Problem, threads int) (*graph, error) {
	features, err := p.Patches()
	if err != nil {
		return nil, err
	}
	g := &graph{n: int(p.Nodes().Voxels()), m: int(p.Features()), threads: threads, shape: p.Nodes(),
		features: make([]int16, len(features))}
	for i, v := range features {
		g.features[i] = int16(v)
	}
	g.fast = eigenmap.Vectors()
	s := 1 / (float64(g.m) * p.Alpha * p.Alpha)
	for d := range 1 << bits {
		g.low = append(g.low, math.Exp(-float64(d)*s))
	}
	for d := range g.m*255*255>>bits + 1 {
		g.high = append(g.high, math.Exp(-float64(d<<bits)*s))
	}
	// Weights beyond the reach sum to a negligible part of each row; otherwise the reach is
	// extended.
	longest := farthest(g.shape)
	for exponent := math.Log(float64(g.n) / precision); ; exponent *= 2 {
		far := p.Beta * math.Sqrt(2*exponent)
		g.reach = int64(math.Min(math.Ceil(far), longest))
		g.place = g.place[:0]
		for d := range g.reach*g.reach + 1 {
			g.place = append(g.place, math.Exp(-float64(d)/(2*p.Beta*p.Beta)))
		}
		g.degree = make([]float64, g.n)
		g.each(func(i int) {
			g.runs(i, func(_ int, weights []float64) {
				for _, w := range weights {
					g.degree[i] += w
				}
			})
		})
		left := float64(g.n) * math.Exp(-exponent) // in any row
		short := slices.ContainsFunc(g.degree, func(d float64) bool { return !(left <= precision*d) })
		if !short || float64(g.reach) >= longest {
			for i, d := range g.degree {
				if !(d > 0) {
					return nil, fmt.Errorf("patch %d has no neighbour, because all its weights are 0; want a larger alpha or beta", i)
				}
			}
			return g, nil
		}
	}
}

// farthest returns the largest distance of two patches, rounded up.
func farthest(s grid.Shape) float64 {
	square := 0.0
	for _, n := range [3]int64{s.W, s.H, s.D} {
		square += float64((n - 1) * (n - 1))
	}
	return math.Ceil(math.Sqrt(square))
}

// portions is the number of parts of the patches on any number of cores, so sums have one order.
const portions = 64

// each calls f for every patch, in parallel.
func (g *graph) each(f func(i int)) {
	g.portioned(func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// portioned calls f for each portion of the patches, in parallel.
func (g *graph) portioned(f func(k, lo, hi int)) {
	crew.InTurn(g.threads, portions, func(_, k int) {
		if lo, hi := g.n*k/portions, g.n*(k+1)/portions; lo < hi {
			f(k, lo, hi)
		}
	})
}

// runs calls f for the patches within reach of patch i, by runs along x: with the first patch and
// the weights of all. The weights are overwritten by the next run.
func (g *graph) runs(i int, f func(first int, weights []float64)) {
	s, m := g.shape, g.m
	iz, iy, ix := s.Coordinates(int64(i))
	a := g.features[i*m:][:m]
	most := min(s.W, 2*g.reach+1)
	buffer, distances := make([]float64, most), make([]int32, most)
	for z := max(0, iz-g.reach); z < min(s.D, iz+g.reach+1); z++ {
		for y := max(0, iy-g.reach); y < min(s.H, iy+g.reach+1); y++ {
			beside := (z-iz)*(z-iz) + (y-iy)*(y-iy)
			if beside > g.reach*g.reach || g.behind && (z < iz || z == iz && y < iy) {
				continue
			}
			wide := int64(math.Sqrt(float64(g.reach*g.reach - beside)))
			x0, x1 := max(0, ix-wide), min(s.W, ix+wide+1)
			if g.behind && beside == 0 {
				x0 = ix + 1
			}
			weights, apart := buffer[:x1-x0], distances[:x1-x0]
			first := int((z*s.H+y)*s.W + x0)
			features := g.features[first*m:]
			done := 0
			if g.fast && m == 16 {
				done = unlikeVector(apart, a, features)
			}
			for k := done; k < len(apart); k++ {
				apart[k] = squaredDistance(a, features[k*m:][:m])
			}
			for k, d := range apart {
				along := x0 + int64(k) - ix
				weights[k] = g.high[d>>bits] * g.low[d&mask] * g.place[beside+along*along]
			}
			if !g.behind && beside == 0 {
				weights[ix-x0] = 0
			}
			f(first, weights)
		}
	}
}

// squaredDistance returns the square of the distance of two patches' features.
func squaredDistance(a, b []int16) (d int32) {
	b = b[:len(a)]
	for k, v := range a {
		e := int32(v) - int32(b[k])
		d += e * e
	}
	return d
}

// apply multiplies vectors by L, as a normalised matrix, in float64 and from differences.
func (g *graph) apply(to, from [][]float64) {
	u := make([][]float64, len(from))
	for k, x := range from {
		u[k] = make([]float64, g.n)
		for i, v := range x {
			u[k][i] = v / math.Sqrt(g.degree[i])
		}
	}
	g.each(func(i int) {
		sums := make([]float64, len(u))
		g.runs(i, func(first int, weights []float64) {
			for k, v := range u {
				here, sum := v[i], 0.0
				for j, other := range v[first:][:len(weights)] {
					sum += weights[j] * (here - other)
				}
				sums[k] += sum
			}
		})
		for k, v := range sums {
			to[k][i] = v / math.Sqrt(g.degree[i])
		}
	})
}
