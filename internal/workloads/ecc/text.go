package ecc

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime"
	"sort"
	"strconv"

	"eccbench/internal/crew"
	"eccbench/internal/decimal"
	"eccbench/internal/grid"
)

// A Format is a way to write a curve.
type Format string

// The formats. Levels are written as their values.
const (
	CSV   Format = "csv"   // level,change,chi
	JSON  Format = "json"  // the same with the provenance
	JSONL Format = "jsonl" // the provenance in the first line, then one line per level
	NPY   Format = "npy"   // a structured NumPy array: level, change, chi
	Euler Format = "euler" // "value χ" for every level, as in the .euler files of CHUNKYEuler
	SoCG  Format = "socg"  // "value χ" where χ changes, as in the SoCG 2022 code
)

// Formats lists every format.
func Formats() []Format { return []Format{CSV, JSON, JSONL, NPY, Euler, SoCG} }

// A Line is one level of a written curve.
type Line struct {
	Level  float32 // value of the level
	Change int64
	Chi    int64
}

// A Provenance is written with a curve: input, convention, implementation, and witness.
type Provenance struct {
	Input        string `json:"input"`
	Shape        string `json:"shape"`
	Type         string `json:"type"`
	Ladder       string `json:"ladder"`
	Construction string `json:"construction"`
	Filtration   string `json:"filtration"`
	// Coefficients are those of homology, if the answer depends on them.
	Coefficients   string `json:"coefficients,omitempty"`
	Periodic       string `json:"periodic,omitempty"` // axes
	Mask           string `json:"mask,omitempty"`     // the mask image
	Missing        string `json:"missing,omitempty"`  // grid.Missing
	Slices         int    `json:"slices,omitempty"`   // number of slices, if each has its own curve
	Digest         string `json:"digest,omitempty"`   // of the voxels: doc/files.md
	Implementation string `json:"implementation"`
	Program        string `json:"program"`
	Verdict        string `json:"verdict"`
	Witness        string `json:"witness"`
	// Evidence is the witness with its random numbers, such as a key. It is not part of a result,
	// so that the same command writes the same bytes.
	Evidence string `json:"-"`
}

// WriteEvidence writes the provenance and its evidence as JSON.
func (p Provenance) WriteEvidence(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(struct {
		Provenance
		Evidence string `json:"evidence"`
	}{p, p.Evidence})
}

// Describe returns the provenance of a curve in a convention, without the witness.
func Describe(input string, in grid.Source, c Convention) Provenance {
	p := Provenance{
		Input: input, Shape: grid.Extent(in), Type: in.Type().String(), Ladder: in.Ladder().String(),
		Construction: "T (voxels are top cells)", Filtration: "sublevel, value <= level", Periodic: c.Periodic.String(),
	}
	if c.Vertices {
		p.Construction = "V (voxels are vertices)"
	}
	if c.Superlevel {
		p.Filtration = "superlevel, value >= level"
	}
	if labels := grid.LabelsOf(in); labels != nil {
		p.Type, p.Ladder = labels.Type(), labels.String()
	}
	return p
}

// Lines are the levels of a curve in the order in which its sets grow: ascending for sublevel sets,
// descending for superlevel sets. Either all levels are listed, or only those with a change.
type Lines struct {
	Curve  VCEC
	Ladder grid.Ladder
	Labels *grid.Labels // original values of the ladder's values, or nil
	In     Convention
	All    bool
	slice  string // index of the slice, or "" for the whole image
	// Number of lines that Range cuts off, at the start and at the end.
	before, after int64
	chi           int64 // before the first step of Curve
}

// Continue returns lines that continue a curve: chi is the sum of the earlier changes.
func (l Lines) Continue(chi int64) Lines {
	l.chi = chi
	return l
}

// LinesOf returns the lines of an image's curve in a convention.
func LinesOf(in grid.Source, v VCEC, c Convention, all bool) Lines {
	return Lines{Curve: v, Ladder: in.Ladder(), Labels: grid.LabelsOf(in), In: c, All: all}
}

// step returns step i of the curve in line order, and place the position of a level.
func (l Lines) step(i int) Step {
	if l.In.Superlevel {
		i = len(l.Curve) - 1 - i
	}
	return l.Curve[i]
}

func (l Lines) place(level int64) int64 {
	if l.In.Superlevel {
		return l.Ladder.Len() - 1 - level
	}
	return level
}

// A stretch is lines lo ≤ i < hi. at is the first step of the curve that is not before them, and
// chi is χ before them.
type stretch struct {
	lo, hi int64
	at     int
	chi    int64
}

// end returns the index after the last line.
func (l Lines) end() int64 {
	if l.All {
		return l.Ladder.Len() - l.after
	}
	return int64(len(l.Curve)) - l.after
}

// begin returns the empty stretch before the first line.
func (l Lines) begin() stretch { return stretch{lo: l.before, hi: l.before, chi: l.chi} }

// Len returns the number of lines.
func (l Lines) Len() int64 { return l.end() - l.before }

// Range restricts the lines to values from lo to hi. χ stays that of the whole curve.
func (l Lines) Range(lo, hi grid.Number) Lines {
	n := int(l.end())
	compare := func(i int, to grid.Number) int {
		level := l.place(int64(i))
		if !l.All {
			level = l.step(i).Level
		}
		return l.Labels.Compare(l.Ladder.Value(level), to)
	}
	first := sort.Search(n, func(i int) bool { return compare(i, lo) >= 0 })
	end := sort.Search(n, func(i int) bool { return compare(i, hi) > 0 })
	if l.In.Superlevel { // values descend
		first = sort.Search(n, func(i int) bool { return compare(i, hi) <= 0 })
		end = sort.Search(n, func(i int) bool { return compare(i, lo) < 0 })
	}
	l.before, l.after = int64(first), int64(n-end)
	return l
}

// each calls f for each line of a stretch.
func (l Lines) each(s stretch, f func(Line)) {
	for i := s.lo; i < s.hi; i++ {
		level, change := l.place(i), int64(0)
		if !l.All {
			level = l.step(int(i)).Level
		}
		if s.at < len(l.Curve) && l.step(s.at).Level == level {
			change = l.step(s.at).Change
			s.at++
		}
		s.chi += change
		f(Line{l.Ladder.Value(level), change, s.chi})
	}
}

// next returns the stretch of n lines after another one.
func (l Lines) next(s stretch, n int64) stretch {
	t := stretch{s.hi, min(s.hi+n, l.end()), s.at, s.chi}
	for t.at < len(l.Curve) && (l.All && l.place(l.step(t.at).Level) < t.lo || !l.All && int64(t.at) < t.lo) {
		t.chi += l.step(t.at).Change
		t.at++
	}
	return t
}

// Each calls f for each line, in order.
func (l Lines) Each(f func(Line)) { l.each(l.next(l.begin(), l.Len()), f) }

// Value returns the original value of a line's level, rounded to float64.
func (l Lines) Value(x Line) float64 { return l.Labels.Float64(x.Level) }

// At returns χ of the set at a value, which need not be a level. For lines that continue a curve
// (Continue), it returns their contribution.
func (l Lines) At(value grid.Number) (chi int64) {
	n := sort.Search(len(l.Curve), func(i int) bool { return l.isBeyond(i, value) })
	for i := range n {
		chi += l.step(i).Change
	}
	return chi
}

// isBeyond reports whether step i is outside the set at a value.
func (l Lines) isBeyond(i int, value grid.Number) bool {
	c := l.Labels.Compare(l.Ladder.Value(l.step(i).Level), value)
	return c > 0 && !l.In.Superlevel || c < 0 && l.In.Superlevel
}

// value appends the original value of a level, with the fewest digits that read back exactly.
func (l Lines) value(b []byte, level float32) []byte { return l.Labels.Append(b, level) }

// stretchLines is the number of lines that are formatted together.
const stretchLines = 1 << 14

// write writes all lines, formatted by put on all cores.
func (l Lines) write(w io.Writer, put func([]byte, Line) []byte) error {
	return l.writeAfter(l.begin(), w, put)
}

// writeAfter writes the lines after a stretch. Text is written while the next one is formatted.
func (l Lines) writeAfter(s stretch, w io.Writer, put func([]byte, Line) []byte) error {
	cores := runtime.GOMAXPROCS(0)
	ready, free := make([][]byte, 0, 4*cores), make([][]byte, 4*cores)
	for {
		var some []stretch
		for t := l.next(s, stretchLines); t.lo < t.hi && len(some) < len(free); t = l.next(s, stretchLines) {
			s, some = t, append(some, t)
		}
		if len(some)+len(ready) == 0 {
			return nil
		}
		err := crew.Try(cores, 1+len(some), func(_, task int) error {
			if task > 0 {
				text := free[task-1][:0]
				l.each(some[task-1], func(line Line) { text = put(text, line) })
				free[task-1] = text
				return nil
			}
			for _, text := range ready {
				if _, err := w.Write(text); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		ready, free = free[:len(some)], ready[:cap(ready)]
	}
}

// Chunks yields the lines of a curve in order, some at a time, so that the curve need not fit in
// memory. Chunks differ only in their steps, and each continues the previous one (Continue).
type Chunks = iter.Seq2[Lines, error]

// Write writes a curve. If header is set, it writes the provenance too, in formats that have room
// for it. The format euler always lists every level.
func (l Lines) Write(w io.Writer, format Format, p Provenance, header bool) error {
	l.All = l.All || format == Euler
	return WriteChunks(w, format, p, header, l.Len(), func(yield func(Lines, error) bool) { yield(l, nil) })
}

// WriteChunks writes a curve in chunks, at least one. lines is the total number of lines.
func WriteChunks(w io.Writer, format Format, p Provenance, header bool, lines int64, chunks Chunks) error {
	var err error
	switch {
	case format == JSON:
		err = WriteHead(w, p, "curve")
	case format == JSONL && header:
		err = json.NewEncoder(w).Encode(p)
	case format == CSV && header:
		_, err = fmt.Fprintf(w, "%s\nlevel,change,chi\n", p.Comment())
	}
	if err != nil {
		return err
	}
	first := true
	for l, err := range chunks {
		if err != nil {
			return err
		}
		switch format {
		case JSON:
			err = l.writeJSON(w, first)
			first = first && l.Len() == 0
		case JSONL:
			err = l.writeJSONL(w)
		case NPY:
			if first {
				_, err = w.Write(NPYHeader(l.Labels, lines, "change", "chi"))
			}
			if err == nil {
				err = l.write(w, l.appendNPY)
			}
			first = false
		case Euler, SoCG:
			err = l.write(w, func(b []byte, x Line) []byte {
				b = append(l.value(b, x.Level), ' ')
				return append(decimal.AppendInt(b, x.Chi), '\n')
			})
		default:
			err = l.writeCSV(w)
		}
		if err != nil {
			return err
		}
	}
	if format == JSON {
		_, err = io.WriteString(w, "\n ]\n}\n")
	}
	return err
}

func (l Lines) writeCSV(w io.Writer) error {
	return l.write(w, func(b []byte, x Line) []byte {
		if l.slice != "" {
			b = append(append(b, l.slice...), ',')
		}
		b = append(l.value(b, x.Level), ',')
		b = append(decimal.AppendInt(b, x.Change), ',')
		return append(decimal.AppendInt(b, x.Chi), '\n')
	})
}

// WriteSlices writes the curves of an image's slices as CSV or JSONL. Each line begins with the
// index of its slice.
func WriteSlices(w io.Writer, slices []Lines, format Format, p Provenance, header bool) error {
	p.Slices = len(slices)
	if header {
		var err error
		if format == JSONL {
			err = json.NewEncoder(w).Encode(p)
		} else {
			_, err = fmt.Fprintf(w, "%s\nslice,level,change,chi\n", p.Comment())
		}
		if err != nil {
			return err
		}
	}
	for i, l := range slices {
		l.slice = strconv.Itoa(i)
		write := l.writeCSV
		if format == JSONL {
			write = l.writeJSONL
		}
		if err := write(w); err != nil {
			return err
		}
	}
	return nil
}

// Comment formats the provenance in one line.
func (p Provenance) Comment() string {
	voxels := ""
	if p.Digest != "" {
		voxels = "; voxels " + p.Digest
	}
	more := ""
	if p.Coefficients != "" {
		more = "; coefficients " + p.Coefficients
	}
	if p.Periodic != "" {
		more += "; periodic along " + p.Periodic
	}
	if p.Mask != "" {
		more += "; voxels of mask " + p.Mask
	}
	if p.Missing != "" {
		more += "; " + p.Missing
	}
	if p.Slices > 0 {
		more += fmt.Sprintf("; %d slices, each by itself", p.Slices)
	}
	return fmt.Sprintf("# %s: %s %s, %s; %s; %s%s%s; %s by %s, %s by %s",
		p.Input, p.Shape, p.Type, p.Ladder, p.Construction, p.Filtration, more, voxels, p.Implementation,
		p.Program, p.Verdict, p.Witness)
}

// WriteHead writes a JSON object of a provenance up to its rows, which have a name.
func WriteHead(w io.Writer, p Provenance, rows string) error {
	head, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	head = head[:len(head)-len("\n}")]
	_, err = fmt.Fprintf(w, "%s,\n \"%s\": [", head, rows)
	return err
}

// writeJSON writes levels of the JSON object, one per line. begins means that they are the first.
func (l Lines) writeJSON(w io.Writer, begins bool) error {
	separator := ",\n  "
	put := func(b []byte, x Line) []byte {
		b = append(b, separator...)
		return l.appendJSON(b, x)
	}
	s := l.begin()
	if begins {
		s, separator = l.next(s, min(1, l.Len())), "\n  "
		var b []byte
		l.each(s, func(x Line) { b = put(b, x) })
		if _, err := w.Write(b); err != nil {
			return err
		}
		separator = ",\n  "
	}
	return l.writeAfter(s, w, put)
}

func (l Lines) writeJSONL(w io.Writer) error {
	return l.write(w, func(b []byte, x Line) []byte { return append(l.appendJSON(b, x), '\n') })
}

func (l Lines) appendJSON(b []byte, x Line) []byte {
	b = append(b, '{')
	if l.slice != "" {
		b = append(append(append(b, `"slice":`...), l.slice...), ',')
	}
	b = l.value(append(b, `"level":`...), x.Level)
	b = decimal.AppendInt(append(b, `,"change":`...), x.Change)
	b = decimal.AppendInt(append(b, `,"chi":`...), x.Chi)
	return append(b, '}')
}

// NPYHeader is NPYHeaderOf for lines of a level and int64 columns.
func NPYHeader(labels *grid.Labels, lines int64, columns ...string) []byte {
	fields := fmt.Sprintf("('level', '%s')", labels.Kind())
	for _, name := range columns {
		fields += fmt.Sprintf(", ('%s', '<i8')", name)
	}
	return NPYHeaderOf(fields, lines)
}

// NPYHeaderOf returns the header of an NPY file, version 1.0 (NEP 1), with the given number of lines of fields.
func NPYHeaderOf(fields string, lines int64) []byte {
	const align, before = 64, 10 // bytes of the magic, the version and the length
	text := fmt.Sprintf("{'descr': [%s], 'fortran_order': False, 'shape': (%d,), }", fields, lines)
	for (before+len(text)+1)%align != 0 {
		text += " "
	}
	text += "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(b, text...)
}

// AppendLevel appends the original value of a line's level in little-endian bytes: a float32, or
// the 8 bytes of a label.
func (l Lines) AppendLevel(b []byte, x Line) []byte { return l.Labels.AppendBytes(b, x.Level) }

func (l Lines) appendNPY(b []byte, x Line) []byte {
	b = l.AppendLevel(b, x)
	b = binary.LittleEndian.AppendUint64(b, uint64(x.Change))
	return binary.LittleEndian.AppendUint64(b, uint64(x.Chi))
}
