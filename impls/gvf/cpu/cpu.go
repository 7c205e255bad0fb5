// Package cpu computes the gradient vector flow by plain sweeps over the whole field, one per step
// and component, on all cores with vector instructions.
package cpu

import (
	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/rows"
)

// stepNS is the estimated time per component, voxel, step and core.
const stepNS = 2

// seamBytes is the memory per voxel at the border of a mask: eight words.
const seamBytes = 64

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "cpu", Where: "cpu",
		Method: "one sweep over the field for each step and component, all cores",
		Source: "Smistad et al. 2012, algorithms 1 and 2",
		Scopes: []bench.Scope{bench.E2E},
		ISAs:   rows.Available(),
	}
}

// CanDo rejects a problem that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *gvf.Problem, c bench.Conditions) error {
	if err := p.TakesStepsWithin(); err != nil {
		return err
	}
	if _, err := rows.Choose(c.ISA); err != nil {
		return err
	}
	n, d, threads := p.Shape().Voxels(), int64(p.Dim()), int64(max(1, c.Threads))
	if err := c.Allow(quantity.Seconds(float64(n*d)*float64(p.Steps+5)*stepNS*1e-9/float64(threads)),
		"%d voxels × %d components × %d steps × %d ns on %d cores", n, d, p.Steps, stepNS, threads); err != nil {
		return err
	}
	numbers := 2*d + 2
	if p.Mask != nil {
		numbers++
	}
	return c.AllowMemory(4*n*numbers+seamBytes*int64(len(p.SeamsOf(0, n))),
		"%d numbers for each of %d voxels, and the seams of a mask", numbers, n)
}

// Setup allocates the field and one more component.
func (Implementation) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	kernel, err := rows.Choose(c.ISA)
	if err != nil {
		return nil, err
	}
	s := p.Shape()
	j := &job{p: p, kernel: kernel, threads: c.Cores(), d: int(s.D), h: int(s.H), w: int(s.W), Output: gvf.NewOutput(p)}
	j.other = grid.NewValues[float32](s.Voxels())
	return j, nil
}

type job struct {
	p       *gvf.Problem
	kernel  rows.Kernel
	threads int
	d, h, w int
	start   gvf.Starter
	gvf.Output
	other []float32 // alternates with the result as source and target of a step
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("gradient")
	start, err := j.start.Start(j.p, j.threads)
	end()
	if err != nil {
		return err
	}
	defer trace.Span("steps")()
	for c, v0 := range start.V0 {
		// The last step must write to the result.
		to, next := j.V[c], j.other
		if j.p.Steps%2 == 0 {
			to, next = next, to
		}
		from := v0
		for range j.p.Steps {
			j.step(to, from, v0, start.B)
			from, to, next = to, next, to
		}
		if j.p.Steps == 0 {
			copy(j.V[c], v0)
		}
	}
	return nil
}

// step computes one step of a component.
func (j *job) step(to, from, v0, b []float32) {
	all := j.d * j.h
	var g crew.Group
	for k := range j.threads {
		if lo, hi := all*k/j.threads, all*(k+1)/j.threads; lo < hi {
			g.Go(func() { j.sweep(to, from, v0, b, lo, hi) })
		}
	}
	g.Wait()
}

// neighbours returns the positions before and after position i of an axis of n.
func (j *job) neighbours(i, n int) (before, after int) {
	before, after = i-1, i+1
	if i == 0 {
		before = int(j.p.Boundary.Before(int64(n)))
	}
	if i == n-1 {
		after = int(j.p.Boundary.After(int64(n)))
	}
	return before, after
}

// sweep computes a step of rows lo ≤ r < hi. It groups the rows of a plane whose neighbours have
// the same distances.
func (j *job) sweep(to, from, v0, b []float32, lo, hi int) {
	w, mu := j.w, j.p.Mu
	s := rows.Step{N: w - 2, DstStride: w, Stride: w, FieldStride: w, Mu: mu}
	left, first := j.neighbours(0, w)
	last, right := j.neighbours(w-1, w)
	for r := lo; r < hi; {
		z, y := r/j.h, r%j.h
		count := 1
		if y > 0 && y < j.h-1 {
			count = min(hi-r, j.h-1-y)
		}
		n, m := j.neighbours(y, j.h)
		here, north, south := from[r*w:], from[(z*j.h+n)*w:], from[(z*j.h+m)*w:]
		n, m = j.neighbours(z, j.d)
		below, above := from[(n*j.h+y)*w:], from[(m*j.h+y)*w:]
		ends := func(x, before, after int) {
			for i := x; i < count*w; i += w {
				k := r*w + i
				if j.d > 1 {
					to[k] = rows.Voxel(here[i], here[i-x+before], here[i-x+after], north[i], south[i], below[i], above[i], v0[k], b[k],
						mu)
				} else {
					to[k] = rows.Pixel(here[i], here[i-x+before], here[i-x+after], north[i], south[i], v0[k], b[k], mu)
				}
			}
		}
		ends(0, left, first)
		if w > 1 {
			ends(w-1, last, right)
		}
		if w > 2 {
			s.Count, s.V, s.North, s.South = count, here, north[1:], south[1:]
			s.V0, s.B, s.Dst = v0[r*w+1:], b[r*w+1:], to[r*w+1:]
			if j.d > 1 {
				s.Below, s.Above = below[1:], above[1:]
			}
			j.kernel(&s)
		}
		r += count
	}
	j.mend(to, from, v0, b, int64(lo*w), int64(hi*w))
}

// mend recomputes the step for voxels lo ≤ i < hi at the border of a mask. It uses neighbours in
// the same part only.
func (j *job) mend(to, from, v0, b []float32, lo, hi int64) {
	for _, s := range j.p.SeamsOf(lo, hi) {
		i, n := s.At, s.Neighbours
		switch {
		case !s.Inside:
			to[i] = 0
		case j.d > 1:
			to[i] = rows.Voxel(from[i], from[n[0]], from[n[1]], from[n[2]], from[n[3]], from[n[4]], from[n[5]], v0[i], b[i],
				j.p.Mu)
		default:
			to[i] = rows.Pixel(from[i], from[n[0]], from[n[1]], from[n[2]], from[n[3]], v0[i], b[i], j.p.Mu)
		}
	}
}
