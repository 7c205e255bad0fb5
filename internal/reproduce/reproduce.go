// Package reproduce is the paper command. It runs the cells of a paper's tables, and prints its
// numbers next to numbers of this machine.
package reproduce

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"eccbench/datasets"
	"eccbench/impls"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
	"eccbench/internal/workloads/ecc"
	"eccbench/reports/paper"
)

// Command is paper.
func Command() cli.Subcommand {
	return cli.Subcommand{
		Name: "paper", Conducts: true, Workers: true, Args: "ID|list", Brief: "print a paper's numbers beside those of this machine",
		Examples: []string{
			"eccbench paper list",
			"eccbench paper wang2022 --table 1 --dry-run",
			"eccbench paper wang2022 --table 1 --store /scratch --out r.jsonl",
			"eccbench paper wang2022 --table 1 --from r.jsonl --format md",
			"eccbench paper saxena2025 --max-time 1s --time-limit 20s",
			"eccbench paper murty2013 --max-time 1s --row '~1 million'",
		},
		Run: command,
	}
}

// paperFlags are the flags of the command.
type paperFlags struct {
	limit     cli.Limits
	records   cli.RecordFlags
	at        paper.Place
	tables    []int
	from      []string
	dryRun    bool
	hot       bool
	rotate    int
	sampling  worker.Sampling
	style     report.Format
	format    string
	most      int64    // bytes of a row's images, 0 for no limit
	mostBytes string   // its flag
	rows      []string // patterns of rows, none for all
	check     time.Duration
	figures   string
	claims    bool // print the claims of the paper as checks
}

// add adds the flags.
func (o *paperFlags) add(f *pflag.FlagSet) {
	f.IntSliceVar(&o.tables, "table", nil, "tables of the paper (default all)")
	f.BoolVar(&o.claims, "claims", false, "print the paper's statements as checks; always without --table")
	f.StringVar(&o.figures, "figures", "", "draw the paper's figures from our images to this `DIR`")
	f.BoolVar(&o.dryRun, "dry-run", false, "list the cells with bytes and time, and run nothing")
	f.StringVar(&o.at.Store, "store", "", "write the images to this `DIR` and read them cold in scope file")
	f.StringVar(&o.at.Data, "data", "", "`DIR` of the paper's own images (default stand-ins)")
	f.StringSliceVar(&o.from, "from", nil, "print the tables of these results `FILES`, and run nothing")
	o.records.Add(f)
	o.limit.Add(f)
	o.sampling = worker.DefaultSampling()
	f.IntVar(&o.sampling.MaxSamples, "max-samples", o.sampling.MaxSamples, "most samples of a cell")
	f.DurationVar(&o.sampling.MaxTime, "max-time", o.sampling.MaxTime,
		"longest sampling of a cell, once every input was timed")
	f.IntVar(&o.rotate, "rotate", 3, "inputs that take turns in a cell; one from 16 GiB on")
	f.StringVar(&o.mostBytes, "max-bytes", "", "only rows whose images have at most these `BYTES`, such as 64MiB")
	f.StringSliceVar(&o.rows, "row", nil,
		"only rows of these printed sizes, or patterns such as '128²×*' (default all)")
	f.DurationVar(&o.check, "check-time", 0, "longest verification of a cell (default half of --time-limit)")
	f.BoolVar(&o.hot, "hot", false, "keep the caches between calls (default cold)")
	f.StringVar(&o.format, "format", "text", "table format: text or md")
}

func command(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var o paperFlags
	o.add(f)
	if err := parse(); err != nil {
		return err
	}
	var err error
	if o.style, err = report.ParseFormat(o.format); err != nil || o.style != report.Text && o.style != report.Markdown {
		return cli.Usagef("--format %s: want text or md", o.format)
	}
	if f.NArg() != 1 {
		return cli.Usagef("paper wants one paper, or list, not %d arguments", f.NArg())
	}
	if f.Arg(0) == "list" {
		return papers(c, o.style)
	}
	p, err := paper.Find(f.Arg(0))
	if err != nil {
		return cli.Usage(err)
	}
	switch {
	case o.rotate < 1 || o.rotate > cli.MostRotating:
		return cli.Usagef("--rotate %d: want 1 to %d", o.rotate, cli.MostRotating)
	case o.sampling.MaxSamples < 1 || o.sampling.MaxTime <= 0:
		return cli.Usagef("--max-samples and --max-time must be more than 0")
	case o.check < 0:
		return cli.Usagef("--check-time %v: want more than 0", o.check)
	case o.figures != "" && !p.HasFigures():
		return cli.Usagef("--figures: %s has none that can be drawn", p.ID)
	case len(o.from) > 0 && (o.dryRun || o.records.Out != ""):
		return cli.Usagef("--from runs nothing, so there is nothing for --dry-run and --out")
	}
	if err := crew.CheckThreads(o.limit.Threads); err != nil {
		return cli.Usagef("--%w", err)
	}
	if err := o.records.Check(); err != nil {
		return err
	}
	if o.mostBytes != "" {
		if o.most, err = quantity.ParseBytes(o.mostBytes); err != nil {
			return cli.Usagef("--max-bytes: %w", err)
		}
	}
	if o.figures != "" {
		return paperFigures(c, o.figures, o.style, o.limit.Threads)
	}
	o.claims = o.claims || len(o.tables) == 0
	tables, err := o.choose(p)
	if err != nil {
		return err
	}
	if len(o.from) > 0 {
		return paperFrom(c, p, tables, o)
	}
	return reproduce(c, p, tables, o)
}

// choose returns the tables of the paper with the rows of the flags.
func (o *paperFlags) choose(p paper.Paper) (tables []paper.Table, err error) {
	if len(o.tables) == 0 {
		tables = slices.Clone(p.Tables)
	}
	for _, n := range o.tables {
		t, err := p.Table(n)
		if err != nil {
			return nil, cli.Usagef("--table: %w", err)
		}
		tables = append(tables, t)
	}
	return keepRows(tables, o.rows)
}

// keepRows returns the tables with only the rows whose sizes match a pattern, or with all rows if
// there is none.
func keepRows(tables []paper.Table, patterns []string) ([]paper.Table, error) {
	if len(patterns) == 0 {
		return tables, nil
	}
	found := map[string]bool{}
	for i, t := range tables {
		tables[i].Rows = nil
		for _, r := range t.Rows {
			kept := false
			for _, pattern := range patterns {
				ok, err := path.Match(pattern, r.Label)
				if err != nil {
					return nil, cli.Usagef("--row %s: %w", pattern, err)
				}
				kept, found[pattern] = kept || ok, found[pattern] || ok
			}
			if kept {
				tables[i].Rows = append(tables[i].Rows, r)
			}
		}
	}
	for _, pattern := range patterns {
		if !found[pattern] {
			return nil, cli.Usagef("--row %s: no row of these tables has such a size; without --row the tables name theirs",
				pattern)
		}
	}
	return slices.DeleteFunc(tables, func(t paper.Table) bool { return len(t.Rows) == 0 }), nil
}

// papers lists the papers, their tables, the files that --data looks for, and the
// printed numbers that contradict themselves.
func papers(c *cli.Program, style report.Format) error {
	list, err := paper.List()
	if err != nil {
		return err
	}
	var rows, wanted, findings [][]string
	for _, p := range list {
		for _, t := range p.Tables {
			rows = append(rows, []string{p.ID, fmt.Sprint(t.N), t.About, t.Page, fmt.Sprint(len(t.Rows)), p.Venue})
			for _, r := range t.Rows {
				if file, ok := r.File(); ok {
					generated, err := r.Generated()
					if err != nil {
						return err
					}
					wanted = append(wanted, []string{p.ID, fmt.Sprint(t.N), r.Data + " " + r.Label, file,
						fmt.Sprintf("%d bytes: %s of %s, at most %d values", r.Bytes(), r.Shape, r.Type, r.Levels), generated})
				}
			}
		}
		for _, f := range p.Findings() {
			findings = append(findings, []string{p.ID, fmt.Sprint(f.Table), f.Row.Data + " " + f.Row.Label, f.Column.What,
				f.Say})
		}
	}
	for i, t := range []struct {
		title  string
		header []string
		rows   [][]string
	}{
		{"", []string{"paper", "table", "about", "page", "rows", "venue"}, rows},
		{"Files that --data looks for, raw in the host's byte order, and what stands in for them:",
			[]string{"paper", "table", "row", "file", "with", "stand-in"}, wanted},
		{"Printed numbers that those beside them contradict, however they were rounded:",
			[]string{"paper", "table", "row", "number", "contradiction"}, findings},
	} {
		if i > 0 {
			fmt.Fprintf(c.Stdout, "\n%s\n\n", t.title)
		}
		if err := report.Table(c.Stdout, style, t.header, t.rows); err != nil {
			return err
		}
	}
	return nil
}

// paperFrom prints the tables of recorded runs.
func paperFrom(c *cli.Program, p paper.Paper, tables []paper.Table, o paperFlags) error {
	all, err := c.ReadAllRecords(o.from)
	if err != nil {
		return err
	}
	return printPaper(c, p, tables, o, all, "", notRun)
}

// notRun is the reason for a missing record if only results files are known.
func notRun(paper.Series, paper.Row, string) string { return "not run" }

func printPaper(c *cli.Program, p paper.Paper, tables []paper.Table, o paperFlags, all bench.Records, device string,
	absent paper.Absent) error {
	lines := map[int][]paper.Line{}
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(c.Stdout)
		}
		lines[t.N] = p.Lines(t, all.Cells, impls.Ceiling, c.Has, absent)
		if err := p.Print(c.Stdout, o.style, t, lines[t.N], all, device); err != nil {
			return err
		}
		if p.ID == "smistad2012" && t.N == 3 { // whose numbers are of fields, not of clocks
			if err := printStorage(c, t, o.style); err != nil {
				return err
			}
		}
	}
	if !o.claims {
		return nil
	}
	fmt.Fprintln(c.Stdout)
	return p.PrintClaims(c.Stdout, o.style, lines)
}

// printStorage prints the effect of 16 bits on a field together with the published numbers.
func printStorage(c *cli.Program, t paper.Table, style report.Format) error {
	name, err := t.Rows[0].Generated()
	if err != nil {
		return err
	}
	s, err := datasets.Open(name)
	if err != nil {
		return err
	}
	return paper.PrintStorage(c.Stdout, style, t, s)
}

// reproduce runs the cells of tables that this machine can run, and prints them.
func reproduce(c *cli.Program, p paper.Paper, tables []paper.Table, o paperFlags) (err error) {
	r, err := newReproduction(c, o)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := r.add(p, t); err != nil {
			return err
		}
	}
	if o.dryRun {
		return r.list()
	}
	if err := r.store(); err != nil {
		return err
	}
	plans := r.plans()
	weights, err := cli.Weigh(plans...)
	if err != nil {
		return err
	}
	for _, plan := range plans {
		b, err := runner.Find(plan.Benches, plan.Workload)
		if err != nil {
			return err
		}
		for _, name := range plan.Inputs {
			if err := cli.CheckTargets([]cli.Target{{Flag: "--out", Path: o.records.Out}}, b.Files(name)...); err != nil {
				return err
			}
		}
	}
	o.records.Hash = true
	rec, err := o.records.Record(1, c.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	for i := range plans {
		plans[i].Done = rec.FinishedCell
	}
	interrupted, err := c.Conduct(weights, o.limit.Quiet, rec.Keep, plans...)
	if err != nil {
		return err
	}
	if err := printPaper(c, p, tables, o, rec.All, r.noDevice, r.absent); err != nil {
		return err
	}
	if interrupted {
		return cli.VerdictError{Code: cli.ExitInconclusive,
			Why: "interrupted: what had ended by then is above" + cli.ResumeHint(o.records.Out)}
	}
	return cli.Verdict(rec.All.Cells)
}

// paperFigures draws the figures to a folder, and makes the folder if it is missing.
func paperFigures(c *cli.Program, dir string, style report.Format, threads int) error {
	figures, err := paper.Figures(func(s grid.Source) (ecc.VCEC, error) {
		conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}}
		a, err := ask.Answer(c.Curve, "cpu", "the image", s, conditions,
			ask.Limits{Budget: time.Minute, Free: host.AvailableMemory}, "curve")
		return a.Out, err
	})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return cli.Usagef("--figures: %w", err)
	}
	for i, g := range figures {
		file := filepath.Join(dir, g.Name)
		err := cli.WriteFile(file, func(w *os.File) error {
			_, err := w.Write(g.Data)
			return err
		})
		if err != nil {
			return err
		}
		if style == report.Markdown {
			if i > 0 {
				fmt.Fprintln(c.Stdout)
			}
			fmt.Fprintf(c.Stdout, "![%s](%s)\n%[1]s\n", g.About, filepath.ToSlash(file))
		} else {
			fmt.Fprintf(c.Stdout, "%s: %s\n", file, g.About)
		}
	}
	return nil
}

// probe returns the reason why there is no device, or "". A worker looks for one, so that this
// process never opens a driver.
func probe(c *cli.Program, p runner.Plan) (why string, err error) {
	impl, ok := ceilingOnDevice(p.Benches)
	if !ok {
		return "this program has no implementation for one", nil
	}
	p.Workload, p.Impls, p.Scope, p.Threads = impls.Ceiling, []string{impl}, bench.Kernel, 1
	p.Inputs = []string{"noise/shape=64x64/levels=256/type=uint8/seed=1"}
	err = quietly(c, p, func(cell bench.CellRecord) {
		if cell.Status == verify.Skipped { // what fails otherwise has to show it in cells
			why = cell.Reason
		}
	})
	return why, err
}

// ceilingOnDevice returns the implementation that only reads a device's memory.
func ceilingOnDevice(benches []runner.Bench) (impl string, ok bool) {
	b, err := runner.Find(benches, impls.Ceiling)
	if err != nil {
		return "", false
	}
	for _, a := range b.Abouts() {
		if a.Where == "gpu" && slices.Contains(a.Scopes, bench.Kernel) {
			return a.Name, true
		}
	}
	return "", false
}

// quietly runs a plan whose cells are no results.
func quietly(c *cli.Program, p runner.Plan, end func(bench.CellRecord)) error {
	weights, err := cli.Weigh(p)
	if err != nil {
		return err
	}
	interrupted, err := c.Conduct(weights, true, func(cell bench.CellRecord) error { end(cell); return nil }, p)
	if interrupted {
		return cli.VerdictError{Code: cli.ExitInconclusive, Why: "interrupted"}
	}
	return err
}
