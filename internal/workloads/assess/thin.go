package assess

import (
	"cmp"
	"math"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// A line is the numbers of a row and of its first run, in a list of runs. The list ends with a line
// after the last.
type line struct{ row, first int32 }

// A stretch is the voxels first ≤ x < end of a row.
type stretch struct{ first, end uint16 }

// Stretches are the runs of a mask, row by row. The numbers of rows count an empty row before and
// after each plane, and an empty plane before and after the image.
type stretches struct {
	above int64 // rows of a plane
	flat  bool  // in 2D
	lines []line
	runs  []stretch
	at    []int32 // by row: its line + 1, or 0
}

// afterAll is the number of the row after the last.
const afterAll = math.MaxInt32

func rowsAround(s grid.Shape) int64 { return (s.D + 2) * (s.H + 2) }

func newStretches(s grid.Shape) *stretches { return &stretches{above: s.H + 2, flat: s.D == 1} }

func (s *stretches) begin(row int32) { s.lines = append(s.lines, line{row, int32(len(s.runs))}) }

// mostStretched is the memory per voxel for the stretches of several labels, and runBytes that of a
// run with a line.
const (
	mostStretched = 1
	runBytes      = 12
)

// isThin reports whether stretches of a code need less work than the bits of its extent. The factor
// is measured.
func (c census) isThin(p *Pair, code uint16) bool {
	s, e := p.shape, c.extents[code]
	words := int64(1)
	for axis := range e.least {
		n := e.greatest[axis] - e.least[axis] + 1
		if axis == 2 {
			n = n/step + 1
		}
		words *= n
	}
	return s.W <= math.MaxUint16 && rowsAround(s) < afterAll && 6*c.runs[code] < words
}

// stretchesOf returns the stretches of the first of some codes, in both images: as many as fit into
// memory.
func (c census) stretchesOf(p *Pair, codes []uint16) (of [][ofUnion]*stretches) {
	s, size := p.shape, int64(0)
	byCode := make([][ofUnion]*stretches, p.Codes())
	for _, code := range codes {
		if byCode[code][0] == nil {
			if size += c.runs[code] * runBytes; size > mostStretched*s.Voxels() && len(of) > 0 {
				break
			}
			byCode[code] = [ofUnion]*stretches{newStretches(s), newStretches(s)}
		}
		of = append(of, byCode[code])
	}
	fields := p.Fields()
	crew.Each(ofUnion, func(k int) {
		for row := range s.D * s.H {
			number := int32((row/s.H+1)*(s.H+2) + row%s.H + 1)
			eachRun(fields[k], row, func(code uint16, first, end int64) {
				to := byCode[code][k]
				if to == nil {
					return
				}
				if n := len(to.lines); n == 0 || to.lines[n-1].row != number {
					to.begin(number)
				}
				to.runs = append(to.runs, stretch{uint16(first), uint16(end)})
			})
		}
	})
	for _, both := range byCode {
		for _, s := range both {
			if s != nil {
				s.begin(afterAll)
			}
		}
	}
	return of
}

func (s *stretches) of(line int) []stretch { return s.runs[s.lines[line].first:s.lines[line+1].first] }

// plus returns the union of two lists: the runs of both are sorted, and joined where they touch
// along a row.
func (s *stretches) plus(t *stretches) *stretches {
	type placed struct {
		row int32
		stretch
	}
	list := make([]placed, 0, len(s.runs)+len(t.runs))
	for _, l := range []*stretches{s, t} {
		for i := range len(l.lines) - 1 {
			for _, run := range l.of(i) {
				list = append(list, placed{l.lines[i].row, run})
			}
		}
	}
	slices.SortFunc(list, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.row, b.row), cmp.Compare(a.first, b.first))
	})
	all := &stretches{above: s.above, flat: s.flat}
	for i, v := range list {
		if i == 0 || v.row != list[i-1].row {
			all.begin(v.row)
		} else if last := &all.runs[len(all.runs)-1]; v.first <= last.end {
			last.end = max(last.end, v.end)
			continue
		}
		all.runs = append(all.runs, v.stretch)
	}
	all.begin(afterAll)
	return all
}

// A layer is the runs of a mask, or with gaps the gaps between them. A gap has the index of the run
// before it; the gaps before the first run of a row and after the last are of the outside.
type layer struct {
	*stretches
	gaps bool
}

// place returns the voxels first ≤ x < end of a run or gap.
func (l layer) place(i int32) (first, end int) {
	if l.gaps {
		return int(l.runs[i].end), int(l.runs[i+1].first)
	}
	return int(l.runs[i].first), int(l.runs[i].end)
}

// in returns the indices from ≤ i < to of the runs or gaps of a row with voxels of first ≤ x < end,
// and whether the outside has such voxels.
func (l layer) in(row int64, first, end int) (from, to int32, isOpen bool) {
	at := l.at[row]
	if at == 0 {
		return 0, 0, true
	}
	from, last := l.lines[at-1].first, l.lines[at].first
	isOpen = first < int(l.runs[from].first) || end > int(l.runs[last-1].end)
	if l.gaps {
		last--
	}
	for most := last; from < most; {
		middle := (from + most) / 2
		if _, its := l.place(middle); its > first {
			most = middle
		} else {
			from = middle + 1
		}
	}
	for to = from; to < last; to++ {
		if its, _ := l.place(to); its >= end {
			break
		}
	}
	return from, to, isOpen
}

// each calls f with the row, the index and the voxels of each run or gap.
func (l layer) each(f func(row int64, i int32, first, end int)) {
	for k, line := range l.lines[:len(l.lines)-1] {
		last := l.lines[k+1].first
		if l.gaps {
			last--
		}
		for i := line.first; i < last; i++ {
			first, end := l.place(i)
			f(int64(line.row), i, first, end)
		}
	}
}

// flood floods the components of runs or gaps that touch in neighbouring rows. It returns the
// number of components and the component of each run or gap. Component 0 of gaps is the outside.
func (l layer) flood(adjacency int) (n int32, of []int32) {
	rows, by := []int64{-1, 1}, 0
	if !l.flat {
		rows = append(rows, -l.above, l.above)
		if adjacency == corners {
			rows = append(rows, -l.above-1, -l.above+1, l.above-1, l.above+1)
		}
	}
	if adjacency == corners {
		by = 1
	}
	if l.gaps {
		n = 1
	}
	of = slices.Repeat([]int32{-1}, len(l.runs))
	type place struct {
		row int64
		i   int32
	}
	var due []place
	l.each(func(row int64, i int32, _, _ int) {
		if of[i] >= 0 {
			return
		}
		of[i], due = n, append(due[:0], place{row, i})
		isOutside := false
		for k := 0; k < len(due); k++ {
			first, end := l.place(due[k].i)
			for _, apart := range rows {
				row := due[k].row + apart
				from, to, isOpen := l.in(row, first-by, end+by)
				isOutside = isOutside || isOpen
				for i := from; i < to; i++ {
					if of[i] < 0 {
						of[i], due = n, append(due, place{row, i})
					}
				}
			}
		}
		if !l.gaps || !isOutside {
			n++
			return
		}
		for _, at := range due {
			of[at.i] = 0
		}
	})
	return n, of
}

// euler returns the Euler characteristics. It counts cells by the definition, on the bits of rows
// of two planes at a time, up to a row that is empty in both.
func (s *stretches) euler() (n [Constructions]int64) {
	var words [2][]uint64
	for below, above := 0, 0; ; {
		row := min(int64(s.lines[above].row), int64(s.lines[below].row)+s.above)
		first, lines := row, [2][2]int{{below}, {above}}
		for ; ; row++ {
			isAbove, isBelow := int64(s.lines[above].row) == row, int64(s.lines[below].row)+s.above == row
			if !isAbove && !isBelow || row == afterAll {
				break
			}
			if isAbove {
				above++
			}
			if isBelow {
				below++
			}
		}
		if row == first {
			return n
		}
		lines[0][1], lines[1][1] = below, above
		planes := s.bits(lines, [2]int64{first - s.above, first}, row-first, &words)
		n[T] += cells.CellsBetween(planes[0], planes[1])
		n[V] += cells.DualCellsBetween(planes[0], planes[1])
	}
}

// bits returns the bits of h rows of two planes, of some lines and from a first row each, in words
// that it replaces.
func (s *stretches) bits(lines [2][2]int, first [2]int64, h int64, words *[2][]uint64) (planes [2]*cells.PlaneSet) {
	least, most := math.MaxInt, 0
	for _, of := range lines {
		for i := of[0]; i < of[1]; i++ {
			runs := s.of(i)
			least, most = min(least, int(runs[0].first)), max(most, int(runs[len(runs)-1].end))
		}
	}
	w := int64(most - least)
	size := int((h + 2) * cells.RowWords(w))
	for k, of := range lines {
		words[k] = slices.Grow(words[k][:0], size)[:size]
		clear(words[k])
		planes[k] = cells.PlaneSetOf(words[k], h, w)
		for i := of[0]; i < of[1]; i++ {
			row := planes[k].Row(int64(s.lines[i].row) - first[k])
			for _, run := range s.of(i) {
				setBits(row, int(run.first)-least, int(run.end)-least)
			}
		}
	}
	return planes
}

// setBits sets the bits first ≤ x < end of a row.
func setBits(row []uint64, first, end int) {
	for x := first; x < end; {
		next := min(end, x/step*step+step)
		row[x/step] |= math.MaxUint64 >> (step - (next - x)) << (x % step)
		x = next
	}
}

// judgeThin counts the numbers of a mask in both images. Tables by row are zeros, and are cleared
// again.
func judgeThin(pred, truth *stretches, byRow *[masksOfSet][]int32) *judged {
	m := &judged{space: space{planes: 2}}
	if pred.flat {
		m.planes = 1
	}
	var parts, gaps [masksOfSet]layer
	var component, holes [masksOfSet][adjacencies][]int32
	for of, s := range [masksOfSet]*stretches{pred, truth, pred.plus(truth)} {
		s.at = byRow[of]
		for i, line := range s.lines[:len(s.lines)-1] {
			s.at[line.row] = int32(i + 1)
		}
		parts[of], gaps[of] = layer{s, false}, layer{s, true}
		for k := range adjacencies {
			var n, closed int32
			n, component[of][k] = parts[of].flood(k)
			closed, holes[of][k] = gaps[of].flood(k)
			m.parts[of][k], m.gaps[of][k] = int64(n), int64(closed)
		}
		if !s.flat {
			m.euler[of] = s.euler()
		}
	}
	var met [adjacencies][]uint8
	for k := range met {
		met[k] = make([]uint8, m.parts[ofUnion][k])
	}
	for of := range ofUnion {
		parts[of].each(func(row int64, _ int32, first, end int) {
			m.voxels[of] += int64(end - first)
			run, _, _ := parts[ofUnion].in(row, first, end)
			for k := range met {
				met[k][component[ofUnion][k][run]] |= 1 << of
			}
			if of == ofTruth {
				return
			}
			for i, to, _ := parts[ofTruth].in(row, first, end); i < to; i++ {
				its, itsEnd := parts[ofTruth].place(i)
				m.common += int64(min(end, itsEnd) - max(first, its))
			}
		})
	}
	shared := shareGaps(gaps[ofPred], gaps[ofTruth], holes[ofPred], holes[ofTruth])
	for k := range shared {
		for _, both := range met[k] {
			m.matched[k] += int64(both >> 1 & both)
		}
		m.joinHoles(k, &shared[k])
	}
	for of := range masksOfSet {
		for _, line := range parts[of].lines[:len(parts[of].lines)-1] {
			byRow[of][line.row] = 0
		}
	}
	return m
}

// shareGaps returns graphs whose edges join components of the gaps of both masks that share voxels.
func shareGaps(pred, truth layer, predOf, truthOf [adjacencies][]int32) (shared [adjacencies]graph) {
	for k := range shared {
		p, t, g := predOf[k], truthOf[k], &shared[k]
		g.join(edge{0, 0})
		pred.each(func(row int64, gap int32, first, end int) {
			i, to, isOpen := truth.in(row, first, end)
			for ; i < to; i++ {
				g.join(edge{p[gap], t[i]})
			}
			if isOpen {
				g.join(edge{p[gap], 0})
			}
		})
		truth.each(func(row int64, gap int32, first, end int) {
			if _, _, isOpen := pred.in(row, first, end); isOpen {
				g.join(edge{0, t[gap]})
			}
		})
	}
	return shared
}
