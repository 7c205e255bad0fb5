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

	"eccbench/internal/grid"
)

// A Format is a way to write a curve.
type Format string

// The formats. Levels are written as the values they stand for.
const (
	CSV   Format = "csv"   // level,change,chi
	JSON  Format = "json"  // the same with what is known of the image and of the answer
	JSONL Format = "jsonl" // that in the first line, and a level in each line after it
	NPY   Format = "npy"   // a structured array of NumPy: level, change, chi
	Euler Format = "euler" // "value χ" for every level, as CHUNKYEuler writes .euler files
	SoCG  Format = "socg"  // "value χ" where χ changes, as the SoCG 2022 code writes it
)

// Formats lists every format.
func Formats() []Format { return []Format{CSV, JSON, JSONL, NPY, Euler, SoCG} }

// A Line is one level of a curve as it is written.
type Line struct {
	Level  float32 // the value
	Change int64
	Chi    int64
}

// A Provenance is what is written with a curve: what it is of, in which convention, who
// says so, and who confirmed it.
type Provenance struct {
	Input          string `json:"input"`
	Shape          string `json:"shape"`
	Type           string `json:"type"`
	Ladder         string `json:"ladder"`
	Construction   string `json:"construction"`
	Filtration     string `json:"filtration"`
	Periodic       string `json:"periodic,omitempty"` // axes
	Mask           string `json:"mask,omitempty"`     // the image that says which voxels count
	Missing        string `json:"missing,omitempty"`  // grid.Missing
	Slices         int    `json:"slices,omitempty"`   // each of which has a curve by itself
	Digest         string `json:"digest,omitempty"`   // of the voxels, grid.Digester
	Implementation string `json:"implementation"`
	Program        string `json:"program"`
	Verdict        string `json:"verdict"`
	Witness        string `json:"witness"`
	// Evidence is the witness with numbers that were drawn for it, such as a key. It is no part of a
	// result, so that the same command writes the same bytes.
	Evidence string `json:"-"`
}

// WriteEvidence writes the provenance by itself, with its evidence, as JSON.
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

// Lines are the levels of a curve in the order in which its sets grow, from the first level
// on, or from the last where they are superlevel sets: those with a change, or all.
type Lines struct {
	Curve  VCEC
	Ladder grid.Ladder
	Labels *grid.Labels // of what the ladder's values stand for; nil for themselves
	In     Convention
	All    bool
	slice  string // that it is of, "" for the whole image
	// What Within leaves out: so many lines before those that are written, and after them.
	before, after int64
	chi           int64 // before the first step of Curve
}

// After is the lines that follow steps whose changes sum to chi, which Curve does not have.
func (l Lines) After(chi int64) Lines {
	l.chi = chi
	return l
}

// LinesOf are the lines of an image's curve in a convention.
func LinesOf(in grid.Source, v VCEC, c Convention, all bool) Lines {
	return Lines{Curve: v, Ladder: in.Ladder(), Labels: grid.LabelsOf(in), In: c, All: all}
}

// step is step i of the curve in that order, and place where a level comes in it.
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

// A stretch is lines lo ≤ i < hi, the first step of the curve that is not before them, and
// χ before them.
type stretch struct {
	lo, hi int64
	at     int
	chi    int64
}

// end is the line after the last one.
func (l Lines) end() int64 {
	if l.All {
		return l.Ladder.Len() - l.after
	}
	return int64(len(l.Curve)) - l.after
}

// begin is the stretch of no lines before the first one.
func (l Lines) begin() stretch { return stretch{lo: l.before, hi: l.before, chi: l.chi} }

// Len is how many lines there are.
func (l Lines) Len() int64 { return l.end() - l.before }

// Within is those of the lines whose values are from lo to hi, with χ as it is.
func (l Lines) Within(lo, hi grid.Number) Lines {
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

// each calls f with the lines of a stretch.
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

// next is the stretch of so many lines after another.
func (l Lines) next(s stretch, n int64) stretch {
	t := stretch{s.hi, min(s.hi+n, l.end()), s.at, s.chi}
	for t.at < len(l.Curve) && (l.All && l.place(l.step(t.at).Level) < t.lo || !l.All && int64(t.at) < t.lo) {
		t.chi += l.step(t.at).Change
		t.at++
	}
	return t
}

// Each calls f with the lines in order.
func (l Lines) Each(f func(Line)) { l.each(l.next(l.begin(), l.Len()), f) }

// Value is about what a line's level stands for.
func (l Lines) Value(x Line) float64 { return l.Labels.Float64(x.Level) }

// At is χ of the set at a value, which need not be a level, or of lines that come After
// others, what they add to it.
func (l Lines) At(value grid.Number) (chi int64) {
	n := sort.Search(len(l.Curve), func(i int) bool { return l.isBeyond(i, value) })
	for i := range n {
		chi += l.step(i).Change
	}
	return chi
}

// isBeyond reports whether step i is not yet part of the set at a value.
func (l Lines) isBeyond(i int, value grid.Number) bool {
	c := l.Labels.Compare(l.Ladder.Value(l.step(i).Level), value)
	return c > 0 && !l.In.Superlevel || c < 0 && l.In.Superlevel
}

// value writes what a level stands for in the fewest digits that read back as the same.
func (l Lines) value(b []byte, level float32) []byte { return l.Labels.Append(b, level) }

// stretchLines is how many lines are formatted at a time.
const stretchLines = 1 << 14

// write writes all lines, which put appends to bytes, formatted on all cores.
func (l Lines) write(w io.Writer, put func([]byte, Line) []byte) error {
	return l.writeAfter(l.begin(), w, put)
}

// writeAfter writes the lines after a stretch.
func (l Lines) writeAfter(s stretch, w io.Writer, put func([]byte, Line) []byte) error {
	type job struct {
		stretch
		text chan []byte
	}
	ahead := 2 * runtime.GOMAXPROCS(0)
	queue, free := make(chan job, ahead), make(chan []byte, 2*ahead+2)
	stop := make(chan struct{})
	go func() {
		defer close(queue)
		for s := l.next(s, stretchLines); s.lo < s.hi; s = l.next(s, stretchLines) {
			j := job{s, make(chan []byte, 1)}
			select {
			case queue <- j:
			case <-stop:
				return
			}
			go func() {
				var text []byte
				select {
				case text = <-free:
				default:
				}
				text = text[:0]
				l.each(j.stretch, func(line Line) { text = put(text, line) })
				j.text <- text
			}()
		}
	}()
	var err error
	for j := range queue {
		text := <-j.text
		if err == nil {
			if _, err = w.Write(text); err != nil {
				close(stop)
			}
		}
		select {
		case free <- text:
		default:
		}
	}
	return err
}

// Chunks are lines in order, some at a time, for a curve that need not be held whole: all
// alike but for their steps, and each After those before it.
type Chunks = iter.Seq2[Lines, error]

// Write writes a curve, with where it comes from where the format has room for that and
// header is asked for. The format euler has every level.
func (l Lines) Write(w io.Writer, format Format, p Provenance, header bool) error {
	l.All = l.All || format == Euler
	return WriteChunks(w, format, p, header, l.Len(), func(yield func(Lines, error) bool) { yield(l, nil) })
}

// WriteChunks is Write of a curve of so many lines, one chunk of them at least.
func WriteChunks(w io.Writer, format Format, p Provenance, header bool, lines int64, chunks Chunks) error {
	var err error
	switch {
	case format == JSON:
		err = writeHead(w, p)
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
				return append(strconv.AppendInt(b, x.Chi, 10), '\n')
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
		b = append(strconv.AppendInt(b, x.Change, 10), ',')
		return append(strconv.AppendInt(b, x.Chi, 10), '\n')
	})
}

// WriteSlices writes the curves of the slices of an image, as CSV or JSONL: lines that begin
// with the index of their slice.
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

// Comment is the provenance in one line.
func (p Provenance) Comment() string {
	voxels := ""
	if p.Digest != "" {
		voxels = "; voxels " + p.Digest
	}
	more := ""
	if p.Periodic != "" {
		more = "; periodic along " + p.Periodic
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
		p.Input, p.Shape, p.Type, p.Ladder, p.Construction, p.Filtration, more, voxels, p.Implementation, p.Program, p.Verdict, p.Witness)
}

// writeHead writes an object up to its levels.
func writeHead(w io.Writer, p Provenance) error {
	head, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	head = head[:len(head)-len("\n}")]
	_, err = fmt.Fprintf(w, "%s,\n \"curve\": [", head)
	return err
}

// writeJSON writes the levels of an object, one a line, the first ones or others.
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
	b = strconv.AppendInt(append(b, `,"change":`...), x.Change, 10)
	b = strconv.AppendInt(append(b, `,"chi":`...), x.Chi, 10)
	return append(b, '}')
}

// NPYHeader is that of a file of so many lines, in version 1.0 of the format (NEP 1): a level,
// and columns of int64.
func NPYHeader(labels *grid.Labels, lines int64, columns ...string) []byte {
	fields := fmt.Sprintf("('level', '%s')", labels.Kind())
	for _, name := range columns {
		fields += fmt.Sprintf(", ('%s', '<i8')", name)
	}
	const align, before = 64, 10 // bytes of the magic, the version and the length
	text := fmt.Sprintf("{'descr': [%s], 'fortran_order': False, 'shape': (%d,), }", fields, lines)
	for (before+len(text)+1)%align != 0 {
		text += " "
	}
	text += "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(b, text...)
}

// AppendLevel writes what a line's level stands for: little-endian, a float32, or the 8
// bytes of a label.
func (l Lines) AppendLevel(b []byte, x Line) []byte { return l.Labels.AppendBytes(b, x.Level) }

func (l Lines) appendNPY(b []byte, x Line) []byte {
	b = l.AppendLevel(b, x)
	b = binary.LittleEndian.AppendUint64(b, uint64(x.Change))
	return binary.LittleEndian.AppendUint64(b, uint64(x.Chi))
}
