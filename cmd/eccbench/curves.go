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

	"eccbench/datasets"
	"eccbench/internal/cli"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
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

// A curveImage is one of several images: an input, and the name that its curve is given.
type curveImage struct{ input, volume, base string }

// each is one image of each input.
func (j curveJob) each(inputs []string) []curveImage {
	var images []curveImage
	for _, in := range inputs {
		base := strings.ReplaceAll(in, "/", "_") // of an input string
		if _, err := os.Stat(in); err == nil {
			base = filepath.Base(j.spooled.Shown(in))
		}
		if base == cli.Standard {
			base = "stdin"
		}
		images = append(images, curveImage{in, j.in.Volume, base})
	}
	return images
}

// everyVolume is what --volume says where each image in a file is meant.
const everyVolume = "all"

// volumes is several of every image in some files.
func (j curveJob) volumes(c *cli.Program, files []string) error {
	var images []curveImage
	for _, image := range j.each(files) {
		n, err := datasets.Volumes(image.input, datasets.FileOptions{})
		if err != nil {
			return cli.Usage(err)
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
	return j.several(c, images)
}

// several writes the curves of several images to a folder, a file each, and says how many
// there are. One that fails does not keep the others.
func (j curveJob) several(c *cli.Program, images []curveImage) error {
	if j.out == "" {
		return cli.Usagef("%d images: want the folder that their curves are written to, --out DIR, or --stack where they are the slices of one volume", len(images))
	}
	extension := j.format
	if f := ecc.Format(j.format); f == ecc.SoCG || f == ecc.Euler {
		extension = "txt"
	}
	from := map[string]string{}
	targets := make([]curveJob, len(images))
	small := true
	for i, image := range images {
		base := image.base
		if info, err := os.Stat(image.input); err == nil {
			small = small && info.Size() <= smallFile
		}
		if other, ok := from[base]; ok {
			return cli.Usagef("%s and %s: their curves would have one name, %s.%s; answer for them by commands of their own", other, image.input, base, extension)
		}
		from[base] = image.input
		targets[i] = j
		targets[i].in.Volume = image.volume
		targets[i].out = filepath.Join(j.out, base+"."+extension)
		if j.plot != "" {
			targets[i].plot = filepath.Join(j.plot, base+".svg")
		}
		if j.provenance != "" {
			targets[i].provenance = filepath.Join(j.provenance, base+".json")
		}
	}
	for _, dir := range []string{j.out, j.plot, j.provenance} {
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return cli.Usagef("the folder for curves: %w", err)
		}
	}
	workers := 1
	if small {
		workers = min(j.threads, len(images))
		for i := range targets {
			targets[i].threads = max(1, j.threads/workers)
		}
	}
	start := time.Now()
	var next atomic.Int64
	errs := make([]error, len(images))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(images)); i = next.Add(1) - 1 {
				if errs[i] = targets[i].run(c, images[i].input); errs[i] != nil {
					c.Say(j.spooled.Said(errs[i]))
				}
			}
		})
	}
	wg.Wait()
	failed := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if !j.quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %d of %d curves VERIFIED and written to %s, %v\n",
			len(images)-len(failed), len(images), j.out, quantity.Duration(time.Since(start)))
	}
	if len(failed) == 0 {
		return nil
	}
	worst := slices.MaxFunc(failed, func(a, b error) int { return cmp.Compare(gravity(a), gravity(b)) })
	return cli.VerdictError{Code: cli.Code(worst), Why: fmt.Sprintf("%d of %d images have no curve", len(failed), len(images))}
}

// gravity orders what went wrong: a wrong curve is worse than none.
func gravity(err error) int {
	if verdict := (cli.VerdictError{}); errors.As(err, &verdict) {
		return verdict.Code
	}
	return 0
}
