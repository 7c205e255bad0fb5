package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// Verdicts prints the verdicts of each workload below its name: see InputsByVerdict. If a cell was
// measured again, its last record counts.
func Verdicts(w io.Writer, f Format, cells []bench.CellRecord) error {
	var titles []string
	byWorkload, last := map[string][]bench.CellRecord{}, map[bench.CellKey]int{}
	for i, c := range cells {
		c.Judge = ""
		last[c.Key()] = i
	}
	for i, c := range cells {
		c.Judge = ""
		if last[c.Key()] != i {
			continue
		}
		if byWorkload[c.Workload] == nil {
			titles = append(titles, c.Workload)
		}
		byWorkload[c.Workload] = append(byWorkload[c.Workload], c)
	}
	for i, title := range titles {
		if f == Markdown {
			title = "## " + title + "\n"
		}
		if i > 0 {
			title = "\n" + title
		}
		fmt.Fprintln(w, title)
		if err := InputsByVerdict(w, f, byWorkload[titles[i]], false); err != nil {
			return err
		}
	}
	return nil
}

// InputsByVerdict prints the number of inputs by implementation and status, and below it the other
// cells than VERIFIED ones, with their evidence. Cells with the same reason to be skipped or to crash
// are listed once. In Markdown this applies to all cells of one implementation and status, and peers
// have their version.
func InputsByVerdict(w io.Writer, f Format, cells []bench.CellRecord, evidence bool) error {
	alike, err := countVerdicts(w, f, cells)
	if err != nil {
		return err
	}
	for _, c := range cells {
		same := alike[kind(f, c)]
		delete(alike, kind(f, c))
		if len(same) > 0 && c.Status != verify.Verified {
			if _, err := io.WriteString(w, verdict(f, c, same)); err != nil {
				return err
			}
		}
		if evidence {
			fmt.Fprintf(w, "\n%s %s\n", c.Impl, c.Input)
			for _, e := range c.Evidence {
				fmt.Fprintf(w, "  %s\n", e)
			}
		}
	}
	return nil
}

// countVerdicts prints the table of InputsByVerdict. It returns the implementations of all cells of a kind.
func countVerdicts(w io.Writer, f Format, cells []bench.CellRecord) (alike map[string][]string, err error) {
	statuses := []verify.Status{verify.Verified, verify.Wrong, verify.Unverified, verify.Skipped, verify.Crashed,
		verify.Timeout}
	var impls []string
	name := map[string]string{}
	alike = map[string][]string{}
	inputs, witnesses, count := map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range cells {
		if !slices.Contains(impls, c.Impl) {
			impls, name[c.Impl] = append(impls, c.Impl), c.Impl
			if c.Peer != nil && f == Markdown {
				name[c.Impl] += " " + c.Peer.Version
			}
		}
		inputs[c.Impl]++
		count[c.Impl+string(c.Status)]++
		count[string(c.Status)]++
		alike[kind(f, c)] = append(alike[kind(f, c)], c.Impl)
		for _, e := range c.Evidence {
			if e.Passed {
				witnesses[c.Impl]++
			}
		}
	}
	if f == Text { // columns of 0 would make it wider than 80
		statuses = slices.DeleteFunc(statuses, func(s verify.Status) bool {
			return s != verify.Verified && s != verify.Wrong && count[string(s)] == 0
		})
	}
	header := []string{"implementation", "inputs", "witnesses"}
	for _, s := range statuses {
		header = append(header, string(s))
	}
	var table [][]string
	for _, impl := range impls {
		line := []string{name[impl], fmt.Sprint(inputs[impl]), fmt.Sprint(witnesses[impl])}
		for _, s := range statuses {
			line = append(line, fmt.Sprint(count[impl+string(s)]))
		}
		table = append(table, line)
	}
	if err := Table(w, f, header, table); err != nil {
		return nil, err
	}
	if f == Markdown && count[string(verify.Verified)] < len(cells) {
		fmt.Fprintln(w)
	}
	return alike, nil
}

// verdict returns the lines about a cell and the implementations of all cells of its kind.
func verdict(f Format, c bench.CellRecord, same []string) string {
	inputs := ""
	if len(same) > 1 {
		inputs = fmt.Sprintf(" (%d inputs)", len(same))
	}
	who := c.Impl + " " + Prose(f, c.Input)
	if c.Status == verify.Skipped {
		slices.Sort(same)
		who, inputs = strings.Join(slices.Compact(same), ", "), ""
	}
	text := fmt.Sprintf("%s: %s: %s%s\n", who, c.Status, Prose(f, c.Reason), inputs)
	if f == Markdown {
		text = "- " + text
		if c.Reproduce != "" {
			text += "  `" + c.Reproduce + "`\n"
		}
		return text
	}
	for _, e := range c.Evidence {
		if e.Diff != nil && e.Diff.Context != "" {
			text += "  " + strings.ReplaceAll(e.Diff.Context, "\n", "\n  ") + "\n"
		}
	}
	if c.Reproduce != "" {
		text += "  reproduce: " + c.Reproduce + "\n"
	}
	return "\n" + text
}

// kind identifies the cells that share one list entry: see Verdicts.
func kind(f Format, c bench.CellRecord) string {
	switch {
	case c.Status == verify.Skipped:
		return c.Reason
	case f == Markdown:
		return c.Impl + " " + string(c.Status)
	case c.Status == verify.Crashed:
		return c.Impl + " " + strings.ReplaceAll(c.Reason, c.Input, "")
	}
	return fmt.Sprint(c.Key())
}
