package measure

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"eccbench/internal/cli"
	"eccbench/internal/report"
)

// Compare returns the command compare.
func Compare() cli.Subcommand {
	return cli.Subcommand{
		Name: "compare", Args: "A B", Brief: "compare two results files cell by cell, without judging",
		Examples: []string{
			"eccbench compare before.jsonl after.jsonl",
			"eccbench compare before.jsonl after.jsonl --format md",
		},
		Run: doCompare,
	}
}

func doCompare(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	format := f.String("format", "text", "text, md, json")
	if err := parse(); err != nil {
		return err
	}
	style, err := report.ParseFormat(*format)
	switch {
	case err != nil || style == report.CSV:
		return cli.Usagef("--format %s: want text, md or json", *format)
	case f.NArg() != 2:
		return cli.Usagef("compare wants two results files, not %d", f.NArg())
	}
	a, err := c.ReadRecords(f.Arg(0))
	if err != nil {
		return cli.Usage(err)
	}
	b, err := c.ReadRecords(f.Arg(1))
	if err != nil {
		return cli.Usage(err)
	}
	list := report.Compare(a, b)
	if err := report.Comparisons(c.Stdout, style, f.Arg(0), f.Arg(1), list); err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(r report.Comparison) bool { return r.Ratio > 0 }) {
		return cli.VerdictError{Code: cli.ExitInconclusive,
			Why: fmt.Sprintf("no cell of %s can be compared with one of %s", f.Arg(0), f.Arg(1))}
	}
	return nil
}
