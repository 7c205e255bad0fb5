package measure

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/device"
	"eccbench/internal/gating"
	"eccbench/internal/host"
	"eccbench/internal/quantity"
	"eccbench/internal/resident"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
	"eccbench/kernels"
)

// Doctor returns the command doctor.
func Doctor() cli.Subcommand {
	return cli.Subcommand{
		Name: "doctor", Workers: true, Brief: "show this machine and whether it can measure",
		Examples: []string{"eccbench doctor", "eccbench doctor --peer ./mine"},
		Run:      doDoctor,
	}
}

func doDoctor(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var in cli.Inputs
	which := f.String("device", "", "GPU `ID`: number, UUID or name (default the first)")
	list := f.String("devices", "", "several GPUs: all, or a list such as `0,1,3`")
	in.AddWorkload(f, c.Benches)
	var guests cli.Peers
	guests.Add(f)
	limit := f.Duration("time-limit", time.Minute, "time for each reply of a peer; for its description five minutes, "+
		"or twice the given time and 10 s")
	if err := parse(); err != nil {
		return err
	}
	b, err := in.Bench()
	if err != nil {
		return err
	}
	if f.NArg() > 0 {
		return cli.Usagef("unexpected argument %q", f.Arg(0))
	}
	if *which != "" && *list != "" {
		return cli.Usagef("--device and --devices: give one or the other")
	}
	if err := cli.CheckDevices(*list); err != nil {
		return err
	}
	line := func(what, format string, args ...any) {
		fmt.Fprintf(c.Stdout, "%-14s %s\n", what, fmt.Sprintf(format, args...))
	}
	if *limit <= 0 {
		return cli.Usagef("--time-limit %v: want more than 0", *limit)
	}
	if f.Changed("time-limit") {
		guests.Reply = *limit
	}
	for _, flag := range []string{"device", "devices", "workload"} {
		if f.Changed(flag) && (f.Changed("peer") || f.Changed("peers")) {
			return cli.Usagef("--%s applies to this machine, and --peer and --peers to peers: give one or the other", flag)
		}
	}
	if err := guests.Join(c, nil); err != nil {
		return err
	}
	if len(guests.Found()) > 0 {
		return tryPeers(c, guests.Found(), *limit, line)
	}
	if f.Changed("time-limit") {
		return cli.Usagef("--time-limit is for peers: add --peer")
	}
	if err := lookAtHost(line); err != nil {
		return err
	}
	if err := lookAtDevices(c, *which, *list, line); err != nil {
		return err
	}
	return tryWorker(c, b, line)
}

// lookAtHost describes the machine and the program, and tests the vector kernels.
func lookAtHost(line func(what, format string, args ...any)) error {
	run, err := host.NewRunRecord(nil, 0, true)
	if err != nil {
		return err
	}
	m := run.Machine
	line("cpu", "%s, %d cores for this process", m.CPU, m.Cores)
	line("caches", "%v", m.Caches)
	line("governor", "%s", m.Governor)
	line("memory", "%s, %s available", quantity.Bytes(m.Memory), quantity.Bytes(host.AvailableMemory()))
	line("cgroup", "cpu.max %s, memory %s", m.CgroupCPU, cgroupLimit(m.CgroupBytes))
	line("load", "%.2f %.2f %.2f", m.Load[0], m.Load[1], m.Load[2])
	if m.Load[0] > float64(m.Cores)/2 {
		line("", "the machine is busy: expect wide intervals")
	}
	line("kernel", "%s", m.Kernel)
	line("program", "commit %s, %s %s/%s, sha256 %.16s…", run.Binary.Commit, run.Binary.Go, run.Binary.OS, run.Binary.Arch,
		run.Binary.SHA256)
	isas, err := impls.SelfTest()
	if err != nil {
		return err
	}
	if len(isas) > 0 {
		line("vectors", "%s: the same results as Go code", strings.Join(isas, ", "))
	}
	line("clock", "smallest step seen %s", quantity.Duration(clockStep()))
	return nil
}

// lookAtDevices describes the chosen accelerators, or prints the reason why there is none.
func lookAtDevices(c *cli.Program, which, list string, line func(what, format string, args ...any)) error {
	var devices []device.Device
	d, err := c.Open(which)
	if err == nil {
		devices = append(devices, d)
	}
	if list != "" {
		devices, err = c.Open.OpenAll(list)
	}
	if err != nil {
		line("device", "none: %v", err)
		return nil
	}
	for _, d := range devices {
		if err := lookAtDevice(d, line); err != nil {
			return err
		}
	}
	return nil
}

// lookAtDevice describes an accelerator, and prints the time to load its kernels.
func lookAtDevice(d device.Device, line func(what, format string, args ...any)) error {
	defer d.Close() // the process ends soon; a failed Close changes nothing
	line("device", "%s", resident.Describe(d))
	line("", "number %d of %d, %s", d.Info().Index, d.Info().Count, d.Info().UUID)
	sensors := d.Sensors()
	defer sensors.Close()
	line("", "%v", sensors.Read())
	for _, module := range kernels.Names() {
		if err := tryModule(d, module, line); err != nil {
			return err
		}
	}
	return nil
}

// tryModule loads a module as jobs do and prints the time. It loads the machine code if the driver
// accepts it; otherwise it compiles each kernel separately.
func tryModule(d device.Device, module string, line func(what, format string, args ...any)) error {
	ptx, err := kernels.PTX(module)
	if err != nil {
		return err
	}
	names, err := kernels.Entries(module, ptx)
	if err != nil {
		return err
	}
	if took, err := loadMachine(d, module, names); err == nil && took > 0 {
		line("", "kernels %s: %d of %d load, as machine code in %s", module, len(names), len(names), quantity.Duration(took))
		return nil
	} else if device.IsCodeRefused(err) {
		line("", "kernels %s: compiled, the driver rejects machine code: %v", module, err)
	} else if err != nil {
		return err
	}
	var all, longest time.Duration
	loaded := 0
	for _, name := range names {
		start := time.Now()
		only, err := kernels.Extract(module, ptx, name)
		if err != nil {
			return err
		}
		m, err := d.LoadModule(module, only)
		if err != nil {
			line("", "kernels %s: %s: %v", module, name, err)
			continue
		}
		took := time.Since(start)
		all, longest, loaded = all+took, max(longest, took), loaded+1
		if err := m.Close(); err != nil {
			return err
		}
	}
	line("", "kernels %s: %d of %d load, one by one in at most %s each, %s together", module, loaded, len(names),
		quantity.Duration(longest), quantity.Duration(all))
	return nil
}

// loadMachine returns the time to load the machine code of a module and to find its kernels. It
// returns 0 if the device has no machine code.
func loadMachine(d device.Device, module string, names []string) (time.Duration, error) {
	start := time.Now()
	code, err := kernels.Machine(module, d.Info().Major, d.Info().Minor)
	if code == nil || err != nil {
		return 0, err
	}
	m, err := d.LoadModule(module, code)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		if _, e := m.Function(name); e != nil {
			err = errors.Join(err, e)
		}
	}
	took := time.Since(start)
	return took, errors.Join(err, m.Close())
}

func cgroupLimit(n int64) string {
	if n == 0 {
		return "not limited"
	}
	return "limited to " + quantity.Bytes(n)
}

// clockStep returns the smallest difference between two readings of the clock.
func clockStep() time.Duration {
	step := time.Hour
	for range 1000 {
		start := time.Now()
		d := time.Duration(0)
		for d == 0 {
			d = time.Since(start)
		}
		step = min(step, d)
	}
	return step
}

// tryBudget is enough for the laws of a small cell, but too little for an answer by the definition.
const tryBudget = 6 * time.Second

// tryWorker runs one small cell as the command run would. The cell uses shared memory, a worker
// process, its pipe, the ceiling and a verdict.
func tryWorker(c *cli.Program, b runner.Bench, line func(what, format string, args ...any)) error {
	sampling := worker.Sampling{Target: 1, MinSamples: 10, MaxSamples: 20, MaxTime: time.Second,
		WarmUp: 50 * time.Millisecond}
	p := runner.Plan{
		Command: c.Worker, Clock: c.Clock, Benches: c.Benches, Workload: b.Name(), Impls: []string{gating.OnHost(b)},
		Inputs: b.Question().Small[:1], Scope: bench.E2E,
		Threads: runtime.GOMAXPROCS(0), Rotate: 3, Time: time.Minute, Budget: tryBudget, Sampling: &sampling,
		Outside: c.JudgedOutside,
	}
	if bound := b.Question().Ceiling; bound != nil {
		p.Ceiling = bound(p.Scope)
	}
	var failed error
	err := runner.Run(context.Background(), p, observer(func(cell bench.CellRecord) error {
		rate, _, _, ok := cell.Rate()
		if !ok || cell.Status == verify.Wrong {
			failed = cli.Verdict([]bench.CellRecord{cell})
			line(cell.Impl, "%s %s", cell.Status, cell.Reason)
			return nil
		}
		line(cell.Impl, "%s, %s, %s/s on %s", cell.Status, quantity.Rate(rate, cell.Cost.Unit),
			quantity.Bytes(int64(rate*float64(cell.Cost.Bytes)/float64(cell.Cost.Items))), cell.Cost.Size)
		return nil
	}))
	if err != nil {
		return err
	}
	return failed
}

// An observer follows a run and ignores the beginning of cells.
type observer func(bench.CellRecord) error

func (observer) Begin(string, string)           {}
func (o observer) End(c bench.CellRecord) error { return o(c) }
