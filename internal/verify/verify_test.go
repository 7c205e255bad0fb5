package verify

import (
	"errors"
	"testing"
	"time"
)

// The question of these tests: what is twice the number?
func twice(laws ...Law[int, int]) Policy[int, int] {
	return Policy[int, int]{
		Agree: func(_, want, got int) *Diff {
			if want == got {
				return nil
			}
			return &Diff{Where: "here", Want: "a", Got: "b"}
		},
		Known: func(name string, in int) (int, bool) { return 0, name == "zero" },
		Laws:  laws,
	}
}

func TestCheckAndJudge(t *testing.T) {
	even := Law[int, int]{Name: "even", Check: func(_, out int, _ Ask[int, int]) (*Diff, error) {
		if out%2 == 0 {
			return nil, nil
		}
		return &Diff{Where: "parity"}, nil
	}}
	doubled := Law[int, int]{Name: "definition", Independent: true, Work: func(int) time.Duration { return time.Second },
		Check: func(in, out int, _ Ask[int, int]) (*Diff, error) {
			if out == in+in {
				return nil, nil
			}
			return &Diff{Where: "value"}, nil
		}}
	slow := Law[int, int]{Name: "slow", Work: func(int) time.Duration { return 2 * time.Second }, Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, nil }}
	odd := Law[int, int]{Name: "additive", Calls: 1, Check: func(in, out int, ask Ask[int, int]) (*Diff, error) {
		next, err := ask(in + 1)
		if err != nil || next == out+2 {
			return nil, err
		}
		return &Diff{Where: "next"}, nil
	}}
	wrong := Law[int, int]{Name: "wrong", Work: func(int) time.Duration { return 0 }, Check: func(int, int, Ask[int, int]) (*Diff, error) { return &Diff{Where: "always"}, nil }}
	silent := Law[int, int]{Name: "silent", Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, ErrNotApplicable }}
	broken := Law[int, int]{Name: "broken", Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, errors.New("no") }}
	ask := func(in int) (int, error) { return 2 * in, nil }

	for _, c := range []struct {
		what     string
		policy   Policy[int, int]
		q        Question[int, int]
		want     Status
		evidence int
	}{
		{"a closed form confirms", twice(), Question[int, int]{Name: "zero", Out: 0}, Verified, 1},
		{"a closed form contradicts", twice(even), Question[int, int]{Name: "zero", Out: 2}, Wrong, 1},
		{"another's answer confirms", twice(), Question[int, int]{Name: "x", Out: 4, Others: []Witness[int]{{By: "other", Out: 4}}}, Verified, 1},
		{"another's answer contradicts", twice(), Question[int, int]{Name: "x", Out: 4, Others: []Witness[int]{{By: "other", Out: 5}}}, Wrong, 1},
		{"a law that a constant keeps confirms nothing", twice(even), Question[int, int]{Name: "x", In: 3, Out: 4, Budget: time.Hour}, Unverified, 1},
		{"but it contradicts", twice(even), Question[int, int]{Name: "x", In: 3, Out: 5, Budget: time.Hour}, Wrong, 1},
		{"an independent law confirms", twice(even, doubled), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour}, Verified, 2},
		{"an independent law contradicts", twice(even, doubled), Question[int, int]{Name: "x", In: 3, Out: 8, Budget: time.Hour}, Wrong, 2},
		{"what is not affordable is not tried, and said", twice(even, doubled), Question[int, int]{Name: "x", In: 3, Out: 8, Budget: time.Millisecond}, Unverified, 2},
		{"what takes all that is left is tried", twice(even, doubled), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Second}, Verified, 2},
		{"what a law took is not left for the next", twice(even, slow, doubled), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 3*time.Second - 1}, Unverified, 3},
		{"what is spare is for laws beside an independent one", twice(doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Spare: 2 * time.Second, Thorough: true, PerCall: time.Second}, Verified, 2},
		{"what is not spare is not for them", twice(doubled, even, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Spare: 2*time.Second - 1, Thorough: true, PerCall: time.Second}, Verified, 3},
		{"but an independent one is tried whatever is spare", twice(doubled), Question[int, int]{Name: "x", In: 3, Out: 8, Budget: time.Hour, Spare: 1}, Wrong, 1},
		{"laws ask", twice(doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Thorough: true, PerCall: time.Second}, Verified, 2},
		{"and stop when confirmed", twice(doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour}, Verified, 1},
		{"what looks at the answer alone is not tried again on another's", twice(even, doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6, Checked: true}}, Budget: time.Hour, Thorough: true}, Verified, 4},
		{"but on the reference's", twice(even, doubled, wrong), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6}}, Budget: time.Hour, Thorough: true}, Wrong, 4},
		{"and on one that others disagree with", twice(wrong), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 7, Checked: true}}, Budget: time.Hour}, Wrong, 1},
		{"what does not apply says nothing", twice(silent), Question[int, int]{Name: "x", Budget: time.Hour}, Unverified, 0},
		{"what cannot be tried is said", twice(broken), Question[int, int]{Name: "x", Budget: time.Hour}, Unverified, 1},
	} {
		c.q.Ask, c.q.Now = ask, func() time.Time { return time.Time{} }
		evidence := c.policy.Check(c.q)
		if len(evidence) != c.evidence {
			t.Errorf("%s: evidence %v, want %d pieces", c.what, evidence, c.evidence)
		}
		if got := Judge([]string{c.q.Name}, evidence); got.Status != c.want {
			t.Errorf("%s: %s (%s), want %s", c.what, got.Status, got.Reason, c.want)
		}
	}
}

// What a law says of itself is in the evidence, whether it confirms or contradicts.
func TestLawsNote(t *testing.T) {
	seeded := Law[int, int]{Name: "seeded", Note: "seed 7", Independent: true, Check: func(in, out int, _ Ask[int, int]) (*Diff, error) {
		if out == in+in {
			return nil, nil
		}
		return &Diff{Where: "here", Want: "a", Got: "b"}, nil
	}}
	for out, want := range map[int]string{6: "confirmed by an independent witness: seeded (seed 7)", 7: "contradicted: seeded (seed 7): here: want a, got b"} {
		e := twice(seeded).Check(Question[int, int]{Name: "x", In: 3, Out: out, Budget: time.Hour})
		if len(e) != 1 || e[0].Note != "seed 7" || e[0].String() != want {
			t.Errorf("%v, want %q", e, want)
		}
	}
}

func TestJudgeWantsAWitnessForEveryInput(t *testing.T) {
	confirmed := Evidence{Input: "a", Witness: "closed form", Passed: true, Independent: true}
	if got := Judge([]string{"a", "b"}, []Evidence{confirmed}); got.Status != Unverified || got.Reason != "no affordable witness for b" {
		t.Errorf("%+v", got)
	}
	if got := Judge(nil, nil); got.Status != Unverified {
		t.Errorf("nothing was checked: %+v", got)
	}
}

// What was said of an answer by a law that looks at it alone is not worked out again for
// another's like it; a law that asks is.
func TestCheckedAnswersAreNotWorkedOutAgain(t *testing.T) {
	for calls, want := range []int{0, 1} {
		tried := 0
		law := Law[int, int]{Name: "counted", Calls: float64(calls), Work: func(int) time.Duration { return 0 },
			Check: func(int, int, Ask[int, int]) (*Diff, error) { tried++; return nil, nil }}
		twice(law).Check(Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6, Checked: true}}, Budget: time.Hour, Thorough: true})
		if tried != want {
			t.Errorf("a law of %d calls was tried %d times, want %d", calls, tried, want)
		}
	}
}

// A law beside an independent one that takes more than is spare is not tried, and says so.
func TestLawsBeyondWhatIsSpare(t *testing.T) {
	tried := 0
	dear := Law[int, int]{Name: "dear", Calls: 3, Check: func(int, int, Ask[int, int]) (*Diff, error) { tried++; return nil, nil }}
	sure := Law[int, int]{Name: "sure", Independent: true, Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, nil }}
	for spare, want := range map[time.Duration]int{0: 1, 3 * time.Second: 1, 3*time.Second - 1: 0} {
		tried = 0
		e := twice(sure, dear).Check(Question[int, int]{
			Name: "x", In: 3, Out: 6, Budget: time.Hour, Spare: spare, Thorough: true, PerCall: time.Second, Now: func() time.Time { return time.Time{} },
		})
		if tried != want || len(e) != 2 || (want == 0) != (e[1].Note == "not tried: takes about 3s and 3s is left") {
			t.Errorf("%v are spare: tried %d times, %v", spare, tried, e)
		}
	}
}

// The cheapest independent law is what an answer takes at least, and what fits are all laws in
// order whose costs do together.
func TestCosts(t *testing.T) {
	law := func(cost time.Duration, independent bool) Law[int, int] {
		return Law[int, int]{Independent: independent, Calls: 1, Work: func(int) time.Duration { return cost }}
	}
	p := twice(law(1, false), law(40, true), law(20, true), law(30, true), law(2, false))
	for spare, want := range map[time.Duration]time.Duration{0: 0, 10: 0, 11: 11, 22: 11, 23: 23, 61: 61, 1000: 143} {
		if least, fitting := p.Costs(3, 10, spare); least != 30 || fitting != want {
			t.Errorf("spare %d: %d at least, %d fit, want 30 and %d", spare, least, fitting, want)
		}
	}
	if least, fitting := twice(law(5, false)).Costs(3, 10, 100); least != 0 || fitting != 15 {
		t.Errorf("without an independent law: %d, %d", least, fitting)
	}
}
