package paper

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
)

// Print prints a table: what it is of, the hardware of both sides, and for each
// series the published number, the measured one and their ratio. device says
// what there is instead of a device, "" when the records name one or there is
// nothing to say.
func (p Paper) Print(w io.Writer, f report.Format, t Table, lines []Line, recs bench.Records, device string) error {
	bold := func(s string) string {
		if f == report.Markdown {
			return "**" + s + "**"
		}
		return s
	}
	fmt.Fprintf(w, "%s\n\n", bold(fmt.Sprintf("%s, table %d%s: %s", p.ID, t.N, page(t.Page), t.About)))
	item := func(what, text string) {
		bullet := ""
		if f == report.Markdown {
			bullet = "- "
		}
		fmt.Fprintf(w, "%s%s: %s\n", bullet, what, text)
	}
	if p.Published() {
		item("paper", fmt.Sprintf("%s, %s, doi %s", p.Title, p.Venue, p.DOI))
		item("published on", fmt.Sprintf("%s; %s, %s/s (%s); memory %s; disk %s", p.Machine.CPU, p.Machine.GPU, gigabytes(p.Machine.Bandwidth), p.Machine.BandwidthSource, p.Machine.Memory, p.Machine.Disk))
	}
	for _, m := range machines(recs, device) {
		item("measured on", m)
	}
	for _, n := range t.Notes {
		item("note", n)
	}
	said := map[string]bool{} // a record may stand in several sections
	for i, l := range lines {
		if i > 0 && lines[i-1].Series.Title == l.Series.Title {
			continue
		}
		end := i
		for end < len(lines) && lines[end].Series.Title == l.Series.Title {
			end++
		}
		if err := p.section(w, f, bold, t, lines[i:end], said); err != nil {
			return err
		}
	}
	return nil
}

// page says where in a paper a table is, "" for nowhere.
func page(p string) string {
	switch {
	case p == "":
		return ""
	case strings.Contains(p, "section"):
		return " (" + p + ")"
	}
	return " (page " + p + ")"
}

func gigabytes(v float64) string { return quantity.Significant(v/1e9, 3) + " GB" }

// machines says what the records were measured on, one line for each machine.
func machines(recs bench.Records, device string) []string {
	var list []string
	for _, r := range recs.Runs {
		devices := slices.Clone(r.Machine.Devices)
		ran := false
		for _, c := range recs.Cells {
			ran = ran || c.Run == r.ID
			if c.Run == r.ID && c.Device != "" && !slices.Contains(devices, c.Device) {
				devices = append(devices, c.Device)
			}
		}
		if !ran && len(recs.Runs) > 1 {
			continue
		}
		if len(devices) == 0 {
			devices = []string{"no device"}
			if device != "" {
				devices[0] += " (" + device + ")"
			}
		}
		m := fmt.Sprintf("%s, %d cores; %s; memory %s", r.Machine.CPU, r.Machine.Cores, strings.Join(devices, "; "), quantity.Bytes(r.Machine.Memory))
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// section prints the lines of one series.
func (p Paper) section(w io.Writer, f report.Format, bold func(string) string, t Table, lines []Line, said map[string]bool) error {
	s := lines[0].Series
	title := fmt.Sprintf("%s, scope %s", s.Title, s.Scope)
	if c := t.column(s.Column); c.What != "" {
		title += ", beside " + c.What
	}
	fmt.Fprintf(w, "\n%s\n\n", bold(title))
	share := "% of bandwidth"
	if s.Scope == bench.File {
		share = "% at the disk's rate"
	}
	header := []string{"data", "size", "implementation", "published", "here", "× published", share + ", published", share + ", here", "flags", "parts, published", "parts, here"}
	var cells [][]string
	var notes, whys []string
	note := func(format string, args ...any) {
		if n := fmt.Sprintf(format, args...); !said[n] {
			said[n], notes = true, append(notes, n)
		}
	}
	for _, l := range lines {
		published, here, ratio := "—", "—", "—"
		if l.Published.V > 0 {
			published = l.number(l.Published.V)
		}
		if l.Measured > 0 {
			here = l.number(l.Measured) + l.Mark
		} else if state := l.state(); state != "" {
			here = state
		}
		if l.Ratio > 0 {
			ratio = quantity.Significant(l.Ratio, 3)
		} else if l.Why != "" && l.Measured > 0 {
			ratio = "not comparable"
			if why := "not comparable: " + l.Why; !slices.Contains(whys, why) {
				whys = append(whys, why)
			}
		}
		switch {
		case l.Note == "" || l.short():
		case strings.HasPrefix(l.Note, l.state()):
			note("%s %s: %s", l.data(), l.Row.Label, l.Note)
		case l.Status == "":
			note("%s %s: not run: %s", l.data(), l.Row.Label, l.Note)
		default:
			note("%s %s %s: %s%s: %s", l.Impl, l.data(), l.Row.Label, l.Status, l.Mark, l.Note)
			if l.Reproduce != "" {
				note("  reproduce: %s", l.Reproduce)
			}
		}
		cells = append(cells, []string{l.data(), l.Row.Label, l.Impl, published, here, ratio, percent(l.PublishedShare), percent(l.Share), strings.Join(l.flags(), " "), l.publishedParts(t), l.parts()})
	}
	header, cells = without(header, cells, "flags", "parts, published", "parts, here")
	if err := report.Table(w, f, header, cells); err != nil {
		return err
	}
	for i, n := range append(whys, notes...) {
		if f == report.Markdown {
			if i == 0 {
				fmt.Fprintln(w)
			}
			n = "- " + n
		}
		if _, err := fmt.Fprintln(w, n); err != nil {
			return err
		}
	}
	return nil
}

// without leaves out those of the named columns that are empty.
func without(header []string, cells [][]string, names ...string) ([]string, [][]string) {
	for i := len(header) - 1; i >= 0; i-- {
		if slices.Contains(names, header[i]) && !slices.ContainsFunc(cells, func(row []string) bool { return row[i] != "" }) {
			header = slices.Delete(header, i, i+1)
			for k, row := range cells {
				cells[k] = slices.Delete(row, i, i+1)
			}
		}
	}
	return header, cells
}

func percent(share float64) string {
	if share == 0 {
		return "—"
	}
	return quantity.Significant(share*100, 3) + " %"
}
