package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/gate"
	"eccbench/internal/report"
	"eccbench/reports/paper"
)

// page writes results files, and a gate's result where one is named, as one
// HTML page.
func (c *command) page(path, gated string, files []string) error {
	if len(files) == 0 && gated == "" {
		return usagef("--html needs results files to show, or --gate")
	}
	p := report.Page{Title: "eccbench", Ceiling: impls.Ceiling}
	for _, name := range files {
		records, err := readRecords(name)
		if err != nil {
			return usageError{err}
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return usagef("results %w", err)
		}
		p.Title += " " + filepath.Base(name)
		p.Files = append(p.Files, report.PageFile{Name: filepath.Base(name), Raw: raw, Records: records})
	}
	var err error
	if p.Quotes, err = c.quotes(p.Files); err != nil {
		return err
	}
	if gated != "" {
		r, err := readGate(gated)
		if err != nil {
			return err
		}
		if p.Gate, err = judgement(r, gated); err != nil {
			return err
		}
		p.Title += " " + filepath.Base(gated)
	}
	if err := writable(path); err != nil {
		return err
	}
	return writeFile(path, func(w *os.File) error { return report.HTML(w, p) })
}

// quotes are the published tables of which eccbench paper recorded a cell.
func (c *command) quotes(files []report.PageFile) ([]report.Quote, error) {
	papers, err := paper.List()
	if err != nil {
		return nil, err
	}
	var list []report.Quote
	for _, f := range files {
		for _, p := range papers {
			if !slices.ContainsFunc(f.Records.Runs, func(r bench.RunRecord) bool {
				return slices.Contains(r.Argv, "paper") && slices.Contains(r.Argv, p.ID)
			}) {
				continue
			}
			for _, t := range p.Tables {
				lines := p.Lines(t, f.Records.Cells, impls.Ceiling, c.has, notRun)
				ran := map[string]bool{} // the images of which there is a record
				for _, l := range lines {
					if l.Status != "" {
						ran[l.Row.Data+l.Row.Label] = true
					}
				}
				lines = slices.DeleteFunc(lines, func(l paper.Line) bool { return !ran[l.Row.Data+l.Row.Label] })
				if len(lines) == 0 {
					continue
				}
				q := p.Quote(t, lines)
				if n := len(t.Rows); len(ran) < n {
					q.About = append(q.About, fmt.Sprintf("%d of the table's %d images: the others were not run", len(ran), n))
				}
				if len(files) > 1 {
					q.Title = f.Name + ": " + q.Title
				}
				list = append(list, q)
			}
		}
	}
	return list, nil
}

// judgement is a gate's result as the page shows it.
func judgement(r *gate.Result, path string) (*report.Judgement, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("gate's result %w", err)
	}
	j := &report.Judgement{Verdict: string(r.Verdict), Reason: r.Reason, Noise: noiseLine(r), Raw: raw}
	j.About = append(j.About, fmt.Sprintf("Candidate %s over base %s: %d blocks, %d threads.", describeProgram(r.Candidate), describeProgram(r.Base), r.Protocol.Blocks, r.Protocol.Threads))
	j.Run = bench.RunRecord{ID: "gate", Time: r.Time, Argv: r.Argv, Machine: r.Machine}
	j.Run.Binary.Commit, j.Run.Binary.SHA256, j.Run.Binary.Go = r.Candidate.Commit, r.Candidate.SHA256, r.Candidate.Go
	for _, c := range r.Cells {
		change := report.Change{
			Impl: c.Impl, Input: c.Input, Scope: string(c.Scope), Decision: string(c.Decision), Reason: c.Reason, Reproduce: c.Reproduce, Effect: c.Effect,
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
