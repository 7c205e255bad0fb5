package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"eccbench/internal/quantity"
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
		printed, err := eccbench("report", record, "--cells", r.Cells, "--format", "csv")
		if err != nil {
			return "", err
		}
		rate, cell, err := only(printed)
		if err != nil {
			return "", fmt.Errorf("%s: %s: %w", record, r.Cells, err)
		}
		published, ratio := "none known", "—"
		if r.Published != "" {
			published = r.Published
		}
		if r.Rate > 0 {
			ratio = fmt.Sprintf("%.0f×", rate/r.Rate)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s, `%s`, %s | %s | %s |\n",
			r.Workload, r.Question, published, quantity.Rate(rate, strings.TrimSuffix(cell["unit"], "/s")),
			cell["impl"], r.Machine, ratio, cell["status"])
	}
	return b.String(), nil
}

// only returns the rate and the columns of a CSV table of one row.
func only(printed string) (rate float64, row map[string]string, err error) {
	lines, err := csv.NewReader(strings.NewReader(printed)).ReadAll()
	if err != nil {
		return 0, nil, err
	}
	if len(lines) != 2 {
		return 0, nil, fmt.Errorf("%d cells, want one", len(lines)-1)
	}
	row = map[string]string{}
	for i, name := range lines[0] {
		row[name] = lines[1][i]
	}
	rate, err = strconv.ParseFloat(row["rate"], 64)
	return rate, row, err
}
