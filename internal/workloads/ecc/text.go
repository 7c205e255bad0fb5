package ecc

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
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
	Digest         string `json:"digest,omitempty"` // of the voxels, grid.Digester
	Implementation string `json:"implementation"`
	Program        string `json:"program"`
	Verdict        string `json:"verdict"`
	Witness        string `json:"witness"`
}

// Describe is the provenance of a curve in a convention, but for who says so.
func Describe(input string, in grid.Source, c Convention) Provenance {
	p := Provenance{
		Input: input, Shape: in.Shape().String(), Type: in.Type().String(), Ladder: in.Ladder().String(),
		Construction: "T (voxels are top cells)", Filtration: "sublevel, value <= level",
	}
	if c.Vertices {
		p.Construction = "V (voxels are vertices)"
	}
	if c.Superlevel {
		p.Filtration = "superlevel, value >= level"
	}
	return p
}

// lines are the levels of a curve in the order in which its sets grow, from the first level
// on or from the last: those with a change, or all.
type lines struct {
	curve  VCEC
	ladder grid.Ladder
	all    bool
	down   bool
}

// step is step i of the curve in that order, and place where a level comes in it.
func (l lines) step(i int) Step {
	if l.down {
		i = len(l.curve) - 1 - i
	}
	return l.curve[i]
}

func (l lines) place(level int64) int64 {
	if l.down {
		return l.ladder.Len() - 1 - level
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

func (l lines) count() int64 {
	if l.all {
		return l.ladder.Len()
	}
	return int64(len(l.curve))
}

// each calls f with the lines of a stretch.
func (l lines) each(s stretch, f func(Line)) {
	for i := s.lo; i < s.hi; i++ {
		level, change := l.place(i), int64(0)
		if !l.all {
			level = l.step(int(i)).Level
		}
		if s.at < len(l.curve) && l.step(s.at).Level == level {
			change = l.step(s.at).Change
			s.at++
		}
		s.chi += change
		f(Line{l.ladder.Value(level), change, s.chi})
	}
}

// next is the stretch of so many lines after another.
func (l lines) next(s stretch, n int64) stretch {
	t := stretch{s.hi, min(s.hi+n, l.count()), s.at, s.chi}
	for t.at < len(l.curve) && (l.all && l.place(l.step(t.at).Level) < t.lo || !l.all && int64(t.at) < t.lo) {
		t.chi += l.step(t.at).Change
		t.at++
	}
	return t
}

// Lines calls f with the levels of a curve of sublevel sets in ascending order, of superlevel
// sets in descending order: those with a change, or all.
func Lines(v VCEC, l grid.Ladder, c Convention, all bool, f func(Line)) {
	of := lines{v, l, all, c.Superlevel}
	of.each(of.next(stretch{}, of.count()), f)
}

// stretchLines is how many lines are formatted at a time.
const stretchLines = 1 << 14

// write writes all lines, which put appends to bytes, formatted on all cores.
func (l lines) write(w io.Writer, put func([]byte, Line) []byte) error {
	return l.from(stretch{}, w, put)
}

// from is write for the lines after a stretch.
func (l lines) from(s stretch, w io.Writer, put func([]byte, Line) []byte) error {
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

// Write writes a curve, with where it comes from where the format has room for that and
// header is asked for. All formats but euler, which has every level, have those with a
// change, or all.
func Write(w io.Writer, format Format, v VCEC, ladder grid.Ladder, c Convention, p Provenance, all, header bool) error {
	l := lines{v, ladder, all || format == Euler, c.Superlevel}
	switch format {
	case JSON:
		return writeJSON(w, l, p)
	case JSONL:
		if header {
			if err := json.NewEncoder(w).Encode(p); err != nil {
				return err
			}
		}
		return l.write(w, func(b []byte, x Line) []byte { return append(appendJSON(b, x), '\n') })
	case NPY:
		if _, err := w.Write(npyHeader(l.count())); err != nil {
			return err
		}
		return l.write(w, appendNPY)
	case Euler, SoCG:
		return l.write(w, func(b []byte, x Line) []byte {
			b = append(appendValue(b, x.Level), ' ')
			return append(strconv.AppendInt(b, x.Chi, 10), '\n')
		})
	}
	if header {
		if _, err := fmt.Fprintf(w, "%s\nlevel,change,chi\n", p.comment()); err != nil {
			return err
		}
	}
	return l.write(w, func(b []byte, x Line) []byte {
		b = append(appendValue(b, x.Level), ',')
		b = append(strconv.AppendInt(b, x.Change, 10), ',')
		return append(strconv.AppendInt(b, x.Chi, 10), '\n')
	})
}

// comment is the provenance in one line.
func (p Provenance) comment() string {
	voxels := ""
	if p.Digest != "" {
		voxels = "; voxels " + p.Digest
	}
	return fmt.Sprintf("# %s: %s %s, %s; %s; %s%s; %s by %s, %s by %s",
		p.Input, p.Shape, p.Type, p.Ladder, p.Construction, p.Filtration, voxels, p.Implementation, p.Program, p.Verdict, p.Witness)
}

// writeJSON writes one object, a level a line.
func writeJSON(w io.Writer, l lines, p Provenance) error {
	head, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	head = head[:len(head)-len("\n}")]
	if _, err := fmt.Fprintf(w, "%s,\n \"curve\": [", head); err != nil {
		return err
	}
	first := l.next(stretch{}, min(1, l.count()))
	separator := "\n  "
	put := func(b []byte, x Line) []byte {
		b = append(b, separator...)
		return appendJSON(b, x)
	}
	var b []byte
	l.each(first, func(x Line) { b = put(b, x) })
	if _, err := w.Write(b); err != nil {
		return err
	}
	separator = ",\n  "
	if err := l.from(first, w, put); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n ]\n}\n")
	return err
}

func appendJSON(b []byte, x Line) []byte {
	b = appendValue(append(b, `{"level":`...), x.Level)
	b = strconv.AppendInt(append(b, `,"change":`...), x.Change, 10)
	b = strconv.AppendInt(append(b, `,"chi":`...), x.Chi, 10)
	return append(b, '}')
}

// npyHeader is that of a file of so many lines, in version 1.0 of the format (NEP 1).
func npyHeader(n int64) []byte {
	const align, before = 64, 10 // bytes of the magic, the version and the length
	text := fmt.Sprintf("{'descr': [('level', '<f4'), ('change', '<i8'), ('chi', '<i8')], 'fortran_order': False, 'shape': (%d,), }", n)
	for (before+len(text)+1)%align != 0 {
		text += " "
	}
	text += "\n"
	b := binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(text)))
	return append(b, text...)
}

func appendNPY(b []byte, x Line) []byte {
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x.Level))
	b = binary.LittleEndian.AppendUint64(b, uint64(x.Change))
	return binary.LittleEndian.AppendUint64(b, uint64(x.Chi))
}

// appendValue writes a level in the fewest digits that read back as the same float32.
func appendValue(b []byte, v float32) []byte { return strconv.AppendFloat(b, float64(v), 'g', -1, 32) }
