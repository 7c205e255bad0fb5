package main

import (
	"os"
	"path/filepath"

	"eccbench/impls"
	"eccbench/internal/gate"
	"eccbench/internal/report"
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

// judgement is a gate's result as the page shows it.
func judgement(r *gate.Result, path string) (*report.Judgement, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, usagef("gate's result %w", err)
	}
	j := &report.Judgement{Verdict: string(r.Verdict), Reason: r.Reason, Noise: noiseLine(r), Raw: raw}
	for _, c := range r.Cells {
		change := report.Change{
			Impl: c.Impl, Input: c.Input, Scope: string(c.Scope), Decision: string(c.Decision), Reason: c.Reason, Reproduce: c.Reproduce, Effect: c.Effect,
		}
		if e := c.Change; e != nil {
			change.Change, change.Lo, change.Hi = &e.Change, e.Lo, e.Hi
		}
		j.Changes = append(j.Changes, change)
	}
	return j, nil
}
