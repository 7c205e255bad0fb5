package main

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/cli"
	"eccbench/internal/workloads/gvf"
)

func gvfCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "gvf", Args: "FILE", Brief: "write the verified gradient vector flow of an image, after some steps or at rest",
		Examples: []string{
			"eccbench gvf vessels.nii.gz --steps 256 -o field.nii.gz",
			"eccbench gvf scan.raw --shape 181x217x181 --type uint8 --tol 1e-4 -o field.npy",
			"eccbench gvf retina.png --tol 1e-5 --mu 0.2 -o field.npy",
			"eccbench gvf --stack 'ct/*.tif' --steps 100 --boundary third -o field.nrrd",
			"eccbench gvf cells.tif --mask labels.tif --steps 200 -o flows.npy --plot flows.png",
			"eccbench gvf 'ball/shape=64x64x64/type=uint8' --steps 64 -o field.mha",
		},
		Run: doGVF,
	}
}

// A gvfJob is what was asked of gvf.
type gvfJob struct {
	answering
	steps    int64
	tol, mu  float64
	boundary string
	mask     string
	plot     string
}

func doGVF(c *cli.Program, args []string) error {
	var j gvfJob
	f := pflag.NewFlagSet("gvf", pflag.ContinueOnError)
	f.Int64Var(&j.steps, "steps", 0, "the field after so many explicit steps")
	f.Float64Var(&j.tol, "tol", 0, "the steady state, to a residual of so much of |b·V0|: 1e-4")
	f.Float64Var(&j.mu, "mu", 0.05, "weight μ of the diffusion")
	f.StringVar(&j.boundary, "boundary", gvf.Replicate.String(), "the neighbour beyond a border: replicate, the voxel at it, or third, the one before that")
	f.StringVar(&j.mask, "mask", "", "an image of the same shape: nothing flows between voxels whose values in it differ, and where it is 0 there is no image; with --steps alone")
	f.StringVar(&j.plot, "plot", "", "draw the field to this .png file: magnitudes and arrows, of a volume the middle slice")
	f.StringVarP(&j.out, "out", "o", "", "write the field to this file: "+strings.Join(gvf.Extensions(), ", "))
	if err := j.addImage(f); err != nil {
		return err
	}
	j.addEffort(f)
	if err := c.Parse(gvfCommand(), f, args); err != nil {
		return err
	}
	switch {
	case f.Changed("steps") == f.Changed("tol"):
		return cli.Usagef("gvf wants one of --steps N, the field after N steps, and --tol E, the steady state")
	case f.Changed("tol") && !(j.tol > 0 && j.tol < 1):
		return cli.Usagef("--tol %v: want more than 0 and less than 1, such as 1e-4", j.tol)
	case j.steps < 0:
		return cli.Usagef("--steps %d: want 0 or more", j.steps)
	case !(j.mu > 0) || math.IsInf(float64(float32(j.mu)), 0) || float32(j.mu) == 0:
		return cli.Usagef("--mu %v: want a number above 0, such as 0.05", j.mu)
	case !slices.Contains(gvf.Boundaries(), j.boundary):
		return cli.Usagef("--boundary %s: want %s", j.boundary, strings.Join(gvf.Boundaries(), " or "))
	case j.out == "":
		return cli.Usagef("--out is missing: want a file for the field, such as -o field.npy")
	case gvf.Extension(j.out) == "":
		return cli.Usagef("--out %s: want a name that ends in %s", j.out, strings.Join(gvf.Extensions(), ", "))
	case j.plot != "" && !strings.HasSuffix(strings.ToLower(j.plot), ".png"):
		return cli.Usagef("--plot %s: want a name that ends in .png", j.plot)
	}
	if err := cmp.Or(j.checkImage(f, "the field is of the values themselves"), j.check()); err != nil {
		return err
	}
	return j.ofOne(c, f.Arg(0), func(image string) error { return j.run(c, image) })
}

// gvfImpls are in the order in which they are asked: the first three on the cores, fast ones first,
// and where the field takes more memory than they may have, on a device in slabs.
var gvfImpls = []string{"blocked", "cpu", "definition", "slabs-gpu"}

// run answers for one image, and writes the field that was confirmed.
func (j gvfJob) run(c *cli.Program, input string) error {
	var mask string
	var err error
	var files []string
	if j.mask != "" {
		if mask, err = j.in.NamedWhole(j.mask); err != nil {
			return err
		}
		files = datasets.Files(mask)
	}
	image, err := j.whole(c, input, []cli.Target{{Flag: "--out", Path: j.out}, {Flag: "--plot", Path: j.plot}}, files...)
	if err != nil {
		return err
	}
	w, impls, what := c.Flow, gvfImpls, fmt.Sprintf("field after %d steps", j.steps)
	if j.tol != 0 {
		w, impls, what = c.Steady, []string{"multigrid"}, fmt.Sprintf("steady state to %v", j.tol)
	}
	problem := gvf.NewProblem(image.Field, float32(j.mu), j.steps, j.tol, gvf.Boundary(slices.Index(gvf.Boundaries(), j.boundary)))
	if mask != "" {
		within, err := loadWhole(mask)
		if err != nil {
			return fmt.Errorf("--mask: %w", err)
		}
		c.Missing("--mask", within, j.quiet)
		if problem, err = problem.Within(within); err != nil {
			return cli.Usagef("--mask %s: %w", j.mask, err)
		}
		what += " within a mask"
	}
	a, err := ofWhole(c, j.answering, w, image, problem, what, impls...)
	if err != nil {
		return err
	}
	confirmed := fmt.Sprintf("%s, mu %v, boundary %s, by %s, VERIFIED by ", what, float32(j.mu), j.boundary, a.By)
	note := fmt.Sprintf("%s%s by %s: %s", confirmed, a.Witness, version(), j.noted(image))
	if err := cli.WriteFile(j.out, func(f *os.File) error {
		return gvf.Write(f, gvf.Extension(j.out), image.Shape(), a.Out.WithAxes(image.Dim()), note)
	}); err != nil {
		return err
	}
	if j.plot != "" {
		if err := cli.WriteFile(j.plot, func(f *os.File) error { return drawField(f, image.Shape(), a.Out) }); err != nil {
			return err
		}
	}
	if !j.quiet {
		tell(c, image, confirmed+a.Evidence, a, "")
	}
	return nil
}
