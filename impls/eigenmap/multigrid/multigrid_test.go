package multigrid

import (
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap"
)

func open(t testing.TB, name string) *eigenmap.Problem {
	t.Helper()
	p, err := eigenmap.OnGrid().Inputs.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func conditions(threads int) bench.Conditions {
	return bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
}

// judged is what the policy alone says of the answers to the adversarial inputs.
func judged(t *testing.T, i Implementation) (right, wrong, open int) {
	t.Helper()
	w := eigenmap.OnGrid(i)
	ask := func(p *eigenmap.Problem) (eigenmap.Map, error) {
		return bench.Answer[*eigenmap.Problem, eigenmap.Map](i, p, conditions(3))
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

func BenchmarkGrid(b *testing.B) {
	for _, name := range []string{
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=512x512/levels=1024/type=float32/smooth=3/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=512x512/levels=1024/type=float32/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=ball/shape=512x512/type=uint8",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=phantom/shape=512x512/type=uint8",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=96x96x96/levels=1024/type=float32/smooth=2/seed=1",
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=1/plain=0/of=grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1",
	} {
		p := open(b, name)
		b.Run(p.Shape().String(), func(b *testing.B) {
			j, err := Implementation{}.Setup(p, bench.Conditions{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := j.Do(nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(j.(*job).iterations), "iterations")
			b.Log(j.(*job).Values)
		})
	}
}
