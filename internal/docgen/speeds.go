package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/verify"
)

// speeds returns a Markdown table for each workload of results files: the time of a call by
// implementation and size. A peer's time has its ratio to our row, with ~ if either is NOISY. A file
// replaces the workloads that it shares with earlier ones.
func speeds(paths []string, eccbench func(args ...string) (string, error)) (string, error) {
	var rows []report.Row
	for _, path := range paths {
		newer, err := measured(eccbench, path)
		if err != nil {
			return "", err
		}
		rows = slices.DeleteFunc(rows, func(old report.Row) bool {
			return slices.ContainsFunc(newer, func(r report.Row) bool { return r.Workload == old.Workload })
		})
		rows = append(rows, newer...)
	}
	groups, floors := map[string][]report.Row{}, map[string]float64{}
	for _, r := range rows {
		if r.Workload == "memread" {
			continue
		}
		if r.Peer != nil {
			r.Impl += " " + r.Peer.Version
		}
		groups[r.Workload] = append(groups[r.Workload], r)
		if floor, ok := floors[r.Workload+r.Impl]; r.Floor > 0 && (!ok || r.Floor < floor) {
			floors[r.Workload+r.Impl] = r.Floor
		}
	}
	var b strings.Builder
	for _, w := range slices.Sorted(maps.Keys(groups)) {
		header, ours, lines := []string{"implementation"}, map[string]report.Row{}, [][]string{}
		slices.SortFunc(groups[w], func(x, y report.Row) int {
			dims := strings.Count(x.Size, "x") - strings.Count(y.Size, "x")
			return cmp.Or(cmp.Compare(x.Impl, y.Impl), dims, cmp.Compare(x.Items, y.Items))
		})
		for _, r := range groups[w] {
			if r.Peer == nil {
				header, ours[r.Size] = append(header, r.Size), r
			}
		}
		for _, r := range groups[w] {
			if len(lines) == 0 || lines[len(lines)-1][0] != r.Impl {
				lines = append(lines, []string{r.Impl})
			}
			line := append(lines[len(lines)-1], callTime(r, ours[r.Size]))
			if lines[len(lines)-1] = line; len(line) > len(header) || header[len(line)-1] != r.Size {
				return "", fmt.Errorf("%s: %s: %s has not the sizes of our row", strings.Join(paths, " "), w, r.Impl)
			}
		}
		for i := range lines {
			lines[i] = append(lines[i], duration(floors[w+lines[i][0]]))
		}
		fmt.Fprintf(&b, "\n### %s\n\n", w)
		if err := report.Table(&b, report.Markdown, append(header, "empty call"), lines); err != nil {
			return "", err
		}
	}
	return strings.TrimPrefix(b.String(), "\n"), nil
}

// callTime returns the time of a call whose answer was confirmed, and its ratio to that of our row.
func callTime(r, ours report.Row) string {
	confirmed := func(r report.Row) bool { return r.Status == verify.Verified || r.Status == verify.Noisy }
	if !confirmed(r) {
		return strings.ReplaceAll(string(r.Status), string(verify.Skipped), "—")
	}
	text := duration(float64(r.Items) / r.Rate)
	if r.Peer != nil && confirmed(ours) {
		text += fmt.Sprintf(" (%s×)", quantity.Significant(ours.Rate/r.Rate, 2))
	}
	if r.Status == verify.Noisy || ours.Status == verify.Noisy {
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
