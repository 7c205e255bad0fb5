package ecctest

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// CallHasParts holds that a call about an image names these parts.
func CallHasParts(t *testing.T, i bench.Implementation[grid.Source, ecc.VCEC], in grid.Source, parts ...string) {
	t.Helper()
	benchtest.Calls(i, func(*testing.T) (grid.Source, map[string]grid.Source) { return in, nil }, parts...).Of(t)
}

// FaultsAreWrong checks that an implementation with a planted fault names it and answers wrongly, and that
// others do neither.
func FaultsAreWrong[F ~string, I bench.Implementation[grid.Source, ecc.VCEC]](t *testing.T, f *grid.Field, s bench.Setting, faulty func(F) I, faults ...F) {
	want := ecc.Enumerate(f)
	for _, fault := range append(faults, "") {
		i := bench.Implementation[grid.Source, ecc.VCEC](faulty(fault))
		got, err := bench.Answer(i, grid.Source(f), bench.Conditions{Setting: s})
		if wrong := err != nil || !slices.Equal(got, want); wrong != (fault != "") || strings.HasSuffix(i.About().Method, "; planted fault: "+string(fault)) != wrong {
			t.Errorf("%s, with the fault %q: wrong %v (%v)", i.About().Method, fault, wrong, err)
		}
	}
}
