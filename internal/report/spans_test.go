package report

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/stats"
)

// Two copies follow each other, and counting overlaps half of them, once where the copies meet.
func TestSpansSayWhatWasDoneAtTheSameTime(t *testing.T) {
	cell := bench.CellRecord{
		Impl: "streamed", Input: "x", Setting: bench.Setting{Scope: bench.E2E}, Seconds: &stats.Summary{Median: 0.010},
		Spans: map[string]float64{"copy and count": 0.009},
		Timeline: []bench.Interval{
			{Name: "count", From: 0.003, To: 0.005}, {Name: "copy", From: 0, To: 0.004}, {Name: "copy", From: 0.004, To: 0.008},
			{Name: "count", From: 0.007, To: 0.009},
		},
	}
	var b strings.Builder
	if err := Spans(&b, Markdown, []bench.CellRecord{cell, {Impl: "whole"}, {
		Impl: "slower once", Input: "x", Setting: bench.Setting{Scope: bench.E2E}, Seconds: &stats.Summary{Median: 0.010}, Traced: 0.020,
		Spans: map[string]float64{"count": 0.015}}, {Impl: "launched", Input: "x", Setting: bench.Setting{Scope: bench.Kernel}, Seconds: &stats.Summary{Median: 0.008}, Wall: 0.010}}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"streamed x e2e copy and count 9.000 ms 90.0 %",
		"streamed x e2e copy on the device 2 8.000 ms 80.0 % 37.5 %",
		"streamed x e2e count on the device 2 4.000 ms 40.0 % 75.0 %",
		"slower once x e2e count 15.00 ms 75.0 %",
		"launched x kernel the call by the host's clock 10.00 ms 125 %",
	}
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n")[2:] {
		if got := strings.Join(strings.Fields(strings.ReplaceAll(line, "|", " ")), " "); len(want) == 0 || got != want[0] {
			t.Errorf("got %q, want %q", got, want)
		} else {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("missing %q", want)
	}
	if err := Spans(&b, Markdown, nil); err == nil {
		t.Error("cells without parts were printed")
	}
}

// Time that intervals of one name share is counted once.
func TestSpansThatOverlap(t *testing.T) {
	got := partsOf([]bench.Interval{{Name: "copy", From: 2, To: 6}, {Name: "copy", From: 1, To: 4}, {Name: "copy", From: 3, To: 5}, {Name: "copy", From: 8, To: 9}, {Name: "count", From: 5, To: 9}})
	if want := []part{{"copy", 4, 6, 2}, {"count", 1, 4, 2}}; !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
