package binned

import (
	"context"
	"math"
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/softecc"
)

// If voxels are vertices, a cell has the greatest value of its vertices. It is dual to a cell of
// top cells with the least value of −Y that does not touch the outside:
//
//	χ(τ) = 1 + Σ over the dual cells of (−1)^dimension σ_λ(−τ − value),
//
// where the 1 is χ of the box. So the negated image is counted, with −∞ outside.

// turned returns the problem that is counted for p.
func turned(p *softecc.Problem) *softecc.Problem {
	if !p.Vertices {
		return p
	}
	q := *p
	q.Alpha, q.Tau = -p.Alpha, make([]float64, len(p.Tau))
	for j, tau := range p.Tau {
		q.Tau[j] = -tau
	}
	return &q
}

// turnBack converts the answer of the counted problem to the answer of the original one.
func turnBack(a *softecc.Answer) {
	for j := range a.Chi {
		a.Chi[j]++
		a.DTau[j] = -a.DTau[j]
	}
	a.Alpha = -a.Alpha // ∂X has its sign from the sweep
}

// rows sets dst to row y of plane z of an image. A 2D image is a stack of rows.
type rows[T value] func(dst []T, z, y int64)

// rowsOf returns the rows of Y of a problem with its image in memory.
func rowsOf(p *softecc.Problem, f *grid.Field, t softecc.Tilt, k kernel[float32]) rows[float32] {
	s := p.Shape()
	return func(dst []float32, z, y int64) {
		if s.D == 1 {
			y, z = z, 0
		}
		of, at := t.Row(y, z), (z*s.H+y)*s.W
		switch f.Type() {
		case grid.Uint8:
			tilted(dst, grid.Values[uint8](f.Data())[at:][:s.W], of, t.X)
		case grid.Int16:
			tilted(dst, grid.Values[int16](f.Data())[at:][:s.W], of, t.X)
		case grid.Uint16:
			tilted(dst, grid.Values[uint16](f.Data())[at:][:s.W], of, t.X)
		case grid.Float32:
			k.tilt(dst[:s.W], grid.Values[float32](f.Data())[at:][:s.W], of, t.X)
		}
		if p.Vertices {
			turnOver(dst[:s.W])
		}
	}
}

func turnOver[T value](row []T) {
	for i, v := range row {
		row[i] = -v
	}
}

// tilted computes a row of Y: see softecc.Tilt.
func tilted[T value, E grid.Element | float64](dst []T, row []E, of T, along []T) {
	dst, along = dst[:len(row)], along[:len(row)]
	for i, v := range row {
		dst[i] = T(T(v) + T(of+along[i]))
	}
}

// A sweep passes over an image, forward and backward. Its cores always have the same shares, so
// that equal calls give equal bits.
type sweep[T value] struct {
	p       *softecc.Problem // as it is counted
	kernel  kernel[T]
	bins    bins
	nodes   *Nodes  // used in place of bins, unless nil
	reach   float64 // of a sigmoid, in units of 1/λ
	y       rows[T] // of Y
	outside T
	sign    float64 // of ∂X
	ctx     context.Context
	n, h, w int64 // planes, rows, columns; a 2D image is a stack of rows

	stride, strip, chunk int64
	cores                []*core[T]
	changes              []uint8 // int8 of each voxel, from the forward pass
	table                *table  // of nodes
	moments              [][3]float64
}

// A core is the state of one goroutine.
type core[T value] struct {
	planes [2][]T     // a strip of a plane of Y and of the next one
	owed   []int32    // changes passed up from the plane before
	handed [2][]int32 // from row to row, by the portable kernel
	row    []T        // of Y, with room for whole vectors
	shared []shared   // of a row, with nodes
	step   step[T]
	tally  *tally
}

func newSweep[T value](p *softecc.Problem, k kernel[T], b bins, threads int, y rows[T]) *sweep[T] {
	n, h, w := cells.Stack(p.Shape())
	s := &sweep[T]{p: p, kernel: k, bins: b, reach: reach, y: y, outside: T(math.Inf(1)), sign: 1,
		ctx: context.Background(), n: n, h: h, w: w}
	if p.Vertices {
		s.outside, s.sign = T(math.Inf(-1)), -1
	}
	s.stride = lead + (w+lanes)/lanes*lanes + lanes
	s.strip = max(1, min(h, stripBytes/(9*s.stride)-2))
	s.chunk = max(1, (n+4*int64(threads)-1)/(4*int64(threads)))
	for range threads {
		s.cores = append(s.cores, &core[T]{row: make([]T, w, w+lanes)})
	}
	return s
}

// ready allocates the memory of a core for the forward pass.
func (c *core[T]) ready(s *sweep[T]) {
	if c.tally == nil {
		c.tally = newTally(s.p, s.bins, s.nodes, s.reach)
	}
	if c.owed != nil {
		return
	}
	c.owed = make([]int32, s.strip*s.stride)
	for i := range c.planes {
		c.planes[i] = make([]T, (s.strip+2)*s.stride)
		for k := range c.planes[i] {
			c.planes[i][k] = s.outside
		}
	}
	c.handed = [2][]int32{make([]int32, s.w), make([]int32, s.w)}
}

// fill copies rows y0−1 to y1 of a plane of Y to a strip.
func (s *sweep[T]) fill(into []T, z, y0, y1 int64) {
	for y := y0 - 1; y <= y1; y++ {
		dst := into[(y-y0+1)*s.stride+lead:][:s.w]
		if z < 0 || z >= s.n || y < 0 || y >= s.h {
			for i := range dst {
				dst[i] = s.outside
			}
			continue
		}
		s.y(dst, z, y)
	}
}

// each calls work with every share of n, on the core that owns it.
func (s *sweep[T]) each(n int64, work func(c *core[T], share int64)) {
	crew.Each(len(s.cores), func(k int) {
		for share := int64(k); share < n && s.ctx.Err() == nil; share += int64(len(s.cores)) {
			work(s.cores[k], share)
		}
	})
}

// forward computes the change of every voxel and adds it to the bins.
func (s *sweep[T]) forward() {
	for _, c := range s.cores {
		c.ready(s)
		c.tally.reset()
	}
	strips := (s.h + s.strip - 1) / s.strip
	s.each((s.n+s.chunk-1)/s.chunk*strips, func(c *core[T], share int64) {
		lo, y0 := share/strips*s.chunk, share%strips*s.strip
		s.march(c, lo, min(lo+s.chunk, s.n), y0, min(y0+s.strip, s.h))
	})
}

// total returns the sum of the tallies of all cores.
func (s *sweep[T]) total() *tally {
	total := s.cores[0].tally
	for _, c := range s.cores[1:] {
		total.merge(c.tally)
	}
	return total
}

// march sweeps planes lo ≤ z < hi of rows y0 ≤ y < y1. It starts with the plane before, which
// passes changes up.
func (s *sweep[T]) march(c *core[T], lo, hi, y0, y1 int64) {
	clear(c.owed)
	rows := y1 - y0
	s.fill(c.planes[0], lo-1, y0, y1)
	for z := lo - 1; z < hi && s.ctx.Err() == nil; z++ {
		s.fill(c.planes[1], z+1, y0, y1)
		one := &c.step
		*one = step[T]{
			below: c.planes[0], above: c.planes[1], owed: c.owed, handed: c.handed,
			rows: rows, width: s.w, stride: s.stride,
		}
		if z >= lo {
			one.out = s.changes[(z*s.h+y0)*s.w:][:rows*s.w]
		}
		s.kernel.step(one)
		if z >= lo {
			for r := range rows {
				y := c.planes[0][(r+1)*s.stride+lead:][:s.w]
				s.add(c, y, one.out[r*s.w:][:s.w])
			}
		}
		c.planes[0], c.planes[1] = c.planes[1], c.planes[0]
	}
}

// add adds the changes of a row of Y to the nodes or bins of a core.
func (s *sweep[T]) add(c *core[T], y []T, changes []uint8) {
	if s.nodes == nil {
		addRow(c.tally, y, changes)
		return
	}
	s.kernel.place(c.shared, s.nodes, y, changes)
	s.nodes.spread(c.tally.sums, c.shared, changes)
}

// slopes returns the table of G'. That of nodes is reused.
func (s *sweep[T]) slopes(threads int) *table {
	if s.nodes == nil {
		return newTable(s.p, s.bins, s.reach, threads)
	}
	if s.table == nil {
		s.table = &table{nodes: make([]float64, s.nodes.n)}
	}
	s.nodes.slopes(s.table.nodes, s.p.G)
	return s.table
}

// few is the number of rows of a share in the backward pass.
const few = 16

// backward sets ∂X and returns Σ c(p) G'(Y(p)) p.
func (s *sweep[T]) backward(t *table, dx []T) (moment [3]float64) {
	shape, rows := s.p.Shape(), s.n*s.h
	if s.moments == nil {
		s.moments = make([][3]float64, (rows+few-1)/few)
	}
	clear(s.moments)
	s.each(int64(len(s.moments)), func(c *core[T], share int64) {
		m := &s.moments[share]
		for r := share * few; r < min(share*few+few, rows); r++ {
			sum, over := s.gradient(c, t, r, dx[r*s.w:][:s.w])
			iy, iz := r%s.h, r/s.h
			if shape.D == 1 {
				iy, iz = r, 0
			}
			m[0] += over - sum*float64(shape.W-1)/2
			m[1] += sum * softecc.Place(iy, shape.H)
			m[2] += sum * softecc.Place(iz, shape.D)
		}
	})
	for _, m := range s.moments {
		for i, v := range m {
			moment[i] += v
		}
	}
	return moment
}

// gradient sets a row of ∂X, and returns the row's Σ c G' and Σ c G' x.
func (s *sweep[T]) gradient(c *core[T], t *table, r int64, dx []T) (sum, over float64) {
	changes := s.changes[r*s.w:][:s.w]
	clear(dx)
	y := c.row
	filled := false
	for x := 0; x < len(changes); x += 8 {
		w := eight(changes[x:])
		if w != 0 && !filled {
			s.y(y, r/s.h, r%s.h)
			if filled = true; s.nodes != nil {
				s.kernel.place(c.shared, s.nodes, y, changes)
			}
		}
		for w != 0 {
			i := bits.TrailingZeros64(w) &^ 7
			at := x + i/8
			slope := 0.0
			if s.nodes != nil {
				slope = c.shared[x/8].interpolate(t.nodes, i/8)
			} else {
				slope = t.slope(float64(y[at]))
			}
			v := float64(int8(w>>i)) * slope
			w &^= 0xff << i
			sum += v
			over += v * float64(at)
			dx[at] = T(-s.sign * v)
		}
	}
	return sum, over
}
