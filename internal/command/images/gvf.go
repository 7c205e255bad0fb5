package images

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/workloads/gvf"
)

// GVF returns the command gvf.
func GVF() cli.Subcommand {
	return cli.Subcommand{
		Name: "gvf", Args: "FILE...", Brief: "write the verified gradient vector flow of images",
		Examples: []string{
			"eccbench gvf vessels.nii.gz --steps 256 -o field.nii.gz",
			"eccbench gvf scan.raw --shape 181x217x181 --type uint8 --tol 1e-4 -o field.npy",
			"eccbench gvf retina.png --tol 1e-5 --mu 0.2 -o field.npy",
			"eccbench gvf --stack 'ct/*.tif' --steps 100 --boundary third -o field.nrrd",
			"eccbench gvf cells.tif --mask labels.tif --steps 200 -o flows.npy --plot flows.png",
			"eccbench gvf scans/ --steps 100 -o fields",
			"eccbench gvf 'ball/shape=64x64x64/type=uint8' --steps 64 -o field.mha",
		},
		Run: doGVF,
	}
}

// A gvfJob is a parsed gvf command.
type gvfJob struct {
	answering.Flags
	flow ask.FlowOptions
	plot string
}

func doGVF(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j gvfJob
	f.Int64Var(&j.flow.Steps, "steps", 0, "the field after `N` explicit steps")
	f.Float64Var(&j.flow.Tol, "tol", 0, "the steady state, to a residual of `X` times |b·V0|, such as 1e-4")
	f.Float64Var(&j.flow.Mu, "mu", 0.05, "weight μ of the diffusion")
	f.StringVar(&j.flow.Boundary, "boundary", gvf.Replicate.String(),
		"neighbour beyond a border: replicate (the border voxel) or third (the one before it)")
	f.StringVar(&j.Mask, "mask", "",
		"labels `FILE` of the same shape: nothing flows between labels, and 0 is no image; only with --steps")
	f.StringVar(&j.plot, "plot", "",
		"draw magnitudes and arrows to this .png `FILE`, for volumes of the middle slice; for several images, to this folder")
	f.StringVarP(&j.Out, "out", "o", "",
		"write the field, components x, y, z, to this `FILE` ("+strings.Join(gvf.Extensions(), ", ")+"); for several images, npy to this folder")
	if err := j.AddImage(f); err != nil {
		return err
	}
	j.AddEffort(f)
	if err := parse(); err != nil {
		return err
	}
	switch {
	case f.Changed("steps") == f.Changed("tol"):
		return cli.Usagef("gvf wants one of --steps N, the field after N steps, and --tol E, the steady state")
	case f.Changed("tol") && j.flow.Tol == 0:
		return ask.OptionError{Option: "tol", Value: "0", Want: "want more than 0 and less than 1, such as 1e-4"}
	case j.flow.Check() != nil:
		return j.flow.Check()
	case j.Out == "":
		return cli.Usagef("--out is missing: want a file for the field, such as -o field.npy")
	case f.Changed("levels"):
		return cli.Usagef("--levels: the field is computed from the values: leave it out")
	}
	if err := j.Check(); err != nil {
		return err
	}
	return j.AnswerImages(c, f, answering.Answers{
		One: "field", Many: "fields", Extension: "npy", Plot: j.plot, PlotExtension: ".png",
		Check: j.checkTargets, CheckMany: j.checkFolder,
		Answer: func(t answering.Target) error { return j.run(c, t) },
	})
}

// checkTargets returns an error for an output file whose name has no known extension.
func (j gvfJob) checkTargets() error {
	if gvf.Extension(j.Out) == "" {
		return cli.Usagef("--out %s: want a name that ends in %s", j.Out, strings.Join(gvf.Extensions(), ", "))
	}
	if j.plot != "" && !strings.HasSuffix(strings.ToLower(j.plot), ".png") {
		return cli.Usagef("--plot %s: want a name that ends in .png", j.plot)
	}
	return nil
}

// checkFolder returns an error if --out of several images has the name of a file.
func (j gvfJob) checkFolder() error {
	if gvf.Extension(j.Out) != "" {
		return cli.Usagef("--out %s: several fields want a folder, such as -o fields", j.Out)
	}
	return nil
}

// run answers for one image and writes the confirmed field.
func (j gvfJob) run(c *cli.Program, t answering.Target) error {
	start := time.Now()
	j.Flags, j.plot = t.Flags, t.Plot
	q := ask.Flow{FlowOptions: j.flow, By: c.Flow, Steady: c.Steady}
	var err error
	targets := []cli.Target{{Flag: "--out", Path: j.Out}, {Flag: "--plot", Path: j.plot}}
	if q.Question, err = j.Question(c, t.Input, targets); err != nil {
		return err
	}
	a, err := q.Answer()
	if err != nil {
		return err
	}
	confirmed := fmt.Sprintf("%s, mu %v, boundary %s, by %s, VERIFIED by ",
		a.What, float32(j.flow.Mu), j.flow.Boundary, a.By)
	note := fmt.Sprintf("%s%s by %s: %s", confirmed, a.Witness, cli.Version(), j.Noted(a.Image))
	place, err := a.Image.Name.Geometry()
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		field := a.Out.WithAxes(a.Image.Dim())
		return gvf.Write(w, gvf.Extension(j.Out), a.Image.Shape(), field, answering.Place(place), note)
	}
	plot := func(w *os.File) error { return drawField(w, a.Image.Shape(), a.Out) }
	if err := answering.WriteTo(c, j.Out, "field", write, cli.File{Path: j.plot, Write: plot}); err != nil {
		return err
	}
	if !j.Quiet {
		answering.Tell(c, q.Shown, a.Image, start, confirmed+a.Evidence, a.Answered, "")
	}
	return nil
}
