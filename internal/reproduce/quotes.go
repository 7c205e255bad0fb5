package reproduce

import (
	"fmt"
	"slices"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/cli"
	"eccbench/internal/report"
	"eccbench/reports/paper"
)

// Quotes returns the published tables with cells that eccbench paper has recorded.
func Quotes(c *cli.Program, files []report.PageFile) ([]report.Quote, error) {
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
				lines := p.Lines(t, f.Records.Cells, impls.Ceiling, c.Has, notRun)
				ran := map[string]bool{} // the images with a record
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
