package main

import (
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/cli"
	"eccbench/internal/report"
)

// answering is what the commands share that answer for an image: how they are asked, and
// how what they write names it.
type answering struct {
	in           cli.Inputs
	spooled      *cli.Spooled
	out, impl    string
	construction string
	superlevel   bool
	quiet        bool
	threads      int
	budget       time.Duration
}

// addConvention adds the flags of which cells an image has, and of which values its sets are.
func (a *answering) addConvention(f *pflag.FlagSet) {
	f.StringVar(&a.construction, "construction", "T", "T: voxels are top cells, which meet in faces, edges and corners; V: voxels are vertices, which meet along axes alone")
	f.BoolVar(&a.superlevel, "superlevel", false, "sets of the values at or above a level, which grow from the greatest level to the least")
}

// addEffort adds the flags of who answers, and of what that may take.
func (a *answering) addEffort(f *pflag.FlagSet) {
	f.StringVar(&a.impl, "impl", "", "implementation (default the fastest that takes the image)")
	f.IntVar(&a.threads, "threads", runtime.GOMAXPROCS(0), "cores")
	f.DurationVar(&a.budget, "time-limit", 0, "time for the verification (default as long as it takes)")
	f.BoolVarP(&a.quiet, "quiet", "q", false, "nothing on standard error but errors")
}

// checkConvention refuses what is no convention.
func (a *answering) checkConvention() error {
	if a.construction != "T" && a.construction != "V" {
		return cli.Usagef("--construction %s: want T or V", a.construction)
	}
	return nil
}

// check refuses what cannot be.
func (a *answering) check() error {
	if a.budget < 0 {
		return cli.Usagef("--time-limit %v: want 0 or more", a.budget)
	}
	if a.budget == 0 {
		a.budget = math.MaxInt64
	}
	if a.threads < 1 {
		return cli.Usagef("--threads %d: want at least 1", a.threads)
	}
	return nil
}

// ofOne answers for one image, whatever its levels are, and names it as it was given.
func (a *answering) ofOne(c *cli.Program, image string, answer func(path string) error) error {
	paths, spooled, err := c.Spool([]string{image})
	if err != nil {
		return err
	}
	defer spooled.Close() // of what nobody else reads
	a.spooled = spooled
	a.in.Every = true
	return spooled.Said(answer(paths[0]))
}

// named is the name of an image that can be read again and again, as a line of what is
// written shows it.
func (a answering) named(name string) string {
	return report.VisibleText(strings.ReplaceAll(a.spooled.Shown(strings.Replace(name, "/stream=once", "", 1)), "\n", "\u240a"))
}
