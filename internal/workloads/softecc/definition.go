package softecc

import (
	"runtime"
	"sync"
)

// Define answers by the definition in float64. It visits the cells of the complex of Y one by one.
// A cell has the value of its first voxel, and needs m sigmoids. A cell is a point of a grid of
// (2D+1) × (2H+1) × (2W+1) points. Its dimension is the number of its odd coordinates. Its voxels
// are at distance at most one along the even ones. If voxels are vertices, a cell is a point off
// the border, and the voxels are its vertices. Its dimension is then the number of its even
// coordinates.
func Define(p *Problem) (Answer, error) {
	if err := p.Check(); err != nil {
		return Answer{}, err
	}
	y, err := p.Y()
	if err != nil {
		return Answer{}, err
	}
	s, m := p.Shape(), len(p.Tau)
	layers := 2*s.D + 1
	if s.D == 1 {
		layers = 1 // a 2D image: cells have no third coordinate
	}
	type part struct {
		sums   sums
		dx     []float64 // of the planes starting at from
		from   int64
		moment [3]float64
	}
	parts := make([]part, max(1, min(layers/2, int64(runtime.GOMAXPROCS(0)))))
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			q := &parts[i]
			lo, hi := layers*int64(i)/int64(len(parts)), layers*int64(i+1)/int64(len(parts))
			q.from = max(0, (lo-1)/2)
			q.dx = make([]float64, (min(s.D, hi/2+1)-q.from)*s.H*s.W)
			q.sums = newSums(m)
			for z := lo; z < hi; z++ {
				eachCell(p, y, z, func(sign float64, vx, vy, vz int64, value float32) {
					w := sign * q.sums.add(p, sign, float64(value))
					q.dx[((vz-q.from)*s.H+vy)*s.W+vx] -= w
					q.moment[0] += w * Place(vx, s.W)
					q.moment[1] += w * Place(vy, s.H)
					q.moment[2] += w * Place(vz, s.D)
				})
			}
		})
	}
	wg.Wait()
	total, dx, moment := newSums(m), make([]float64, len(y)), [3]float64{}
	for _, q := range parts {
		total.merge(q.sums)
		for i, v := range q.dx {
			dx[q.from*s.H*s.W+int64(i)] += v
		}
		for i, v := range q.moment {
			moment[i] += v
		}
	}
	a := Answer{Chi: total.chi, DTau: total.dtau, Lambda: total.lambda, DX: make([]float32, len(y))}
	for i, v := range dx {
		a.DX[i] = float32(v)
	}
	p.Direction(&a, moment)
	return a, nil
}

// sums are the sums over cells at all thresholds.
type sums struct {
	chi, dtau []float64
	lambda    float64
}

func newSums(m int) sums { return sums{chi: make([]float64, m), dtau: make([]float64, m)} }

func (s *sums) merge(t sums) {
	for j := range s.chi {
		s.chi[j] += t.chi[j]
		s.dtau[j] += t.dtau[j]
	}
	s.lambda += t.lambda
}

// add adds a cell with a value, and returns G'(value) = Σ g_j σ'(τ_j − value).
func (s *sums) add(p *Problem, sign, value float64) (slope float64) {
	for j, tau := range p.Tau {
		z := tau - value
		v, d := Sigmoid(p.Lambda * z)
		s.chi[j] += sign * v
		s.dtau[j] += sign * p.G[j] * p.Lambda * d
		s.lambda += sign * p.G[j] * z * d
		slope += p.G[j] * p.Lambda * d
	}
	return slope
}

// eachCell calls f with the sign, the first voxel and the value of each cell of a layer.
func eachCell(p *Problem, values []float32, z int64, f func(sign float64, vx, vy, vz int64, value float32)) {
	s := p.Shape()
	flat, border, turn := s.D == 1, int64(0), float32(1)
	if p.Vertices {
		border, turn = 1, -1
		if !flat && (z == 0 || z == 2*s.D) {
			return
		}
	}
	for y := border; y <= 2*s.H-border; y++ {
		for x := border; x <= 2*s.W-border; x++ {
			var fx, fy, fz int64
			first, found := float32(0), false
			for vz := max(0, (z-1)/2); vz <= min(s.D-1, z/2); vz++ {
				for vy := max(0, (y-1)/2); vy <= min(s.H-1, y/2); vy++ {
					for vx := max(0, (x-1)/2); vx <= min(s.W-1, x/2); vx++ {
						if v := values[(vz*s.H+vy)*s.W+vx]; !found || First(turn*v, turn*first, vx, vy, vz, fx, fy, fz) {
							first, fx, fy, fz, found = v, vx, vy, vz, true
						}
					}
				}
			}
			odd := x&1 + y&1 + z&1
			if flat {
				odd = x&1 + y&1
			}
			if p.Vertices {
				odd = int64(s.Dim()) - odd // the number of even ones
			}
			f(float64(1-2*(odd&1)), fx, fy, fz, first)
		}
	}
}
