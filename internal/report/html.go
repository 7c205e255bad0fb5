package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/verify"
)

// The frame is the page around what is measured.
//
//go:embed page.html
var pageFrame string

// A Page is what one self-contained HTML page shows. It needs nothing of any
// network, and no script to be read.
type Page struct {
	Title   string
	Ceiling string // the workload that bounds the others
	Files   []PageFile
	Quotes  []Quote
	Gate    *Judgement // nil for none
}

// A Quote is a published table beside what was measured.
type Quote struct {
	Title    string
	About    []string // the publication, its hardware, notes
	Sections []QuoteSection
}

// A QuoteSection is one quantity of a published table.
type QuoteSection struct {
	Title  string
	Header []string
	Rows   []QuoteRow
	Notes  []string
}

// A QuoteRow is one implementation on one input. Why says why the number that was
// measured is not divided by the published one, "" when it is or there is none.
type QuoteRow struct {
	Impl  string
	Cells []QuoteCell
	Why   string
}

// A QuoteCell is a text, or a number to sort by as it is printed.
type QuoteCell struct {
	Text  string
	Value *float64
}

// NotComparable stands where a ratio cannot.
const NotComparable = "not comparable"

// Explains reports whether a cell is the one that Why is about.
func (r QuoteRow) Explains(c QuoteCell) bool { return r.Why != "" && c.Text == NotComparable }

// Shown is the cell's text on a page, where there is room for why.
func (r QuoteRow) Shown(c QuoteCell) string {
	if r.Explains(c) {
		return c.Text + ": " + r.Why
	}
	return c.Text
}

// A PageFile is a results file, which can be downloaded from the page.
type PageFile struct {
	Name    string
	Raw     []byte
	Records bench.Records
}

// A Judgement is what a gate decided, to be drawn.
type Judgement struct {
	Verdict, Reason, Noise string
	About                  []string        // which programs, and how
	Run                    bench.RunRecord // of the candidate, where it is known, and the machine
	Changes                []Change
	Raw                    []byte // what can be downloaded as gate.json
}

// A Change is of one cell's time, as shares: 0.05 takes 5 % longer. Without an
// interval Lo and Hi are nil.
type Change struct {
	Impl, Input, Scope, Decision, Reason, Reproduce string
	Notes                                           []string // what else was found of the cell
	Change                                          *float64
	Lo, Hi                                          *float64
	Effect                                          float64 // the least change that matters
}

// HTML writes the page.
func HTML(w io.Writer, p Page) error {
	view, err := viewPage(p)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, VisibleText(string(view.markup())))
	return err
}

// The view is what the page prints.
type pageView struct {
	Title      string
	Gate       *Judgement
	Statuses   []string // "12 VERIFIED"
	Noise      string
	Machines   []markup
	Impls      []string
	Tables     []pageTable
	Quotes     []Quote
	Forests    []forest
	Unmeasured []Row
	Downloads  []download
}

type pageTable struct {
	Title, Unit string
	Rows        []pageRow
	Figure      markup
}

type pageRow struct {
	Row
	Shown                              string // the rate as the text tables print it
	OfCeiling, Over, Joined            string
	SortRate, SortCeiling, SortSpeedup float64
}

type download struct {
	Name string
	Href string
	Size string
}

func viewPage(p Page) (*pageView, error) {
	v := &pageView{Title: p.Title, Gate: p.Gate, Quotes: p.Quotes}
	var all bench.Records
	for _, f := range p.Files {
		all.Runs, all.Cells = append(all.Runs, f.Records.Runs...), append(all.Cells, f.Records.Cells...)
		v.Downloads = append(v.Downloads, newDownload(f.Name, mediaType(f.Name), f.Raw))
	}
	var rows []Row
	for _, f := range p.Files {
		of := Rows(f.Records, p.Ceiling) // two files are two programs, not more processes of one
		rows = append(rows, of...)
		if err := v.addTables(f.Name, len(p.Files) > 1, of, p.Ceiling); err != nil {
			return nil, err
		}
	}
	v.Statuses, v.Noise = statuses(rows), noiseFloor(rows)
	if p.Gate != nil && len(all.Runs) == 0 {
		all.Runs = append(all.Runs, p.Gate.Run)
	}
	if len(all.Runs) > 0 {
		var b strings.Builder
		machineHTML(&b, all)
		v.Machines = append(v.Machines, markup(b.String()))
	}
	if p.Gate != nil {
		v.Forests = append(v.Forests, gateForest(*p.Gate))
		v.Downloads = append(v.Downloads, newDownload("gate.json", "application/json", p.Gate.Raw))
	}
	if len(p.Files) == 2 {
		if f := compareForest(p.Files[0], p.Files[1]); len(f.Rows) > 0 {
			v.Forests = append(v.Forests, f)
		}
	}
	for _, f := range v.Forests {
		for _, r := range f.Rows {
			if !slices.Contains(v.Impls, r.Name) {
				v.Impls = append(v.Impls, r.Name)
			}
		}
	}
	if len(rows) > 0 {
		var b bytes.Buffer
		if err := throughputCSV(&b, rows); err != nil {
			return nil, err
		}
		v.Downloads = append(v.Downloads, newDownload("rows.csv", "text/csv", b.Bytes()))
	}
	return v, nil
}

// mediaType is that of a results file.
func mediaType(name string) string {
	if strings.HasSuffix(name, ".zst") {
		return "application/zstd"
	}
	return "application/jsonl"
}

// addTables adds the tables of one file, named after it where there are several.
func (v *pageView) addTables(file string, several bool, rows []Row, ceiling string) error {
	figures, err := Figures(rows, ceiling)
	if err != nil {
		return err
	}
	for _, s := range sections(rows) {
		in := scale(s.rows)
		t := pageTable{Title: s.title, Unit: in.Prefix + s.rows[0].Unit}
		if several {
			t.Title = file + ": " + s.title
		}
		for _, r := range s.rows {
			if !slices.Contains(v.Impls, r.Impl) {
				v.Impls = append(v.Impls, r.Impl)
			}
			if r.Status != verify.Verified {
				v.Unmeasured = append(v.Unmeasured, r)
			}
			if r.Status == verify.Skipped {
				continue
			}
			t.Rows = append(t.Rows, pageRow{
				Row: r, Shown: r.rate(in), OfCeiling: percent(r.Ceiling), Over: times(r.Speedup), Joined: strings.Join(r.Flags, ", "),
				SortRate: r.Rate, SortCeiling: r.Ceiling, SortSpeedup: r.Speedup,
			})
		}
		if i := slices.IndexFunc(figures, func(f Figure) bool { return f.Title == s.title }); i >= 0 {
			t.Figure = inlineSVG(figures[i].SVG)
		}
		v.Tables = append(v.Tables, t)
	}
	return nil
}

// statuses counts the rows by status, the most important first.
func statuses(rows []Row) []string {
	var list []string
	for _, s := range verify.Statuses() {
		n := 0
		for _, r := range rows {
			if r.Status == s {
				n++
			}
		}
		if n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n, s))
		}
	}
	return list
}

// noiseFloor says how wide the intervals of the numbers are.
func noiseFloor(rows []Row) string {
	var halves []float64
	for _, r := range rows {
		if half := max(r.Hi-r.Rate, r.Rate-r.Lo) / r.Rate; r.Rate > 0 && r.Hi > r.Lo && !math.IsInf(half, 0) {
			halves = append(halves, half)
		}
	}
	if len(halves) == 0 {
		return ""
	}
	slices.Sort(halves)
	return fmt.Sprintf("half of the numbers are known to ±%s %% or better, the worst to ±%s %%. A difference within that is none.",
		quantity.Significant(halves[len(halves)/2]*100, 2), quantity.Significant(halves[len(halves)-1]*100, 2))
}

// machineHTML prints the machines as rows of a table.
func machineHTML(b *strings.Builder, all bench.Records) {
	header, rows := machines(all)
	b.WriteString("<table>")
	for i, row := range append([][]string{header}, rows...) {
		b.WriteString("<tr>")
		for k, text := range row {
			text = html.EscapeString(text)
			switch {
			case i == 0:
				fmt.Fprintf(b, `<th scope="col">%s</th>`, text)
			case k == 0:
				fmt.Fprintf(b, `<th scope="row">%s</th>`, text)
			default:
				fmt.Fprintf(b, "<td>%s</td>", text)
			}
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table>")
}

// inlineSVG is a drawing as part of a page: without the XML header, and hidden
// from screen readers, which have the table.
func inlineSVG(svg []byte) markup {
	_, drawing, _ := strings.Cut(string(svg), "<svg")
	return markup(`<svg aria-hidden="true" focusable="false"` + drawing)
}
