package images

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/drawing"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// rows holds the flags that select the lines of a curve and their format.
type rows struct {
	format, plot string
	provenance   string
	all, bare    bool
	at, within   []grid.Number
}

// spaced formats numbers as a list in a sentence.
func spaced(list []grid.Number) string { return strings.ReplaceAll(cli.Listed(list), ",", ", ") }

// rowFlags lists the names of these flags.
var rowFlags = []string{"all", "format", "no-header", "at", "range", "plot", "provenance"}

// add adds the flags except --plot, whose help differs between commands.
func (r *rows) add(f *pflag.FlagSet) {
	f.BoolVar(&r.all, "all", false, "a row for every level, not only where χ changes")
	f.StringVar(&r.format, "format", "csv",
		"csv, json, jsonl (one object per line), npy, euler (value χ per level) or socg (value χ where it changes)")
	f.BoolVar(&r.bare, "no-header", false, "omit the provenance line of CSV and jsonl, and the column names of CSV")
	r.addProvenance(f)
	cli.NumbersVar(f, &r.at, "at", "only χ at these values, as CSV")
	r.addRange(f)
}

// addRange adds the flag of the levels of rows.
func (r *rows) addRange(f *pflag.FlagSet) {
	cli.NumbersVar(f, &r.within, "range", "only rows of levels from LO to HI: `LO,HI`")
}

// addProvenance adds the flag of the file for the source and the witnesses of a result.
func (r *rows) addProvenance(f *pflag.FlagSet) {
	f.StringVar(&r.provenance, "provenance", "",
		"also write the source and the witnesses of the result to this JSON `FILE`; for several images, to this folder")
}

// check returns an error for impossible flags.
func (r *rows) check(f *pflag.FlagSet) error {
	switch {
	case !slices.Contains(ecc.Formats(), ecc.Format(r.format)):
		return cli.Usagef("--format %s: want csv, json, jsonl, npy, euler or socg", r.format)
	case len(r.at) > 0 && (r.all || f.Changed("format") && r.format != string(ecc.CSV)):
		return cli.Usagef("--at prints rows of CSV, of some values: leave --format and --all out")
	}
	return r.checkRange(f)
}

// checkRange returns an error for an invalid range, or a range or levels together with --at.
func (r *rows) checkRange(f *pflag.FlagSet) error {
	at := len(r.at) > 0
	switch {
	case f.Changed("range") && (len(r.within) != 2 || r.within[0].Compare(r.within[1]) > 0):
		return cli.Usagef("--range %s: want two values LO,HI, the lower one first, such as 40,100", cli.Listed(r.within))
	case f.Changed("range") && at:
		return cli.Usagef("--range applies to rows of levels, and --at has rows of its own: leave one of them out")
	case f.Changed("levels") && at:
		return cli.Usagef("--levels apply to rows of levels, and --at has rows of its own: leave one of them out")
	}
	return nil
}

// checkPlot returns an error for a plot in an unknown format.
func (r rows) checkPlot() error {
	if r.plot != "" && !strings.EqualFold(filepath.Ext(r.plot), ".svg") {
		return cli.Usagef("--plot %s: want a name that ends in .svg", r.plot)
	}
	return nil
}

// targets returns the output files.
func (r rows) targets(out string) []cli.Target {
	return []cli.Target{{Flag: "--out", Path: out}, {Flag: "--plot", Path: r.plot},
		{Flag: "--provenance", Path: r.provenance}}
}

// everyLevel reports whether the output has a row for every level.
func (r rows) everyLevel() bool { return r.all || r.format == string(ecc.Euler) }

// isBare reports whether the ladder and the digest of the provenance are not written.
func (r rows) isBare() bool {
	named := ecc.Format(r.format) == ecc.CSV || ecc.Format(r.format) == ecc.JSONL
	return r.plot == "" && r.provenance == "" && ecc.Format(r.format) != ecc.JSON && (r.bare || !named)
}

// write draws a curve if --plot is given, and writes its lines. The range contains the given number
// of lines.
func (r rows) write(c *cli.Program, out, name string, p ecc.Provenance, lines int64, chunks ecc.Chunks) error {
	plot := func(w *os.File) error { return drawing.Curve(w, name, p, r.rangedChunks(chunks, false)) }
	return answering.WriteTo(c, out, "curve", func(w io.Writer) error {
		if len(r.at) > 0 {
			return r.writeAt(w, chunks, p)
		}
		return ecc.WriteChunks(w, ecc.Format(r.format), p, !r.bare, lines, r.rangedChunks(chunks, true))
	}, cli.File{Path: r.plot, Write: plot}, answering.Provenance(r.provenance, p))
}

// writeAt writes χ at the values of --at.
func (r rows) writeAt(w io.Writer, chunks ecc.Chunks, p ecc.Provenance) error {
	chi := make([]int64, len(r.at))
	for l, err := range chunks {
		if err != nil {
			return err
		}
		for i, value := range r.at {
			chi[i] += l.At(value)
		}
	}
	text := p.Comment() + "\nvalue,chi\n"
	if r.bare {
		text = ""
	}
	for i, value := range r.at {
		text += fmt.Sprintf("%v,%d\n", value, chi[i])
	}
	_, err := io.WriteString(w, text)
	return err
}

// writeSlices writes the rows of each slice, or with --at its χ at the values.
func (r rows) writeSlices(w io.Writer, slices []ecc.Lines, p ecc.Provenance) error {
	if len(r.at) == 0 {
		for i := range slices {
			slices[i] = r.ranged(slices[i])
		}
		return ecc.WriteSlices(w, slices, ecc.Format(r.format), p, !r.bare)
	}
	out := bufio.NewWriter(w)
	if p.Slices = len(slices); !r.bare {
		fmt.Fprintf(out, "%s\nslice,value,chi\n", p.Comment())
	}
	for i, l := range slices {
		for _, value := range r.at {
			fmt.Fprintf(out, "%d,%v,%d\n", i, value, l.At(value))
		}
	}
	return out.Flush() // it returns the first error of all writes
}

// ranged restricts the lines to the range of --range.
func (r rows) ranged(l ecc.Lines) ecc.Lines {
	if len(r.within) > 0 {
		return l.Range(r.within[0], r.within[1])
	}
	return l
}

// rangedChunks returns the chunks of the lines within the range. Without every, it keeps only
// levels at which χ changes.
func (r rows) rangedChunks(chunks ecc.Chunks, every bool) ecc.Chunks {
	return func(yield func(ecc.Lines, error) bool) {
		for l, err := range chunks {
			l.All = l.All && every
			if !yield(r.ranged(l), err) {
				return
			}
		}
	}
}
