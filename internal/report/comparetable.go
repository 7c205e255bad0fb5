package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// Comparisons prints comparisons as one table per scope or as a JSON list. The reasons for missing
// ratios are below each table. nameA and nameB name A and B.
func Comparisons(w io.Writer, f Format, nameA, nameB string, list []Comparison) error {
	switch f {
	case JSON:
		return jsonList(w, list)
	case CSV:
		return fmt.Errorf("comparisons are printed as text, md or json, not as csv")
	}
	format := "A is %s, B is %s. B/A above 1: B is faster.\n"
	if f == Markdown {
		format = "A is `%s`, B is `%s`. B/A above 1: B is faster.\n"
		nameA, nameB = strings.ReplaceAll(line(nameA), "`", "'"), strings.ReplaceAll(line(nameB), "`", "'")
	}
	if _, err := fmt.Fprintf(w, format, nameA, nameB); err != nil {
		return err
	}
	rate := func(r *Row) string {
		if r == nil {
			return "—"
		}
		return r.rate(quantity.ScaleOf(math.Inf(1), "")) // rows of all units share one column
	}
	var cells [][]string
	for _, c := range list {
		if c.skipped() {
			continue
		}
		remark, _, _ := strings.Cut(c.Note, ": ")
		cells = append(cells, []string{c.Impl, c.Input, string(c.Scope), rate(c.A), rate(c.B), c.ratio(), remark})
	}
	if len(cells) == 0 {
		_, err := fmt.Fprintln(w, "\nNothing ran in either file.")
		return err
	}
	if f == Markdown {
		fmt.Fprintln(w)
	}
	if err := Table(w, f, []string{"implementation", "input", "scope", "A, G/s", "B, G/s", "B/A", "note"},
		cells); err != nil {
		return err
	}
	return notComparable(w, f, list)
}

// notComparable prints the reasons for missing ratios, each once with its cells.
func notComparable(w io.Writer, f Format, list []Comparison) error {
	var reasons []string
	cells := map[string][]string{}
	for _, c := range list {
		if _, why, long := strings.Cut(c.Note, ": "); long && !c.skipped() {
			if cells[why] == nil {
				reasons = append(reasons, why)
			}
			cells[why] = append(cells[why], c.Impl+" "+c.Input)
		}
	}
	bullet := ""
	if f == Markdown {
		bullet = "- "
	}
	for i, why := range reasons {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s%s: not comparable: %s\n", bullet, Prose(f, strings.Join(cells[why], ", ")),
			Prose(f, why)); err != nil {
			return err
		}
	}
	return nil
}

// skipped reports whether the cell was skipped on both sides. It has no row then.
func (c *Comparison) skipped() bool {
	return c.A != nil && c.B != nil && c.A.Status == verify.Skipped && c.B.Status == verify.Skipped
}

// ratio formats the ratio with its interval: "1.050× [1.020, 1.080]".
func (c Comparison) ratio() string {
	if c.Ratio == 0 {
		return "—"
	}
	s := quantity.Significant(c.Ratio, 4) + "×"
	if c.Lo > 0 && c.Hi > 0 {
		s += fmt.Sprintf(" [%s, %s]", quantity.Significant(c.Lo, 4), quantity.Significant(c.Hi, 4))
	}
	return s
}
