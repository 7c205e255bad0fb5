package ask

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// An Answered is an answer that an independent witness confirmed, and who gave it.
type Answered[Out any] struct {
	Out     Out
	By      string // the implementation
	Witness string // the independent witness
	// Evidence is the witness with numbers that were drawn, such as a key: the same command twice has
	// two, which are no part of what it writes.
	Evidence string
	// Measures are what was measured, where an answer may differ within limits.
	Measures []verify.Measure
}

// A VerdictError is the error of an answer that was not confirmed: refuted, or not decided in time.
type VerdictError struct {
	Status verify.Status
	Why    string
}

func (e VerdictError) Error() string { return e.Why }

// Fastest is the first of some implementations of a workload, in order of preference, that
// takes an input, and why the others before it do not.
func Fastest[In, Out any](w bench.Workload[In, Out], in In, conditions bench.Conditions, order ...string) (impl string, refusals []error) {
	for _, name := range order {
		for _, i := range w.Impls {
			if i.About().Name != name {
				continue
			}
			err := i.CanDo(in, conditions)
			if err == nil {
				return name, refusals
			}
			refusals = append(refusals, fmt.Errorf("%s: %w", name, err))
		}
	}
	return "", refusals
}

// Limits bound the verification of an answer by time and by the free memory. Free is nil where that is unknown.
type Limits struct {
	Budget time.Duration
	Free   func() int64
}

// longAnswer is the time of an answer that makes the time of a garbage collection negligible.
const longAnswer = 100 * time.Millisecond

// Answer answers an input by one implementation of a workload and checks it until an
// independent witness has confirmed it; an answer that none does is an error. what names
// an answer to people: "curve".
func Answer[In, Out any](
	w bench.Workload[In, Out], impl, name string, in In, conditions bench.Conditions, limits Limits, what string,
) (a Answered[Out], err error) {
	for _, i := range w.Impls {
		if i.About().Name != impl {
			continue
		}
		ask := func(in In) (Out, error) {
			out, err := bench.Answer(i, in, conditions)
			if refused := (bench.Refusal{}); errors.As(err, &refused) {
				err = fmt.Errorf("%s refuses %s: %w", impl, name, err)
			}
			return out, err
		}
		a.By = impl
		q := verify.Question[In, Out]{Name: name, In: in, Ask: ask, Budget: limits.Budget, Free: limits.Free}
		if notes := w.Policy.Unaffordable(q); len(notes) > 0 {
			verdict := verify.Judge([]string{name}, notes)
			return a, VerdictError{verdict.Status, fmt.Sprintf("the %s would be %s and is not computed: %s; "+
				"a longer --time-limit, more memory or a smaller image may help", what, verdict.Status, verdict.Reason)}
		}
		start := time.Now()
		if a.Out, err = ask(in); err != nil {
			return a, err
		}
		q.Out, q.PerCall = a.Out, time.Since(start)
		if q.PerCall > longAnswer {
			runtime.GC() // the witness reuses the memory of the computation
		}
		evidence := w.Policy.Check(q)
		for _, e := range evidence {
			if e.Independent && e.Passed {
				a.Witness, a.Evidence = e.Witness, e.Witness
				if e.Note != "" {
					a.Evidence += " (" + e.Note + ")"
				}
				if !e.Drawn {
					a.Witness = a.Evidence
				}
			}
		}
		switch verdict := verify.Judge([]string{name}, evidence); verdict.Status {
		case verify.Verified:
			a.Measures = verdict.Measures
			return a, nil
		case verify.Wrong:
			return a, VerdictError{verdict.Status, fmt.Sprintf("the %s by %s is WRONG and is not printed: %s", what, impl, verdict.Reason)}
		default:
			return a, VerdictError{verdict.Status, fmt.Sprintf("the %s by %s is %s and is not printed: %s; a longer --time-limit may help",
				what, impl, verdict.Status, verdict.Reason)}
		}
	}
	return a, Usagef("--impl %s: no such implementation; eccbench list names them", impl)
}

// Choose returns the implementation that was asked for, or the first in order that takes an input.
func Choose[In, Out any](
	w bench.Workload[In, Out], asked, shown string, in In, conditions bench.Conditions, order ...string,
) (string, error) {
	if asked != "" {
		return asked, nil
	}
	impl, refusals := Fastest(w, in, conditions, order...)
	if impl == "" {
		return "", fmt.Errorf("%s: no implementation takes it: %w", shown, errors.Join(refusals...))
	}
	return impl, nil
}

// Need returns the memory that an implementation states for an answer, or 0 if it states none.
func Need[In, Out any](w bench.Workload[In, Out], impl string, in In, conditions bench.Conditions) int64 {
	conditions.Memory = 1 // which none has
	var most bench.TooMuch
	for _, i := range w.Impls {
		if i.About().Name == impl && errors.As(i.CanDo(in, conditions), &most) {
			return most.Need
		}
	}
	return 0
}

// First answers an input by the first implementation of a workload that takes it. Where it is to be verified all laws
// of the policy are tried, and one that cannot be tried is the error.
func First[In, Out any](
	w bench.Workload[In, Out], in In, conditions bench.Conditions, verifying bool,
) (a Answered[Out], verdict verify.Status, err error) {
	var refusals []error
	for _, i := range w.Impls {
		a.By = i.About().Name
		a.Out, err = bench.Answer(i, in, conditions)
		if errors.As(err, new(bench.Refusal)) {
			refusals = append(refusals, fmt.Errorf("%s: %w", a.By, err))
			continue
		}
		if err != nil || !verifying {
			return a, verify.Unverified, err
		}
		verdict, a.Evidence, err = hold(w.Policy, in, a.Out, a.By)
		return a, verdict, err
	}
	return a, "", fmt.Errorf("no implementation takes it: %w", errors.Join(refusals...))
}

// hold returns the verdict that the laws of a policy give on an answer: VERIFIED where an independent one
// confirms it, UNVERIFIED with the reason where none decides, or an error.
func hold[In, Out any](p verify.Policy[In, Out], in In, out Out, by string) (verdict verify.Status, witness string, err error) {
	for _, law := range p.Laws {
		diff, _, err := law.Try(in, out, nil)
		switch {
		case errors.As(err, new(verify.UndecidedError)):
			witness = "not proven: " + err.Error()
		case err != nil:
			return "", "", err
		case diff != nil:
			return "", "", VerdictError{verify.Wrong, fmt.Sprintf("the answer by %s is WRONG and is not given: %s: %v", by, law.Name, diff)}
		case law.Independent || verdict == "":
			verdict, witness = verify.Verified, law.Name
			if law.Note != "" {
				witness += " (" + law.Note + ")"
			}
			if !law.Independent {
				verdict = verify.Unverified
			}
		}
	}
	if witness == "" {
		return "", "", errors.New("no law confirms the answer")
	}
	return cmp.Or(verdict, verify.Unverified), witness, nil
}
