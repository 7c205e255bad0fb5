// Package benchtest has checks that tests of all implementations share.
package benchtest

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
)

// Calls is a check of the parts of a call. A call names these parts, in alphabetical order, and
// reports their times. A call whose input has no answer fails, for each failing input with the
// error by its key.
func Calls[In, Out any](i bench.Implementation[In, Out], inputs func(*testing.T) (in In, failing map[string]In),
	parts ...string) checktest.Check {
	return checktest.Check{Name: "calls", Of: func(t *testing.T) {
		in, failing := inputs(t)
		call := func(in In) (*bench.Trace, error) {
			job, err := i.Setup(in, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
			if err != nil {
				t.Fatal(err)
			}
			defer job.Close()
			var trace bench.Trace
			return &trace, job.Do(&trace)
		}
		trace, err := call(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(trace.Spans())); !slices.Equal(got, parts) {
			t.Errorf("%s names the parts %q, want %q", i.About().Name, got, parts)
		}
		for want, in := range failing {
			if _, err := call(in); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", i.About().Name, err, want)
			}
		}
	}}
}
