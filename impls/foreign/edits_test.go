package foreign

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/impls/naive"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// The edits change the curve by the definition, in both constructions.
func TestEdits(t *testing.T) {
	for _, name := range []string{
		"noise/shape=5x4x3/type=uint8/levels=5/seed=1", "noise/shape=1x1x4/type=int16/levels=3/seed=2", "noise/shape=6x5/type=uint16/levels=9/seed=3",
		"noise/shape=2x7/type=float32/levels=4/seed=4", "noise/shape=9x8x7/type=float32/levels=200/seed=5", "between/shape=4x4x4/levels=20/step=0.1/seed=7",
	} {
		in, err := fields.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		w := bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{naive.Implementation{}}}
		vertices := ecc.InConvention(w, ecc.Convention{Vertices: true})
		if strings.HasPrefix(name, "between/") { // views need every value to be a level
			vertices.Impls = vertices.Impls[:0]
		}
		for k, impl := range slices.Concat(w.Impls, vertices.Impls) {
			data := make([]byte, grid.TotalBytes(in))
			if err := in.ReadSlab(data, 0, in.Shape().Slices()); err != nil {
				t.Fatal(err)
			}
			curve := func() map[int64]int64 {
				f, err := grid.NewField(in.Shape(), in.Type(), data, in.Ladder())
				if err != nil {
					t.Fatal(err)
				}
				v, err := bench.Answer[grid.Source, ecc.VCEC](impl, f, bench.Conditions{})
				if err != nil {
					t.Fatal(err)
				}
				changes := map[int64]int64{}
				for level, change := range v.All() {
					changes[level] = change
				}
				return changes
			}
			was := curve()
			plan := planEdits(in, data, k == 1, nil)
			plan.apply(data)
			now := curve()
			for _, e := range plan {
				for _, c := range e.changes[:e.count] {
					now[c.level] -= c.by
				}
			}
			for level := range in.Ladder().Len() {
				if now[level] != was[level] {
					t.Fatalf("%s, vertices %v: %d at level %d without the edits %+v, want %d", name, k == 1, now[level], level, plan, was[level])
				}
			}
			if len(plan) == 0 {
				t.Errorf("%s: no edit", name)
			}
		}
	}
}

// The flags of calls follow from their processor time.
func TestTally(t *testing.T) {
	const ms = time.Millisecond
	for want, c := range map[string]tally{
		"[]":                           {calls: 10, outer: 100 * ms, within: 105 * ms, between: 10 * ms},
		"[between calls +11%]":         {calls: 10, outer: 100 * ms, within: 90 * ms, between: 11 * ms},
		"[cores 1.9 of 1]":             {calls: 10, outer: 100 * ms, within: 191 * ms},
		"[inner 0.50×]":                {explained: 2 * ms, inner: ms},
		"[inner 0.50× cores 2.0 of 1]": {calls: 1, outer: 50 * ms, within: 100 * ms, explained: 2 * ms, inner: ms},
	} {
		start := c
		c.begun = true
		if got := fmt.Sprint(c.flags(1)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := fmt.Sprint(start.flags(1)); strings.Contains(got, "cores") || strings.Contains(got, "between") || !start.begun {
			t.Errorf("%s, of the start", got)
		}
	}
}
