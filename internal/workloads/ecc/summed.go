package ecc

import (
	"errors"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
)

// A summer makes an Adder of any implementation. If its jobs are no Adders, each piece is counted
// as an image in memory.
type summer struct {
	bench.Implementation[grid.Source, VCEC]
	of func(in grid.Source) grid.Span // the requested slices
}

// summing returns an implementation whose jobs are Adders.
func summing(impl bench.Implementation[grid.Source, VCEC],
	of func(in grid.Source) grid.Span) bench.Implementation[grid.Source, VCEC] {
	s := summer{impl, of}
	if _, ok := impl.(Gapped); ok {
		return gappedSummer{s}
	}
	return s
}

// A gappedSummer is also Gapped.
type gappedSummer struct{ summer }

func (gappedSummer) Gapped() {}

// CanDo asks a device implementation about one piece, because the whole image need not fit.
func (s summer) CanDo(in grid.Source, c bench.Conditions) error {
	if s.About().Where == "cpu" {
		return s.Implementation.CanDo(in, c)
	}
	c.Scope = bench.E2E
	n := max(2, grid.PieceSlices(in, s.of(in)))
	return s.Implementation.CanDo(resized{in, in.Shape().WithSlices(min(n, in.Shape().Slices()))}, c)
}

// resized pretends that an image has another shape. Nothing reads it.
type resized struct {
	grid.Source
	shape grid.Shape
}

func (r resized) Shape() grid.Shape { return r.shape }

func (s summer) Setup(in grid.Source, c bench.Conditions) (bench.Job[VCEC], error) {
	if s.About().Where == "cpu" {
		job, err := s.Implementation.Setup(in, c)
		if _, adds := job.(bench.Adder[grid.Source]); err != nil || adds {
			return job, err
		}
		if err := job.Close(); err != nil {
			return nil, err
		}
	}
	c.Scope = bench.E2E
	return &sumJob{impl: s.Implementation, c: c, bound: map[grid.Shape]boundJob{}}, nil
}

// A sumJob sums the answers of several images. Images of one shape share one job, which is bound to
// memory that they are copied to in turn. So a device allocates once.
type sumJob struct {
	impl  bench.Implementation[grid.Source, VCEC]
	c     bench.Conditions
	bound map[grid.Shape]boundJob
	bench.Output[VCEC]
}

type boundJob struct {
	bench.Job[VCEC]
	image *grid.Field
}

func (j *sumJob) Begin() { j.Last = nil }

func (j *sumJob) Add(in grid.Source, times int64) error {
	b, ok := j.bound[in.Shape()]
	if !ok {
		image, err := grid.Trusted(in.Shape(), in.Type(), grid.NewBuffer(grid.TotalBytes(in)), in.Ladder())
		if err != nil {
			return err
		}
		if err := in.ReadSlab(image.Data(), 0, in.Shape().Slices()); err != nil {
			return err
		}
		if err := j.impl.CanDo(image, j.c); err != nil {
			return err
		}
		job, err := j.impl.Setup(image, j.c)
		if err != nil {
			return err
		}
		b = boundJob{job, image}
		j.bound[in.Shape()] = b
	} else if err := in.ReadSlab(b.image.Data(), 0, in.Shape().Slices()); err != nil {
		return err
	}
	b.Poison()
	if err := b.Do(nil); err != nil {
		return err
	}
	out, err := b.Out()
	j.Last = j.Last.Plus(out, times)
	return err
}

func (j *sumJob) Do(*bench.Trace) error { return errors.New("it adds up pieces alone") }
func (j *sumJob) Poison()               { j.Last = VCEC{{Level: -1, Change: bench.Poison}} }
func (j *sumJob) Close() (err error) {
	for _, b := range j.bound {
		err = errors.Join(err, b.Close())
	}
	return err
}
