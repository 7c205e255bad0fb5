package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/quantity"
)

// listed are the images of some arguments, with those of a folder in their natural order,
// in which 2 comes before 10; and whether there was a folder.
func listed(args []string) (images []string, folders bool, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() || datasets.IsZarr(arg) {
			images = append(images, arg)
			continue
		}
		if err := datasets.Foreign(arg); err != nil {
			return nil, false, cli.Usage(err)
		}
		folders = true
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, false, cli.Usagef("reading the folder: %w", err)
		}
		var within []string
		for _, e := range entries {
			path := filepath.Join(arg, e.Name())
			if !e.IsDir() && datasets.IsImage(e.Name()) || e.IsDir() && datasets.IsZarr(path) {
				within = append(within, path)
			}
		}
		if len(within) == 0 {
			return nil, false, cli.Usagef("%s: the folder has no npy, npz, NIfTI, NRRD, MetaImage, MRC, FITS, ISQ, DICOM, PNG, BMP, TIFF or Zarr image", arg)
		}
		slices.SortFunc(within, datasets.Natural)
		images = append(images, within...)
	}
	return images, folders, nil
}

// stacks are the stacks of slices that some arguments name: folders and patterns, one each,
// or files that one pattern describes, as a shell makes of one that is not quoted.
func stacks(args []string) ([]string, error) {
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
		return nil, cli.Usagef("--stack of %d files: no pattern describes them and no others; quote one, such as 'ct/*.tif', or put them in a folder", len(files))
	}
	return []string{pattern}, nil
}

// patternOf is what some names begin and end with, with an asterisk for what lies between.
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

// smallFile is a file that one core answers for while others answer for others.
const smallFile = 64 << 20

// An imageOf is one of several images: an input, the number of a volume, and the name that its answer is given.
type imageOf struct{ input, volume, base string }

// each is one image of each input.
func (a *answering) each(inputs []string) []imageOf {
	var images []imageOf
	for _, in := range inputs {
		base := strings.ReplaceAll(in, "/", "_") // of an input string
		if _, err := os.Stat(in); err == nil {
			base = filepath.Base(a.spooled.Shown(in))
		}
		if base == cli.Standard {
			base = "stdin"
		}
		images = append(images, imageOf{in, a.in.Volume, base})
	}
	return images
}

// everyVolume is what --volume says where each image in a file is meant.
const everyVolume = "all"

// volumes is every image in some files.
func (a *answering) volumes(files []string) ([]imageOf, error) {
	var images []imageOf
	for _, image := range a.each(files) {
		n, err := datasets.Volumes(image.input, datasets.FileOptions{})
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

// Answers are what a command writes of each of several images: a file of an extension, a plot and a provenance.
type answers struct {
	one, many        string // "curve", "curves"
	extension        string
	plotExtension    string
	plot, provenance string // files, of several images folders; "" for none
	check            func() error
	answer           func(target) error
}

// A target is an image and the files that its answer is written to.
type target struct {
	answering
	input, plot, provenance string
}

// answerImages answers for the images of the arguments: for one, or for several, whose answers go to folders.
func (a answering) answerImages(c *cli.Program, f *pflag.FlagSet, of answers) error {
	images, folders, err := f.Args(), false, error(nil)
	if a.in.Stack {
		images, err = stacks(images)
	} else {
		images, folders, err = listed(images)
	}
	if err == nil {
		if images, err = a.spool(c, images); err == nil {
			defer a.spooled.Close() // of what nobody else reads
		}
	}
	answer := func() error {
		switch {
		case err != nil:
			return err
		case len(images) == 0:
			return cli.Usagef("%s wants an image file, a folder of them, an input string or - for standard input", f.Name())
		case a.in.Volume == everyVolume:
			list, err := a.volumes(images)
			if err != nil {
				return err
			}
			return a.several(c, of, list)
		case len(images) > 1 || folders:
			return a.several(c, of, a.each(images))
		}
		if err := of.check(); err != nil {
			return err
		}
		return of.answer(target{a, images[0], of.plot, of.provenance})
	}
	return a.spooled.Said(answer())
}

// spool gives the paths of images, and has that of the mask, where standard input and named pipes are kept in files.
// Those of stacks are folders and patterns.
func (a *answering) spool(c *cli.Program, images []string) (paths []string, err error) {
	var files []string
	if !a.in.Stack {
		files = slices.Clone(images)
	}
	if a.mask != "" {
		files = append(files, a.mask)
	}
	if paths, a.spooled, err = c.Spool(files); err == nil && a.mask != "" {
		a.mask = paths[len(paths)-1]
		paths = paths[:len(paths)-1]
	}
	if a.in.Stack {
		paths = images
	}
	return paths, err
}

// several writes the answers for several images to a folder, a file each, and says how many
// there are. One that fails does not keep the others.
func (a answering) several(c *cli.Program, of answers, images []imageOf) error {
	if a.out == "" {
		return cli.Usagef("%d images: want the folder that their %s are written to, --out DIR, or --stack where they are the slices of one volume", len(images), of.many)
	}
	targets, small, err := a.targets(of, images)
	if err != nil {
		return err
	}
	for _, dir := range []string{a.out, of.plot, of.provenance} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return cli.Usagef("the folder for %s: %w", of.many, err)
		}
	}
	workers := 1
	if small {
		workers = min(a.threads, len(images))
		for i := range targets {
			targets[i].threads = max(1, a.threads/workers)
		}
	}
	start := time.Now()
	var next atomic.Int64
	errs := make([]error, len(images))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(images)); i = next.Add(1) - 1 {
				if errs[i] = of.answer(targets[i]); errs[i] != nil {
					c.Say(a.spooled.Said(errs[i]))
				}
			}
		})
	}
	wg.Wait()
	failed := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if !a.quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %d of %d %s VERIFIED and written to %s, %v\n",
			len(images)-len(failed), len(images), of.many, a.out, quantity.Duration(time.Since(start)))
	}
	if len(failed) == 0 {
		return nil
	}
	worst := slices.MaxFunc(failed, func(a, b error) int { return cmp.Compare(gravity(a), gravity(b)) })
	return cli.VerdictError{Code: cli.Code(worst), Why: fmt.Sprintf("%d of %d images have no %s", len(failed), len(images), of.one)}
}

// targets are those of several images, and whether all of them are small.
func (a answering) targets(of answers, images []imageOf) (targets []target, small bool, err error) {
	from := map[string]string{}
	small = true
	for _, image := range images {
		base := image.base
		if info, err := os.Stat(image.input); err == nil {
			small = small && info.Size() <= smallFile
		}
		if other, ok := from[base]; ok {
			return nil, false, cli.Usagef("%s and %s: their %s would have one name, %s.%s; answer for them by commands of their own", other, image.input, of.many, base, of.extension)
		}
		from[base] = image.input
		t := target{answering: a, input: image.input}
		t.in.Volume, t.out = image.volume, filepath.Join(a.out, base+"."+of.extension)
		if of.plot != "" {
			t.plot = filepath.Join(of.plot, base+of.plotExtension)
		}
		if of.provenance != "" {
			t.provenance = filepath.Join(of.provenance, base+".json")
		}
		targets = append(targets, t)
	}
	return targets, small, nil
}

// gravity orders what went wrong: a wrong answer is worse than none.
func gravity(err error) int {
	if errors.As(err, new(cli.VerdictError)) || errors.As(err, new(ask.VerdictError)) {
		return cli.Code(err)
	}
	return 0
}
