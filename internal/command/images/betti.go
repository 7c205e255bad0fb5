package images

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/drawing"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// Betti returns the command betti.
func Betti() cli.Subcommand {
	return cli.Subcommand{
		Name: "betti", Args: "FILE...", Brief: "print verified Betti numbers of images by level",
		Examples: []string{
			"eccbench betti bone.nii.gz",
			"eccbench betti bone.nii.gz --format npy -o bone.npy --plot bone.svg",
			"eccbench betti bone.nii.gz --at 127",
			"eccbench betti scan.raw --shape 181x217x181 --type uint8 --at 0,40,100 --format json",
			"eccbench betti ct.nii.gz --superlevel --at 200.5",
			"eccbench betti mask.tif --at 1 --superlevel --construction V",
			"eccbench betti ct.nii.gz --mask bone.nii.gz --superlevel --at 300",
			"eccbench betti stack.tif --each-slice --at 127",
			"eccbench betti box.npy --periodic x,y,z --at 0.5",
			"eccbench betti scans/ more/*.nrrd --at 127 --out numbers",
			"eccbench betti scan.raw --shape 2048x2048x2048 --type uint8 --at 127 --shard 3/16 -o parts/",
			"eccbench betti --stack 'ct/*.tif' --at 120",
			"zcat scan.raw.gz | eccbench betti - --shape 181x217x181 --type uint8 --at 40",
			"eccbench betti 'links/shape=64x48x48/type=uint8' --at 0",
		},
		Run: doBetti,
	}
}

// A bettiJob is a parsed betti command.
type bettiJob struct {
	answering.Flags
	rows
	share shareJob
}

func doBetti(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j bettiJob
	cli.NumbersVar(f, &j.at, "at",
		"only the sets at or below these values (default every level at which a number changes)")
	j.addRange(f)
	f.StringVar(&j.format, "format", "csv", "csv, json, or npy (without --at)")
	f.BoolVar(&j.bare, "no-header", false, "omit the provenance line and the column names of CSV")
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`; for several images or parts, to this folder")
	j.addProvenance(f)
	f.StringVar(&j.plot, "plot", "",
		"also draw the numbers to this .svg `FILE`; for several images, to this folder")
	j.In.AddFile(f, nil, "`TYPE` of a raw file, as in NumPy: bool, int8 to uint64, float16 to float64",
		"`N` evenly spaced levels from the least to the greatest value (default every value)")
	j.AddSlices(f, "numbers per slice of a 3D image, in CSV with a column for the slice")
	j.AddConvention(f)
	j.AddRings(f)
	j.AddMask(f)
	j.share.add(f, "Betti numbers at some values")
	j.AddEffort(f)
	if err := parse(); err != nil {
		return err
	}
	if err := cmp.Or(j.checkRows(f), j.CheckOptions(), j.Check()); err != nil {
		return err
	}
	if j.share.isSharded() {
		return j.doShare(c, f)
	}
	return j.AnswerImages(c, f, answering.Answers{
		One: "Betti numbers", Many: "Betti numbers", Extension: j.format, Plot: j.plot, PlotExtension: ".svg",
		Provenance: j.provenance,
		Check:      j.checkPlot, Answer: func(t answering.Target) error { return j.run(c, t) },
	})
}

// checkRows rejects impossible flags of rows.
func (j bettiJob) checkRows(f *pflag.FlagSet) error {
	at := len(j.at) > 0
	switch {
	case !slices.Contains(betti.Formats(), ecc.Format(j.format)):
		return cli.Usagef("--format %s: want csv, json or npy", j.format)
	case at && j.format == string(ecc.NPY):
		return cli.Usagef("--format npy is for every level: leave --at out, or use csv or json")
	case at && j.plot != "":
		return cli.Usagef("--plot draws the numbers at every level: leave --at or --plot out")
	case j.format == string(ecc.JSON) && slices.ContainsFunc(j.at, infinite):
		return cli.Usagef("--at Inf: JSON has no infinite numbers: want finite ones, or csv")
	case j.share.isSharded() && !at:
		return cli.Usagef("--shard counts sets at some values: give --at; curves at every level need the order of all " +
			"voxels, which no shard knows")
	case j.share.isSharded() && slices.ContainsFunc(j.at, infinite):
		return cli.Usagef("--at Inf: all voxels and none need no shards: want finite numbers")
	case j.share.isSharded() && len(j.Options.Periodic) > 0:
		return cli.Usagef("--periodic: parts of Betti numbers are of images that are not periodic: leave --periodic or --shard out")
	case j.Slices && j.share.isSharded():
		return cli.Usagef("--each-slice needs no shards: slices have numbers of their own")
	case j.Slices && (j.plot != "" || j.format != string(ecc.CSV)):
		return cli.Usagef("--each-slice writes rows of many slices, as csv: leave --plot and other formats out")
	}
	return j.checkRange(f)
}

func infinite(n grid.Number) bool { return math.IsInf(n.Float64(), 0) }

// doShare writes one part of the Betti numbers at some values. It chooses among the implementations
// that can answer for slabs.
func (j bettiJob) doShare(c *cli.Program, f *pflag.FlagSet) error {
	var names []string
	for _, impl := range c.Betti.Impls {
		by, ok := impl.(betti.Slabber)
		if !ok {
			continue
		}
		name := impl.About().Name
		if names = append(names, name); j.Impl == "" || j.Impl == name {
			return sharing{Flags: j.Flags, shareJob: j.share, of: betti.Name, at: j.at, by: by}.
				do(c, f, []string{"format", "no-header", "plot", "provenance", "range"}, name)
		}
	}
	return cli.Usagef("--impl %s: parts are counted by %s alone", j.Impl, strings.Join(names, ", "))
}

// A bettiRow holds the Betti numbers of the sublevel set at one value.
type bettiRow struct {
	Level grid.Number `json:"level"`
	B0    int64       `json:"b0"`
	B1    int64       `json:"b1"`
	B2    int64       `json:"b2"`
}

// run answers for one image and writes the confirmed answer.
func (j bettiJob) run(c *cli.Program, t answering.Target) error {
	start := time.Now()
	j.Flags, j.plot, j.provenance = t.Flags, t.Plot, t.Provenance
	q := ask.Betti{At: j.at, By: c.Betti, Curves: c.BettiCurves}
	var err error
	if q.Question, err = j.Question(c, t.Input, j.targets(j.Out)); err != nil {
		return err
	}
	q.Bare = j.isBare()
	a, err := q.Answer()
	if err != nil {
		return err
	}
	p := a.Provenance
	p.Program = cli.Version()
	what := "Betti numbers at " + spaced(j.at)
	if len(j.at) == 0 {
		what = "Betti numbers, " + quantity.Count(a.Lines.Len(), "change")
	}
	if j.Slices {
		what = fmt.Sprintf("Betti numbers of %d slices", len(a.SliceNumbers)+len(a.SliceLines))
	}
	j.Confirmed(c, t.Input, p, what, start)
	a.Lines = j.ranged(a.Lines)
	plot := func(w *os.File) error {
		in, err := j.Options.Convention(false)
		if err != nil {
			return err
		}
		return drawing.Betti(w, j.Spooled.WithNames(a.Name), p, in, a.Lines)
	}
	return answering.WriteTo(c, j.Out, "Betti numbers", func(w io.Writer) error { return j.write(w, a, p) },
		cli.File{Path: j.plot, Write: plot}, answering.Provenance(j.provenance, p))
}

// write writes the rows of an answer.
func (j bettiJob) write(w io.Writer, a ask.BettiAnswer, p ecc.Provenance) error {
	switch {
	case len(a.SliceLines) > 0:
		for i := range a.SliceLines {
			a.SliceLines[i] = j.ranged(a.SliceLines[i])
		}
		return betti.WriteSlices(w, a.SliceLines, p, !j.bare)
	case len(a.SliceNumbers) > 0:
		p.Slices = len(a.SliceNumbers)
		return writeBettiCSV(w, "slice,level", p, j.bare, func(row func(string, bettiRow)) {
			for i, numbers := range a.SliceNumbers {
				for _, r := range j.rowsOf(numbers) {
					row(fmt.Sprintf("%d,", i), r)
				}
			}
		})
	case len(j.at) > 0:
		return writeBetti(w, j.format, p, j.rowsOf(a.Numbers), j.bare)
	}
	return a.Lines.Write(w, ecc.Format(j.format), p, !j.bare)
}

// rowsOf pairs the Betti numbers with the requested values.
func (j bettiJob) rowsOf(numbers []betti.Numbers) []bettiRow {
	rows := make([]bettiRow, len(numbers))
	for i, n := range numbers {
		rows[i] = bettiRow{j.at[i], n.B0, n.B1, n.B2}
	}
	return rows
}

// ranged restricts the lines to the range of --range.
func (j bettiJob) ranged(l betti.Lines) betti.Lines {
	if len(j.within) > 0 {
		return l.Range(j.within[0], j.within[1])
	}
	return l
}

// writeBetti writes rows as CSV or JSON. A bare CSV has no header.
func writeBetti(w io.Writer, format string, p ecc.Provenance, rows []bettiRow, bare bool) error {
	if format == string(ecc.JSON) {
		return answering.WriteJSON(w, struct {
			ecc.Provenance
			Betti []bettiRow `json:"betti"`
		}{p, rows})
	}
	return writeBettiCSV(w, "level", p, bare, func(row func(string, bettiRow)) {
		for _, r := range rows {
			row("", r)
		}
	})
}

// writeBettiCSV writes rows as CSV. Every line begins with a text from each. The title names the
// columns of this text and of the level.
func writeBettiCSV(w io.Writer, title string, p ecc.Provenance, bare bool,
	each func(row func(begin string, r bettiRow))) error {
	var text strings.Builder
	if !bare {
		fmt.Fprintf(&text, "%s\n%s,b0,b1,b2\n", p.Comment(), title)
	}
	each(func(begin string, r bettiRow) {
		fmt.Fprintf(&text, "%s%v,%d,%d,%d\n", begin, r.Level, r.B0, r.B1, r.B2)
	})
	_, err := io.WriteString(w, text.String())
	return err
}
