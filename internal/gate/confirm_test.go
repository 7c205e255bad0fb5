package gate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// A flag counts if a second machine confirms it.
func TestConfirm(t *testing.T) {
	slower := func(by float64) *world { return &world{noise: 0.01, slow: map[Side]float64{Candidate: by}} }
	data, err := json.Marshal(run(t, slower(0.2), 1, cells(2, 0.05), nil))
	if err != nil {
		t.Fatal(err)
	}
	before, err := ReadResult(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	flagged := before.Flagged()
	if len(flagged) != 2 || flagged[0] != cells(1, 0.05)[0] {
		t.Fatalf("flagged %+v", flagged)
	}
	for by, want := range map[float64]Verdict{0.2: IsRegression, 0: IsInconclusive, -0.2: IsInconclusive} {
		r := run(t, slower(by), 2, flagged, nil)
		r.Confirm(before)
		if r.Verdict != want || r.Exit != want.Exit() || r.Confirms != before.Fingerprint {
			t.Errorf("slower by %g here: %s: %s, of %s", by, r.Verdict, r.Reason, r.Confirms)
		}
		if c := r.Cells[0]; want == IsInconclusive && !strings.HasPrefix(c.Reason, "REGRESSION on the machine ") {
			t.Errorf("slower by %g here: %s: %s", by, c.Decision, c.Reason)
		}
	}
	// Other findings of the first machine remain.
	for _, c := range []struct {
		change func(*Result)
		want   Verdict
	}{
		{func(*Result) {}, Pass},
		{func(b *Result) { b.Cells[1].Decision = Wrong; b.conclude(false) }, IsWrong},
		{func(b *Result) { b.Cells[1].Decision = Failed; b.conclude(false) }, IsFailed},
		{func(b *Result) { b.Cells[1].Decision, b.Cells[1].Reason = Regression, "a call allocates more" }, IsRegression},
		{func(b *Result) { b.Cells[1].Decision = Inconclusive }, IsInconclusive},
		{func(b *Result) { b.Interrupted = true }, IsInconclusive},
	} {
		first := run(t, slower(-0.3), 1, cells(2, 0.05), nil)
		c.change(first)
		r := run(t, slower(-0.3), 2, cells(1, 0.05), nil)
		r.Confirm(first)
		if r.Verdict != c.want || r.Exit != c.want.Exit() {
			t.Errorf("%s (%s), want %s", r.Verdict, r.Reason, c.want)
		}
	}
	if none := run(t, slower(0), 1, cells(2, 0.05), nil); len(none.Flagged()) != 0 {
		t.Errorf("flagged without a change: %+v", none.Flagged())
	}
	for _, text := range []string{"", "{}", `{"schema":"eccbench/1"}`} {
		if _, err := ReadResult(strings.NewReader(text)); err == nil {
			t.Errorf("%q is a result", text)
		}
	}
}
