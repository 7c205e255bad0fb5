package assess

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"eccbench/internal/cli"
	"eccbench/internal/command/answering"
	"eccbench/internal/report"
	"eccbench/internal/workloads/assess"
)

// writeAssessed writes the comparison of one pair.
func writeAssessed(w io.Writer, format string, a assessed) error {
	switch format {
	case "json":
		return answering.WriteJSON(w, a.document())
	case "csv":
		lines := [][]string{append([]string{"label", "connectivity"}, a.columns()...)}
		for _, row := range a.rows() {
			lines = append(lines, row.cells())
		}
		return writeCSV(w, a.head(), lines)
	}
	var picture strings.Builder
	if format == "html" {
		if err := a.drawSlices(&picture); err != nil {
			return err
		}
	}
	title := fmt.Sprintf("assess: %s against %s, %s", a.predName, a.truth, a.extent())
	return writeTables(w, format, title, preamble(a), a.tables(), picture.String())
}

// writeCSV writes lines of CSV below a comment.
func writeCSV(w io.Writer, comment string, lines [][]string) error {
	if _, err := fmt.Fprintf(w, "# %s\n", comment); err != nil {
		return err
	}
	return report.WriteCSV(w, lines)
}

// writeTables writes readable tables below a title and lines about them, and in HTML a picture.
func writeTables(w io.Writer, format, title, about string, tables []assessTable, picture string) error {
	var text strings.Builder
	if format == "html" {
		for _, t := range tables {
			label := cmp.Or(t.title, strings.Join(t.header, ", "))
			text.WriteString("\n" + report.HTMLTable(label, t.header, t.cells))
		}
		if picture != "" {
			text.WriteString("<figure>" + picture + "</figure>\n")
		}
		return report.HTMLDocument(w, title, about, text.String())
	}
	fmt.Fprintf(&text, "%s\n%s", title, about)
	for _, t := range tables {
		if t.title != "" {
			fmt.Fprintf(&text, "\n%s:", t.title)
		}
		text.WriteString("\n")
		if err := t.write(&text, format == "md"); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// head returns the first line of the output: images, implementation, witness and version.
func (a assessed) head() string {
	return fmt.Sprintf("assess: %s against %s: %s, by %s, VERIFIED by %s, %s", a.predName, a.truth, a.extent(),
		a.answer.By, a.answer.Witness, cli.Version())
}

// preamble returns the lines below the names of the images: the verdict and the connectivities.
func preamble(a assessed) string {
	return fmt.Sprintf("VERIFIED by %s; %s\n%s\n", a.answer.Witness, cli.Version(),
		strings.Join(a.connectivities(), "\n"))
}

// connectivities returns, for each construction, the connectivities of foreground and background.
func (a assessed) connectivities() (list []string) {
	for _, c := range a.constructions {
		inside, outside := assess.Connectivity(c, a.dims), assess.Connectivity(1-c, a.dims)
		list = append(list, fmt.Sprintf("connectivity %d (construction %s): foreground %d-, background %d-connected",
			inside, []string{"T", "V"}[c], inside, outside))
	}
	return list
}

// An assessRow is the numbers of a label in one connectivity.
type assessRow struct {
	label        string
	connectivity int
	columns      []string
	values       []float64
}

// patchColumns are the names of the mean errors over patches.
var patchColumns = []string{"patch_chi_error", "patch_b0_error", "patch_b1_error", "patch_b2_error"}

// sizeColumns returns the columns of the sizes of masks in 2 or 3 dimensions.
func sizeColumns(dims int) []string {
	if dims == 2 {
		return []string{"area_pred_mm2", "area_truth_mm2", "perimeter_pred_mm", "perimeter_truth_mm"}
	}
	return []string{"volume_pred_mm3", "volume_truth_mm3", "surface_pred_mm2", "surface_truth_mm2"}
}

// columns are the names of the numbers of a row.
func (a assessed) columns() []string {
	list := assess.Columns()
	if a.sizes != nil {
		list = append(list, sizeColumns(a.dims)...)
	}
	if a.patches != nil {
		list = append(list, patchColumns...)
	}
	return list
}

func (a assessed) rows() (list []assessRow) {
	for i, set := range a.sets {
		for _, k := range a.constructions {
			row := assessRow{set.Name, assess.Connectivity(k, a.dims), a.columns(),
				a.answer.Out[i].Values(k, a.shape.Dim())}
			if a.sizes != nil {
				row.values = append(row.values, a.sizes[i]...)
			}
			if a.patches != nil {
				row.values = append(row.values, a.patches[len(list)]...)
			}
			list = append(list, row)
		}
	}
	return list
}

// cells returns the cells of the row in CSV.
func (r assessRow) cells() []string {
	cells := []string{r.label, strconv.Itoa(r.connectivity)}
	for _, v := range r.values {
		cells = append(cells, number(v))
	}
	return cells
}

// number formats a number for CSV; it returns "" for an undefined number.
func number(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// MarshalJSON writes the row as an object by column, with null for an undefined number.
func (r assessRow) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	name, err := json.Marshal(r.label)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, `{"label":%s,"connectivity":%d`, name, r.connectivity)
	for i, column := range r.columns {
		v := number(r.values[i])
		if v == "" {
			v = "null"
		}
		fmt.Fprintf(&b, `,%q:%s`, column, v)
	}
	return []byte(b.String() + "}"), nil
}

// An assessDocument is a comparison as JSON.
type assessDocument struct {
	Pred           string      `json:"pred"`
	Truth          string      `json:"truth"`
	Method         string      `json:"method,omitempty"`
	Shape          string      `json:"shape"`
	Implementation string      `json:"implementation"`
	Verdict        string      `json:"verdict"`
	Witness        string      `json:"witness"`
	Program        string      `json:"program"`
	Connectivity   string      `json:"connectivity"`
	Rows           []assessRow `json:"rows"`
}

func (a assessed) document() assessDocument {
	return assessDocument{a.predName, a.truth, a.method, a.extent(), a.answer.By, "VERIFIED",
		a.answer.Witness, cli.Version(), strings.Join(a.connectivities(), "; "), a.rows()}
}

// An assessTable is a table of the readable output.
type assessTable struct {
	title  string // optional
	header []string
	cells  [][]string
}

// tables returns the tables of voxels, of the numbers of both images, and of matched features.
func (a assessed) tables() []assessTable {
	voxels := assessTable{header: []string{"label", "voxels P", "voxels T", "common", "Dice", "IoU", "volume error"}}
	first := assessTable{header: []string{"label", "conn.", "χ P", "χ T", "error", "b0 P", "b0 T", "error"}}
	second := assessTable{header: []string{"label", "conn.", "b1 P", "b1 T", "error", "b2 P", "b2 T", "error"}}
	matched := assessTable{header: []string{"label", "conn.", "matched b0", "error", "matched b1", "error",
		"matched b2", "error"}}
	if a.dims == 2 {
		second.header, matched.header = second.header[:5], matched.header[:6]
	}
	for i, set := range a.sets {
		c := a.answer.Out[i]
		change := "—"
		if c.Truth != 0 {
			change = fmt.Sprintf("%+.2f %%", 100*c.VolumeError())
		}
		voxels.cells = append(voxels.cells, []string{set.Name, fmt.Sprint(c.Pred), fmt.Sprint(c.Truth),
			fmt.Sprint(c.Both), ratio(c.Dice()), ratio(c.IoU()), change})
		for _, k := range a.constructions {
			row := []string{set.Name, fmt.Sprint(assess.Connectivity(k, a.dims))}
			values := c.Values(k, a.shape.Dim())
			at := func(from, n int) (cells []string) {
				for _, v := range values[from : from+n] {
					cells = append(cells, fmt.Sprint(int64(v)))
				}
				return append(append([]string{}, row...), cells...)
			}
			const numbers, dims = 6, 18 // the columns of χ and of the first matched features
			first.cells = append(first.cells, at(numbers, 6))
			second.cells = append(second.cells, at(numbers+6, 3*(a.dims-1)))
			cells := append([]string{}, row...)
			for dim := range a.dims {
				v := values[dims+4*dim:]
				cells = append(cells, between(v[0], v[1]), between(v[2], v[3]))
			}
			matched.cells = append(matched.cells, cells)
		}
	}
	list := []assessTable{voxels, first, second, matched}
	if a.sizes != nil {
		list = slices.Insert(list, 1, a.sizeTable())
	}
	if a.patches != nil {
		list = append(list, a.patchTable())
	}
	return list
}

// sizeTable returns the table of the sizes of masks in millimetres.
func (a assessed) sizeTable() assessTable {
	t := assessTable{header: []string{"label", "mm³ P", "mm³ T", "surface P, mm²", "surface T, mm²"}}
	if a.dims == 2 {
		t.header = []string{"label", "mm² P", "mm² T", "perimeter P, mm", "perimeter T, mm"}
	}
	for i, set := range a.sets {
		cells := []string{set.Name}
		for _, v := range a.sizes[i] {
			cells = append(cells, fmt.Sprintf("%.6g", v))
		}
		t.cells = append(t.cells, cells)
	}
	return t
}

// patchTable returns the table of the mean errors over patches.
func (a assessed) patchTable() assessTable {
	t := assessTable{header: []string{"label", "conn.", "χ error by patch", "b0 error", "b1 error",
		"b2 error"}[:3+a.dims]}
	for i, row := range a.rows() {
		cells := []string{row.label, fmt.Sprint(row.connectivity)}
		for _, v := range a.patches[i][:1+a.dims] {
			cells = append(cells, strconv.FormatFloat(v, 'f', 4, 64))
		}
		t.cells = append(t.cells, cells)
	}
	return t
}

// between formats a number that is known to lie in an interval.
func between(least, most float64) string {
	if least == most {
		return fmt.Sprint(int64(least))
	}
	return fmt.Sprintf("%d to %d", int64(least), int64(most))
}

func ratio(v float64) string {
	if math.IsNaN(v) {
		return "—"
	}
	return strconv.FormatFloat(v, 'f', 4, 64)
}

// write prints a table as Markdown, or aligned to the right.
func (t assessTable) write(w io.Writer, markdown bool) error {
	if markdown {
		return report.Table(w, report.Markdown, t.header, t.cells)
	}
	widest := utf8.RuneCountInString(t.header[0])
	for _, row := range t.cells {
		widest = max(widest, utf8.RuneCountInString(row[0]))
	}
	table := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	for _, row := range append([][]string{t.header}, t.cells...) {
		name := row[0] + strings.Repeat(" ", widest-utf8.RuneCountInString(row[0]))
		fmt.Fprintf(table, "%s\t%s\t\n", name, strings.Join(row[1:], "\t"))
	}
	return table.Flush()
}
