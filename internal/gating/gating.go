package gating

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/crew"
	"eccbench/internal/decimal"
	"eccbench/internal/gate"
	"eccbench/internal/host"
	"eccbench/internal/name"
	"eccbench/internal/peers"
	"eccbench/internal/regular"
	"eccbench/internal/report"
	"eccbench/internal/runner"
	"eccbench/internal/worker"
)

// Command returns the command gate.
func Command() cli.Subcommand {
	return cli.Subcommand{
		Name: "gate", Conducts: true, Workers: true, Brief: "decide whether a candidate program is slower than a base",
		Examples: []string{
			"eccbench gate --base main --cand .",
			"eccbench gate --base old/eccbench --cand new/eccbench --effect 3%",
			"eccbench gate --base main --cand HEAD --impl fullsweep --scope kernel --sizes 256..512 --gen noise,grf " +
				"--effect 'grf/=5%'",
			"eccbench gate --base main --save-baseline base.json",
			"eccbench gate --baseline base.json --cand HEAD",
			"eccbench gate --confirm gate.json --base old/eccbench --cand new/eccbench --out confirm.json",
			"eccbench gate --base-peer old/curve --cand-peer new/curve --sizes 128 --type uint8",
			"eccbench gate --self-test",
		},
		Run: command,
	}
}

// gateFlags hold the flags of the gate.
type gateFlags struct {
	base, candidate         string
	basePeer, candPeer      string
	baseline, save, confirm string
	selfTest, hot, quiet    bool
	impl, effect            []string
	scope, device           string
	blocks, threads         int
	samples                 int
	maxTime, limit          time.Duration
	seed                    uint64
	out, format             string
	in                      cli.Inputs
}

func (g *gateFlags) add(f *pflag.FlagSet, benches []runner.Bench) {
	f.StringVar(&g.base, "base", "", "`PROGRAM` to compare with: an eccbench, a revision, or a source folder")
	f.StringVar(&g.candidate, "cand", "", "`PROGRAM` to judge")
	f.StringVar(&g.basePeer, "base-peer", "", "path of an external `PROGRAM` to compare with")
	f.StringVar(&g.candPeer, "cand-peer", "", "path of an external `PROGRAM` to judge")
	f.StringVar(&g.baseline, "baseline", "", "compare with the base stored in this `FILE`")
	f.StringVar(&g.save, "save-baseline", "", "measure --base alone and store it in this `FILE`")
	f.StringVar(&g.confirm, "confirm", "", "measure only what this gate.json `FILE` of another machine flagged")
	f.BoolVar(&g.selfTest, "self-test", false,
		"test the gate on this machine: no change, a slowdown, a wrong answer, an empty file")
	f.IntVar(&g.blocks, "blocks", 10, "blocks of two processes per program and cell")
	f.StringArrayVar(&g.effect, "effect", nil,
		"least slowdown that matters: `5%`, or REGEXP=5% for some cells; repeatable (default 3% in scope kernel, else 5%)")
	f.StringSliceVar(&g.impl, "impl", nil, "implementations, as patterns (default cpu, or another CPU one)")
	f.StringVar(&g.scope, "scope", string(bench.E2E), "what the clock covers: kernel, device, e2e or file")
	// With all cores, any other load halves or doubles the times.
	f.IntVar(&g.threads, "threads", max(1, runtime.GOMAXPROCS(0)/2), "cores per implementation")
	f.StringVar(&g.device, "device", "", "GPU `ID`: number, UUID or name (default the first)")
	f.BoolVar(&g.hot, "hot", false, "keep the device caches between calls (default cold)")
	f.DurationVar(&g.maxTime, "max-time", 150*time.Millisecond, "longest sampling of a process")
	f.IntVar(&g.samples, "max-samples", 200, "most samples of a process")
	f.DurationVar(&g.limit, "time-limit", 10*time.Second, "time for the answers of a process, for their "+
		"verification, and for each reply of a peer; a phase ends after twice that and 10 s")
	f.Uint64Var(&g.seed, "order-seed", 0, "seed of the process order (default random, recorded)")
	f.StringVarP(&g.out, "out", "o", "gate.json", "write the result to this `FILE`")
	f.StringVar(&g.format, "format", "text", "text, md or json")
	f.BoolVarP(&g.quiet, "quiet", "q", false, "no progress on standard error")
	g.in.Add(f, benches)
	f.Lookup("sizes").Usage, f.Lookup("sizes").DefValue = "sizes, as those of run (default a few small "+
		"inputs of the workload)", ""
	f.Lookup("threads").DefValue = "half of them"
}

func command(c *cli.Program, f *pflag.FlagSet, parse func() error) error {
	var g gateFlags
	g.add(f, c.Benches)
	if err := parse(); err != nil {
		return err
	}
	style, err := report.ParseFormat(g.format)
	if err != nil || style == report.CSV {
		return cli.Usagef("--format %s: want text, md or json", g.format)
	}
	if err := g.check(f); err != nil {
		return err
	}
	both, err := g.joinPeers(c)
	if err != nil {
		return err
	}
	ctx, stop := cli.Interruptible(syscall.SIGPIPE) // of an output without a reader; the folder is removed
	defer stop()
	if g.selfTest {
		return gateSelfTest(ctx, c, g)
	}
	return g.compare(ctx, c, both, style)
}

// compare measures the programs or the two peers, and judges the candidate.
func (g gateFlags) compare(ctx context.Context, c *cli.Program, both map[gate.Side]*peers.Peer,
	style report.Format) error {
	run, before, err := g.plan(c)
	if err != nil {
		return err
	}
	programs, err := findPrograms(ctx, c, g.base, g.candidate, run.Protocol.TimeLimit)
	if programs != nil {
		defer programs.close()
	}
	if ctx.Err() != nil {
		return cli.VerdictError{Code: cli.ExitInconclusive, Why: "gate: interrupted before anything was measured"}
	}
	if err != nil {
		return err
	}
	programs.peers = both
	if before != nil {
		if err := programs.requireSame(before); err != nil {
			return cli.Usagef("--confirm %s: %w", g.confirm, err)
		}
	}
	run.Measure = programs.measure(run.Protocol, c.Benches[0].Name())
	progress := cli.NewSteps(c.Stderr, g.quiet)
	run.Progress = showProgress(progress)
	result, err := run.Run(ctx)
	progress.Close()
	if errors.As(err, &gate.ErrIncompatible{}) {
		return unfit(g.baseline, err)
	}
	if err != nil {
		return err
	}
	if before != nil {
		result.Confirm(before)
	}
	result.Argv = append([]string{"eccbench"}, os.Args[1:]...)
	programs.describe(result)
	if err := finishGate(c, result, g, style); err != nil {
		return err
	}
	if result.Exit != 0 {
		return cli.VerdictError{Code: result.Exit, Why: fmt.Sprintf("gate: %s: %s", result.Verdict, result.Reason)}
	}
	return nil
}

// plan returns the gate without its programs, and the result that it confirms, or nil.
func (g *gateFlags) plan(c *cli.Program) (run gate.Gate, before *gate.Result, err error) {
	targets := []cli.Target{{Flag: "--out", Path: g.out}, {Flag: "--save-baseline", Path: g.save}}
	if err := cli.Writable(targets, g.baseline, g.confirm, g.base, g.candidate); err != nil {
		return run, nil, err
	}
	run = gate.Gate{Seed: g.seed, Alone: g.save != "", Protocol: g.protocol()}
	if g.confirm == "" {
		run.Cells, err = g.cells(c)
	} else if before, err = readGate(g.confirm); err == nil {
		if run.Cells, run.Protocol = before.Flagged(), before.Protocol; len(run.Cells) == 0 {
			err = cli.Usagef("--confirm %s: it flagged nothing that another machine could confirm", g.confirm)
		}
	}
	if err != nil {
		return run, nil, err
	}
	for _, cell := range run.Cells {
		b, err := runner.Find(c.Benches, cell.Workload)
		if err != nil {
			return run, nil, cli.Usage(err) // of a file to confirm
		}
		if err := cli.CheckTargets(targets, b.Files(cell.Input)...); err != nil {
			return run, nil, err
		}
	}
	if g.baseline != "" {
		if run.Baseline, err = readBaseline(g.baseline, run.Protocol, run.Cells); err != nil {
			return run, nil, err
		}
	}
	if fewest := gate.Fewest(len(run.Cells)); !run.Alone && run.Protocol.Blocks < fewest {
		fmt.Fprintf(c.Stderr, "eccbench: of %d cells, --blocks %d can show no slowdown, only what is exact; %d can\n",
			len(run.Cells), run.Protocol.Blocks, fewest)
	}
	return run, before, nil
}

// finishGate writes a result to its files and prints it.
func finishGate(c *cli.Program, result *gate.Result, g gateFlags, style report.Format) error {
	asJSON := func(v any) func(*os.File) error {
		return func(w *os.File) error { return indented(w, v) }
	}
	if err := cli.WriteFile(g.out, asJSON(result)); err != nil {
		return err
	}
	if g.save != "" && result.Verdict == gate.Stored {
		if err := cli.WriteFile(g.save, asJSON(result.Baseline())); err != nil {
			return err
		}
	}
	if style == report.JSON {
		return indented(c.Stdout, result)
	}
	return printGate(c.Stdout, style, result)
}

func indented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(v)
}

// check returns an error for flags that exclude each other.
func (g *gateFlags) check(f *pflag.FlagSet) error {
	alone := g.save != ""
	switch {
	case (g.basePeer == "") != (g.candPeer == ""):
		return cli.Usagef("--base-peer and --cand-peer go together")
	case g.basePeer != "" && (g.selfTest || g.base+g.candidate+g.baseline+g.save+g.confirm != "" || f.Changed("impl")):
		return cli.Usagef("--base-peer and --cand-peer are all that is compared: " +
			"leave out other programs, baselines and --impl")
	case f.NArg() > 0:
		return cli.Usagef("unexpected argument %q; programs are given with --base and --cand", f.Arg(0))
	case g.selfTest && (g.base+g.candidate+g.baseline+g.save+g.confirm != ""):
		return cli.Usagef("--self-test judges this program itself: give it no other")
	case g.selfTest:
	case alone && (g.candidate != "" || g.baseline != "" || g.confirm != ""):
		return cli.Usagef("--save-baseline measures --base alone")
	case g.baseline != "" && (g.base != "" || g.confirm != ""):
		return cli.Usagef("--baseline takes the place of --base, and has nothing to confirm")
	case g.basePeer != "":
	case g.baseline == "" && g.base == "":
		return cli.Usagef("gate needs the program to compare with: --base, or --baseline FILE")
	case !alone && g.candidate == "":
		return cli.Usagef("gate needs the program to judge: --cand")
	case g.confirm != "" && slices.ContainsFunc([]string{"blocks", "effect", "impl", "scope", "threads", "device", "hot",
		"max-time", "max-samples", "time-limit", "sizes", "input", "gen", "type", "levels", "dim", "seed", "workload"},
		f.Changed):
		return cli.Usagef("--confirm measures in the way of the file: give neither cells nor limits")
	}
	if err := crew.CheckThreads(g.threads); err != nil {
		return cli.Usagef("--%w", err)
	}
	switch {
	case g.blocks < 1 || g.blocks > 1000:
		return cli.Usagef("--blocks %d: want 1 to 1000", g.blocks)
	case !slices.Contains(bench.Scopes(), bench.Scope(g.scope)):
		return cli.Usagef("--scope %s: want kernel, device, e2e or file", g.scope)
	case g.samples < 1 || g.maxTime <= 0 || g.limit <= 0:
		return cli.Usagef("--max-samples, --max-time and --time-limit must be more than 0")
	}
	if g.seed == 0 {
		g.seed = rand.Uint64()
	}
	return nil
}

// testedPeer is the implementation name of both sides' peers.
const testedPeer = "tested"

// joinPeers adds one row for the two peers, which this program runs on both sides. It returns nil
// without peers.
func (g *gateFlags) joinPeers(c *cli.Program) (map[gate.Side]*peers.Peer, error) {
	if g.basePeer == "" {
		return nil, nil
	}
	var list []*peers.Peer
	for _, path := range []string{g.basePeer, g.candPeer} {
		p, err := peers.New(testedPeer, path)
		if err != nil {
			return nil, cli.Usage(err)
		}
		if g.in.Set.Changed("time-limit") {
			p.Limit = g.limit
		}
		list = append(list, p)
	}
	worker.Meet(list)
	for _, p := range list {
		if p.Broken != "" {
			return nil, cli.Usagef("%s: %s", p.Line(), p.Broken)
		}
	}
	self, err := os.Executable()
	g.base, g.candidate = self, self
	c.Join(&g.in, list[0])
	return map[gate.Side]*peers.Peer{gate.Base: list[0], gate.Again: list[0], gate.Candidate: list[1]}, err
}

func (g *gateFlags) protocol() gate.Protocol {
	return gate.Protocol{
		Blocks: g.blocks, Threads: g.threads, Device: g.device, Hot: g.hot, MaxTime: g.maxTime, MaxSamples: g.samples,
		TimeLimit: g.limit,
	}
}

// cells returns the implementations on the inputs, with the effect of each.
func (g *gateFlags) cells(c *cli.Program) ([]gate.Cell, error) {
	b, err := g.in.Bench()
	if err != nil {
		return nil, err
	}
	inputs := b.Question().Small
	keyed := slices.ContainsFunc(b.Question().Form.Keys, func(k name.Key) bool { return g.in.Set.Changed(k.Key) })
	if keyed || slices.ContainsFunc([]string{"sizes", "dim", "gen", "type", "levels", "input", "shape", "seed", "smooth",
		"stack", "volume", "array", "channel", "strict"}, g.in.Set.Changed) {
		if inputs, err = g.in.Names(); err != nil {
			return nil, err
		}
	}
	patterns := g.impl
	if g.basePeer != "" {
		patterns = []string{peers.Prefix + testedPeer}
	} else if !g.in.Set.Changed("impl") {
		patterns = []string{OnHost(b)}
	}
	chosen, err := cli.Choose(patterns, b.Abouts())
	if err == nil {
		err = cli.CheckHardware(g.in.Set, b, chosen)
	}
	if err != nil {
		return nil, err
	}
	var cells []gate.Cell
	about := map[string]bool{} // the effects that apply to a cell
	for _, impl := range chosen {
		for _, input := range inputs {
			if input, err = absolute(input); err != nil {
				return nil, err
			}
			if _, _, err := b.Describe(input); err != nil {
				return nil, cli.Usage(err)
			}
			cell := gate.Cell{Workload: b.Name(), Impl: impl, Input: input, Scope: bench.Scope(g.scope), Effect: 0.05}
			if cell.Scope == bench.Kernel {
				cell.Effect = 0.03
			}
			if err := setEffect(&cell, g.effect, about); err != nil {
				return nil, err
			}
			cells = append(cells, cell)
		}
	}
	for _, v := range g.effect {
		if len(cells) > 0 && !about[v] {
			return nil, cli.Usagef("--effect %s: about none of the %d cells, such as %q",
				v, len(cells), cli.CellText(cells[0].Impl, cells[0].Input, cells[0].Scope))
		}
	}
	return cells, nil
}

// OnHost names an implementation that runs anywhere. It is cpu, or else the workload's first
// implementation on the host, or else its definition.
func OnHost(b runner.Bench) string {
	first, reference := "", ""
	for _, a := range b.Abouts() {
		switch {
		case a.Name == "cpu":
			return a.Name
		case a.Where == "cpu" && a.Name == b.Reference():
			reference = a.Name
		case a.Where == "cpu" && first == "":
			first = a.Name
		}
	}
	return cmp.Or(first, reference)
}

// absolute makes the path of an image file absolute, because the programs run in another folder.
func absolute(input string) (string, error) {
	head, path, ok := strings.Cut(input, "/path=")
	if !ok {
		return input, nil
	}
	path, err := filepath.Abs(path)
	return head + "/path=" + path, err
}

// setEffect applies the last of the --effect values that match a cell, and marks the matching
// values.
func setEffect(cell *gate.Cell, values []string, noted map[string]bool) error {
	for _, v := range values {
		pattern, share := "", v
		if i := strings.LastIndex(v, "="); i >= 0 {
			pattern, share = v[:i], v[i+1:]
		}
		about, err := regexp.Compile(pattern)
		if err != nil {
			return cli.Usagef("--effect %s: %w", v, err)
		}
		number, isPercent := strings.CutSuffix(strings.TrimSpace(share), "%")
		effect, err := decimal.ParseFloat(number, 64)
		if isPercent {
			effect /= 100
		}
		if err != nil || !(effect > 0 && effect <= 10) {
			return cli.Usagef("--effect %s: want a share such as 5%% or 0.05, or REGEXP=5%%", v)
		}
		if about.MatchString(cli.CellText(cell.Impl, cell.Input, cell.Scope)) {
			cell.Effect, noted[v] = effect, true
		}
	}
	return nil
}

func readGate(path string) (*gate.Result, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		return nil, cli.Usagef("gate's result %w", err)
	}
	defer file.Close()
	r, err := gate.ReadResult(file)
	if err != nil {
		return nil, cli.Usagef("%s: %w", path, err)
	}
	return r, nil
}

// unfit returns the error of a baseline that is missing or not comparable, with an exit code of its own.
func unfit(path string, err error) error {
	return cli.VerdictError{Code: cli.ExitBaseline, Why: fmt.Sprintf("baseline %s: %v", path, err)}
}

// readBaseline reads a baseline and checks that it is comparable.
func readBaseline(path string, p gate.Protocol, cells []gate.Cell) (*gate.Baseline, error) {
	file, _, err := regular.Open(path)
	if err != nil {
		return nil, unfit(path, errors.Unwrap(err))
	}
	defer file.Close()
	b, err := gate.ReadBaseline(file)
	if err == nil {
		err = b.Fits(host.DescribeMachine(), p, cells)
	}
	if err != nil {
		return nil, unfit(path, err)
	}
	return b, nil
}
