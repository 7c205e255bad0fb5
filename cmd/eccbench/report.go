package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/report"
)

func reportCommand() subcommand {
	return subcommand{
		name: "report", args: "FILE...", brief: "print the tables of results files again",
		examples: []string{"eccbench report r.jsonl --format md", "eccbench report r.jsonl --format gobench > r.txt"},
		run:      (*command).report,
	}
}

func (c *command) report(args []string) error {
	var format string
	f := pflag.NewFlagSet("report", pflag.ContinueOnError)
	f.StringVar(&format, "format", "text", "text, md, csv, json, or gobench for benchstat")
	if err := c.parse(reportCommand(), f, args); err != nil {
		return err
	}
	if f.NArg() == 0 {
		return usagef("report needs the results files to read")
	}
	var all bench.Records
	for _, path := range f.Args() {
		records, err := readRecords(path)
		if err != nil {
			return usageError{err}
		}
		all.Runs = append(all.Runs, records.Runs...)
		all.Cells = append(all.Cells, records.Cells...)
	}
	if format == "gobench" {
		return report.GoBench(c.stdout, all)
	}
	style, err := report.ParseFormat(format)
	if err != nil {
		return usagef("--format: %w, or gobench", err)
	}
	return report.Throughput(c.stdout, style, report.Rows(all.Cells, impls.Ceiling))
}

func readRecords(path string) (bench.Records, error) {
	file, err := os.Open(path)
	if err != nil {
		return bench.Records{}, fmt.Errorf("results %w", err)
	}
	defer file.Close()
	records, err := bench.ReadRecords(file)
	if err != nil {
		return records, fmt.Errorf("results %s: %w", path, err)
	}
	if len(records.Cells) == 0 {
		return records, fmt.Errorf("results %s: no cells in it", path)
	}
	return records, nil
}
