package bench

import (
	"errors"
	"fmt"
)

// A Refusal is the reason why an implementation rejects an input (CanDo).
type Refusal struct{ error }

// Refuse wraps a reason as a Refusal.
func Refuse(reason error) Refusal { return Refusal{reason} }

// Unwrap returns the reason.
func (r Refusal) Unwrap() error { return r.error }

// A Limit reports that the arithmetic of an implementation cannot answer a question, for example a
// tolerance below the precision of float32. The question is at fault, not the machine.
type Limit struct{ error }

// Limitf formats a Limit.
func Limitf(format string, args ...any) Limit { return Limit{fmt.Errorf(format, args...)} }

// A Pieced input is answered piece by piece: the sum of the pieces' answers, each multiplied by its
// count, is the answer. f must not keep a piece, because the next one overwrites it.
type Pieced interface {
	EachPiece(f func(piece any, times int64) error) error
}

// A Joined piece adds itself to a job through AddTo, which only some implementations support. The
// others return a Refusal.
type Joined interface {
	Image() any
	AddTo(job any) error
}

// Answer runs an implementation once on one input, with setup, and returns its answer. It poisons
// the output first, so that a stale answer cannot pass. The error is a Refusal if the
// implementation rejects the input, or if the input is Pieced and the job is no Adder.
func Answer[In, Out any](i Implementation[In, Out], in In, c Conditions) (out Out, err error) {
	if p, ok := any(in).(Pieced); ok {
		return addUp(i, p, c)
	}
	if err := i.CanDo(in, c); err != nil {
		return out, Refusal{err}
	}
	job, err := i.Setup(in, c)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, job.Close()) }()
	job.Poison()
	if err := job.Do(nil); err != nil {
		return out, err
	}
	return job.Out()
}

// addUp answers a Pieced input with one job, which is set up for the first piece. It first computes
// the answer of that piece alone and discards it: Begin must clear earlier sums.
func addUp[In, Out any](i Implementation[In, Out], in Pieced, c Conditions) (out Out, err error) {
	var job Job[Out]
	var adder Adder[In]
	defer func() {
		if job != nil {
			err = errors.Join(err, job.Close())
		}
	}()
	if err := in.EachPiece(func(of any, times int64) error {
		add := func() error { return adder.Add(of.(In), times) }
		if j, ok := of.(Joined); ok {
			of, add = j.Image(), func() error { return j.AddTo(job) }
		}
		piece := of.(In)
		if job == nil {
			if err := i.CanDo(piece, c); err != nil {
				return Refusal{err}
			}
			var err error
			if job, err = i.Setup(piece, c); err != nil {
				return err
			}
			if adder, _ = job.(Adder[In]); adder == nil {
				return Refusal{errors.New("its jobs do not add up")}
			}
			job.Poison()
			adder.Begin()
			if err := add(); err != nil {
				return err
			}
			if _, err := job.Out(); err != nil {
				return err
			}
			adder.Begin()
		}
		return add()
	}); err != nil {
		return out, err
	}
	if job == nil {
		return out, errors.New("there is no piece to ask about")
	}
	return job.Out()
}

// FromFunc makes an implementation of a function. Laws receive the implementation under test in this
// form.
func FromFunc[In, Out any](answer func(In) (Out, error)) Implementation[In, Out] {
	return fromFunc[In, Out]{answer}
}

type fromFunc[In, Out any] struct{ answer func(In) (Out, error) }

func (fromFunc[In, Out]) About() About               { return About{Where: "cpu"} }
func (fromFunc[In, Out]) CanDo(In, Conditions) error { return nil }

func (a fromFunc[In, Out]) Setup(in In, _ Conditions) (Job[Out], error) {
	return &funcJob[In, Out]{answer: a.answer, in: in}, nil
}

type funcJob[In, Out any] struct {
	answer func(In) (Out, error)
	in     In
	Output[Out]
}

func (j *funcJob[In, Out]) Do(*Trace) (err error) {
	j.Last, err = j.answer(j.in)
	return err
}
