// Package images has the commands that answer for images: curve, betti, pairs, gvf, eigenmap and homology, with levels
// and merge for sharded runs.
package images

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
)

// Curve returns the command curve.
func Curve() cli.Subcommand {
	return cli.Subcommand{
		Name: "curve", Args: "FILE...", Brief: "print the verified Euler characteristic curve of images",
		Examples: []string{
			"eccbench curve scan.nii.gz",
			"eccbench curve scan.raw --shape 181x217x181 --type uint8 --all",
			"eccbench curve slices.tif --format json --plot curve.svg",
			"eccbench curve ct.nii.gz --superlevel --construction V --at 200,400.5",
			"eccbench curve box.npy --periodic x,y,z",
			"eccbench curve t1.nii.gz --mask brain.nii.gz",
			"eccbench curve stack.tif --each-slice",
			"eccbench curve scans/ more/*.nrrd --out curves --plot plots",
			"eccbench curve bold.nii.gz --volume 3",
			"eccbench curve scan.raw --shape 2048x2048x2048 --type uint8 --shard 3/16 -o parts/",
			"eccbench curve --stack 'ct/*.tif'",
			"zcat scan.raw.gz | eccbench curve - --shape 181x217x181 --type uint8",
			"eccbench curve 'grf/shape=64x64x64/smooth=3/seed=1' --format euler",
		},
		Run: doCurve,
	}
}

// A curveJob is a parsed curve command.
type curveJob struct {
	answering.Flags
	rows
	share   shareJob
	between string
	table   string
}

func doCurve(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j curveJob
	j.rows.add(f)
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`; for several images or parts, to this folder")
	f.StringVar(&j.plot, "plot", "",
		"also draw the curve to this .svg `FILE`; for several images, to this folder")
	j.In.AddFile(f, nil, "`TYPE` of a raw file, as in NumPy: bool, int8 to uint64, float16 to float64",
		"`N` evenly spaced levels from the least to the greatest value (default every value)")
	j.AddSlices(f, "one curve per slice of a 3D image, in CSV or jsonl with a column for the slice")
	j.AddConvention(f)
	j.AddRings(f)
	j.AddMask(f)
	j.share.add(f, "curve")
	f.StringVar(&j.between, "between", "",
		"with --shard and --levels: `LO,HI`, the range of the whole image (see eccbench levels)")
	f.StringVar(&j.table, "table", "",
		"with --shard: a `FILE` of all distinct values of the whole float32 image (see eccbench levels --distinct)")
	j.AddEffort(f)
	if err := parse(); err != nil {
		return err
	}
	err := cmp.Or(j.rows.check(f), j.CheckOptions(), j.Flags.Check())
	if err != nil {
		return err
	}
	if f.Changed("levels") && (j.Options.Construction == "V" || j.Options.Superlevel) && j.share.isSharded() {
		return cli.Usagef("--levels of shards puts values on levels from below, which is for sublevel sets in the " +
			"T-construction: leave --levels out")
	}
	if j.Slices && (j.plot != "" || j.format != string(ecc.CSV) && j.format != string(ecc.JSONL)) {
		return cli.Usagef("--each-slice writes rows of many curves, as csv or jsonl: leave --plot and other formats out")
	}
	if j.share.isSharded() {
		return j.doShare(c, f)
	}
	for _, name := range []string{"between", "table"} {
		if f.Changed(name) {
			return cli.Usagef("--%s is for shards, which do not know the whole image: leave it out", name)
		}
	}
	extension := j.format
	if f := ecc.Format(j.format); f == ecc.SoCG || f == ecc.Euler {
		extension = "txt"
	}
	return j.AnswerImages(c, f, answering.Answers{
		One: "curve", Many: "curves", Extension: extension, Plot: j.plot, PlotExtension: ".svg", Provenance: j.provenance,
		Check: j.checkPlot, Answer: func(t answering.Target) error { return j.run(c, t) },
	})
}

// manyRows is the number of rows above which another format than text is suggested.
const manyRows = 1e6

// run answers for one image and writes the confirmed answer.
func (j curveJob) run(c *cli.Program, t answering.Target) error {
	start := time.Now()
	j.Flags, j.plot, j.provenance = t.Flags, t.Plot, t.Provenance
	q := ask.Curve{All: j.everyLevel(), By: c.Curve}
	if j.plot == "" {
		q.At = j.at
	}
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
	what := quantity.Count(len(a.Lines.Curve), "change")
	switch {
	case len(j.at) > 0 && !j.Slices:
		what = "χ at " + spaced(j.at)
	case j.Slices:
		what = fmt.Sprintf("curves of %d slices", len(a.Slices))
	}
	j.Confirmed(c, t.Input, p, what, start)
	if !j.Slices {
		lines := j.ranged(a.Lines).Len()
		if lines > manyRows && !j.Quiet && len(j.at) == 0 && j.format != string(ecc.NPY) {
			fmt.Fprintf(c.Stderr, "eccbench: %d rows of text: --format npy is faster to write and to read\n", lines)
		}
		return j.rows.write(c, j.Out, j.Spooled.WithNames(a.Name), p, lines,
			func(yield func(ecc.Lines, error) bool) { yield(a.Lines, nil) })
	}
	return answering.WriteTo(c, j.Out, "curve", func(w io.Writer) error { return j.writeSlices(w, a.Slices, p) },
		answering.Provenance(j.provenance, p))
}
