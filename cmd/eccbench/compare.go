package main

import (
	"github.com/spf13/pflag"

	"eccbench/internal/report"
)

func compareCommand() subcommand {
	return subcommand{
		name: "compare", args: "A B", brief: "compare two results files cell by cell, without judging",
		examples: []string{
			"eccbench compare before.jsonl after.jsonl",
			"eccbench compare before.jsonl after.jsonl --format md",
		},
		run: (*command).compare,
	}
}

func (c *command) compare(args []string) error {
	f := pflag.NewFlagSet("compare", pflag.ContinueOnError)
	format := f.String("format", "text", "text, md, json")
	if err := c.parse(compareCommand(), f, args); err != nil {
		return err
	}
	style, err := report.ParseFormat(*format)
	switch {
	case err != nil || style == report.CSV:
		return usagef("--format %s: want text, md or json", *format)
	case f.NArg() != 2:
		return usagef("compare wants two results files, not %d", f.NArg())
	}
	a, err := readRecords(f.Arg(0))
	if err != nil {
		return usageError{err}
	}
	b, err := readRecords(f.Arg(1))
	if err != nil {
		return usageError{err}
	}
	return report.Comparisons(c.stdout, style, f.Arg(0), f.Arg(1), report.Compare(a, b))
}
