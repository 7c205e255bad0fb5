package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"eccbench/internal/verify"
)

// A Figure is the plot of one table of Throughput.
type Figure struct {
	Title string // of the table
	File  string // a name for the SVG, unique in the call
	SVG   []byte
	// Link is the target of the Markdown link. It begins as File: the code that writes the file
	// elsewhere sets it.
	Link string
	// marked holds the signs of the hollow points.
	marked string
}

// Figures draws rate against size for each table of Throughput with numbers for at least two sizes.
// It leaves out rows without a quotable number. Points that are not VERIFIED are hollow, and the
// legend has their sign. The rows of the workload ceiling are dashed lines. Equal rows give equal
// bytes.
func Figures(rows []Row, ceiling string) ([]Figure, error) {
	var list []Figure
	names := map[string]int{}
	for _, s := range sections(rows) {
		curves := curves(s.rows, ceiling)
		if sizes(curves) < 2 {
			continue
		}
		f := Figure{Title: s.title}
		var b bytes.Buffer
		if err := throughputSVG(&b, s.title, s.rows, curves); err != nil {
			return nil, fmt.Errorf("plotting %s: %w", s.title, err)
		}
		name := fileName(s.title)
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, names[name])
		}
		f.File, f.SVG = name+".svg", b.Bytes()
		f.Link = f.File
		for _, c := range curves {
			f.marked = union(f.marked, c.marks)
		}
		list = append(list, f)
	}
	return list, nil
}

// markdown prints the link to the figure as a separate paragraph.
func (f Figure) markdown(w io.Writer) error {
	_, err := fmt.Fprintf(w, "\n![%s](%s)\n", f.Title, f.Link)
	if err == nil && f.marked != "" {
		_, err = fmt.Fprintf(w, "\nHollow points are the numbers marked %s.\n",
			strings.Join(strings.Split(f.marked, ""), " "))
	}
	return err
}

// fileName converts a title to a file name of letters, digits and hyphens.
func fileName(title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	name := strings.Join(words, "-")
	return name[:min(len(name), 150)]
}

// A curve is the line of one implementation with one instruction set and one state of the caches.
type curve struct {
	name    string
	ceiling bool
	points  []Row  // the rows with a number, by size
	marks   string // the signs of the hollow points
}

// curves returns the curves of a table, in its order.
func curves(rows []Row, ceiling string) []curve {
	var list []curve
	for _, r := range rows {
		if r.Rate <= 0 || r.Items <= 0 || !quotable(r.Status) {
			continue
		}
		bound := ceiling != "" && r.Workload == ceiling
		name := r.Impl
		if slices.ContainsFunc(rows, func(o Row) bool { return o.Impl == r.Impl && o.ISA != r.ISA }) {
			name = strings.TrimSpace(name + " " + r.ISA)
		}
		if r.Hot && slices.ContainsFunc(rows, func(o Row) bool { return o.Impl == r.Impl && !o.Hot }) {
			name += " hot"
		}
		i := slices.IndexFunc(list, func(c curve) bool { return c.name == name && c.ceiling == bound })
		if i < 0 {
			list = append(list, curve{name: name, ceiling: bound})
			i = len(list) - 1
		}
		k := slices.IndexFunc(list[i].points, func(o Row) bool { return o.Items > r.Items })
		if k < 0 {
			k = len(list[i].points)
		}
		list[i].points = slices.Insert(list[i].points, k, r)
		list[i].marks = union(list[i].marks, Mark(r.Status))
	}
	return list
}

// legend returns the curve's name with the signs of its hollow points.
func (c curve) legend() string {
	name := c.name
	if c.ceiling {
		name += " (ceiling)"
	}
	if c.marks != "" {
		name += " " + c.marks
	}
	return name
}

// plain reports whether a row's number needs no sign.
func (r Row) plain() bool { return r.Status == verify.Verified }

// sizes returns the number of distinct sizes in all curves.
func sizes(curves []curve) int {
	seen := map[int64]bool{}
	for _, c := range curves {
		for _, p := range c.points {
			seen[p.Items] = true
		}
	}
	return len(seen)
}

// union appends to a the signs of b that a lacks.
func union(a, b string) string {
	for _, r := range b {
		if !strings.ContainsRune(a, r) {
			a += string(r)
		}
	}
	return a
}
