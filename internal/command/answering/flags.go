// Package answering has the shared parts of the commands with one answer for an image: flags, several images,
// output files.
package answering

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/crew"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/remote"
	"eccbench/internal/report"
	"eccbench/internal/workloads/ecc"
)

// Flags hold the flags that the commands share: how they compute the answer and how their output names the
// image.
type Flags struct {
	In        cli.Inputs
	Spooled   *cli.Spooled
	Options   ask.Options
	Mask      string
	Slices    bool
	Out, Impl string
	Quiet     bool
	Threads   int
	Budget    time.Duration
}

// AddConvention adds the flags of the construction of the cells and the direction of the
// filtration.
func (a *Flags) AddConvention(f *pflag.FlagSet) {
	f.StringVar(&a.Options.Construction, "construction", "T",
		"T: voxels are top cells (26-connected); V: voxels are vertices (6-connected)")
	f.BoolVar(&a.Options.Superlevel, "superlevel", false, "sets of the values at or above a level")
}

// AddEffort adds the flags of the implementation and the limits of its work.
func (a *Flags) AddEffort(f *pflag.FlagSet) {
	f.StringVar(&a.Impl, "impl", "", "implementation `NAME` (default the fastest that supports the image)")
	a.AddThreads(f)
	f.DurationVar(&a.Budget, "time-limit", 0, "longest verification, and reading from a server (default unlimited)")
	f.BoolVarP(&a.Quiet, "quiet", "q", false, "print only errors on standard error")
}

// AddThreads adds the flag that limits the cores of the command.
func (a *Flags) AddThreads(f *pflag.FlagSet) {
	f.IntVar(&a.Threads, "threads", runtime.GOMAXPROCS(0), "cores of the whole command")
}

// AddSlices adds the flag that asks for one answer per slice.
func (a *Flags) AddSlices(f *pflag.FlagSet, what string) {
	f.BoolVar(&a.Slices, "each-slice", false, what)
}

// AddRings adds the flag of periodic axes.
func (a *Flags) AddRings(f *pflag.FlagSet) {
	f.StringSliceVar(&a.Options.Periodic, "periodic", nil, "`AXES` whose last and first voxels are neighbours: x,y,z")
}

// AddMask adds the flags that exclude voxels from an image.
func (a *Flags) AddMask(f *pflag.FlagSet) {
	f.StringVar(&a.Mask, "mask", "", "exclude voxels where this image `FILE` of the same shape is 0")
	f.StringVar(&a.Options.NaN, "nan", ask.NaNRefuse, "NaN in the image: refuse, or mask to exclude them")
}

// CheckOptions returns the first impossible image option.
func (a *Flags) CheckOptions() error {
	if err := a.Options.Check(); err != nil {
		return err
	}
	if _, err := a.Options.Axes(); err != nil {
		return cli.Usagef("--periodic: %w", err)
	}
	if a.In.Stack && a.Options.NaN == ask.NaNMask {
		return cli.Usagef("--nan mask applies to one file: leave it or --stack out")
	}
	return nil
}

// Question returns the question about an image. It returns an error for targets that cannot be written, or that are
// input files of the question or other inputs.
func (a *Flags) Question(c *cli.Program, input string, targets []cli.Target, others ...string) (
	q ask.Question, err error) {
	go cli.Version() // which hashes the program if its build has no other name
	if q, err = a.question(c, input); err != nil {
		return q, err
	}
	if q.Levels, err = a.In.AskedLevels(); err != nil {
		return q, err
	}
	return q, cli.Writable(targets, append(q.Files(), others...)...)
}

// question returns the question about an image without a check of its levels and targets.
func (a *Flags) question(c *cli.Program, input string) (q ask.Question, err error) {
	q = ask.Question{
		Options: a.Options, Slices: a.Slices, Shown: report.VisibleText(a.Spooled.WithNames(input)), Named: a.Named,
		Impl: a.Impl, Threads: a.Threads, Budget: a.Budget, Memory: host.AvailableMemory, Follow: c.Following(a.Quiet),
	}
	if q.Input, err = a.In.Named(input); err == nil && a.Mask != "" {
		q.Mask, err = a.In.NamedWhole(a.Mask)
		q.MaskShown = a.Spooled.WithNames(a.Mask)
	}
	return q, err
}

// Confirmed prints the confirmed answer for an image and the elapsed time.
func (a *Flags) Confirmed(c *cli.Program, input string, p ecc.Provenance, what string, start time.Time) {
	if a.Quiet {
		return
	}
	shown := a.Spooled.WithNames(input)
	if a.In.Volume != "" {
		shown += ", volume " + a.In.Volume
	}
	fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: %s by %s, VERIFIED by %s, %v\n",
		shown, p.Shape, p.Type, what, p.Implementation, p.Evidence, quantity.Duration(time.Since(start)))
}

// Check rejects impossible limits, and limits the cores of the process to --threads.
func (a *Flags) Check() error {
	if a.Budget < 0 {
		return cli.Usagef("--time-limit %v: want 0 or more", a.Budget)
	}
	if remote.Register(a.Budget); a.Budget == 0 {
		a.Budget = math.MaxInt64
	}
	if err := crew.CheckThreads(a.Threads); err != nil {
		return cli.Usagef("--%w", err)
	}
	if a.Threads < runtime.GOMAXPROCS(0) { // the number of cores for readers, witnesses and the garbage collector
		runtime.GOMAXPROCS(a.Threads)
	}
	return nil
}

// OfOne calls answer for one image. The messages name the image as the user did.
func (a *Flags) OfOne(c *cli.Program, image string, answer func(path string) error) error {
	paths, err := a.spool(c, []string{image})
	if err != nil {
		return err
	}
	defer a.Spooled.Close() // closing a file that was only read cannot lose anything
	return a.Spooled.ErrorWithNames(answer(paths[0]))
}

// Named returns the displayed name of an image that can be read repeatedly, on one line.
func (a Flags) Named(name string) string {
	return report.VisibleText(strings.ReplaceAll(a.Spooled.WithNames(strings.Replace(name, "/stream=once", "", 1)), "\n",
		"\u240a"))
}

// Provenance returns the file of a provenance.
func Provenance(path string, p ecc.Provenance) cli.File {
	return cli.File{Path: path, Write: func(w *os.File) error { return p.WriteEvidence(w) }}
}

// WriteTo writes to a file, or to standard output if out is empty, and the files about it with it.
func WriteTo(c *cli.Program, out, what string, write func(io.Writer) error, about ...cli.File) error {
	files := append(about, cli.File{Path: out, Write: func(w *os.File) error { return write(w) }})
	return cli.WriteFiles(files, func() error {
		if out != "" {
			return nil
		}
		if err := write(cli.Raw(c.Stdout)); err != nil {
			return fmt.Errorf("writing the %s: %w", what, err)
		}
		return nil
	})
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// LimitsOf returns the limits of a verification by time and by the memory that is free.
func LimitsOf(budget time.Duration) ask.Limits {
	return ask.Limits{Budget: budget, Free: host.AvailableMemory}
}
