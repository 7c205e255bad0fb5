package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"eccbench/internal/gate"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// printGate prints a result: the verdict and the noise first, then the cells,
// then what they cannot say in a word.
func printGate(w io.Writer, f report.Format, r *gate.Result) error {
	strong := func(s string) string { return s }
	if f == report.Markdown {
		strong = func(s string) string { return "**" + s + "**" }
	}
	fmt.Fprintf(w, "%s: %s.\n\n", strong(string(r.Verdict)), r.Reason)
	fmt.Fprintf(w, "%s against %s: %d blocks, %d processes, %s, order seed %d.\n", describeProgram(r.Candidate), describeProgram(r.Base),
		r.Protocol.Blocks, len(r.Processes), quantity.Duration(quantity.Seconds(r.Elapsed)), r.Seed)
	if r.Stored != nil {
		fmt.Fprintf(w, "The base was measured on %s: what drifted since then is in the change.\n", r.Stored.Format("2006-01-02 15:04 MST"))
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
			inPercent(c.Change), inPercent(c.Second), inPercent(c.Noise), share(c.Between),
		})
		about := func(format string, args ...any) {
			notes = append(notes, fmt.Sprintf("%s %s: ", c.Impl, c.Input)+fmt.Sprintf(format, args...))
		}
		if c.Reason != "" {
			about("%s: %s", c.Decision, c.Reason)
		}
		if c.Reproduce != "" {
			about("reproduce: %s", c.Reproduce)
		}
		for _, n := range notesOf(c) {
			about("%s", n)
		}
	}
	header := []string{"decision", "implementation", "input", "scope", "effect", "change in time", "once more", "base over itself", "between processes"}
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

// notesOf is what else is to be said of a cell.
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
	if p.Commit != "" && p.Commit != "unknown" && !strings.HasPrefix(p.Commit, p.Name) {
		name += fmt.Sprintf(" (%.12s)", p.Commit)
	}
	return name
}

// noiseLine says what the machine makes of no change at all.
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
	return fmt.Sprintf("Noise floor: the base over itself changes by at most %s, processes of one program are %s apart or less.", share(most), share(between))
}

// inPercent prints an estimate with its 90 % interval: "+5.1 % [4.2, 6.0]".
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

func share(v float64) string {
	if v == 0 {
		return "—"
	}
	return quantity.Significant(v*100, 2) + " %"
}

// gateProgress shows how far a gate is: a bar with the time left on a terminal,
// else a line now and then.
type gateProgress struct {
	w     io.Writer
	quiet bool
	start time.Time
	last  time.Time
	bars  *mpb.Progress
	bar   *mpb.Bar
}

func newGateProgress(w io.Writer, quiet bool) *gateProgress {
	p := &gateProgress{w: w, quiet: quiet, start: time.Now()}
	if file, ok := w.(*os.File); ok && !quiet && term.IsTerminal(int(file.Fd())) {
		p.bars = mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh())
		p.bar = p.bars.AddBar(0, mpb.PrependDecorators(decor.Percentage()),
			mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string { return " " + left(p.start, int(s.Current), int(s.Total)) })),
			mpb.BarRemoveOnComplete())
	}
	return p
}

// every is how often a line is printed where there is no terminal.
const every = 10 * time.Second

func (p *gateProgress) show(done, total int, side gate.Side, c gate.Cell) {
	switch {
	case p.quiet:
	case p.bar != nil:
		p.bar.SetTotal(int64(total), false)
		p.bar.SetCurrent(int64(done))
	case time.Since(p.last) >= every:
		p.last = time.Now()
		fmt.Fprintf(p.w, "[%d/%d] %s: %s %s, %s\n", done, total, left(p.start, done, total), c.Impl, c.Input, side)
	}
}

// left is the time that the rest takes if it goes on like this.
func left(start time.Time, done, total int) string {
	if done == 0 {
		return "ETA unknown"
	}
	rest := time.Since(start) / time.Duration(done) * time.Duration(total-done)
	return "ETA " + rest.Round(time.Second).String()
}

func (p *gateProgress) close() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}
