package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/verify"
)

// speeds returns a Markdown table for each workload of a results file: the time of a call by
// implementation and size. A peer's time has its ratio to our row, with ~ if either is NOISY.
func speeds(path string, eccbench func(args ...string) (string, error)) (string, error) {
	rows, err := measured(eccbench, path)
	if err != nil {
		return "", err
	}
	var workloads, sizes, impls []string
	cells, floors := map[[3]string]report.Row{}, map[[2]string]float64{}
	for _, r := range rows {
		if r.Workload == "memread" {
			continue
		}
		name := r.Impl
		if r.Peer != nil {
			name += " " + r.Peer.Version
		} else {
			cells[[3]string{r.Workload, "", r.Size}] = r
		}
		workloads, sizes, impls = append(workloads, r.Workload), append(sizes, r.Size), append(impls, name)
		cells[[3]string{r.Workload, name, r.Size}] = r
		if of := [2]string{r.Workload, name}; r.Floor > 0 && (floors[of] == 0 || r.Floor < floors[of]) {
			floors[of] = r.Floor
		}
	}
	slices.SortFunc(sizes, func(x, y string) int {
		return slices.Compare([]int{strings.Count(x, "x"), len(x)}, []int{strings.Count(y, "x"), len(y)})*2 + strings.Compare(x, y)
	})
	slices.Sort(impls)
	slices.Sort(workloads)
	var b strings.Builder
	for _, w := range slices.Compact(workloads) {
		asked := slices.DeleteFunc(slices.Compact(slices.Clone(sizes)), func(s string) bool { return cells[[3]string{w, "", s}].Impl == "" })
		fmt.Fprintf(&b, "\n### %s\n\n| implementation |", w)
		for _, s := range asked {
			fmt.Fprintf(&b, " %s |", s)
		}
		fmt.Fprintf(&b, " empty call |\n|---|%s\n", strings.Repeat("---|", len(asked)+1))
		for _, name := range slices.Compact(slices.Clone(impls)) {
			line, found := "| "+name+" |", false
			for _, s := range asked {
				r, ok := cells[[3]string{w, name, s}]
				line, found = line+" "+took(r, cells[[3]string{w, "", s}])+" |", found || ok
			}
			if found {
				fmt.Fprintf(&b, "%s %s |\n", line, duration(floors[[2]string{w, name}]))
			}
		}
	}
	return b.String()[1:], nil
}

// took returns the time of a call in a row, and its ratio to our row.
func took(r, ours report.Row) string {
	switch {
	case r.Rate == 0 && r.Status == verify.Skipped:
		return "—"
	case r.Rate == 0:
		return string(r.Status)
	}
	text := duration(float64(r.Items) / r.Rate)
	if r.Peer != nil && ours.Rate > 0 {
		text += fmt.Sprintf(" (%s×)", quantity.Significant(ours.Rate/r.Rate, 2))
	}
	if r.Status == verify.Noisy || r.Peer != nil && ours.Status == verify.Noisy {
		text += "~"
	}
	return text
}

// duration formats seconds, and returns "" for 0.
func duration(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return quantity.Duration(time.Duration(seconds * float64(time.Second)))
}
