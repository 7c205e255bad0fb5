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
	of       string       // the subcommand: curve, betti or levels
	levels   int64        // evenly spaced levels on request, or 0
	distinct int64        // for levels: the greatest number of distinct values, or 0
	ladder   *grid.Ladder // the ladder that all shards share; nil for the image's own
	table    string       // the file of this ladder, or ""
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
	if j.levels, err = j.In.AskedLevels(); err != nil {
		return err
	}
	j.Impl = impl
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

// A sharedImage is an opened image with the sources of its shards.
type sharedImage struct {
	*sharing
	input   string   // as typed
	name    string   // canonical
	files   []string // of the image and its mask
	opened  grid.Source
	src     grid.Source // opened, on the ladder of all shards
	counted grid.Source // src, or the sets, hashed while it is read
	hashed  *grid.Digester
	// convention is that of the image, and in that of counted.
	convention, in ecc.Convention
}

// open opens the image of a shard, and describes it in the head of the part.
func (j *sharing) open(f *pflag.FlagSet, input string, which shard.Shard) (s *sharedImage, p *parts.Part, err error) {
	image, err := j.In.Named(input)
	mask := datasets.Name{}
	if err == nil && j.Mask != "" {
		mask, err = j.In.NamedWhole(j.Mask)
	}
	if err != nil {
		return nil, nil, err
	}
	shown := ask.Opening{Levels: j.levels, Every: true, Gaps: j.Options.NaN == ask.NaNMask}.Of(image)
	name := shown
	if j.ladder != nil && name.FromFiles() {
		name = name.With("levels", "every") // this does not need a pass over the image
	}
	name, mask = bySlices(name), bySlices(ask.Opening{Every: true}.Of(mask))
	s = &sharedImage{sharing: j, input: input, name: name.String(), files: slices.Concat(name.Files(), mask.Files())}
	before, err := stamp(s.files)
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	if s.opened, err = ask.OpenMasked(host.AvailableMemory(), name, mask, element.Ranks{}); err != nil {
		return nil, nil, cli.Usage(err)
	}
	if err := s.count(name, !mask.IsZero()); err != nil {
		grid.Close(s.opened)
		return nil, nil, err
	}
	p = &parts.Part{Head: parts.Head{
		Provenance: ecc.Describe(j.Named(shown.String()), views.Unmasked(s.src), s.convention),
		Vertices:   s.in.Vertices, Superlevel: s.in.Superlevel, Masked: s.in.Masked,
		Shard: which.I, Shards: which.N, Command: command(f, j.of, input),
		At: j.at, Above: len(j.at) > 0 && s.convention.Superlevel,
	}}
	p.Mask, p.Program, p.Implementation = j.Named(mask.String()), cli.Version(), j.Impl
	p.Counted.Type, p.Counted.Ladder = s.counted.Type().String(), s.counted.Ladder().Key()
	if j.ladder != nil {
		p.Listed = j.ladder.Listed()
	}
	p.Source = hexOf(p.Input, p.Mask, p.Shape, p.Type, before)
	return s, p, nil
}

// count sets the sources and the convention of an opened image.
func (s *sharedImage) count(name datasets.Name, masked bool) (err error) {
	s.src = s.opened
	if s.convention, err = s.Options.Convention(masked || s.Options.Gaps(s.src.Type())); err != nil {
		return err
	}
	if err := s.shareable(name); err != nil {
		return cli.Usage(err)
	}
	s.hashed = grid.NewDigester(struct{ grid.Source }{s.src}) // hashes an image in memory too, during reading
	s.counted, s.in = s.hashed, s.convention
	if s.ladder != nil {
		if s.src.Type() != grid.Float32 || s.src.Ladder().Indexed() {
			return cli.Usagef("input %s: levels of its own are for float32 files and this one is %v on %v; leave --levels "+
				"or --table out", s.input, s.src.Type(), s.src.Ladder())
		}
		s.counted, s.src = views.OnLadder(s.hashed, *s.ladder), views.OnLadder(s.src, *s.ladder)
	}
	if s.of == betti.Name {
		s.in.Superlevel, s.in.Masked = false, false // sets are in growing order here; no set contains masked voxels
		if s.counted, err = betti.Sets(s.hashed, s.at, s.convention); err != nil {
			return cli.Usage(err)
		}
	}
	return nil
}

// shareOf computes and writes the contribution of a shard to the curve of an image.
func (j *sharing) shareOf(c *cli.Program, f *pflag.FlagSet, input string, which shard.Shard) error {
	start := time.Now()
	s, p, err := j.open(f, input, which)
	if err != nil {
		return err
	}
	defer grid.Close(s.opened)
	if j.dry {
		return s.plan(c, p.Source, which.N)
	}
	step := grid.Step(s.src)
	of := which.SpanBy(s.src.Shape().Slices(), step)
	if p.First, p.End = of.Lo, of.Hi; step > 1 {
		p.Step = step
	}
	key, err := s.partKey(&p.Head)
	if err != nil {
		return err
	}
	p.Key = key.String()
	path, err := partPath(j.Out, which)
	if err != nil {
		return err
	}
	if err := cli.Writable([]cli.Target{{Flag: "--out", Path: path}}, append(s.files, j.table)...); err != nil {
		return err
	}
	said, hold := "", func() error { return nil } // hold is called once the part is written
	if j.of == levelsName {
		err = s.survey(p, of, key)
	} else {
		runs := parts.NewRuns(filepath.Dir(path), p.Head, s.counted.Ladder().Len())
		defer runs.Close() // removes files that are no longer needed
		said, hold, err = s.answer(c, p, of, key, runs)
	}
	if err == nil {
		err = s.addHashes(p, of)
	}
	if err != nil {
		return s.explain(err, of)
	}
	if err := grid.Unchanged(s.opened); err != nil {
		return cli.Usagef("input %s: %w; make the part again, and those made before", input, err)
	}
	p.Missing = c.Following(j.Quiet).Missing(report.VisibleText(input), s.opened)
	write := func(w *os.File) error { return cmp.Or(p.Write(w, s.counted.Ladder().Len()), hold()) }
	if err := cli.WriteFile(path, write); err != nil {
		return err
	}
	if !j.Quiet {
		fmt.Fprintf(c.Stderr, "eccbench: %s: %s %s: shard %v, %v of %d: %s%s, %v\n",
			report.VisibleText(input), p.Shape, p.Type, which, of, s.src.Shape().Slices(), p.Has(), said,
			quantity.Duration(time.Since(start)))
	}
	return nil
}

// partKey returns the key of the fingerprint of all shards.
func (j *sharing) partKey(h *parts.Head) (fingerprint.Key, error) {
	if j.key == "" {
		return fingerprint.Derived(strings.Join([]string{"eccbench part", h.Source, h.Counted.Type, h.Counted.Ladder,
			h.Construction, h.Filtration, h.Periodic}, "\n")), nil
	}
	key, err := fingerprint.ParseKey(j.key)
	if err != nil {
		err = cli.Usagef("--key: %w", err)
	}
	return key, err
}

// addHashes adds the hashes of the slices of a part, except of values, and of an image that repeats itself.
func (s *sharedImage) addHashes(p *parts.Part, of grid.Span) error {
	if p.Unhashed = grid.Period(s.src) > 0 || s.of == levelsName; p.Unhashed {
		return nil
	}
	shape := s.src.Shape()
	for slice := range parts.HashedSlices(of, shape.Slices(), s.in.Periodic.Slices(shape)) {
		h, read := s.hashed.Slice(slice)
		if !read {
			return fmt.Errorf("slice %d was not read", slice)
		}
		p.Hashes = append(p.Hashes, h)
	}
	return nil
}

// explain adds the slices and the remedy to an error of the voxels of a shard.
func (s *sharedImage) explain(err error, of grid.Span) error {
	switch infinite := (*grid.NotFiniteError)(nil); {
	case errors.As(err, &infinite):
		instead := "replace them by finite values"
		if s.of == "curve" {
			instead += ", or leave NaN out (--nan mask)"
		}
		return cli.Usagef("input %s: in %v: %w; %s", s.input, of, infinite, instead)
	case errors.Is(err, views.ErrAbove):
		return cli.Usagef("input %s: %w; --between wants the range of the whole image, which eccbench levels prints",
			s.input, err)
	case errors.Is(err, views.ErrNotListed):
		return cli.Usagef("input %s: %w values; it wants all of the whole image, which eccbench levels --distinct prints",
			s.input, err)
	case errors.Is(err, element.ErrManyValues):
		return cli.Usagef("input %s: in %v: %w", s.input, of, err)
	}
	return err
}

// answer computes the answer of a part. It returns a text that names the implementation and the
// witness, and a function to call once the part is written.
func (s *sharedImage) answer(c *cli.Program, p *parts.Part, of grid.Span, key fingerprint.Key, runs *parts.Runs) (
	said string, hold func() error, err error) {
	w, sum, slabs := s.question(c, of, key, runs)
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: s.Threads}}
	by := ask.EveryImpl
	if s.of != betti.Name { // for Betti numbers the part counts the Euler characteristics
		by = s.Impl
	}
	answered, err := ask.Answer(w, by, s.name, s.counted, conditions, answering.LimitsOf(s.Budget), "part")
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
		p.Chunks, merged = runs.Steps(key.WithConvention(s.in).ForLevels(s.counted.Ladder().Len()), s.Threads)
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
func (s *sharedImage) question(c *cli.Program, of grid.Span, key fingerprint.Key, runs *parts.Runs) (
	bench.Workload[grid.Source, ecc.VCEC], func() fingerprint.Sum, func() ([][]byte, error)) {
	if s.of != betti.Name {
		beside := ecc.PieceHooks{}
		if !s.counted.Ladder().Indexed() {
			beside.Spill, beside.Voxels = runs.Add, spilledVoxels
		}
		w, sum := ecc.InShare(c.Curve, s.in, of, key, beside)
		return w, sum, func() ([][]byte, error) { return nil, nil }
	}
	w, sum, share := betti.InShare(c.Curve, s.by, s.counted, s.in, of, key, s.Threads)
	return w, sum, func() ([][]byte, error) { return betti.EncodeSlabs(share.Slabs) }
}

// bySlices returns the name of an image whose slices can be read in any order.
func bySlices(n datasets.Name) datasets.Name {
	switch {
	case n.Generator == "stack":
		return n.With("stream", "true")
	case n.Get("stream") == "once":
		return n.With("stream", "")
	}
	return n
}

// shareable returns an error if a shard cannot compute the contribution of its slices without the
// others.
func (s *sharedImage) shareable(name datasets.Name) error {
	src := s.opened
	if s.convention.Periodic.Z && grid.Dim(src) > src.Shape().Dim() {
		return fmt.Errorf("--periodic %s: %s is a volume of one slice, whose shards are along y: leave z or --shard out",
			s.convention.Periodic, s.input)
	}
	if err := s.convention.Periodic.Check(src.Shape()); err != nil {
		return fmt.Errorf("--periodic %s: %s: %w", s.convention.Periodic, s.input, err)
	}
	if labels := grid.LabelsOf(src); labels != nil {
		return fmt.Errorf("input %s: its values of %s become their ranks among those of the whole image, which no shard "+
			"knows; save it as float32, int16 or uint16 if that holds its values", s.input, labels.Type())
	}
	if _, _, even := src.Ladder().Affinity(); src.Ladder().Indexed() &&
		(!even || name.FromFiles() && views.Unmasked(src).Type() == grid.Float32) {
		return fmt.Errorf("input %s: its levels, %v, are those of the whole image, which no shard knows; use levels=every",
			s.input, src.Ladder())
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
func (s *sharedImage) plan(c *cli.Program, source string, n int64) error {
	took := func(bytes int64) string { return "" }
	header := ""
	if s.diskRate != "" {
		rate, err := quantity.ParseBytes(s.diskRate)
		if err == nil && rate == 0 {
			err = errors.New("nothing is ever read")
		}
		if err != nil {
			return cli.Usagef("--disk-rate %s: %w", s.diskRate, err)
		}
		header = "in\t"
		took = func(bytes int64) string { return quantity.Duration(quantity.Seconds(float64(bytes) / float64(rate))) }
	}
	fmt.Fprintf(c.Stdout, "%s: %v %v, %v: %d shards on %d cores each\n", report.VisibleText(s.input), s.src.Shape(),
		s.src.Type(), s.src.Ladder(), n, s.Threads)
	t := tabwriter.NewWriter(c.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "shard\tslices\treads\t%smemory, about\tpart, at most\t\n", header)
	var reads int64
	for i := range n {
		which := shard.Shard{I: i + 1, N: n}
		of := which.SpanBy(s.src.Shape().Slices(), grid.Step(s.src))
		cost := ecc.ShareOf(s.src, s.convention, of, s.Threads)
		if s.of == betti.Name {
			cost = betti.ShareOf(s.src, s.counted, s.convention, of, s.Threads)
		}
		reads += cost.Reads
		in := took(cost.Reads)
		if in != "" {
			in += "\t"
		}
		fmt.Fprintf(t, "%v\t%d\t%s\t%s%s\t%s\t\n", which, of.Len(), quantity.Bytes(cost.Reads), in, quantity.Bytes(cost.Memory),
			quantity.Bytes(cost.Part))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	in := took(reads)
	if in != "" {
		in = ": " + in + " at " + s.diskRate + "/s, counting and checking meanwhile"
	}
	_, err := fmt.Fprintf(c.Stdout, "all read %s, %.2f %% more than the image%s\nsource %s\n", quantity.Bytes(reads),
		100*(float64(reads)/float64(grid.TotalBytes(s.src))-1), in, source)
	return err
}
