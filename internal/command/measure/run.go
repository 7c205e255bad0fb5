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

func doRun(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var in cli.Inputs
	var limit cli.Limits
	var records cli.RecordFlags
	var export, format, scope, part string
	var hot, admits bool
	var processes, rotate int
	var count int64
	in.Add(f, c.Benches)
	limit.Add(f)
	sampling := worker.DefaultSampling()
	f.StringVar(&scope, "scope", "",
		"what the clock covers: kernel (device events), device (resident image), e2e (host memory) or file "+
			"(also reading); default e2e if the inputs fit")
	f.BoolVar(&hot, "hot", false, "keep the caches between calls (default cold)")
	f.Int64Var(&count, "batch", 0, "`N` images per question: --workload ecc-batch --count N")
	f.IntVar(&processes, "processes", 1, "processes that repeat each cell")
	f.IntVar(&rotate, "rotate", 3, "inputs that take turns in a cell, at least 3, unless each call has a new one")
	f.IntVar(&sampling.MaxSamples, "max-samples", sampling.MaxSamples, "most samples of a cell")
	f.DurationVar(&sampling.MaxTime, "max-time", sampling.MaxTime,
		"longest sampling of a cell, once every input was timed")
	f.StringVar(&part, "shard", "",
		"measure every n-th input from the i-th on: `i/n`, or auto or auto/n for an array task")
	records.Add(f)
	f.BoolVar(&admits, "admit", true, "ask each peer about tiny images first, and leave out those that answer none")
	f.StringVar(&export, "gobench", "", "also write the Go benchmark format to this `FILE`")
	f.StringVar(&format, "format", "text", "table format: text, md, csv or json")
	if err := parse(); err != nil {
		return err
	}
	if err := limit.Join(c, &in); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return cli.Usagef("unexpected argument %q; inputs are given with --sizes or --input", f.Arg(0))
	}
	if f.Changed("batch") {
		if f.Changed("workload") || f.Changed("count") {
			return cli.Usagef("--batch is --workload %s with a --count: give the one or the other", impls.Batch)
		}
		if err := errors.Join(f.Set("workload", impls.Batch), f.Set("count", fmt.Sprint(count))); err != nil {
			return cli.Usagef("--batch %d: %w", count, err)
		}
	}
	b, err := in.Bench()
	if err != nil {
		return err
	}
	names, err := in.Names()
	if err != nil {
		return err
	}
	style, err := report.ParseFormat(format)
	if err != nil {
		return cli.Usagef("--format: %w", err)
	}
	if part != "" {
		which, err := shard.Parse(part, os.Getenv)
		if err != nil {
			return cli.Usagef("--shard %s: %w", part, err)
		}
		all := len(names)
		if names = shard.Select(which, names); len(names) == 0 {
			if !limit.Quiet {
				fmt.Fprintf(c.Stderr, "eccbench: shard %v: none of the %d inputs\n", which, all)
			}
			return nil
		}
	}
	p, err := limit.Plan(c, b.Name(), names)
	if err != nil {
		return err
	}
	if in.AreGenerated() && bench.Scope(scope) != bench.File && b.Question().OfImages() {
		memory := host.TotalMemory() / 4 // independent of the memory that is free now
		if limit.Memory != "" {
			memory = p.Memory
		}
		if p.Inputs, err = cli.Repeated(names, int64(rotate), memory); err != nil {
			return err
		}
	}
	if sampling.MaxTime < sampling.WarmUp { // a short sampling time gets a short warm-up
		sampling.WarmUp /= 2
	}
	p.Processes, p.Rotate, p.Sampling, p.Scope, p.Hot = processes, rotate, &sampling, bench.Scope(scope), hot
	if !b.Question().OfImages() && scope == "" {
		p.Scope = bench.E2E // inputs other than images start in host memory, for devices too
	}
	if bound := b.Question().Ceiling; bound != nil {
		p.Ceiling = bound(p.Scope)
	}
	switch {
	case scope != "" && !slices.Contains(bench.Scopes(), p.Scope):
		return cli.Usagef("--scope %s: want kernel, device, e2e or file", scope)
	case processes < 1:
		return cli.Usagef("--processes %d: want at least 1", processes)
	case rotate < 3:
		return cli.Usagef("--rotate %d: want at least 3, so that no answer can be left from another input", rotate)
	case sampling.MaxSamples < 1 || sampling.MaxTime <= 0:
		return cli.Usagef("--max-samples and --max-time must be more than 0")
	}
	if err := cmp.Or(records.Check(), cli.Writable([]cli.Target{{Flag: "--gobench", Path: export}})); err != nil {
		return err
	}
	var files []string
	for _, name := range names {
		files = append(files, b.Files(name)...)
	}
	if err := cli.CheckTargets([]cli.Target{{Flag: "--out", Path: records.Out}, {Flag: "--gobench", Path: export}},
		files...); err != nil {
		return err
	}
	weights, err := cli.Weigh(p)
	if err != nil {
		return err
	}
	var refused error
	if admits {
		if refused = admit(c, &p, &limit); len(p.Impls) == 0 {
			return refused
		}
	}
	// A forecast would unpack a compressed file, and a file has no small input of its kind.
	foresee := !limit.Quiet && len(files) == 0
	return cmp.Or(measure(c, p, weights, foresee, limit.Quiet, outputs{records, export, style}, in.Seed), refused)
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
