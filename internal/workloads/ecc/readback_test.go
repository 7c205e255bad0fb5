package ecc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// readBack applies to at most mostWritten levels, several times the number written at a time. Above
// mostRead levels it reads all of them once, in order.
const (
	mostWritten = 1 << 17
	mostRead    = fewLevels
)

// readBack is the law that an answer reads back unchanged from every format: as sublevel sets and
// superlevel sets, whole, in two chunks, within two values, and as two slices.
var readBack = law{
	Name: "what is written reads back",
	Work: func(s grid.Source) time.Duration {
		const once, often = 500 * time.Nanosecond, 10 * time.Microsecond // for a level, on one core
		n := s.Ladder().Len()
		return time.Duration(min(n, mostWritten))*once + time.Duration(min(n, mostRead))*often
	},
	Check: func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
		if in.Ladder().Len() > mostWritten || grid.LabelsOf(in) != nil {
			return nil, verify.ErrNotApplicable
		}
		for _, c := range []Convention{{}, {Superlevel: true}} {
			for _, f := range Formats() {
				r := newReader(in, out, c, f)
				tries := map[string]func() error{"": r.whole, " in two chunks": r.chunked, " within two values": r.within, " of two slices": r.sliced}
				if in.Ladder().Len() > mostRead {
					if f != Euler || c.Superlevel {
						continue
					}
					tries = map[string]func() error{"": r.whole}
				}
				for what, try := range tries {
					if err := try(); err != nil {
						return &verify.Diff{Where: fmt.Sprintf("as %s%s, %s", f, what, r.p.Filtration), Want: "the answer", Got: err.Error()}, nil
					}
				}
			}
		}
		return nil, nil
	},
}

// A reader reads lines in a format.
type reader struct {
	Lines
	f Format
	p Provenance
}

func newReader(in grid.Source, out VCEC, c Convention, f Format) reader {
	p := Describe("an image", in, c)
	p.Digest, p.Implementation, p.Program, p.Verdict, p.Witness = "its digest", "who answers", "the program", string(verify.Verified), "who confirms"
	return reader{LinesOf(in, out, c, f == Euler), f, p}
}

// whole reads back all lines in order.
func (r reader) whole() error {
	lines, err := r.read(r.Len(), r.Lines)
	if err != nil {
		return err
	}
	back, chi := VCEC{}, int64(0)
	for i, x := range lines {
		level := r.Ladder.Level(x.Level)
		if level == r.Ladder.Len() || r.Ladder.Value(level) != x.Level {
			return fmt.Errorf("a line is of the value %v, which is no level", x.Level)
		}
		if i > 0 && (x.Level > lines[i-1].Level) == r.In.Superlevel {
			return fmt.Errorf("a line of the value %v comes after one of %v", x.Level, lines[i-1].Level)
		}
		if chi += x.Change; x.Chi != chi {
			return fmt.Errorf("the line of the value %v has χ = %d, the changes up to it sum to %d", x.Level, x.Chi, chi)
		}
		if i%(1+len(lines)/16) == 0 && r.At(grid.Numbers(float64(x.Level))[0]) != chi {
			return fmt.Errorf("χ = %d at the value %v, and %d as it is written", r.At(grid.Numbers(float64(x.Level))[0]), x.Level, chi)
		}
		if x.Change != 0 {
			back = append(back, Step{level, x.Change})
		}
	}
	if r.In.Superlevel {
		slices.Reverse(back)
	}
	if !slices.Equal(back, r.Curve) {
		return fmt.Errorf("%d other changes, of %d", len(back), len(r.Curve))
	}
	if n := r.Ladder.Len(); r.All && int64(len(lines)) != n {
		return fmt.Errorf("%d lines of %d levels", len(lines), n)
	}
	return nil
}

// chunked reads back the first third of the steps and the rest, written as two chunks.
func (r reader) chunked() error {
	if r.All { // which is written whole
		return nil
	}
	a, b, n := r.Lines, r.Lines, len(r.Curve)/3
	if a.Curve, b.Curve = r.Curve[:n], r.Curve[n:]; r.In.Superlevel {
		a.Curve, b.Curve = r.Curve[n:], r.Curve[:n]
	}
	var chi int64
	for _, s := range a.Curve {
		chi += s.Change
	}
	return r.same(0, r.Len(), a, b.Continue(chi))
}

// within reads back the middle third of the lines.
func (r reader) within() error {
	n := r.Len()
	if n == 0 {
		return nil
	}
	all := slices.Collect(r.values())
	from, to := n/3, n-n/3
	lo, hi := all[from], all[to-1]
	return r.same(from, to, r.Range(grid.Numbers(min(lo, hi))[0], grid.Numbers(max(lo, hi))[0]))
}

// values yields the values of the lines, in order.
func (r reader) values() func(yield func(float64) bool) {
	return func(yield func(float64) bool) {
		for i := range r.Len() {
			level := r.place(i)
			if !r.All {
				level = r.step(int(i)).Level
			}
			if !yield(float64(r.Ladder.Value(level))) {
				return
			}
		}
	}
}

// sliced reads back the lines of two equal slices.
func (r reader) sliced() error {
	if r.f != CSV && r.f != JSONL {
		return nil
	}
	var b bytes.Buffer
	if err := WriteSlices(&b, []Lines{r.Lines, r.Lines}, r.f, r.p, true); err != nil {
		return err
	}
	r.p.Slices = 2
	rows := strings.SplitAfter(strings.Replace(b.String(), "\nslice,level", "\nlevel", 1), "\n")
	head, prefix, rest := 2, "%d,", ""
	if r.f == JSONL {
		head, prefix, rest = 1, `{"slice":%d,`, "{"
	}
	for i := head; i < len(rows)-1; i++ { // the last one ends with the text
		after, ok := strings.CutPrefix(rows[i], fmt.Sprintf(prefix, int64(i-head)/r.Len()))
		if !ok {
			return fmt.Errorf("a line is of another slice: %q", rows[i])
		}
		rows[i] = rest + after // as of an image
	}
	lines, err := r.parse([]byte(strings.Join(rows, "")))
	if n := len(lines) / 2; err == nil && (n != int(r.Len()) || !slices.Equal(lines[:n], lines[n:]) || !r.are(lines[:n], 0)) {
		err = fmt.Errorf("%d other lines, of two times %d", len(lines), r.Len())
	}
	return err
}

// same returns nil if chunks are written as the lines from ≤ i < to.
func (r reader) same(from, to int64, chunks ...Lines) error {
	lines, err := r.read(to-from, chunks...)
	if err == nil && (int64(len(lines)) != to-from || !r.are(lines, from)) {
		err = fmt.Errorf("%d other lines, of lines %d to %d", len(lines), from+1, to)
	}
	return err
}

// are reports whether lines are those from a place on. A format without changes does not start in
// the middle.
func (r reader) are(lines []Line, from int64) bool {
	i := int64(0)
	same := true
	r.Each(func(x Line) {
		if at := i - from; at >= 0 && at < int64(len(lines)) {
			got := lines[at]
			if at == 0 && (r.f == Euler || r.f == SoCG) {
				got.Change = x.Change
			}
			same = same && got == x
		}
		i++
	})
	return same
}

// read writes the given number of lines and reads them.
func (r reader) read(n int64, chunks ...Lines) ([]Line, error) {
	var b bytes.Buffer
	if err := WriteChunks(&b, r.f, r.p, true, n, func(yield func(Lines, error) bool) {
		for _, l := range chunks {
			if !yield(l, nil) {
				return
			}
		}
	}); err != nil {
		return nil, err
	}
	lines, err := r.parse(b.Bytes())
	if err == nil && int64(len(lines)) != n {
		err = fmt.Errorf("%d lines, want %d", len(lines), n)
	}
	return lines, err
}

// object is a line in JSON.
type object struct {
	Level       json.Number
	Change, Chi int64
}

func (o object) line() (Line, error) {
	level, err := strconv.ParseFloat(string(o.Level), 32)
	return Line{float32(level), o.Change, o.Chi}, err
}

// parse parses lines, each with its change.
func (r reader) parse(text []byte) (lines []Line, err error) {
	switch r.f {
	case NPY:
		return parseNPY(text)
	case JSON:
		var all struct {
			Provenance
			Curve []object
		}
		if err := json.Unmarshal(text, &all); err != nil {
			return nil, err
		}
		for _, o := range all.Curve {
			x, err := o.line()
			if err != nil {
				return nil, err
			}
			lines = append(lines, x)
		}
		return lines, r.isOf(all.Provenance)
	}
	heads := map[Format]int{CSV: 2, JSONL: 1}[r.f] // lines before the levels
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var x Line
		line, first := s.Text(), len(lines) == 0
		switch {
		case r.f == CSV && heads == 2 && line == r.p.Comment(), r.f == CSV && heads == 1 && line == "level,change,chi":
			heads--
			continue
		case r.f == JSONL && heads == 1:
			heads--
			var p Provenance
			if err := json.Unmarshal(s.Bytes(), &p); err != nil {
				return nil, err
			}
			if err := r.isOf(p); err != nil {
				return nil, err
			}
			continue
		case r.f == JSONL:
			var o object
			if err = json.Unmarshal(s.Bytes(), &o); err == nil {
				x, err = o.line()
			}
		case r.f == CSV:
			x, err = parseFields(strings.Split(line, ","), 3)
		default:
			if x, err = parseFields(strings.Split(line, " "), 2); err == nil {
				if x.Change = x.Chi; !first {
					x.Change -= lines[len(lines)-1].Chi
				}
			}
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, x)
	}
	if heads > 0 {
		return nil, fmt.Errorf("%d lines are missing before the first level", heads)
	}
	return lines, nil
}

// isOf returns nil if a provenance is that of the lines.
func (r reader) isOf(p Provenance) error {
	if p != r.p {
		return fmt.Errorf("of %+v, want %+v", p, r.p)
	}
	return nil
}

// parseFields parses a line of n fields: the value first and χ last.
func parseFields(fields []string, n int) (x Line, err error) {
	if len(fields) != n {
		return x, fmt.Errorf("%d fields, want %d: %q", len(fields), n, fields)
	}
	level, err := strconv.ParseFloat(fields[0], 32)
	if x.Level = float32(level); err == nil {
		x.Chi, err = strconv.ParseInt(fields[n-1], 10, 64)
	}
	if n == 3 && err == nil {
		x.Change, err = strconv.ParseInt(fields[1], 10, 64)
	}
	return x, err
}

// parseNPY parses the lines in a structured array of NumPy, whose header has their number.
func parseNPY(text []byte) (lines []Line, err error) {
	const before, each = 10, 4 + 8 + 8
	if len(text) < before || string(text[:8]) != "\x93NUMPY\x01\x00" {
		return nil, errors.New("no array of NumPy")
	}
	head := before + int(binary.LittleEndian.Uint16(text[8:]))
	if head%64 != 0 || head > len(text) || (len(text)-head)%each != 0 {
		return nil, fmt.Errorf("%d bytes, of which %d are a header", len(text), head)
	}
	says := fmt.Sprintf("{'descr': [('level', '<f4'), ('change', '<i8'), ('chi', '<i8')], 'fortran_order': False, 'shape': (%d,), }", (len(text)-head)/each)
	if got := strings.TrimRight(string(text[before:head-1]), " "); got != says || text[head-1] != '\n' {
		return nil, fmt.Errorf("the header %q, want %q", got, says)
	}
	for row := range slices.Chunk(text[head:], each) {
		lines = append(lines, Line{
			math.Float32frombits(binary.LittleEndian.Uint32(row)), int64(binary.LittleEndian.Uint64(row[4:])), int64(binary.LittleEndian.Uint64(row[12:])),
		})
	}
	return lines, nil
}
