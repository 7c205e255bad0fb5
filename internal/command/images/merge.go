package images

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets/files"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/parts"
)

// Merge returns the command merge.
func Merge() cli.Subcommand {
	return cli.Subcommand{
		Name: "merge", Args: "PART...", Brief: "merge the part files of a sharded run and verify the result",
		Examples: []string{
			"eccbench merge parts/ -o curve.csv",
			"eccbench merge parts/*.part --format npy -o curve.npy --plot curve.svg",
			"eccbench merge parts/ --missing",
		},
		Run: doMerge,
	}
}

// A mergeJob is a parsed merge command.
type mergeJob struct {
	answering.Flags
	rows
	missing bool
}

func doMerge(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j mergeJob
	j.rows.add(f)
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`")
	f.StringVar(&j.plot, "plot", "", "also draw the curve to this .svg `FILE`")
	f.BoolVar(&j.missing, "missing", false,
		"print the shards without a valid part as a Slurm array (3,5-7), and nothing else")
	j.AddThreads(f)
	f.BoolVarP(&j.Quiet, "quiet", "q", false, "print only errors on standard error")
	if err := parse(); err != nil {
		return err
	}
	if err := cmp.Or(j.rows.check(f), j.Check()); err != nil {
		return err
	}
	paths, err := partFiles(f.Args())
	if err != nil {
		return err
	}
	if j.missing {
		return j.printMissing(c, paths)
	}
	if err := cmp.Or(j.checkPlot(), cli.Writable(j.targets(j.Out), paths...)); err != nil {
		return err
	}
	set, err := parts.Load(paths, j.Threads)
	if err != nil {
		return cli.Usage(err)
	}
	if set.Head().Values != nil {
		return j.mergeRanges(c, f, set)
	}
	if len(set.Head().At) > 0 {
		return j.bettis(c, f, set)
	}
	return j.run(c, set)
}

// partFiles returns the files of parts that some arguments name. It lists a folder by the extension
// of parts.
func partFiles(args []string) (paths []string, err error) {
	for _, arg := range args {
		if info, err := os.Stat(arg); err != nil || !info.IsDir() {
			paths = append(paths, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, cli.Usagef("reading the folder: %w", err)
		}
		before := len(paths)
		for _, e := range entries {
			if filepath.Ext(e.Name()) == parts.Extension && !strings.HasPrefix(e.Name(), ".") {
				paths = append(paths, filepath.Join(arg, e.Name()))
			}
		}
		if len(paths) == before {
			return nil, cli.Usagef("%s: the folder has no part, whose name ends in %s; eccbench curve, betti and levels "+
				"--shard write them", arg, parts.Extension)
		}
		slices.SortFunc(paths[before:], files.Natural)
	}
	if len(paths) == 0 {
		return nil, cli.Usagef("merge wants parts, which curve, betti and levels --shard write, or their folder")
	}
	return paths, nil
}

// printMissing prints the shards without a complete part.
func (j mergeJob) printMissing(c *cli.Program, paths []string) error {
	missing, err := parts.Missing(paths, j.Threads)
	if err != nil {
		return cli.Usage(err)
	}
	if len(missing) > 0 {
		_, err = fmt.Fprintln(c.Stdout, parts.List(missing))
	}
	return err
}

// run merges the parts twice: first to verify the curve, then to write it.
func (j mergeJob) run(c *cli.Program, set *parts.Set) error {
	start := time.Now()
	if j.everyLevel() && !set.Ladder().Indexed() {
		return cli.Usagef("every float32 is a level here, which makes too many rows; omit --all and --format euler")
	}
	if err := j.onLevels(set.Ladder()); err != nil {
		return err
	}
	var lines int64
	steps, p, err := j.answer(set, "curve", func(steps ecc.VCEC) { lines += j.ranged(j.linesOf(set, steps, 0)).Len() })
	if err != nil {
		return err
	}
	if j.everyLevel() { // levels=every makes no difference to a row for every level
		p.Input = strings.Replace(p.Input, "/levels=every", "", 1)
	}
	j.Confirmed(c, report.VisibleText(p.Input), p,
		quantity.Count(steps, "change")+" of "+quantity.Count(set.Len(), "part"), start)
	return j.write(c, j.Out, p.Input, p, lines, func(yield func(ecc.Lines, error) bool) {
		var chi int64
		for steps, err := range set.Steps() {
			l := j.linesOf(set, steps, chi)
			for _, s := range steps {
				chi += s.Change
			}
			if !yield(l, err) {
				return
			}
		}
	})
}

// onLevels rejects values of --at between two evenly spaced levels: the parts do not have χ there.
func (j mergeJob) onLevels(l grid.Ladder) error {
	if !l.Rounds() {
		return nil
	}
	for _, v := range j.at {
		compare := func(k int64) int { return (*grid.Labels)(nil).Compare(l.Value(k), v) }
		k := int64(sort.Search(int(l.Len()), func(k int) bool { return compare(int64(k)) >= 0 }))
		if 0 < k && k < l.Len() && compare(k) != 0 {
			return cli.Usagef("--at %v: the parts have χ at %d evenly spaced levels, and the nearest are %v and %v; take "+
				"those, or count again without --levels",
				v, l.Len(), l.Value(k-1), l.Value(k))
		}
	}
	return nil
}

// answer merges the changes of all parts, with each chunk for a function, and returns their number and the provenance
// of the verified answer.
func (j mergeJob) answer(set *parts.Set, what string, each func(ecc.VCEC)) (steps int64, p ecc.Provenance, err error) {
	p = set.Head().Provenance
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: j.Threads}}
	a, err := ask.Answer(parts.Merging(set, each), parts.MergeName, p.Input, set, conditions,
		answering.LimitsOf(j.Budget), what)
	if err != nil {
		return 0, p, j.blame(set, err)
	}
	p.Verdict, p.Witness, p.Evidence, p.Digest = "VERIFIED", a.Witness, a.Evidence, set.Digest()
	return a.Out.Steps, p, nil
}

// bettis merges parts of Betti numbers.
func (j mergeJob) bettis(c *cli.Program, f *pflag.FlagSet, set *parts.Set) error {
	start := time.Now()
	head := set.Head()
	for _, name := range rowFlags {
		if name != "format" && name != "no-header" && name != "provenance" && f.Changed(name) {
			return cli.Usagef("--%s: these are parts of Betti numbers at some values, of which there is a row each: leave "+
				"it out", name)
		}
	}
	if j.format != string(ecc.CSV) && j.format != string(ecc.JSON) {
		return cli.Usagef("--format %s: these are parts of Betti numbers: want csv or json", j.format)
	}
	// The changes of the Euler characteristic from one set to the next, in growing order of the
	// sets.
	chi := make([]int64, len(head.At))
	_, p, err := j.answer(set, "Euler characteristics", func(steps ecc.VCEC) {
		for _, s := range steps {
			for k := s.Level; k < int64(len(chi)); k++ {
				chi[k] += s.Change
			}
		}
	})
	if err != nil {
		return err
	}
	numbers, err := bettiNumbers(set, chi)
	if err != nil {
		return j.blame(set, err)
	}
	rows := make([]bettiRow, len(head.At))
	for k, i := range betti.Growing(head.At, head.Above) {
		rows[i] = bettiRow{head.At[i], numbers[k].B0, numbers[k].B1, numbers[k].B2}
	}
	p.Witness, p.Evidence = betti.FloodName+" and "+p.Witness, betti.FloodName+" and "+p.Evidence
	j.Confirmed(c, report.VisibleText(p.Input), p, "Betti numbers of "+quantity.Count(set.Len(), "part"), start)
	write := func(w io.Writer) error { return writeBetti(w, j.format, p, rows, j.bare) }
	return answering.WriteTo(c, j.Out, "Betti numbers", write, answering.Provenance(j.provenance, p))
}

// bettiNumbers merges the components of the parts to the Betti numbers of each set, in growing
// order. Their Euler characteristics are given.
func bettiNumbers(set *parts.Set, chi []int64) ([]betti.Numbers, error) {
	var all betti.Merging
	err := set.EachComponents(func(list [][]byte) error {
		if len(list) == 0 { // a shard without slices
			return nil
		}
		slabs, err := betti.DecodeSlabs(list)
		if err != nil {
			return err
		}
		return all.Add(slabs)
	})
	if err != nil {
		return nil, err
	}
	numbers, d := all.Numbers(chi, set.Shape().Dim() == 2, set.Convention().Vertices)
	if d != nil {
		return nil, cli.VerdictError{Code: cli.ExitWrong,
			Why: fmt.Sprintf("the Betti numbers by %s are WRONG and are not printed: %s: %v",
				parts.MergeName, betti.FloodName, d)}
	}
	return numbers, nil
}

// linesOf returns the lines of some steps of a set's curve. The sum of the earlier changes is chi.
func (j mergeJob) linesOf(set *parts.Set, steps ecc.VCEC, chi int64) ecc.Lines {
	return ecc.Lines{Curve: steps, Ladder: set.Ladder(), In: set.Convention(), All: j.everyLevel()}.Continue(chi)
}

// blame explains why a set has no curve. If one part is at fault, it also gives the command that
// makes this part again.
func (j mergeJob) blame(set *parts.Set, err error) error {
	if t := (*parts.TornError)(nil); errors.As(err, &t) {
		return cli.Usagef("%w; make it again: %s", err, t.Part.RemakeCommand())
	}
	if verdict := (ask.VerdictError{}); errors.As(err, &verdict) && verdict.Status == verify.Wrong {
		wrong, werr := set.Wrong()
		if werr == nil && wrong != nil {
			verdict.Why += fmt.Sprintf("; %s has changes that contradict its fingerprint: make it again: %s",
				wrong.Path(), wrong.RemakeCommand())
		}
		return verdict
	}
	return err
}
