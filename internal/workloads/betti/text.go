package betti

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Formats are those that lines can be written in: rows of level, b0, b1 and b2.
func Formats() []ecc.Format { return []ecc.Format{ecc.CSV, ecc.JSON, ecc.NPY} }

// Lines are the numbers of sets at levels, in the order in which the sets grow: from the first
// level on, or from the last where they are superlevel sets.
type Lines struct {
	Labels *grid.Labels // of what levels stand for; nil for themselves
	curves Curves
	ladder grid.Ladder
	down   bool
}

// LinesOf are the lines of an image's curves in a convention, of the levels at which a number
// changes.
func LinesOf(in grid.Source, curves Curves, c ecc.Convention) Lines {
	return Lines{grid.LabelsOf(in), curves, in.Ladder(), c.Superlevel}
}

// Len is how many lines there are.
func (l Lines) Len() int64 { return int64(len(l.curves)) }

// Each calls f with the lines in order: a level, which may stand for another value, and the
// numbers of its set.
func (l Lines) Each(f func(level float32, n Numbers)) {
	var now Numbers
	for i := range l.curves {
		if l.down {
			i = len(l.curves) - 1 - i
		}
		s := l.curves[i]
		now = now.plus(s.Numbers)
		f(l.ladder.Value(s.Level), now)
	}
}

// Write writes the lines, with where they come from where the format has room for that and
// header is asked for.
func (l Lines) Write(w io.Writer, format ecc.Format, p ecc.Provenance, header bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	put := func(appended func(line []byte, level float32, n Numbers) []byte) {
		l.Each(func(level float32, n Numbers) {
			line = appended(line[:0], level, n)
			_, _ = b.Write(line) // Flush says what failed
		})
	}
	switch format {
	case ecc.JSON:
		head, err := json.MarshalIndent(p, "", " ")
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s,\n \"betti\": [", head[:len(head)-len("\n}")])
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
			line = l.Labels.Append(line, level)
			for _, v := range []int64{n.B0, n.B1, n.B2} {
				line = strconv.AppendInt(append(line, ','), v, 10)
			}
			return append(line, '\n')
		})
	}
	return b.Flush()
}
