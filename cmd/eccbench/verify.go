package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/report"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

func verifyCommand() subcommand {
	return subcommand{
		name: "verify", brief: "check implementations on the adversarial inputs, or on given ones, without timing",
		examples: []string{
			"eccbench verify",
			"eccbench verify --impl cpu --long --time-limit 10m",
			"eccbench verify --impl cpu --input 'noise/shape=31x17x13/levels=256/type=uint8/seed=7'",
		},
		run: (*command).verify,
	}
}

func (c *command) verify(args []string) error {
	var limit limitFlags
	var inputs []string
	var long, evidence bool
	var format string
	f := pflag.NewFlagSet("verify", pflag.ContinueOnError)
	limit.add(f)
	f.StringArrayVar(&inputs, "input", nil, "an input string or an image file in place of the adversarial inputs; repeatable")
	f.BoolVar(&long, "long", false, "also inputs of more than 2²⁴ components and 2³¹ voxels")
	f.BoolVar(&evidence, "evidence", false, "list what every witness said")
	f.StringVar(&format, "format", "text", "table format: text, md")
	if err := c.parse(verifyCommand(), f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usagef("unexpected argument %q; inputs are given with --input", f.Arg(0))
	}
	style, err := report.ParseFormat(format)
	if err != nil || style != report.Text && style != report.Markdown {
		return usagef("--format %s: want text or md", format)
	}
	var names []string
	choice := inputFlags{set: f}
	for _, in := range inputs {
		name, err := choice.named(in)
		if err != nil {
			return err
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		names = ecc.Adversarial()
	}
	if long {
		names = append(names, ecc.Long()...)
	}
	p, err := limit.plan(c, impls.ECC, names)
	if err != nil {
		return err
	}
	weights, err := weigh(p)
	if err != nil {
		return err
	}
	var cells []bench.CellRecord
	interrupted, err := c.conduct(weights, limit.quiet, func(cell bench.CellRecord) error {
		cells = append(cells, cell)
		return nil
	}, p)
	if err != nil {
		return err
	}
	if err := c.printVerdicts(style, p.Impls, cells, evidence); err != nil {
		return err
	}
	if interrupted {
		return verdictError{exitInconclusive, "interrupted: what had ended by then is above"}
	}
	return verdict(cells)
}

// printVerdicts prints how many inputs each implementation answered how, then
// every answer that was not verified with what shows it.
func (c *command) printVerdicts(style report.Format, impls []string, cells []bench.CellRecord, evidence bool) error {
	statuses := []verify.Status{verify.Verified, verify.Wrong, verify.Unverified, verify.Skipped, verify.Crashed, verify.Timeout}
	header := []string{"implementation", "inputs", "witnesses"}
	for _, s := range statuses {
		header = append(header, string(s))
	}
	var table [][]string
	for _, impl := range impls {
		inputs, witnesses := 0, 0
		count := map[verify.Status]int{}
		for _, cell := range cells {
			if cell.Impl != impl {
				continue
			}
			inputs++
			count[cell.Status]++
			for _, e := range cell.Evidence {
				if e.Passed {
					witnesses++
				}
			}
		}
		line := []string{impl, fmt.Sprint(inputs), fmt.Sprint(witnesses)}
		for _, s := range statuses {
			line = append(line, fmt.Sprint(count[s]))
		}
		table = append(table, line)
	}
	if err := report.Table(c.stdout, style, header, table); err != nil {
		return err
	}
	said := map[string]bool{}
	for _, cell := range cells {
		switch reason := fmt.Sprintf("%s: %s: %s", cell.Impl, cell.Status, cell.Reason); {
		case cell.Status == verify.Verified:
		case cell.Status == verify.Skipped && !said[reason]: // once for all inputs
			said[reason] = true
			fmt.Fprintf(c.stdout, "\n%s\n", reason)
		case cell.Status != verify.Skipped:
			fmt.Fprintf(c.stdout, "\n%s %s: %s: %s\n", cell.Impl, cell.Input, cell.Status, cell.Reason)
			for _, e := range cell.Evidence {
				if e.Diff != nil && e.Diff.Context != "" {
					fmt.Fprintf(c.stdout, "  %s\n", strings.ReplaceAll(e.Diff.Context, "\n", "\n  "))
				}
			}
			if cell.Reproduce != "" {
				fmt.Fprintf(c.stdout, "  reproduce: %s\n", cell.Reproduce)
			}
		}
		if evidence {
			fmt.Fprintf(c.stdout, "\n%s %s\n", cell.Impl, cell.Input)
			for _, e := range cell.Evidence {
				fmt.Fprintf(c.stdout, "  %s\n", e)
			}
		}
	}
	return nil
}
