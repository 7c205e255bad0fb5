package measure

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/report"
	"eccbench/internal/verify"
)

// Verify returns the command verify.
func Verify() cli.Subcommand {
	return cli.Subcommand{
		Name: "verify", Conducts: true, Workers: true, Brief: "check implementations on adversarial inputs, untimed",
		Examples: []string{
			"eccbench verify",
			"eccbench verify --impl cpu --long --time-limit 10m",
			"eccbench verify --workload ecc-batch",
			"eccbench verify --peers peers/bin --impl 'peer:*' --out r.jsonl",
			"eccbench verify --impl cpu --input 'noise/shape=31x17x13/levels=256/type=uint8/seed=7'",
		},
		Run: doVerify,
	}
}

// errFailed ends a run at the first cell that fails.
var errFailed = errors.New("a cell failed")

func doVerify(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var limit cli.Limits
	var in cli.Inputs
	var records cli.RecordFlags
	var long, evidence, failFast, admits bool
	var format, keep string
	limit.Add(f)
	in.AddGiven(f, c.Benches)
	records.Add(f)
	f.BoolVar(&long, "long", false, "add inputs of more than 2²⁴ components and 2³¹ voxels")
	f.BoolVar(&evidence, "evidence", false, "list the result of every witness")
	f.BoolVar(&failFast, "fail-fast", false, "stop at the first failure, without a search for a smaller input")
	f.StringVar(&keep, "keep-failing", "",
		"save each failing input, made small, as image.npy and question.txt below this `DIR`")
	f.BoolVar(&admits, "admit", true,
		"without --input: ask each peer about tiny images first, and leave out those that answer none")
	f.StringVar(&format, "format", "text", "table format: text or md")
	if err := parse(); err != nil {
		return err
	}
	if err := limit.Join(c, &in); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return cli.Usagef("unexpected argument %q; inputs are given with --input", f.Arg(0))
	}
	style, err := report.ParseFormat(format)
	if err != nil || style != report.Text && style != report.Markdown {
		return cli.Usagef("--format %s: want text or md", format)
	}
	b, err := in.Bench()
	if err != nil {
		return err
	}
	names := b.Question().Adversarial
	if f.Changed("input") {
		if names, err = in.Names(); err != nil {
			return err
		}
	}
	if long {
		names = append(slices.Clone(names), b.Question().Long...)
	}
	p, err := limit.Plan(c, b.Name(), names)
	if err != nil {
		return err
	}
	if _, err := impls.SelfTest(); err != nil {
		return err
	}
	if !b.Question().OfImages() {
		p.Scope = bench.E2E
	}
	weights, err := cli.Weigh(p)
	if err != nil {
		return err
	}
	if err := records.Check(); err != nil {
		return err
	}
	var refused error
	if admits && !f.Changed("input") {
		if refused = admit(c, &p, &limit); len(p.Impls) == 0 {
			return refused
		}
	}
	failing := map[string]string{} // inputs by the command that shows a failure again
	if again := p.Reproduce; keep != "" {
		p.Reproduce = func(impl, input string) string {
			command := again(impl, input)
			failing[command] = input
			return command
		}
	}
	reproduce := p.Reproduce
	if failFast {
		p.Reproduce = nil // the command would name a smaller input
	}
	rec, err := records.Record(in.Seed, c.Stderr)
	if err != nil {
		return err
	}
	p.Done = rec.FinishedCell
	interrupted, err := c.Conduct(weights, limit.Quiet, func(cell bench.CellRecord) error {
		failed := cli.Verdict([]bench.CellRecord{cell}) != nil
		if failed && failFast {
			cell.Reproduce = reproduce(cell.Impl, cell.Input)
			return errors.Join(rec.Keep(cell), errFailed)
		}
		return rec.Keep(cell)
	}, p)
	if err = errors.Join(err, rec.Close()); err != nil && !errors.Is(err, errFailed) {
		return err
	}
	cells := slices.DeleteFunc(rec.All.Cells, func(cell bench.CellRecord) bool { return cell.Workload != b.Name() })
	if err := report.InputsByVerdict(c.Stdout, style, cells, evidence); err != nil {
		return err
	}
	if keep != "" {
		if err := keepFailing(keep, b, cells, failing); err != nil {
			return err
		}
	}
	if interrupted {
		return cli.VerdictError{Code: cli.ExitInconclusive,
			Why: "interrupted: the finished cells are above" + cli.ResumeHint(records.Out)}
	}
	if silent := silentLaws(b.Laws(), cells); len(silent) > 0 && !f.Changed("input") {
		return fmt.Errorf("this program is not sound: the law %q applies to no input", silent[0])
	}
	if !f.Changed("input") && !f.Changed("isa") && !f.Changed("memory-limit") && !f.Changed("option") {
		if name, why := answersNone(b.Abouts(), cells); name != "" {
			return fmt.Errorf("this program is not sound: %s answers about none of the inputs: %s", name, why)
		}
	}
	return cmp.Or(cli.Verdict(cells), refused)
}

// answersNone returns the first CPU implementation that skipped every cell, with the reason of the
// first cell. Implementations reject large inputs, but adversarial inputs are small.
func answersNone(abouts []bench.About, cells []bench.CellRecord) (name, why string) {
	for _, a := range abouts {
		own := slices.DeleteFunc(slices.Clone(cells), func(c bench.CellRecord) bool { return c.Impl != a.Name })
		answers := func(c bench.CellRecord) bool { return c.Status != verify.Skipped }
		if a.Where == "cpu" && a.Foreign == nil && len(own) > 0 && !slices.ContainsFunc(own, answers) {
			return a.Name, own[0].Reason
		}
	}
	return "", ""
}

// silentLaws returns the laws without evidence in any cell, if some cell has evidence.
func silentLaws(laws []string, cells []bench.CellRecord) []string {
	said, any := map[string]bool{}, false
	for _, cell := range cells {
		if cell.Peer != nil { // a peer may skip every input that the law covers
			continue
		}
		for _, e := range cell.Evidence {
			said[e.Witness] = true
			any = any || cell.Status == verify.Verified
		}
	}
	if !any {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(laws), func(law string) bool { return said[law] })
}
