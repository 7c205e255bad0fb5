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
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

func bettiCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "betti", Args: "FILE", Brief: "print the verified Betti numbers of an image's sublevel sets at some levels",
		Examples: []string{
			"eccbench betti bone.nii.gz --at 127",
			"eccbench betti scan.raw --shape 181x217x181 --type uint8 --at 0,40,100 --format json",
			"eccbench betti ct.nii.gz --superlevel --at 200.5",
			"eccbench betti mask.tif --at 1 --superlevel --construction V",
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
	format string
	at     []float64
}

// bettiImpls are in the order of their speed.
var bettiImpls = []string{"duality", "labels"}

func doBetti(c *cli.Program, args []string) error {
	var j bettiJob
	f := pflag.NewFlagSet("betti", pflag.ContinueOnError)
	f.Float64SliceVar(&j.at, "at", nil, "the values of the sets: of the voxels at or below each of them")
	f.StringVar(&j.format, "format", "csv", "csv or json")
	f.BoolVar(&j.bare, "no-header", false, "CSV without the line that says where the numbers are from and the names of its columns")
	f.StringVarP(&j.out, "out", "o", "", "write to this file in place of standard output")
	j.in.AddFile(f, nil, "element type of a raw file: uint8, int16, uint16, float32", "")
	if err := f.MarkHidden("levels"); err != nil { // sets are of values
		return err
	}
	j.addConvention(f)
	j.addEffort(f)
	if err := c.Parse(bettiCommand(), f, args); err != nil {
		return err
	}
	switch {
	case j.format != "csv" && j.format != "json":
		return cli.Usagef("--format %s: want csv or json", j.format)
	case len(j.at) == 0:
		return cli.Usagef("--at is missing: want the values of the sets, such as --at 127")
	case slices.ContainsFunc(j.at, math.IsNaN):
		return cli.Usagef("--at NaN: want numbers")
	case f.Changed("levels"):
		return cli.Usagef("--levels: sets are of the values themselves: leave it out")
	case j.in.Volume == everyVolume:
		return cli.Usagef("--volume all: want the number of one image")
	case f.NArg() != 1:
		return cli.Usagef("betti wants one image: a file, an input string or - for standard input; with --stack a folder or a pattern")
	}
	if err := cmp.Or(j.checkConvention(), j.check()); err != nil {
		return err
	}
	return j.ofOne(c, f.Arg(0), func(image string) error { return j.run(c, image) })
}

// A bettiRow is the numbers of the set at a value.
type bettiRow struct {
	Level float64 `json:"level"`
	B0    int64   `json:"b0"`
	B1    int64   `json:"b1"`
	B2    int64   `json:"b2"`
}

// run answers for one image, a value after the other, and writes what was confirmed.
func (j bettiJob) run(c *cli.Program, input string) error {
	name, err := j.in.Named(input)
	if err != nil {
		return err
	}
	if j.out != "" {
		if err := cli.Writable(j.out); err != nil {
			return err
		}
	}
	if err := cli.Apart([]cli.Target{{Flag: "--out", Path: j.out}}, datasets.Files(name)...); err != nil {
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
	convention := ecc.Convention{Vertices: j.construction == "V", Superlevel: j.superlevel}
	p := ecc.Describe(j.named(name), src, convention)
	w := betti.InConvention(c.Betti, convention)
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: j.threads}}
	const reads = 3 // to answer, to fill and to count cells
	asked, digest := cli.Digested(src)
	asked, end := c.Reading(asked, reads*int64(len(j.at)), j.quiet)
	rows, err := j.answer(w, name, src, asked, conditions, &p)
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
	p.Program, p.Verdict = version(), "VERIFIED"
	if !j.quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: Betti numbers at %s by %s, VERIFIED by %s, %v\n",
			shown, p.Shape, p.Type, strings.Trim(strings.ReplaceAll(fmt.Sprint(j.at), " ", ", "), "[]"), p.Implementation, p.Witness, quantity.Duration(time.Since(start)))
	}
	if j.out != "" {
		return cli.WriteFile(j.out, func(w *os.File) error { return j.write(w, p, rows) })
	}
	if err := j.write(cli.Raw(c.Stdout), p, rows); err != nil {
		return fmt.Errorf("writing the Betti numbers: %w", err)
	}
	return nil
}

// answer gives the rows of all values, and says who answered and who confirmed it.
func (j bettiJob) answer(w bench.Workload[*betti.Image, betti.Numbers], name string, src, asked grid.Source, conditions bench.Conditions, p *ecc.Provenance) (rows []bettiRow, err error) {
	var witnesses []string
	for _, value := range j.at {
		in := &betti.Image{Source: asked, Threshold: betti.Threshold(src, value, j.superlevel)}
		impl := j.impl
		if impl == "" {
			var refusals []error
			if impl, refusals = cli.Fastest(w, in, conditions, bettiImpls...); impl == "" {
				return nil, fmt.Errorf("%s: no implementation takes it: %w", name, errors.Join(refusals...))
			}
		}
		a, err := cli.Answer(w, impl, name, in, conditions, j.budget, fmt.Sprintf("answer at %v", value))
		if err != nil {
			return nil, err
		}
		p.Implementation = a.By
		if !slices.Contains(witnesses, a.Witness) {
			witnesses = append(witnesses, a.Witness)
		}
		rows = append(rows, bettiRow{value, a.Out.B0, a.Out.B1, a.Out.B2})
	}
	p.Witness = strings.Join(witnesses, ", ")
	return rows, nil
}

func (j bettiJob) write(w io.Writer, p ecc.Provenance, rows []bettiRow) error {
	if j.format == "json" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(struct {
			ecc.Provenance
			Betti []bettiRow `json:"betti"`
		}{p, rows})
	}
	var text strings.Builder
	if !j.bare {
		fmt.Fprintf(&text, "%s\nlevel,b0,b1,b2\n", p.Comment())
	}
	for _, r := range rows {
		fmt.Fprintf(&text, "%v,%d,%d,%d\n", r.Level, r.B0, r.B1, r.B2)
	}
	_, err := io.WriteString(w, text.String())
	return err
}
