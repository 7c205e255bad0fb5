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
	"eccbench/internal/runner"
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

// A verifyJob is a parsed verify command.
type verifyJob struct {
	conductedJob
	long, evidence, failFast bool
	keep                     string
}

func (j *verifyJob) add(c *cli.Program, f *pflag.FlagSet) {
	j.limit.Add(f)
	j.in.AddGiven(f, c.Benches)
	j.records.Add(f)
	f.BoolVar(&j.long, "long", false, "add inputs of more than 2²⁴ components and 2³¹ voxels")
	f.BoolVar(&j.evidence, "evidence", false, "list the result of every witness")
	f.BoolVar(&j.failFast, "fail-fast", false, "stop at the first failure, without a search for a smaller input")
	f.StringVar(&j.keep, "keep-failing", "",
		"save each failing input, made small, as image.npy and question.txt below this `DIR`")
	f.BoolVar(&j.admits, "admit", true,
		"without --input: ask each peer about tiny images first, and leave out those that answer none")
	f.StringVar(&j.format, "format", "text", "table format: text or md")
}

func doVerify(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j verifyJob
	j.add(c, f)
	if err := j.start(c, f, parse, "--input"); err != nil {
		return err
	}
	style, err := report.ParseFormat(j.format)
	if err != nil || style != report.Text && style != report.Markdown {
		return cli.Usagef("--format %s: want text or md", j.format)
	}
	b, p, err := j.plan(c, f)
	if err != nil {
		return err
	}
	if _, err := impls.SelfTest(); err != nil {
		return err
	}
	weights, err := cli.Weigh(p)
	if err != nil {
		return err
	}
	if err := j.records.Check(); err != nil {
		return err
	}
	var refused error
	if j.admits && !f.Changed("input") {
		if refused = admit(c, &p, &j.limit); len(p.Impls) == 0 {
			return refused
		}
	}
	cells, failing, interrupted, err := j.run(c, p, weights)
	if err != nil {
		return err
	}
	if err := report.InputsByVerdict(c.Stdout, style, cells, j.evidence); err != nil {
		return err
	}
	if j.keep != "" {
		if err := keepFailing(j.keep, b, cells, failing); err != nil {
			return err
		}
	}
	if interrupted {
		return cli.VerdictError{Code: cli.ExitInconclusive,
			Why: "interrupted: the finished cells are above" + cli.ResumeHint(j.records.Out)}
	}
	return cmp.Or(checkSound(f, b, cells), cli.Verdict(cells), refused)
}

// plan returns the workload and the plan of its adversarial inputs, or of those of --input.
func (j *verifyJob) plan(c *cli.Program, f *pflag.FlagSet) (b runner.Bench, p runner.Plan, err error) {
	if b, err = j.in.Bench(); err != nil {
		return nil, p, err
	}
	names, err := j.in.Given()
	if err != nil {
		return nil, p, err
	}
	if names == nil {
		names = b.Question().Adversarial
	}
	if j.long {
		names = append(slices.Clone(names), b.Question().Long...)
	}
	if p, err = j.limit.Plan(c, b.Name(), names); !b.Question().OfImages() {
		p.Scope = bench.E2E
	}
	return b, p, err
}

// run verifies the cells of a plan. failing has the input of each failure by the command that shows it again.
func (j *verifyJob) run(c *cli.Program, p runner.Plan, weights cli.Weights) (
	cells []bench.CellRecord, failing map[string]string, interrupted bool, err error) {
	failing = map[string]string{}
	if again := p.Reproduce; j.keep != "" {
		p.Reproduce = func(impl, input string) string {
			command := again(impl, input)
			failing[command] = input
			return command
		}
	}
	reproduce := p.Reproduce
	if j.failFast {
		p.Reproduce = nil // the command would name a smaller input
	}
	rec, err := j.records.Record(j.in.Seed, c.Stderr)
	if err != nil {
		return nil, nil, false, err
	}
	p.Done = rec.FinishedCell
	interrupted, err = c.Conduct(weights, j.limit.Quiet, func(cell bench.CellRecord) error {
		failed := cli.Verdict([]bench.CellRecord{cell}) != nil
		if failed && j.failFast {
			cell.Reproduce = reproduce(cell.Impl, cell.Input)
			return errors.Join(rec.Keep(cell), errFailed)
		}
		return rec.Keep(cell)
	}, p)
	if err = errors.Join(err, rec.Close()); errors.Is(err, errFailed) {
		err = nil
	}
	cells = slices.DeleteFunc(rec.All.Cells, func(cell bench.CellRecord) bool { return cell.Workload != p.Workload })
	return cells, failing, interrupted, err
}

// checkSound returns an error of this program: a law without any input, or an implementation without any answer.
func checkSound(f *pflag.FlagSet, b runner.Bench, cells []bench.CellRecord) error {
	if f.Changed("input") {
		return nil
	}
	if silent := silentLaws(b.Laws(), cells); len(silent) > 0 {
		return fmt.Errorf("this program is not sound: the law %q applies to no input", silent[0])
	}
	if !f.Changed("isa") && !f.Changed("memory-limit") && !f.Changed("option") {
		if name, why := answersNone(b.Abouts(), cells); name != "" {
			return fmt.Errorf("this program is not sound: %s answers about none of the inputs: %s", name, why)
		}
	}
	return nil
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
