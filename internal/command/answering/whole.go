package answering

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets/files/format"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/headers"
	"eccbench/internal/quantity"
)

// AddImage adds the flags that describe an image for questions about its values instead of its
// levels.
func (a *Flags) AddImage(f *pflag.FlagSet) error {
	a.In.AddFile(f, nil, "`TYPE` of a raw file, as in NumPy: bool, int8 to uint64, float16 to float64", "")
	return f.MarkHidden("levels")
}

// CheckImage returns an error unless the arguments name one image. why explains why the command has
// no --levels.
func (a *Flags) CheckImage(f *pflag.FlagSet, why string) error {
	switch {
	case f.Changed("levels"):
		return cli.Usagef("--levels: %s: leave it out", why)
	case a.In.Volume == EveryVolume:
		return cli.Usagef("--volume all: want the number of one image")
	case f.NArg() != 1:
		return cli.Usagef("%s wants one image: a file, an input string or - for standard input; with --stack a folder "+
			"or a pattern", f.Name())
	}
	return nil
}

// Noted returns the displayed name of an image, with the parts that its file lacks, on one line.
func (a Flags) Noted(image ask.WholeImage) string {
	if lacks := image.Missing(); lacks != "" {
		return a.Named(image.Name.String()) + "; " + lacks
	}
	return a.Named(image.Name.String())
}

// Place returns a geometry, which may be nil, for the header of an output file.
func Place(g *format.Geometry) *headers.Place {
	if g == nil {
		return nil
	}
	return &headers.Place{Affine: g.Affine, Unplaced: g.Unplaced}
}

// Tell prints the confirmed answer about an image and the elapsed time.
func Tell[Out any](c *cli.Program, shown string, image ask.WholeImage, start time.Time, confirmed string,
	a ask.Answered[Out], more string) {
	for _, m := range a.Measures {
		if !m.Aside {
			confirmed += ", " + m.String()
		}
	}
	fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: %s%s, %v\n", shown, grid.Extent(image.Field), image.Type(), confirmed,
		more, quantity.Duration(time.Since(start)))
}
