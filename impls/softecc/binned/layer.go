package binned

import (
	"context"
	"errors"
	"math"
	"sync"
	"unsafe"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// A Layer computes the soft curve of an image in a caller's memory. Forward runs before the
// upstream gradient is known, Backward after it. The caller keeps the change of each voxel in
// between. The next image of the problem, with another G, may use the same Layer and its memory.
//
// A float32 image uses nodes if there are any, otherwise bins. A float64 image, and one with fewer
// voxels than bins, uses neither. Then each sigmoid within reach of a voxel with a change is
// evaluated. Y has the image's type.
type Layer[T float32 | float64] struct {
	Problem *softecc.Problem // its image is a Blank; its G counts backward
	Image   []T              // row-major, not written to
	Changes []uint8          // of each voxel: written forward, read backward
	Threads int
	Nodes   *Nodes // of the problem, shared by its images; nil for none

	kept *sweep[T]
}

// Layers are the layers of the images of a batch, one after the other in memory.
type Layers[T float32 | float64] struct {
	Problem *softecc.Problem // as of a Layer
	Voxels  []T
	Changes []uint8
	Images  int
	Threads int
	Slopes  bool // Each calls Backward alone

	nodes *Nodes
	pool  sync.Pool
}

// Each calls f with the layer of every image. Small images are processed at the same time.
func (b *Layers[T]) Each(f func(i int, l *Layer[T]) error) error {
	if b.pool.New == nil {
		if unsafe.Sizeof(T(0)) == 4 {
			b.nodes = newNodes(b.Problem, b.Slopes)
		}
		b.pool.New = func() any {
			q := *b.Problem
			return &Layer[T]{Problem: &q, Nodes: b.nodes}
		}
	}
	n := int(b.Problem.Shape().Voxels())
	return crew.EachImage(b.Images, n*int(unsafe.Sizeof(T(0))), b.Threads, func(i, threads int) error {
		if n <= crew.FewVoxels {
			threads = 1
		}
		l := b.pool.Get().(*Layer[T])
		defer b.pool.Put(l)
		l.Image, l.Changes, l.Threads = b.Voxels[i*n:][:n], b.Changes[i*n:][:n], threads
		return f(i, l)
	})
}

// A Blank is a shape without voxels, for the problem of a Layer.
type Blank grid.Shape

func (b Blank) Shape() grid.Shape { return grid.Shape(b) }
func (Blank) Type() grid.Type     { return grid.Float32 }
func (Blank) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }
func (Blank) ReadSlab([]byte, int64, int64) error {
	return errors.New("an image that is in its caller's memory")
}

// Forward computes the curve, with its derivatives if c has memory for them. The error is that of
// the context, or a *grid.NotFiniteError.
func (l *Layer[T]) Forward(ctx context.Context, c Curve) error {
	s, err := l.sweep(ctx, false)
	if err != nil {
		return err
	}
	s.forward()
	if err := ctx.Err(); err != nil {
		return err
	}
	s.total().convolve(c, s.p, l.Threads)
	if s.p.Vertices {
		for j := range c.Chi {
			c.Chi[j]++
		}
		for j, v := range c.ByTau {
			c.ByTau[j] = -v
		}
	}
	return nil
}

// Backward sets dx to ∂L/∂X and returns ∂L/∂V and ∂L/∂α. All are NaN if the upstream gradient is
// not finite or gradients may exceed float32.
func (l *Layer[T]) Backward(ctx context.Context, dx []T) (v [3]float64, alpha float64, err error) {
	if !(l.Problem.Steepest() <= math.MaxFloat32) {
		nan := math.NaN()
		for i := range dx {
			dx[i] = T(nan)
		}
		return [3]float64{nan, nan, nan}, nan, nil
	}
	s, err := l.sweep(ctx, true)
	if err != nil {
		return v, 0, err
	}
	a := softecc.Answer{}
	s.p.Direction(&a, s.backward(s.slopes(l.Threads), dx))
	if s.p.Vertices {
		a.Alpha = -a.Alpha
	}
	return a.DV, a.Alpha, ctx.Err()
}

// sweep returns the sweep over the image. Its values are checked, unless the pass before did so and
// no bins are laid.
func (l *Layer[T]) sweep(ctx context.Context, checked bool) (*sweep[T], error) {
	if l.kept == nil {
		k := inGo[T]()
		if fast, ok := any(&k).(*kernel[float32]); ok {
			var err error
			if *fast, err = choose(""); err != nil {
				return nil, err
			}
		}
		p := turned(l.Problem)
		l.kept = newSweep(p, k, bins{lambda: p.Lambda}, l.Threads, l.rows(k))
	}
	s := l.kept
	s.ctx, s.changes, s.p.G = ctx, l.Changes, l.Problem.G
	if s.nodes = l.Nodes; s.nodes != nil {
		for _, c := range s.cores {
			if c.shared == nil {
				c.shared = make([]shared, (s.w+7)/8)
			}
		}
		if checked {
			return s, ctx.Err()
		}
	}
	lo, hi, err := l.extent(s)
	if err != nil || unsafe.Sizeof(lo) != 4 || s.nodes != nil {
		return s, err
	}
	b := layBinsOver(s.p, float64(lo), float64(hi))
	if int64(b.n) > s.p.Shape().Voxels() {
		b = bins{lambda: s.p.Lambda}
	}
	if b != s.bins {
		s.bins = b
		for _, c := range s.cores {
			c.tally = nil
		}
	}
	return s, nil
}

// rows returns the rows of Y as it is counted.
func (l *Layer[T]) rows(k kernel[T]) rows[T] {
	p, s := l.Problem, l.Problem.Shape()
	along, row := tiltOf[T](p)
	return func(dst []T, z, y int64) {
		if s.D == 1 {
			y, z = z, 0
		}
		k.tilt(dst[:s.W], l.Image[(z*s.H+y)*s.W:][:s.W], row(y, z), along)
		if p.Vertices {
			turnOver(dst[:s.W])
		}
	}
}

// tiltOf returns the terms added to X: softecc.Tilt for float32, unrounded for float64.
func tiltOf[T value](p *softecc.Problem) (along []T, row func(y, z int64) T) {
	along = make([]T, p.Shape().W)
	if t := p.Tilt(); unsafe.Sizeof(along[0]) == 4 {
		for x, v := range t.X {
			along[x] = T(v)
		}
		return along, func(y, z int64) T { return T(t.Row(y, z)) }
	}
	s := p.Shape()
	u, _ := p.U()
	for x := range along {
		along[x] = T(p.Alpha * u[0] * softecc.Place(int64(x), s.W))
	}
	return along, func(y, z int64) T {
		return T(p.Alpha * (u[1]*softecc.Place(y, s.H) + u[2]*softecc.Place(z, s.D)))
	}
}

// extent returns the least and the greatest value of the image as it is counted. All values must be
// finite.
func (l *Layer[T]) extent(s *sweep[T]) (lo, hi T, err error) {
	const part = 1 << 14
	n := int64(len(l.Image))
	parts := make([]struct {
		lo, hi T
		odd    bool
	}, (n+part-1)/part)
	s.each(int64(len(parts)), func(_ *core[T], share int64) {
		values, q := l.Image[share*part:min(n, share*part+part)], &parts[share]
		lo, hi, odd := values[0], values[0], false
		for _, v := range values {
			if v < lo {
				lo = v
			}
			if v > hi {
				hi = v
			}
			if v-v != 0 {
				odd = true
			}
		}
		q.lo, q.hi, q.odd = lo, hi, odd
	})
	if err := s.ctx.Err(); err != nil {
		return 0, 0, err
	}
	lo, hi = parts[0].lo, parts[0].hi
	for _, q := range parts {
		if q.odd {
			return 0, 0, l.notFinite()
		}
		lo, hi = min(lo, q.lo), max(hi, q.hi)
	}
	if s.p.Vertices {
		lo, hi = -hi, -lo
	}
	return lo, hi, nil
}

func (l *Layer[T]) notFinite() error {
	e := &grid.NotFiniteError{Flat: l.Problem.Shape().D == 1}
	for i, v := range l.Image {
		if v-v == 0 {
			continue
		}
		if e.Count == 0 {
			e.First = int64(i)
			e.Z, e.Y, e.X = l.Problem.Shape().Coordinates(e.First)
		}
		e.Count++
	}
	return e
}
