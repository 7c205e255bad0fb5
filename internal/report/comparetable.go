package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// Comparisons prints comparisons as one table per scope or as a JSON list. The reasons for missing
// ratios are below each table. nameA and nameB name A and B.
func Comparisons(w io.Writer, f Format, nameA, nameB string, list []Comparison) error {
	switch f {
	case JSON:
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		if list == nil {
			list = []Comparison{}
		}
		return e.Encode(list)
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
	var cells [][]string
	type note struct {
		what  string
		cells []string
	}
	var notes []note
	for _, c := range list {
		// A cell that was skipped on both sides is left out.
		if c.A != nil && c.B != nil && c.A.Status == verify.Skipped && c.B.Status == verify.Skipped {
			continue
		}
		rate := func(r *Row) string {
			if r == nil {
				return "—"
			}
			return r.rate(quantity.ScaleOf(math.Inf(1), "")) // rows of all units share one column
		}
		remark, why, long := strings.Cut(c.Note, ": ")
		if long {
			i := slices.IndexFunc(notes, func(n note) bool { return n.what == why })
			if i < 0 {
				notes = append(notes, note{what: why})
				i = len(notes) - 1
			}
			notes[i].cells = append(notes[i].cells, c.Impl+" "+c.Input)
		}
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
	for i, n := range notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		bullet := ""
		if f == Markdown {
			bullet = "- "
		}
		if _, err := fmt.Fprintf(w, "%s%s: not comparable: %s\n", bullet, Prose(f, strings.Join(n.cells, ", ")),
			Prose(f, n.what)); err != nil {
			return err
		}
	}
	return nil
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
