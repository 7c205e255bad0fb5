package report

import (
	"strings"
	"testing"
)

// A gate's changes share one logarithmic axis. It reaches to the farthest end of an interval, and
// at least a tenth to either side.
func TestGateForest(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	far := Change{Impl: "far", Effect: 0.05, Change: share(0.2), Lo: share(0.1), Hi: share(0.5)}
	near := Change{Impl: "near", Effect: 0.05, Change: share(-0.01), Lo: share(-0.02), Hi: share(0.01)}
	open := Change{Impl: "open", Change: share(0.2), Lo: share(0.1)}
	const middle = `<line class="none" x1="130.0" x2="130" y1="0" y2="22"/>`
	for _, c := range []struct {
		changes []Change
		text    string // of the first
		want    []string
	}{
		{[]Change{far, near}, "+20.0 % [10.0, 50.0]", []string{
			`<rect class="band" x="115.3" y="0" width="29.4" height="22"/>`, middle,
			`<line class="interval" x1="158.7" x2="252.0" y1="11" y2="11"/>`, `<circle class="value" cx="184.9" cy="11" r="4"/>`,
		}},
		{[]Change{near, far}, "-1.0 % [-2.0, 1.0]", []string{
			`<line class="interval" x1="123.9" x2="133.0" y1="11" y2="11"/>`, `<circle class="value" cx="127.0" cy="11" r="4"/>`,
		}},
		{[]Change{near}, "-1.0 % [-2.0, 1.0]", []string{ // without other changes
			`<line class="interval" x1="104.1" x2="142.7" y1="11" y2="11"/>`, `<circle class="value" cx="117.1" cy="11" r="4"/>`,
		}},
		{[]Change{open}, "+20.0 %", []string{middle, `<circle class="value" cx="252.0" cy="11" r="4"/>`}},
		{[]Change{{Impl: "none"}}, "—", []string{middle}},
	} {
		r := gateForest(Judgement{Changes: c.changes}).Rows[0]
		if r.Text != c.text {
			t.Errorf("%s: %q, want %q", r.Name, r.Text, c.text)
		}
		for _, want := range c.want {
			if !strings.Contains(string(r.Drawing), want) {
				t.Errorf("%s has no %s: %s", r.Name, want, r.Drawing)
			}
		}
		for _, kind := range []string{"interval", "value"} {
			if strings.Contains(string(r.Drawing), kind) != strings.Contains(strings.Join(c.want, ""), kind) {
				t.Errorf("%s, with a %s or not: %s", r.Name, kind, r.Drawing)
			}
		}
	}
}
