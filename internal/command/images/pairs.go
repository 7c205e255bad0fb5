package images

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// Pairs returns the command pairs.
func Pairs() cli.Subcommand {
	return cli.Subcommand{
		Name: "pairs", Args: "FILE...", Brief: "print verified persistence pairs of images",
		Examples: []string{
			"eccbench pairs scan.nii.gz -o pairs.csv",
			"eccbench pairs scan.nii.gz --min-persistence 20 --dim 1",
			"eccbench pairs scan.nii.gz --format npy -o pairs.npy",
			"eccbench pairs ct.nii.gz --superlevel --range 200,400",
			"eccbench pairs ct.nii.gz --mask bone.nii.gz --construction V",
			"eccbench pairs stack.tif --each-slice",
			"eccbench pairs scans/ more/*.nrrd --out pairs",
			"eccbench pairs bold.nii.gz --volume 3",
			"eccbench pairs --stack 'ct/*.tif'",
			"zcat scan.raw.gz | eccbench pairs - --shape 181x217x181 --type uint8",
			"eccbench pairs 'grf/shape=64x64x64/smooth=3/seed=1' --format json",
		},
		Run: doPairs,
	}
}

// A pairsJob is a parsed pairs command.
type pairsJob struct {
	answering.Flags
	rows
	selected pairs.Selection
}

func doPairs(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j pairsJob
	f.IntSliceVar(&j.selected.Dims, "dim", nil,
		"only pairs of these dimensions: 0 components, 1 tunnels (2D: holes), 2 cavities")
	f.Float64Var(&j.selected.Persistence, "min-persistence", 0,
		"only pairs whose birth and death are at least `P` apart, and those without a death")
	cli.NumbersVar(f, &j.within, "range", "only pairs with a birth from LO to HI: `LO,HI`")
	f.StringVar(&j.format, "format", "csv",
		"csv, json, or npy; a class without a death has inf (superlevel: -inf; json: null) and voxel -1")
	f.BoolVar(&j.bare, "no-header", false, "omit the provenance line and the column names of CSV")
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`; for several images, to this folder")
	j.addProvenance(f)
	j.In.AddFile(f, nil, "`TYPE` of a raw file, as in NumPy: bool, int8 to uint64, float16 to float64",
		"`N` evenly spaced levels from the least to the greatest value (default every value)")
	j.AddSlices(f, "pairs per slice of a 3D image, in CSV with a column for the slice")
	j.AddConvention(f)
	j.AddRings(f)
	if err := f.MarkHidden("periodic"); err != nil { // for the error that explains it
		return err
	}
	j.AddMask(f)
	j.AddEffort(f)
	if err := parse(); err != nil {
		return err
	}
	if err := cmp.Or(j.checkPairs(f), j.CheckOptions(), j.Check()); err != nil {
		return err
	}
	return j.AnswerImages(c, f, answering.Answers{
		One: "pairs", Many: "pairs", Extension: j.format, Provenance: j.provenance,
		Check: j.checkPlot, Answer: func(t answering.Target) error { return j.run(c, t) },
	})
}

// checkPairs rejects impossible flags.
func (j *pairsJob) checkPairs(f *pflag.FlagSet) error {
	j.selected.Within = j.within
	wrong := func(dim int) bool { return dim < 0 || dim > 2 }
	switch p := j.selected.Persistence; {
	case !slices.Contains(pairs.Formats(), ecc.Format(j.format)):
		return cli.Usagef("--format %s: want csv, json or npy", j.format)
	case !(p >= 0) || math.IsInf(p, 0):
		return cli.Usagef("--min-persistence %v: want a finite number of 0 or more", p)
	case slices.ContainsFunc(j.selected.Dims, wrong) || f.Changed("dim") && len(j.selected.Dims) == 0:
		return cli.Usagef("--dim %s: want dimensions from 0 to 2, such as 0,1", f.Lookup("dim").Value)
	case len(j.Options.Periodic) > 0:
		return cli.Usagef("--periodic: %s", ask.PeriodicPairs)
	case j.Slices && j.format != string(ecc.CSV):
		return cli.Usagef("--each-slice writes rows of many slices, as csv: leave other formats out")
	}
	return j.checkRange(f)
}

// run answers for one image and writes the confirmed answer.
func (j pairsJob) run(c *cli.Program, t answering.Target) error {
	start := time.Now()
	j.Flags, j.provenance = t.Flags, t.Provenance
	q := ask.Pairs{By: c.Pairs}
	var err error
	if q.Question, err = j.Question(c, t.Input, j.targets(j.Out)); err != nil {
		return err
	}
	a, err := q.Answer()
	if err != nil {
		return err
	}
	p := a.Provenance
	p.Program = cli.Version()
	found := a.Lines.Len()
	a.Lines = a.Lines.Select(j.selected)
	what := quantity.Count(found, "persistence pair")
	if a.Lines.Len() < found {
		what = fmt.Sprintf("%d of %s", a.Lines.Len(), what)
	}
	if j.Slices {
		what = fmt.Sprintf("persistence pairs of %d slices", len(a.Slices))
	}
	j.Confirmed(c, t.Input, p, what, start)
	return answering.WriteTo(c, j.Out, "pairs", func(w io.Writer) error {
		if !j.Slices {
			return a.Lines.Write(w, ecc.Format(j.format), p, !j.bare)
		}
		for i := range a.Slices {
			a.Slices[i] = a.Slices[i].Select(j.selected)
		}
		return pairs.WriteSlices(w, a.Slices, p, !j.bare)
	}, answering.Provenance(j.provenance, p))
}
