package impls_test

import (
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
)

// named checks the parts that calls of a workload's implementations name.
func named[In, Out any](t *testing.T, w bench.Workload[In, Out], input string, want map[string][]string) {
	t.Helper()
	in, err := w.Inputs.Open(input)
	if err != nil {
		t.Fatal(err)
	}
	for _, impl := range w.Impls {
		if a := impl.About(); a.Where == "cpu" {
			benchtest.Calls(impl, func(*testing.T) (In, map[string]In) { return in, nil }, want[a.Name]...).Of(t)
		}
	}
}

// Calls name their parts, whose times a report shows.
func TestPartsAreNamed(t *testing.T) {
	set := impls.All(nil)
	const image = "noise/shape=9x8x7/type=uint8/levels=5/seed=1"
	pass := []string{"convert", "count", "read", "reduce"}
	named(t, set.Curve, image, map[string][]string{"naive": {"count", "read"}, "cpu": pass, "extrema": pass})
	named(t, set.Betti, "betti/at=2/of="+image, map[string][]string{
		"definition": {"ranks", "read"}, "duality": {"parts", "seams"}, "labels": {"cavities", "characteristic", "components", "read"},
	})
	named(t, set.Pairs, image, map[string][]string{"definition": {"chains", "pairs", "read"}, "morse": {"forests", "gradient", "read", "reduction"}})
	named(t, set.BettiCurves, image, map[string][]string{
		"definition": {"levels", "numbers"}, "labels": {"levels", "numbers"}, "duality": {"boxes", "characteristic", "convert", "count", "joins", "read", "reduce"},
	})
}
