package paper

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/report"
	"eccbench/internal/stats"
)

// Print prints a table: its subject, the hardware of both sides, and the published number, the
// measured one and their ratio by series. device is the text for records without a device, or "".
func (p Paper) Print(w io.Writer, f report.Format, t Table, lines []Line, recs bench.Records, device string) error {
	bold := func(s string) string {
		if f == report.Markdown {
			return "**" + s + "**"
		}
		return s
	}
	quote := p.Quote(t, lines)
	fmt.Fprintf(w, "%s\n\n", bold(quote.Title))
	bullet := ""
	if f == report.Markdown {
		bullet = "- "
	}
	for _, a := range quote.About[:len(quote.About)-len(t.Notes)] {
		fmt.Fprintf(w, "%s%s\n", bullet, a)
	}
	for _, m := range machines(recs, device) {
		fmt.Fprintf(w, "%smeasured on: %s\n", bullet, m)
	}
	for _, a := range quote.About[len(quote.About)-len(t.Notes):] {
		fmt.Fprintf(w, "%s%s\n", bullet, a)
	}
	for _, s := range quote.Sections {
		if err := printSection(w, f, bold, s); err != nil {
			return err
		}
	}
	return nil
}

// Quote pairs a table's published numbers with the measured ones: the table's subject, the paper's
// hardware, and a section for each series.
func (p Paper) Quote(t Table, lines []Line) report.Quote {
	q := report.Quote{Title: fmt.Sprintf("%s, %s%s: %s", p.ID, t.name(), page(t.Page), t.About)}
	if p.Published() {
		q.About = append(q.About,
			fmt.Sprintf("paper: %s, %s, doi %s", p.Title, p.Venue, p.DOI),
			fmt.Sprintf("published on: %s; %s, %s/s (%s); memory %s; disk %s", p.Machine.CPU, p.Machine.GPU,
				gigabytes(p.Machine.Bandwidth), p.Machine.BandwidthSource, p.Machine.Memory, p.Machine.Disk))
	}
	for _, n := range t.Notes {
		q.About = append(q.About, "note: "+n)
	}
	said := map[string]bool{} // notes printed so far: a record may be in several sections
	for i, l := range lines {
		if i > 0 && lines[i-1].Series.Title == l.Series.Title {
			continue
		}
		end := i
		for end < len(lines) && lines[end].Series.Title == l.Series.Title {
			end++
		}
		q.Sections = append(q.Sections, section(t, lines[i:end], said))
	}
	return q
}

// page formats the page or section of a table, "" for none.
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

// machines describes the machines of the records, one per line.
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
		m := fmt.Sprintf("%s, %d cores; %s; memory %s",
			r.Machine.CPU, r.Machine.Cores, strings.Join(devices, "; "), quantity.Bytes(r.Machine.Memory))
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// section returns the lines of one series as a section.
func section(t Table, lines []Line, said map[string]bool) report.QuoteSection {
	series := lines[0].Series
	s := report.QuoteSection{Title: fmt.Sprintf("%s, scope %s", series.Title, series.Scope)}
	if c := t.column(series.Column); c.What != "" {
		s.Title += ", beside " + c.What
	}
	shares := []string{"% of bandwidth, published", "% of bandwidth, here"}
	if series.Scope == bench.File {
		shares = []string{"% of the time the disk's, published", "% of the disk's rate, here"}
	}
	s.Header = []string{"data", "size", "implementation", "published", "here", "× published", shares[0], shares[1],
		"residual", "flags", "parts, published", "parts of one more call, here"}
	note := func(format string, args ...any) {
		if n := fmt.Sprintf(format, args...); !said[n] {
			said[n], s.Notes = true, append(s.Notes, n)
		}
	}
	for _, l := range lines {
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
		s.Rows = append(s.Rows, l.row(t))
	}
	if series.Scope == bench.File {
		for _, d := range diskShares(lines) {
			note("%s", d)
		}
	}
	leaveOut(&s, "residual", "flags", "parts, published", "parts of one more call, here")
	return s
}

// row returns the line as a row of its section.
func (l Line) row(t Table) report.QuoteRow {
	published, here, ratio := "—", cmp.Or(l.state(), "—"), "—"
	if l.Published.V > 0 {
		published = l.number(l.Published.V)
	}
	if l.Measured > 0 {
		here = l.number(l.Measured) + l.Mark
	}
	row := report.QuoteRow{Impl: l.Impl}
	if l.Ratio > 0 {
		ratio = quantity.Significant(l.Ratio, 3)
	} else if l.Why != "" && l.Measured > 0 {
		ratio, row.Why = report.NotComparable, l.Why
	}
	text := func(s string) report.QuoteCell { return report.QuoteCell{Text: s} }
	number := func(s string, v float64) report.QuoteCell { return report.QuoteCell{Text: s, Value: &v} }
	row.Cells = []report.QuoteCell{
		text(l.data()), number(l.Row.Label, float64(l.Row.Voxels())), text(l.Impl),
		number(published, l.Published.V), number(here, l.Measured), number(ratio, l.Ratio),
		number(quantity.Percent(l.PublishedShare, 3), l.PublishedShare), number(quantity.Percent(l.Share, 3), l.Share),
		number(residual(l.Residual), l.Residual), text(strings.Join(l.flags(), " ")), text(l.publishedParts(t)),
		text(l.parts()),
	}
	return row
}

// diskBound is the share of a disk's rate from which a row is bound by the disk.
const diskBound = 0.9

// diskShares describes by implementation how close its rows are to the rate of their disk. It
// reports the median too, because a disk's speed varies between runs.
func diskShares(lines []Line) []string {
	var impls, said []string
	shares := map[string][]float64{}
	for _, l := range lines {
		if l.Share > 0 && l.Mark == "" && l.Measured > 0 {
			if shares[l.Impl] == nil {
				impls = append(impls, l.Impl)
			}
			shares[l.Impl] = append(shares[l.Impl], 100*l.Share)
		}
	}
	for _, impl := range impls {
		var all span
		reach := 0
		for _, s := range shares[impl] {
			all.add(s)
			if s >= 100*diskBound {
				reach++
			}
		}
		said = append(said,
			fmt.Sprintf("%s: %d of %d rows that read a disk do so at %.0f %% of its rate or more; they are at %s %%, their "+
				"median at %s %%",
				impl, reach, all.n, 100*diskBound, all, quantity.Significant(stats.Median(shares[impl]), 3)))
	}
	return said
}

// printSection prints a section. The reasons for missing and incomparable numbers are below it.
func printSection(w io.Writer, f report.Format, bold func(string) string, s report.QuoteSection) error {
	fmt.Fprintf(w, "\n%s\n\n", bold(s.Title))
	var cells [][]string
	var whys []string
	for _, r := range s.Rows {
		var line []string
		for _, c := range r.Cells {
			line = append(line, c.Text)
		}
		cells = append(cells, line)
		if why := report.NotComparable + ": " + r.Why; r.Why != "" && !slices.Contains(whys, why) {
			whys = append(whys, why)
		}
	}
	if err := report.Table(w, f, s.Header, cells); err != nil {
		return err
	}
	for i, n := range append(whys, s.Notes...) {
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

// leaveOut deletes the empty ones of the named columns.
func leaveOut(s *report.QuoteSection, names ...string) {
	for i := len(s.Header) - 1; i >= 0; i-- {
		if slices.Contains(names, s.Header[i]) && !slices.ContainsFunc(s.Rows,
			func(r report.QuoteRow) bool { return r.Cells[i].Text != "" }) {
			s.Header = slices.Delete(s.Header, i, i+1)
			for k := range s.Rows {
				s.Rows[k].Cells = slices.Delete(s.Rows[k].Cells, i, i+1)
			}
		}
	}
}

func residual(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2g", v)
}
