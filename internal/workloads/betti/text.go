package betti

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sort"
	"strconv"

	"eccbench/internal/decimal"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Formats lists the output formats of lines: rows of level, b0, b1 and b2.
func Formats() []ecc.Format { return []ecc.Format{ecc.CSV, ecc.JSON, ecc.NPY} }

// Lines are the numbers of sets at levels, in growing order: from the first level, or from the last
// for superlevel sets.
type Lines struct {
	Labels *grid.Labels // the meanings of the levels; nil if levels are values
	curves Curves
	ladder grid.Ladder
	down   bool
	// before and after count the lines that Range leaves out.
	before, after int
	slice         string // the slice of the lines, "" for the whole image
}

// LinesOf returns the lines of an image's curves in a convention, at the levels where a number
// changes.
func LinesOf(in grid.Source, curves Curves, c ecc.Convention) Lines {
	return Lines{Labels: grid.LabelsOf(in), curves: curves, ladder: in.Ladder(), down: c.Superlevel}
}

// Len returns the number of lines.
func (l Lines) Len() int64 { return int64(len(l.curves) - l.before - l.after) }

// value returns the value of line i.
func (l Lines) value(i int) float32 {
	if l.down {
		i = len(l.curves) - 1 - i
	}
	return l.ladder.Value(l.curves[i].Level)
}

// Range returns the lines with values from lo to hi.
func (l Lines) Range(lo, hi grid.Number) Lines {
	n := len(l.curves)
	first := sort.Search(n, func(i int) bool { return l.Labels.Compare(l.value(i), lo) >= 0 })
	end := sort.Search(n, func(i int) bool { return l.Labels.Compare(l.value(i), hi) > 0 })
	if l.down { // values descend
		first = sort.Search(n, func(i int) bool { return l.Labels.Compare(l.value(i), hi) <= 0 })
		end = sort.Search(n, func(i int) bool { return l.Labels.Compare(l.value(i), lo) < 0 })
	}
	l.before, l.after = first, n-end
	return l
}

// Sampled replaces the image's levels by some values, distinct and ascending. It returns the lines
// at which a number changes.
func (l Lines) Sampled(values []float64) (Lines, error) {
	of := [3]ecc.VCEC{2: l.curves.Euler()}
	for _, s := range l.curves {
		for k, change := range []int64{s.B0, s.B2} {
			if change != 0 {
				of[k] = append(of[k], ecc.Step{Level: s.Level, Change: change})
			}
		}
	}
	sampled := Lines{down: l.down}
	for k, changes := range of {
		at, err := ecc.Lines{Curve: changes, Ladder: l.ladder, Labels: l.Labels,
			In: ecc.Convention{Superlevel: l.down}}.Sampled(values)
		if err != nil {
			return l, err
		}
		of[k], sampled.ladder, sampled.Labels = at.Curve, at.Ladder, at.Labels
	}
	sampled.curves = Joined(of[0], of[1], of[2])
	return sampled, nil
}

// Each calls f with the lines in order: a level, as a value or a label, and the numbers of its set.
func (l Lines) Each(f func(level float32, n Numbers)) {
	var now Numbers
	for k := range len(l.curves) - l.after {
		i := k
		if l.down {
			i = len(l.curves) - 1 - k
		}
		s := l.curves[i]
		if now = now.Plus(s.Numbers); k >= l.before {
			f(l.ladder.Value(s.Level), now)
		}
	}
}

// Write writes the lines. With header it includes the provenance, if the format has room for it.
func (l Lines) Write(w io.Writer, format ecc.Format, p ecc.Provenance, header bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	put := func(appended func(line []byte, level float32, n Numbers) []byte) {
		l.Each(func(level float32, n Numbers) {
			line = appended(line[:0], level, n)
			_, _ = b.Write(line) // Flush returns the error
		})
	}
	switch format {
	case ecc.JSON:
		if err := ecc.WriteHead(b, p, "betti"); err != nil {
			return err
		}
		between := "\n"
		put(func(line []byte, level float32, n Numbers) []byte {
			line = append(append(line, between...), `  {"level":`...)
			between = ",\n"
			return fmt.Appendf(l.Labels.Append(line, level), `,"b0":%d,"b1":%d,"b2":%d}`, n.B0, n.B1, n.B2)
		})
		fmt.Fprint(b, "\n ]\n}\n")
	case ecc.NPY:
		_, _ = b.Write(ecc.NPYHeader(l.Labels, l.Len(), "b0", "b1", "b2"))
		put(func(line []byte, level float32, n Numbers) []byte {
			line = l.Labels.AppendBytes(line, level)
			for _, v := range []int64{n.B0, n.B1, n.B2} {
				line = binary.LittleEndian.AppendUint64(line, uint64(v))
			}
			return line
		})
	default:
		if header {
			fmt.Fprintf(b, "%s\nlevel,b0,b1,b2\n", p.Comment())
		}
		put(func(line []byte, level float32, n Numbers) []byte {
			if l.slice != "" {
				line = append(append(line, l.slice...), ',')
			}
			line = l.Labels.Append(line, level)
			for _, v := range []int64{n.B0, n.B1, n.B2} {
				line = decimal.AppendInt(append(line, ','), v)
			}
			return append(line, '\n')
		})
	}
	return b.Flush()
}

// WriteSlices writes the lines of the slices of an image as CSV. Each line begins with the index of
// its slice.
func WriteSlices(w io.Writer, slices []Lines, p ecc.Provenance, header bool) error {
	p.Slices = len(slices)
	if header {
		if _, err := fmt.Fprintf(w, "%s\nslice,level,b0,b1,b2\n", p.Comment()); err != nil {
			return err
		}
	}
	for i, l := range slices {
		l.slice = strconv.Itoa(i)
		if err := l.Write(w, ecc.CSV, p, false); err != nil {
			return err
		}
	}
	return nil
}
