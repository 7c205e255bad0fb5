package ecctest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
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

// UnreadIsTold checks that an image with an unreadable slice, the first, a middle one or the last, is an error at
// each scope of an implementation.
func UnreadIsTold(t *testing.T, i bench.Implementation[grid.Source, ecc.VCEC]) {
	t.Helper()
	for _, name := range []string{"noise/shape=30x20x20/type=uint8/levels=5/seed=1", "noise/shape=60x30/type=float32/levels=9/seed=2"} {
		in, _ := Open(t, name)
		n := in.Shape().Slices()
		for _, s := range i.About().Scopes {
			c := bench.Conditions{Setting: bench.Setting{Scope: s, Threads: 2}}
			for _, at := range []int64{0, n / 2, n - 1} {
				unread := gridtest.UnreadSlice{Source: in, At: at}
				if _, err := bench.Answer(i, grid.Source(unread), c); !errors.Is(err, gridtest.ErrUnread) {
					t.Errorf("%s, %v, without slice %d: %v", name, s, at, err)
				}
			}
		}
	}
}
