// Package paper holds published tables about the workloads of this program as data: every number as
// printed, with its meaning. It finds printed numbers that contradict each other, and compares
// records with the others.
package paper

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
)

//go:embed *.json
var files embed.FS

// A Paper is one publication with its tables.
type Paper struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Authors string  `json:"authors"`
	Venue   string  `json:"venue"`
	DOI     string  `json:"doi"`
	Machine Machine `json:"machine"` // all tables of a paper are from one machine
	Tables  []Table `json:"tables"`
}

// Published reports whether the paper has numbers to compare with; a list of our own has none.
func (p Paper) Published() bool { return p.Machine.GPU != "" }

// A Machine is the hardware of a paper, in its words.
type Machine struct {
	CPU             string  `json:"cpu"`
	GPU             string  `json:"gpu"`
	Bandwidth       float64 `json:"bandwidth"` // of the GPU's memory, bytes a second
	BandwidthSource string  `json:"bandwidth_source"`
	Memory          string  `json:"memory"`
	Disk            string  `json:"disk"`
}

// A Table is one table of a paper.
type Table struct {
	N       int      `json:"table"`
	Figure  int      `json:"figure"` // number of the figure that the table represents, 0 for a table
	Page    string   `json:"page"`   // or section, where the pages are not known
	About   string   `json:"about"`
	Notes   []string `json:"notes"`
	Columns []Column `json:"columns"`
	Series  []Series `json:"series"` // measurements next to the columns
	Rows    []Row    `json:"rows"`
}

// A Column is one kind of number.
type Column struct {
	Key  string `json:"key"`
	Unit string `json:"unit"` // "B", "time" (each number has its own unit), "ms", "x", "Gvox/s", "1" for a plain number
	// Scope is the scope of the paper's clock: one of bench's scopes, "unknown" if the paper is silent,
	// "" for a part of another column.
	Scope bench.Scope `json:"scope"`
	What  string      `json:"what"`
	// Derived are the two columns whose quotient the column is. The keys "voxels" and "count" mean the
	// row's own.
	Derived []string `json:"derived"`
}

// A Row is one input.
type Row struct {
	Data    string   `json:"data"`
	Label   string   `json:"label"` // as printed
	Path    string   `json:"path"`  // of the file of the package Data, "" for an image that can be generated
	Shape   string   `json:"shape"`
	Type    string   `json:"type"`
	Levels  int64    `json:"levels"` // distinct values of an image, at most
	Count   int64    `json:"count"`  // files or iterations, 0 for one
	Printed []string `json:"printed"`
	// Complex is the name of a simplicial complex, for a row without an image. Simplices is its number
	// of simplices.
	Complex   string `json:"complex"`
	Simplices int64  `json:"simplices"`
	// PrintedCount is the count that the paper prints if it differs from Count.
	PrintedCount int64 `json:"printed_count"`
}

// List returns all papers.
func List() ([]Paper, error) {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("published tables: %w", err)
	}
	var list []Paper
	for _, e := range entries {
		data, err := files.ReadFile(e.Name())
		if err != nil {
			return nil, fmt.Errorf("published tables: %w", err)
		}
		var p Paper
		d := json.NewDecoder(bytes.NewReader(data))
		d.DisallowUnknownFields()
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("published tables %s: %w", e.Name(), err)
		}
		list = append(list, p)
	}
	return list, nil
}

// Find returns the paper with an ID.
func Find(id string) (Paper, error) {
	list, err := List()
	if err != nil {
		return Paper{}, err
	}
	var ids []string
	for _, p := range list {
		if p.ID == id {
			return p, nil
		}
		ids = append(ids, p.ID)
	}
	return Paper{}, fmt.Errorf("no paper %q: want one of %s", id, strings.Join(ids, ", "))
}

// Table returns the table with a number.
func (p Paper) Table(n int) (Table, error) {
	for _, t := range p.Tables {
		if t.N == n {
			return t, nil
		}
	}
	return Table{}, fmt.Errorf("%s has no table %d: want 1 to %d", p.ID, n, len(p.Tables))
}

// name returns the table's name, which may be a figure's.
func (t Table) name() string {
	if t.Figure > 0 {
		return fmt.Sprintf("figure %d", t.Figure)
	}
	return fmt.Sprintf("table %d", t.N)
}

// Voxels returns the number of voxels of one image of the row, or of simplices of a complex.
func (r Row) Voxels() int64 {
	if r.Complex != "" {
		return r.Simplices
	}
	return r.shape().Voxels()
}

// Bytes returns the size of one image of the row.
func (r Row) Bytes() int64 {
	t, err := grid.ParseType(r.Type)
	if err != nil {
		return 0 // a test checks the type of every row
	}
	return r.Voxels() * t.Size()
}

// Times returns the number of files or iterations of the row, at least 1.
func (r Row) Times() int64 { return max(1, r.Count) }

func (r Row) shape() grid.Shape {
	s, err := grid.ParseShape(r.Shape)
	if err != nil {
		return grid.Shape{} // a test checks the shape of every row
	}
	return s
}

// Dim returns 2 or 3.
func (r Row) Dim() int { return r.shape().Dim() }

// Value returns a row's number in the column with a key, and whether it has one.
func (t Table) Value(r Row, key string) (Value, bool) {
	for i, c := range t.Columns {
		if c.Key != key || i >= len(r.Printed) {
			continue
		}
		v, err := parse(r.Printed[i], c.Unit)
		return v, err == nil
	}
	return Value{}, false
}
