package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/batch"
)

func runCommand() subcommand {
	return subcommand{
		name: "run", brief: "measure implementations and print a table of verified throughputs (default)",
		examples: []string{
			"eccbench --sizes 64..256 --dim 3",
			"eccbench --sizes 1024..8192 --dim 2 --gen noise,grf --type uint8,float32",
			"eccbench --impl cpu --sizes 300x200x100 --out r.jsonl --format md",
			"eccbench --input scan.nii.gz --impl cpu",
			"eccbench --batch 10000 --sizes 128 --dim 2 --impl extrema-gpu-batch --scope kernel",
			"eccbench --sizes 1024 --scope file --time-limit 10m --out r.jsonl --resume",
		},
		run: (*command).run,
	}
}

// limitFlags are the limits that every command which starts workers has.
type limitFlags struct {
	impl    []string
	threads int
	time    time.Duration
	memory  string
	device  string
	devices string
	isa     string
	quiet   bool
}

func (l *limitFlags) add(f *pflag.FlagSet) {
	f.StringSliceVar(&l.impl, "impl", []string{"*"}, "implementations, as patterns such as 'cpu,extrema*'")
	f.IntVar(&l.threads, "threads", runtime.GOMAXPROCS(0), "cores that an implementation may use")
	f.DurationVar(&l.time, "time-limit", time.Minute, "time limit of a cell")
	f.StringVar(&l.memory, "memory-limit", "", "memory for the inputs, and again for a worker's own (default half of what is available)")
	f.StringVar(&l.device, "device", "", "accelerator: its number, UUID or name (default the first, of --devices where that is a list)")
	f.StringVar(&l.devices, "devices", "", "accelerators for implementations on several: all, or a comma list such as 0,1,3")
	f.StringVar(&l.isa, "isa", "", "instruction set of implementations that have several: "+strings.Join(impls.ISAs(), ", ")+" (default the fastest of this machine)")
	f.BoolVarP(&l.quiet, "quiet", "q", false, "no progress on standard error")
}

// plan is a plan with these limits for the given inputs of a workload.
func (l *limitFlags) plan(c *command, workload string, inputs []string) (runner.Plan, error) {
	p := runner.Plan{
		Command: c.worker, Clock: c.clock, Benches: c.benches(), Workload: workload, Inputs: inputs,
		Threads: l.threads, Device: l.device, Devices: l.devices, ISA: l.isa, Time: l.time, Budget: l.time,
		Reproduce: func(impl, input string) string {
			options := ""
			if l.devices != "" {
				options += " --devices " + l.devices
			}
			if l.isa != "" {
				options += " --isa " + l.isa
			}
			return fmt.Sprintf("eccbench verify --impl %s%s --input '%s'", impl, options, strings.ReplaceAll(input, "'", `'\''`))
		},
	}
	if l.threads < 1 || l.threads > 4096 {
		return p, usagef("--threads %d: want 1 to 4096", l.threads)
	}
	if l.time <= 0 {
		return p, usagef("--time-limit %v: want more than 0", l.time)
	}
	if l.isa != "" && !slices.Contains(impls.ISAs(), l.isa) {
		return p, usagef("--isa %s: want one of %s", l.isa, strings.Join(impls.ISAs(), ", "))
	}
	if l.devices != "" && l.devices != resident.All {
		names := strings.Split(l.devices, ",")
		for i, name := range names {
			if strings.TrimSpace(name) == "" || slices.Contains(names[:i], name) {
				return p, usagef("--devices %s: want all, or a comma list of different devices", l.devices)
			}
		}
		p.Device = cmp.Or(l.device, names[0])
	}
	b, err := runner.Find(p.Benches, workload)
	if err != nil {
		return p, err
	}
	if p.Impls, err = choose(l.impl, b.Abouts()); err != nil {
		return p, err
	}
	if l.devices == "" { // no pattern means what needs a list of devices
		p.Impls = slices.DeleteFunc(p.Impls, func(impl string) bool {
			a := b.Abouts()
			i := slices.IndexFunc(a, func(a bench.About) bool { return a.Name == impl })
			return a[i].Where == "gpus" && !slices.Contains(l.impl, impl)
		})
	}
	if l.memory == "" {
		p.Memory = runner.AvailableMemory() / 2
	} else if p.Memory, err = quantity.ParseBytes(l.memory); err != nil {
		return p, usagef("--memory-limit: %w", err)
	}
	return p, nil
}

func (c *command) run(args []string) error {
	var in inputFlags
	var limit limitFlags
	var records recordFlags
	var export, format, scope string
	var hot bool
	var processes, rotate, count int
	f := pflag.NewFlagSet("run", pflag.ContinueOnError)
	in.add(f)
	limit.add(f)
	sampling := runner.DefaultSampling()
	f.StringVar(&scope, "scope", "", "what the clock runs over: kernel (device events), device (image resident on a device), e2e (image in host memory) or file (reading or generating too); default e2e where the inputs fit")
	f.BoolVar(&hot, "hot", false, "leave the caches of a device, and of the host for files, as they are between calls (default cold)")
	f.IntVar(&count, "batch", 0, "images of each size in one question: that one and those with the seeds after its own; 0 for single images")
	f.IntVar(&processes, "processes", 1, "processes that repeat each cell")
	f.IntVar(&rotate, "rotate", 3, "different inputs that rotate through a timed cell, at least 3")
	f.IntVar(&sampling.MaxSamples, "max-samples", sampling.MaxSamples, "samples of a cell at most")
	f.DurationVar(&sampling.MaxTime, "max-time", sampling.MaxTime, "timed seconds of a cell at most, once every input was timed")
	records.add(f)
	f.StringVar(&export, "gobench", "", "write the Go benchmark format to this file too, for benchstat")
	f.StringVar(&format, "format", "text", "table format: text, md, csv, json")
	if err := c.parse(runCommand(), f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usagef("unexpected argument %q; inputs are given with --sizes or --input", f.Arg(0))
	}
	names, err := in.names()
	if err != nil {
		return err
	}
	style, err := report.ParseFormat(format)
	if err != nil {
		return usagef("--format: %w", err)
	}
	workload := impls.ECC
	if count != 0 {
		if workload, err = batch.Name, batched(names, count); err != nil {
			return err
		}
	}
	p, err := limit.plan(c, workload, names)
	if err != nil {
		return err
	}
	if sampling.MaxTime < sampling.WarmUp { // what is sampled briefly is not warmed up for long
		sampling.WarmUp /= 2
	}
	p.Budget = limit.time / 6 // numbers are the point: verify has the whole limit for its checks
	p.Ceiling, p.Processes, p.Rotate, p.Sampling, p.Scope, p.Hot = impls.Ceiling, processes, rotate, &sampling, bench.Scope(scope), hot
	switch {
	case scope != "" && !slices.Contains(bench.Scopes(), p.Scope):
		return usagef("--scope %s: want kernel, device, e2e or file", scope)
	case processes < 1:
		return usagef("--processes %d: want at least 1", processes)
	case rotate < 3:
		return usagef("--rotate %d: want at least 3, so that no answer can be left from another input", rotate)
	case sampling.MaxSamples < 1 || sampling.MaxTime <= 0:
		return usagef("--max-samples and --max-time must be more than 0")
	}
	if count != 0 {
		batchPlan(&p, count)
	}
	if err := records.check(); err != nil {
		return err
	}
	weights, err := weigh(p)
	if err != nil {
		return err
	}
	return c.measure(p, weights, limit.quiet, outputs{records, export, style}, in.seed)
}

// outputs says where the results go.
type outputs struct {
	recordFlags
	gobench string
	format  report.Format
}

// measure runs a plan, writes its records as they come, and prints the tables
// of all records of the file.
func (c *command) measure(p runner.Plan, weights map[string]int64, quiet bool, o outputs, seed uint64) (err error) {
	rec, err := o.record(seed, c.stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rec.close()) }()
	if o.gobench != "" {
		if err := writable(o.gobench); err != nil {
			return err
		}
	}
	p.Done = rec.was
	interrupted, err := c.conduct(weights, quiet, rec.keep, p)
	if err != nil {
		return err
	}
	if err := report.Throughput(c.stdout, o.format, report.Rows(rec.all, impls.Ceiling)); err != nil {
		return err
	}
	if o.gobench != "" {
		if err := writeFile(o.gobench, func(w *os.File) error { return report.GoBench(w, rec.all) }); err != nil {
			return err
		}
	}
	if interrupted {
		return verdictError{exitInconclusive, "interrupted: what had ended by then is above" + resumeHint(o.out)}
	}
	return verdict(rec.all.Cells)
}
