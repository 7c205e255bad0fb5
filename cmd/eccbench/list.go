package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/batch"
)

func listCommand() subcommand {
	return subcommand{
		name: "list", brief: "list the implementations and the inputs",
		examples: []string{"eccbench list", "eccbench list --format json"},
		run:      (*command).list,
	}
}

func (c *command) list(args []string) error {
	var format string
	f := pflag.NewFlagSet("list", pflag.ContinueOnError)
	f.StringVar(&format, "format", "text", "text, md or json")
	if err := c.parse(listCommand(), f, args); err != nil {
		return err
	}
	style, err := report.ParseFormat(format)
	if err != nil || style == report.CSV {
		return usagef("--format %s: want text, md or json", format)
	}
	benches := c.benches()
	abouts := benches[0].Abouts()
	if batches, err := runner.Find(benches, batch.Name); err == nil { // those of batches alone
		for _, a := range batches.Abouts() {
			if !slices.ContainsFunc(abouts, func(b bench.About) bool { return a.Name == b.Name }) {
				abouts = append(abouts, a)
			}
		}
	}
	if style == report.JSON {
		e := json.NewEncoder(c.stdout)
		e.SetIndent("", "  ")
		return e.Encode(struct {
			Implementations []bench.About        `json:"implementations"`
			Inputs          []datasets.Generator `json:"inputs"`
		}{abouts, datasets.Generators()})
	}
	var rows [][]string
	for _, a := range abouts {
		var scopes []string
		for _, s := range a.Scopes {
			scopes = append(scopes, string(s))
		}
		rows = append(rows, []string{a.Name, a.Where, a.Method, strings.Join(scopes, " "), a.Source})
	}
	if err := report.Table(c.stdout, style, []string{"implementation", "where", "method", "scopes", "source"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(c.stdout)
	rows = nil
	for _, g := range datasets.Generators() {
		rows = append(rows, []string{g.Name, g.Doc, g.Example})
	}
	return report.Table(c.stdout, style, []string{"input", "what it is", "example"}, rows)
}
