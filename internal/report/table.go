package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"

	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// A Format is an output format of a table.
type Format string

// The formats.
const (
	Text     Format = "text"
	Markdown Format = "md"
	CSV      Format = "csv"
	JSON     Format = "json"
)

// Formats lists all formats.
func Formats() []Format { return []Format{Text, Markdown, CSV, JSON} }

// ParseFormat returns the format with a name.
func ParseFormat(s string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if s == string(f) {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("format %q: want one of %s", s, strings.Join(names, ", "))
}

// Throughput prints one table for each class of inputs. Below a table are the reasons for missing
// numbers, and in Markdown the link to its figure. CSV and JSON are one list of all rows.
func Throughput(w io.Writer, f Format, rows []Row, figures ...Figure) error {
	switch f {
	case CSV:
		return throughputCSV(w, rows)
	case JSON:
		return jsonList(w, rows)
	}
	for i, s := range sections(rows) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := s.print(w, f, s.streamed(rows), figures); err != nil {
			return err
		}
	}
	return nil
}

// print prints the table of a section. streamed marks inputs that do not fit in memory.
func (s section) print(w io.Writer, f Format, streamed bool, figures []Figure) error {
	title := s.title
	if f == Markdown {
		title = "**" + Prose(f, title) + "**\n"
	}
	if streamed {
		why := "the inputs of these rows do not fit in memory together: the clock runs over making or reading them too"
		if f == Markdown {
			why += "\n"
		}
		title += "\n" + why
	}
	if _, err := fmt.Fprintln(w, title); err != nil {
		return err
	}
	var cells [][]string
	measures, in := s.measures(), scale(s.rows)
	hidden := ""
	if f == Text && columnsOf(w) > 0 && len(measures) > 0 {
		hidden, measures = strings.Join(measures, ", "), nil
	}
	for _, r := range s.rows {
		if r.Status == verify.Skipped {
			continue
		}
		line := []string{r.Impl, short(r.Size), string(r.Status), r.rate(in), quantity.Percent(r.Ceiling, 3),
			times(r.Speedup)}
		for _, name := range measures {
			line = append(line, r.measure(name))
		}
		cells = append(cells, append(line, strings.Join(r.Flags, " ")))
	}
	if len(cells) > 0 {
		header := append([]string{"implementation", "size", "status", in.Prefix + s.rows[0].Unit, "% of ceiling",
			"× best CPU"}, measures...)
		if err := Table(w, f, append(header, "flags"), cells); err != nil {
			return err
		}
		if hidden != "" {
			fmt.Fprintf(w, "with --wide: %s\n", hidden)
		}
	}
	if i := slices.IndexFunc(figures, func(g Figure) bool { return g.Title == s.title }); i >= 0 && f == Markdown {
		if err := figures[i].markdown(w); err != nil {
			return err
		}
	}
	return notes(w, f, s.rows, len(cells) > 0)
}

// jsonList writes a list as indented JSON, [] if it is nil.
func jsonList[T any](w io.Writer, list []T) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(append([]T{}, list...))
}

// notes prints the reasons for missing or marked numbers, each once, below a table if there is one.
func notes(w io.Writer, f Format, rows []Row, table bool) error {
	type note struct {
		impls []string
		sizes map[string][]string // of each implementation
		what  string
	}
	var list []*note
	for _, r := range rows {
		if r.Status == verify.Verified {
			continue
		}
		what := fmt.Sprintf("%s%s: %s", r.Status, Mark(r.Status), Prose(f, r.Reason))
		if r.Reproduce != "" {
			what += "\n  reproduce: " + Prose(f, r.Reproduce)
		}
		i := slices.IndexFunc(list, func(n *note) bool { return n.what == what })
		if i < 0 {
			i, list = len(list), append(list, &note{what: what, sizes: map[string][]string{}})
		}
		n := list[i]
		if !slices.Contains(n.impls, r.Impl) {
			n.impls = append(n.impls, r.Impl)
		}
		if size := short(r.Size); !slices.Contains(n.sizes[r.Impl], size) {
			n.sizes[r.Impl] = append(n.sizes[r.Impl], size)
		}
	}
	for i, n := range list {
		// Implementations with the same sizes share a line.
		var who, done []string
		for _, impl := range n.impls {
			sizes := strings.Join(proses(f, n.sizes[impl]), ", ")
			if slices.Contains(done, sizes) {
				continue
			}
			done = append(done, sizes)
			same := slices.DeleteFunc(slices.Clone(n.impls),
				func(other string) bool { return !slices.Equal(n.sizes[other], n.sizes[impl]) })
			who = append(who, strings.Join(proses(f, same), ", ")+" "+sizes)
		}
		line := fmt.Sprintf("%s: %s\n", strings.Join(who, "; "), n.what)
		if f == Markdown {
			line = "- " + strings.ReplaceAll(line, "\n  ", "\n    ")
			if i == 0 && table {
				line = "\n" + line
			}
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

func throughputCSV(w io.Writer, rows []Row) error {
	lines := [][]string{{"workload", "impl", "input", "class", "size", "scope", "threads", "status", "rate", "lo", "hi",
		"unit", "of_ceiling", "speedup", "processes", "samples", "flags", "reason", "machine", "program", "device"}}
	number := func(v float64) string {
		if v == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, r := range rows {
		lines = append(lines, []string{r.Workload, r.Impl, r.Input, r.Class, r.Size, string(r.Scope), strconv.Itoa(r.Threads),
			string(r.Status), number(r.Rate), number(r.Lo), number(r.Hi), r.Unit, number(r.Ceiling), number(r.Speedup),
			strconv.Itoa(r.Processes), strconv.Itoa(r.Samples), strings.Join(r.Flags, " "), r.Reason,
			r.Machine, r.Program, r.Device})
	}
	return WriteCSV(w, lines)
}

// WriteCSV writes rows of cells as CSV. csvCell protects against texts that a spreadsheet would
// execute.
func WriteCSV(w io.Writer, lines [][]string) error {
	c := csv.NewWriter(w)
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, s := range line {
			cells[i] = csvCell(s)
		}
		c.Write(cells) // Error reports it
	}
	c.Flush()
	return c.Error()
}

// Table prints a header and rows of cells as text or Markdown.
func Table(w io.Writer, f Format, header []string, cells [][]string) error {
	options := []tablewriter.Option{
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
	}
	if f == Markdown {
		options = append(options, tablewriter.WithRenderer(renderer.NewMarkdown()))
	} else {
		options = append(options, tablewriter.WithRendition(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleLight),
			Settings: tw.Settings{
				Separators: tw.Separators{BetweenRows: tw.Off, BetweenColumns: tw.Off},
				Lines:      tw.Lines{ShowHeaderLine: tw.On},
			},
		}))
	}
	header = escaped(f, header)
	rows := cells
	cells = nil
	for _, row := range rows {
		cells = append(cells, escaped(f, row))
	}
	if limit := columnsOf(w); f == Text && limit > 0 {
		header, cells = fit(header, cells, limit)
	}
	var b bytes.Buffer // the library does not report errors of writes
	t := tablewriter.NewTable(&b, options...)
	t.Header(header)
	if err := t.Bulk(cells); err != nil {
		return fmt.Errorf("printing a table: %w", err)
	}
	if err := t.Render(); err != nil {
		return fmt.Errorf("printing a table: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Compact prints a header and rows of cells as Markdown without padding, for long texts.
func Compact(w io.Writer, header []string, cells [][]string) error {
	lines := [][]string{escaped(Markdown, header), slices.Repeat([]string{"---"}, len(header))}
	for _, row := range cells {
		lines = append(lines, escaped(Markdown, row))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(line, " | ")); err != nil {
			return fmt.Errorf("printing a table: %w", err)
		}
	}
	return nil
}

// escaped escapes the cells of a row for a format.
func escaped(f Format, row []string) []string {
	var out []string
	for _, s := range row {
		out = append(out, cell(f, s))
	}
	return out
}
