package gating

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/gate"
	"eccbench/internal/verify"
)

// selfTestTries is the number of measurements before the self-test gives up on a noisy machine.
const selfTestTries = 3

// A selfTest shows that the gate works on this machine.
type selfTest struct {
	c        *cli.Program
	ctx      context.Context
	quiet    bool
	cell     gate.Cell
	protocol gate.Protocol
	tape     []bench.Records // of the same program on all sides
}

// gateSelfTest measures this program against itself by real processes, which
// must pass. It then judges the same records again, altered on the candidate's
// side, which must fail: slower, an answer corrupted, a verdict of WRONG, a
// process that died, more bytes allocated. Last come files that are no results.
func gateSelfTest(ctx context.Context, c *cli.Program, g gateFlags) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding its own program: %w", err)
	}
	programs, err := findPrograms(ctx, c, self, self, g.limit)
	if err != nil {
		return err
	}
	defer programs.close()
	t := &selfTest{
		c: c, ctx: ctx, quiet: g.quiet,
		// The effect is above the noise of any machine that can judge at all.
		cell: gate.Cell{Workload: c.Curve.Name, Impl: "cpu", Input: "noise/shape=48x48x48/levels=256/type=uint8/seed=1",
			Scope: bench.E2E, Effect: 0.5},
		protocol: gate.Protocol{Blocks: 6, Threads: 1, MaxTime: 50 * time.Millisecond, MaxSamples: 200, TimeLimit: g.limit},
	}
	if err := t.checkSameProgram(programs.measure(t.protocol, c.Benches[0].Name())); err != nil {
		return err
	}
	if err := t.altered(); err != nil {
		return err
	}
	return t.emptyFiles(programs.dir)
}

// checkSameProgram judges the same program on both sides. A machine may be too noisy for a
// while, but the verdict must never be anything else.
func (t *selfTest) checkSameProgram(measured gate.Measure) error {
	for try := 1; ; try++ {
		t.tape = nil
		r, err := t.judge(func(ctx context.Context, s gate.Side, cell gate.Cell, block int) (bench.Records, error) {
			r, err := measured(ctx, s, cell, block)
			t.tape = append(t.tape, r)
			return r, err
		}, t.quiet)
		if err != nil {
			return err
		}
		if r.Verdict == gate.IsInconclusive && try == selfTestTries {
			return cli.VerdictError{Code: cli.ExitInconclusive, Why: fmt.Sprintf("gate self-test: after %d tries: %s",
				try, r.Reason)}
		}
		if r.Verdict != gate.IsInconclusive {
			return t.expect("the same program", gate.Pass, r)
		}
	}
}

func (t *selfTest) judge(measure gate.Measure, quiet bool) (*gate.Result, error) {
	progress := cli.NewSteps(t.c.Stderr, quiet)
	run := gate.Gate{Protocol: t.protocol, Cells: []gate.Cell{t.cell}, Seed: 1, Measure: measure,
		Progress: showProgress(progress)}
	r, err := run.Run(t.ctx)
	progress.Close()
	if err == nil && r.Interrupted {
		err = cli.VerdictError{Code: cli.ExitInconclusive, Why: "gate self-test: interrupted"}
	}
	return r, err
}

// expect prints a verdict and requires it.
func (t *selfTest) expect(name string, expect gate.Verdict, r *gate.Result) error {
	fmt.Fprintf(t.c.Stdout, "%-22s %-12s %s\n", name, r.Verdict, r.Reason)
	if r.Verdict != expect {
		return cli.VerdictError{Code: cli.ExitFailure, Why: fmt.Sprintf("gate self-test: %s is %s, want %s: %s",
			name, r.Verdict, expect, r.Reason)}
	}
	return nil
}

// altered judges the records of the same program again, altered on one side.
func (t *selfTest) altered() error {
	for _, a := range []struct {
		name  string
		want  gate.Verdict
		alter func(*bench.CellRecord)
	}{
		{"three times as slow", gate.IsRegression, func(r *bench.CellRecord) {
			r.Samples = slices.Clone(r.Samples)
			for i := range r.Samples {
				r.Samples[i] *= 3
			}
		}},
		{"a corrupted answer", gate.IsWrong, func(r *bench.CellRecord) {
			r.Digests = slices.Clone(r.Digests)
			for i, d := range r.Digests {
				r.Digests[i] = d[1:] + d[:1]
			}
		}},
		{"a wrong answer", gate.IsWrong, func(r *bench.CellRecord) {
			r.Verdict = verify.Verdict{Status: verify.Wrong, Reason: "planted by the self-test"}
		}},
		{"a process that died", gate.IsFailed, func(r *bench.CellRecord) {
			*r = bench.CellRecord{Workload: r.Workload, Impl: r.Impl, Input: r.Input,
				Verdict: verify.Verdict{Status: verify.Crashed, Reason: "planted by the self-test"}}
		}},
		{"a result without rows", gate.IsFailed, func(r *bench.CellRecord) { *r = bench.CellRecord{} }},
		{"more bytes in a call", gate.IsRegression, func(r *bench.CellRecord) {
			more := int64(math.MaxInt32)
			r.Allocated = &more
		}},
	} {
		n := 0 // one seed, one order: the records come back to where they were measured
		r, err := t.judge(func(_ context.Context, s gate.Side, _ gate.Cell, _ int) (bench.Records, error) {
			r := t.tape[n%len(t.tape)]
			n++
			r.Cells = slices.Clone(r.Cells)
			for i := range r.Cells {
				if s == gate.Candidate {
					a.alter(&r.Cells[i])
				}
			}
			return r, nil
		}, true)
		if err != nil {
			return err
		}
		if err := t.expect(a.name, a.want, r); err != nil {
			return err
		}
	}
	return nil
}

// emptyFiles are no baseline and no results.
func (t *selfTest) emptyFiles(dir string) error {
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		return fmt.Errorf("gate self-test: %w", err)
	}
	var unfit cli.VerdictError
	if _, err := readBaseline(empty, t.protocol, []gate.Cell{t.cell}); !errors.As(err, &unfit) ||
		unfit.Code != cli.ExitBaseline {
		return cli.VerdictError{Code: cli.ExitFailure, Why: fmt.Sprintf("gate self-test: an empty baseline gives %v", err)}
	}
	if _, err := cli.ReadRecords(empty); err == nil {
		return cli.VerdictError{Code: cli.ExitFailure, Why: "gate self-test: an empty results file is no error"}
	}
	fmt.Fprintf(t.c.Stdout, "%-22s %-12s exit codes %d and %d\n", "empty files", "errors", cli.ExitBaseline, cli.ExitUsage)
	return nil
}
