package answering

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets/files"
	"eccbench/datasets/files/format"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/crew"
	"eccbench/internal/name"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// listed returns the images of some arguments and reports whether an argument was a folder. The
// images of a folder are in natural order, in which 2 precedes 10. With --shape, a folder without images by their names
// has raw files. It prints which files of a folder are passed over.
func (a *Flags) listed(c *cli.Program, args []string) (images []string, folders bool, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() || files.IsZarr(arg) {
			images = append(images, arg)
			continue
		}
		if err := files.Foreign(arg); err != nil {
			return nil, false, cli.Usage(err)
		}
		folders = true
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, false, cli.Usagef("reading the folder: %w", err)
		}
		var within, raw, passed []string
		for _, e := range entries {
			path := filepath.Join(arg, e.Name())
			switch {
			case files.IsIgnored(e.Name()):
			case !e.IsDir() && files.IsImage(e.Name()) || e.IsDir() && files.IsZarr(path):
				within = append(within, path)
			default:
				passed = append(passed, e.Name())
				if !e.IsDir() {
					raw = append(raw, path)
				}
			}
		}
		if len(within) == 0 && a.In.Set.Changed("shape") {
			within, passed = raw, nil
		}
		if len(within) == 0 && len(files.StackFiles(arg, format.Options{})) > 0 {
			return nil, false, cli.Usagef("%s: the names of its files are no image names, and their contents are DICOM slices; "+
				"add --stack to read them as one volume", arg)
		}
		if len(within) == 0 {
			return nil, false,
				cli.Usagef("%s: the folder has no npy, npz, NIfTI, NRRD, MetaImage, MRC, FITS, ISQ, DICOM, PNG, BMP, TIFF or "+
					"Zarr image", arg)
		}
		if len(passed) > 0 && !a.Quiet {
			fmt.Fprintf(c.Stderr, "eccbench: %s: passed over %d that are no images by their names: %s\n",
				report.VisibleText(arg), len(passed), name.List(passed))
		}
		slices.SortFunc(within, files.Natural)
		images = append(images, within...)
	}
	return images, folders, nil
}

// Stacks returns the stacks of slices that some arguments name. An argument is a folder or a
// pattern. Several files are one stack if one pattern matches them, such as a pattern that the
// shell expanded.
func Stacks(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		if info, err := os.Stat(arg); err == nil && !info.IsDir() {
			files = append(files, arg)
		}
	}
	if len(files) == 0 || len(files) == 1 && len(args) == 1 {
		return args, nil
	}
	pattern := patternOf(files)
	if matched, err := filepath.Glob(pattern); len(files) < len(args) || err != nil || len(matched) != len(files) {
		return nil, cli.Usagef("--stack of %d files: no pattern describes them and no others; quote one, such as "+
			"'ct/*.tif', or put them in a folder", len(files))
	}
	return []string{pattern}, nil
}

// patternOf returns the common beginning and end of some names with an asterisk between them.
func patternOf(names []string) string {
	head, tail := names[0], names[0]
	for _, n := range names {
		for !strings.HasPrefix(n, head) {
			head = head[:len(head)-1]
		}
		for !strings.HasSuffix(n, tail) {
			tail = tail[1:]
		}
	}
	shortest := len(slices.MinFunc(names, func(a, b string) int { return cmp.Compare(len(a), len(b)) }))
	tail = tail[max(0, len(head)+len(tail)-shortest):]
	escape := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`)
	return escape.Replace(head) + "*" + escape.Replace(tail)
}

// smallFile is the size up to which a file gets one core, so that several images are answered in
// parallel.
const smallFile = 64 << 20

// An imageOf is one of several images: an input, the number of a volume, and the base name of its
// answer.
type imageOf struct{ input, volume, base string }

// each returns one image for each input.
func (a *Flags) each(inputs []string) []imageOf {
	var images []imageOf
	for _, in := range inputs {
		base := strings.ReplaceAll(in, "/", "_") // an input string has slashes too
		if _, err := os.Stat(in); err == nil {
			base = filepath.Base(a.Spooled.WithNames(in))
		}
		if base == cli.Standard {
			base = "stdin"
		}
		images = append(images, imageOf{in, a.In.Volume, base})
	}
	return images
}

// EveryVolume is the value of --volume that selects every image in a file.
const EveryVolume = "all"

// volumes returns every image in the files of some paths.
func (a *Flags) volumes(paths []string) ([]imageOf, error) {
	var images []imageOf
	for _, image := range a.each(paths) {
		n, err := files.Volumes(image.input, format.Options{})
		if err != nil {
			return nil, cli.Usage(err)
		}
		for v := range n {
			one := image
			if one.volume = ""; n > 1 {
				one.volume = fmt.Sprint(v)
				one.base += fmt.Sprintf("-%0*d", len(fmt.Sprint(n-1)), v)
			}
			images = append(images, one)
		}
	}
	return images, nil
}

// Answers describe the output of a command for one or several images: the extensions, the plots
// and the provenance.
type Answers struct {
	One, Many        string // "curve", "curves"
	Extension        string
	PlotExtension    string
	Plot, Provenance string       // files, or folders for several images; "" for none
	Check, CheckMany func() error // flag checks for one and for several images; checkMany may be nil
	Answer           func(Target) error
}

// A target is an image and the output files of its answer.
type Target struct {
	Flags
	Input, Plot, Provenance string
	Several                 bool // it is one of several images
}

// AnswerImages answers for the images of the arguments. The answers for several images are written
// to folders.
func (a Flags) AnswerImages(c *cli.Program, f *pflag.FlagSet, of Answers) error {
	images, folders, err := f.Args(), false, error(nil)
	if a.In.Stack {
		images, err = Stacks(images)
	} else {
		images, folders, err = a.listed(c, images)
	}
	if err == nil {
		if images, err = a.spool(c, images); err == nil {
			defer a.Spooled.Close() // closing a file that was only read cannot lose anything
		}
	}
	answer := func() error {
		switch {
		case err != nil:
			return err
		case len(images) == 0:
			return cli.Usagef("%s wants an image file, a folder of them, an input string or - for standard input", f.Name())
		case a.In.Volume == EveryVolume:
			list, err := a.volumes(images)
			if err != nil {
				return err
			}
			return a.answerSeveral(c, of, list)
		case len(images) > 1 || folders:
			return a.answerSeveral(c, of, a.each(images))
		}
		if err := of.Check(); err != nil {
			return err
		}
		return of.Answer(Target{Flags: a, Input: images[0], Plot: of.Plot, Provenance: of.Provenance})
	}
	return a.Spooled.ErrorWithNames(answer())
}

// spool returns the paths of images, and sets the path of the mask. It copies standard input and
// named pipes to files. For a stack it returns the folder or pattern.
func (a *Flags) spool(c *cli.Program, images []string) (paths []string, err error) {
	var files []string
	if !a.In.Stack {
		files = slices.Clone(images)
	}
	if a.Mask != "" {
		files = append(files, a.Mask)
	}
	if paths, a.Spooled, err = c.Spool(files); err == nil && a.Mask != "" {
		a.Mask = paths[len(paths)-1]
		paths = paths[:len(paths)-1]
	}
	if a.In.Stack {
		paths = images
	}
	return paths, err
}

// answerSeveral answers for several images, writes one file each to a folder, and prints their number. A
// failed image does not stop the others.
func (a Flags) answerSeveral(c *cli.Program, of Answers, images []imageOf) error {
	if a.Out == "" {
		return cli.Usagef("%d images: want the folder that their %s are written to, --out DIR, or --stack where they "+
			"are the slices of one volume", len(images), of.Many)
	}
	if of.CheckMany != nil {
		if err := of.CheckMany(); err != nil {
			return err
		}
	}
	targets, small, err := a.targets(of, images)
	if err != nil {
		return err
	}
	if err := checkTargets(c, targets); err != nil {
		return err
	}
	for _, dir := range []string{a.Out, of.Plot, of.Provenance} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return cli.Usagef("the folder for %s: %w", of.Many, err)
		}
	}
	workers := 1
	if small {
		workers = min(a.Threads, len(images))
		for i := range targets {
			targets[i].Threads = max(1, a.Threads/workers)
		}
	}
	start := time.Now()
	errs := make([]error, len(images))
	crew.InTurn(workers, len(images), func(_, i int) {
		if errs[i] = of.Answer(targets[i]); errs[i] != nil {
			c.PrintError(a.Spooled.ErrorWithNames(errs[i]))
		}
	})
	failed := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if !a.Quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %d of %d %s VERIFIED and written to %s, %v\n",
			len(images)-len(failed), len(images), of.Many, a.Out, quantity.Duration(time.Since(start)))
	}
	if len(failed) == 0 {
		return nil
	}
	worst := slices.MaxFunc(failed, func(a, b error) int { return cmp.Compare(gravity(a), gravity(b)) })
	return cli.VerdictError{Code: cli.Code(worst), Why: fmt.Sprintf("%d of %d images have no %s",
		len(failed), len(images), of.One)}
}

// targets returns the targets of several images, and reports whether all images are small.
func (a Flags) targets(of Answers, images []imageOf) (targets []Target, small bool, err error) {
	from := map[string]string{}
	small = true
	for _, image := range images {
		base := image.base
		if info, err := os.Stat(image.input); err == nil {
			small = small && info.Size() <= smallFile
		}
		if other, ok := from[base]; ok {
			return nil, false,
				cli.Usagef("%s and %s: their %s would have one name, %s.%s; answer for them by commands of their own", other,
					image.input, of.Many, base, of.Extension)
		}
		from[base] = image.input
		t := Target{Flags: a, Input: image.input, Several: true}
		t.In.Volume, t.Out = image.volume, filepath.Join(a.Out, base+"."+of.Extension)
		if of.Plot != "" {
			t.Plot = filepath.Join(of.Plot, base+of.PlotExtension)
		}
		if of.Provenance != "" {
			t.Provenance = filepath.Join(of.Provenance, base+".json")
		}
		targets = append(targets, t)
	}
	return targets, small, nil
}

// checkTargets returns an error if an output of an image would overwrite an input of any, or another output.
func checkTargets(c *cli.Program, targets []Target) error {
	var outputs []cli.Target
	var inputs []string
	for _, t := range targets {
		outputs = append(outputs, cli.Target{Flag: "writing", Path: t.Out}, cli.Target{Flag: "writing", Path: t.Plot},
			cli.Target{Flag: "writing", Path: t.Provenance})
		if q, err := t.question(c, t.Input); err == nil { // else an error of its own
			inputs = append(inputs, q.Files()...)
		}
	}
	return cli.CheckTargets(outputs, inputs...)
}

// gravity orders errors by importance: a wrong answer is worse than a missing one.
func gravity(err error) int {
	if errors.As(err, new(cli.VerdictError)) || errors.As(err, new(ask.VerdictError)) {
		return cli.Code(err)
	}
	return 0
}
