// Package binned answers the soft Euler characteristic curve at a cost a voxel that does
// not depend on the number of thresholds: the change of every voxel from the extrema of
// minimum-filtered rows (doc/extrema.md), added up with its first two moments in bins of
// Y, which are convolved with the sigmoids; and for the gradient one look-up a voxel that
// has a change. doc/softecc.md derives how far that is from the definition.
package binned

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/softecc"
)

// Implementation is ready to use.
type Implementation struct{ fault Fault }

// About describes the method.
func (i Implementation) About() bench.About {
	return bench.About{
		Name: "binned", Where: "cpu",
		Method: "changes from local extrema, with two moments in bins of Y, the bins convolved; one look-up a voxel backward, all cores",
		Source: "doc/softecc.md",
		Scopes: []bench.Scope{bench.E2E},
		ISAs:   available(),
	}
}

// voxelNS is what a voxel costs a core, for the estimate in a refusal: of noise, in Go.
const voxelNS = 60

// CanDo refuses what takes more time or memory than the conditions allow.
func (Implementation) CanDo(p *softecc.Problem, c bench.Conditions) error {
	if err := p.Check(); err != nil {
		return err
	}
	if _, err := choose(c.ISA); err != nil {
		return err
	}
	n, threads := p.Shape().Voxels(), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9/float64(threads)), "%d voxels × %d ns on %d cores", n, voxelNS, threads); err != nil {
		return err
	}
	return c.AllowMemory(5*n+threads*(most*binBytes+4*stripBytes), "5 bytes for each of %d voxels, and bins for %d cores", n, threads)
}

// stripBytes is what a core keeps of two planes at a time, in its cache.
const stripBytes = 256 << 10

// Setup allocates the changes, the gradient, and the bins of each core.
func (i Implementation) Setup(p *softecc.Problem, c bench.Conditions) (bench.Job[softecc.Answer], error) {
	kernel, err := choose(c.ISA)
	if err != nil {
		return nil, err
	}
	threads := c.Threads
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	j := &job{p: p, reach: reach, fault: i.fault, kernel: kernel, tilt: p.Tilt(), before: p.Tilt(), bins: layBins(p), dx: make([]float32, p.Shape().Voxels())}
	j.planted()
	if j.field, err = grid.Load(p.Source); err != nil {
		return nil, err
	}
	n, h, w := ecc.Stack(p.Shape())
	j.n, j.h, j.w = n, h, w
	j.changes = make([]uint8, n*h*w)
	j.stride = lead + (w+lanes)/lanes*lanes + lanes
	j.strip = max(1, min(h, stripBytes/(9*j.stride)-2))
	j.chunk = max(1, (n+4*int64(threads)-1)/(4*int64(threads)))
	for range threads {
		k := &core{owed: make([]int32, j.strip*j.stride), row: make([]float32, w)}
		for i := range k.planes {
			k.planes[i] = outside((j.strip + 2) * j.stride)
		}
		k.handed = [2][]int32{make([]int32, w), make([]int32, w)}
		k.tally = newTally(p, j.bins, j.reach)
		j.cores = append(j.cores, k)
	}
	return j, nil
}

// outside are so many values that are no part of an image.
func outside(n int64) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(math.Inf(1))
	}
	return list
}

type job struct {
	p       *softecc.Problem
	fault   Fault
	field   *grid.Field
	tilt    softecc.Tilt // of Y
	before  softecc.Tilt // of what changes are of: Y
	bins    bins
	reach   float64 // of a sigmoid, in units of 1/λ
	kernel  kernel
	n, h, w int64 // planes, rows, columns; a 2D image is a stack of rows

	stride, strip, chunk int64
	cores                []*core
	changes              []uint8 // int8 of each voxel, from the forward pass
	dx                   []float32
	answer               softecc.Answer
}

// A core is the state of one goroutine.
type core struct {
	planes [2][]float32 // a strip of a plane of Y and of the next one
	owed   []int32      // changes that the plane before has handed up
	handed [2][]int32   // from row to row, by the portable kernel
	row    []float32    // of Y
	tally  *tally
	moment [3]float64
}

func (j *job) Do(trace *bench.Trace) error {
	p := j.p
	end := trace.Span("forward")
	j.forward()
	end()
	end = trace.Span("curve")
	total := j.cores[0].tally
	for _, c := range j.cores[1:] {
		total.merge(c.tally)
	}
	if j.fault == NextBin {
		wrong := *total
		wrong.lo += wrong.width
		total = &wrong
	}
	a := total.curve(p, len(j.cores))
	end()
	end = trace.Span("table")
	t := newTable(p, j.bins, j.reach, len(j.cores))
	end()
	end = trace.Span("backward")
	moment := j.backward(t)
	end()
	a.DX = j.dx
	p.Direction(&a, moment)
	if j.fault == Unprojected {
		for i, v := range moment {
			a.DV[i] = -p.Alpha * v
		}
	}
	j.answer = a
	return nil
}

// rowOf sets dst to row y of plane z of Y.
func (j *job) rowOf(dst []float32, z, y int64, t softecc.Tilt) {
	at := (z*j.h + y) * j.w
	iy, iz := y, z
	if j.p.Shape().D == 1 {
		iy, iz = z, 0
	}
	of, along := t.Row(iy, iz), t.X
	switch j.field.Type() {
	case grid.Uint8:
		tilted(dst, grid.Values[uint8](j.field.Data())[at:][:j.w], of, along)
	case grid.Int16:
		tilted(dst, grid.Values[int16](j.field.Data())[at:][:j.w], of, along)
	case grid.Uint16:
		tilted(dst, grid.Values[uint16](j.field.Data())[at:][:j.w], of, along)
	case grid.Float32:
		j.kernel.tilt(dst[:j.w], grid.Values[float32](j.field.Data())[at:][:j.w], of, along)
	}
}

// tilted is Y of a row: see softecc.Tilt.
func tilted[T grid.Element](dst []float32, row []T, of float32, along []float32) {
	dst, along = dst[:len(row)], along[:len(row)]
	for i, v := range row {
		dst[i] = float32(float32(v) + float32(of+along[i]))
	}
}

// fill brings rows y0−1 to y1 of a plane of Y to a strip.
func (j *job) fill(into []float32, z, y0, y1 int64) {
	for y := y0 - 1; y <= y1; y++ {
		dst := into[(y-y0+1)*j.stride+lead:][:j.w]
		if z < 0 || z >= j.n || y < 0 || y >= j.h {
			for i := range dst {
				dst[i] = float32(math.Inf(1))
			}
			continue
		}
		j.rowOf(dst, z, y, j.before)
	}
}

// forward finds the change of every voxel, and adds it to the bins.
func (j *job) forward() {
	var next atomic.Int64
	strips := (j.h + j.strip - 1) / j.strip
	turns := (j.n + j.chunk - 1) / j.chunk * strips
	var wg sync.WaitGroup
	for _, c := range j.cores {
		wg.Go(func() {
			c.tally.reset()
			for turn := next.Add(1) - 1; turn < turns; turn = next.Add(1) - 1 {
				lo, y0 := turn/strips*j.chunk, turn%strips*j.strip
				j.march(c, lo, min(lo+j.chunk, j.n), y0, min(y0+j.strip, j.h))
			}
		})
	}
	wg.Wait()
}

// march goes through planes lo ≤ z < hi of rows y0 ≤ y < y1, beginning with the plane
// before, which hands changes up.
func (j *job) march(c *core, lo, hi, y0, y1 int64) {
	clear(c.owed)
	rows := y1 - y0
	j.fill(c.planes[0], lo-1, y0, y1)
	for z := lo - 1; z < hi; z++ {
		j.fill(c.planes[1], z+1, y0, y1)
		s := step{below: c.planes[0], above: c.planes[1], owed: c.owed, handed: c.handed, rows: rows, width: j.w, stride: j.stride}
		if z >= lo {
			s.out = j.changes[(z*j.h+y0)*j.w:][:rows*j.w]
		}
		j.kernel.step(&s)
		if z >= lo {
			for r := range rows {
				y := c.planes[0][(r+1)*j.stride+lead:][:j.w]
				if j.fault == ImageOrder {
					y = c.row
					j.rowOf(y, z, y0+r, j.tilt)
				}
				c.tally.row(y, s.out[r*j.w:][:j.w])
			}
		}
		c.planes[0], c.planes[1] = c.planes[1], c.planes[0]
	}
}

// backward sets ∂X, and gives Σ c(p) G'(Y(p)) p.
func (j *job) backward(t *table) (moment [3]float64) {
	const few = 16
	var next atomic.Int64
	rows := j.n * j.h
	var wg sync.WaitGroup
	for _, c := range j.cores {
		wg.Go(func() {
			c.moment = [3]float64{}
			for lo := (next.Add(1) - 1) * few; lo < rows; lo = (next.Add(1) - 1) * few {
				for r := lo; r < min(lo+few, rows); r++ {
					sum, over := j.gradient(c, t, r)
					iy, iz := r%j.h, r/j.h
					if j.p.Shape().D == 1 {
						iy, iz = r, 0
					}
					s := j.p.Shape()
					c.moment[0] += over - sum*float64(s.W-1)/2
					c.moment[1] += sum * softecc.Place(iy, s.H)
					c.moment[2] += sum * softecc.Place(iz, s.D)
				}
			}
		})
	}
	wg.Wait()
	for _, c := range j.cores {
		for i, v := range c.moment {
			moment[i] += v
		}
	}
	return moment
}

// Poison overwrites what Out reads.
func (j *job) Poison() {
	j.answer = softecc.Answer{}
	for i := range j.dx {
		j.dx[i] = 1e30
	}
}

// Out is the last answer; the next Do overwrites its gradient.
func (j *job) Out() (softecc.Answer, error) { return j.answer, nil }

// Close frees nothing: all is garbage collected.
func (j *job) Close() error { return nil }

// gradient sets a row of ∂X, and gives Σ c G' and Σ c G' x of it.
func (j *job) gradient(c *core, t *table, r int64) (sum, over float64) {
	dx, changes := j.dx[r*j.w:][:j.w], j.changes[r*j.w:][:j.w]
	clear(dx)
	y := c.row
	filled := false
	for x := 0; x < len(changes); x += 8 {
		w := eight(changes[x:])
		if w != 0 && !filled {
			j.rowOf(y, r/j.h, r%j.h, j.tilt)
			filled = true
		}
		for w != 0 {
			i := bits.TrailingZeros64(w) &^ 7
			at := x + i/8
			v := float64(int8(w>>i)) * t.slope(float64(y[at]))
			w &^= 0xff << i
			sum += v
			over += v * float64(at)
			dx[at] = float32(-v)
			if j.fault == WrongSign {
				dx[at] = float32(v)
			}
		}
	}
	return sum, over
}
