// Package measure has the commands that run implementations and the commands that read records: run, verify, doctor,
// list, report, compare and check; serve and worker are for other processes.
package measure

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/host"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/shard"
	"eccbench/internal/worker"
)

// Run returns the command run.
func Run() cli.Subcommand {
	return cli.Subcommand{
		Name: "run", Conducts: true, Workers: true, Brief: "measure implementations, print verified rates (default)",
		Examples: []string{
			"eccbench --sizes 64..256 --dim 3",
			"eccbench --sizes 1024..8192 --dim 2 --gen noise,grf --type uint8,float32",
			"eccbench --impl cpu --sizes 300x200x100 --out r.jsonl --format md",
			"eccbench --input scan.nii.gz --impl cpu",
			"eccbench --batch 10000 --sizes 128 --dim 2 --impl extrema-gpu-batch --scope kernel",
			"eccbench --sizes 64..512 --shard auto/4 --out node$SLURM_ARRAY_TASK_ID.jsonl",
			"eccbench --sizes 1024 --scope file --time-limit 10m --out r.jsonl --resume",
		},
		Run: doRun,
	}
}

// A conductedJob has the flags of run and verify.
type conductedJob struct {
	in      cli.Inputs
	limit   cli.Limits
	records cli.RecordFlags
	admits  bool
	format  string
}

// start parses the flags, rejects other arguments, and joins the peers. instead names the flags of inputs.
func (j *conductedJob) start(c *cli.Program, f *pflag.FlagSet, parse func() error, instead string) error {
	if err := parse(); err != nil {
		return err
	}
	if err := j.limit.Join(c, &j.in); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return cli.Usagef("unexpected argument %q; inputs are given with %s", f.Arg(0), instead)
	}
	return nil
}

// A runJob is a parsed run command.
type runJob struct {
	conductedJob
	sampling            worker.Sampling
	export, scope, part string
	hot                 bool
	processes, rotate   int
	count               int64
}

func (j *runJob) add(c *cli.Program, f *pflag.FlagSet) {
	j.in.Add(f, c.Benches)
	j.limit.Add(f)
	j.sampling = worker.DefaultSampling()
	f.StringVar(&j.scope, "scope", "",
		"what the clock covers: kernel (device events), device (resident image), e2e (host memory) or file "+
			"(also reading); default e2e if the inputs fit")
	f.BoolVar(&j.hot, "hot", false, "keep the caches between calls (default cold)")
	f.Int64Var(&j.count, "batch", 0, "`N` images per question: --workload ecc-batch --count N")
	f.IntVar(&j.processes, "processes", 1, "processes that repeat each cell")
	f.IntVar(&j.rotate, "rotate", 3, "inputs that take turns in a cell, at least 3, unless each call has a new one")
	f.IntVar(&j.sampling.MaxSamples, "max-samples", j.sampling.MaxSamples, "most samples of a cell")
	f.DurationVar(&j.sampling.MaxTime, "max-time", j.sampling.MaxTime,
		"longest sampling of a cell, once every input was timed")
	f.StringVar(&j.part, "shard", "",
		"measure every n-th input from the i-th on: `i/n`, or auto or auto/n for an array task")
	j.records.Add(f)
	f.BoolVar(&j.admits, "admit", true, "ask each peer about tiny images first, and leave out those that answer none")
	f.StringVar(&j.export, "gobench", "", "also write the Go benchmark format to this `FILE`")
	f.StringVar(&j.format, "format", "text", "table format: text, md, csv or json")
}

func doRun(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var j runJob
	j.add(c, f)
	if err := j.start(c, f, parse, "--sizes or --input"); err != nil {
		return err
	}
	if err := j.check(); err != nil {
		return err
	}
	b, names, err := j.inputs(f)
	if err != nil {
		return err
	}
	style, err := report.ParseFormat(j.format)
	if err != nil {
		return cli.Usagef("--format: %w", err)
	}
	if names, err = j.mine(c, names); err != nil || len(names) == 0 {
		return err
	}
	p, err := j.plan(c, b, names)
	if err != nil {
		return err
	}
	files, err := j.checkTargets(b, names)
	if err != nil {
		return err
	}
	weights, err := cli.Weigh(p)
	if err != nil {
		return err
	}
	var refused error
	if j.admits {
		if refused = admit(c, &p, &j.limit); len(p.Impls) == 0 {
			return refused
		}
	}
	// A forecast would unpack a compressed file, and a file has no small input of its kind.
	foresee := !j.limit.Quiet && len(files) == 0
	return cmp.Or(measure(c, p, weights, foresee, j.limit.Quiet, outputs{j.records, j.export, style}, j.in.Seed), refused)
}

// check rejects impossible values of the flags that the plan takes as they are.
func (j *runJob) check() error {
	switch {
	case j.scope != "" && !slices.Contains(bench.Scopes(), bench.Scope(j.scope)):
		return cli.Usagef("--scope %s: want kernel, device, e2e or file", j.scope)
	case j.processes < 1:
		return cli.Usagef("--processes %d: want at least 1", j.processes)
	case j.rotate < 3 || j.rotate > cli.MostRotating:
		return cli.Usagef("--rotate %d: want 3 to %d; with fewer, an answer could be left from another input", j.rotate,
			cli.MostRotating)
	case j.sampling.MaxSamples < 1 || j.sampling.MaxTime <= 0:
		return cli.Usagef("--max-samples and --max-time must be more than 0")
	}
	return nil
}

// inputs returns the workload and the names of its inputs.
func (j *runJob) inputs(f *pflag.FlagSet) (runner.Bench, []string, error) {
	if f.Changed("batch") {
		if f.Changed("workload") || f.Changed("count") {
			return nil, nil, cli.Usagef("--batch is --workload %s with a --count: give the one or the other", impls.Batch)
		}
		if err := errors.Join(f.Set("workload", impls.Batch), f.Set("count", fmt.Sprint(j.count))); err != nil {
			return nil, nil, cli.Usagef("--batch %d: %w", j.count, err)
		}
	}
	b, err := j.in.Bench()
	if err != nil {
		return nil, nil, err
	}
	names, err := j.in.Names()
	return b, names, err
}

// mine returns the inputs of the shard.
func (j *runJob) mine(c *cli.Program, names []string) ([]string, error) {
	if j.part == "" {
		return names, nil
	}
	which, err := shard.Parse(j.part, os.Getenv)
	if err != nil {
		return nil, cli.Usagef("--shard %s: %w", j.part, err)
	}
	selected := shard.Select(which, names)
	if len(selected) == 0 && !j.limit.Quiet {
		fmt.Fprintf(c.Stderr, "eccbench: shard %v: none of the %d inputs\n", which, len(names))
	}
	return selected, nil
}

// plan returns the plan for some inputs.
func (j *runJob) plan(c *cli.Program, b runner.Bench, names []string) (runner.Plan, error) {
	p, err := j.limit.Plan(c, b.Name(), names)
	if err != nil {
		return p, err
	}
	if j.in.AreGenerated() && bench.Scope(j.scope) != bench.File && b.Question().OfImages() {
		memory := host.TotalMemory() / 4 // independent of the memory that is free now
		if j.limit.Memory != "" {
			memory = p.Memory
		}
		if p.Inputs, err = cli.Repeated(names, int64(j.rotate), memory); err != nil {
			return p, err
		}
	}
	if j.sampling.MaxTime < j.sampling.WarmUp { // a short sampling time gets a short warm-up
		j.sampling.WarmUp /= 2
	}
	p.Processes, p.Rotate, p.Sampling, p.Scope, p.Hot = j.processes, j.rotate, &j.sampling, bench.Scope(j.scope), j.hot
	if !b.Question().OfImages() && j.scope == "" {
		p.Scope = bench.E2E // inputs other than images start in host memory, for devices too
	}
	if bound := b.Question().Ceiling; bound != nil {
		p.Ceiling = bound(p.Scope)
	}
	return p, nil
}

// checkTargets returns an error for outputs that cannot be written, and the files of the inputs.
func (j *runJob) checkTargets(b runner.Bench, names []string) (files []string, err error) {
	export := cli.Target{Flag: "--gobench", Path: j.export}
	if err := cmp.Or(j.records.Check(), cli.Writable([]cli.Target{export})); err != nil {
		return nil, err
	}
	for _, name := range names {
		files = append(files, b.Files(name)...)
	}
	return files, cli.CheckTargets([]cli.Target{{Flag: "--out", Path: j.records.Out}, export}, files...)
}

// outputs holds the flags of the result files.
type outputs struct {
	cli.RecordFlags
	gobench string
	format  report.Format
}

// measure runs a plan, appends its records to the file, and prints the tables of all records in the
// file.
func measure(c *cli.Program, p runner.Plan, weights cli.Weights, foresee, quiet bool, o outputs,
	seed uint64) (err error) {
	o.Hash = o.format == report.JSON || o.format == report.CSV // of whose rows it is a part
	rec, err := o.Record(seed, c.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.Close()) }()
	p.Done = rec.FinishedCell
	interrupted := false
	if foresee {
		if weights, interrupted, err = c.Foresee(p); err != nil {
			return err
		}
	}
	if !interrupted {
		if interrupted, err = c.Conduct(weights, quiet, rec.Keep, p); err != nil {
			return err
		}
	}
	if err := report.Throughput(c.Stdout, o.format, report.Rows(rec.All, impls.Ceiling)); err != nil {
		return err
	}
	if o.gobench != "" {
		if err := cli.WriteFile(o.gobench, func(w *os.File) error { return goBench(c, w, rec.All) }); err != nil {
			return err
		}
	}
	if interrupted {
		return cli.VerdictError{Code: cli.ExitInconclusive,
			Why: "interrupted: what had ended by then is above" + cli.ResumeHint(o.Out)}
	}
	return cli.Verdict(rec.All.Cells)
}
