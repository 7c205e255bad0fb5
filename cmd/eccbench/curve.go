package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/ecc"
)

func curveCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "curve", Args: "FILE...", Brief: "print the verified Euler characteristic curve of an image, or write those of several",
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

// A curveJob is what was asked of curve.
type curveJob struct {
	answering
	rows
	periodic  []string
	rings     grid.Axes // of periodic
	mask, nan string
	slices    bool
	even      int64 // levels that the curve of all values is taken at; 0 for those of an image that is put on them
	share     shareJob
	between   string
	table     string
}

func doCurve(c *cli.Program, args []string) error {
	var j curveJob
	f := pflag.NewFlagSet("curve", pflag.ContinueOnError)
	j.rows.add(f)
	f.StringVarP(&j.out, "out", "o", "", "write to this file in place of standard output; of several images, or of a part, to this folder")
	f.StringVar(&j.plot, "plot", "", "draw the curve to this file too, .svg or .png; of several images, to this folder, SVG")
	j.in.AddFile(f, nil, "element type of a raw file, as NumPy calls it: bool, integers from int8 to uint64, float16, float32, float64", "levels, evenly from the least value of the image to the greatest (default every value)")
	f.BoolVar(&j.slices, "each-slice", false, "a curve of each slice of a 3D image by itself: CSV or jsonl with a column for the slice")
	j.addConvention(f)
	f.StringSliceVar(&j.periodic, "periodic", nil, "axes along which the last voxels and the first are neighbours: x,y,z")
	f.StringVar(&j.mask, "mask", "", "an image of the same shape: voxels where it is 0 are no part of the image")
	f.StringVar(&j.nan, "nan", "refuse", "NaN in the image: refuse, or mask: voxels that are no part of it")
	j.share.add(f, "curve")
	f.StringVar(&j.between, "between", "", "with --shard and --levels: LO,HI, the least and the greatest value of the whole image, which eccbench levels tells")
	f.StringVar(&j.table, "table", "", "with --shard: a file of all distinct values of the whole float32 image, which eccbench levels --distinct writes")
	j.addEffort(f)
	if err := c.Parse(curveCommand(), f, args); err != nil {
		return err
	}
	err := cmp.Or(j.rows.check(f), j.checkConvention(), j.answering.check())
	if err != nil {
		return err
	}
	if j.rings, err = grid.ParseAxes(j.periodic); err != nil {
		return cli.Usagef("--periodic: %w", err)
	}
	if f.Changed("levels") && (j.construction == "V" || j.superlevel || j.mask != "" || j.nan == "mask") && !j.share.asked() {
		if j.even, err = j.in.TakeLevels(); err != nil {
			return err
		}
	} else if f.Changed("levels") && (j.construction == "V" || j.superlevel) {
		return cli.Usagef("--levels of shards puts values on levels from below, which is for sublevel sets in the T-construction: leave --levels out")
	}
	if j.slices && (j.plot != "" || len(j.at) > 0 || j.format != string(ecc.CSV) && j.format != string(ecc.JSONL)) {
		return cli.Usagef("--each-slice writes rows of many curves, as csv or jsonl: leave --plot, --at and other formats out")
	}
	if j.nan != "refuse" && j.nan != "mask" {
		return cli.Usagef("--nan %s: want refuse or mask", j.nan)
	}
	// Where rows are of the levels that change, nobody needs to know the others.
	j.in.Once = j.impl == "" || j.impl == everyImpl
	j.in.Every = j.in.Once && (j.even > 0 || !j.every())
	if j.in.Gaps = j.nan == "mask"; j.in.Gaps && (!j.in.Every || j.share.asked() && f.Changed("levels")) {
		return cli.Usagef("--nan mask counts on every float32, of which --all and --format euler make too many rows, by %s alone", everyImpl)
	}
	if j.share.asked() {
		return j.doShare(c, f)
	}
	for _, name := range []string{"between", "table"} {
		if f.Changed(name) {
			return cli.Usagef("--%s is for shards, which do not know the whole image: leave it out", name)
		}
	}
	images, folders, err := f.Args(), false, error(nil)
	if j.in.Stack {
		images, err = stacks(images)
	} else {
		images, folders, err = listed(images)
	}
	if err == nil {
		if images, j.spooled, err = c.Spool(images); err == nil {
			defer j.spooled.Close() // of what nobody else reads
		}
	}
	return j.spooled.Said(j.answer(c, f, images, folders, err))
}

// answer prints or writes the curves of images.
func (j curveJob) answer(c *cli.Program, f *pflag.FlagSet, images []string, folders bool, err error) error {
	if j.in.Volume == everyVolume && err == nil && len(images) > 0 {
		return j.volumes(c, images)
	}
	switch {
	case err != nil:
		return err
	case len(images) == 0:
		return cli.Usagef("curve wants an image file, a folder of them, an input string or - for standard input")
	case len(images) > 1 || folders:
		return j.several(c, j.each(images))
	}
	if err := j.rows.writable(j.out); err != nil {
		return err
	}
	return j.run(c, images[0])
}

func (j curveJob) convention() ecc.Convention {
	return ecc.Convention{Vertices: j.construction == "V", Superlevel: j.superlevel, Periodic: j.rings, Masked: j.mask != "" || j.in.Gaps}
}

// everyImpl counts on the ladder of every float32, and an image that is read once. It and cpu
// are in the order of their speed; a device takes longer to start than a file of its size takes
// to read.
const everyImpl = "extrema"

var curveImpls = []string{everyImpl, "cpu"}

func (j curveJob) run(c *cli.Program, input string) error {
	name, err := j.in.Named(input)
	if err != nil {
		return err
	}
	files := datasets.Files(name)
	mask := ""
	if j.mask != "" {
		if mask, err = j.in.NamedWhole(j.mask); err != nil {
			return err
		}
		files = append(files, datasets.Files(mask)...)
	}
	if err := cli.Apart([]cli.Target{{Flag: "--out", Path: j.out}, {Flag: "--plot", Path: j.plot}, {Flag: "--provenance", Path: j.provenance}}, files...); err != nil {
		return err
	}
	start := time.Now()
	shown := j.spooled.Shown(input)
	opened := c.Waiting("reading "+report.VisibleText(shown), j.quiet)
	src, err := openMasked(name, mask)
	opened()
	if errors.As(err, new(datasets.LevelsError)) {
		j.in.Every = j.in.Once
		if j.even, err = j.in.TakeLevels(); err == nil {
			return j.run(c, input)
		}
	}
	if err != nil {
		return cli.Usage(err)
	}
	defer grid.Close(src)
	c.Missing(report.VisibleText(shown), src, j.quiet)
	in, turned := j.convention(), src
	turned, in.Periodic = grid.Upright(src, j.rings)
	if err := in.Periodic.Of(turned.Shape()); err != nil {
		return cli.Usagef("--periodic %s: %s: %w", j.rings, input, err)
	}
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: j.threads}}
	impl := j.impl
	if impl == "" {
		var refusals []error
		if impl, refusals = cli.Fastest(ecc.InConvention(c.Curve, in), turned, conditions, curveImpls...); impl == "" {
			if j.in.Every { // which only one of them takes
				j.in.Every = false
				return j.run(c, input)
			}
			return fmt.Errorf("%s: no implementation takes it: %w", input, errors.Join(refusals...))
		}
	}
	if j.in.Once && impl != everyImpl {
		j.in.Once = false
		return j.run(c, input)
	}
	p := ecc.Describe(j.named(name), grid.Unmasked(src), j.convention())
	p.Mask = j.named(mask)
	// An image that is read is counted and checked as it is; one in memory, at once, one
	// that repeats itself, by little of it.
	w, times := ecc.InConvention(c.Curve, in, c.Eyes...), int64(2)
	if _, whole := src.(*grid.Field); j.slices {
		times = 1
	} else if !whole && grid.Period(src) == 0 && impl == everyImpl {
		w, times = ecc.InOnePass(c.Curve, in, 0), 1
	}
	asked, digest := cli.Digested(src)
	asked, _ = grid.Upright(asked, j.rings)
	asked, end := c.Reading(asked, times, j.quiet)
	var answered cli.Answered[ecc.VCEC]
	var slices []ecc.Lines
	if j.slices {
		slices, answered, err = j.answerSlices(c, asked, impl, name, conditions)
	} else {
		answered, err = cli.Answer(w, impl, name, asked, conditions, j.budget, "curve")
	}
	end()
	if j.in.Every && !j.in.Gaps && errors.As(err, new(*grid.NotFiniteError)) {
		j.in.Every = false // who lists the values counts all that are not
		return j.run(c, input)
	}
	if err != nil {
		return err
	}
	if p.Digest, err = digest(); err != nil {
		return err
	}
	p.Missing = c.Missing(report.VisibleText(shown), src, j.quiet)
	lines := ecc.LinesOf(src, answered.Out, j.convention(), j.every())
	if j.even > 0 {
		if p.Ladder, err = j.sample(name, mask, &lines, slices); err != nil {
			return err
		}
	}
	p.Implementation, p.Program, p.Verdict, p.Witness, p.Evidence = answered.By, version(), "VERIFIED", answered.Witness, answered.Evidence
	if !j.quiet {
		if j.in.Volume != "" {
			shown += ", volume " + j.in.Volume
		}
		what := fmt.Sprintf("%d changes", len(lines.Curve))
		if j.slices {
			what = fmt.Sprintf("curves of %d slices", len(slices))
		}
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: %s by %s, VERIFIED by %s, %v\n",
			shown, p.Shape, p.Type, what, p.Implementation, p.Evidence, quantity.Duration(time.Since(start)))
	}
	if j.slices {
		if err := writeProvenance(j.provenance, p); err != nil {
			return err
		}
		return writeTo(c, j.out, "curve", func(w io.Writer) error {
			for i := range slices {
				slices[i] = j.ranged(slices[i])
			}
			return ecc.WriteSlices(w, slices, ecc.Format(j.format), p, !j.rows.bare)
		})
	}
	return j.rows.write(c, j.out, j.spooled.Shown(name), p, j.ranged(lines).Len(), func(yield func(ecc.Lines, error) bool) { yield(lines, nil) })
}

// openMasked opens an image, without what a mask leaves out of it where that has a name.
func openMasked(name, mask string) (grid.Source, error) {
	memory := runner.AvailableMemory()
	src, err := datasets.OpenIn(memory, name)
	if err != nil || mask == "" {
		return src, err
	}
	within, err := datasets.OpenIn(memory, mask)
	if err != nil {
		grid.Close(src)
		return nil, fmt.Errorf("--mask: %w", err)
	}
	masked, err := grid.Mask(src, within)
	if err != nil {
		grid.Close(src)
		grid.Close(within)
		return nil, fmt.Errorf("--mask: %w", err)
	}
	return masked, nil
}
