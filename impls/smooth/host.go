// Package smooth implements internal/workloads/smooth on the host and on a device.
package smooth

import (
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/smooth"
)

// OnHost smooths on the cores of the host, and counts by an implementation there.
type OnHost struct {
	Counter bench.Implementation[grid.Source, ecc.VCEC]
}

// About describes the method.
func (h OnHost) About() bench.About {
	return bench.OnHost("smooth", "counts by "+h.Counter.About().Name+", smooths along rows and across them, all cores",
		"Wang et al. 2022, section 5.3", bench.E2E)
}

// iterationNS is the estimated time of one pixel in one iteration on one core: half as much again
// as on a server core of 2025. Smoothed values lie between the levels, which makes them slower to
// count than an image.
const iterationNS = 100

// CanDo rejects a pipeline that it cannot smooth, or that would take too long.
func (h OnHost) CanDo(p *smooth.Pipeline, c bench.Conditions) error {
	if err := p.Accepted(); err != nil {
		return err
	}
	threads := int64(max(1, c.Threads))
	estimate := quantity.Seconds(float64(p.Shape().Voxels()*p.Iterations) * iterationNS * 1e-9 / float64(threads))
	err := c.Allow(estimate, "%d iterations × %d pixels × %d ns on %d cores", p.Iterations, p.Shape().Voxels(),
		iterationNS, threads)
	if err != nil {
		return err
	}
	c.Time = 0
	if err := h.Counter.CanDo(newSurface(p.Source), c); err != nil {
		return fmt.Errorf("one of %d iterations: %w", p.Iterations, err)
	}
	return nil
}

// Setup allocates the image as smoothed so far, as smoothed next, and between the passes.
func (h OnHost) Setup(p *smooth.Pipeline, c bench.Conditions) (bench.Job[smooth.Answer], error) {
	j := &hostJob{p: p, now: newSurface(p.Source), next: grid.NewBuffer(grid.TotalBytes(p))}
	j.smoother = newSmoother(p.Shape().W, p.Shape().H, p.Top(), max(1, c.Threads))
	c.Scope = bench.File // its bytes change between answers, so it has to read them
	var err error
	j.counter, err = h.Counter.Setup(j.now, c)
	return j, err
}

// A surface is the image as smoothed so far: a Source whose bytes change between
// answers.
type surface struct {
	grid.Source
	data []byte
}

func newSurface(like grid.Source) *surface {
	return &surface{like, grid.NewBuffer(grid.TotalBytes(like))}
}

// ReadSlab copies slices lo ≤ i < hi to dst.
func (s *surface) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(s, dst, lo, hi); err != nil {
		return err
	}
	size := grid.SliceBytes(s)
	copy(dst, s.data[lo*size:hi*size])
	return nil
}

type hostJob struct {
	p        *smooth.Pipeline
	next     []byte
	now      *surface
	smoother *smoother
	counter  bench.Job[ecc.VCEC]
	answer   smooth.Answer
}

func (j *hostJob) Do(trace *bench.Trace) error {
	j.answer = smooth.Answer{}
	if err := j.p.ReadSlab(j.now.data, 0, j.p.Shape().Slices()); err != nil {
		return err
	}
	for i := int64(1); i <= j.p.Iterations; i++ {
		end := trace.Span("ecc")
		if err := j.counter.Do(nil); err != nil {
			return err
		}
		end()
		end = trace.Span("vcec")
		v, err := j.counter.Out()
		if err != nil {
			return err
		}
		j.answer.Add(i, j.p.Iterations, v)
		end()
		end = trace.Span("gaussian")
		j.smoother.smooth(grid.Values[float32](j.next), grid.Values[float32](j.now.data))
		j.now.data, j.next = j.next, j.now.data
		end()
	}
	return nil
}

func (j *hostJob) Poison() {
	j.answer = smooth.Answer{Sum: bench.Poison}
	j.counter.Poison()
}

// Out is the last answer. It is new: the next Do overwrites none of it.
func (j *hostJob) Out() (smooth.Answer, error) {
	if j.answer.Sum == bench.Poison {
		return j.answer, errors.New("no answer was given")
	}
	return j.answer, nil
}

func (j *hostJob) Close() error { return j.counter.Close() }
