package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"eccbench/datasets"
	"eccbench/datasets/files"
	"eccbench/internal/cli"
	"eccbench/internal/command/assess"
	"eccbench/internal/command/images"
	"eccbench/internal/command/measure"
	"eccbench/internal/gating"
	"eccbench/internal/remote"
	"eccbench/internal/report"
	"eccbench/internal/reproduce"
)

func subcommands() []cli.Subcommand {
	return []cli.Subcommand{
		measure.Run(), measure.Verify(), images.Curve(), images.Merge(), images.Levels(), images.Betti(), images.Pairs(),
		images.GVF(), images.Eigenmap(), images.Homology(), assess.Command(), measure.List(), measure.Doctor(),
		measure.Report(), reproduce.Command(), measure.Compare(), measure.Check(), gating.Command(),
		measure.Serve(), measure.Worker(),
	}
}

// eccbench runs the program and returns its exit code. Lost output is an error.
func eccbench(c *cli.Program, args []string) int {
	remote.Register(0)
	stdout := report.Visible(c.Stdout)
	stdout.Columns = 80
	c.Stdout, c.Stderr = stdout, report.Visible(c.Stderr)
	code := c.Fail(dispatch(c, args))
	if err := stdout.Err(); err != nil && code == cli.ExitOK {
		return c.Fail(fmt.Errorf("writing the output: %w", err))
	}
	return code
}

// dispatch runs the command that the arguments name.
func dispatch(c *cli.Program, args []string) error {
	if err := remote.Conceal(args); err != nil {
		return cli.Usagef("%w", err)
	}
	name := "run"
	switch {
	case len(args) == 0:
	case args[0] == "--version" || args[0] == "version":
		fmt.Fprintln(c.Stdout, cli.Version())
		return nil
	case args[0] == "--help" || args[0] == "-h":
		name, args = "help", nil
	case !strings.HasPrefix(args[0], "-"):
		name, args = args[0], args[1:]
	}
	if name == "help" && len(args) == 0 {
		help(c)
		return nil
	}
	if name == "help" { // "help COMMAND" means "COMMAND --help"
		name, args = args[0], []string{"--help"}
	}
	list := subcommands()
	i := slices.IndexFunc(list, func(s cli.Subcommand) bool { return s.Name == name })
	if i < 0 {
		return unknownCommand(name, list)
	}
	if !list[i].Conducts {
		defer cli.EndOnInterrupt(c.Stderr)()
	}
	return list[i].Do(c, args)
}

// otherCommands maps plausible but wrong names of commands to the right one.
var otherCommands = map[string]string{
	"ecc": "curve", "euler": "curve", "chi": "curve", "bench": "run", "benchmark": "run", "test": "verify",
	"diff": "compare", "flow": "gvf", "info": "levels", "range": "levels", "join": "merge", "implementations": "list",
	"plot": "report", "persistence": "pairs", "barcode": "pairs", "diagram": "pairs",
}

// unknownCommand returns the error of an unknown command name.
func unknownCommand(name string, list []cli.Subcommand) error {
	if _, err := os.Stat(name); err == nil || datasets.IsName(name) || files.IsImage(name) {
		return cli.Usagef("%s is an image and no command; for its curve: eccbench curve %s", name, name)
	}
	var names []string
	for _, s := range list {
		if !s.Hidden {
			names = append(names, s.Name)
		}
	}
	if like := cmp.Or(otherCommands[name], cli.Closest(name, names)); like != "" {
		return cli.Usagef("unknown command %q; did you mean eccbench %s?", name, like)
	}
	return cli.Usagef("unknown command %q; eccbench --help lists them", name)
}

func help(c *cli.Program) {
	fmt.Fprint(c.Stdout, `eccbench measures and verifies programs for image topology:
the Euler characteristic curve of 2D and 3D images, and other questions about
images (--workload). It prints no number without a verdict.

Usage:
  eccbench [run] [flags]
  eccbench COMMAND [flags]

Commands:
`)
	for _, s := range subcommands() {
		if !s.Hidden {
			fmt.Fprintf(c.Stdout, "  %-18s %s\n", strings.TrimSpace(s.Name+" "+s.Args), s.Brief)
		}
	}
	fmt.Fprint(c.Stdout, `  help COMMAND       show the flags of a command, and examples

Exit codes: 0 ok, 1 this machine failed, 10 regression, 11 wrong result,
12 crash or timeout, 13 inconclusive or interrupted, 14 baseline missing or
incompatible, 64 impossible arguments or input.

Examples:
  eccbench --sizes 64..256 --dim 3
  eccbench verify
  eccbench curve image.nii.gz
  eccbench COMMAND --help
  eccbench --version
`)
}
