package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"eccbench/internal/verify"
)

// Run measures the cells and judges them. A flag that a second round does not repeat does not
// count. If the context ends, the result covers the finished processes and is marked as partial. An
// error means that nothing was judged.
func (g *Gate) Run(ctx context.Context) (*Result, error) {
	start := time.Now()
	r := &Result{Schema: Schema, Time: start.UTC().Truncate(time.Millisecond), Seed: g.Seed, Protocol: g.Protocol}
	cells := make([]int, len(g.Cells))
	for i, c := range g.Cells {
		cells[i] = i
		r.Cells = append(r.Cells, CellResult{Cell: c})
	}
	if g.Baseline != nil {
		r.Base, r.Stored, r.Processes = g.Baseline.Program, &g.Baseline.Time, g.Baseline.processes()
	}
	err := g.round(ctx, r, 1, cells)
	g.judge(r, 1, cells)
	if flagged := r.flagged(); err == nil && !g.Alone {
		err = g.round(ctx, r, 2, flagged)
		g.judge(r, 2, flagged)
	}
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if r.Interrupted = err != nil; r.Interrupted {
		for _, i := range r.flagged() {
			if c := &r.Cells[i]; c.Second == nil {
				c.Reason, c.Decision = fmt.Sprintf("%s at first, interrupted before a fresh run", c.Decision), Inconclusive
			}
		}
	}
	r.Elapsed = time.Since(start).Seconds()
	r.Fingerprint = r.Machine.Fingerprint()
	r.conclude(g.Alone)
	return r, nil
}

// sides returns the sides whose programs run.
func (g *Gate) sides() []Side {
	switch {
	case g.Alone:
		return []Side{Base, Again}
	case g.Baseline != nil:
		return []Side{Candidate}
	}
	return []Side{Base, Candidate, Again}
}

// round runs every cell of a list in every block. If a process of a cell has no usable result, the
// cell stops once each side has run.
func (g *Gate) round(ctx context.Context, r *Result, round int, cells []int) error {
	steps := order(g.Seed, round, g.Protocol.Blocks, cells, g.sides())
	before := 0 // stored processes did not run now
	if g.Baseline != nil {
		before = len(g.Baseline.processes())
	}
	total := len(r.Processes) - before
	for _, s := range steps {
		total += len(s.sides)
	}
	ended, repeated := map[int]bool{}, map[int]int{}
	for _, s := range steps {
		for k, side := range s.sides {
			if ended[s.cell] && (s.block > 0 || k >= len(s.sides)/2) {
				total--
				continue
			}
			if g.Progress != nil {
				g.Progress(len(r.Processes)-before, total, side, g.Cells[s.cell])
			}
			p, err := g.process(ctx, r, side, s.cell, s.block)
			if err != nil {
				return err
			}
			p.Round, p.Block = round, s.block
			if p.Status == verify.Implausible && repeated[s.cell] < mostRepeated {
				repeated[s.cell]++
				p.Repeated = true
				r.Processes, total = append(r.Processes, p), total+1
				if p, err = g.process(ctx, r, side, s.cell, s.block); err != nil {
					return err
				}
				p.Round, p.Block = round, s.block
			}
			r.Processes = append(r.Processes, p)
			if !p.usable() {
				ended[s.cell] = true
			}
		}
	}
	return nil
}

// mostRepeated is the greatest number of repeated processes of a cell in a round.
const mostRepeated = 2

// process runs one process and records its program and its machine. The error is the context's, or
// belongs to a baseline of another machine.
func (g *Gate) process(ctx context.Context, r *Result, side Side, cell, block int) (Process, error) {
	if err := ctx.Err(); err != nil {
		return Process{}, err
	}
	records, failed := g.Measure(ctx, side, g.Cells[cell], block)
	if err := ctx.Err(); err != nil {
		return Process{}, err // an interrupted process is no crash
	}
	p, record := observe(records, failed, g.Cells[cell])
	p.Side, p.Cell = side, cell
	if record.Device != "" {
		r.Cells[cell].Device = record.Device
		if !slices.Contains(r.Machine.Devices, record.Device) {
			r.Machine.Devices = append(r.Machine.Devices, record.Device)
		}
	}
	if len(records.Runs) > 0 {
		run := records.Runs[len(records.Runs)-1]
		of := &r.Base
		if side == Candidate {
			of = &r.Candidate
		}
		if of.SHA256 == "" {
			*of = Program{of.Name, run.Binary.Commit, run.Binary.SHA256, run.Binary.Go}
		}
		devices := r.Machine.Devices
		if r.Machine.CPU == "" {
			r.Machine = run.Machine
			r.Machine.Devices = devices
		}
	}
	if g.Baseline != nil && p.usable() {
		if err := g.Baseline.madeOn(r.Machine, record.Device); err != nil {
			return p, err
		}
	}
	return p, nil
}

// flagged returns the cells whose decision needs a second round: statistical decisions, but not
// exact ones.
func (r *Result) flagged() []int {
	var list []int
	for i, c := range r.Cells {
		if c.Change != nil && c.Reason == "" && (c.Decision == Regression || c.Decision == Improved) {
			list = append(list, i)
		}
	}
	return list
}

// judge decides the cells of a round. In the second round flags can only be dropped. A flag remains
// if the repeated run shows a change in its direction, and both runs together show one beyond the
// effect.
func (g *Gate) judge(r *Result, round int, cells []int) {
	var estimates []*Estimate
	of := map[int]*Estimate{}
	for _, i := range cells {
		if e := g.estimate(r, round, i); e != nil {
			estimates, of[i] = append(estimates, e), e
		}
	}
	adjust(estimates)
	for i, e := range of {
		c := &r.Cells[i]
		seen := e.decide(c.Effect)
		switch {
		case round == 1:
			c.Decision = seen
		case seen != c.Decision || !c.Second.repeats(seen):
			c.Reason = fmt.Sprintf("%s at first, not confirmed by a fresh run (%s)", c.Decision, c.Second.interval())
			c.Decision = Inconclusive
		}
		if c.Decision == Inconclusive {
			c.Settle = e.settle(c.Effect, len(cells))
		}
		c.doubt()
	}
}

// estimate returns the estimated change of a cell after a round. It is nil for a cell that is decided without.
func (g *Gate) estimate(r *Result, round, cell int) *Estimate {
	c := &r.Cells[cell]
	v := viewOf(r.Processes, round, cell)
	beside := v
	if g.Baseline != nil {
		beside = viewOf(r.Processes, 1, cell) // the stored processes of the base
	}
	base, candidate := beside.processes(Base, Again), v.processes(Candidate)
	for _, p := range r.Processes { // their answers count even if their times do not
		if p.Repeated && p.Round == round && p.Cell == cell && p.Side == Candidate {
			candidate = append(candidate, p)
		}
	}
	found := exact(base, candidate)
	between := func(above view, side Side, by clock) *Estimate {
		return estimate(logs(beside, Base, above, side, g.Protocol.Blocks, by), c.Effect)
	}
	change := between(v, Candidate, quick)
	if round == 1 {
		c.Noise, c.Medians, c.Slow = between(beside, Again, quick), between(v, Candidate, middle), between(v, Candidate, slow)
		c.Between = processDeviation(v.pairs())
		c.Change = change
	} else if c.Second = change; change != nil {
		change = estimate(slices.Concat(c.Change.Logs, change.Logs), c.Effect)
		c.Both = change
	}
	c.Notes = append(c.Notes, found.notes...)
	slices.Sort(c.Notes)
	c.Notes = slices.Compact(c.Notes)
	switch {
	case found.decision != "":
		c.Decision, c.Reason, c.Reproduce = found.decision, found.reason, found.reproduce
	case g.Alone:
		c.Decision = Measured
	case change == nil:
		c.Decision, c.Reason = Inconclusive, "no block of it has ended"
	default:
		return change
	}
	return nil
}

// doubt makes a cell inconclusive that is as fast by one time of its processes, but slower by another.
func (c *CellResult) doubt() {
	for _, other := range []struct {
		*Estimate
		what string
	}{{c.Medians, "the median call"}, {c.Slow, "the slower one of two processes"}} {
		if (c.Decision == Same || c.Decision == Improved) && other.suspect(c.Effect) {
			c.Reason = fmt.Sprintf("%s by the quickest tenth of the calls of the faster one of two processes, but %s is "+
				"slower (%s)", c.Decision, other.what, other.interval())
			c.Decision = Inconclusive
		}
	}
}

// logs returns the log ratios of the times of two sides by one clock, one for each block that is
// complete on both.
func logs(below view, den Side, above view, num Side, blocks int, by clock) []float64 {
	var list []float64
	for block := range blocks {
		b, ok := below.seconds(block, den, by)
		a, ok2 := above.seconds(block, num, by)
		if ok && ok2 {
			list = append(list, logRatio(a, b))
		}
	}
	return list
}
