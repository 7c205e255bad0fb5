package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/report"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

func curveCommand() subcommand {
	return subcommand{
		name: "curve", args: "FILE", brief: "print the verified Euler characteristic curve of an image",
		examples: []string{
			"eccbench curve scan.nii.gz",
			"eccbench curve scan.raw --shape 181x217x181 --type uint8 --all",
			"eccbench curve slices.tif --format json --plot curve.svg",
			"eccbench curve 'grf/shape=64x64x64/smooth=3/seed=1' --format euler",
		},
		run: (*command).curve,
	}
}

func (c *command) curve(args []string) error {
	in := inputFlags{}
	var format, plot, out, impl string
	var all bool
	var threads int
	var budget time.Duration
	f := pflag.NewFlagSet("curve", pflag.ContinueOnError)
	in.set = f
	f.BoolVar(&all, "all", false, "a row for every level, not only those where χ changes")
	f.StringVar(&format, "format", "csv", "csv, json, euler (\"value χ\" for every level), socg (\"value χ\" where χ changes)")
	f.StringVarP(&out, "out", "o", "", "write to this file in place of standard output")
	f.StringVar(&plot, "plot", "", "draw the curve to this SVG file too")
	f.StringVar(&in.shape, "shape", "", "shape of a raw file: WxH or WxHxD")
	f.StringSliceVar(&in.types, "type", nil, "element type of a raw file: uint8, int16, uint16, float32")
	f.Int64SliceVar(&in.levels, "levels", nil, "levels of a float32 image, evenly from its least value to its greatest (default its distinct values)")
	f.StringVar(&impl, "impl", "cpu", "implementation")
	f.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "cores")
	f.DurationVar(&budget, "time-limit", 20*time.Second, "time for the verification")
	if err := c.parse(curveCommand(), f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return usagef("curve wants one image file or input string, not %d", f.NArg())
	}
	if !slices.Contains(ecc.Formats(), ecc.Format(format)) {
		return usagef("--format %s: want csv, json, euler or socg", format)
	}
	if threads < 1 {
		return usagef("--threads %d: want at least 1", threads)
	}
	for _, path := range []string{plot, out} {
		if path != "" {
			if err := writable(path); err != nil {
				return err
			}
		}
	}
	name, err := in.named(f.Arg(0))
	if err != nil {
		return err
	}
	src, err := datasets.Open(name)
	if err != nil {
		return usageError{err}
	}
	defer grid.Close(src)
	v, err := c.answer(impl, name, src, threads, budget)
	if err != nil {
		return err
	}
	if plot != "" {
		if err := writeFile(plot, func(w *os.File) error { return plotCurve(w, name, src, v) }); err != nil {
			return err
		}
	}
	if out != "" {
		return writeFile(out, func(w *os.File) error { return ecc.Write(w, ecc.Format(format), name, src, v, all) })
	}
	if err := ecc.Write(c.stdout, ecc.Format(format), name, src, v, all); err != nil {
		return fmt.Errorf("writing the curve: %w", err)
	}
	return nil
}

// answer computes a curve by one implementation and checks it; a curve that no
// witness confirms is an error.
func (c *command) answer(impl, name string, src grid.Source, threads int, budget time.Duration) (ecc.VCEC, error) {
	w := impls.Workload(c.impls)
	i := slices.IndexFunc(w.Impls, func(i bench.Implementation[grid.Source, ecc.VCEC]) bool { return i.About().Name == impl })
	if i < 0 {
		return nil, usagef("--impl %s: no such implementation; eccbench list names them", impl)
	}
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}}
	ask := func(in grid.Source) (ecc.VCEC, error) {
		if err := w.Impls[i].CanDo(in, conditions); err != nil {
			return nil, fmt.Errorf("%s refuses %s: %w", impl, name, err)
		}
		job, err := w.Impls[i].Setup(in, conditions)
		if err != nil {
			return nil, err
		}
		defer job.Close()
		job.Poison()
		if err := job.Do(nil); err != nil {
			return nil, err
		}
		return job.Out()
	}
	start := time.Now()
	v, err := ask(src)
	if err != nil {
		return nil, err
	}
	evidence := w.Policy.Check(verify.Question[grid.Source, ecc.VCEC]{
		Name: name, In: src, Out: v, Ask: ask, PerCall: time.Since(start), Budget: budget, Thorough: true,
	})
	switch verdict := verify.Judge([]string{name}, evidence); verdict.Status {
	case verify.Verified:
		return v, nil
	case verify.Wrong:
		return nil, verdictError{exitWrong, fmt.Sprintf("the curve by %s is WRONG and is not printed: %s", impl, verdict.Reason)}
	default:
		return nil, verdictError{exitInconclusive, fmt.Sprintf("the curve by %s is %s and is not printed: %s; a longer --time-limit may help", impl, verdict.Status, verdict.Reason)}
	}
}

func plotCurve(w io.Writer, name string, src grid.Source, v ecc.VCEC) error {
	var x, y []float64
	err := ecc.Lines(v, src.Ladder(), false, func(l ecc.Line) error {
		x, y = append(x, float64(l.Level)), append(y, float64(l.Chi))
		return nil
	})
	if err != nil {
		return err
	}
	title := name
	if _, path, ok := strings.Cut(name, "path="); ok {
		title = path
	}
	return report.Steps(w, title, "level t", "χ of the sublevel set", report.Step{X: x, Y: y})
}
