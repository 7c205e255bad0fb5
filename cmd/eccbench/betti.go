package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/unions"
	"eccbench/internal/workloads/ecc"
)

func bettiCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "betti", Args: "FILE", Brief: "print the verified Betti numbers of an image's sublevel sets, at every level or at some",
		Examples: []string{
			"eccbench betti bone.nii.gz",
			"eccbench betti bone.nii.gz --format npy -o bone.npy --plot bone.svg",
			"eccbench betti bone.nii.gz --at 127",
			"eccbench betti scan.raw --shape 181x217x181 --type uint8 --at 0,40,100 --format json",
			"eccbench betti ct.nii.gz --superlevel --at 200.5",
			"eccbench betti mask.tif --at 1 --superlevel --construction V",
			"eccbench betti scan.raw --shape 2048x2048x2048 --type uint8 --at 127 --shard 3/16 -o parts/",
			"eccbench betti --stack 'ct/*.tif' --at 120",
			"zcat scan.raw.gz | eccbench betti - --shape 181x217x181 --type uint8 --at 40",
			"eccbench betti 'links/shape=64x48x48/type=uint8' --at 0",
		},
		Run: doBetti,
	}
}

// A bettiJob is what was asked of betti.
type bettiJob struct {
	bare bool // without a header
	answering
	format, plot string
	provenance   string
	at           []grid.Number
	share        shareJob
}

// bettiImpls are in the order of their speed.
var bettiImpls = []string{"duality", "labels"}

func doBetti(c *cli.Program, args []string) error {
	var j bettiJob
	f := pflag.NewFlagSet("betti", pflag.ContinueOnError)
	cli.NumbersVar(f, &j.at, "at", "the sets of the voxels at or below these values alone (default every level at which a number changes)")
	f.StringVar(&j.format, "format", "csv", "csv, json, or without --at npy (for NumPy)")
	f.BoolVar(&j.bare, "no-header", false, "CSV without the line that says where the numbers are from and the names of its columns")
	f.StringVarP(&j.out, "out", "o", "", "write to this file in place of standard output")
	addProvenance(f, &j.provenance)
	f.StringVar(&j.plot, "plot", "", "draw the numbers at every level to this file too, .svg or .png")
	if err := j.addImage(f); err != nil {
		return err
	}
	j.addConvention(f)
	j.share.add(f, "Betti numbers at some values")
	j.addEffort(f)
	if err := c.Parse(bettiCommand(), f, args); err != nil {
		return err
	}
	switch {
	case !slices.Contains(betti.Formats(), ecc.Format(j.format)):
		return cli.Usagef("--format %s: want csv, json or npy", j.format)
	case len(j.at) > 0 && j.format == string(ecc.NPY):
		return cli.Usagef("--format npy is of every level: leave --at out, or take csv or json")
	case len(j.at) > 0 && j.plot != "":
		return cli.Usagef("--plot draws the numbers at every level: leave --at or --plot out")
	case j.plot != "" && !plotted(j.plot):
		return cli.Usagef("--plot %s: plots are SVG or PNG, want a name that ends in .svg or .png", j.plot)
	case j.format == string(ecc.JSON) && slices.ContainsFunc(j.at, infinite):
		return cli.Usagef("--at Inf: JSON has no infinite numbers: want finite ones, or csv")
	case j.share.asked() && len(j.at) == 0:
		return cli.Usagef("--shard is of sets at some values: give --at; curves at every level need the order of all voxels, which no shard knows")
	case j.share.asked() && slices.ContainsFunc(j.at, infinite):
		return cli.Usagef("--at Inf: all voxels and none need no shards: want finite numbers")
	}
	if err := cmp.Or(j.checkImage(f, "sets are of the values themselves"), j.checkConvention(), j.check()); err != nil {
		return err
	}
	if j.share.asked() {
		return j.doShare(c, f)
	}
	return j.ofOne(c, f.Arg(0), func(image string) error { return j.run(c, image) })
}

func infinite(n grid.Number) bool { return math.IsInf(n.Float64(), 0) }

func (j bettiJob) convention() ecc.Convention {
	return ecc.Convention{Vertices: j.construction == "V", Superlevel: j.superlevel}
}

// doShare writes one part of the numbers at some values, by who answers for slabs.
func (j bettiJob) doShare(c *cli.Program, f *pflag.FlagSet) error {
	var names []string
	for _, impl := range c.Betti.Impls {
		by, ok := impl.(betti.Slabber)
		if !ok {
			continue
		}
		name := impl.About().Name
		if names = append(names, name); j.impl == "" || j.impl == name {
			j.in.Every = true
			return sharing{answering: j.answering, shareJob: j.share, of: betti.Name, convention: j.convention(), at: j.at, by: by}.
				do(c, f, []string{"format", "no-header", "plot", "provenance"}, name)
		}
	}
	return cli.Usagef("--impl %s: parts are counted by %s alone", j.impl, strings.Join(names, ", "))
}

// A bettiRow is the numbers of the set at a value.
type bettiRow struct {
	Level grid.Number `json:"level"`
	B0    int64       `json:"b0"`
	B1    int64       `json:"b1"`
	B2    int64       `json:"b2"`
}

// run answers for one image, and writes what was confirmed.
func (j bettiJob) run(c *cli.Program, input string) error {
	name, err := j.in.Named(input)
	if err != nil {
		return err
	}
	if err := creatable(j.plot, j.provenance, j.out); err != nil {
		return err
	}
	if err := cli.Apart([]cli.Target{{Flag: "--out", Path: j.out}, {Flag: "--plot", Path: j.plot}, {Flag: "--provenance", Path: j.provenance}}, datasets.Files(name)...); err != nil {
		return err
	}
	start := time.Now()
	shown := j.spooled.Shown(input)
	opened := c.Waiting("reading "+report.VisibleText(shown), j.quiet)
	src, err := openMasked(name, "")
	opened()
	if err != nil {
		return cli.Usage(err)
	}
	defer grid.Close(src)
	c.Missing(report.VisibleText(shown), src, j.quiet)
	convention := j.convention()
	p := ecc.Describe(j.named(name), src, convention)
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: j.threads}}
	var reads int64
	keeping := j.keeps(src)
	switch {
	case len(j.at) == 0:
		reads = 4 // to count, to find minima, to join and for the fingerprint
	case keeping:
		reads = int64(len(j.at))
	default:
		reads = int64(2 * len(j.at)) // to answer and to fill
	}
	asked, digest := cli.Digested(src)
	asked, end := c.Reading(asked, reads, j.quiet)
	var rows []bettiRow
	var lines betti.Lines
	what := "Betti numbers at " + strings.ReplaceAll(cli.Listed(j.at), ",", ", ")
	if len(j.at) > 0 {
		rows, err = j.answer(betti.InConvention(c.Betti, convention), name, src, asked, keeping, conditions, &p)
	} else {
		lines, err = j.curves(betti.CurvesInConvention(c.BettiCurves, convention), name, src, asked, convention, conditions, &p)
		what = fmt.Sprintf("Betti numbers, %d changes", lines.Len())
	}
	end()
	if j.in.Every && errors.As(err, new(*grid.NotFiniteError)) {
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
	p.Program, p.Verdict = version(), "VERIFIED"
	if !j.quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: %s by %s, VERIFIED by %s, %v\n",
			shown, p.Shape, p.Type, what, p.Implementation, p.Evidence, quantity.Duration(time.Since(start)))
	}
	if j.plot != "" {
		if err := cli.WriteFile(j.plot, func(w *os.File) error { return j.draw(w, j.spooled.Shown(name), p, convention, lines) }); err != nil {
			return err
		}
	}
	if err := writeProvenance(j.provenance, p); err != nil {
		return err
	}
	return writeTo(c, j.out, "Betti numbers", func(w io.Writer) error {
		if len(j.at) == 0 {
			return lines.Write(w, ecc.Format(j.format), p, !j.bare)
		}
		return writeBetti(w, j.format, p, rows, j.bare)
	})
}

// curves gives the lines of every level, and says who answered and who confirmed it.
func (j bettiJob) curves(w bench.Workload[grid.Source, betti.Curves], name string, src, asked grid.Source, convention ecc.Convention, conditions bench.Conditions, p *ecc.Provenance) (l betti.Lines, err error) {
	impl, err := chosen(w, j.impl, name, asked, conditions, bettiImpls...)
	if err != nil {
		return l, err
	}
	if need, free := unions.Bytes(asked), runner.AvailableMemory(); free > 0 && need > free {
		return l, cli.Usagef("%s: curves take %s to be verified, %s is free; take the numbers at some values, --at", p.Input, quantity.Bytes(need), quantity.Bytes(free))
	}
	a, err := cli.Answer(w, impl, name, asked, conditions, j.budget, "answer")
	if err != nil {
		return l, err
	}
	p.Implementation, p.Witness, p.Evidence = a.By, a.Witness, a.Evidence
	return betti.LinesOf(src, a.Out, convention), nil
}

// draw draws the numbers at every level.
func (j bettiJob) draw(w io.Writer, name string, p ecc.Provenance, in ecc.Convention, lines betti.Lines) error {
	steps := []report.Step{{Name: "b0"}, {Name: "b1"}, {Name: "b2"}}
	lines.Each(func(level float32, n betti.Numbers) {
		for i, v := range []int64{n.B0, n.B1, n.B2} {
			steps[i].X, steps[i].Y = append(steps[i].X, lines.Labels.Float64(level)), append(steps[i].Y, float64(v))
		}
	})
	return drawSets(w, j.plot, name, p, in, "Betti numbers", "", steps...)
}

// keeps reports whether what answers and what fills is read once: the bits of a set take an eighth of the voxels in memory.
func (j bettiJob) keeps(src grid.Source) bool {
	return betti.KeptBytes(src) <= runner.AvailableMemory()/8
}

// answer gives the rows of all values, and says who answered and who confirmed it.
func (j bettiJob) answer(w bench.Workload[*betti.Image, betti.Numbers], name string, src, asked grid.Source, keeping bool, conditions bench.Conditions, p *ecc.Provenance) (rows []bettiRow, err error) {
	var witnesses, evidence []string
	for _, value := range j.at {
		in := &betti.Image{Source: asked, Threshold: betti.Threshold(src, value, j.superlevel)}
		if keeping {
			in = betti.Keeping(in, j.convention())
		}
		impl, err := chosen(w, j.impl, name, in, conditions, bettiImpls...)
		if err != nil {
			return nil, err
		}
		a, err := cli.Answer(w, impl, name, in, conditions, j.budget, fmt.Sprintf("answer at %v", value))
		if err != nil {
			return nil, err
		}
		p.Implementation = a.By
		if !slices.Contains(witnesses, a.Witness) {
			witnesses = append(witnesses, a.Witness)
		}
		if !slices.Contains(evidence, a.Evidence) {
			evidence = append(evidence, a.Evidence)
		}
		rows = append(rows, bettiRow{value, a.Out.B0, a.Out.B1, a.Out.B2})
	}
	p.Witness, p.Evidence = strings.Join(witnesses, ", "), strings.Join(evidence, ", ")
	return rows, nil
}

// writeBetti writes rows as csv, without a header where it is bare, or as json.
func writeBetti(w io.Writer, format string, p ecc.Provenance, rows []bettiRow, bare bool) error {
	if format == string(ecc.JSON) {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(struct {
			ecc.Provenance
			Betti []bettiRow `json:"betti"`
		}{p, rows})
	}
	var text strings.Builder
	if !bare {
		fmt.Fprintf(&text, "%s\nlevel,b0,b1,b2\n", p.Comment())
	}
	for _, r := range rows {
		fmt.Fprintf(&text, "%v,%d,%d,%d\n", r.Level, r.B0, r.B1, r.B2)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
