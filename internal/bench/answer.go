package bench

import (
	"errors"
	"fmt"
)

// A Refusal is why an implementation does not answer (CanDo).
type Refusal struct{ error }

// Refuse is a Refusal for a reason.
func Refuse(reason error) Refusal { return Refusal{reason} }

// Unwrap is the reason.
func (r Refusal) Unwrap() error { return r.error }

// A Limit is why an implementation has no answer to a question that its arithmetic does not reach, such
// as a tolerance below what float32 holds. The question is at fault, not the machine.
type Limit struct{ error }

// Limitf is a new Limit.
func Limitf(format string, args ...any) Limit { return Limit{fmt.Errorf(format, args...)} }

// A Pieced input is asked about piece by piece: what is answered about the pieces, so many times
// each, adds up to the answer. A piece is overwritten after f returns.
type Pieced[In any] interface {
	EachPiece(f func(piece In, times int64) error) error
}

// A Joined piece is added to a job in a way of its own, which only some have: what others say to it
// is a Refusal.
type Joined[In any] interface {
	Image() In
	AddTo(job any) error
}

// Answer asks an implementation about one input: all that it takes, once, and its answer
// when the output was overwritten before. What the implementation refuses is a Refusal, as are
// Pieced inputs by one whose jobs are no Adders.
func Answer[In, Out any](i Implementation[In, Out], in In, c Conditions) (out Out, err error) {
	if p, ok := any(in).(Pieced[In]); ok {
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

// addUp has a job that is bound to the first piece add up all of them. It is asked about the first
// alone before, which it has to forget.
func addUp[In, Out any](i Implementation[In, Out], in Pieced[In], c Conditions) (out Out, err error) {
	var job Job[Out]
	var adder Adder[In]
	defer func() {
		if job != nil {
			err = errors.Join(err, job.Close())
		}
	}()
	if err := in.EachPiece(func(piece In, times int64) error {
		add := func() error { return adder.Add(piece, times) }
		if j, ok := any(piece).(Joined[In]); ok {
			piece, add = j.Image(), func() error { return j.AddTo(job) }
		}
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

// Asking is an implementation that answers by a function, as one under test does that a law asks.
func Asking[In, Out any](answer func(In) (Out, error)) Implementation[In, Out] {
	return asking[In, Out]{answer}
}

type asking[In, Out any] struct{ answer func(In) (Out, error) }

func (asking[In, Out]) About() About               { return About{Where: "cpu"} }
func (asking[In, Out]) CanDo(In, Conditions) error { return nil }

func (a asking[In, Out]) Setup(in In, _ Conditions) (Job[Out], error) {
	return &asked[In, Out]{answer: a.answer, in: in}, nil
}

type asked[In, Out any] struct {
	answer func(In) (Out, error)
	in     In
	out    Out
}

func (j *asked[In, Out]) Do(*Trace) (err error) {
	j.out, err = j.answer(j.in)
	return err
}

func (j *asked[In, Out]) Poison()           { j.out = *new(Out) }
func (j *asked[In, Out]) Out() (Out, error) { return j.out, nil }
func (j *asked[In, Out]) Close() error      { return nil }
