package softtest

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/softecc"
)

// Answers compares an implementation's jobs with the definition, in both constructions and on any
// number of cores. Calls must name the given parts. Jobs answer again after their answer is
// overwritten, and return an error for an image that cannot be read.
func Answers(t *testing.T, i bench.Implementation[*softecc.Problem, softecc.Answer], parts ...string) {
	for k, name := range []string{
		"softecc/m=5/lambda=20/alpha=100/dir=1/of=noise/shape=5x4x3/type=float32/levels=70/seed=5", "softecc/m=1/lambda=90/alpha=0/dir=2/of=noise/shape=4x7/type=uint8/levels=9/seed=5",
		"softecc/m=2/lambda=50/alpha=50/dir=3/of=noise/shape=2x5x2/type=uint8/levels=9/seed=5", // a solid of the fewest planes
	} {
		for at, threads := range []int{1, 3, 9, 2} {
			p, err := softecc.Inputs().Open(name)
			if err != nil {
				t.Fatal(err)
			}
			p.Vertices = at%2 > 0
			c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
			want, err := softecc.Define(p)
			if err != nil {
				t.Fatal(err)
			}
			j, err := i.Setup(p, c)
			if err != nil {
				t.Fatal(err)
			}
			var before softecc.Answer
			var poisoned []float32
			for again := range 2 {
				var trace bench.Trace
				if err := j.Do(&trace); err != nil {
					t.Fatal(err)
				}
				if got := slices.Sorted(maps.Keys(trace.Spans())); !slices.Equal(got, parts) {
					t.Errorf("a call has the parts %q, want %q", got, parts)
				}
				got, err := j.Out()
				if err != nil {
					t.Fatal(err)
				}
				if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("problem %d, vertices %v, %d cores, time %d: %v", k, p.Vertices, threads, again, d)
				}
				if again > 0 && &got.DX[0] == &before.DX[0] && slices.Min(poisoned) < 1e29 {
					t.Errorf("problem %d: ∂X that is overwritten is %v", k, poisoned)
				}
				before = got
				j.Poison()
				poisoned = slices.Clone(got.DX)
				if got, err := j.Out(); err != nil || got.Chi != nil || got.DX != nil {
					t.Errorf("problem %d: what is overwritten is %v, %v", k, got, err)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			p.Source = gridtest.Unread{Source: p.Source}
			if _, err := bench.Answer(i, p, c); !errors.Is(err, gridtest.ErrUnread) {
				t.Errorf("an image that is not read: %v", err)
			}
		}
	}
}
