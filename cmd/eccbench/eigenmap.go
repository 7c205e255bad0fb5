package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/eigenmap"
)

func eigenmapCommand() cli.Subcommand {
	return cli.Subcommand{
		Name: "eigenmap", Args: "FILE", Brief: "print the verified lowest eigenvalues of an image's graph, and write the segmentation by the second vector",
		Examples: []string{
			"eccbench eigenmap retina.png -k 4 -o mask.png",
			"eccbench eigenmap retina.png --graph patch --alpha 40 --beta 5 -o mask.png",
			"eccbench eigenmap scan.nii.gz -k 4 --sigma 0.05 --vectors vectors.nii.gz -o mask.nii.gz",
			"eccbench eigenmap vessels.png --graph patch --truth labels.png",
			"eccbench eigenmap vessels.png --graph patch --steps 250 -o mask.png",
		},
		Run: doEigenmap,
	}
}

// An eigenmapJob is what was asked of eigenmap.
type eigenmapJob struct {
	answering
	graph                          string
	k, steps                       int
	seed                           uint64
	tol, sigma, floor, alpha, beta float64
	side, radius                   int64
	corners, plain                 bool
	vectors, truth                 string
}

func doEigenmap(c *cli.Program, args []string) error {
	var j eigenmapJob
	f := pflag.NewFlagSet("eigenmap", pflag.ContinueOnError)
	f.StringVar(&j.graph, "graph", "grid", "grid: a node for each voxel, linked to its neighbours; patch: one for each patch, linked to all")
	f.IntVarP(&j.k, "pairs", "k", 0, "how many of the lowest pairs (default 4, of patches 2)")
	f.Float64Var(&j.tol, "tol", 0, "largest |Lx − λx| (default 1e-6, of patches 1e-8)")
	f.Float64Var(&j.sigma, "sigma", 0.1, "grid: difference of values, from 0 to 1, in the weight exp(−Δ²/σ²) + floor")
	f.Float64Var(&j.floor, "floor", 0.001, "grid: what each weight has at least")
	f.BoolVar(&j.corners, "corners", false, "grid: all voxels that touch are neighbours, not only those that share a face")
	f.Int64Var(&j.radius, "radius", 1, "grid: all voxels within so many of one are its neighbours; 1 for those that share a face")
	f.BoolVar(&j.plain, "plain", false, "grid: the Laplacian D − W, not I − D^−½WD^−½")
	f.Float64Var(&j.alpha, "alpha", 40, "patch: difference of grey values, from 0 to 255")
	f.Float64Var(&j.beta, "beta", 5, "patch: distance, in patches")
	f.Int64Var(&j.side, "side", 4, "patch: voxels along each axis")
	f.IntVar(&j.steps, "steps", 0, "patch: what so many steps of Lanczos' method reach, whatever it is")
	f.Uint64Var(&j.seed, "seed", 1, "patch: of the vector that steps start from")
	f.StringVarP(&j.out, "out", "o", "", "write the mask to this file: "+strings.Join(eigenmap.Extensions(), ", "))
	f.StringVar(&j.vectors, "vectors", "", "write the vectors, as pictures or numbers, to this file: "+strings.Join(eigenmap.Extensions(), ", "))
	f.StringVar(&j.truth, "truth", "", "an image that is 0 outside the true mask: Dice of the mask, and of the best plain threshold")
	if err := j.addImage(f); err != nil {
		return err
	}
	j.addEffort(f)
	f.Lookup("time-limit").Usage = "time for the verification (default 15m: the proof that no pair is missing of volumes up to about 96³)"
	if err := c.Parse(eigenmapCommand(), f, args); err != nil {
		return err
	}
	ofGrid, ofPatches := []string{"sigma", "floor", "corners", "radius", "plain"}, []string{"alpha", "beta", "side", "steps", "seed"}
	foreign := ofPatches
	if j.graph == "patch" {
		foreign = ofGrid
	}
	for _, name := range foreign {
		if f.Changed(name) {
			return cli.Usagef("--%s is not of --graph %s: leave it out", name, j.graph)
		}
	}
	for _, path := range []string{j.out, j.vectors} {
		if path != "" && eigenmap.Extension(path) == "" {
			return cli.Usagef("%s: want a name that ends in %s", path, strings.Join(eigenmap.Extensions(), ", "))
		}
	}
	if !f.Changed("pairs") {
		if j.k = 4; j.graph == "patch" {
			j.k = 2
		}
	}
	if !f.Changed("tol") {
		if j.tol = 1e-6; j.graph == "patch" {
			j.tol = 1e-8
		}
	}
	switch {
	case j.graph != "grid" && j.graph != "patch":
		return cli.Usagef("--graph %s: want grid or patch", j.graph)
	case f.Changed("steps") && f.Changed("tol"):
		return cli.Usagef("--steps and --tol: steps reach what they reach; give one of them")
	case f.Changed("seed") && !f.Changed("steps"):
		return cli.Usagef("--seed is of --steps: leave it out")
	case f.Changed("steps") && j.steps < 2:
		return cli.Usagef("--steps %d: want 2 or more", j.steps)
	case j.k < 2 && (j.out != "" || j.truth != ""):
		return cli.Usagef("-k %d: the mask is of the second vector; want 2 or more", j.k)
	}
	if err := cmp.Or(j.checkImage(f, "weights are of the values themselves"), j.check()); err != nil {
		return err
	}
	if !f.Changed("time-limit") {
		j.budget = 15 * time.Minute
	}
	return j.ofOne(c, f.Arg(0), func(image string) error { return j.run(c, image) })
}

// problem is what is asked of an image, of which workload, and in words.
func (j eigenmapJob) problem(c *cli.Program, s grid.Source) (w bench.Workload[*eigenmap.Problem, eigenmap.Map], impls []string, p *eigenmap.Problem, what string) {
	patches := fmt.Sprintf("alpha %v, beta %v, patches of %d", j.alpha, j.beta, j.side)
	switch {
	case j.graph == "grid":
		what = fmt.Sprintf("%d lowest pairs of the grid's graph to %v, sigma %v, floor %v", j.k, j.tol, j.sigma, j.floor)
		if j.corners {
			what += ", corners"
		}
		if j.radius > 1 {
			what += fmt.Sprintf(", radius %d", j.radius)
		}
		if j.plain {
			what += ", plain"
		}
		return c.Voxels, []string{"multigrid", "definition"}, eigenmap.OfVoxels(s, j.k, j.tol, j.sigma, j.floor, j.corners, j.plain).Within(j.radius), what
	case j.steps > 0:
		what = fmt.Sprintf("%d pairs as %d steps of Lanczos' method reach them, %s", j.k, j.steps, patches)
		return c.Lanczos, []string{"lanczos"}, eigenmap.OfSteps(s, j.k, j.steps, j.seed, j.alpha, j.beta, j.side), what
	}
	what = fmt.Sprintf("%d lowest pairs of the patches' graph to %v, %s", j.k, j.tol, patches)
	return c.Patches, []string{"windowed", "definition"}, eigenmap.OfPatches(s, j.k, j.tol, j.alpha, j.beta, j.side), what
}

// run answers for one image, and writes what was confirmed.
func (j eigenmapJob) run(c *cli.Program, input string) error {
	image, err := j.whole(c, input, []cli.Target{{Flag: "--out", Path: j.out}, {Flag: "--vectors", Path: j.vectors}}, j.truth)
	if err != nil {
		return err
	}
	w, impls, problem, what := j.problem(c, image.Field)
	truth, err := j.trueMask(image.Shape())
	if err != nil {
		return err
	}
	a, err := ofWhole(c, j.answering, w, image, problem, "eigenmap", impls...)
	if err != nil {
		return err
	}
	residuals, err := problem.Residuals(a.Out)
	if err != nil {
		return err
	}
	confirmed := fmt.Sprintf("%s, by %s, VERIFIED by ", what, a.By)
	note := fmt.Sprintf("%s%s by %s: %s", confirmed, a.Witness, version(), j.noted(image))
	found := eigenmap.Voxelwise(problem, problem.Nodewise(a.Out))
	if j.out != "" {
		if err := cli.WriteFile(j.out, func(f *os.File) error {
			return eigenmap.WriteMask(f, eigenmap.Extension(j.out), image.Shape(), found, note)
		}); err != nil {
			return err
		}
	}
	if j.vectors != "" {
		vectors := make([][]float64, len(a.Out.Vectors))
		for k, x := range a.Out.Vectors {
			vectors[k] = eigenmap.Voxelwise(problem, eigenmap.Signed(x))
		}
		if err := cli.WriteFile(j.vectors, func(f *os.File) error {
			return eigenmap.WriteVectors(f, eigenmap.Extension(j.vectors), image.Shape(), vectors, note)
		}); err != nil {
			return err
		}
	}
	if err := writeTo(c, "", "eigenvalues", func(out io.Writer) error {
		table := "pair,value,residual\n"
		for k, v := range a.Out.Values {
			table += fmt.Sprintf("%d,%g,%.3g\n", k+1, v, residuals[k])
		}
		_, err := io.WriteString(out, table)
		return err
	}); err != nil {
		return err
	}
	if j.quiet {
		return nil
	}
	more := ""
	if j.k > 1 {
		more = ", " + segmented(found)
	}
	tell(c, image, confirmed+a.Evidence, a, more)
	if truth == nil {
		return nil
	}
	values, err := problem.Numbers()
	if err != nil {
		return err
	}
	best, threshold, above := eigenmap.BestThreshold(values, truth)
	side := "up to"
	if above {
		side = "from"
	}
	fmt.Fprintf(c.Stderr, "eccbench: %s: Dice of the mask %.4f; of the best plain threshold, all values %s %g, %.4f\n", image.shown, eigenmap.Dice(found, truth), side, threshold, best)
	return nil
}

// segmented says how large a mask is.
func segmented(mask []bool) string {
	n := 0
	for _, in := range mask {
		if in {
			n++
		}
	}
	return fmt.Sprintf("a mask of %d of %d voxels", n, len(mask))
}

// trueMask is where an image that holds the truth is not 0; nil where there is none.
func (j eigenmapJob) trueMask(s grid.Shape) ([]bool, error) {
	if j.truth == "" {
		return nil, nil
	}
	name, err := j.in.NamedWhole(j.truth)
	if err != nil {
		return nil, fmt.Errorf("--truth: %w", err)
	}
	f, err := loadWhole(name)
	if err != nil {
		return nil, fmt.Errorf("--truth: %w", err)
	}
	if f.Shape() != s {
		return nil, cli.Usagef("--truth %s is %v, the image %v: want the same shape", j.truth, f.Shape(), s)
	}
	numbers, err := eigenmap.OfVoxels(f, 2, 1e-6, 1, 0, false, false).Numbers()
	if err != nil {
		return nil, err
	}
	mask := make([]bool, len(numbers))
	for i, v := range numbers {
		mask[i] = v != 0
	}
	return mask, nil
}
