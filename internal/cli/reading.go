package cli

import (
	"fmt"
	"io"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"eccbench/internal/grid"
)

// Digested is a source that is hashed as it is read, and what gives the hash then: none of
// an image that repeats itself, whose name says all and of which little is read. That fails if a
// file changed while it was read.
func Digested(s grid.Source) (read grid.Source, sum func() (string, error)) {
	if grid.Period(s) > 0 {
		return s, func() (string, error) { return "", nil }
	}
	d := grid.NewDigester(s)
	sum = func() (string, error) {
		if err := grid.Unchanged(s); err != nil {
			return "", err
		}
		return d.Sum()
	}
	if _, whole := s.(*grid.Field); whole {
		return s, sum
	}
	return d, sum
}

// Missing prints what the file of an image lacks, once, and returns it for the image's provenance.
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

// Reading is a source that shows on a terminal how far it is read, so many times; end takes
// the bar away.
func (c *Program) Reading(s grid.Source, times int64, quiet bool) (read grid.Source, end func()) {
	file, ok := terminal(c.Stderr)
	if _, whole := s.(*grid.Field); whole || !ok || quiet || grid.Period(s) > 0 {
		return s, func() {}
	}
	bars := mpb.New(mpb.WithOutput(file), mpb.WithAutoRefresh())
	bar := bars.AddBar(times*s.Shape().Slices(),
		mpb.PrependDecorators(decor.Percentage()), mpb.AppendDecorators(decor.AverageETA(decor.ET_STYLE_GO)), mpb.BarRemoveOnComplete())
	return &followed{s, bar}, func() {
		bar.Abort(true)
		bars.Wait()
	}
}

// Waiting shows on a terminal what goes on until end takes it away.
func (c *Program) Waiting(what string, quiet bool) (end func()) {
	file, ok := terminal(c.Stderr)
	if !ok || quiet {
		return func() {}
	}
	bars := mpb.New(mpb.WithOutput(file), mpb.WithAutoRefresh())
	bar := bars.New(1, mpb.SpinnerStyle(), mpb.AppendDecorators(decor.Name(what+" "), decor.Elapsed(decor.ET_STYLE_GO)), mpb.BarRemoveOnComplete())
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

// InBulk is that of the source.
func (f *followed) InBulk() bool { return grid.InBulk(f.Source) }
