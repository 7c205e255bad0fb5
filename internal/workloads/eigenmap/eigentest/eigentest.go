// Package eigentest is the suite that tests of implementations of eigenmaps share.
package eigentest

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap"
)

// An Implementation answers one of the questions.
type Implementation = bench.Implementation[*eigenmap.Problem, eigenmap.Map]

// A Workload is one of the questions, with implementations.
type Workload = func(...Implementation) bench.Workload[*eigenmap.Problem, eigenmap.Map]

// Faults holds the policy alone to finding all answers to the adversarial inputs right, and of each
// implementation with a fault at least one wrong.
func Faults(t *testing.T, of Workload, right Implementation, faulty map[string]Implementation) {
	if found := judge(t, of(right), right, true); found[verify.Wrong] > 0 || found[verify.Unverified] > 0 {
		t.Errorf("right answers are found %v", found)
	}
	for name, i := range faulty {
		if race.Enabled {
			break // of the right one all goroutines were seen
		}
		t.Run(name, func(t *testing.T) {
			found := judge(t, of(i), i, false)
			if t.Logf("answers are found %v", found); found[verify.Wrong] == 0 {
				t.Error("no answer is found wrong")
			}
		})
	}
}

// judge counts what the policy says of the answers to the adversarial inputs.
func judge(t *testing.T, w bench.Workload[*eigenmap.Problem, eigenmap.Map], i Implementation, right bool) map[verify.Status]int {
	t.Helper()
	ask := func(p *eigenmap.Problem) (eigenmap.Map, error) {
		return bench.Answer(i, p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}})
	}
	found := map[verify.Status]int{}
	for k, name := range w.Adversarial {
		if race.Enabled && k%3 != 2 {
			continue
		}
		p, err := w.Inputs.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := ask(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		evidence := w.Policy.Check(verify.Question[*eigenmap.Problem, eigenmap.Map]{Name: name, In: p, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: right})
		for _, e := range evidence {
			if e.Diff == nil && !e.Passed {
				t.Errorf("%s: %v", name, e)
			}
		}
		v := verify.Judge([]string{name}, evidence)
		if found[v.Status]++; right && v.Status == verify.Wrong {
			t.Log(name, v.Reason)
		}
	}
	return found
}

// Refusals holds an implementation to refusing an input under conditions, with a line that says why,
// and to taking it under none.
func Refusals(t *testing.T, i Implementation, of Workload, input string, refused map[string]bench.Conditions) {
	t.Helper()
	p, err := of().Inputs.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	if err := i.CanDo(p, bench.Conditions{}); err != nil {
		t.Error(err)
	}
	for want, c := range refused {
		if err := i.CanDo(p, c); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
