package cli

import (
	"errors"
	"fmt"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// Answer answers an input by one implementation of a workload and checks it until an
// independent witness has confirmed it; an answer that none does is an error. what names
// an answer to people: "curve".
func Answer[In, Out any](w bench.Workload[In, Out], impl, name string, in In, threads int, budget time.Duration, what string) (out Out, err error) {
	for _, i := range w.Impls {
		if i.About().Name != impl {
			continue
		}
		conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}}
		ask := func(in In) (Out, error) {
			out, err := bench.Answer(i, in, conditions)
			if refused := (bench.Refusal{}); errors.As(err, &refused) {
				err = fmt.Errorf("%s refuses %s: %w", impl, name, err)
			}
			return out, err
		}
		start := time.Now()
		if out, err = ask(in); err != nil {
			return out, err
		}
		evidence := w.Policy.Check(verify.Question[In, Out]{
			Name: name, In: in, Out: out, Ask: ask, PerCall: time.Since(start), Budget: budget,
		})
		switch verdict := verify.Judge([]string{name}, evidence); verdict.Status {
		case verify.Verified:
			return out, nil
		case verify.Wrong:
			return out, VerdictError{ExitWrong, fmt.Sprintf("the %s by %s is WRONG and is not printed: %s", what, impl, verdict.Reason)}
		default:
			return out, VerdictError{ExitInconclusive, fmt.Sprintf("the %s by %s is %s and is not printed: %s; a longer --time-limit may help", what, impl, verdict.Status, verdict.Reason)}
		}
	}
	return out, Usagef("--impl %s: no such implementation; eccbench list names them", impl)
}
