package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/shard"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/ecc/parts"
)

// A shareJob is what was asked of a curve's part.
type shareJob struct {
	shard, key string
	dry        bool
}

func (s *shareJob) add(f *pflag.FlagSet) {
	f.StringVar(&s.shard, "shard", "", "a part of the curve, for eccbench merge: i/n for shard i of n, auto or auto/n for the one that Slurm, PBS, SGE or Kubernetes says")
	f.StringVar(&s.key, "key", "", "with --shard: the key of the fingerprint, 32 hexadecimal digits that all shards are given (default one that they derive of the input)")
	f.BoolVar(&s.dry, "dry-run", false, "with --shard: what the shards of n read, take and write, and nothing else")
}

func (s *shareJob) asked() bool { return s.shard != "" || s.key != "" || s.dry }

// doShare writes one part of a curve.
func (j curveJob) doShare(c *cli.Program, f *pflag.FlagSet) error {
	if j.share.shard == "" {
		return cli.Usagef("--key and --dry-run are of parts of a curve: give --shard i/n too")
	}
	for _, name := range append([]string{"each-slice", "levels"}, rowFlags...) {
		if f.Changed(name) && name == "levels" {
			return cli.Usagef("--levels takes the least and the greatest value of the whole image, which no shard knows: leave it out")
		}
		if f.Changed(name) && name == "each-slice" {
			return cli.Usagef("--each-slice needs no shards: slices have curves of their own")
		}
		if f.Changed(name) {
			return cli.Usagef("--%s is of a curve, not of a part of one: give it to eccbench merge", name)
		}
	}
	if j.impl != "" && j.impl != everyImpl {
		return cli.Usagef("--impl %s: parts are counted by %s alone", j.impl, everyImpl)
	}
	which, err := shard.Parse(j.share.shard, os.Getenv)
	if none := errors.Is(err, shard.ErrNoScheduler); err != nil && !(none && j.share.dry && which.N > 0) {
		return cli.Usagef("--shard %s: %w", j.share.shard, err)
	}
	images := f.Args()
	if j.in.Stack {
		if images, err = stacks(images); err != nil {
			return err
		}
	}
	if len(images) != 1 || j.in.Volume == everyVolume {
		return cli.Usagef("--shard is of one image, a file or an input string")
	}
	if info, err := os.Stat(images[0]); images[0] == cli.Standard || err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return cli.Usagef("input %s: it can be read by one process, and shards are several: save it as a file", images[0])
	}
	if j.out == "" && !j.share.dry {
		return cli.Usagef("--shard writes a part: want its file or a folder for it, --out")
	}
	j.in.Once, j.impl = false, everyImpl // each reads its own slices
	return j.shareOf(c, f, images[0], which)
}

// shareOf writes what a shard adds to the curve of an image.
func (j curveJob) shareOf(c *cli.Program, f *pflag.FlagSet, input string, which shard.Shard) error {
	start := time.Now()
	shown, err := j.in.Named(input)
	if err != nil {
		return err
	}
	name, mask, files, err := j.shareNames(shown)
	if err != nil {
		return err
	}
	before, err := stamp(files)
	if err != nil {
		return cli.Usage(err)
	}
	src, err := openMasked(name, mask)
	if err != nil {
		return cli.Usage(err)
	}
	defer grid.Close(src)
	if err := j.shareable(src, input, name); err != nil {
		return cli.Usage(err)
	}
	in := j.convention()
	if j.share.dry {
		return j.plan(c, src, input, which.N)
	}
	step := grid.Step(src)
	of := which.SpanBy(src.Shape().Slices(), step)
	p := parts.Part{Head: parts.Head{
		Provenance: ecc.Describe(j.named(shown), grid.Unmasked(src), in),
		Vertices:   in.Vertices, Superlevel: in.Superlevel, Masked: in.Masked,
		Shard: which.I, Shards: which.N, First: of.Lo, End: of.Hi, Command: command(f, input),
	}}
	if step > 1 {
		p.Step = step
	}
	p.Mask, p.Program, p.Implementation = j.named(mask), version(), everyImpl
	p.Counted.Type, p.Counted.Ladder = src.Type().String(), src.Ladder().Key()
	p.Source = hexOf(p.Input, p.Mask, p.Shape, p.Type, before)
	key := fingerprint.Derived(strings.Join([]string{"eccbench part", p.Source, p.Counted.Type, p.Counted.Ladder, p.Construction, p.Filtration, p.Periodic}, "\n"))
	if j.share.key != "" {
		if key, err = fingerprint.ParseKey(j.share.key); err != nil {
			return cli.Usagef("--key: %w", err)
		}
	}
	p.Key = key.String()
	path, err := partPath(j.out, which)
	if err != nil {
		return err
	}
	if err := cli.Apart([]cli.Target{{Flag: "--out", Path: path}}, files...); err != nil {
		return err
	}
	if err := cli.Writable(path); err != nil {
		return err
	}
	w, sum := ecc.InShare(c.Curve, in, of, key)
	hashed := grid.NewDigester(struct{ grid.Source }{src}) // a part of what is in memory is hashed as it is read, too
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: j.threads}}
	answered, err := cli.Answer(w, everyImpl, name, grid.Source(hashed), conditions, j.budget, "part")
	if infinite := (*grid.NotFiniteError)(nil); errors.As(err, &infinite) {
		return cli.Usagef("input %s: in slices %d to %d %w; replace them by finite values, or leave NaN out (--nan mask)", input, of.Lo, of.Hi, infinite)
	}
	if err != nil {
		return err
	}
	p.Steps, p.Fingerprint = answered.Out, sum().String()
	if p.Unhashed = grid.Period(src) > 0; !p.Unhashed {
		for slice := range parts.HashedSlices(of, src.Shape().Slices(), in.Periodic.Slices(src.Shape())) {
			h, read := hashed.Slice(slice)
			if !read {
				return fmt.Errorf("slice %d was not read", slice)
			}
			p.Hashes = append(p.Hashes, h)
		}
	}
	if after, err := stamp(files); err != nil || after != before {
		return cli.Usagef("input %s: it changed while it was read; make the part again, and those made before", input)
	}
	if err := cli.WriteFile(path, func(w *os.File) error { return p.Write(w, src.Ladder().Len()) }); err != nil {
		return err
	}
	if !j.quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: shard %v, slices %d to %d of %d: %d changes by %s, VERIFIED by %s, %v\n",
			report.VisibleText(input), p.Shape, p.Type, which, of.Lo, of.Hi, src.Shape().Slices(), len(p.Steps), answered.By, answered.Witness, quantity.Duration(time.Since(start)))
	}
	return nil
}

// shareNames are the names of an image and its mask, each slice of which is read by itself
// where that can be, and the files that they are read from.
func (j curveJob) shareNames(image string) (name, mask string, files []string, err error) {
	if name, err = bySlices(image); err != nil {
		return "", "", nil, err
	}
	files = datasets.Files(name)
	if j.mask == "" {
		return name, "", files, nil
	}
	if mask, err = j.in.NamedWhole(j.mask); err != nil {
		return "", "", nil, err
	}
	if mask, err = bySlices(mask); err != nil {
		return "", "", nil, err
	}
	return name, mask, append(files, datasets.Files(mask)...), nil
}

// bySlices is the name of an image whose slices can be read in any order.
func bySlices(name string) (string, error) {
	n, err := datasets.ParseName(name)
	switch {
	case err != nil:
		return "", cli.Usage(err)
	case n.Generator == "stack":
		n = n.With("stream", "true")
	case n.Get("stream") == "once":
		n = n.With("stream", "")
	}
	return n.String(), nil
}

// shareable is an error where no shard by itself knows what its slices add.
func (j curveJob) shareable(src grid.Source, input, name string) error {
	if err := j.rings.Of(src.Shape()); err != nil {
		return fmt.Errorf("--periodic %s: %s: %w", j.rings, input, err)
	}
	if labels := grid.LabelsOf(src); labels != nil {
		return fmt.Errorf("input %s: its values of %s become their ranks among those of the whole image, which no shard knows; save it as float32, int16 or uint16", input, labels.Type())
	}
	n, err := datasets.ParseName(name)
	if err != nil {
		return err
	}
	if _, _, even := src.Ladder().Affinity(); src.Ladder().Indexed() && (!even || n.FromFiles() && grid.Unmasked(src).Type() == grid.Float32) {
		return fmt.Errorf("input %s: its levels, %v, are those of the whole image, which no shard knows; say levels=every", input, src.Ladder())
	}
	return nil
}

// stamp tells files from what they become: their names, sizes and times.
func stamp(files []string) (string, error) {
	var b strings.Builder
	for _, path := range files {
		info, err := datasets.Stat(path)
		if err != nil {
			return "", fmt.Errorf("input %s: %w", path, err)
		}
		fmt.Fprintf(&b, "%s %d %s\n", path, info.Size, info.Version)
	}
	return b.String(), nil
}

// hexOf is a digest of some texts.
func hexOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return fmt.Sprintf("%x", sum[:16])
}

// partPath is the file of a part: a folder has it under a name of its own.
func partPath(out string, s shard.Shard) (string, error) {
	info, err := os.Stat(out)
	if folder := err == nil && info.IsDir(); !folder && !strings.HasSuffix(out, "/") {
		return out, nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", cli.Usagef("the folder for parts: %w", err)
	}
	return filepath.Join(out, parts.FileName(s)), nil
}

// command is what was typed of an input, but for the flags that say which part and where it goes, and
// those that are of this machine.
func command(f *pflag.FlagSet, input string) string {
	words := []string{"eccbench", "curve", parts.Quote(input)}
	f.Visit(func(flag *pflag.Flag) {
		if slices.Contains([]string{"shard", "out", "dry-run", "quiet", "threads", "time-limit"}, flag.Name) {
			return
		}
		value := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		if flag.Value.Type() == "bool" {
			words = append(words, "--"+flag.Name+"="+value)
			return
		}
		words = append(words, "--"+flag.Name, parts.Quote(value))
	})
	return strings.Join(words, " ")
}

// plan prints what each of so many shards reads, takes and writes.
func (j curveJob) plan(c *cli.Program, src grid.Source, input string, n int64) error {
	fmt.Fprintf(c.Stdout, "%s: %v %v, %v: %d shards on %d cores each\n", report.VisibleText(input), src.Shape(), src.Type(), src.Ladder(), n, j.threads)
	t := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "shard\tslices\treads\tmemory, about\tpart, at most\t")
	var reads int64
	for i := range n {
		s := shard.Shard{I: i + 1, N: n}
		of := s.SpanBy(src.Shape().Slices(), grid.Step(src))
		cost := ecc.ShareOf(src, j.convention(), of, j.threads)
		reads += cost.Reads
		fmt.Fprintf(t, "%v\t%d\t%s\t%s\t%s\t\n", s, of.Len(), quantity.Bytes(cost.Reads), quantity.Bytes(cost.Memory), quantity.Bytes(cost.Part))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Stdout, "all read %s, %.2f %% more than the image\n", quantity.Bytes(reads), 100*(float64(reads)/float64(grid.TotalBytes(src))-1))
	return err
}
