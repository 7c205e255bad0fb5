package report

import (
	"bytes"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// A note below a table about an implementation and a size is true for both.
func TestNotesGroupTruly(t *testing.T) {
	row := func(impl, size string, status verify.Status, reason string) Row {
		return Row{Impl: impl, Class: "gen=any", Size: size, Status: status, Reason: reason, Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
	}
	var b bytes.Buffer
	if err := Throughput(&b, Text, []Row{
		row("read", "8x8x8", verify.Verified, ""), row("a", "8x8x8", verify.Timeout, "late"), row("b", "8x8x8", verify.Skipped, "no card"), row("c", "8x8x8", verify.Skipped, "no card"),
		row("read", "9x9x9", verify.Timeout, "late"), row("a", "9x9x9", verify.Timeout, "late"), row("b", "9x9x9", verify.Skipped, "no card"), row("c", "9x9x9", verify.Skipped, "no card"),
		row("a", "9x8x7", verify.Skipped, "no card"),
		row("b", "8x8x8", verify.Crashed, "killed"), row("c", "9x9x9", verify.Crashed, "killed"),
	}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\na 8³, 9³; read 9³: TIMEOUT: late\n", "\nb, c 8³, 9³; a 9x8x7: SKIPPED: no card\n",
		"\nb 8³; c 9³: CRASHED: killed\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}

// A table of another scope than the others states the reason if it is the size of the inputs.
func TestStreamedRowsSayWhy(t *testing.T) {
	row := func(scope bench.Scope, flags ...string) Row {
		return Row{Impl: "a", Class: "gen=any", Size: "8x8x8", Status: verify.Verified, Rate: 1, Flags: flags, Setting: bench.Setting{Scope: scope, Threads: 2}}
	}
	for _, c := range []struct {
		rows []Row
		want bool
	}{
		{[]Row{row(bench.E2E), row(bench.File, "streamed")}, true},
		{[]Row{row(bench.E2E), row(bench.File, "in memory")}, false},
		{[]Row{row(bench.File, "streamed")}, false},
		{[]Row{row(bench.Kernel), row(bench.File, "streamed")}, false},
	} {
		var b bytes.Buffer
		if err := Throughput(&b, Text, c.rows); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "scope file, 2 threads\nthe inputs of these rows do not fit in memory together"); got != c.want {
			t.Errorf("%v, want %v:\n%s", got, c.want, b.String())
		}
	}
}
