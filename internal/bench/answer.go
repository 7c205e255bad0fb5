package bench

import (
	"errors"
	"fmt"
)

// A Refusal is the reason why an implementation rejects an input (CanDo, or Do if asked once).
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

// Answer runs an implementation once on one input, with setup, and returns its answer. It poisons
// the output first, so that a stale answer cannot pass. The error is a Refusal if the
// implementation rejects the input.
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
