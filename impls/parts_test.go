package impls_test

import (
	"maps"
	"slices"
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
)

// named looks at the parts that calls of a workload's implementations name.
func named[In, Out any](t *testing.T, w bench.Workload[In, Out], input string, want map[string][]string) {
	t.Helper()
	in, err := w.Inputs.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}}
	for _, impl := range w.Impls {
		a := impl.About()
		if a.Where != "cpu" {
			continue
		}
		job, err := impl.Setup(in, c)
		if err != nil {
			t.Fatal(err)
		}
		var trace bench.Trace
		if err := job.Do(&trace); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(trace.Spans())); !slices.Equal(got, want[a.Name]) {
			t.Errorf("%s of %s names the parts %q, want %q", a.Name, w.Name, got, want[a.Name])
		}
	}
}

// A call names its parts, which a report tells the times of.
func TestPartsAreNamed(t *testing.T) {
	set := impls.All(nil)
	const image = "noise/shape=9x8x7/type=uint8/levels=5/seed=1"
	pass := []string{"convert", "count", "read", "reduce"}
	named(t, set.Curve, image, map[string][]string{"naive": {"count", "read"}, "cpu": pass, "extrema": pass})
	named(t, set.Betti, "betti/at=2/of="+image, map[string][]string{
		"definition": {"ranks", "read"}, "duality": {"parts", "seams"}, "labels": {"cavities", "characteristic", "components", "read"},
	})
	named(t, set.BettiCurves, image, map[string][]string{
		"definition": {"levels", "numbers"}, "labels": {"levels", "numbers"}, "duality": {"boxes", "characteristic", "convert", "count", "joins", "read", "reduce"},
	})
	named(t, set.Flow, "gvf/steps=3/mu=50/boundary=0/of="+image, map[string][]string{"cpu": {"gradient", "steps"}, "blocked": {"gradient", "steps"}})
}
