package images

import (
	"cmp"
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
	"eccbench/datasets/element"
	"eccbench/datasets/files"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/shard"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/ecc/parts"
)

// A shareJob holds the flags of one part.
type shareJob struct {
	shard, key string
	dry        bool
	diskRate   string
}

// addShard adds the flag that selects the part.
func (s *shareJob) addShard(f *pflag.FlagSet, of string) {
	f.StringVar(&s.shard, "shard", "",
		"make a part of the "+of+" for eccbench merge: `i/n`, several as 3,5-7/n, or auto or auto/n for an array task")
}

// add adds all flags.
func (s *shareJob) add(f *pflag.FlagSet, of string) {
	s.addShard(f, of)
	f.StringVar(&s.key, "key", "",
		"with --shard: fingerprint `KEY` of all shards, 32 hexadecimal digits (default derived from the input)")
	f.BoolVar(&s.dry, "dry-run", false, "with --shard: print what shards read, need and write, and nothing else")
	f.StringVar(&s.diskRate, "disk-rate", "",
		"with --dry-run: `BYTES` read per second, such as 2GiB, to print the reading time")
}

func (s *shareJob) isSharded() bool { return s.shard != "" || s.key != "" || s.dry || s.diskRate != "" }

// A sharing is a question whose answer is computed in parts.
type sharing struct {
	answering.Flags
	shareJob
	of         string         // the subcommand: curve, betti or levels
	distinct   int64          // for levels: the greatest number of distinct values, or 0
	convention ecc.Convention // of the image; valid once the image is open
	ladder     *grid.Ladder   // the ladder that all shards share; nil for the image's own
	table      string         // the file of this ladder, or ""
	// at holds the values of the sets for betti, whose components the parts store.
	at []grid.Number
	by betti.Slabber
}

// doShare writes one part of a curve.
func (j curveJob) doShare(c *cli.Program, f *pflag.FlagSet) error {
	for _, name := range []string{"each-slice", "levels"} {
		switch {
		case !f.Changed(name):
		case name == "levels" && j.between == "" && j.table == "":
			return cli.Usagef("--levels takes the least and the greatest value of the whole image, which no shard knows: " +
				"give them with --between LO,HI (eccbench levels prints them), or leave it out")
		case name == "levels":
		default:
			return cli.Usagef("--each-slice needs no shards: slices have curves of their own")
		}
	}
	if j.Options.NaN == ask.NaNMask && (j.everyLevel() || f.Changed("levels")) {
		return cli.Usagef("--nan mask works without --all, --format euler and --levels: leave them out, or replace NaN and " +
			"pass --mask")
	}
	impl := cmp.Or(j.Impl, ask.EveryImpl)
	sharing := sharing{Flags: j.Flags, shareJob: j.share, of: "curve", table: j.table}
	agreed := j.ladder
	switch {
	case j.table == "" && j.between == "":
		return sharing.do(c, f, rowFlags, impl)
	case j.table != "" && (j.between != "" || f.Changed("levels")):
		return cli.Usagef("--table has all levels: leave --levels and --between out")
	case j.table != "" && (j.Mask != "" || j.Options.NaN == ask.NaNMask):
		return cli.Usagef("--table applies to all voxels: leave --mask, --nan or --table out")
	case j.table != "":
		agreed = func(*pflag.FlagSet) (grid.Ladder, error) { return tableOf(j.table) }
	}
	ladder, err := agreed(f)
	if err != nil {
		return err
	}
	sharing.ladder = &ladder
	return sharing.do(c, f, rowFlags, impl)
}

// ladder returns evenly spaced levels between the values of --between.
func (j curveJob) ladder(f *pflag.FlagSet) (l grid.Ladder, err error) {
	levels, err := f.GetInt64Slice("levels")
	switch {
	case err != nil:
		return l, err
	case len(levels) != 1 || levels[0] < 1 || levels[0] > grid.MaxLevels:
		return l, cli.Usagef("--between needs a number of levels: give --levels, one from 1 to %d", int64(grid.MaxLevels))
	case j.Mask != "":
		return l, cli.Usagef("--levels apply to all voxels: leave --mask or --levels out")
	}
	least, greatest, err := bounds(j.between)
	if err != nil {
		return l, err
	}
	if l, err = element.RangeLadder(least, greatest, levels[0]); err != nil {
		err = cli.Usagef("--between %s: %w", j.between, err)
	}
	return l, err
}

// do writes one part by an implementation. It rejects the flags of merged, which belong to the
// command merge.
func (j sharing) do(c *cli.Program, f *pflag.FlagSet, merged []string, impl string) error {
	if j.shard == "" {
		return cli.Usagef("--key, --dry-run and --disk-rate apply to parts: give --shard i/n too")
	}
	if j.diskRate != "" && !j.dry {
		return cli.Usagef("--disk-rate is for a plan: give --dry-run too")
	}
	for _, name := range merged {
		if f.Changed(name) {
			return cli.Usagef("--%s applies to the whole, not to a part: give it to eccbench merge", name)
		}
	}
	if j.Impl != "" && j.Impl != impl {
		return cli.Usagef("--impl %s: parts are counted by %s alone", j.Impl, impl)
	}
	which, err := shard.ParseList(j.shard, os.Getenv)
	if none := errors.Is(err, shard.ErrNoScheduler); err != nil && !(none && j.dry && which[0].N > 0) {
		return cli.Usagef("--shard %s: %w", j.shard, err)
	}
	images := f.Args()
	if j.In.Stack {
		if images, err = answering.Stacks(images); err != nil {
			return err
		}
	}
	if len(images) != 1 || j.In.Volume == answering.EveryVolume {
		return cli.Usagef("--shard applies to one image, a file or an input string")
	}
	if info, err := os.Stat(images[0]); images[0] == cli.Standard || err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		return cli.Usagef("input %s: it can be read by one process, and shards are several: save it as a file", images[0])
	}
	if j.Out == "" && !j.dry {
		return cli.Usagef("--shard writes a part: want its file or a folder for it, --out")
	}
	j.Impl = impl
	j.In.Every, j.In.Gaps, j.In.Once = true, j.Options.NaN == ask.NaNMask, false // each shard reads its own slices
	if len(which) > 1 && !j.dry && !isFolder(j.Out) {
		return cli.Usagef("--out %s: several parts want a folder, %s/", j.Out, j.Out)
	}
	for _, one := range which {
		if err := j.shareOf(c, f, images[0], one); err != nil || j.dry {
			return err
		}
	}
	return nil
}

// shareOf computes and writes the contribution of a shard to the curve of an image.
func (j sharing) shareOf(c *cli.Program, f *pflag.FlagSet, input string, which shard.Shard) error {
	start := time.Now()
	shown, err := j.In.Named(input)
	if err != nil {
		return err
	}
	read := shown
	if n, err := datasets.ParseName(shown); err == nil && j.ladder != nil && n.FromFiles() {
		read = n.With("levels", "every").String() // this does not need a pass over the image
	}
	name, mask, files, err := j.shareNames(read)
	if err != nil {
		return err
	}
	before, err := stamp(files)
	if err != nil {
		return cli.Usage(err)
	}
	src, err := ask.OpenMasked(host.AvailableMemory(), name, mask)
	if err != nil {
		return cli.Usage(err)
	}
	defer grid.Close(src)
	opened := src
	if j.convention, err = j.Options.Convention(mask != "" || j.Options.Gaps(src.Type())); err != nil {
		return err
	}
	if err := j.shareable(src, input, name); err != nil {
		return cli.Usage(err)
	}
	hashed := grid.NewDigester(struct{ grid.Source }{src}) // hashes an image in memory too, during reading
	counted, in := grid.Source(hashed), j.convention
	if j.ladder != nil {
		if src.Type() != grid.Float32 || src.Ladder().Indexed() {
			return cli.Usagef("input %s: levels of its own are for float32 files and this one is %v on %v; leave --levels "+
				"or --table out", input, src.Type(), src.Ladder())
		}
		counted = views.OnLadder(hashed, *j.ladder)
		src = views.OnLadder(src, *j.ladder)
	}
	if j.of == betti.Name {
		in.Superlevel, in.Masked = false, false // sets are in growing order here; no set contains masked voxels
		if counted, err = betti.Sets(hashed, j.at, j.convention); err != nil {
			return cli.Usage(err)
		}
	}
	p := parts.Part{Head: parts.Head{
		Provenance: ecc.Describe(j.Named(shown), views.Unmasked(src), j.convention),
		Vertices:   in.Vertices, Superlevel: in.Superlevel, Masked: in.Masked,
		Shard: which.I, Shards: which.N, Command: command(f, j.of, input),
		At: j.at, Above: len(j.at) > 0 && j.convention.Superlevel,
	}}
	p.Mask, p.Program, p.Implementation = j.Named(mask), cli.Version(), j.Impl
	p.Counted.Type, p.Counted.Ladder = counted.Type().String(), counted.Ladder().Key()
	if j.ladder != nil {
		p.Listed = j.ladder.Listed()
	}
	p.Source = hexOf(p.Input, p.Mask, p.Shape, p.Type, before)
	if j.dry {
		return j.plan(c, src, counted, input, p.Source, which.N)
	}
	step := grid.Step(src)
	of := which.SpanBy(src.Shape().Slices(), step)
	if p.First, p.End = of.Lo, of.Hi; step > 1 {
		p.Step = step
	}
	key := fingerprint.Derived(strings.Join([]string{"eccbench part", p.Source, p.Counted.Type, p.Counted.Ladder,
		p.Construction, p.Filtration, p.Periodic}, "\n"))
	if j.key != "" {
		if key, err = fingerprint.ParseKey(j.key); err != nil {
			return cli.Usagef("--key: %w", err)
		}
	}
	p.Key = key.String()
	path, err := partPath(j.Out, which)
	if err != nil {
		return err
	}
	if err := cli.Writable([]cli.Target{{Flag: "--out", Path: path}}, append(files, j.table)...); err != nil {
		return err
	}
	said, hold := "", func() error { return nil } // hold is called once the part is written
	if j.of == levelsName {
		err = j.survey(&p, counted, of, key)
	} else {
		runs := parts.NewRuns(filepath.Dir(path), p.Head, counted.Ladder().Len())
		defer runs.Close() // removes files that are no longer needed
		said, hold, err = j.count(c, &p, name, counted, in, of, key, runs)
	}
	if infinite := (*grid.NotFiniteError)(nil); errors.As(err, &infinite) {
		instead := "replace them by finite values"
		if j.of == "curve" {
			instead += ", or leave NaN out (--nan mask)"
		}
		return cli.Usagef("input %s: in %v: %w; %s", input, of, infinite, instead)
	}
	if errors.Is(err, views.ErrAbove) {
		return cli.Usagef("input %s: %w; --between wants the range of the whole image, which eccbench levels prints",
			input, err)
	}
	if errors.Is(err, views.ErrNotListed) {
		return cli.Usagef("input %s: %w values; it wants all of the whole image, which eccbench levels --distinct prints",
			input, err)
	}
	if errors.Is(err, element.ErrManyValues) {
		return cli.Usagef("input %s: in %v: %w", input, of, err)
	}
	if err != nil {
		return err
	}
	if p.Unhashed = grid.Period(src) > 0 || j.of == levelsName; !p.Unhashed {
		for slice := range parts.HashedSlices(of, src.Shape().Slices(), in.Periodic.Slices(src.Shape())) {
			h, read := hashed.Slice(slice)
			if !read {
				return fmt.Errorf("slice %d was not read", slice)
			}
			p.Hashes = append(p.Hashes, h)
		}
	}
	if err := grid.Unchanged(opened); err != nil {
		return cli.Usagef("input %s: %w; make the part again, and those made before", input, err)
	}
	p.Missing = c.Missing(report.VisibleText(input), opened, j.Quiet)
	write := func(w *os.File) error { return cmp.Or(p.Write(w, counted.Ladder().Len()), hold()) }
	if err := cli.WriteFile(path, write); err != nil {
		return err
	}
	if !j.Quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: shard %v, %v of %d: %s%s, %v\n",
			report.VisibleText(input), p.Shape, p.Type, which, of, src.Shape().Slices(), p.Has(), said,
			quantity.Duration(time.Since(start)))
	}
	return nil
}

// count computes the answer of a part. It returns a text that names the implementation and the
// witness, and a function to call once the part is written.
func (j sharing) count(c *cli.Program, p *parts.Part, name string, counted grid.Source, in ecc.Convention, of grid.Span,
	key fingerprint.Key, runs *parts.Runs) (said string, hold func() error, err error) {
	w, sum, slabs := j.question(c, counted, in, of, key, runs)
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: j.Threads}}
	by := ask.EveryImpl
	if j.of != betti.Name { // for Betti numbers the part counts the Euler characteristics
		by = j.Impl
	}
	answered, err := ask.Answer(w, by, name, counted, conditions, answering.LimitsOf(j.Budget), "part")
	if err != nil {
		return "", nil, err
	}
	said, hold = fmt.Sprintf(" by %s, VERIFIED by %s", p.Implementation, answered.Evidence), func() error { return nil }
	p.Steps, p.Fingerprint = answered.Out, sum().String()
	if runs.Any() {
		if err := runs.Add(answered.Out); err != nil {
			return "", nil, err
		}
		var merged *fingerprint.Sum
		p.Chunks, merged = runs.Steps(key.WithConvention(in).ForLevels(counted.Ladder().Len()), j.Threads)
		hold = func() error {
			if d := ecc.UnlikeSums(sum(), *merged, key); d != nil {
				return cli.VerdictError{Code: cli.ExitWrong,
					Why: fmt.Sprintf("the part by %s is WRONG and is not written: its runs are not merged rightly: %v",
						p.Implementation, d)}
			}
			return nil
		}
	}
	p.Slabs, err = slabs()
	return said, hold, err
}

// spilledVoxels is a variable only for tests.
var spilledVoxels int64 = ecc.SpilledVoxels

// question returns the workload for the slices of a shard. After the answer, the functions return
// its fingerprint and the bytes of its components.
func (j sharing) question(c *cli.Program, counted grid.Source, in ecc.Convention, of grid.Span, key fingerprint.Key,
	runs *parts.Runs) (bench.Workload[grid.Source, ecc.VCEC], func() fingerprint.Sum, func() ([][]byte, error)) {
	if j.of != betti.Name {
		beside := ecc.PieceHooks{}
		if !counted.Ladder().Indexed() {
			beside.Spill, beside.Voxels = runs.Add, spilledVoxels
		}
		w, sum := ecc.InShare(c.Curve, in, of, key, beside)
		return w, sum, func() ([][]byte, error) { return nil, nil }
	}
	w, sum, share := betti.InShare(c.Curve, j.by, counted, in, of, key, j.Threads)
	return w, sum, func() (list [][]byte, err error) {
		for _, s := range share.Slabs {
			b, err := s.AppendBinary(nil)
			if err != nil {
				return nil, err
			}
			list = append(list, b)
		}
		return list, nil
	}
}

// shareNames returns the names of an image and its mask and the files that they are read from. If
// possible, the names allow reading each slice separately.
func (j sharing) shareNames(image string) (name, mask string, files []string, err error) {
	if name, err = bySlices(image); err != nil {
		return "", "", nil, err
	}
	files = datasets.Files(name)
	if j.Mask == "" {
		return name, "", files, nil
	}
	if mask, err = j.In.NamedWhole(j.Mask); err != nil {
		return "", "", nil, err
	}
	if mask, err = bySlices(mask); err != nil {
		return "", "", nil, err
	}
	return name, mask, append(files, datasets.Files(mask)...), nil
}

// bySlices returns the name of an image whose slices can be read in any order.
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

// shareable returns an error if a shard cannot compute the contribution of its slices without the
// others.
func (j sharing) shareable(src grid.Source, input, name string) error {
	if j.convention.Periodic.Z && grid.Dim(src) > src.Shape().Dim() {
		return fmt.Errorf("--periodic %s: %s is a volume of one slice, whose shards are along y: leave z or --shard out",
			j.convention.Periodic, input)
	}
	if err := j.convention.Periodic.Check(src.Shape()); err != nil {
		return fmt.Errorf("--periodic %s: %s: %w", j.convention.Periodic, input, err)
	}
	if labels := grid.LabelsOf(src); labels != nil {
		return fmt.Errorf("input %s: its values of %s become their ranks among those of the whole image, which no shard "+
			"knows; save it as float32, int16 or uint16", input, labels.Type())
	}
	n, err := datasets.ParseName(name)
	if err != nil {
		return err
	}
	if _, _, even := src.Ladder().Affinity(); src.Ladder().Indexed() &&
		(!even || n.FromFiles() && views.Unmasked(src).Type() == grid.Float32) {
		return fmt.Errorf("input %s: its levels, %v, are those of the whole image, which no shard knows; use levels=every",
			input, src.Ladder())
	}
	return nil
}

// stamp identifies the state of files by their names, sizes and times.
func stamp(paths []string) (string, error) {
	var b strings.Builder
	for _, path := range paths {
		info, err := files.Stat(path)
		if err != nil {
			return "", fmt.Errorf("input %s: %w", path, err)
		}
		fmt.Fprintf(&b, "%s %d %s\n", path, info.Size, info.Version)
	}
	return b.String(), nil
}

// hexOf returns a digest of some texts in hexadecimal digits.
func hexOf(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n")))
	return fmt.Sprintf("%x", sum[:16])
}

// isFolder reports whether parts are written into a folder, which may not exist yet.
func isFolder(out string) bool {
	info, err := os.Stat(out)
	return err == nil && info.IsDir() || strings.HasSuffix(out, "/")
}

// partPath returns the path of a part's file. In a folder the part's name contains its number.
func partPath(out string, s shard.Shard) (string, error) {
	if !isFolder(out) {
		return out, nil
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return "", cli.Usagef("the folder for parts: %w", err)
	}
	return filepath.Join(out, parts.FileName(s)), nil
}

// command returns the typed command for an input. It leaves out the flags of the part, of its
// output file and of this machine.
func command(f *pflag.FlagSet, of, input string) string {
	words := []string{"eccbench", of, parts.Quote(input)}
	f.Visit(func(flag *pflag.Flag) {
		if slices.Contains([]string{"shard", "out", "dry-run", "disk-rate", "quiet", "threads", "time-limit"}, flag.Name) {
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

// plan prints for each shard the bytes read, the memory and the bytes written; with a disk rate
// also the time to read.
func (j sharing) plan(c *cli.Program, src, counted grid.Source, input, source string, n int64) error {
	took := func(bytes int64) string { return "" }
	header := ""
	if j.diskRate != "" {
		rate, err := quantity.ParseBytes(j.diskRate)
		if err == nil && rate == 0 {
			err = errors.New("nothing is ever read")
		}
		if err != nil {
			return cli.Usagef("--disk-rate %s: %w", j.diskRate, err)
		}
		header = "in\t"
		took = func(bytes int64) string { return quantity.Duration(quantity.Seconds(float64(bytes) / float64(rate))) }
	}
	fmt.Fprintf(c.Stdout, "%s: %v %v, %v: %d shards on %d cores each\n", report.VisibleText(input), src.Shape(),
		src.Type(), src.Ladder(), n, j.Threads)
	t := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "shard\tslices\treads\t%smemory, about\tpart, at most\t\n", header)
	var reads int64
	for i := range n {
		s := shard.Shard{I: i + 1, N: n}
		of := s.SpanBy(src.Shape().Slices(), grid.Step(src))
		cost := ecc.ShareOf(src, j.convention, of, j.Threads)
		if j.of == betti.Name {
			cost = betti.ShareOf(src, counted, j.convention, of, j.Threads)
		}
		reads += cost.Reads
		in := took(cost.Reads)
		if in != "" {
			in += "\t"
		}
		fmt.Fprintf(t, "%v\t%d\t%s\t%s%s\t%s\t\n", s, of.Len(), quantity.Bytes(cost.Reads), in, quantity.Bytes(cost.Memory),
			quantity.Bytes(cost.Part))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	in := took(reads)
	if in != "" {
		in = ": " + in + " at " + j.diskRate + "/s, counting and checking meanwhile"
	}
	_, err := fmt.Fprintf(c.Stdout, "all read %s, %.2f %% more than the image%s\nsource %s\n", quantity.Bytes(reads),
		100*(float64(reads)/float64(grid.TotalBytes(src))-1), in, source)
	return err
}
