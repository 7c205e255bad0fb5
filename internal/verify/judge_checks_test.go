package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// wrongVerdict judges answers whose verdicts are known, right ones and wrong ones, and is an error that
// names the first whose verdict is another.
func wrongVerdict() error {
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
	wrongly := wrong
	wrongly.Calls = 1
	silent3 := Law[int, int]{Name: "silent", Calls: 3, Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, ErrNotApplicable }}
	heavy := wrong
	heavy.Calls = 8
	silent := Law[int, int]{Name: "silent", Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, ErrNotApplicable }}
	broken := Law[int, int]{Name: "broken", Independent: true, Check: func(int, int, Ask[int, int]) (*Diff, error) { return nil, errors.New("no") }}
	ask := func(in int) (int, error) { return 2 * in, nil }

	near := Policy[int, int]{Distance: func(_, want, got int) []Measure {
		return []Measure{{Name: "error", Value: math.Abs(float64(got - want)), Limit: 2}, {Name: "sign", Value: map[bool]float64{true: math.NaN()}[got < 0], Limit: 1}}
	}}
	apart := func(out int) Question[int, int] {
		return Question[int, int]{Name: "x", In: 3, Out: out, Others: []Witness[int]{{By: "other", Out: 6}, {By: "another", Out: 7}}}
	}
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
		{"what a law did not take of its estimate is left for the next", twice(even, slow, doubled), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 2 * time.Second}, Verified, 3},
		{"a call of a law shows what the next ones take", twice(odd, wrongly), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 4500 * time.Millisecond, PerCall: 3 * time.Second, Now: ticking()}, Wrong, 2},
		{"but no other time of a law does", twice(silent3, odd, heavy), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 12 * time.Second, PerCall: 2 * time.Second, Now: ticking()}, Unverified, 2},
		{"unless it took longer than was known", twice(odd, wrongly), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 4 * time.Second, PerCall: time.Second / 2, Now: ticking()}, Wrong, 2},
		{"what is spare is for laws beside an independent one", twice(doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Spare: 2 * time.Second, Thorough: true, PerCall: time.Second}, Verified, 2},
		{"what is not spare is not for them", twice(doubled, even, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Spare: 2*time.Second - 1, Thorough: true, PerCall: time.Second}, Verified, 3},
		{"all of the budget is where no less is said", twice(doubled, wrongly), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Thorough: true, PerCall: time.Second}, Wrong, 2},
		{"and where less is, what takes more is not tried", twice(doubled, wrongly), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Spare: time.Millisecond, Thorough: true, PerCall: time.Second}, Verified, 2},
		{"but an independent one is tried whatever is spare", twice(doubled), Question[int, int]{Name: "x", In: 3, Out: 8, Budget: time.Hour, Spare: 1}, Wrong, 1},
		{"laws ask", twice(doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour, Thorough: true, PerCall: time.Second}, Verified, 2},
		{"and stop when confirmed", twice(doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: time.Hour}, Verified, 1},
		{"what looks at the answer alone is not tried again on another's", twice(even, doubled, odd), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6, Checked: true}}, Budget: time.Hour, Thorough: true}, Verified, 4},
		{"whatever it would say", twice(wrong), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6, Checked: true}}, Budget: time.Hour, Thorough: true}, Verified, 2},
		{"but what asks is", twice(wrongly), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6, Checked: true}}, Budget: time.Hour, Thorough: true}, Wrong, 2},
		{"but on the reference's", twice(even, doubled, wrong), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 6}}, Budget: time.Hour, Thorough: true}, Wrong, 4},
		{"and on one that others disagree with", twice(wrong), Question[int, int]{Name: "x", In: 3, Out: 6, Others: []Witness[int]{{By: "other", Out: 7, Checked: true}}, Budget: time.Hour}, Wrong, 1},
		{"what does not apply says nothing", twice(silent), Question[int, int]{Name: "x", Budget: time.Hour}, Unverified, 0},
		{"what cannot be tried is said", twice(broken), Question[int, int]{Name: "x", Budget: time.Hour}, Unverified, 1},
		{"what a law took counts where it is more than its estimate", twice(even, doubled), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 2*time.Second - 1, Now: ticking()}, Unverified, 2},
		{"and no more than that", twice(even, doubled), Question[int, int]{Name: "x", In: 3, Out: 6, Budget: 2 * time.Second, Now: ticking()}, Verified, 2},
		{"what is within its limits is right", near, apart(7), Verified, 2},
		{"at the limit too", near, apart(5), Verified, 2},
		{"what is beyond one is wrong", near, apart(4), Wrong, 2},
		{"and what is no number", near, apart(-1), Wrong, 1},
	} {
		if c.q.Ask = ask; c.q.Now == nil {
			c.q.Now = func() time.Time { return time.Time{} }
		}
		evidence := c.policy.Check(c.q)
		if len(evidence) != c.evidence {
			return fmt.Errorf("%s: evidence %v, want %d pieces", c.what, evidence, c.evidence)
		}
		if got := Judge([]string{c.q.Name}, evidence); got.Status != c.want {
			return fmt.Errorf("%s: %s (%s), want %s", c.what, got.Status, got.Reason, c.want)
		}
	}
	if err := wrongOfSeveral(); err != nil {
		return err
	}
	return wrongOfMeasures()
}

// wrongOfSeveral is wrongVerdict of verdicts on several inputs and of several measures.
func wrongOfSeveral() error {
	measured := func(input string, values ...float64) Evidence {
		e := Evidence{Input: input, Witness: "closed form", Passed: true, Independent: true}
		for i, v := range values {
			e.Measures = append(e.Measures, Measure{Name: string(rune('p' + i)), Value: v, Limit: 4})
		}
		return e
	}
	dependent, contradicted := measured("b"), measured("b")
	dependent.Independent = false
	contradicted.Passed, contradicted.Diff = false, &Diff{Where: "here", Want: "a", Got: "b"}
	loose := measured("b", 3)
	loose.Measures[0].Limit = 100
	for i, c := range []struct {
		evidence []Evidence
		status   Status
		reason   string
		worst    []float64
	}{
		{nil, Unverified, "no affordable witness for a, b", nil},
		{[]Evidence{measured("a")}, Unverified, "no affordable witness for b", nil},
		{[]Evidence{measured("a"), dependent}, Unverified, "no affordable witness for b", nil},
		{[]Evidence{measured("a"), contradicted}, Wrong, "b: closed form: here: want a, got b", nil},
		{[]Evidence{measured("b", 2, 1), measured("a", 1, 3)}, Verified, "", []float64{2, 3}},
		{[]Evidence{measured("b", 0), measured("a", 1, 3), measured("a", 2)}, Verified, "", []float64{2, 3}},
		{[]Evidence{measured("a", 2), loose}, Verified, "", []float64{2}}, // as a share of its limit
	} {
		got := Judge([]string{"a", "b"}, c.evidence)
		var worst []float64
		for _, m := range got.Measures {
			worst = append(worst, m.Value)
		}
		if got.Status != c.status || got.Reason != c.reason || !slices.Equal(worst, c.worst) {
			return fmt.Errorf("evidence %d is %s (%s, %v), want %s (%s, %v)", i, got.Status, got.Reason, worst, c.status, c.reason, c.worst)
		}
	}
	// The costs are the cost of the cheapest independent law, and of all laws that fit the spare time
	// in order.
	law := func(cost time.Duration, independent bool) Law[int, int] {
		return Law[int, int]{Independent: independent, Calls: 1, Work: func(int) time.Duration { return cost }}
	}
	some := twice(law(1, false), law(40, true), law(20, true), law(30, true), law(2, false))
	for spare, want := range map[time.Duration]time.Duration{0: 0, 10: 0, 11: 11, 22: 11, 23: 23, 61: 61, 1000: 143} {
		if least, fitting := some.Costs(3, 10, spare); least != 30 || fitting != want {
			return fmt.Errorf("where %d is spare it takes %d at least and %d fit, want 30 and %d", spare, least, fitting, want)
		}
	}
	if least, fitting := twice(law(5, false)).Costs(3, 10, 100); least != 0 || fitting != 15 {
		return fmt.Errorf("without an independent law it takes %d at least and %d fit, want 0 and 15", least, fitting)
	}
	large, small := law(20, true), law(30, true)
	large.Memory, small.Memory = func(int) int64 { return 7 }, func(int) int64 { return 3 }
	if need := twice(law(0, true), small, large, law(1, false)).Memory(3); need != 7 {
		return fmt.Errorf("the cheapest law takes %d bytes, want 7", need)
	}
	if got := Judge(nil, nil); got.Status != Unverified {
		return fmt.Errorf("of no inputs it is %s", got.Status)
	}
	return nil
}

// twice is a policy for a simple question: the double of a number.
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

// ticking is a clock that advances by a second at each reading.
func ticking() func() time.Time {
	now := time.Time{}
	return func() time.Time { now = now.Add(time.Second); return now }
}

// wrongOfMeasures returns the first fault in comparing measures with their limits, and in their
// text.
func wrongOfMeasures() error {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		m      Measure
		within bool
		share  float64
		text   string
		data   string
	}{
		{Measure{Name: "error", Value: 1, Limit: 4}, true, 0.25, "error 1 of at most 4", `{"name":"error","value":1,"limit":4}`},
		{Measure{Name: "angle", Value: 3, Limit: 2, Unit: "degrees", At: "z 1"}, false, 1.5, "angle 3 degrees of at most 2 degrees", `{"name":"angle","value":3,"limit":2,"unit":"degrees","at":"z 1"}`},
		{Measure{Name: "e", Value: 2, Limit: 2}, true, 1, "e 2 of at most 2", `{"name":"e","value":2,"limit":2}`},
		{Measure{Name: "e"}, true, 0, "e 0 of at most 0", `{"name":"e","value":0,"limit":0}`},
		{Measure{Name: "e", Limit: 5}, true, 0, "e 0 of at most 5", `{"name":"e","value":0,"limit":5}`},
		{Measure{Name: "e", Value: 1}, false, inf, "e 1 of at most 0", `{"name":"e","value":1,"limit":0}`},
		{Measure{Name: "e", Value: nan, Limit: 1}, false, inf, "e NaN of at most 1", `{"name":"e","value":1.7976931348623157e+308,"limit":1}`},
		{Measure{Name: "e", Value: inf, Limit: 1}, false, inf, "e +Inf of at most 1", `{"name":"e","value":1.7976931348623157e+308,"limit":1}`},
		{Measure{Name: "e", Value: -inf, Limit: 1}, true, -inf, "e -Inf of at most 1", `{"name":"e","value":-1.7976931348623157e+308,"limit":1}`},
		{Measure{Name: "largest error", Value: 1.23456e-7, Limit: 123456, Unit: "mm"}, true, 1.23456e-7 / 123456, "largest error 1.235e-07 mm of at most 1.235e+05 mm", `{"name":"largest error","value":1.23456e-7,"limit":123456,"unit":"mm"}`},
	} {
		data, err := json.Marshal(c.m)
		if c.m.IsWithinLimit() != c.within || c.m.Share() != c.share || c.m.String() != c.text || err != nil || string(data) != c.data {
			return fmt.Errorf("%+v: within %v, share %v, %q, %s %v", c.m, c.m.IsWithinLimit(), c.m.Share(), c.m, data, err)
		}
	}
	// Of two equal measures the first stays. The largest ratio to the limit counts, not the largest
	// value.
	a, b := Measure{Name: "a", Value: 3, Limit: 6, At: "first"}, Measure{Name: "a", Value: 1, Limit: 2, At: "second"}
	near, far, other := Measure{Name: "a", Value: 5, Limit: 100}, Measure{Name: "a", Value: 2, Limit: 3}, Measure{Name: "b", Value: 1, Limit: 1}
	for _, c := range []struct{ of, want []Measure }{
		{[]Measure{a, b}, []Measure{a}}, {[]Measure{b, a}, []Measure{b}}, {[]Measure{near, a, other}, []Measure{a, other}},
		{[]Measure{a, other, far, near}, []Measure{far, other}}, {nil, nil},
	} {
		if got := Worst(c.of[:len(c.of)/2], c.of[len(c.of)/2:]); !slices.Equal(got, c.want) {
			return fmt.Errorf("worst of %v: %v, want %v", c.of, got, c.want)
		}
	}
	for _, c := range []struct {
		of, value float64
		want      bool
	}{{1, 2, true}, {1, 1, false}, {2, 1, false}, {0, nan, true}, {inf, nan, true}, {nan, 9, false}, {nan, inf, false}, {nan, nan, false}} {
		if got := (Measure{Value: c.of}).Below(c.value); got != c.want {
			return fmt.Errorf("a measure of %v is below %v: %v", c.of, c.value, got)
		}
	}
	if d := firstViolation([]Measure{{Name: "a", Value: 1, Limit: 1}, {Name: "b", Limit: 1}}); d != nil {
		return fmt.Errorf("all within: %v", d)
	}
	for _, c := range []struct {
		m    Measure
		want Diff
	}{
		{Measure{Name: "error", Value: 3, Limit: 2}, Diff{Where: "error", Want: "at most 2", Got: "3"}},
		{Measure{Name: "error", Value: 3, Limit: 2, Unit: "mm", At: "row 4"}, Diff{Where: "error, row 4", Want: "at most 2 mm", Got: "3 mm"}},
	} {
		list := []Measure{{Name: "fine", Limit: 1}, c.m, {Name: "later", Value: 9}}
		if d := firstViolation(list); d == nil || *d != c.want {
			return fmt.Errorf("%v: %+v, want %+v", c.m, d, c.want)
		}
	}
	return nil
}
