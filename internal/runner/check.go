package runner

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/host"
	"eccbench/internal/peers"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// check verifies the answers of all calls, untimed and on all cores. First it looks for an
// independent witness for each input, the first input last. Then the record is complete, and told
// sends it to the parent in a timed run. The rest of the budget is for further laws on the first
// input.
func (r *trial[In, Out]) check(told worker.Teller) error {
	start := r.clock.Now()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.t.Cores))
	defer func() { r.record.Checked += r.clock.Since(start).Seconds() }()
	if err := r.askOthers(); err != nil {
		return err
	}
	evidence, rest, err := r.confirm(start)
	if err != nil {
		return err
	}
	for i, g := range r.given {
		if i < len(r.given)-len(r.record.Unseen) {
			r.record.Digests = append(r.record.Digests, g.first.digest)
		}
		r.record.Calls += g.calls
		r.record.Differing += g.differing
	}
	r.record.Tolerant = !r.exact()
	again, err := r.reread(start)
	if err != nil {
		return fmt.Errorf("another input in the place of %s: %w", r.t.Inputs[0], err)
	}
	evidence = append(evidence, again...)
	if err := r.judge(evidence); err != nil || rest == nil || r.record.Status == verify.Wrong {
		return err
	}
	if r.t.Sampling != nil {
		record := r.record
		record.Checked += r.clock.Since(start).Seconds()
		told.Safe(record)
	}
	var later []verify.Evidence
	for _, c := range rest {
		if r.t.Sampling != nil {
			c.Spend(r.spare(start))
		}
		later = append(later, c.Rest(func(law string, before []verify.Evidence) {
			told.Trying(law, slices.Concat(later, before))
		})...)
	}
	return r.judge(append(evidence, later...))
}

// confirm collects the evidence about all inputs. It also returns the checks of the first input,
// whose remaining laws may still run.
func (r *trial[In, Out]) confirm(start time.Time) (all []verify.Evidence, rest []*verify.Checking[In, Out], err error) {
	evidence := make([][]verify.Evidence, len(r.given))
	unseen, err := r.confirmUnseen(start)
	if err != nil {
		return nil, nil, err
	}
	for k := range evidence {
		i := (k + 1) % len(evidence)
		if evidence[i], rest, err = r.confirmInput(i, start, len(evidence)-1-k); err != nil {
			return nil, nil, err
		}
	}
	return append(slices.Concat(evidence...), unseen...), rest, nil
}

// confirmInput collects the evidence about an input, with more inputs still to come.
func (r *trial[In, Out]) confirmInput(i int, start time.Time, more int) (
	evidence []verify.Evidence, checks []*verify.Checking[In, Out], err error) {
	e, said, err := r.repeats(i)
	if err != nil {
		return nil, nil, r.undecoded(i, err)
	}
	if said {
		evidence = append(evidence, e)
	}
	// If answers may differ, check the worst one too.
	for _, answer := range []*answerCopy{r.given[i].first, r.given[i].worst} {
		if answer == nil || answer == r.given[i].worst && r.exact() {
			continue
		}
		out, err := r.b.decode(answer)
		if err != nil {
			return nil, nil, r.undecoded(i, err)
		}
		c := r.examine(i, out, start, more)
		evidence, checks = append(evidence, c.Confirm()...), append(checks, c)
	}
	return evidence, checks, nil
}

// judge sets the verdict of the record.
func (r *trial[In, Out]) judge(evidence []verify.Evidence) error {
	r.record.Verdict = verify.Judge(r.t.Inputs, evidence)
	if r.record.Status != verify.Verified || r.t.Sampling == nil || r.b.w.Policy.Weak == nil {
		return nil
	}
	out, err := r.b.decode(r.given[0].first)
	if err != nil {
		return r.undecoded(0, err)
	}
	if why := r.b.w.Policy.Weak(r.inputs[0], out); why != "" {
		r.record.Status, r.record.Reason = verify.Mistrusted, why
	}
	return nil
}

func (r *trial[In, Out]) undecoded(i int, err error) error {
	return fmt.Errorf("answer of %s to %s: %w", r.t.Impl, r.t.Inputs[i], err)
}

// askOthers computes the answers of other implementations, once.
func (r *trial[In, Out]) askOthers() (err error) {
	if r.others == nil {
		r.others, err = r.witnesses(r.witness)
	}
	return err
}

// yardsticks sets the reference answers for a policy that allows a distance. An exact policy needs
// none, because it compares digests.
func (r *trial[In, Out]) yardsticks() error {
	if r.exact() {
		return nil
	}
	start := r.clock.Now()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.t.Cores))
	defer func() { r.record.Checked += r.clock.Since(start).Seconds() }()
	if err := r.askOthers(); err != nil {
		return err
	}
	for i, g := range r.given {
		if known := r.b.w.Policy.Known; known != nil {
			if out, ok := known(g.name, r.inputs[i]); ok {
				g.by, g.yardstick = "the closed form", out
				continue
			}
		}
		if len(r.others[i]) > 0 {
			g.by, g.yardstick = r.others[i][0].By, r.others[i][0].Out
		}
	}
	return nil
}

// witnesses returns the other answers to each input: the answers of an earlier implementation, or
// else of the reference, computed on all cores in parallel.
func (r *trial[In, Out]) witnesses(before []Out) ([][]verify.Witness[Out], error) {
	all := make([][]verify.Witness[Out], len(r.inputs))
	if len(before) > 0 {
		for i, out := range before {
			all[i] = []verify.Witness[Out]{{By: r.t.Witness, Out: out, Checked: true}}
		}
		return all, nil
	}
	err := crew.Try(runtime.GOMAXPROCS(0), len(r.inputs), func(_, i int) (err error) {
		all[i], err = r.reference(i)
		return err
	})
	return all, err
}

// examine begins the check of the answer to one input, with more inputs still to come. Its budget
// is an equal share of the rest, if that is enough for the cheapest independent witness. Otherwise
// it is the whole rest. The estimate of a better witness does not count, because it may be too low.
func (r *trial[In, Out]) examine(i int, out Out, start time.Time, more int) *verify.Checking[In, Out] {
	perCall := r.perCall + time.Duration(r.record.Setup*1e9)/time.Duration(len(r.jobs))
	left := r.t.Budget - r.clock.Since(start)
	if least, _ := r.b.w.Policy.Costs(r.inputs[i], perCall, 0); least <= left/time.Duration(more+1) {
		left /= time.Duration(more + 1)
	}
	return r.b.w.Policy.Begin(verify.Question[In, Out]{
		Name: r.t.Inputs[i], In: r.inputs[i], Out: out, Others: r.others[i], Ask: r.ask, PerCall: perCall,
		AnswerMemory: r.answerMemory, Budget: left, Spare: r.spare(start), Now: r.clock.Now, Free: r.free(),
	})
}

// free returns a function for the memory that is left of the worker's limit, or nil for no limit.
func (r *trial[In, Out]) free() func() int64 {
	limit := r.t.Conditions.Memory
	if limit <= 0 {
		return nil
	}
	return func() int64 { return limit - r.ownMemory() }
}

// ownMemory returns the bytes of this process, without shared memory.
func (r *trial[In, Out]) ownMemory() int64 {
	files := slices.Concat(r.files.Answers, r.files.Inputs, r.files.Witness)
	return host.OwnMemory(peers.Family(os.Getpid()), files, r.t.Extents)
}

// spare returns the time for laws after an independent witness. In a timed run it is half of the
// measuring time, minus the time that the check already took. Otherwise it is 0, which means the
// whole budget.
func (r *trial[In, Out]) spare(start time.Time) time.Duration {
	if r.t.Sampling == nil {
		return 0
	}
	return max(1, start.Sub(r.began)/2-r.clock.Since(start))
}

// reference answers an input with the workload's reference, if that is another implementation and
// is affordable.
func (r *trial[In, Out]) reference(i int) ([]verify.Witness[Out], error) {
	if r.b.w.Reference == "" || r.b.w.Reference == r.t.Impl {
		return nil, nil
	}
	reference, err := r.b.find(r.b.w.Reference)
	if err != nil {
		return nil, err
	}
	c := r.t.Conditions
	c.Time = referenceTime(r.t.Budget, len(r.inputs), r.t.Sampling)
	if reference.CanDo(r.inputs[i], c) != nil {
		return nil, nil
	}
	out, err := bench.Answer(reference, r.inputs[i], c)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", r.b.w.Reference, r.t.Inputs[i], err)
	}
	return []verify.Witness[Out]{{By: r.b.w.Reference, Out: out}}, nil
}

// ask answers a derived input with the implementation under test, in this process if its own rejects it.
func (r *trial[In, Out]) ask(in In) (Out, error) {
	c := r.t.Conditions
	c.Time, c.Once = 0, true
	out, err := bench.Answer(r.impl, in, c)
	if r.inside != nil && refusal(err) != nil {
		out, err = bench.Answer(r.inside, in, c)
	}
	if reason := refusal(err); reason != nil {
		err = bench.Refuse(reason)
	}
	return out, err
}

// refusal returns the reason for which an implementation rejected an input before or in a call, or nil.
func refusal(err error) error {
	var refused bench.Refusal
	var much bench.TooMuch
	switch {
	case errors.As(err, &refused):
		return errors.Unwrap(refused)
	case errors.As(err, &much):
		return much
	}
	return nil
}
