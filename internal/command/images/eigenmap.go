package images

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/grid"
	"eccbench/internal/headers"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/masks"
)

// Eigenmap returns the command eigenmap.
func Eigenmap() cli.Subcommand {
	return cli.Subcommand{
		Name: "eigenmap", Args: "FILE...", Brief: "print verified eigenvalues of image graphs, write the cuts",
		Examples: []string{
			"eccbench eigenmap retina.png -k 4 -o mask.png",
			"eccbench eigenmap retina.png --graph patch --alpha 40 --beta 5 -o mask.png",
			"eccbench eigenmap scan.nii.gz -k 4 --sigma 0.05 --vectors vectors.nii.gz -o mask.nii.gz",
			"eccbench eigenmap vessels.png --graph patch --truth labels.png",
			"eccbench eigenmap vessels.png --graph patch --steps 250 -o mask.png",
			"eccbench eigenmap cells/ --sigma 0.05 --out masks",
		},
		Run: doEigenmap,
	}
}

// An eigenmapJob is a parsed eigenmap command.
type eigenmapJob struct {
	answering.Flags
	graph          ask.EigenmapOptions
	vectors, truth string
}

// add adds the flags.
func (j *eigenmapJob) add(f *pflag.FlagSet) error {
	f.StringVar(&j.graph.Graph, "graph", "grid",
		"grid: a node per voxel, linked to neighbours; patch: a node per patch, linked to all")
	f.IntVarP(&j.graph.Pairs, "pairs", "k", 0, "number of lowest pairs (default 4, for patches 2)")
	f.Float64Var(&j.graph.Tol, "tol", 0, "largest |Lx − λx| (default 1e-6, for patches 1e-8)")
	f.Float64Var(&j.graph.Sigma, "sigma", 0.1, "grid: σ of the weight exp(−Δ²/σ²) + floor, for values from 0 to 1")
	f.Float64Var(&j.graph.Floor, "floor", 0.001, "grid: least weight")
	f.BoolVar(&j.graph.Corners, "corners", false, "grid: voxels that share a corner or an edge are neighbours too")
	f.Int64Var(&j.graph.Radius, "radius", 1, "grid: voxels within this distance are neighbours")
	f.BoolVar(&j.graph.Plain, "plain", false, "grid: the Laplacian D − W in place of I − D^−½WD^−½")
	f.Float64Var(&j.graph.Alpha, "alpha", 40, "patch: scale of grey differences, from 0 to 255")
	f.Float64Var(&j.graph.Beta, "beta", 5, "patch: scale of distances, in patches")
	f.Int64Var(&j.graph.Side, "side", 4, "patch: side in voxels")
	f.IntVar(&j.graph.Steps, "steps", 0, "patch: the result of `N` Lanczos steps, converged or not")
	f.Uint64Var(&j.graph.Seed, "seed", 1, "patch: seed of the start vector of --steps")
	f.StringVarP(&j.Out, "out", "o", "",
		"write the mask to this `FILE` ("+strings.Join(masks.Extensions(), ", ")+"); "+
			"for several images, npy to this folder")
	f.StringVar(&j.vectors, "vectors", "",
		"write the vectors, as pictures or numbers, to this `FILE` (the same formats); "+
			"for several images, npy to this folder")
	f.StringVar(&j.truth, "truth", "",
		"print the Dice against this image `FILE` (0 outside), and of the best plain threshold")
	if err := j.AddImage(f); err != nil {
		return err
	}
	j.AddEffort(f)
	f.Lookup("time-limit").Usage = "time for the verification (default 15m: the proof that no pair is missing of " +
		"volumes up to about 128³)"
	return nil
}

// check sets the defaults that depend on the graph, and rejects impossible flags.
func (j *eigenmapJob) check(f *pflag.FlagSet) error {
	ofGrid := []string{"sigma", "floor", "corners", "radius", "plain"}
	ofPatches := []string{"alpha", "beta", "side", "steps", "seed"}
	foreign := ofPatches
	if j.graph.Graph == "patch" {
		foreign = ofGrid
	}
	for _, name := range foreign {
		if f.Changed(name) {
			return cli.Usagef("--%s does not apply to --graph %s: leave it out", name, j.graph.Graph)
		}
	}
	if !f.Changed("pairs") {
		if j.graph.Pairs = 4; j.graph.Graph == "patch" {
			j.graph.Pairs = 2
		}
	}
	if !f.Changed("tol") {
		if j.graph.Tol = 1e-6; j.graph.Graph == "patch" {
			j.graph.Tol = 1e-8
		}
	}
	switch {
	case f.Changed("steps") && j.graph.Steps == 0:
		return ask.OptionError{Option: "steps", Value: "0", Want: "want 2 or more"}
	case j.graph.Check() != nil:
		return j.graph.Check()
	case f.Changed("steps") && f.Changed("tol"):
		return cli.Usagef("--steps and --tol: steps reach what they reach; give one of them")
	case f.Changed("seed") && !f.Changed("steps"):
		return cli.Usagef("--seed needs --steps: leave it out")
	case j.graph.Pairs < 2 && (j.Out != "" || j.truth != ""):
		return cli.Usagef("-k %d: the mask comes from the second vector; want 2 or more", j.graph.Pairs)
	case f.Changed("levels"):
		return cli.Usagef("--levels: weights are computed from the values: leave it out")
	}
	return j.Check()
}

func doEigenmap(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j eigenmapJob
	if err := cmp.Or(j.add(f), parse()); err != nil {
		return err
	}
	if err := j.check(f); err != nil {
		return err
	}
	if !f.Changed("time-limit") {
		j.Budget = 15 * time.Minute
	}
	return j.AnswerImages(c, f, answering.Answers{
		One: "eigenmap", Many: "eigenmaps", Extension: "npy", Plot: j.vectors, PlotExtension: ".npy",
		Check: j.checkTargets, CheckMany: j.checkFolder,
		Answer: func(t answering.Target) error { return j.run(c, t) },
	})
}

// checkTargets returns an error for an output file whose name has no known extension.
func (j eigenmapJob) checkTargets() error {
	for _, path := range []string{j.Out, j.vectors} {
		if path != "" && masks.Extension(path) == "" {
			return cli.Usagef("%s: want a name that ends in %s", path, strings.Join(masks.Extensions(), ", "))
		}
	}
	return nil
}

// checkFolder returns an error for flags that several images cannot have.
func (j eigenmapJob) checkFolder() error {
	switch {
	case masks.Extension(j.Out) != "":
		return cli.Usagef("--out %s: several masks want a folder, such as -o masks", j.Out)
	case j.truth != "":
		return cli.Usagef("--truth applies to one image: leave it out")
	}
	return nil
}

// run answers for one image and writes the confirmed answer.
func (j eigenmapJob) run(c *cli.Program, t answering.Target) error {
	start := time.Now()
	j.Flags, j.vectors = t.Flags, t.Plot
	q := ask.Eigenmap{EigenmapOptions: j.graph, Voxels: c.Voxels, Patches: c.Patches, Lanczos: c.Lanczos}
	var err error
	targets := []cli.Target{{Flag: "--out", Path: j.Out}, {Flag: "--vectors", Path: j.vectors}}
	if q.Question, err = j.Question(c, t.Input, targets, j.truth); err != nil {
		return err
	}
	if j.truth != "" {
		q.TruthShown = j.truth
		if q.Truth, err = j.In.NamedWhole(j.truth); err != nil {
			return err
		}
	}
	a, err := q.Answer()
	if err != nil {
		return err
	}
	confirmed := fmt.Sprintf("%s, by %s, VERIFIED by ", a.What, a.By)
	note := fmt.Sprintf("%s%s by %s: %s", confirmed, a.Witness, cli.Version(), j.Noted(a.Image))
	found := eigenmap.Voxelwise(a.Of, a.Of.Nodewise(a.Out))
	place, err := a.Image.Name.Geometry()
	if err != nil {
		return err
	}
	if err := answering.WriteTo(c, "", "eigenvalues", func(out io.Writer) error {
		table := "pair,value,residual\n"
		if t.Several { // tables of several images are printed
			of := q.Shown
			if j.In.Volume != "" {
				of += ", volume " + j.In.Volume
			}
			table = "# " + of + "\n" + table
		}
		for k, v := range a.Out.Values {
			table += fmt.Sprintf("%d,%g,%.3g\n", k+1, v, a.Residuals[k])
		}
		_, err := io.WriteString(out, table)
		return err
	}, j.files(a, found, answering.Place(place), note)...); err != nil {
		return err
	}
	if j.Quiet {
		return nil
	}
	more := ""
	if j.graph.Pairs > 1 {
		more = ", " + segmented(found)
	}
	answering.Tell(c, q.Shown, a.Image, start, confirmed+a.Evidence, a.Answered, more)
	if a.Truth == nil {
		return nil
	}
	return tellDice(c, q.Shown, a, found)
}

// tellDice compares a mask with the truth, and with the best threshold.
func tellDice(c *cli.Program, shown string, a ask.EigenmapAnswer, found []bool) error {
	f, err := grid.Load(a.Of.Source)
	if err != nil {
		return err
	}
	best, threshold, above := masks.BestThreshold(f.Floats(), a.Truth)
	side := "up to"
	if above {
		side = "from"
	}
	fmt.Fprintf(c.Stderr, "eccbench: %s: Dice of the mask %.4f; of the best plain threshold, all values %s %s, %.4f\n",
		shown, masks.Dice(found, a.Truth), side, f.Labels().Append(nil, threshold), best)
	return nil
}

// files returns the files of the segmentation and of the eigenvectors that the flags name. A NIfTI
// file gets the place of the image.
func (j eigenmapJob) files(a ask.EigenmapAnswer, found []bool, place *headers.Place, note string) []cli.File {
	return []cli.File{{Path: j.Out, Write: func(f *os.File) error {
		return masks.WriteMask(f, masks.Extension(j.Out), a.Image.Field, found, place, note)
	}}, {Path: j.vectors, Write: func(f *os.File) error {
		vectors := make([][]float64, len(a.Out.Vectors))
		for k, x := range a.Out.Vectors {
			vectors[k] = eigenmap.Voxelwise(a.Of, eigenmap.Signed(x))
		}
		return masks.WriteVectors(f, masks.Extension(j.vectors), a.Image.Field, vectors, place, note)
	}}}
}

// segmented describes the size of a mask.
func segmented(mask []bool) string {
	n := 0
	for _, in := range mask {
		if in {
			n++
		}
	}
	return fmt.Sprintf("a mask of %d of %d voxels", n, len(mask))
}
