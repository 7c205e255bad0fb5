package pairs

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"

	"eccbench/internal/decimal"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// Formats lists the output formats of lines.
func Formats() []ecc.Format { return []ecc.Format{ecc.CSV, ecc.JSON, ecc.NPY} }

// A Line is a pair with the values of its voxels, or their labels. The value of Never is that of the birth.
type Line struct {
	Pair
	Born, Died float32
}

// Lines are pairs in the order of their dimension and of the birth's value, as sets grow. Equal ones are in the order
// of their voxels.
type Lines struct {
	Labels *grid.Labels // the meanings of the values; nil if they are values
	shape  grid.Shape
	axes   int
	down   bool // superlevel
	list   []Line
	slice  string // the slice of the lines, "" for the whole image
}

// LinesOf returns the lines of an image's pairs, which are in order, in a convention.
func LinesOf(in *grid.Field, list []Pair, c ecc.Convention) Lines {
	l := Lines{Labels: in.Labels(), shape: in.Shape(), axes: grid.Dim(in), down: c.Superlevel}
	type place struct {
		key uint64 // the dimension, and the value in the order in which sets grow
		at  int
	}
	value, places := valuesOf(in), make([]place, len(list))
	for i, p := range list {
		places[i] = place{uint64(p.Dim)<<32 | uint64(l.order(value(p.Birth))), i}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.at, b.at)) })
	l.list = make([]Line, len(list))
	for i, place := range places {
		p := list[place.at]
		l.list[i] = Line{Pair: p, Born: value(p.Birth), Died: value(p.Birth)}
		if p.Death != Never {
			l.list[i].Died = value(p.Death)
		}
	}
	return l
}

// valuesOf returns a function that returns the value of a voxel.
func valuesOf(in *grid.Field) func(voxel int64) float32 {
	switch in.Type() {
	case grid.Uint8:
		return valueIn[uint8](in)
	case grid.Int16:
		return valueIn[int16](in)
	case grid.Uint16:
		return valueIn[uint16](in)
	default:
		return valueIn[float32](in)
	}
}

func valueIn[T uint8 | int16 | uint16 | float32](in *grid.Field) func(voxel int64) float32 {
	values := grid.Values[T](in.Data())
	return func(voxel int64) float32 { return float32(values[voxel]) }
}

// order returns a number that orders values as sets grow.
func (l Lines) order(v float32) uint32 {
	if l.down {
		return ^grid.EveryLevel(v)
	}
	return grid.EveryLevel(v)
}

// Len returns the number of lines.
func (l Lines) Len() int64 { return int64(len(l.list)) }

// Each calls f for the lines in order.
func (l Lines) Each(f func(Line)) {
	for _, x := range l.list {
		f(x)
	}
}

// A Selection selects lines. The zero value selects all.
type Selection struct {
	Dims        []int         // empty for all
	Persistence float64       // the least distance of birth and death
	Within      []grid.Number // the least and the greatest value of a birth; empty for all
}

// Select keeps the lines of a selection, in the same memory.
func (l Lines) Select(s Selection) Lines {
	l.list = slices.DeleteFunc(l.list, func(x Line) bool {
		return len(s.Dims) > 0 && !slices.Contains(s.Dims, x.Dim) || l.persistence(x) < s.Persistence ||
			len(s.Within) > 0 && (l.Labels.Compare(x.Born, s.Within[0]) < 0 || l.Labels.Compare(x.Born, s.Within[1]) > 0)
	})
	return l
}

// persistence returns the distance of birth and death, rounded to float64.
func (l Lines) persistence(x Line) float64 {
	lo, hi := min(x.Born, x.Died), max(x.Born, x.Died)
	switch {
	case x.Death == Never:
		return math.Inf(1)
	case l.Labels == nil || l.Labels.Kind() == "<f8":
		return l.Labels.Float64(hi) - l.Labels.Float64(lo)
	}
	return l.Labels.Shifted(hi, lo)
}

// Sampled returns the lines at the given values, distinct and ascending, instead of at their own, in the same order: a
// class begins and ends at the first of them whose set has its voxel. Classes that begin and end at the same value, or
// at none, are left out. A class that begins, but ends at none, never ends.
func (l Lines) Sampled(values []float64) (s Lines, err error) {
	s = l
	if s.Labels, err = grid.NewLabels("float64", values); err != nil {
		return l, err
	}
	numbers := grid.Numbers(values...)
	to := func(v float32) (rank int) {
		if l.down {
			return sort.Search(len(numbers), func(i int) bool { return l.Labels.Compare(v, numbers[i]) < 0 }) - 1
		}
		return sort.Search(len(numbers), func(i int) bool { return l.Labels.Compare(v, numbers[i]) <= 0 })
	}
	none := func(rank int) bool { return rank < 0 || rank == len(numbers) }
	s.list = nil
	for _, x := range l.list {
		born, died := to(x.Born), to(x.Died)
		if none(born) || born == died && x.Death != Never {
			continue
		}
		if none(died) {
			died, x.Death = born, Never
		}
		x.Born, x.Died = grid.Ranked(born), grid.Ranked(died)
		s.list = append(s.list, x)
	}
	return s, nil
}

// never is the death of a class that no voxel ends: beyond the last set.
func (l Lines) never() float64 {
	if l.down {
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// columns returns the names of the coordinates of both voxels.
func (l Lines) columns() (names []string) {
	for _, end := range []string{"birth", "death"} {
		for _, axis := range []string{"x", "y", "z"}[:l.axes] {
			names = append(names, end+"_"+axis)
		}
	}
	return names
}

// eachCoordinate calls f with the coordinates of both voxels, in the order of columns. Those of Never are -1.
func (l Lines) eachCoordinate(x Line, f func(k int, at int64)) {
	k := 0
	for _, voxel := range []int64{x.Birth, x.Death} {
		at := [3]int64{-1, -1, -1}
		if voxel != Never {
			at = [3]int64{voxel % l.shape.W, voxel / l.shape.W % l.shape.H, voxel / l.shape.W / l.shape.H}
		}
		for _, c := range at[:l.axes] {
			f(k, c)
			k++
		}
	}
}

// Write writes the lines. With header it includes the provenance, if the format has room for it.
func (l Lines) Write(w io.Writer, format ecc.Format, p ecc.Provenance, header bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	put := func(appended func(line []byte, x Line) []byte) {
		var line []byte
		for _, x := range l.list {
			line = appended(line[:0], x)
			_, _ = b.Write(line) // Flush returns the error
		}
	}
	switch format {
	case ecc.JSON:
		if err := ecc.WriteHead(b, p, "pairs"); err != nil {
			return err
		}
		between, names := "\n", l.columns()
		put(func(line []byte, x Line) []byte {
			line = append(line, between...)
			between = ",\n"
			return l.appendJSON(line, x, names)
		})
		fmt.Fprint(b, "\n ]\n}\n")
	case ecc.NPY:
		_, _ = b.Write(l.npyHeader())
		put(l.appendNPY)
	default:
		if header {
			l.writeTitle(b, "", p)
		}
		put(l.appendCSV)
	}
	return b.Flush()
}

// WriteSlices writes the lines of the slices of an image as CSV. Each line begins with the index of its slice.
func WriteSlices(w io.Writer, slices []Lines, p ecc.Provenance, header bool) error {
	p.Slices = len(slices)
	for i, l := range slices {
		if header && i == 0 {
			l.writeTitle(w, "slice,", p) // the next write returns its error
		}
		l.slice = strconv.Itoa(i)
		if err := l.Write(w, ecc.CSV, p, false); err != nil {
			return err
		}
	}
	return nil
}

// writeTitle writes the provenance and the names of the columns of CSV.
func (l Lines) writeTitle(w io.Writer, first string, p ecc.Provenance) {
	fmt.Fprintf(w, "%s\n%sdim,birth,death", p.Comment(), first)
	for _, name := range l.columns() {
		fmt.Fprintf(w, ",%s", name)
	}
	fmt.Fprintln(w)
}

func (l Lines) appendCSV(b []byte, x Line) []byte {
	if l.slice != "" {
		b = append(append(b, l.slice...), ',')
	}
	b = append(decimal.AppendInt(b, int64(x.Dim)), ',')
	b = append(l.Labels.Append(b, x.Born), ',')
	switch {
	case x.Death != Never:
		b = l.Labels.Append(b, x.Died)
	case l.down:
		b = append(b, "-inf"...)
	default:
		b = append(b, "inf"...)
	}
	l.eachCoordinate(x, func(_ int, at int64) { b = decimal.AppendInt(append(b, ','), at) })
	return append(b, '\n')
}

// appendJSON appends an object. A death that never comes is null, as JSON has no infinite numbers.
func (l Lines) appendJSON(b []byte, x Line, names []string) []byte {
	b = append(decimal.AppendInt(append(b, `  {"dim":`...), int64(x.Dim)), `,"birth":`...)
	b = append(l.Labels.Append(b, x.Born), `,"death":`...)
	if x.Death == Never {
		b = append(b, "null"...)
	} else {
		b = l.Labels.Append(b, x.Died)
	}
	l.eachCoordinate(x, func(k int, at int64) {
		b = append(append(append(b, `,"`...), names[k]...), `":`...)
		b = decimal.AppendInt(b, at)
	})
	return append(b, '}')
}

// deathKind returns the NumPy type string of deaths. It is that of births if it has an infinite number.
func (l Lines) deathKind() string {
	if l.Labels == nil {
		return l.Labels.Kind()
	}
	return "<f8"
}

// npyHeader returns the header of a structured array.
func (l Lines) npyHeader() []byte {
	fields := fmt.Sprintf("('dim', '<i8'), ('birth', '%s'), ('death', '%s')", l.Labels.Kind(), l.deathKind())
	for _, name := range l.columns() {
		fields += fmt.Sprintf(", ('%s', '<i8')", name)
	}
	return ecc.NPYHeaderOf(fields, l.Len())
}

func (l Lines) appendNPY(b []byte, x Line) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(x.Dim))
	b = l.Labels.AppendBytes(b, x.Born)
	died := l.never()
	if x.Death != Never {
		died = l.Labels.Float64(x.Died)
	}
	if l.Labels == nil {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(died)))
	} else {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(died))
	}
	l.eachCoordinate(x, func(_ int, at int64) { b = binary.LittleEndian.AppendUint64(b, uint64(at)) })
	return b
}
