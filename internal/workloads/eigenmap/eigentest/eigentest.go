// Package eigentest is the shared test suite of implementations of eigenmaps.
package eigentest

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/race"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/eigenmap"
)

// An Implementation answers one of the workloads.
type Implementation = bench.Implementation[*eigenmap.Problem, eigenmap.Map]

// A Workload is one of the workloads, with implementations.
type Workload = func(...Implementation) bench.Workload[*eigenmap.Problem, eigenmap.Map]

// WithLaw keeps the laws whose names contain a word in a workload's policy, as if each were a proof.
func WithLaw(of Workload, word string) Workload {
	return func(impls ...Implementation) bench.Workload[*eigenmap.Problem, eigenmap.Map] {
		w := judgedtest.WithLaws(of(impls...), func(name string) bool { return strings.Contains(name, word) })
		for k := range w.Policy.Laws {
			w.Policy.Laws[k].Independent = true
		}
		return w
	}
}

// Faults checks that the policy accepts all answers of the right implementation to the adversarial
// inputs, and rejects at least one of each faulty implementation.
func Faults(t *testing.T, of Workload, right Implementation, faulty map[string]Implementation) {
	if n := judgedtest.Alone(t, judgedtest.Thinned(of(right)), true, 0); !n.All() {
		t.Errorf("right answers are found %+v", n)
	}
	for name, i := range faulty {
		if race.Enabled {
			break // the right implementation has run all goroutines
		}
		t.Run(name, func(t *testing.T) { judgedtest.Caught(t, of(i), false, 0) })
	}
}

// Refusals checks that an implementation rejects an input under each of some conditions with a
// one-line reason, and accepts it without conditions.
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

// Benchmark times an implementation on inputs with all cores of the test, and reports the times of
// the parts of a call.
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
