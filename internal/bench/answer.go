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
