package measure

import (
	"os"
	"path/filepath"
	"slices"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/gating"
	"eccbench/internal/regular"
	"eccbench/internal/report"
	"eccbench/internal/reproduce"
)

// page writes results files as one HTML page, with a gate's result if one is named.
func page(c *cli.Program, path, gated string, files []string) error {
	if len(files) == 0 && gated == "" {
		return cli.Usagef("--html needs results files to show, or --gate")
	}
	targets := []cli.Target{{Flag: "--html", Path: path}}
	if err := cli.Writable(targets, append(slices.Clone(files), gated)...); err != nil {
		return err
	}
	p := report.Page{Title: "eccbench", Ceiling: impls.Ceiling}
	for _, name := range files {
		records, err := c.ReadRecords(name)
		if err != nil {
			return cli.Usage(err)
		}
		raw, err := regular.ReadFile(name, bench.MostBytes)
		if err != nil {
			return cli.Usagef("results %w", err)
		}
		p.Title += " " + filepath.Base(name)
		p.Files = append(p.Files, report.PageFile{Name: filepath.Base(name), Raw: raw, Records: records})
	}
	var err error
	if p.Quotes, err = reproduce.Quotes(c, p.Files); err != nil {
		return err
	}
	if gated != "" {
		if p.Gate, err = gating.Judgement(gated); err != nil {
			return err
		}
		p.Title += " " + filepath.Base(gated)
	}
	return cli.WriteFile(path, func(w *os.File) error { return report.HTML(w, p) })
}
