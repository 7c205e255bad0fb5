// Package dense is the method of Saxena et al. 2025, section 3.2, on the host. For each voxel it
// computes the change c(p), and one sigmoid per threshold, both forward and backward. The change
// c(p) is computed in Y; otherwise equation 6 would be the curve of no image.
package dense

import (
	"math"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/softecc"
)

// sigmoidNS and changeNS are the times of a sigmoid and of the change of a voxel on a core, for the
// estimate in a rejection.
const (
	sigmoidNS = 5
	changeNS  = 100
)

// Implementation is ready to use.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("dense",
		"the change of every voxel from its neighbours, every sigmoid of every voxel, forward and backward, all "+
			"cores",
		"Saxena et al. 2025, section 3.2", bench.E2E)
}

// CanDo rejects problems that need more time or memory than the conditions allow.
func (Implementation) CanDo(p *softecc.Problem, c bench.Conditions) error {
	if err := p.Check(); err != nil {
		return err
	}
	n, m, threads := p.Shape().Voxels(), int64(len(p.Tau)), int64(max(1, c.Threads))
	estimate := quantity.Seconds(float64(n) * float64(2*m*sigmoidNS+changeNS) * 1e-9 / float64(threads))
	if err := c.Allow(estimate, "%d voxels × (2 × %d thresholds × %d ns + %d ns) on %d cores", n, m, sigmoidNS, changeNS,
		threads); err != nil {
		return err
	}
	return c.AllowMemory(14*n, "14 bytes for each of %d voxels", n)
}

// Setup allocates Y with a border for the outside, the changes and the gradient.
func (Implementation) Setup(p *softecc.Problem, c bench.Conditions) (bench.Job[softecc.Answer], error) {
	s := p.Shape()
	j := &job{p: p, threads: int64(c.Cores()), changes: make([]int8, s.Voxels()), dx: make([]float32, s.Voxels())}
	j.h, j.w, j.turn = s.H+2, s.W+2, 1
	j.y = make([]float32, (s.D+2)*j.h*j.w)
	j.others, j.cells, j.own = neighbours(s.D > 1, j.h, j.w)
	outside := float32(math.Inf(1))
	if p.Vertices { // cells are dual to the cells of −Y that do not touch the outside
		j.turn, outside = -1, -outside
		if s.D > 1 {
			j.own = -j.own
			for i := range j.cells {
				j.cells[i].sign = -j.cells[i].sign
			}
		}
	}
	for i := range j.y {
		j.y[i] = outside
	}
	return j, nil
}

type job struct {
	p       *softecc.Problem
	threads int64
	y       []float32 // (D+2) × h × w, +∞ outside; for vertices −Y, with −∞ outside
	turn    float64   // −1 where y is −Y
	h, w    int64
	others  []other
	cells   []cell
	own     int8 // of the cell that is the voxel itself
	changes []int8
	dx      []float32
	answer  softecc.Answer
}

// An other is a neighbour of a voxel: its offset, and whether it comes later if both values are
// equal.
type other struct {
	at    int64
	later bool
}

// A cell belongs to the voxel if some of the others come later.
type cell struct {
	need uint32
	sign int8
}

func neighbours(solid bool, h, w int64) (others []other, cells []cell, own int8) {
	deep := int64(1)
	if !solid {
		deep = 0
	}
	type place struct{ x, y, z int64 }
	index := map[place]int{}
	for z := -deep; z <= deep; z++ {
		for y := int64(-1); y <= 1; y++ {
			for x := int64(-1); x <= 1; x++ {
				if x != 0 || y != 0 || z != 0 {
					index[place{x, y, z}] = len(others)
					others = append(others, other{(z*h+y)*w + x, x > 0 || x == 0 && (y > 0 || y == 0 && z > 0)})
				}
			}
		}
	}
	own = 1
	if solid {
		own = -1
	}
	for z := -deep; z <= deep; z++ {
		for y := int64(-1); y <= 1; y++ {
			for x := int64(-1); x <= 1; x++ {
				if x == 0 && y == 0 && z == 0 {
					continue
				}
				c := cell{sign: own}
				for _, v := range []int64{x, y, z} {
					if v != 0 {
						c.sign = -c.sign // one dimension less
					}
				}
				for p, bit := range index {
					if within(p.x, x) && within(p.y, y) && within(p.z, z) {
						c.need |= 1 << bit
					}
				}
				cells = append(cells, c)
			}
		}
	}
	return others, cells, own
}

func within(at, end int64) bool { return at == 0 || at == end }

// each splits n among the cores of the job.
func (j *job) each(n int64, work func(part int, lo, hi int64)) {
	parts := min(j.threads, n)
	var wg sync.WaitGroup
	for k := range parts {
		wg.Go(func() { work(int(k), n*k/parts, n*(k+1)/parts) })
	}
	wg.Wait()
}

func (j *job) Do(trace *bench.Trace) error {
	p, s := j.p, j.p.Shape()
	rows := s.D * s.H
	end := trace.Span("changes")
	values, err := p.Values()
	if err != nil {
		return err
	}
	tilt := p.Tilt()
	j.each(rows, func(_ int, lo, hi int64) { j.tilt(tilt, values, lo, hi) })
	j.each(rows, func(_ int, lo, hi int64) {
		for r := lo; r < hi; r++ {
			for x := range s.W {
				j.changes[r*s.W+x] = j.change(j.at(r) + x)
			}
		}
	})
	end()
	end = trace.Span("forward")
	chi := make([][]float64, j.threads)
	j.each(rows, func(part int, lo, hi int64) { chi[part] = j.forward(lo, hi) })
	end()
	defer trace.Span("backward")()
	backs := make([]back, j.threads)
	j.each(rows, func(part int, lo, hi int64) { backs[part] = j.backward(lo, hi) })
	a := softecc.Answer{Chi: make([]float64, len(p.Tau)), DTau: make([]float64, len(p.Tau)), DX: j.dx}
	var moment [3]float64
	for part, b := range backs {
		if chi[part] == nil {
			continue // fewer rows than cores
		}
		for k := range p.Tau {
			a.Chi[k] += chi[part][k]
			a.DTau[k] += p.Lambda * b.dtau[k]
		}
		a.Lambda += b.lambda
		for i, v := range b.moment {
			moment[i] += v
		}
	}
	p.Direction(&a, moment)
	j.answer = a
	return nil
}

// at returns the place of a row in y.
func (j *job) at(row int64) int64 {
	h := j.p.Shape().H
	return ((row/h+1)*j.h+row%h+1)*j.w + 1
}

// tilt sets y to the tilted values of some rows.
func (j *job) tilt(t softecc.Tilt, values []float32, lo, hi int64) {
	s := j.p.Shape()
	for r := lo; r < hi; r++ {
		row := j.y[j.at(r):][:s.W]
		t.Tilted(row, values[r*s.W:][:s.W], r%s.H, r/s.H)
		if j.p.Vertices {
			for x, v := range row {
				row[x] = -v
			}
		}
	}
}

// forward returns the sums of the soft curve over some rows.
func (j *job) forward(lo, hi int64) []float64 {
	p, w := j.p, j.p.Shape().W
	sums := make([]float64, len(p.Tau))
	for r := lo; r < hi; r++ {
		for x, v := range j.y[j.at(r):][:w] {
			c := float64(j.changes[r*w+int64(x)])
			for k, tau := range p.Tau {
				v, _ := sigmoid(p.Lambda * (tau - j.turn*float64(v)))
				sums[k] += c * v
			}
		}
	}
	return sums
}

// back is the sums of the derivatives by τ and λ, and by the direction.
type back struct {
	dtau   []float64
	lambda float64
	moment [3]float64
}

// backward sets the derivatives by the values of some rows, and returns the others' sums.
func (j *job) backward(lo, hi int64) back {
	p, s := j.p, j.p.Shape()
	b := back{dtau: make([]float64, len(p.Tau))}
	for r := lo; r < hi; r++ {
		for x, v := range j.y[j.at(r):][:s.W] {
			i := r*s.W + int64(x)
			c, sum := float64(j.changes[i]), 0.0
			for k, tau := range p.Tau {
				z := tau - j.turn*float64(v)
				_, d := sigmoid(p.Lambda * z)
				d *= p.G[k]
				sum += d
				b.dtau[k] += c * d
				b.lambda += c * z * d
			}
			w := c * p.Lambda * sum
			j.dx[i] = float32(-w)
			b.moment[0] += w * softecc.Place(int64(x), s.W)
			b.moment[1] += w * softecc.Place(r%s.H, s.H)
			b.moment[2] += w * softecc.Place(r/s.H, s.D)
		}
	}
	return b
}

// change sums the cells whose first voxel is at a position of Y.
func (j *job) change(at int64) int8 {
	v := j.y[at]
	later := uint32(0)
	for k, o := range j.others {
		if w := j.y[at+o.at]; w > v || w == v && o.later {
			later |= 1 << k
		}
	}
	c := j.own
	for _, cell := range j.cells {
		if later&cell.need == cell.need {
			c += cell.sign
		}
	}
	return c
}

// sigmoid returns σ = 1/(1+exp(−a)) and σ(1−σ), accurate to about 10⁻⁹. It uses a polynomial
// between powers of 2.
func sigmoid(a float64) (s, slope float64) {
	e := 0.0
	if b := math.Abs(a) * math.Log2E; b < 1000 {
		k := math.Floor(b + 0.5)
		f := (k - b) * math.Ln2
		e = 1 + f*(1+f*(1./2+f*(1./6+f*(1./24+f*(1./120+f*(1./720+f*(1./5040)))))))
		e *= math.Float64frombits(uint64(1023-int64(k)) << 52)
	}
	s = 1 / (1 + e)
	slope = e * s * s
	if a < 0 {
		s = e * s
	}
	return s, slope
}

func (j *job) Poison() {
	j.answer = softecc.Answer{}
	for i := range j.dx {
		j.dx[i] = 1e30
	}
}

// Out returns the last answer; the next Do overwrites its gradient.
func (j *job) Out() (softecc.Answer, error) { return j.answer, nil }
func (j *job) Close() error                 { return nil }
