package gating

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/regular"
	"eccbench/internal/report"
)

// Judgement reads a gate's result file for the page of a report.
func Judgement(path string) (*report.Judgement, error) {
	r, err := readGate(path)
	if err != nil {
		return nil, err
	}
	raw, err := regular.ReadFile(path, bench.MostBytes)
	if err != nil {
		return nil, cli.Usagef("gate's result %w", err)
	}
	j := &report.Judgement{Verdict: string(r.Verdict), Reason: r.Reason, Noise: noiseLine(r), Raw: raw}
	j.About = append(j.About, fmt.Sprintf("Candidate %s over base %s: %d blocks, %d threads.",
		describeProgram(r.Candidate), describeProgram(r.Base), r.Protocol.Blocks, r.Protocol.Threads))
	j.Run = bench.RunRecord{ID: "gate", Time: r.Time, Argv: r.Argv, Machine: r.Machine}
	j.Run.Binary.Commit, j.Run.Binary.SHA256, j.Run.Binary.Go = r.Candidate.Commit, r.Candidate.SHA256, r.Candidate.Go
	for _, c := range r.Cells {
		change := report.Change{
			Impl: c.Impl, Input: c.Input, Scope: string(c.Scope), Decision: string(c.Decision), Reason: c.Reason,
			Reproduce: c.Reproduce, Effect: c.Effect,
		}
		change.Notes = notesOf(c)
		if c.Second != nil {
			change.Notes = append(change.Notes, "a fresh run: "+inPercent(c.Second))
		}
		if e := c.Change; e != nil {
			change.Change, change.Lo, change.Hi = &e.Change, e.Lo, e.Hi
		}
		j.Changes = append(j.Changes, change)
	}
	return j, nil
}
