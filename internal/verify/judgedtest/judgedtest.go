// Package judgedtest tests a workload's policy on its own, without another implementation, on the
// answers to the adversarial inputs.
package judgedtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify"
)

// A Count has the numbers of answers that are confirmed, found wrong, neither, and rejected, and of
// laws that were not tried.
type Count struct{ Right, Wrong, Open, Refused, Untried int }

// All reports whether all answers are confirmed, by all laws.
func (n Count) All() bool { return n == Count{Right: n.Right} && n.Right > 0 }

// Alone counts the verdicts of a workload's policy on its only implementation, with the given time
// for each answer (0: no limit). If thorough, it logs the answers that are not confirmed; use that
// for right answers.
func Alone[In, Out any](t *testing.T, w bench.Workload[In, Out], thorough bool, limit time.Duration) (n Count) {
	t.Helper()
	return countUntil(t, w, thorough, limit, func(Count) bool { return false })
}

// Caught requires that the policy finds an answer of a faulty implementation wrong. It stops at the
// first.
func Caught[In, Out any](t *testing.T, w bench.Workload[In, Out], thorough bool, limit time.Duration) {
	t.Helper()
	if n := countUntil(t, w, thorough, limit, func(n Count) bool { return n.Wrong > 0 }); n.Wrong == 0 {
		t.Errorf("no answer is found wrong: %+v", n)
	}
}

// Spoiled returns an implementation whose answers have a mistake.
func Spoiled[In, Out any](i bench.Implementation[In, Out], spoil func(In, Out) Out) bench.Implementation[In, Out] {
	return spoiled[In, Out]{i, spoil}
}

type spoiled[In, Out any] struct {
	bench.Implementation[In, Out]
	spoil func(In, Out) Out
}

func (s spoiled[In, Out]) Setup(in In, c bench.Conditions) (bench.Job[Out], error) {
	job, err := s.Implementation.Setup(in, c)
	return spoiledJob[In, Out]{job, in, s.spoil}, err
}

type spoiledJob[In, Out any] struct {
	bench.Job[Out]
	in    In
	spoil func(In, Out) Out
}

func (j spoiledJob[In, Out]) Out() (Out, error) {
	out, err := j.Job.Out()
	return j.spoil(j.in, out), err
}

func countUntil[In, Out any](t *testing.T, w bench.Workload[In, Out], thorough bool, limit time.Duration,
	enough func(Count) bool) (n Count) {
	t.Helper()
	i := w.Impls[0]
	ask := func(in In) (Out, error) {
		return bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}, Time: limit})
	}
	for _, name := range w.Adversarial {
		if enough(n) {
			break
		}
		if w.Named != nil {
			var err error
			if name, err = w.Named(name); err != nil {
				t.Fatal(err)
			}
		}
		in, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ask(in)
		if errors.As(err, new(bench.Refusal)) {
			n.Refused++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		Add(t, &n, w.Policy, verify.Question[In, Out]{Name: name, In: in, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40,
			Thorough: thorough})
	}
	return n
}

// Add counts the verdict of a policy on an answer.
func Add[In, Out any](t *testing.T, n *Count, policy verify.Policy[In, Out], q verify.Question[In, Out]) {
	t.Helper()
	evidence := policy.Check(q)
	for _, e := range evidence {
		if e.Diff == nil && !e.Passed {
			n.Untried++
			t.Logf("%s: %v", q.Name, e)
		}
	}
	v := verify.Judge([]string{q.Name}, evidence)
	switch v.Status {
	case verify.Verified:
		n.Right++
		return
	case verify.Wrong:
		n.Wrong++
	default:
		n.Open++
	}
	if q.Thorough {
		t.Logf("%s: %s: %s", q.Name, v.Status, v.Reason)
	}
}

// WithLaws returns the workload with only the laws whose names are accepted.
func WithLaws[In, Out any](w bench.Workload[In, Out], laws func(name string) bool) bench.Workload[In, Out] {
	w.Policy.Laws = slices.DeleteFunc(slices.Clone(w.Policy.Laws),
		func(l verify.Law[In, Out]) bool { return !laws(l.Name) })
	return w
}

// Thinned returns the workload with every third adversarial input under the race detector, which is
// slow. Otherwise it is unchanged.
func Thinned[In, Out any](w bench.Workload[In, Out]) bench.Workload[In, Out] {
	if !race.Enabled {
		return w
	}
	var list []string
	for k := 2; k < len(w.Adversarial); k += 3 {
		list = append(list, w.Adversarial[k])
	}
	w.Adversarial = list
	return w
}
