package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/runner"
)

// addImage adds the flags that describe an image whose values are asked about, not its levels.
func (a *answering) addImage(f *pflag.FlagSet) error {
	a.in.AddFile(f, nil, "element type of a raw file, as NumPy calls it: bool, integers from int8 to uint64, float16, float32, float64", "")
	return f.MarkHidden("levels")
}

// checkImage refuses what is not one image. why says what a command does not need levels for.
func (a *answering) checkImage(f *pflag.FlagSet, why string) error {
	switch {
	case f.Changed("levels"):
		return cli.Usagef("--levels: %s: leave it out", why)
	case a.in.Volume == everyVolume:
		return cli.Usagef("--volume all: want the number of one image")
	case f.NArg() != 1:
		return cli.Usagef("%s wants one image: a file, an input string or - for standard input; with --stack a folder or a pattern", f.Name())
	}
	return nil
}

// A wholeImage is one that was read whole.
type wholeImage struct {
	*grid.Field
	name, shown string // for programs and for people
	start       time.Time
}

// whole reads an image whole, after it made sure that the targets can be written and are none of
// the files that are read: its own and others.
func (a *answering) whole(c *cli.Program, input string, targets []cli.Target, others ...string) (w wholeImage, err error) {
	if w.name, err = a.in.Named(input); err != nil {
		return w, err
	}
	for _, t := range targets {
		if err := creatable(t.Path); err != nil {
			return w, err
		}
	}
	if err := cli.Apart(targets, append(datasets.Files(w.name), others...)...); err != nil {
		return w, err
	}
	w.start, w.shown = time.Now(), report.VisibleText(a.spooled.Shown(input))
	opened := c.Waiting("reading "+w.shown, a.quiet)
	defer func() {
		if opened(); err == nil {
			c.Missing(w.shown, w.Field, a.quiet)
		}
	}()
	w.Field, err = loadWhole(w.name)
	if a.in.Every && errors.As(err, new(*grid.NotFiniteError)) {
		a.in.Every = false // who lists the values counts all that are not
		if w.name, err = a.in.Named(input); err != nil {
			return w, err
		}
		w.Field, err = loadWhole(w.name)
	}
	return w, err
}

// loadWhole reads an image whole.
func loadWhole(name string) (*grid.Field, error) {
	src, err := ask.OpenMasked(runner.AvailableMemory(), name, "")
	if err != nil {
		return nil, cli.Usage(err)
	}
	defer grid.Close(src)
	if need, free := grid.TotalBytes(src), runner.AvailableMemory(); free > 0 && need > free {
		return nil, fmt.Errorf("%s takes %s of memory, %s are free; use a machine with more, or a part of the image", src.Shape(), quantity.Bytes(need), quantity.Bytes(free))
	}
	f, err := grid.Load(src)
	if err == nil {
		err = grid.Unchanged(src)
	}
	if err != nil {
		return nil, err
	}
	return f.Lacking(grid.Missing(src)), nil
}

// noted is the name of an image, and what its file lacks, as a line of what is written shows it.
func (a answering) noted(image wholeImage) string {
	if lacks := image.Missing(); lacks != "" {
		return a.named(image.name) + "; " + lacks
	}
	return a.named(image.name)
}

// chosen is the implementation that was asked for, or the first of some that takes an input,
// which is shown by a name.
func chosen[In, Out any](w bench.Workload[In, Out], asked, shown string, in In, conditions bench.Conditions, order ...string) (string, error) {
	if asked != "" {
		return asked, nil
	}
	impl, refusals := ask.Fastest(w, in, conditions, order...)
	if impl == "" {
		return "", fmt.Errorf("%s: no implementation takes it: %w", shown, errors.Join(refusals...))
	}
	return impl, nil
}

// ofWhole answers a question about an image that was read whole, by what was asked for or the
// first of some implementations that takes it, and has the answer confirmed. what names an
// answer: "field".
func ofWhole[In interface{ Check() error }, Out any](c *cli.Program, a answering, w bench.Workload[In, Out], image wholeImage, in In, what string, order ...string) (out ask.Answered[Out], err error) {
	if err := in.Check(); err != nil {
		return out, cli.Usagef("%s: %w", image.shown, err)
	}
	// Who confirms the answer takes about as much memory again.
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: a.threads}, Memory: runner.AvailableMemory() / 2}
	impl, err := chosen(w, a.impl, image.shown, in, conditions, order...)
	if err != nil {
		return out, err
	}
	done := c.Waiting("finding and checking the "+what, a.quiet)
	defer done()
	return ask.Answer(w, impl, image.name, in, conditions, a.budget, what)
}

// tell says what was confirmed of an image, and how long it took.
func tell[Out any](c *cli.Program, image wholeImage, confirmed string, a ask.Answered[Out], more string) {
	for _, m := range a.Measures {
		if !m.Aside {
			confirmed += ", " + m.String()
		}
	}
	fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: %s%s, %v\n", image.shown, image.Shape(), image.Type(), confirmed, more, quantity.Duration(time.Since(image.start)))
}
