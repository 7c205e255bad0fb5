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

// Following returns a follower that shows the progress of a question to the user, or errors alone if quiet.
func (c *Program) Following(quiet bool) ask.Follower { return following{c, quiet} }

type following struct {
	*Program
	quiet bool
}

// muchMemory is the least memory of an answer that ShowMemory reports.
const muchMemory = 1 << 28

// ShowMemory prints the memory that an answer takes, if it is at least muchMemory.
func (f following) ShowMemory(shown string, need, free int64) {
	if need >= muchMemory && !f.quiet {
		fmt.Fprintf(f.Stderr, "eccbench: %s: takes about %s of memory, %s are free\n",
			shown, quantity.Bytes(need), quantity.Bytes(free))
	}
}

// longAnswer is the least time of an answer that Takes reports.
const longAnswer = 30 * time.Second

// Takes prints the estimated time of an answer and its check, if it is at least longAnswer.
func (f following) Takes(shown string, estimate time.Duration) {
	if estimate >= longAnswer && !f.quiet {
		fmt.Fprintf(f.Stderr, "eccbench: %s: the answer and its check take about %s, on an idle machine less\n", shown,
			quantity.Duration(estimate))
	}
}

// Missing prints which parts of an image its file lacks, once per message. It returns the text for
// the image's provenance.
func (f following) Missing(shown string, s grid.Source) string {
	lacks := grid.Missing(s)
	if lacks == "" || f.quiet {
		return lacks
	}
	line := fmt.Sprintf("eccbench: %s: %s\n", shown, lacks)
	if _, printed := f.lacking.LoadOrStore(line, nil); !printed {
		io.WriteString(f.Stderr, line)
	}
	return lacks
}

// Reading wraps a source so that a terminal shows the progress of reading it the given number of
// times. end removes the bar.
func (f following) Reading(s grid.Source, times int64) (read grid.Source, end func()) {
	if _, whole := s.(*grid.Field); whole || grid.Period(s) > 0 {
		return s, func() {}
	}
	bar, end := newBar(f.Stderr, f.quiet, times*s.Shape().Slices(), decor.AverageETA(decor.ET_STYLE_GO))
	if bar == nil {
		return s, end
	}
	return &followed{s, bar}, end
}

// Waiting shows a message on a terminal until end removes it.
func (f following) Waiting(what string) (end func()) {
	_, end = onTerminal(f.Stderr, f.quiet, func(bars *mpb.Progress) *mpb.Bar {
		return bars.New(1, mpb.SpinnerStyle(), mpb.AppendDecorators(decor.Name(what+" "), decor.Elapsed(decor.ET_STYLE_GO)),
			mpb.BarRemoveOnComplete())
	})
	return end
}

// newBar shows a percentage with decorators on a terminal until end. Without a terminal, or if quiet, the bar is nil.
func newBar(w io.Writer, quiet bool, total int64, after ...decor.Decorator) (bar *mpb.Bar, end func()) {
	return onTerminal(w, quiet, func(bars *mpb.Progress) *mpb.Bar {
		return bars.AddBar(total, mpb.PrependDecorators(decor.Percentage()), mpb.AppendDecorators(after...),
			mpb.BarRemoveOnComplete())
	})
}

func onTerminal(w io.Writer, quiet bool, add func(*mpb.Progress) *mpb.Bar) (bar *mpb.Bar, end func()) {
	file, ok := terminal(w)
	if !ok || quiet {
		return nil, func() {}
	}
	bars := mpb.New(mpb.WithOutput(file), mpb.WithAutoRefresh())
	bar = add(bars)
	return bar, func() {
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
