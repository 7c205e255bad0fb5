// Package gvftest has checks that tests of implementations of gradient vector flow share.
package gvftest

import (
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/bench/benchtest"
	"eccbench/internal/checktest"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/gvf"
)

// Calls is a check of calls of an implementation, which are to name these parts.
func Calls(i bench.Implementation[*gvf.Problem, gvf.Flow], kind string, parts ...string) checktest.Check {
	return benchtest.Calls(i, func(t *testing.T) (*gvf.Problem, map[string]*gvf.Problem) {
		if w := gvf.Steps(i); w.Reference != i.About().Name {
			t.Errorf("%s is held to %q", w.Name, w.Reference)
		}
		inputs := gvf.Inputs(kind)
		first := 3.0 // steps
		if inputs.Form.Keys[0].Key == "tol" {
			first = 1e-3
		}
		p, err := inputs.Open(inputs.NameOf("noise/shape=9x8x7/type=uint8/levels=5/seed=1", first))
		if err != nil {
			t.Fatal(err)
		}
		overwritten(t, i, p)
		unread := *p
		unread.Source = gridtest.Unread{Source: p.Source}
		return p, map[string]*gvf.Problem{gridtest.ErrUnread.Error(): &unread}
	}, parts...)
}

// overwritten tests that Poison overwrites the whole answer of a job.
func overwritten(t *testing.T, i bench.Implementation[*gvf.Problem, gvf.Flow], p *gvf.Problem) {
	t.Helper()
	job, err := i.Setup(p, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Do(nil); err != nil {
		t.Fatal(err)
	}
	was, err := job.Out()
	if err != nil {
		t.Fatal(err)
	}
	was = gvf.Flow{V: slices.Clone(was.V)}
	for c, list := range was.V {
		was.V[c] = slices.Clone(list)
	}
	job.Poison()
	out, err := job.Out()
	if err == nil && slices.EqualFunc(was.V, out.V, slices.Equal[[]float32]) {
		t.Errorf("%s: what is overwritten is an answer", i.About().Name)
	}
	if err := job.Close(); err != nil {
		t.Error(err)
	}
}
