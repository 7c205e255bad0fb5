package bench

import "errors"

// A Refusal is why an implementation does not answer (CanDo).
type Refusal struct{ error }

// Unwrap is the reason.
func (r Refusal) Unwrap() error { return r.error }

// Answer asks an implementation about one input: all that it takes, once, and its answer
// when the output was overwritten before. What the implementation refuses is a Refusal.
func Answer[In, Out any](i Implementation[In, Out], in In, c Conditions) (out Out, err error) {
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
