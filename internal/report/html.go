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

// pageFrame is the page around the results.
//
//go:embed page.html
var pageFrame string

// A Page is the content of one self-contained HTML page. The page is readable without a network and
// without scripts.
type Page struct {
	Title   string
	Ceiling string // the workload that bounds the others
	Files   []PageFile
	Quotes  []Quote
	Gate    *Judgement // nil without a gate
}

// A Quote is a published table next to our measurements.
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

// A QuoteRow is one implementation on one input. Why gives the reason why the measured number is
// not divided by the published one. It is "" if it is, or if there is no number.
type QuoteRow struct {
	Impl  string
	Cells []QuoteCell
	Why   string
}

// A QuoteCell is a text, or a printed number with the value to sort by.
type QuoteCell struct {
	Text  string
	Value *float64
}

// NotComparable replaces a ratio that has no meaning.
const NotComparable = "not comparable"

// Explains reports whether Why refers to this cell.
func (r QuoteRow) Explains(c QuoteCell) bool { return r.Why != "" && c.Text == NotComparable }

// Shown returns the cell's text for a page, which has room for the reason.
func (r QuoteRow) Shown(c QuoteCell) string {
	if r.Explains(c) {
		return c.Text + ": " + r.Why
	}
	return c.Text
}

// A PageFile is a results file that readers can download from the page.
type PageFile struct {
	Name    string
	Raw     []byte
	Records bench.Records
}

// A Judgement is the result of a gate.
type Judgement struct {
	Verdict, Reason, Noise string
	About                  []string        // the compared programs and the method
	Run                    bench.RunRecord // the candidate's run, if known, and the machine
	Changes                []Change
	Raw                    []byte // offered for download as gate.json
}

// A Change is the relative change of one cell's time: 0.05 is 5 % longer. Lo and Hi are nil without
// an interval.
type Change struct {
	Impl, Input, Scope, Decision, Reason, Reproduce string
	Notes                                           []string // other findings about the cell
	Change                                          *float64
	Lo, Hi                                          *float64
	Effect                                          float64 // the smallest relevant change
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

// A pageView holds the printed content of the page.
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
	Shown                              string // the rate as in the text tables
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
		of := Rows(f.Records, p.Ceiling) // two files are two programs, not more processes of one program
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

// mediaType returns the media type of a results file.
func mediaType(name string) string {
	if strings.HasSuffix(name, ".zst") {
		return "application/zstd"
	}
	return "application/jsonl"
}

// addTables adds the tables of one file. With several files, their titles include its name.
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
				Row: r, Shown: r.rate(in), OfCeiling: quantity.Percent(r.Ceiling, 3), Over: times(r.Speedup),
				Joined:   strings.Join(r.Flags, ", "),
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

// statuses counts the rows by status, in order of importance.
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

// noiseFloor describes the width of the intervals of the numbers.
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
	return fmt.Sprintf("half of the numbers are known to ±%s %% or better, the worst to ±%s %%. A difference within "+
		"that is none.",
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

// inlineSVG embeds a drawing in a page. It omits the XML header, and hides the drawing from screen
// readers, which read the table.
func inlineSVG(svg []byte) markup {
	_, drawing, _ := strings.Cut(string(svg), "<svg")
	return markup(`<svg aria-hidden="true" focusable="false"` + drawing)
}
