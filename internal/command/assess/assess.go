// Package assess has the command assess.
package assess

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets/files/format"
	"eccbench/impls/assess/runs"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/decimal"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/workloads/assess"
)

// Command returns the command assess.
func Command() cli.Subcommand {
	return cli.Subcommand{
		Name: "assess", Args: "PRED TRUTH", Brief: "compare the topology of a segmentation with its truth",
		Examples: []string{
			"eccbench assess pred.nii.gz truth.nii.gz",
			"eccbench assess pred.nii.gz truth.nii.gz --labels 1,2 --group 'vessels=1,2,3' --format md",
			"eccbench assess pred.tif truth.tif --connectivity 8 --format csv -o assess.csv",
			"eccbench assess pred.nrrd truth.nrrd --errors errors.csv --map chi.nrrd --plot worst.svg --connectivity 26",
			"eccbench assess pred.npy truth.npy --fail-above 'b0_error=3,matching_error0_max=5'",
			"eccbench assess --pairs pairs.csv --format csv",
			"eccbench assess predictions/ truths/",
		},
		Run: doAssess,
	}
}

// An assessJob is a parsed assess command.
type assessJob struct {
	answering.Flags
	given, joined, limits []string // as typed
	connectivity          string
	format                string
	errors, mapped, pairs string
	plot                  string
	anyGeometry           bool
	patch, stride         int64
	labels                []grid.Number
	groups                []assess.Group
	constructions         []int
	above                 map[string]float64
}

// assessFormats lists the output formats of comparisons.
var assessFormats = []string{"table", "csv", "json", "md", "html"}

func doAssess(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j assessJob
	f.StringSliceVar(&j.given, "labels", nil,
		"labels to compare, beside the union of all (default each label)")
	f.StringArrayVar(&j.joined, "group", nil, "labels as one mask, such as `'vessels=1,2,3'`; repeatable")
	f.StringVar(&j.connectivity, "connectivity", "both",
		"foreground `N`: 26 (T) or 6 (V) in 3D, 8 or 4 in 2D, or both")
	f.StringVar(&j.format, "format", "table", "table, csv, json, md or html")
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`")
	f.StringVar(&j.errors, "errors", "",
		"list extra, missing, merged and split components and cavities in this CSV `FILE`")
	f.Int64Var(&j.patch, "patch", 0,
		"add mean errors over patches of `N` voxels along each axis")
	f.Int64Var(&j.stride, "stride", 0,
		"with --patch: distance of patches (default their side)")
	f.StringVar(&j.mapped, "map", "",
		"write the local difference of χ of the label, or of the union of several, to this `FILE`: "+
			strings.Join(assess.MapExtensions(), ", "))
	f.StringVar(&j.plot, "plot", "", "draw the slices with the worst errors of the same labels to this SVG `FILE`")
	f.StringSliceVar(&j.limits, "fail-above", nil,
		"exit with code 10 above a limit, such as `b0_error=3`; names are CSV columns")
	f.StringVar(&j.pairs, "pairs", "", "compare the lines PRED,TRUTH of this CSV `FILE`")
	f.BoolVar(&j.anyGeometry, "ignore-geometry", false,
		"accept headers that disagree on spacing, orientation or origin")
	if err := j.AddImage(f); err != nil {
		return err
	}
	j.AddEffort(f)
	f.MarkHidden("impl")
	if err := parse(); err != nil {
		return err
	}
	if err := j.checkFlags(f); err != nil {
		return err
	}
	if pairs, err := j.manyPairs(f); err != nil || pairs != nil {
		if err != nil {
			return err
		}
		return j.many(c, pairs)
	}
	paths, spooled, err := c.Spool(f.Args())
	if err != nil {
		return err
	}
	defer spooled.Close() // closing a file that was only read cannot lose anything
	j.Spooled = spooled
	return spooled.ErrorWithNames(j.run(c, paths[0], paths[1]))
}

// checkFlags rejects impossible flags, and parses labels, groups and limits.
func (j *assessJob) checkFlags(f *pflag.FlagSet) (err error) {
	switch {
	case f.Changed("levels"):
		return cli.Usagef("--levels: labels are the values themselves: leave it out")
	case !slices.Contains(assessFormats, j.format):
		return cli.Usagef("--format %s: want %s", j.format, strings.Join(assessFormats, ", "))
	case j.pairs != "" && f.NArg() != 0 || j.pairs == "" && f.NArg() != 2:
		return cli.Usagef("assess wants two images or two folders, the prediction first, or --pairs with a file of pairs")
	case j.mapped != "" && assess.MapExtension(j.mapped) == "":
		return cli.Usagef("--map %s: want a name that ends in %s", j.mapped,
			strings.Join(assess.MapExtensions(), ", "))
	case j.plot != "" && !strings.HasSuffix(strings.ToLower(j.plot), ".svg"):
		return cli.Usagef("--plot %s: want a name that ends in .svg", j.plot)
	case j.patch < 0 || f.Changed("patch") && j.patch == 0 || j.stride < 0 || f.Changed("stride") && j.stride == 0:
		return cli.Usagef("--patch %d, --stride %d: want 1 or more", j.patch, j.stride)
	case j.stride > 0 && j.patch == 0:
		return cli.Usagef("--stride needs --patch: leave it out, or give both")
	case j.stride > j.patch:
		return cli.Usagef("--stride %d: want at most the size of the patch, %d", j.stride, j.patch)
	case j.In.Volume == answering.EveryVolume:
		return cli.Usagef("--volume all: want the number of one image")
	}
	switch j.connectivity {
	case "both":
		j.constructions = []int{assess.T, assess.V}
	case "26", "8":
		j.constructions = []int{assess.T}
	case "6", "4":
		j.constructions = []int{assess.V}
	default:
		return cli.Usagef("--connectivity %s: want both, 26 or 6, or of 2D images 8 or 4", j.connectivity)
	}
	if f.Changed("labels") {
		if j.labels, err = labelList(j.given); err != nil {
			return cli.Usagef("--labels: %w", err)
		}
	}
	for _, text := range j.joined {
		name, list, ok := strings.Cut(text, "=")
		labels, err := labelList(strings.Split(list, ","))
		if !ok || name == "" || err != nil {
			return cli.Usagef("--group %s: want NAME=LABEL,LABEL…, such as vessels=1,2,3", text)
		}
		j.groups = append(j.groups, assess.Group{Name: name, Labels: labels})
	}
	if err := j.checkLimits(); err != nil {
		return err
	}
	return j.Check()
}

// checkLimits parses the limits of --fail-above.
func (j *assessJob) checkLimits() error {
	columns := slices.Concat(assess.Columns(), sizeColumns(2), sizeColumns(3))
	columns = slices.DeleteFunc(columns, func(column string) bool {
		return slices.Contains([]string{"dice", "iou", "common_voxels"}, column) || strings.HasPrefix(column, "matched")
	})
	if j.patch > 0 {
		columns = append(columns, patchColumns...)
	}
	j.above = map[string]float64{}
	for _, text := range j.limits {
		name, limit, _ := strings.Cut(text, "=")
		v, err := decimal.ParseFloat(limit, 64)
		if err != nil || math.IsNaN(v) || !slices.Contains(columns, name) {
			return cli.Usagef("--fail-above %s: want COLUMN=NUMBER with one of the columns %s; what grows as masks agree, "+
				"such as dice, has no upper limit", text, strings.Join(columns, ", "))
		}
		if _, twice := j.above[name]; twice {
			return cli.Usagef("--fail-above %s: %s has two limits; want one", text, name)
		}
		j.above[name] = v
	}
	return nil
}

// labelList parses whole numbers.
func labelList(words []string) (list []grid.Number, err error) {
	for _, word := range words {
		v, err := grid.ParseNumber(word)
		if err != nil || !v.IsWhole() {
			return nil, fmt.Errorf("%q is no label: want a whole number", word)
		}
		list = append(list, v)
	}
	return list, nil
}

// An assessed is the verified comparison of a pair of images.
type assessed struct {
	pair            *assess.Pair // nil once only the numbers are needed
	shape           grid.Shape
	sets            []assess.Set
	shown           int    // the index of the set of the map and the picture
	predName, truth string // the displayed names
	method          string // the method that made the prediction, for many pairs
	dims            int    // of the truth; 3 for a volume of one slice too
	answer          ask.Answered[assess.Comparisons]
	geometry        *format.Geometry // of the truth; nil if its file has none
	sizes           [][]float64      // of each set, in mm; nil if the file has no voxel size
	constructions   []int
	threads         int
	patches         [][]float64 // the mean errors over patches of each row; nil without --patch
}

// compare reads a pair of images and compares them.
func (j assessJob) compare(c *cli.Program, pred, truth string) (a assessed, err error) {
	start := time.Now()
	q := ask.Assess{Labels: j.labels, Groups: j.groups, AnyGeometry: j.anyGeometry,
		By: assess.Workload(runs.Implementation{})}
	targets := []cli.Target{{Flag: "--out", Path: j.Out}, {Flag: "--errors", Path: j.errors},
		{Flag: "--map", Path: j.mapped}, {Flag: "--plot", Path: j.plot}}
	if q.Question, err = j.Question(c, pred, targets); err != nil {
		return a, err
	}
	if q.Truth, err = j.Question(c, truth, targets); err != nil {
		return a, err
	}
	a = assessed{predName: q.Shown, truth: q.Truth.Shown, constructions: j.constructions, threads: j.Threads}
	got, err := q.Answer()
	if err != nil {
		return a, err
	}
	if a.geometry, err = got.TruthName.Geometry(); err != nil {
		return a, err
	}
	a.pair, a.answer = got.Pair, got.Answered
	a.shape, a.dims, a.sets = a.pair.Shape(), got.Dims, a.pair.Sets
	if a.shown = len(a.sets) - 1 - len(j.groups); len(j.labels) == 0 && len(j.groups) == 1 {
		a.shown++
	} else if len(j.labels) == 1 && len(j.groups) == 0 {
		a.shown = 0
	}
	if wrong := map[string]int{"26": 2, "6": 2, "8": 3, "4": 3}[j.connectivity]; wrong == a.dims {
		return a, cli.Usagef("--connectivity %s: the images have %d dimensions; want both, %d or %d",
			j.connectivity, a.dims, assess.Connectivity(assess.T, a.dims), assess.Connectivity(assess.V, a.dims))
	}
	if a.geometry != nil {
		a.measure(a.geometry.Spacing())
	}
	if j.patch > 0 {
		if err := j.byPatch(&q, got.PredName.String(), &a); err != nil {
			return a, err
		}
	}
	if !j.Quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s against %s: %s: masks compared: %d, by %s, VERIFIED by %s, %v\n",
			q.Shown, q.Truth.Shown, a.extent(), len(a.sets), a.answer.By, a.answer.Evidence,
			quantity.Duration(time.Since(start)))
	}
	for i, set := range a.sets {
		if n := a.answer.Out[i]; n.Pred+n.Truth == 0 && !j.Quiet {
			fmt.Fprintf(c.Stderr, "eccbench: %s and %s have no voxel of label %s\n", q.Shown, q.Truth.Shown, set.Name)
		}
	}
	if (j.mapped != "" || j.plot != "" || j.format == "html") && !j.Quiet {
		fmt.Fprintf(c.Stderr, "eccbench: the map and the picture show label %s, foreground %d-connected\n",
			a.sets[a.shown].Name, assess.Connectivity(a.constructions[0], a.dims))
	}
	return a, nil
}

// extent formats the shape with all axes.
func (a assessed) extent() string { return a.shape.WithAxes(a.dims) }

// measure adds the sizes of all masks in voxels of a spacing.
func (a *assessed) measure(spacing [3]float64) {
	voxel := spacing[0] * spacing[1]
	if a.dims == 3 {
		voxel *= spacing[2]
	}
	for i, border := range assess.Surfaces(a.pair, a.dims, spacing) {
		c := a.answer.Out[i]
		a.sizes = append(a.sizes, []float64{voxel * float64(c.Pred), voxel * float64(c.Truth), border[0], border[1]})
	}
}

// byPatch adds the mean errors over patches.
func (j assessJob) byPatch(q *ask.Assess, name string, a *assessed) error {
	corners, shape := assess.Patches(a.shape, j.patch, cmp.Or(j.stride, j.patch))
	a.patches = make([][]float64, len(a.sets)*len(a.constructions))
	for row := range a.patches {
		a.patches[row] = make([]float64, len(patchColumns))
	}
	for _, at := range corners {
		p, err := a.pair.Crop(at, shape)
		if err != nil {
			return err
		}
		found, err := q.Compare(name, p)
		if err != nil {
			return err
		}
		for row, sums := range a.patches {
			t := found.Out[row/len(a.constructions)].In[a.constructions[row%len(a.constructions)]]
			chi := t.Pred.Euler() - t.Truth.Euler()
			for i, v := range []int64{max(chi, -chi), t.Error(0), t.Error(1), t.Error(2)} {
				sums[i] += float64(v)
			}
		}
	}
	for _, sums := range a.patches {
		for i := range sums {
			sums[i] /= float64(len(corners))
		}
	}
	return nil
}

// run compares one pair of images and writes the confirmed numbers.
func (j assessJob) run(c *cli.Program, pred, truth string) error {
	a, err := j.compare(c, pred, truth)
	if err != nil {
		return err
	}
	about := []cli.File{
		{Path: j.mapped, Write: func(w *os.File) error { return j.writeMap(w, a) }},
		{Path: j.errors, Write: func(w *os.File) error { return j.writeErrors(w, a) }},
		{Path: j.plot, Write: func(w *os.File) error { return a.drawSlices(w) }},
	}
	write := func(w io.Writer) error { return writeAssessed(w, j.format, a) }
	if err := answering.WriteTo(c, j.Out, "comparison", write, about...); err != nil {
		return err
	}
	return j.failAbove([]assessed{a})
}

// writeMap writes the local difference of χ of the shown set.
func (j assessJob) writeMap(w io.Writer, a assessed) error {
	at, construction := a.shown, a.constructions[0]
	values := assess.LocalEuler(a.pair, a.sets[at], construction)
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	t := a.answer.Out[at].In[construction]
	if want := t.Pred.Euler() - t.Truth.Euler(); sum != float64(want) {
		return cli.VerdictError{Code: cli.ExitWrong,
			Why: fmt.Sprintf("the map sums to %v, and the difference of χ is %d: it is WRONG and is not written",
				sum, want)}
	}
	note := fmt.Sprintf("local difference of chi, foreground %d-connected, label %s, by %s",
		assess.Connectivity(construction, a.dims), a.sets[at].Name, cli.Version())
	return assess.WriteMap(w, assess.MapExtension(j.mapped), a.shape, a.dims, values, answering.Place(a.geometry), note)
}

// writeErrors writes the topological errors of all sets.
func (j assessJob) writeErrors(w io.Writer, a assessed) error {
	lines := [][]string{strings.Split("label,connectivity,kind,voxels,meets,x_min,x_max,y_min,y_max,z_min,z_max", ",")}
	for i, list := range runs.Differences(a.pair, a.sets, a.constructions, j.Threads) {
		connectivity := strconv.Itoa(assess.Connectivity(a.constructions[i%len(a.constructions)], a.dims))
		for _, d := range list {
			line := []string{d.Label, connectivity, d.Kind}
			for _, n := range []int64{d.Voxels, d.Meets, d.Least[0], d.Greatest[0], d.Least[1], d.Greatest[1],
				d.Least[2], d.Greatest[2]} {
				line = append(line, strconv.FormatInt(n, 10))
			}
			lines = append(lines, line)
		}
	}
	return report.WriteCSV(w, lines)
}

// exitAbove is the exit code of a number above its limit, which means a regression.
const exitAbove = 10

// failAbove returns an error if a number is above its limit.
func (j assessJob) failAbove(list []assessed) error {
	for _, a := range list {
		for _, row := range a.rows() {
			for _, name := range slices.Sorted(maps.Keys(j.above)) {
				at := slices.Index(row.columns, name)
				if at < 0 {
					spacing := map[bool]string{true: "a", false: "no"}[a.sizes != nil]
					return cli.Usagef("--fail-above %s: %s has no such number: it has %d dimensions and %s spacing; leave it out",
						name, report.VisibleText(a.predName), a.dims, spacing)
				}
				v := row.values[at]
				size := v
				if name == "volume_error" { // the only error with a sign
					size = math.Abs(v)
				}
				if size > j.above[name] {
					return cli.VerdictError{Code: exitAbove,
						Why: fmt.Sprintf("%s: label %s, foreground %d-connected: %s is %v, the limit is %v",
							report.VisibleText(a.predName), row.label, row.connectivity, name, v, j.above[name])}
				}
			}
		}
	}
	return nil
}
