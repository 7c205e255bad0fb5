// Package eigentest is the suite that tests of implementations of eigenmaps share.
package eigentest

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify/judged"
	"eccbench/internal/workloads/eigenmap"
)

// An Implementation answers one of the questions.
type Implementation = bench.Implementation[*eigenmap.Problem, eigenmap.Map]

// A Workload is one of the questions, with implementations.
type Workload = func(...Implementation) bench.Workload[*eigenmap.Problem, eigenmap.Map]

// By leaves a workload's policy the laws whose names have a word, as if each were a proof.
func By(of Workload, word string) Workload {
	return func(impls ...Implementation) bench.Workload[*eigenmap.Problem, eigenmap.Map] {
		w := judged.By(of(impls...), func(name string) bool { return strings.Contains(name, word) })
		for k := range w.Policy.Laws {
			w.Policy.Laws[k].Independent = true
		}
		return w
	}
}

// Faults holds the policy alone to finding all answers to the adversarial inputs right, and of each
// implementation with a fault at least one wrong.
func Faults(t *testing.T, of Workload, right Implementation, faulty map[string]Implementation) {
	if n := judged.Alone(t, judged.Thinned(of(right)), true, 0); !n.All() {
		t.Errorf("right answers are found %+v", n)
	}
	for name, i := range faulty {
		if race.Enabled {
			break // of the right one all goroutines were seen
		}
		t.Run(name, func(t *testing.T) { judged.Caught(t, of(i), false, 0) })
	}
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

// Benchmark times an implementation on inputs with as many cores as the test has, and tells what the
// parts of a call took.
func Benchmark(b *testing.B, i Implementation, of Workload, names ...string) {
	for _, name := range names {
		p, err := of().Inputs.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		_, image, _ := strings.Cut(name, "/of=")
		b.Run(image, func(b *testing.B) {
			j, err := i.Setup(p, bench.Conditions{})
			if err != nil {
				b.Fatal(err)
			}
			trace := &bench.Trace{}
			for b.Loop() {
				if err := j.Do(trace); err != nil {
					b.Fatal(err)
				}
			}
			for part, seconds := range trace.Spans() {
				b.ReportMetric(seconds/float64(b.N), part+"-s/op")
			}
		})
	}
}
