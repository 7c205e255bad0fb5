package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Steps show the progress of steps with similar durations. A terminal shows a bar with the
// remaining time; otherwise a line is printed from time to time.
type Steps struct {
	w     io.Writer
	quiet bool
	start time.Time
	last  time.Time
	bar   *mpb.Bar // nil without a terminal
	Close func()   // removes the bar
}

// NewSteps starts the clock. The caller closes the Steps.
func NewSteps(w io.Writer, quiet bool) *Steps {
	p := &Steps{w: w, quiet: quiet, start: time.Now()}
	p.bar, p.Close = newBar(w, quiet, 0, decor.Any(func(s decor.Statistics) string {
		return " " + remainingTime(p.start, int(s.Current), int(s.Total))
	}))
	return p
}

// linePeriod is the time between two lines without a terminal.
const linePeriod = 10 * time.Second

// Show shows the number of finished steps and the name of the next one.
func (p *Steps) Show(done, total int, next string) {
	switch {
	case p.quiet:
	case p.bar != nil:
		p.bar.SetTotal(int64(total), false)
		p.bar.SetCurrent(int64(done))
	case time.Since(p.last) >= linePeriod:
		p.last = time.Now()
		fmt.Fprintf(p.w, "[%d/%d] %s: %s\n", done, total, remainingTime(p.start, done, total), next)
	}
}

// remainingTime extrapolates the remaining time from the finished steps.
func remainingTime(start time.Time, done, total int) string {
	if done == 0 {
		return "ETA unknown"
	}
	rest := time.Since(start) / time.Duration(done) * time.Duration(total-done)
	return "ETA " + rest.Round(time.Second).String()
}
