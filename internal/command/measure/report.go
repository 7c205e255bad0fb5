package measure

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/report"
)

// Report returns the command report.
func Report() cli.Subcommand {
	return cli.Subcommand{
		Name: "report", Args: "FILE...", Brief: "print tables and plots of results files",
		Examples: []string{
			"eccbench report r.jsonl --format md",
			"eccbench report r.jsonl --format md --plots plots > r.md",
			"eccbench report r.jsonl --html r.html",
			"eccbench report --gate gate.json --html gate.html",
			"eccbench report r.jsonl --machine",
			"eccbench report r.jsonl --spans --cells '^chunked .*shape=512x512x512'",
			"eccbench report r.jsonl --memory",
			"eccbench report r.jsonl --verdicts --format md",
			"eccbench report r.jsonl --format gobench > r.txt",
		},
		Run: doReport,
	}
}

// A reportJob is a parsed report command.
type reportJob struct {
	format, plots, html, gated, about string
	machine, spans, memory, verdicts  bool
	style                             report.Format
}

func (j *reportJob) add(f *pflag.FlagSet) {
	f.StringVar(&j.format, "format", "text", "text, md, csv, json, or gobench for benchstat")
	f.StringVar(&j.plots, "plots", "", "draw each table of two or more sizes as SVG to this `DIR`; md links to them")
	f.StringVar(&j.html, "html", "",
		"write one self-contained page to this `FILE`; for two files with common cells it has the ratios")
	f.StringVar(&j.gated, "gate", "", "with --html: add the results of this gate.json `FILE`")
	f.StringVar(&j.about, "cells", "", "only cells whose \"IMPLEMENTATION INPUT SCOPE\" matches this `REGEXP`")
	f.BoolVar(&j.machine, "machine", false, "print the hardware and program of the runs")
	f.BoolVar(&j.spans, "spans", false, "print the parts of a call and how they overlap")
	f.BoolVar(&j.memory, "memory", false, "print the host and device memory of each cell")
	f.BoolVar(&j.verdicts, "verdicts", false, "count the inputs by status, and list failures, as verify does")
}

// check rejects impossible flags, and sets the style.
func (j *reportJob) check(f *pflag.FlagSet) (err error) {
	others := 0
	for _, asked := range []bool{j.machine, j.spans, j.memory, j.verdicts} {
		if asked {
			others++
		}
	}
	if j.html != "" {
		if f.Changed("format") || j.plots != "" || others > 0 || j.about != "" {
			return cli.Usagef("--html is a format of its own: it goes with --gate alone")
		}
		return nil
	}
	j.style, err = report.ParseFormat(j.format)
	tables := j.style == report.Text || j.style == report.Markdown
	switch {
	case j.gated != "":
		return cli.Usagef("--gate goes with --html; gate prints its result itself")
	case f.NArg() == 0:
		return cli.Usagef("report needs the results files to read")
	case err != nil && j.format != "gobench":
		return cli.Usagef("--format: %w, or gobench", err)
	case others > 1:
		return cli.Usagef("--machine, --spans, --memory and --verdicts: give one of them")
	case others > 0 && j.plots != "":
		return cli.Usagef("--machine, --spans, --memory and --verdicts have no plots")
	case (others > 0 || j.plots != "") && !tables:
		return cli.Usagef("--format %s: --machine, --spans, --memory, --verdicts and --plots go with text or md", j.format)
	}
	return nil
}

func doReport(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j reportJob
	j.add(f)
	if err := parse(); err != nil {
		return err
	}
	if err := j.check(f); err != nil {
		return err
	}
	if j.html != "" {
		return page(c, j.html, j.gated, f.Args())
	}
	chosen, err := regexp.Compile(j.about)
	if err != nil {
		return cli.Usagef("--cells: %w", err)
	}
	all, err := c.ReadAllRecords(f.Args())
	if err != nil {
		return err
	}
	// The ratios of a row refer to all rows, chosen or not.
	rows := slices.DeleteFunc(report.Rows(all, impls.Ceiling), func(r report.Row) bool {
		return !chosen.MatchString(cli.CellText(r.Impl, r.Input, r.Scope))
	})
	all.Cells = slices.DeleteFunc(all.Cells, func(c bench.CellRecord) bool {
		return !chosen.MatchString(cli.CellText(c.Impl, c.Input, c.Scope))
	})
	if len(rows) == 0 {
		return cli.Usagef("--cells %s: none of the cells", j.about)
	}
	switch {
	case j.spans:
		return report.Spans(c.Stdout, j.style, all.Cells)
	case j.verdicts:
		return report.Verdicts(c.Stdout, j.style, all.Cells)
	case j.memory:
		return report.Memory(c.Stdout, j.style, all.Cells)
	case j.format == "gobench":
		return goBench(c, c.Stdout, all)
	case j.machine:
		return report.Machines(c.Stdout, j.style, all)
	case j.plots == "":
		return report.Throughput(c.Stdout, j.style, rows)
	}
	figures, err := report.Figures(rows, impls.Ceiling)
	if err != nil {
		return err
	}
	if err := draw(j.plots, figures, f.Args()); err != nil {
		return err
	}
	return report.Throughput(c.Stdout, j.style, rows, figures...)
}

// goBench writes records in the Go benchmark format and prints which rows it leaves out.
func goBench(c *cli.Program, w io.Writer, all bench.Records) error {
	if left := report.LeftOut(all); left != "" {
		fmt.Fprintf(c.Stderr, "eccbench: the Go benchmark format has VERIFIED numbers alone: left out are %s\n", left)
	}
	return report.GoBench(report.Visible(w), all)
}

// draw writes the figures to a folder, which it makes if necessary, and sets their links.
func draw(dir string, figures []report.Figure, inputs []string) error {
	for _, g := range figures {
		if err := cli.CheckTargets([]cli.Target{{Flag: "--plots", Path: filepath.Join(dir, g.File)}}, inputs...); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return cli.Usagef("--plots: %w", err)
	}
	for i, g := range figures {
		path := filepath.Join(dir, g.File)
		err := cli.WriteFile(path, func(w *os.File) error {
			_, err := report.Visible(w).Write(g.SVG)
			return err
		})
		if err != nil {
			return err
		}
		figures[i].Link = strings.ReplaceAll(filepath.ToSlash(path), " ", "%20")
	}
	return nil
}
