package assess

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// A Group is a named group of labels that are compared as one mask.
type Group struct {
	Name   string        `json:"name"`
	Labels []grid.Number `json:"labels"`
}

// NewPair pairs two label images. The sets are the given labels (default: all labels of either
// image), the union of all labels unless it is the only set so far, and the groups.
func NewPair(pred, truth *grid.Field, labels []grid.Number, groups []Group) (*Pair, error) {
	if pred.Shape() != truth.Shape() {
		return nil, fmt.Errorf("the prediction has shape %v and the truth %v: want images of one shape",
			pred.Shape(), truth.Shape())
	}
	p := &Pair{shape: pred.Shape(), fields: [2]*grid.Field{pred, truth}}
	var tables [2]map[float32]grid.Number
	var places [2]map[float32]Place
	var errs [2]error
	crew.Each(2, func(i int) { tables[i], places[i], errs[i] = labelsOf(p.fields[i]) })
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("the %s: %w", []string{"prediction", "truth"}[i], err)
		}
	}
	return p, p.label(tables, places, pred.Type() == grid.Uint8 && truth.Type() == grid.Uint8, labels, groups)
}

// label adds the codes and the sets. By image, tables are the labels of the values, and places their places. With
// same, values are codes.
func (p *Pair) label(tables [2]map[float32]grid.Number, places [2]map[float32]Place, same bool, labels []grid.Number,
	groups []Group) error {
	numbers := map[string]grid.Number{}
	for _, table := range tables {
		for _, label := range table {
			numbers[label.String()] = label
		}
	}
	delete(numbers, "0")
	found := slices.SortedFunc(maps.Values(numbers), grid.Number.Compare)
	if len(found) >= mostLabels {
		return fmt.Errorf("%d labels: want at most %d", len(found), mostLabels-1)
	}
	p.Labels = []string{"0"}
	for _, label := range found {
		for c := len(p.Labels); same && c < int(label.Float64()); c++ {
			p.Labels = append(p.Labels, strconv.Itoa(c))
		}
		p.Labels = append(p.Labels, label.String())
	}
	code := map[string]uint16{}
	for c, label := range p.Labels[1:] {
		code[label] = uint16(c + 1)
	}
	if !same {
		var errs [2]error
		crew.Each(2, func(i int) { p.fields[i], errs[i] = coded(p.fields[i], tables[i], code) })
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
	}
	p.places = make([]Place, len(p.Labels))
	for i, table := range tables {
		for v, place := range places[i] {
			p.places[code[table[v].String()]].Join(place)
		}
	}
	return p.choose(found, labels, groups, code)
}

// mostLabels is the number of codes.
const mostLabels = math.MaxUint16 + 1

// A Place is the number of runs of a label along rows, and its first and last plane and row.
type Place struct {
	Runs         int64
	Planes, Rows [2]int64
}

// Join adds another place.
func (p *Place) Join(o Place) {
	if o.Runs > 0 && p.Runs > 0 {
		o.Planes = [2]int64{min(p.Planes[0], o.Planes[0]), max(p.Planes[1], o.Planes[1])}
		o.Rows = [2]int64{min(p.Rows[0], o.Rows[0]), max(p.Rows[1], o.Rows[1])}
		o.Runs += p.Runs
	}
	if o.Runs > 0 {
		*p = o
	}
}

// labelsOf returns the label of each distinct value of an image, and its place.
func labelsOf(f *grid.Field) (of map[float32]grid.Number, places map[float32]Place, err error) {
	of, places = map[float32]grid.Number{}, map[float32]Place{}
	bad, s := 0, f.Shape()
	see := func(v float32, at Place) {
		place, known := places[v]
		place.Join(at)
		if places[v] = place; known {
			return
		}
		label := f.Labels().Number(v)
		if of[v] = label; !label.IsWhole() {
			bad++
		}
	}
	switch f.Type() {
	case grid.Uint8:
		findRuns(grid.Values[uint8](f.Data()), s, see)
	case grid.Int16:
		findRuns(grid.Values[int16](f.Data()), s, see)
	case grid.Uint16:
		findRuns(grid.Values[uint16](f.Data()), s, see)
	case grid.Float32:
		last := float32(0)
		for i, v := range grid.Values[float32](f.Data()) {
			row := int64(i) / s.W
			if v == last && int64(i)%s.W > 0 {
				continue
			}
			last = v
			if see(v, placeOf(row/s.H, row%s.H)); bad > 0 || len(of) > mostLabels {
				break
			}
		}
	}
	if bad > 0 {
		return nil, nil, errors.New("some values are not whole numbers, as labels must be; threshold the image first")
	}
	return of, places, nil
}

// placeOf returns the place of a run in row y of plane z.
func placeOf(z, y int64) Place { return Place{1, [2]int64{z, z}, [2]int64{y, y}} }

// findRuns calls see with each value and its place. The number of runs of 0 is not exact.
func findRuns[T uint8 | int16 | uint16](values []T, s grid.Shape, see func(v float32, at Place)) {
	size := 8 * int(grid.TypeOf[T]().Size())
	all := uint64(1)<<size - 1
	places, runs := make([]Place, 1<<size), make([]int64, 1<<size)
	rows := make([]int64, 1<<size)     // by value: 1 + the last row that has it
	single, _ := any(values).([]uint8) // nil after a plane of several labels
	byPlane := binaryPlane{cells.NewPlaneSet(s.H, s.W), s.H, s.W}
	for row, z, y := int64(0), int64(0), int64(0); z < s.D; row++ {
		if single != nil && y == 0 {
			if label, at, hasGap, ok := byPlane.place(single[row*s.W:][:s.H*s.W], z); ok {
				runs[label] += at.Runs
				places[label].Join(at)
				if hasGap {
					runs[0]++
				}
				z, row = z+1, row+s.H-1
				continue
			}
			single = nil
		}
		before := uint64(values[row*s.W])&all ^ 1 // so that the first value differs
		for data := grid.Bytes(values[row*s.W:][:s.W]); len(data) > 0; {
			v, most := uint64(0), uint64(math.MaxUint64)
			if len(data) >= word {
				v, data = binary.LittleEndian.Uint64(data), data[word:]
			} else {
				for i, b := range data {
					v |= uint64(b) << (8 * i)
				}
				most, data = 1<<(8*len(data))-1, nil
			}
			for differs := (v ^ (v<<size | before)) & most; differs != 0; {
				at := bits.TrailingZeros64(differs) &^ (size - 1)
				differs &^= all << at
				code := v >> at & all
				if runs[code]++; rows[code] <= row {
					rows[code] = row + 1
					places[code].Join(placeOf(z, y))
				}
			}
			before = v >> (64 - size)
		}
		if y++; y == s.H {
			z, y = z+1, 0
		}
	}
	for i, n := range runs {
		if n > 0 {
			places[i].Runs = n
			see(float32(T(i)), places[i])
		}
	}
}

// coded returns an image with the codes of the labels of f.
func coded(f *grid.Field, of map[float32]grid.Number, codes map[string]uint16) (*grid.Field, error) {
	code := map[float32]uint16{}
	for v, label := range of {
		code[v] = codes[label.String()]
	}
	if len(codes) > 255 {
		return coding[uint16](f, code)
	}
	return coding[uint8](f, code)
}

func coding[To uint8 | uint16](f *grid.Field, code map[float32]uint16) (*grid.Field, error) {
	to := grid.NewValues[To](f.Shape().Voxels())
	switch f.Type() {
	case grid.Uint8:
		lookUp(to, grid.Values[uint8](f.Data()), code)
	case grid.Int16:
		lookUp(to, grid.Values[int16](f.Data()), code)
	case grid.Uint16:
		lookUp(to, grid.Values[uint16](f.Data()), code)
	case grid.Float32:
		var last float32
		now := To(code[0])
		for i, v := range grid.Values[float32](f.Data()) {
			if v != last {
				last, now = v, To(code[v])
			}
			to[i] = now
		}
	}
	t := grid.TypeOf[To]()
	return grid.Trusted(f.Shape(), t, grid.Bytes(to), grid.Identity(t))
}

func lookUp[To uint8 | uint16, From uint8 | int16 | uint16](to []To, values []From, code map[float32]uint16) {
	var table [1 << 16]To
	for v, c := range code {
		table[uint16(From(v))] = To(c)
	}
	for i, v := range values {
		to[i] = table[uint16(v)]
	}
}

// choose adds the requested sets of labels, or those of all labels found.
func (p *Pair) choose(found, labels []grid.Number, groups []Group, code map[string]uint16) error {
	if labels == nil {
		labels = found
	}
	var all []Group
	for _, label := range labels {
		all = append(all, Group{label.Exact().String(), []grid.Number{label}})
	}
	if len(found) != 1 || !slices.EqualFunc(found, labels, sameLabel) {
		all = append(all, Group{Everything, found})
	}
	names := map[string]bool{}
	for _, g := range append(all, groups...) {
		if names[g.Name] && g.Name == Everything {
			return fmt.Errorf("%s is the union of all labels, which has a row without a group: name the group otherwise", g.Name)
		}
		if names[g.Name] {
			return fmt.Errorf("the label or group %s is given twice: leave one out", g.Name)
		}
		names[g.Name] = true
		if err := p.add(g, code); err != nil {
			return err
		}
	}
	return nil
}

func sameLabel(a, b grid.Number) bool { return a.Compare(b) == 0 }

// add adds the set of a group. Labels that neither image has add no voxel.
func (p *Pair) add(g Group, code map[string]uint16) error {
	s := Set{Name: g.Name, Codes: []uint16{}}
	for _, label := range g.Labels {
		if label.Float64() == 0 {
			return errors.New("label 0 is the background: leave it out")
		}
		if c, ok := code[label.Exact().String()]; ok {
			s.Codes = append(s.Codes, c)
		}
	}
	slices.Sort(s.Codes)
	s.Codes = slices.Compact(s.Codes)
	p.Sets = append(p.Sets, s)
	return nil
}

// Crop returns the part of the pair with a corner (z, y, x) and a shape.
func (p *Pair) Crop(at [3]int64, to grid.Shape) (*Pair, error) {
	var parts [2]*grid.Field
	var errs [2]error
	for i, f := range p.Fields() {
		parts[i], errs[i] = cropped(f, at, to)
	}
	return p.with(parts), errors.Join(errs[:]...)
}

func cropped(f *grid.Field, at [3]int64, to grid.Shape) (*grid.Field, error) {
	from, size := f.Shape(), f.Type().Size()
	data := grid.NewBuffer(to.Voxels() * size)
	for z := range to.D {
		for y := range to.H {
			row := ((z+at[0])*from.H+y+at[1])*from.W + at[2]
			copy(data[(z*to.H+y)*to.W*size:], f.Data()[row*size:][:to.W*size])
		}
	}
	return grid.Trusted(to, f.Type(), data, f.Ladder())
}

// Patches returns the corners and the shape of patches whose corners are stride ≤ side voxels apart along
// each axis. The last ones end with the image, so that the patches contain all voxels.
func Patches(of grid.Shape, side, stride int64) (corners [][3]int64, shape grid.Shape) {
	shape = grid.Shape{D: min(side, of.D), H: min(side, of.H), W: min(side, of.W)}
	starts := func(length, side int64) (list []int64) {
		for at := int64(0); at < length-side; at += stride {
			list = append(list, at)
		}
		return append(list, length-side)
	}
	for _, z := range starts(of.D, shape.D) {
		for _, y := range starts(of.H, shape.H) {
			for _, x := range starts(of.W, shape.W) {
				corners = append(corners, [3]int64{z, y, x})
			}
		}
	}
	return corners, shape
}

// Has reports whether a voxel belongs to a set in the prediction, and whether it does in the truth.
func (p *Pair) Has(s Set, voxel int64) (pred, truth bool) {
	var in [2]bool
	for i, f := range p.Fields() {
		code := uint16(0)
		if f.Type() == grid.Uint8 {
			code = uint16(f.Data()[voxel])
		} else {
			code = grid.Values[uint16](f.Data())[voxel]
		}
		in[i] = s.has(code)
	}
	return in[0], in[1]
}
