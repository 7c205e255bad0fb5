package lanczos

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap"
)

// judged is what the policy alone says of the answers to the adversarial inputs.
func judged(t *testing.T, i Implementation) (right, wrong, open int) {
	t.Helper()
	w := eigenmap.BySteps(i)
	ask := func(p *eigenmap.Problem) (eigenmap.Map, error) {
		return bench.Answer[*eigenmap.Problem, eigenmap.Map](i, p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 3}})
	}
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
		evidence := w.Policy.Check(verify.Question[*eigenmap.Problem, eigenmap.Map]{Name: name, In: p, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: i.fault == ""})
		for _, e := range evidence {
			if e.Diff == nil && !e.Passed {
				t.Errorf("%s: %v", name, e)
			}
		}
		switch v := verify.Judge([]string{name}, evidence); v.Status {
		case verify.Verified:
			right++
		case verify.Wrong:
			wrong++
			if i.fault == "" {
				t.Log(name, v.Reason)
			}
		default:
			open++
		}
	}
	return right, wrong, open
}

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	if _, wrong, open := judged(t, Implementation{}); wrong+open > 0 {
		t.Errorf("%d right answers are found wrong and %d are not confirmed", wrong, open)
	}
	for _, f := range Faults() {
		if race.Enabled {
			break // of the right one all goroutines were seen
		}
		t.Run(string(f), func(t *testing.T) {
			_, wrong, _ := judged(t, Faulty(f))
			if t.Logf("%d answers are found wrong", wrong); wrong == 0 {
				t.Error("no answer is found wrong")
			}
		})
	}
}
