package verify

import (
	"testing"
	"time"
)

// Answers with known verdicts get these.
func TestVerdicts(t *testing.T) {
	if err := wrongVerdict(); err != nil {
		t.Error(err)
	}
}

// The note of a law is in its evidence, whether it confirms or contradicts.
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

// The result of a law about the answer alone is reused for equal answers; a law that asks is run
// again.
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

// A law that takes more than the spare time, after an independent one, is not tried. The evidence
// reports it.
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

// An alternative law is tried until one of them confirms the answer, whatever other laws do.
func TestAlternativeLaws(t *testing.T) {
	for _, c := range []struct {
		first error
		want  int
	}{{nil, 0}, {Undecided("no proof"), 1}} {
		tried := 0
		law := func(alternative bool, try func() error) Law[int, int] {
			return Law[int, int]{Name: "law", Independent: true, Alternative: alternative,
				Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, try() }}
		}
		all := twice(law(false, func() error { return nil }), law(true, func() error { return c.first }),
			law(true, func() error { tried++; return nil })).Check(Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Thorough: true})
		if tried != c.want || len(all) != 3 {
			t.Errorf("after %v the other alternative is tried %d times: %v", c.first, tried, all)
		}
	}
}

// A contradiction counts whatever other evidence there is, before or after it.
func TestContradictionsCountAnywhere(t *testing.T) {
	confirmed := Evidence{Input: "a", Witness: "closed form", Passed: true, Independent: true}
	wrong := Evidence{Input: "a", Witness: "law", Diff: &Diff{Where: "here"}}
	for _, evidence := range [][]Evidence{{wrong, confirmed}, {confirmed, wrong}, {confirmed, wrong, confirmed}} {
		if got := Judge([]string{"a"}, evidence); got.Status != Wrong {
			t.Errorf("%v: %s", evidence, got.Status)
		}
	}
}

// A law that cannot decide confirms nothing and contradicts nothing; the check goes on.
func TestUndecidedLaws(t *testing.T) {
	law := func(name string, err error) Law[int, int] {
		check := func(int, int, Ask[int, int]) (*Diff, error) { return nil, err }
		return Law[int, int]{Name: name, Independent: true, Check: check}
	}
	undecided, sure := law("search", Undecided("no %s", "proof")), law("sure", nil)
	q := Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour}
	why := "no affordable witness for x (search: not decided: no proof)"
	if got := Judge([]string{"x"}, twice(undecided).Check(q)); got.Status != Unverified || got.Reason != why {
		t.Errorf("%+v", got)
	}
	if got := Judge([]string{"x"}, twice(undecided, sure).Check(q)); got.Status != Verified || len(got.Evidence) != 2 {
		t.Errorf("%+v", got)
	}
}

// A law that needs more memory than is free is not tried.
func TestLawsBeyondTheFreeMemory(t *testing.T) {
	large := Law[int, int]{
		Name: "large", Independent: true, Calls: 0.5, Memory: func(int) int64 { return 90 },
		Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, nil },
	}
	for free, want := range map[int64]Status{99: Unverified, 100: Verified} {
		got := Judge([]string{"x"}, twice(large).Check(Question[int, int]{
			Name: "x", In: 3, Out: 6, Budget: time.Hour, AnswerMemory: 10, Free: func() int64 { return free },
		}))
		note := map[Status]string{Unverified: "not tried: needs about 100 B of memory, 99 B is free"}[want]
		if got.Status != want || len(got.Evidence) != 1 || got.Evidence[0].Note != note {
			t.Errorf("of 100 bytes %d are free: %s %v, want %s", free, got.Status, got.Evidence, want)
		}
	}
}

// A law that takes longer than its estimate leaves less for the others.
func TestLawsAreChargedTheirTime(t *testing.T) {
	now, tried := time.Unix(0, 0), 0
	slow := Law[int, int]{
		Name: "slow", Check: func(int, int, Ask[int, int]) (*Diff, error) { now = now.Add(time.Minute); return nil, nil },
	}
	next := Law[int, int]{
		Name: "next", Work: func(int) time.Duration { return 2 * time.Second },
		Check: func(int, int, Ask[int, int]) (*Diff, error) { tried++; return nil, nil },
	}
	q := Question[int, int]{Name: "x", In: 3, Out: 6, Thorough: true, Now: func() time.Time { return now }}
	for q.Budget = range map[time.Duration]bool{61 * time.Second: false, 62 * time.Second: true} {
		tried = 0
		if twice(slow, next).Check(q); (tried == 1) != (q.Budget == 62*time.Second) {
			t.Errorf("after a law of a minute in %v, a law of 2 s was tried %d times", q.Budget, tried)
		}
	}
}
