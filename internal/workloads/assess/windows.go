package assess

import (
	"math"
	"slices"

	"eccbench/internal/crew"
)

// A line is the numbers of a row and of its first run, in a list of runs. The list ends with a line after the last.
type line struct{ row, first int32 }

// A stretch is the voxels first ≤ x < end of a row.
type stretch struct{ first, end uint16 }

// Stretches are the runs of a mask, row by row. above is the difference of the numbers of a row and of the same row in
// the plane before, 0 in 2D.
type stretches struct {
	above int32
	lines []line
	runs  []stretch
}

// afterAll is the number of the row after the last.
const afterAll = math.MaxInt32

func (s *stretches) begin(row int32) { s.lines = append(s.lines, line{row, int32(len(s.runs))}) }

// mostStretched is the memory per voxel for the stretches of several labels, and runBytes that of a run with a line.
const (
	mostStretched = 1
	runBytes      = 12
)

// isThin reports whether stretches of a code need less work than the bits of its extent. The factors are measured.
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
	return s.W <= math.MaxUint16 && s.D*(s.H+1) < afterAll && 6*c.runs[code] < words+2000
}

// stretchesOf returns the stretches of the first of some codes, in both images: as many as fit into memory.
func (c census) stretchesOf(p *Pair, codes []uint16) (of [][ofUnion]*stretches) {
	s, size := p.shape, int64(0)
	byCode := make([][ofUnion]*stretches, max(256, len(p.Labels)))
	for _, code := range codes {
		if byCode[code][0] == nil {
			if size += c.runs[code] * runBytes; size > mostStretched*s.Voxels() && len(of) > 0 {
				break
			}
			for k := range ofUnion {
				byCode[code][k] = &stretches{}
				if s.D > 1 {
					byCode[code][k].above = int32(s.H + 1)
				}
			}
		}
		of = append(of, byCode[code])
	}
	fields := p.Fields()
	crew.Each(ofUnion, func(k int) {
		for row := range s.D * s.H {
			number := int32(row + row/s.H)
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

// A window is four neighbouring rows: one, that before it in its plane, and the same two of the plane before. Rows
// without runs are −1.
const (
	own = iota
	rowBefore
	planeBefore
	bothBefore
	rowsOfWindow
)

// eachWindow calls do with the lines of each window that has runs.
func (s *stretches) eachWindow(do func(at *[rowsOfWindow]int)) {
	apart := [rowsOfWindow]int{own: 0, rowBefore: 1, planeBefore: int(s.above), bothBefore: int(s.above) + 1}
	windows := rowsOfWindow
	if s.above == 0 {
		windows = planeBefore // in 2D
	}
	var next, at [rowsOfWindow]int
	at[planeBefore], at[bothBefore] = -1, -1
	for {
		least := afterAll
		for k, by := range apart[:windows] {
			least = min(least, int(s.lines[next[k]].row)+by)
		}
		if least == afterAll {
			return
		}
		for k, by := range apart[:windows] {
			if at[k] = -1; int(s.lines[next[k]].row)+by == least {
				at[k] = next[k]
				next[k]++
			}
		}
		do(&at)
	}
}

func (s *stretches) of(line int) []stretch {
	if line < 0 {
		return nil
	}
	return s.runs[s.lines[line].first:s.lines[line+1].first]
}

// neighbours are the pairs of rows of a window that are neighbours, those across faces first. Other pairs are in other
// windows.
var neighbours = [4][2]int{{own, rowBefore}, {own, planeBefore}, {own, bothBefore}, {rowBefore, planeBefore}}

// acrossFaces is the number of pairs of rows that share faces.
const acrossFaces = 2

// A meeting joins the nodes of runs, or of gaps, in a graph for each adjacency.
type meeting struct {
	graphs [adjacencies]graph
	nodes  []nodes
}

// meet joins two nodes in the adjacencies from one on: a node without a number gets that of the other.
func (m *meeting) meet(a, b int32, from int) {
	for k := from; k < adjacencies; k++ {
		switch v, w := m.nodes[a][k], m.nodes[b][k]; {
		case v == w:
		case v < 0:
			m.nodes[a][k] = w
		default:
			m.graphs[k].join(edge{v, w})
		}
	}
}

// number gives the nodes from a to b that have none a new number.
func (m *meeting) number(a, b int32) {
	for i := a; i < b; i++ {
		for k, v := range m.nodes[i] {
			if g := &m.graphs[k]; v < 0 {
				m.nodes[i][k] = g.nodes
				g.nodes++
			}
		}
	}
}

// meetRuns joins runs of a row with runs of an earlier row that they touch. It returns the number of pairs that touch,
// and of pairs that share a face.
func (m *meeting) meetRuns(s *stretches, row, other int, faced bool) (touching, sharing int64) {
	i, k, end, its := s.lines[row].first, s.lines[other].first, s.lines[row+1].first, s.lines[other+1].first
	for i < end && k < its {
		v, w := s.runs[i], s.runs[k]
		if first, last := max(v.first, w.first), min(v.end, w.end); first <= last {
			touching++
			from := corners
			if first < last {
				if sharing++; faced {
					from = faces
				}
			}
			m.meet(i, k, from)
		}
		if w.end < v.end {
			k++
		} else {
			i++
		}
	}
	return touching, sharing
}

// meetGaps joins the gaps of two rows that touch. The outside is around all runs of a row; node 0 is the outside.
func (m *meeting) meetGaps(s *stretches, row, other int, faced bool) {
	a, b := s.of(row), s.of(other)
	if len(a) < 2 && len(b) < 2 {
		return
	}
	eachGapPair(s, s, row, other, func(v, w int32, share bool) {
		if share && faced {
			m.meet(v, w, faces)
		} else {
			m.meet(v, w, corners)
		}
	})
}

// eachGapPair calls f with the gaps of a row of two lists each that touch, not both of the outside, and whether they
// share voxels. A gap has the number of the run after it, and the outside has 0.
func eachGapPair(s, t *stretches, row, other int, f func(v, w int32, share bool)) {
	a, b := s.of(row), t.of(other)
	i, k := 0, 0
	for {
		var v, w int32
		from, end, itsFrom, itsEnd := -1, math.MaxInt, -1, math.MaxInt
		if i > 0 {
			from = int(a[i-1].end)
		}
		if i < len(a) {
			if end = int(a[i].first); i > 0 {
				v = s.lines[row].first + int32(i)
			}
		}
		if k > 0 {
			itsFrom = int(b[k-1].end)
		}
		if k < len(b) {
			if itsEnd = int(b[k].first); k > 0 {
				w = t.lines[other].first + int32(k)
			}
		}
		if first, last := max(from, itsFrom), min(end, itsEnd); first <= last && v+w > 0 {
			f(v, w, first < last)
		}
		switch {
		case i == len(a) && k == len(b):
			return
		case end < itsEnd:
			i++
		default:
			k++
		}
	}
}

// missing joins the gaps of a row with the outside, where a neighbouring row has no runs.
func (m *meeting) missing(s *stretches, line int, faced bool) {
	from := corners
	if faced {
		from = faces
	}
	for node := s.lines[line].first + 1; node < s.lines[line+1].first; node++ {
		m.meet(node, 0, from)
	}
}

// search joins the runs of a mask and their gaps, and counts its cells. χ of T counts the cells of one, two and four
// rows that touch any of them as runs of their union; χ of V the cells within all of them.
func (s *stretches) search() (parts, gaps meeting, euler [Constructions]int64) {
	parts.nodes = slices.Repeat([]nodes{{-1, -1}}, len(s.runs))
	gaps.nodes = slices.Repeat([]nodes{{-1, -1}}, max(1, len(s.runs)))
	gaps.nodes[0] = nodes{} // of the outside
	for k := range gaps.graphs {
		gaps.graphs[k].nodes = 1
	}
	pairs := neighbours[:]
	if s.above == 0 {
		pairs = pairs[:1]
	}
	hasGaps := len(s.runs)+1 > len(s.lines)
	s.eachWindow(func(at *[rowsOfWindow]int) {
		if s.isEven(at) {
			euler[V] += s.searchEven(at, &parts, &gaps)
			return
		}
		for n, pair := range pairs {
			row, other, faced := at[pair[0]], at[pair[1]], n < acrossFaces
			switch {
			case row >= 0 && other >= 0:
				touching, sharing := parts.meetRuns(s, row, other, faced)
				if faced {
					euler[T] += touching
					euler[V] -= sharing
				}
				if hasGaps {
					gaps.meetGaps(s, row, other, faced)
				}
			case row >= 0:
				gaps.missing(s, row, faced)
			case other >= 0:
				gaps.missing(s, other, faced)
			}
		}
		var rows [rowsOfWindow][]stretch
		for k, line := range at {
			rows[k] = s.of(line)
		}
		if s.above > 0 {
			runs := int64(len(rows[own]))
			euler[T] += inAny(rows) - runs - int64(len(rows[rowBefore])+len(rows[planeBefore]))
			euler[V] += runs + inAll(&rows)
		}
		if line := at[own]; line >= 0 {
			first, end := s.lines[line].first, s.lines[line+1].first
			parts.number(first, end)
			gaps.number(first+1, end)
		}
	})
	return parts, gaps, euler
}

// isEven reports whether all rows of a window have as many runs, runs of one index touch around the window, and a plane
// of gaps separates them from the next.
func (s *stretches) isEven(at *[rowsOfWindow]int) bool {
	n := len(s.of(at[own]))
	for _, line := range at {
		if line < 0 || len(s.of(line)) != n {
			return false
		}
	}
	ring := [rowsOfWindow][]stretch{s.of(at[own]), s.of(at[rowBefore]), s.of(at[bothBefore]), s.of(at[planeBefore])}
	free := -1 // the last end before the runs
	for i := range n {
		first, end, v := math.MaxUint16, 0, ring[rowsOfWindow-1][i]
		for _, row := range &ring {
			w := row[i]
			if w.first > v.end || v.first > w.end {
				return false
			}
			first, end, v = min(first, int(w.first)), max(end, int(w.end)), w
		}
		if first <= free {
			return false
		}
		free = end
	}
	return true
}

// searchEven joins the runs and the gaps of an even window, and returns its cells' part of χ of V; that of T is 0.
// Gaps at both sides of four runs without a common voxel meet at a corner.
func (s *stretches) searchEven(at *[rowsOfWindow]int, parts, gaps *meeting) (euler int64) {
	begin, end := s.lines[at[own]].first, s.lines[at[own]+1].first
	apart := func(row int) int32 { return s.lines[at[row]].first - begin }
	its, above, both := apart(rowBefore), apart(planeBefore), apart(bothBefore)
	for i := begin; i < end; i++ {
		if i > begin {
			gaps.meet(i, i+its, faces)
		}
		v, w, x, y := s.runs[i], s.runs[i+its], s.runs[i+above], s.runs[i+both]
		from := corners
		euler++
		if max(v.first, w.first) < min(v.end, w.end) {
			from = faces
			euler--
		}
		if parts.meet(i, i+its, from); max(v.first, x.first) < min(v.end, x.end) {
			parts.meet(i, i+above, faces)
			euler--
		}
		if max(v.first, w.first, x.first, y.first) < min(v.end, w.end, x.end, y.end) {
			euler++
			continue
		}
		before, after := i, i+1
		if i == begin {
			before = 0
		}
		if i+1 == end {
			after = 0
		} else {
			gaps.meet(after, after+its, faces)
		}
		gaps.meet(before, after, corners)
	}
	parts.number(begin, end)
	return euler
}

// inAny returns the number of runs of the union of four rows.
func inAny(rows [rowsOfWindow][]stretch) (n int64) {
	for {
		end, least := -1, math.MaxInt
		for k := range rows {
			if len(rows[k]) > 0 {
				least = min(least, int(rows[k][0].first))
			}
		}
		if least == math.MaxInt {
			return n
		}
		n++
		end = least
		for last := -1; last < end; {
			last = end
			for k := range rows {
				for len(rows[k]) > 0 && int(rows[k][0].first) <= end {
					end = max(end, int(rows[k][0].end))
					rows[k] = rows[k][1:]
				}
			}
		}
	}
}

// inAll returns the number of runs of voxels that all four rows have.
func inAll(rows *[rowsOfWindow][]stretch) (n int64) {
	var at [rowsOfWindow]int
	for {
		first, end, ends := uint16(0), uint16(math.MaxUint16), 0
		for k, row := range rows {
			if at[k] == len(row) {
				return n
			}
			v := row[at[k]]
			if first = max(first, v.first); v.end < end {
				end, ends = v.end, k
			}
		}
		if first < end {
			n++
		}
		at[ends]++
	}
}

// eachRowPair calls f with the lines of each row of two lists, −1 in a list that has none.
func eachRowPair(s, t *stretches, f func(line, other int)) {
	for i, k := 0, 0; ; {
		a, b := s.lines[i].row, t.lines[k].row
		switch {
		case a == afterAll && b == afterAll:
			return
		case a < b:
			f(i, -1)
			i++
		case b < a:
			f(-1, k)
			k++
		default:
			f(i, k)
			i, k = i+1, k+1
		}
	}
}

// plus returns the union of two lists, and for each of its runs the masks that have voxels of it.
func (s *stretches) plus(t *stretches) (all *stretches, of []uint8) {
	all = &stretches{above: s.above, lines: make([]line, 0, len(s.lines)+len(t.lines)),
		runs: make([]stretch, 0, len(s.runs)+len(t.runs))}
	of = make([]uint8, 0, cap(all.runs))
	eachRowPair(s, t, func(i, k int) {
		if i >= 0 {
			all.begin(s.lines[i].row)
		} else {
			all.begin(t.lines[k].row)
		}
		rows, begin := [ofUnion][]stretch{s.of(i), t.of(k)}, len(all.runs)
		for len(rows[0])+len(rows[1]) > 0 {
			next := ofPred
			if len(rows[0]) == 0 || len(rows[1]) > 0 && rows[1][0].first < rows[0][0].first {
				next = ofTruth
			}
			v := rows[next][0]
			rows[next] = rows[next][1:]
			if n := len(all.runs); n > begin && v.first <= all.runs[n-1].end {
				all.runs[n-1].end = max(all.runs[n-1].end, v.end)
				of[n-1] |= 1 << next
			} else {
				all.runs, of = append(all.runs, v), append(of, 1<<next)
			}
		}
	})
	all.begin(afterAll)
	return all, of
}

// voxels returns the number of voxels.
func (s *stretches) voxels() (n int64) {
	for _, v := range s.runs {
		n += int64(v.end - v.first)
	}
	return n
}

// judgeThin counts the numbers of a mask in both images.
func judgeThin(pred, truth *stretches) *judged {
	m := &judged{space: space{planes: 1 + int64(pred.above)}} // 1 in 2D
	all, sides := pred.plus(truth)
	var holes [ofUnion]meeting
	for of, s := range [masksOfSet]*stretches{pred, truth, all} {
		var parts, gaps meeting
		parts, gaps, m.euler[of] = s.search()
		for k := range adjacencies {
			n, component := parts.graphs[k].search()
			m.parts[of][k] = n
			if of < ofUnion {
				continue
			}
			m.gaps[of][k], _ = gaps.graphs[k].search()
			met := make([]uint8, n)
			for run, node := range parts.nodes {
				met[component[node[k]]] |= sides[run]
			}
			for _, masks := range met {
				m.matched[k] += int64(masks >> 1 & masks)
			}
		}
		if of < ofUnion {
			m.voxels[of], holes[of] = s.voxels(), gaps
		}
	}
	m.common = m.voxels[ofPred] + m.voxels[ofTruth] - all.voxels()
	shared := newShared()
	meet := func(v, w int32, share bool) {
		for k := range shared {
			if share {
				shared[k].join(edge{holes[ofPred].nodes[v][k], holes[ofTruth].nodes[w][k]})
			}
		}
	}
	eachRowPair(pred, truth, func(i, k int) {
		switch {
		case i >= 0 && k >= 0:
			if len(pred.of(i)) > 1 || len(truth.of(k)) > 1 {
				eachGapPair(pred, truth, i, k, meet)
			}
		case i >= 0:
			for v := pred.lines[i].first + 1; v < pred.lines[i+1].first; v++ {
				meet(v, 0, true)
			}
		default:
			for w := truth.lines[k].first + 1; w < truth.lines[k+1].first; w++ {
				meet(0, w, true)
			}
		}
	})
	m.joinHoles([ofUnion]*[adjacencies]graph{&holes[ofPred].graphs, &holes[ofTruth].graphs}, shared)
	return m
}
