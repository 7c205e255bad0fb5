// Package gating implements the command that compares a candidate program with a base: its flags,
// the programs that it builds and runs, and its output.
package gating

import (
	"fmt"
	"io"
	"strings"

	"eccbench/internal/cli"
	"eccbench/internal/gate"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// printGate prints a result: the verdict and the noise first, then the cells, then their notes.
func printGate(w io.Writer, f report.Format, r *gate.Result) error {
	strong := func(s string) string { return s }
	if f == report.Markdown {
		strong = func(s string) string { return "**" + s + "**" }
	}
	fmt.Fprintf(w, "%s: %s.\n\n", strong(string(r.Verdict)), report.Prose(f, r.Reason))
	fmt.Fprintf(w, "%s against %s: %d blocks, %d processes, %s, order seed %d.\n",
		report.Prose(f, describeProgram(r.Candidate)), report.Prose(f, describeProgram(r.Base)),
		r.Protocol.Blocks, len(r.Processes), quantity.Duration(quantity.Seconds(r.Elapsed)), r.Seed)
	if r.Stored != nil {
		fmt.Fprintf(w, "The base was measured on %s: what drifted since then is in the change.\n",
			r.Stored.Format("2006-01-02 15:04 MST"))
	}
	if noise := noiseLine(r); noise != "" {
		fmt.Fprintf(w, "%s\n", noise)
	}
	fmt.Fprintln(w)
	var cells [][]string
	var notes []string
	for _, c := range r.Cells {
		cells = append(cells, []string{
			string(c.Decision), c.Impl, c.Input, string(c.Scope), "±" + quantity.Significant(c.Effect*100, 2) + " %",
			inPercent(c.Change), inPercent(c.Second), inPercent(c.Noise), quantity.Percent(c.Between, 2),
		})
		about := func(format string, args ...any) {
			notes = append(notes, report.Prose(f, fmt.Sprintf("%s %s: ", c.Impl, c.Input))+fmt.Sprintf(format, args...))
		}
		if c.Reason != "" {
			about("%s: %s", c.Decision, report.Prose(f, c.Reason))
		}
		if c.Reproduce != "" {
			about("reproduce: %s", report.Prose(f, c.Reproduce))
		}
		for _, n := range notesOf(c) {
			about("%s", report.Prose(f, n))
		}
	}
	header := []string{"decision", "implementation", "input", "scope", "effect", "change in time", "once more",
		"base over itself", "between processes"}
	if err := report.Table(w, f, header, cells); err != nil {
		return err
	}
	for i, n := range notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if f == report.Markdown {
			n = "- " + n
		}
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}

// notesOf returns the notes about a cell.
func notesOf(c gate.CellResult) []string {
	var list []string
	if c.Settle > 0 {
		list = append(list, fmt.Sprintf("about --blocks %d would settle it", c.Settle))
	}
	return append(list, c.Notes...)
}

func describeProgram(p gate.Program) string {
	name := p.Name
	if name == "" {
		name = "nothing"
	}
	commit, dirty := strings.CutSuffix(p.Commit, "+dirty")
	mark := map[bool]string{true: "+dirty"}[dirty]
	switch {
	case commit == "" || commit == "unknown":
	case !strings.HasPrefix(commit, p.Name) || p.Name == "":
		name += fmt.Sprintf(" (%.12s%s)", commit, mark)
	case dirty:
		name += " (" + mark + ")"
	}
	return name
}

// noiseLine describes the measured noise of the machine.
func noiseLine(r *gate.Result) string {
	most, between := 0.0, 0.0
	for _, c := range r.Cells {
		if c.Noise != nil {
			most = max(most, c.Noise.Change, -c.Noise.Change)
		}
		between = max(between, c.Between)
	}
	if between == 0 {
		return ""
	}
	return fmt.Sprintf("Noise floor: the base over itself changes by at most %s, processes of one program "+
		"are %s apart or less.", quantity.Percent(most, 2), quantity.Percent(between, 2))
}

// inPercent formats an estimate with its 90 % interval: "+5.1 % [4.2, 6.0]".
func inPercent(e *gate.Estimate) string {
	if e == nil {
		return "—"
	}
	s := fmt.Sprintf("%+.1f %%", e.Change*100)
	if e.Lo != nil && e.Hi != nil {
		s += fmt.Sprintf(" [%.1f, %.1f]", *e.Lo*100, *e.Hi*100)
	}
	return s
}

// showProgress returns a function that shows a gate's progress as steps.
func showProgress(steps *cli.Steps) func(done, total int, side gate.Side, c gate.Cell) {
	return func(done, total int, side gate.Side, c gate.Cell) {
		steps.Show(done, total, fmt.Sprintf("%s %s, %s", c.Impl, c.Input, side))
	}
}
