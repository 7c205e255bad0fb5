package images

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"eccbench/datasets/element"
	"eccbench/internal/ask"
	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/decimal"
	"eccbench/internal/grid"
	"eccbench/internal/host"
	"eccbench/internal/regular"
	"eccbench/internal/report"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/ecc/parts"
)

// levelsName is the name of the subcommand.
const levelsName = "levels"

// Levels returns the command levels.
func Levels() cli.Subcommand {
	return cli.Subcommand{
		Name: levelsName, Args: "FILE", Brief: "print the range or the distinct values of an image",
		Examples: []string{
			"eccbench levels ct.raw --shape 2048x2048x2048 --type float32",
			"eccbench levels ct.raw --shape 2048x2048x2048 --type float32 --shard 3/16 -o ranges/",
			"eccbench merge ranges/",
			"eccbench curve ct.raw --shape 2048x2048x2048 --type float32 --levels 4096 --between -1024,3071.5 --shard 3/16 " +
				"-o parts/",
			"eccbench levels ct.raw --shape 2048x2048x2048 --type float32 --distinct 65536 --shard 3/16 -o tables/",
			"eccbench merge tables/ -o values.csv",
			"eccbench curve ct.raw --shape 2048x2048x2048 --type float32 --table values.csv --shard 3/16 -o parts/",
		},
		Run: doLevels,
	}
}

func doLevels(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j sharing
	var distinct int64
	f.StringVarP(&j.Out, "out", "o", "", "write to this `FILE`; for a part, to this folder")
	if err := j.AddImage(f); err != nil {
		return err
	}
	f.Int64Var(&distinct, "distinct", 0, "print the distinct values, at most `N`, in place of the range")
	j.addShard(f, "range of values")
	j.AddThreads(f)
	f.BoolVarP(&j.Quiet, "quiet", "q", false, "print only errors on standard error")
	if err := parse(); err != nil {
		return err
	}
	if err := j.CheckImage(f, "these are the values that levels are made of"); err != nil {
		return err
	}
	if f.Changed("distinct") && (distinct < 1 || distinct > parts.MostTable) {
		return cli.Usagef("--distinct %d: want how many values there may be, 1 to %d", distinct, int64(parts.MostTable))
	}
	j.distinct = distinct
	if err := j.Check(); err != nil {
		return err
	}
	j.of = levelsName
	if j.isSharded() {
		return j.do(c, f, nil, "")
	}
	return j.OfOne(c, f.Arg(0), func(image string) error {
		name, err := j.In.Named(image)
		if err != nil {
			return err
		}
		if err := cli.Writable([]cli.Target{{Flag: "--out", Path: j.Out}}, name.Files()...); err != nil {
			return err
		}
		src, err := ask.Opening{Every: true}.Of(name).Open(host.AvailableMemory())
		if err != nil {
			return cli.Usage(err)
		}
		defer grid.Close(src)
		if labels := grid.LabelsOf(src); labels != nil {
			return cli.Usagef("input %s: its values of %s become ranks, which have no evenly spaced levels; save it as "+
				"float32, int16 or uint16 if that holds its values", image, labels.Type())
		}
		v, table, err := j.surveyed(src, grid.Whole(src))
		if err == nil {
			err = grid.Unchanged(src)
		}
		if err != nil {
			return cli.Usagef("input %s: %w", image, err)
		}
		c.Following(j.Quiet).Missing(report.VisibleText(image), src)
		return writeValues(c, j.Out, v, table)
	})
}

// survey computes the range of values, or the distinct values, of a shard's slices.
func (s *sharedImage) survey(p *parts.Part, of grid.Span, key fingerprint.Key) (err error) {
	p.Fingerprint = make(fingerprint.Sum, key.ForLevels(s.counted.Ladder().Len()).Functions()).String() // of an empty list
	p.Values = &parts.Values{Most: s.distinct}
	if of.Len() == 0 {
		return nil
	}
	*p.Values, p.Listed, err = s.surveyed(s.counted, of)
	return err
}

// surveyed returns the range of the values of some slices; with --distinct it also returns the
// distinct values.
func (j *sharing) surveyed(src grid.Source, of grid.Span) (v parts.Values, table []float32, err error) {
	v = parts.Values{Voxels: of.Len() * src.Shape().SliceVoxels(), Most: j.distinct}
	if j.distinct == 0 {
		v.Least, v.Greatest, err = grid.Range(src, of)
		return v, nil, err
	}
	table, err = element.DistinctValues(src, of, j.distinct, j.Threads)
	if errors.Is(err, element.ErrManyValues) {
		return v, nil, manyValues(j.distinct)
	}
	if err == nil {
		v.Least, v.Greatest = table[0], table[len(table)-1]
	}
	return v, table, err
}

// manyValues returns the error of an image with more distinct values than --distinct allows.
func manyValues(most int64) error {
	return fmt.Errorf("%w than %d; give a greater --distinct, or use evenly spaced levels",
		element.ErrManyValues, most)
}

// mergeRanges merges the values of all shards.
func (j mergeJob) mergeRanges(c *cli.Program, f *pflag.FlagSet, set *parts.Set) error {
	for _, name := range rowFlags {
		if f.Changed(name) {
			return cli.Usagef("--%s: these are parts of a range of values, which is one row: leave it out", name)
		}
	}
	if err := set.Check(); err != nil {
		return j.blame(set, err)
	}
	v, table := set.Values(), []float32(nil)
	if v.Most > 0 {
		table = element.MergeValues(set.Tables())
	}
	if int64(len(table)) > v.Most {
		return cli.Usagef("the parts have %w", manyValues(v.Most))
	}
	return writeValues(c, j.Out, v, table)
}

// tableTitle is the first line of a table of values.
const tableTitle = "value"

func writeValues(c *cli.Program, out string, v parts.Values, table []float32) error {
	if v.Most == 0 {
		return answering.WriteTo(c, out, "range of values", func(w io.Writer) error {
			_, err := fmt.Fprintf(w, "least,greatest\n%v,%v\n", v.Least, v.Greatest)
			return err
		})
	}
	return answering.WriteTo(c, out, "table of values", func(w io.Writer) error {
		b := []byte(tableTitle + "\n")
		for _, value := range table {
			b = append(decimal.AppendFloat32(b, value), '\n')
		}
		_, err := w.Write(b)
		return err
	})
}

// tableOf reads a ladder from a file with one value per line.
func tableOf(path string) (l grid.Ladder, err error) {
	f, _, err := regular.Open(path)
	if err != nil {
		return l, cli.Usagef("--table: %w", err)
	}
	defer f.Close() // closing a file that was only read cannot lose anything
	var values []float32
	lines := bufio.NewScanner(regular.Text(f))
	for n := 1; lines.Scan(); n++ {
		word := strings.TrimSpace(lines.Text())
		if word == "" || n == 1 && word == tableTitle {
			continue
		}
		v, err := decimal.ParseFloat(word, 32)
		if err != nil || float64(float32(v)) != v {
			return l, cli.Usagef("--table %s: line %d: %.40q is no float32; want a value each line, as eccbench levels "+
				"--distinct writes them", path, n, word)
		}
		if len(values) == parts.MostTable {
			return l, cli.Usagef("--table %s: more than %d values; use evenly spaced levels, or none",
				path, int64(parts.MostTable))
		}
		values = append(values, float32(v))
	}
	if err := lines.Err(); err != nil {
		return l, cli.Usagef("--table %s: %w", path, err)
	}
	if l, err = grid.Table(values); err != nil {
		return l, cli.Usagef("--table %s: %w; want its values ascending, as eccbench levels --distinct writes them",
			path, err)
	}
	return l, nil
}

// bounds parses the two values of --between.
func bounds(text string) (least, greatest float32, err error) {
	lo, hi, both := strings.Cut(text, ",")
	a, errA := decimal.ParseFloat(lo, 32)
	b, errB := decimal.ParseFloat(hi, 32)
	if !both || errA != nil || errB != nil || !(a <= b) || math.IsInf(b-a, 0) {
		return 0, 0, cli.Usagef("--between %s: want the least and the greatest value, LO,HI, which eccbench levels prints",
			text)
	}
	return float32(a), float32(b), nil
}
