//go:build unix

package runner

import (
	"math"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// The distance of answers is recorded if the yardstick is a confirmed answer, but not if it is the
// first answer.
func TestWeighing(t *testing.T) {
	list := []verify.Measure{{Name: "a", Value: 1, Limit: 4}, {Name: "b", Value: 1, Limit: 2}}
	for _, by := range []string{"", "a witness"} {
		g := &answerPair[int]{by: by}
		if share := g.weigh(nil, list); share != 0.5 || g.diff != nil || g.beyond != 0 {
			t.Errorf("%q: a share of %v, %+v", by, share, g)
		}
		d := &verify.Diff{Where: "place 1"}
		if share := g.weigh(d, list); !math.IsInf(share, 1) {
			t.Errorf("%q: a difference within the limits is a share of %v", by, share)
		}
		if (by == "") != (len(g.measures) == 0) || (by == "") != (g.diff == nil) || (by == "") != (g.beyond == 0) {
			t.Errorf("%q: %+v", by, g)
		}
		list[1].Value = 3
		if share := g.weigh(d, list); share != 1.5 {
			t.Errorf("%q: a share of %v", by, share)
		}
		list[1].Value = 1
	}
}

// If right answers are always equal, the first that differs is kept, even if a later one differs
// more.
func TestFirstThatDiffersIsKept(t *testing.T) {
	w := sortWorkload()
	w.Policy.Agree = func(_, want, got []uint32) *verify.Diff {
		if want[1] == got[1] {
			return nil
		}
		return &verify.Diff{Where: "place 1", Want: "one", Got: "another"}
	}
	r := &trial[[]uint32, []uint32]{b: &bound[[]uint32, []uint32]{w}, t: worker.Task{Inputs: []string{"a"}}, inputs: [][]uint32{{1, 2}}}
	r.begin()
	defer r.close()
	for _, out := range [][]uint32{{1, 2}, {3, 2}, {1, 2}, {1, 3}} {
		if err := r.take(0, out); err != nil {
			t.Fatal(err)
		}
	}
	e, said, err := r.repeats(0)
	if err != nil || !said || e.Passed {
		t.Fatalf("%+v, %v, %v", e, said, err)
	}
	if g := r.given[0]; g.calls != 4 || g.differing != 2 || g.worst.call != 2 {
		t.Errorf("of %d calls %d differ, call %d is kept; want 4, 2 and 2", g.calls, g.differing, g.worst.call)
	}
	if e.Diff.Where != "the answer as it is written" || !strings.HasSuffix(e.Diff.Got, " (call 2; 2 of 4 calls differ from the first)") {
		t.Errorf("%+v", e.Diff)
	}
}

// Answers that may differ are compared with the closed form if there is one, else with other
// answers, if any.
func TestYardsticks(t *testing.T) {
	p := verify.Policy[int, int]{
		Distance: func(int, int, int) []verify.Measure { return nil },
		Known:    func(_ string, in int) (int, bool) { return 10 * in, in == 1 },
	}
	r := &trial[int, int]{
		b: &bound[int, int]{bench.Workload[int, int]{Policy: p}}, inputs: []int{1, 1, 2, 2}, t: worker.Task{Inputs: []string{"a", "b", "c", "d"}, Cores: 1},
		others: [][]verify.Witness[int]{{{By: "other", Out: 11}}, nil, {{By: "other", Out: 12}, {By: "another", Out: 13}}, nil},
	}
	r.begin()
	if err := r.yardsticks(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []answerPair[int]{{by: "the closed form", yardstick: 10}, {by: "the closed form", yardstick: 10}, {by: "other", yardstick: 12}, {}} {
		if g := r.given[i]; g.by != want.by || g.yardstick != want.yardstick {
			t.Errorf("%s: %q, %d, want %q, %d", g.name, g.by, g.yardstick, want.by, want.yardstick)
		}
	}
}
