package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
)

// Exit codes.
const (
	exitOK           = 0
	exitFailure      = 1  // this machine failed: a full disk, no memory to share
	exitWrong        = 11 // an implementation answered wrongly
	exitCrash        = 12 // a worker crashed or ran out of time
	exitInconclusive = 13 // interrupted, or numbers that cannot be
	exitBaseline     = 14 // a stored baseline that is missing or of something else
	exitUsage        = 64 // impossible arguments or input
)

// A command is one invocation of the program.
type command struct {
	impls          []bench.Implementation[grid.Source, ecc.VCEC]
	open           resident.Opener
	worker         []string // how to start a worker
	stdin          io.Reader
	stdout, stderr io.Writer
	clock          runner.Clock // nil but in tests
}

// A subcommand is a verb with its help.
type subcommand struct {
	name, args, brief string
	examples          []string
	hidden            bool
	run               func(c *command, args []string) error
}

func subcommands() []subcommand {
	return []subcommand{runCommand(), verifyCommand(), curveCommand(), listCommand(), doctorCommand(), reportCommand(), paperCommand(), compareCommand(), gateCommand(), workerCommand()}
}

// A usageError is what was wrong with the arguments or the input.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// A verdictError ends the program with an exit code when all has been printed.
type verdictError struct {
	code int
	why  string
}

func (e verdictError) Error() string { return e.why }

// eccbench runs the program and returns its exit code.
func (c *command) eccbench(args []string) int {
	name := "run"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	} else if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
		c.help()
		return exitOK
	}
	if name == "help" {
		c.help()
		return exitOK
	}
	list := subcommands()
	i := slices.IndexFunc(list, func(s subcommand) bool { return s.name == name })
	if i < 0 {
		return c.fail(usagef("unknown command %q; eccbench --help lists them", name))
	}
	return c.fail(list[i].run(c, args))
}

// fail prints an error on one line and returns its exit code.
func (c *command) fail(err error) int {
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintln(c.stderr, "eccbench:", strings.ReplaceAll(err.Error(), "\n", "; "))
	var verdict verdictError
	var usage usageError
	switch {
	case errors.As(err, &verdict):
		return verdict.code
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailure
}

func (c *command) help() {
	fmt.Fprint(c.stdout, `eccbench measures and verifies implementations of the Euler characteristic
curve of 2D and 3D images. It prints no number without a verdict.

Usage:
  eccbench [run] [flags]
  eccbench COMMAND [flags]

Commands:
`)
	for _, s := range subcommands() {
		if !s.hidden {
			fmt.Fprintf(c.stdout, "  %-18s %s\n", strings.TrimSpace(s.name+" "+s.args), s.brief)
		}
	}
	fmt.Fprint(c.stdout, `
Exit codes: 0 ok, 1 this machine failed, 10 regression, 11 wrong result, 12 crash
or timeout, 13 inconclusive or interrupted, 14 baseline missing or incompatible,
64 impossible arguments or input.

Examples:
  eccbench --sizes 64..256 --dim 3
  eccbench verify
  eccbench curve image.nii.gz
  eccbench COMMAND --help
`)
}

// parse reads a subcommand's flags; it prints the help itself.
func (c *command) parse(s subcommand, f *pflag.FlagSet, args []string) error {
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {}
	err := f.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		fmt.Fprintf(c.stdout, "%s\n\nUsage:\n  eccbench %s [flags]\n\nFlags:\n%s\nExamples:\n", upperFirst(s.brief)+".", strings.TrimSpace(s.name+" "+s.args), f.FlagUsages())
		for _, e := range s.examples {
			fmt.Fprintf(c.stdout, "  %s\n", e)
		}
		return err
	}
	if err != nil {
		return usagef("%w; see eccbench %s --help", err, s.name)
	}
	return nil
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// benches is every workload with the command's implementations.
func (c *command) benches() []runner.Bench { return impls.Benches(c.impls, c.open) }

// verdict is the error that a list of cells ends the program with.
func verdict(cells []bench.CellRecord) error {
	count := map[verify.Status]int{}
	for _, c := range cells {
		count[c.Status]++
	}
	switch {
	case count[verify.Wrong] > 0:
		return verdictError{exitWrong, fmt.Sprintf("%d of %d cells are WRONG", count[verify.Wrong], len(cells))}
	case count[verify.Crashed]+count[verify.Timeout] > 0:
		return verdictError{exitCrash, fmt.Sprintf("%d of %d cells crashed or ran out of time", count[verify.Crashed]+count[verify.Timeout], len(cells))}
	case count[verify.Implausible] > 0:
		return verdictError{exitInconclusive, fmt.Sprintf("%d of %d cells are IMPLAUSIBLE", count[verify.Implausible], len(cells))}
	}
	return nil
}
