package ask

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// An Answered is an answer confirmed by an independent witness, with the names of both.
type Answered[Out any] struct {
	Out     Out
	By      string // the implementation
	Witness string // the independent witness
	// Evidence is the witness with its random numbers, such as a key. They differ between runs of the
	// same command, so they are not part of its output.
	Evidence string
	// Measures are the measured errors of an answer with a tolerance.
	Measures []verify.Measure
}

// A VerdictError is the error of an unconfirmed answer: refuted, or not decided in time.
type VerdictError struct {
	Status verify.Status
	Why    string
}

func (e VerdictError) Error() string { return e.Why }

// Fastest returns the first implementation in order of preference that accepts an input, and the
// reasons why the earlier ones reject it.
func Fastest[In, Out any](w bench.Workload[In, Out], in In, conditions bench.Conditions, order ...string) (impl string,
	refusals []error) {
	for _, name := range order {
		for _, i := range w.Impls {
			if i.About().Name != name {
				continue
			}
			err := i.CanDo(in, conditions)
			if err == nil {
				return name, refusals
			}
			refusals = append(refusals, bench.Refuse(fmt.Errorf("%s: %w", name, err)))
		}
	}
	return "", refusals
}

// Limits bound the verification of an answer by time and free memory. Free is nil if unknown.
type Limits struct {
	Budget time.Duration
	Free   func() int64
}

// longAnswer is the time above which a garbage collection is negligible.
const longAnswer = 100 * time.Millisecond

// Answer computes an answer with one implementation and checks it until an independent witness has
// confirmed it. An unconfirmed answer is an error. what names the answer in messages: "curve".
func Answer[In, Out any](
	w bench.Workload[In, Out], impl, name string, in In, conditions bench.Conditions, limits Limits, what string,
) (Answered[Out], error) {
	a, err := answer(bench.Untyped(w), impl, name, in, conditions, limits, what)
	out, _ := a.Out.(Out) // nil after an error
	return Answered[Out]{out, a.By, a.Witness, a.Evidence, a.Measures}, err
}

func answer(
	w bench.Workload[any, any], impl, name string, in any, conditions bench.Conditions, limits Limits, what string,
) (a Answered[any], err error) {
	for _, i := range w.Impls {
		if i.About().Name != impl {
			continue
		}
		ask := func(in any) (any, error) {
			out, err := bench.Answer(i, in, conditions)
			if refused := (bench.Refusal{}); errors.As(err, &refused) {
				err = fmt.Errorf("%s refuses %s: %w", impl, name, err)
			}
			if errors.Is(err, grid.ErrRanks) {
				why := fmt.Sprintf("the %s by %s is WRONG and is not printed: %v", what, impl, err)
				err = VerdictError{verify.Wrong, why}
			}
			return out, err
		}
		a.By = impl
		q := verify.Question[any, any]{Name: name, In: in, Ask: ask, Budget: limits.Budget, Free: limits.Free}
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
			recycle(w.Policy, q)
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
			return a, VerdictError{verdict.Status, fmt.Sprintf("the %s by %s is WRONG and is not printed: %s", what, impl,
				verdict.Reason)}
		default:
			return a, VerdictError{verdict.Status,
				fmt.Sprintf("the %s by %s is %s and is not printed: %s; a longer --time-limit may help",
					what, impl, verdict.Status, verdict.Reason)}
		}
	}
	return a, Usagef("--impl %s: no such implementation; eccbench list names them", impl)
}

// recycle collects the garbage of a computation, whose memory its witness uses again, and returns it to the system if
// too little is free there.
func recycle(p verify.Policy[any, any], q verify.Question[any, any]) {
	if runtime.GC(); len(p.Unaffordable(q)) > 0 {
		debug.FreeOSMemory()
	}
}

// Choose returns the requested implementation, or the first in order that accepts an input.
func Choose[In, Out any](
	w bench.Workload[In, Out], asked, shown string, in In, conditions bench.Conditions, order ...string,
) (string, error) {
	if asked != "" {
		return asked, nil
	}
	impl, refusals := Fastest(w, in, conditions, order...)
	if impl == "" {
		return "", fmt.Errorf("%s: no implementation supports it: %w", shown, errors.Join(refusals...))
	}
	return impl, nil
}

// statedMemory returns the memory that an implementation states for an answer, or 0 if it states none.
func statedMemory[In, Out any](w bench.Workload[In, Out], impl string, in In, conditions bench.Conditions) int64 {
	conditions.Memory = 1 // too little for any
	var most bench.TooMuch
	errors.As(refusal(w, impl, in, conditions), &most)
	return most.Need
}

// statedTime returns the time that an implementation estimates for an answer, or 0 if it estimates none.
func statedTime[In, Out any](w bench.Workload[In, Out], impl string, in In, conditions bench.Conditions) time.Duration {
	conditions.Time, conditions.Memory = 1, 0
	var long bench.TooLong
	errors.As(refusal(w, impl, in, conditions), &long)
	return long.Estimate
}

// refusal returns the reason why an implementation rejects an input, or nil.
func refusal[In, Out any](w bench.Workload[In, Out], impl string, in In, conditions bench.Conditions) error {
	for _, i := range w.Impls {
		if i.About().Name == impl {
			return i.CanDo(in, conditions)
		}
	}
	return nil
}

// First answers an input with the first implementation of a workload that accepts it. If verifying,
// it tries all laws of the policy, alternative ones until one confirms, and returns an error for a law that cannot be
// tried.
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
	return a, "", fmt.Errorf("no implementation supports it: %w", errors.Join(refusals...))
}

// hold returns the verdict of the laws of a policy on an answer. It is VERIFIED if an independent
// law confirms the answer, UNVERIFIED with the reason if none decides, or an error.
func hold[In, Out any](p verify.Policy[In, Out], in In, out Out, by string) (verdict verify.Status, witness string,
	err error) {
	for _, law := range p.Laws {
		if law.Alternative && verdict == verify.Verified {
			continue
		}
		diff, _, err := law.Try(in, out, nil)
		switch {
		case errors.As(err, new(verify.UndecidedError)):
			witness = "not proven: " + err.Error()
		case err != nil:
			return "", "", err
		case diff != nil:
			return "", "", VerdictError{verify.Wrong, fmt.Sprintf("the answer by %s is WRONG and is not given: %s: %v", by,
				law.Name, diff)}
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
