package main

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

	"eccbench/datasets"
	"eccbench/datasets/files"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/remote"
	"eccbench/internal/report"
	"eccbench/internal/workloads/ecc"
)

// answering holds the flags that the commands with one answer for an image share: how they compute
// the answer and how their output names the image.
type answering struct {
	in        cli.Inputs
	spooled   *cli.Spooled
	options   ask.Options
	mask      string
	slices    bool
	out, impl string
	quiet     bool
	threads   int
	budget    time.Duration
}

// geometryOf returns the place of the voxels in space, or nil if the image is not a file that records it.
func (a *answering) geometryOf(image string) (*files.Geometry, error) {
	if a.in.Stack || datasets.IsName(image) {
		return nil, nil
	}
	return files.GeometryOf(image)
}

// addConvention adds the flags of the construction of the cells and the direction of the
// filtration.
func (a *answering) addConvention(f *pflag.FlagSet) {
	f.StringVar(&a.options.Construction, "construction", "T",
		"T: voxels are top cells (26-connected); V: voxels are vertices (6-connected)")
	f.BoolVar(&a.options.Superlevel, "superlevel", false, "sets of the values at or above a level")
}

// addEffort adds the flags of the implementation and the limits of its work.
func (a *answering) addEffort(f *pflag.FlagSet) {
	f.StringVar(&a.impl, "impl", "", "implementation `NAME` (default the fastest that supports the image)")
	f.IntVar(&a.threads, "threads", runtime.GOMAXPROCS(0), "cores")
	f.DurationVar(&a.budget, "time-limit", 0, "longest verification, and reading from a server (default unlimited)")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "print only errors on standard error")
}

// addSlices adds the flag that asks for one answer per slice.
func (a *answering) addSlices(f *pflag.FlagSet, what string) {
	f.BoolVar(&a.slices, "each-slice", false, what)
}

// addRings adds the flag of periodic axes.
func (a *answering) addRings(f *pflag.FlagSet) {
	f.StringSliceVar(&a.options.Periodic, "periodic", nil, "`AXES` whose last and first voxels are neighbours: x,y,z")
}

// addMask adds the flags that exclude voxels from an image.
func (a *answering) addMask(f *pflag.FlagSet) {
	f.StringVar(&a.mask, "mask", "", "exclude voxels where this image `FILE` of the same shape is 0")
	f.StringVar(&a.options.NaN, "nan", ask.NaNRefuse, "NaN in the image: refuse, or mask to exclude them")
}

// checkOptions returns the first impossible image option.
func (a *answering) checkOptions() error {
	if err := a.options.Check(); err != nil {
		return err
	}
	if _, err := a.options.Axes(); err != nil {
		return cli.Usagef("--periodic: %w", err)
	}
	return nil
}

// question returns the question about an image.
func (a *answering) question(c *cli.Program, input string) (q ask.Question, err error) {
	q = ask.Question{
		Options: a.options, Slices: a.slices, Input: a.in.Naming(input), Shown: report.VisibleText(a.spooled.Shown(input)),
		Named: a.named,
		Impl:  a.impl, Threads: a.threads, Budget: a.budget, Memory: host.AvailableMemory, Follow: c.Following(a.quiet),
	}
	if a.mask != "" {
		q.Mask, q.MaskShown = a.in.NamingWhole(a.mask), a.spooled.Shown(a.mask)
	}
	q.Levels, err = a.in.AskedLevels()
	return q, err
}

// apart returns an error if a target is an input file of the question or of the command.
func (a *answering) apart(q *ask.Question, others []string, targets ...cli.Target) error {
	files, err := q.Files()
	if err != nil {
		return err
	}
	return cli.Apart(targets, append(files, others...)...)
}

// confirmed prints the confirmed answer for an image and the elapsed time.
func (a *answering) confirmed(c *cli.Program, input string, p ecc.Provenance, what string, start time.Time) {
	if a.quiet {
		return
	}
	shown := a.spooled.Shown(input)
	if a.in.Volume != "" {
		shown += ", volume " + a.in.Volume
	}
	fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: %s by %s, VERIFIED by %s, %v\n",
		shown, p.Shape, p.Type, what, p.Implementation, p.Evidence, quantity.Duration(time.Since(start)))
}

// check rejects impossible limits.
func (a *answering) check() error {
	if a.budget < 0 {
		return cli.Usagef("--time-limit %v: want 0 or more", a.budget)
	}
	if remote.Register(a.budget); a.budget == 0 {
		a.budget = math.MaxInt64
	}
	if a.threads < 1 {
		return cli.Usagef("--threads %d: want at least 1", a.threads)
	}
	return nil
}

// ofOne calls answer for one image. The messages name the image as the user did.
func (a *answering) ofOne(c *cli.Program, image string, answer func(path string) error) error {
	paths, err := a.spool(c, []string{image})
	if err != nil {
		return err
	}
	defer a.spooled.Close() // closing a file that was only read cannot lose anything
	a.in.Every = true
	return a.spooled.Said(answer(paths[0]))
}

// named returns the displayed name of an image that can be read repeatedly, on one line.
func (a answering) named(name string) string {
	return report.VisibleText(strings.ReplaceAll(a.spooled.Shown(strings.Replace(name, "/stream=once", "", 1)), "\n",
		"\u240a"))
}

// addProvenance adds the flag of the file for the source and the witnesses of a result.
func addProvenance(f *pflag.FlagSet, path *string) {
	f.StringVar(path, "provenance", "",
		"also write the source and the witnesses of the result to this JSON `FILE`; for several images, to this folder")
}

// writeProvenance writes a provenance to a file; it does nothing without a path.
func writeProvenance(path string, p ecc.Provenance) error {
	if path == "" {
		return nil
	}
	return cli.WriteFile(path, func(w *os.File) error { return p.WriteEvidence(w) })
}

// creatable returns an error if a file cannot be written. Commands call it before the work.
func creatable(paths ...string) error {
	for _, path := range paths {
		if path != "" {
			if err := cli.Writable(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeTo writes to a file, or to standard output if out is empty.
func writeTo(c *cli.Program, out, what string, write func(io.Writer) error) error {
	if out != "" {
		return cli.WriteFile(out, func(w *os.File) error { return write(w) })
	}
	if err := write(cli.Raw(c.Stdout)); err != nil {
		return fmt.Errorf("writing the %s: %w", what, err)
	}
	return nil
}

// writeJSON writes a value as indented JSON.
func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// limits bound a verification by time and by the memory that is free.
func limits(budget time.Duration) ask.Limits {
	return ask.Limits{Budget: budget, Free: host.AvailableMemory}
}
