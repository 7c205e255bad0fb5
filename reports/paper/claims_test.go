package paper

import (
	"bytes"
	"strings"
	"testing"

	"eccbench/internal/report"
)

// What the paper's own tables say of its claims.
func TestClaimsOfPublishedNumbers(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"4 to 6 times":   "true 4.15 to 6.85 times",
		"below about 16": "true 0.250 to 0.917 times",
		"waits for the":  "true 75.3 to 100.0 %",
		"start of the":   "true 0.942 to 2.29 %",
		"no bottleneck":  "true 2.43 times the Gaussian's time",
		"30 times a":     "true 40.2 Hz and 223 Hz",
		"dimension":      "false 2D 9.360 to 10.10 Gvox/s, 3D 6.030 to 6.430, 1.55 and 1.57 times",
	}
	for _, c := range p.Claims() {
		holds, say, ok := c.check(numbers{p: p})
		got := map[bool]string{true: "true ", false: "false "}[holds] + say
		found := false
		for part, w := range want {
			if strings.Contains(c.Says, part) {
				found = true
				if !ok || got != w {
					t.Errorf("%s: %q, %v, want %q", c.Says, got, ok, w)
				}
			}
		}
		if !found {
			t.Errorf("%s: no expectation, got %q", c.Says, got)
		}
	}
}

// Measured numbers decide too, both ways.
func TestClaimsOfMeasuredNumbers(t *testing.T) {
	p, err := Find("wang2022")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		two, three float64
		want       string
	}{{50e9, 49e9, "holds"}, {80e9, 40e9, "does not hold"}} {
		var lines []Line
		for _, r := range p.Tables[0].Rows {
			v := c.three
			if r.Dim() == 2 {
				v = c.two
			}
			lines = append(lines, Line{Series: Series{Column: "kernel_rate"}, Row: r, Impl: "tiled", Measured: v})
		}
		var b bytes.Buffer
		if err := p.PrintClaims(&b, report.Markdown, map[int][]Line{1: lines}); err != nil {
			t.Fatal(err)
		}
		found := false
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "dimension") && strings.Contains(line, "tiled here") {
				found = strings.Contains(line, "| "+c.want+" ")
			}
		}
		if !found {
			t.Errorf("%+v:\n%s", c, b.String())
		}
	}
}
