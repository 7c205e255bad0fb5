// Package cli has the shared parts of the commands: flags, help, input names, progress of runs,
// records, files, exit codes.
package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/impls"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/host"
	"eccbench/internal/release"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
)

// Exit codes.
const (
	ExitOK           = 0
	ExitFailure      = 1  // this machine failed: a full disk, no memory to share
	ExitWrong        = 11 // an implementation answered wrongly
	ExitCrash        = 12 // a worker crashed or ran out of time
	ExitInconclusive = 13 // interrupted, or numbers that cannot be
	ExitBaseline     = 14 // a stored baseline that is missing or of something else
	ExitUsage        = 64 // impossible arguments or input
)

// A Program is one invocation of eccbench.
type Program struct {
	impls.Set
	Worker         []string // the command line of a worker; empty if the program's file is not found
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Clock          worker.Clock // nil except in tests
	lacking        sync.Map     // the messages that Missing has printed
}

// A Subcommand is a verb with its help.
type Subcommand struct {
	Name, Args, Brief string
	Examples          []string
	Hidden            bool
	// Conducts marks a command that handles signals on its own.
	Conducts bool
	// Workers marks a command that starts workers, for which more files must be open.
	Workers bool
	// Run defines the flags, parses the arguments and does the work.
	Run func(c *Program, f *pflag.FlagSet, parse func() error) error
}

// Do runs the command with arguments.
func (s Subcommand) Do(c *Program, args []string) error {
	f := pflag.NewFlagSet(s.Name, pflag.ContinueOnError)
	return s.Run(c, f, func() error { return c.parse(s, f, args) })
}

// Usage marks an error as a fault of the arguments or the input.
func Usage(err error) error { return ask.Usage(err) }

// Usagef makes an error about the arguments or the input.
func Usagef(format string, args ...any) error { return ask.Usagef(format, args...) }

// A VerdictError ends the program with an exit code after all output.
type VerdictError struct {
	Code int
	Why  string
}

func (e VerdictError) Error() string { return e.Why }

// Fail prints an error on one line and returns its exit code.
func (c *Program) Fail(err error) int {
	if err == nil || errors.Is(err, pflag.ErrHelp) {
		return ExitOK
	}
	c.PrintError(err)
	return Code(err)
}

// PrintError prints an error on one line.
func (c *Program) PrintError(err error) {
	if option := (ask.OptionError{}); errors.As(err, &option) {
		err = fmt.Errorf("--%w", option)
	}
	if errors.Is(err, syscall.EMFILE) {
		err = fmt.Errorf("%w; raise ulimit -n", err)
	}
	fmt.Fprintln(c.Stderr, "eccbench:", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// Code returns the exit code of an error.
func Code(err error) int {
	var verdict VerdictError
	var answered ask.VerdictError
	var read *format.ReadError
	switch {
	case errors.As(err, &verdict):
		return verdict.Code
	case errors.As(err, &answered) && answered.Status == verify.Wrong:
		return ExitWrong
	case errors.As(err, &answered):
		return ExitInconclusive
	case errors.As(err, new(ask.UsageError)), errors.As(err, new(ask.OptionError)), errors.As(err, new(bench.Limit)),
		errors.As(err, new(bench.TooMuch)), errors.Is(err, storage.ErrChanged), errors.As(err, new(storage.ObjectError)):
		return ExitUsage
	case errors.As(err, new(syscall.Errno)), device.IsUnavailable(err), errors.As(err, new(interface{ Sticky() bool })):
		return ExitFailure // of a system call, of a missing device, of a device
	case errors.As(err, &read) && !storage.IsURL(read.Path), read == nil && errors.As(err, new(bench.Refusal)):
		return ExitUsage
	}
	return ExitFailure
}

// Version returns the release of this program, or the revision of its source, and the toolchain.
func Version() string { return release.Version(host.ProgramHash) }

// parse reads the flags of a subcommand, or prints its help and returns pflag.ErrHelp.
func (c *Program) parse(s Subcommand, f *pflag.FlagSet, args []string) error {
	f.SetOutput(io.Discard)
	f.SortFlags = false
	f.Usage = func() {}
	wide := false
	if format := f.Lookup("format"); format != nil && (format.DefValue == "text" || format.DefValue == "table") {
		f.BoolVar(&wide, "wide", false, "print tables with all columns, in any width")
	}
	err := f.ParseAll(args, setFlag(f))
	if w, ok := c.Stdout.(*report.VisibleWriter); ok && wide {
		w.Columns = 0
	}
	if errors.Is(err, pflag.ErrHelp) {
		printHelp(c.Stdout, s, f)
		return err
	}
	if err != nil {
		return flagError(s, f, err)
	}
	if err := strayNumber(f); err != nil || !s.Workers {
		return err
	}
	return c.CheckWorkers(s.Name)
}

// CheckWorkers returns an error if a command cannot start workers.
func (c *Program) CheckWorkers(command string) error {
	if len(c.Worker) == 0 {
		return fmt.Errorf("%s starts processes of its own program, whose file is not found without /proc: "+
			"mount it (mount -t proc proc /proc)", command)
	}
	return worker.CheckLimits(true)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// About returns the description of an implementation of a workload, if the program has it.
func (c *Program) About(workload, impl string) (bench.About, bool) {
	b, err := runner.Find(c.Benches, workload)
	if err != nil {
		return bench.About{}, false
	}
	for _, a := range b.Abouts() {
		if a.Name == impl {
			return a, true
		}
	}
	return bench.About{}, false
}

// Has reports whether a workload of the program has an implementation.
func (c *Program) Has(workload, impl string) bool {
	_, ok := c.About(workload, impl)
	return ok
}

// Verdict returns the error that ends the program after a list of cells, or nil.
func Verdict(cells []bench.CellRecord) error {
	count := map[verify.Status]int{}
	for _, c := range cells {
		count[c.Status]++
	}
	switch {
	case count[verify.Wrong] > 0:
		return VerdictError{ExitWrong, fmt.Sprintf("%d of %d cells are WRONG", count[verify.Wrong], len(cells))}
	case count[verify.Crashed]+count[verify.Timeout] > 0:
		return VerdictError{ExitCrash, fmt.Sprintf("%d of %d cells crashed or ran out of time",
			count[verify.Crashed]+count[verify.Timeout], len(cells))}
	case count[verify.Implausible] > 0:
		return VerdictError{ExitInconclusive, fmt.Sprintf("%d of %d cells are IMPLAUSIBLE",
			count[verify.Implausible], len(cells))}
	}
	return nil
}
