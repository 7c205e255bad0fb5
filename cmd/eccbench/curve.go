package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/report"
	"eccbench/internal/workloads/ecc"
)

func curveCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "curve", Args: "FILE", Brief: "print the verified Euler characteristic curve of an image",
		Examples: []string{
			"eccbench curve scan.nii.gz",
			"eccbench curve scan.raw --shape 181x217x181 --type uint8 --all",
			"eccbench curve slices.tif --format json --plot curve.svg",
			"eccbench curve 'grf/shape=64x64x64/smooth=3/seed=1' --format euler",
		},
		Run: doCurve,
	}
}

func doCurve(c *cli.Program, args []string) error {
	in := cli.Inputs{}
	var format, plot, out, impl string
	var all bool
	var threads int
	var budget time.Duration
	f := pflag.NewFlagSet("curve", pflag.ContinueOnError)
	f.BoolVar(&all, "all", false, "a row for every level, not only those where χ changes")
	f.StringVar(&format, "format", "csv", "csv, json, euler (\"value χ\" for every level), socg (\"value χ\" where χ changes)")
	f.StringVarP(&out, "out", "o", "", "write to this file in place of standard output")
	f.StringVar(&plot, "plot", "", "draw the curve to this file too, SVG")
	in.AddFile(f, nil, "element type of a raw file: uint8, int16, uint16, float32", "levels of a float32 image, evenly from its least value to its greatest (default its distinct values)")
	f.StringVar(&impl, "impl", "cpu", "implementation")
	f.IntVar(&threads, "threads", runtime.GOMAXPROCS(0), "cores")
	f.DurationVar(&budget, "time-limit", 20*time.Second, "time for the verification")
	if err := c.Parse(curveCommand(), f, args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		return cli.Usagef("curve wants one image file or input string, not %d", f.NArg())
	}
	if !slices.Contains(ecc.Formats(), ecc.Format(format)) {
		return cli.Usagef("--format %s: want csv, json, euler or socg", format)
	}
	if threads < 1 {
		return cli.Usagef("--threads %d: want at least 1", threads)
	}
	if plot != "" && !strings.EqualFold(filepath.Ext(plot), ".svg") {
		return cli.Usagef("--plot %s: plots are SVG, want a name that ends in .svg", plot)
	}
	for _, path := range []string{plot, out} {
		if path != "" {
			if err := cli.Writable(path); err != nil {
				return err
			}
		}
	}
	name, err := in.Named(f.Arg(0))
	if err != nil {
		return err
	}
	if err := cli.Apart([]cli.Target{{Flag: "--out", Path: out}, {Flag: "--plot", Path: plot}}, datasets.Files(name)...); err != nil {
		return err
	}
	src, err := datasets.Open(name)
	if err != nil {
		return cli.Usage(err)
	}
	defer grid.Close(src)
	v, err := cli.Answer(c.Curve, impl, name, src, threads, budget, "curve")
	if err != nil {
		return err
	}
	if plot != "" {
		if err := cli.WriteFile(plot, func(w *os.File) error { return plotCurve(report.Visible(w), name, src, v) }); err != nil {
			return err
		}
	}
	if out != "" {
		return cli.WriteFile(out, func(w *os.File) error { return ecc.Write(report.Visible(w), ecc.Format(format), name, src, v, all) })
	}
	if err := ecc.Write(c.Stdout, ecc.Format(format), name, src, v, all); err != nil {
		return fmt.Errorf("writing the curve: %w", err)
	}
	return nil
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
	title, path, _ := strings.Cut(name, "/path=")
	if strings.HasPrefix(name, "file/") {
		title = filepath.Base(path)
	}
	return report.Steps(w, title, "level t", "χ of the sublevel set", report.Step{X: x, Y: y})
}
