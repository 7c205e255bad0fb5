package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// A following shows the progress of a question to the user, unless it is quiet.
type following struct {
	*Program
	quiet bool
}

// Following returns a follower that shows the progress of a question to the user.
func (c *Program) Following(quiet bool) ask.Follower { return following{c, quiet} }

func (f following) Waiting(what string) func() { return f.Program.Waiting(what, f.quiet) }

func (f following) Reading(s grid.Source, times int64) (grid.Source, func()) {
	return f.Program.Reading(s, times, f.quiet)
}

func (f following) Missing(shown string, s grid.Source) string {
	return f.Program.Missing(shown, s, f.quiet)
}

// muchMemory is the least memory of an answer that ShowMemory reports.
const muchMemory = 1 << 28

func (f following) ShowMemory(shown string, need, free int64) {
	f.Program.ShowMemory(shown, need, free, f.quiet)
}

// longCheck is the least time of a check that Checks reports.
const longCheck = time.Minute

// Checks prints the estimated time of the check of an answer, if it is at least longCheck.
func (f following) Checks(shown string, estimate time.Duration) {
	if estimate >= longCheck && !f.quiet {
		fmt.Fprintf(f.Stderr, "eccbench: %s: checking the answer takes about %s\n", shown, quantity.Duration(estimate))
	}
}

// ShowMemory prints the memory that an answer takes, if it is at least muchMemory.
func (c *Program) ShowMemory(shown string, need, free int64, quiet bool) {
	if need >= muchMemory && !quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s: takes about %s of memory, %s are free\n",
			shown, quantity.Bytes(need), quantity.Bytes(free))
	}
}

// Missing prints which parts of an image its file lacks, once per message. It returns the text for
// the image's provenance.
func (c *Program) Missing(shown string, s grid.Source, quiet bool) string {
	lacks := grid.Missing(s)
	if lacks == "" || quiet {
		return lacks
	}
	line := fmt.Sprintf("eccbench: %s: %s\n", shown, lacks)
	if _, printed := c.lacking.LoadOrStore(line, nil); !printed {
		io.WriteString(c.Stderr, line)
	}
	return lacks
}

// Reading wraps a source so that a terminal shows the progress of reading it the given number of
// times. end removes the bar.
func (c *Program) Reading(s grid.Source, times int64, quiet bool) (read grid.Source, end func()) {
	file, ok := terminal(c.Stderr)
	if _, whole := s.(*grid.Field); whole || !ok || quiet || grid.Period(s) > 0 {
		return s, func() {}
	}
	bars := mpb.New(mpb.WithOutput(file), mpb.WithAutoRefresh())
	bar := bars.AddBar(times*s.Shape().Slices(),
		mpb.PrependDecorators(decor.Percentage()), mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)),
		mpb.BarRemoveOnComplete())
	return &followed{s, bar}, func() {
		bar.Abort(true)
		bars.Wait()
	}
}

// Waiting shows a message on a terminal until end removes it.
func (c *Program) Waiting(what string, quiet bool) (end func()) {
	file, ok := terminal(c.Stderr)
	if !ok || quiet {
		return func() {}
	}
	bars := mpb.New(mpb.WithOutput(file), mpb.WithAutoRefresh())
	bar := bars.New(1, mpb.SpinnerStyle(), mpb.AppendDecorators(decor.Name(what+" "), decor.Elapsed(decor.ET_STYLE_GO)),
		mpb.BarRemoveOnComplete())
	return func() {
		bar.Abort(true)
		bars.Wait()
	}
}

type followed struct {
	grid.Source
	bar *mpb.Bar
}

func (f *followed) ReadSlab(dst []byte, lo, hi int64) error {
	err := f.Source.ReadSlab(dst, lo, hi)
	f.bar.IncrInt64(hi - lo)
	return err
}

// InBulk reports the same as the source does.
func (f *followed) InBulk() bool { return grid.InBulk(f.Source) }
