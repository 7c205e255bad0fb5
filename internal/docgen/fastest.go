package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// A race is one row of the table of published and recorded rates.
type race struct {
	Workload, Question string
	Published          string  // the fastest published time with its paper and hardware, or ""
	Rate               float64 // that time as a rate; 0 if its clock or data are unknown or differ
	Record, Cells      string  // the results file in reports/runs, and a regular expression for one cell
	Machine            string
}

// fastest returns the Markdown table for the races in a file. report runs eccbench.
func fastest(path string, eccbench func(args ...string) (string, error)) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var races []race
	if err := json.Unmarshal(text, &races); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	var b strings.Builder
	b.WriteString("| workload | question | fastest published | eccbench | ratio | verdict |\n|---|---|---|---|---|---|\n")
	for _, r := range races {
		record := "reports/runs/" + r.Record + ".jsonl.zst"
		cells, err := measured(eccbench, record, "--cells", r.Cells)
		if err != nil {
			return "", err
		}
		if len(cells) != 1 || cells[0].Rate <= 0 {
			return "", fmt.Errorf("%s: %s: %d cells, want one with a rate", record, r.Cells, len(cells))
		}
		cell := cells[0]
		published, ratio := "none known", "—"
		if r.Published != "" {
			published = r.Published
		}
		if r.Rate > 0 {
			ratio = fmt.Sprintf("%.0f×", cell.Rate/r.Rate)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s, `%s`, %s | %s | %s |\n",
			r.Workload, r.Question, published, quantity.Rate(cell.Rate, strings.TrimSuffix(cell.Unit, "/s")),
			cell.Impl, r.Machine, ratio, cell.Status)
	}
	return b.String(), nil
}

// measured returns the rows of a results file.
func measured(eccbench func(args ...string) (string, error), args ...string) (rows []report.Row, err error) {
	printed, err := eccbench(slices.Concat([]string{"report", "--format", "json"}, args)...)
	if err != nil {
		return nil, err
	}
	return rows, json.Unmarshal([]byte(printed), &rows)
}
