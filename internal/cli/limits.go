package cli

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/host"
	"eccbench/internal/peers"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/workloads/ecc/parts"
)

// Limits hold the flags of all commands that start workers.
type Limits struct {
	Impl    []string
	Threads int
	Time    time.Duration
	Memory  string
	Device  string
	Devices string
	ISA     string
	Options []string // options of the methods, as KEY=VALUE
	Quiet   bool
	Peers

	judge string // of CPU implementations: inside or outside
	set   *pflag.FlagSet
}

// Add adds the flags.
func (l *Limits) Add(f *pflag.FlagSet) {
	l.set = f
	f.StringSliceVar(&l.Impl, "impl", []string{"*"}, "implementations, as patterns such as 'cpu,extrema*'")
	f.IntVar(&l.Threads, "threads", runtime.GOMAXPROCS(0), "cores per implementation")
	f.DurationVar(&l.Time, "time-limit", time.Minute, "time for the answers of a cell, for their "+
		"verification, and for each reply of a peer, longer beyond 1024³; a phase ends after twice that and 10 s")
	f.StringVar(&l.Memory, "memory-limit", "",
		"`BYTES` for the inputs, and again for a worker (default half of what is free)")
	f.StringVar(&l.Device, "device", "", "GPU `ID`: number, UUID or name (default the first)")
	f.StringVar(&l.Devices, "devices", "", "several GPUs: all, or a list such as `0,1,3`")
	f.StringVar(&l.ISA, "isa", "", "instruction set: "+strings.Join(impls.ISAs(), ", ")+" (default the fastest)")
	f.StringArrayVar(&l.Options, "option", nil, "`KEY=VALUE` of a method (see eccbench list), each a row; repeatable")
	f.BoolVarP(&l.Quiet, "quiet", "q", false, "no progress on standard error")
	l.Peers.Add(f)
	f.StringVar(&l.judge, "judge", cmp.Or(os.Getenv(Judge), outside),
		"where CPU implementations are judged and timed: inside, in the process that computes, or outside, by another")
	f.Lookup("judge").DefValue = outside
}

// The values of --judge. The gate sets the default in the environment, because programs without the
// flag judge inside.
const (
	Judge           = "ECCBENCH_JUDGE"
	Inside, outside = "inside", "outside"
)

// Join is Join of the peers, with a time limit that the flags name for the descriptions, too.
func (l *Limits) Join(c *Program, in *Inputs) error {
	if l.set.Changed("time-limit") {
		l.Reply = l.Time
	}
	return l.Peers.Join(c, in)
}

// JudgedOutside returns the process that answers a workload with a CPU implementation of this program, or nil
// if it cannot be asked there. Tests with a clock of their own measure in one process.
func (c *Program) JudgedOutside(workload, impl string) *peers.Peer {
	if last := len(c.Worker) - 1; c.Clock == nil && c.Service(impl)[workload] != nil && peers.CanShare() {
		args := append(slices.Clone(c.Worker[1:last]), "serve", impl)
		return peers.Own(impl, workload, c.Edits(workload), c.Worker[0], args...)
	}
	return nil
}

// Plan returns a plan with these limits for some inputs of a workload.
func (l *Limits) Plan(c *Program, workload string, inputs []string) (p runner.Plan, err error) {
	p = runner.Plan{
		Command: c.Worker, Clock: c.Clock, Benches: c.Benches, Workload: workload, Inputs: inputs,
		Threads: l.Threads, Device: l.Device, Devices: l.Devices, ISA: l.ISA, Time: l.Time, Budget: l.Time,
		Grow: !l.set.Changed("time-limit"),
		Reproduce: func(impl, input string) string {
			options := l.flags(impl)
			for _, f := range hardware {
				if b, err := runner.Find(c.Benches, workload); err == nil && l.set.Changed(f.name) && f.isUsed(b, impl) {
					options += " --" + f.name + " " + parts.Quote(l.set.Lookup(f.name).Value.String())
				}
			}
			if workload != c.Benches[0].Name() {
				options += " --workload " + workload
			}
			return fmt.Sprintf("eccbench verify --impl %s%s --input '%s'", impl, options, strings.ReplaceAll(input, "'", `'\''`))
		},
	}
	if err := l.check(); err != nil {
		return p, err
	}
	if l.judge == outside {
		p.Outside = c.JudgedOutside
	}
	if l.Devices != "" && l.Devices != resident.All {
		first, _, _ := strings.Cut(l.Devices, ",")
		p.Device = cmp.Or(l.Device, first)
	}
	b, err := runner.Find(p.Benches, workload)
	if err != nil {
		return p, err
	}
	if p.Impls, err = l.choose(c, b); err != nil {
		return p, err
	}
	if err := CheckHardware(l.set, b, p.Impls); err != nil {
		return p, err
	}
	if p.Options, err = l.options(b, p.Impls); err != nil {
		return p, err
	}
	if l.Memory == "" {
		p.Memory = host.AvailableMemory() / 2
	} else if p.Memory, err = quantity.ParseBytes(l.Memory); err != nil {
		return p, Usagef("--memory-limit: %w", err)
	}
	return p, nil
}

// check rejects impossible limits.
func (l *Limits) check() error {
	judge := Judge + "="
	if l.set.Changed("judge") {
		judge = "--judge "
	}
	if err := crew.CheckThreads(l.Threads); err != nil {
		return Usagef("--%w", err)
	}
	switch {
	case l.Time <= 0:
		return Usagef("--time-limit %v: want more than 0", l.Time)
	case l.judge != outside && l.judge != Inside:
		return Usagef("%s%s: want inside or outside", judge, l.judge)
	case l.ISA != "" && !slices.Contains(impls.ISAs(), l.ISA):
		return Usagef("--isa %s: want one of %s", l.ISA, strings.Join(impls.ISAs(), ", "))
	}
	return CheckDevices(l.Devices)
}

// CheckDevices rejects a list of devices with an empty or a repeated name. "" is no list.
func CheckDevices(list string) error {
	names := strings.Split(list, ",")
	for i, name := range names {
		if list != "" && (strings.TrimSpace(name) == "" || slices.Contains(names[:i], name)) {
			return Usagef("--devices %s: want all, or a comma list of different devices", list)
		}
	}
	return nil
}

// A hardwareFlag chooses a part of the machine, and applies to some implementations only.
type hardwareFlag struct {
	name, to string
	applies  func(bench.About) bool
}

var hardware = []hardwareFlag{
	{"device", "implementations on a GPU", func(a bench.About) bool { return a.Where != "cpu" && a.Foreign == nil }},
	{"devices", "implementations on several GPUs", func(a bench.About) bool { return a.Where == "gpus" }},
	{"isa", "implementations with a choice of instruction sets", func(a bench.About) bool { return len(a.ISAs) > 0 }},
}

// isUsed reports whether the flag applies to one of the implementations of a workload.
func (h hardwareFlag) isUsed(b runner.Bench, impls ...string) bool {
	return slices.ContainsFunc(b.Abouts(), func(a bench.About) bool {
		return slices.Contains(impls, a.Name) && h.applies(a)
	})
}

// CheckHardware rejects --device, --devices and --isa if they apply to none of the chosen implementations.
func CheckHardware(f *pflag.FlagSet, b runner.Bench, impls []string) error {
	for _, h := range hardware {
		if f.Changed(h.name) && !h.isUsed(b, impls...) {
			return Usagef("--%s applies to %s; it does not apply to %s: leave it out", h.name, h.to, strings.Join(impls, ", "))
		}
	}
	return nil
}

// choose returns the implementations of a workload that --impl matches. It reports peers without the workload.
func (l *Limits) choose(c *Program, b runner.Bench) ([]string, error) {
	chosen, err := Choose(l.Impl, b.Abouts())
	without := l.without(b.Abouts())
	for _, name := range without {
		if err != nil && slices.Contains(l.Impl, name) {
			return nil, Usagef("--impl %s answers no question of %s", name, b.Name())
		}
	}
	if len(without) > 0 {
		fmt.Fprintf(c.Stderr, "eccbench: no question of %s is answered by %s: left out; eccbench doctor --peer lists their workloads\n",
			b.Name(), strings.Join(without, ", "))
	}
	if err != nil {
		return nil, err
	}
	if (len(l.paths) > 0 || l.dir != "") && len(l.found) == 0 {
		return nil, Usagef("--peer, --peers: this command starts no peers")
	}
	if l.Devices == "" { // a pattern does not select implementations that need --devices
		for _, a := range b.Abouts() {
			if a.Where == "gpus" && !slices.Contains(l.Impl, a.Name) {
				chosen = slices.DeleteFunc(chosen, func(name string) bool { return name == a.Name })
			}
		}
	}
	return chosen, nil
}

// options groups the values of the methods' options by key. At least one of the implementations
// must have each option.
func (l *Limits) options(b runner.Bench, impls []string) (map[string][]string, error) {
	chosen := map[string][]string{}
	for _, o := range l.Options {
		key, value, ok := strings.Cut(o, "=")
		if !ok || key == "" || value == "" {
			return nil, Usagef("--option %s: want KEY=VALUE", o)
		}
		var refused error
		has := false
		for _, a := range b.Abouts() {
			if slices.Contains(impls, a.Name) {
				_, err := a.Choose(map[string]string{key: value})
				has, refused = has || err == nil, cmp.Or(refused, err)
			}
		}
		if !has {
			return nil, Usagef("--option %s: %w", o, refused)
		}
		chosen[key] = append(chosen[key], value)
	}
	return chosen, nil
}
