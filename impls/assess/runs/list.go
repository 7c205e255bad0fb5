package runs

import (
	"math"
	"slices"

	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/betti"
)

// A list is the runs of a mask in the order of rows. Unlike bits, it has no memory for the
// background between them.
type list struct {
	rows []row // those with runs, and one after the last
	runs []run
}

// A row is the number of a row and of its first run. Numbers of neighbouring rows of a plane differ
// by 1.
type row struct{ at, first int32 }

// A run is the voxels lo ≤ x < end.
type run struct{ lo, end uint16 }

const (
	mostWidth = math.MaxUint16
	noRow     = math.MaxInt32 // the number after the last row
)

// open begins a row, and close ends the list.
func (l *list) open(at int32) { l.rows = append(l.rows, row{at, int32(len(l.runs))}) }
func (l *list) close()        { l.open(noRow) }

func (l *list) of(i int) []run {
	if i == none {
		return nil
	}
	return l.runs[l.rows[i].first:l.rows[i+1].first]
}

// voxels returns the number of voxels.
func (l *list) voxels() (n int64) {
	for _, r := range l.runs {
		n += int64(r.end - r.lo)
	}
	return n
}

// A union list has a bit for each mask that has voxels of a run.
type unionList struct {
	list
	sides []uint8
}

// merge appends the union of a row of both masks.
func (u *unionList) merge(at int32, a, b []run) {
	u.open(at)
	for i, k := 0, 0; i < len(a) || k < len(b); {
		if k == len(b) || i < len(a) && a[i].lo < b[k].lo {
			u.runs, u.sides = append(u.runs, a[i]), append(u.sides, 1<<pred)
			i++
		} else {
			u.runs, u.sides = append(u.runs, b[k]), append(u.sides, 1<<truth)
			k++
		}
		for all, sides := &u.runs[len(u.runs)-1], &u.sides[len(u.sides)-1]; ; {
			if i < len(a) && a[i].lo <= all.end {
				all.end, *sides = max(all.end, a[i].end), *sides|1<<pred
				i++
			} else if k < len(b) && b[k].lo <= all.end {
				all.end, *sides = max(all.end, b[k].end), *sides|1<<truth
				k++
			} else {
				break
			}
		}
	}
}

// eachPair calls do with the number of each row of two lists, and its indices: none in a list
// without it.
func (l *list) eachPair(o *list, do func(at int32, i, k int)) {
	for i, k := 0, 0; i+1 < len(l.rows) || k+1 < len(o.rows); {
		switch at, its := l.rows[i].at, o.rows[k].at; {
		case at < its:
			do(at, i, none)
			i++
		case at > its:
			do(its, none, k)
			k++
		default:
			do(at, i, k)
			i, k = i+1, k+1
		}
	}
}

// A joined list has the components of its runs, or of the gaps between runs of a row, by
// construction: the parent of each, which is at most the run. A gap has the number of the run after
// it; 0 is the outside.
type joined struct {
	parent     [assess.Constructions][]int32
	components [assess.Constructions]int64
}

func (j *joined) reset(n int) {
	for k, parent := range j.parent {
		parent = slices.Grow(parent[:0], n)[:n]
		for i := range parent {
			parent[i] = int32(i)
		}
		j.parent[k] = parent
	}
}

// count finds the components, except some nodes that are joined with none.
func (j *joined) count(except int) {
	for k, parent := range j.parent {
		flatten(parent)
		j.components[k] = -int64(except)
		for i, p := range parent {
			if p == int32(i) {
				j.components[k]++
			}
		}
	}
}

// A lists compares the masks of a label as lists. plane is the distance of numbers of rows in
// neighbouring planes, 0 in 2D.
type lists struct {
	plane int32
	set   [masksOfSet]*list
	parts [masksOfSet]joined
	gaps  [masksOfSet]joined
	euler [masksOfSet][assess.Constructions]int64

	union unionList
}

// A window is a row, the one before it and the same two of the plane before; none for rows without
// runs.
type window [4]int

// join joins the runs of a mask and those of its background, and counts its cells, window by window.
//
// In most windows of a smooth mask all rows have as many runs, and runs and gaps of one index
// touch. Then one link for each is enough: earlier windows imply the others. The cells add nothing
// to χ of T.
func (m *lists) join(of int) {
	l, parts, gaps := m.set[of], &m.parts[of], &m.gaps[of]
	parts.reset(len(l.runs))
	gaps.reset(max(1, len(l.runs)))
	distance := window{0, 1, int(m.plane), int(m.plane) + 1}
	n := len(distance)
	if m.plane == 0 {
		n = 2
	}
	next, w := window{}, window{none, none, none, none}
	for {
		at := int(l.rows[next[0]].at)
		for k := 1; k < n; k++ {
			at = min(at, int(l.rows[next[k]].at)+distance[k])
		}
		if at == noRow {
			break
		}
		isFull := n == len(w)
		for k := range n {
			if w[k] = none; int(l.rows[next[k]].at)+distance[k] == at {
				w[k] = next[k]
				next[k]++
			} else {
				isFull = false
			}
		}
		if !isFull || !m.joinRegular(of, w) {
			m.joinWindow(of, w)
		}
	}
	parts.count(0)
	gaps.count(max(1, len(l.rows)-1)) // the first run of a row has no gap
}

// joinRegular joins the runs and gaps of a window whose rows have runs of the same number and
// place, or returns false.
func (m *lists) joinRegular(of int, w window) bool {
	l := m.set[of]
	a, b, c, d := l.of(w[0]), l.of(w[1]), l.of(w[2]), l.of(w[3])
	if n := len(a); len(b) != n || len(c) != n || len(d) != n {
		return false
	}
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	last, isTight := -1, true // the last end before the runs
	for i, v := range a {
		ab, ac, bd, cd := shared(v, b[i]), shared(v, c[i]), shared(b[i], d[i]), shared(c[i], d[i])
		if min(ab, ac, bd, cd) < 0 || int(min(v.lo, b[i].lo, c[i].lo, d[i].lo)) <= last {
			return false
		}
		last = int(max(v.end, b[i].end, c[i].end, d[i].end))
		isTight = isTight && min(v.end, b[i].end, c[i].end, d[i].end) > max(v.lo, b[i].lo, c[i].lo, d[i].lo)
	}
	first, its, n := l.rows[w[0]].first, l.rows[w[1]].first, int32(len(a))
	for k := range assess.Constructions {
		parts, gaps := m.parts[of].parent[k], m.gaps[of].parent[k]
		if isTight || k == assess.T {
			copy(parts[first:first+n], parts[its:])
		}
		copy(gaps[first+1:first+n], gaps[its+1:its+n])
	}
	if !isTight {
		m.joinSlanted(of, w)
	}
	return true
}

// joinSlanted joins runs of a regular window across faces, and gaps at corners where four runs
// between them have no common voxel.
func (m *lists) joinSlanted(of int, w window) {
	l := m.set[of]
	a, b, c, d := l.of(w[0]), l.of(w[1]), l.of(w[2]), l.of(w[3])
	first, its, other := l.rows[w[0]].first, l.rows[w[1]].first, l.rows[w[2]].first
	faces, corners := m.parts[of].parent[assess.V], m.gaps[of].parent[assess.V]
	for i, v := range a {
		node := first + int32(i)
		withB, withC := shared(v, b[i]) > 0, shared(v, c[i]) > 0
		m.euler[of][assess.V]++
		if withB {
			m.euler[of][assess.V]--
			faces[node] = faces[its+int32(i)]
		}
		if withC {
			m.euler[of][assess.V]--
			unite(faces, node, other+int32(i))
		}
		if min(v.end, b[i].end, c[i].end, d[i].end) > max(v.lo, b[i].lo, c[i].lo, d[i].lo) {
			m.euler[of][assess.V]++
			continue
		}
		var before, after int32 // the outside
		if i > 0 {
			before = node
		}
		if i+1 < len(a) {
			after = node + 1
		}
		unite(corners, before, after)
	}
}

// shared returns the number of voxels that two runs share: 0 at a corner, and less if they are apart.
func shared(a, b run) int { return int(min(a.end, b.end)) - int(max(a.lo, b.lo)) }

// joinWindow joins the runs and gaps of any window.
func (m *lists) joinWindow(of int, w window) {
	l := m.set[of]
	euler := &m.euler[of]
	pairs := [4][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}} // pairs that share faces first
	n := len(pairs)
	if m.plane == 0 {
		n = 1
	}
	for k, pair := range pairs[:n] {
		i, other := w[pair[0]], w[pair[1]]
		if i == none || other == none {
			m.joinOutside(of, max(i, other), k < 2)
			continue
		}
		touching, sharing := m.joinRows(of, i, other, k < 2)
		if k < 2 {
			euler[assess.T] += touching
			euler[assess.V] -= sharing
		}
		m.joinGaps(of, i, other, k < 2)
	}
	if m.plane > 0 {
		rows := [4][]run{l.of(w[0]), l.of(w[1]), l.of(w[2]), l.of(w[3])}
		runs := int64(len(rows[0]))
		euler[assess.T] += inSome(rows) - runs - int64(len(rows[1])+len(rows[2]))
		euler[assess.V] += runs + inAll(rows)
	}
}

// joinRows joins the runs of two rows. It returns the number of pairs that touch, and of pairs that
// share a face.
func (m *lists) joinRows(of, row, other int, faced bool) (touching, sharing int64) {
	l := m.set[of]
	faces, corners := m.parts[of].parent[assess.V], m.parts[of].parent[assess.T]
	i, k, end, its := l.rows[row].first, l.rows[other].first, l.rows[row+1].first, l.rows[other+1].first
	for i < end && k < its {
		v, w := l.runs[i], l.runs[k]
		if lo, hi := max(v.lo, w.lo), min(v.end, w.end); lo <= hi {
			touching++
			unite(corners, i, k)
			if lo < hi {
				if sharing++; faced {
					unite(faces, i, k)
				}
			}
		}
		if v.end <= w.end {
			i++
		}
		if w.end <= v.end {
			k++
		}
	}
	return touching, sharing
}

// inSome returns the number of runs of the union of four rows, and inAll that of their common voxels.
func inSome(rows [4][]run) (n int64) {
	for end := -1; ; {
		at := none
		for k := range rows {
			for len(rows[k]) > 0 && int(rows[k][0].end) <= end {
				rows[k] = rows[k][1:]
			}
			if len(rows[k]) > 0 && (at == none || rows[k][0].lo < rows[at][0].lo) {
				at = k
			}
		}
		if at == none {
			return n
		}
		if int(rows[at][0].lo) > end {
			n++
		}
		end = int(rows[at][0].end)
	}
}

func inAll(rows [4][]run) (n int64) {
	for {
		lo, end := uint16(0), uint16(math.MaxUint16)
		for k := range rows {
			if len(rows[k]) == 0 {
				return n
			}
			lo, end = max(lo, rows[k][0].lo), min(end, rows[k][0].end)
		}
		if lo < end {
			n++
		}
		for k := range rows {
			if rows[k][0].end == end {
				rows[k] = rows[k][1:]
			}
		}
	}
}

// joinOutside joins the gaps of a row, or none, with the outside in a neighbouring row.
func (m *lists) joinOutside(of, row int, faced bool) {
	if row == none {
		return
	}
	m.set[of].eachGap(row, func(node int32) {
		unite(m.gaps[of].parent[assess.V], node, 0)
		if faced {
			unite(m.gaps[of].parent[assess.T], node, 0)
		}
	})
}

// joinGaps joins the gaps of two rows: in V also at corners.
func (m *lists) joinGaps(of, row, other int, faced bool) {
	l := m.set[of]
	faces, corners := m.gaps[of].parent[assess.T], m.gaps[of].parent[assess.V]
	l.gapsTouching(l, row, other, func(a, b int32, overlap bool) {
		unite(corners, a, b)
		if faced && overlap {
			unite(faces, a, b)
		}
	})
}

// eachGap calls see with the gaps of a row between its runs.
func (l *list) eachGap(i int, see func(node int32)) {
	for node := l.rows[i].first + 1; node < l.rows[i+1].first; node++ {
		see(node)
	}
}

// gapsTouching calls see with the gaps of rows i and k of two lists that touch, and whether they
// share voxels.
func (l *list) gapsTouching(o *list, i, k int, see func(a, b int32, overlap bool)) {
	a, b := l.of(i), o.of(k)
	if len(a) == 1 && len(b) == 1 {
		return // all are of the outside
	}
	first, its := l.rows[i].first, o.rows[k].first
	for i, k, from, itsFrom := 0, 0, -1, -1; ; {
		end, itsEnd := math.MaxInt, math.MaxInt
		var node, with int32
		if i < len(a) {
			if end = int(a[i].lo); i > 0 {
				node = first + int32(i)
			}
		}
		if k < len(b) {
			if itsEnd = int(b[k].lo); k > 0 {
				with = its + int32(k)
			}
		}
		if lo, hi := max(from, itsFrom), min(end, itsEnd); lo <= hi && node|with != 0 {
			see(node, with, lo < hi)
		}
		if i == len(a) && k == len(b) {
			return
		}
		if end <= itsEnd {
			from = int(a[i].end)
			i++
		}
		if itsEnd <= end {
			itsFrom = int(b[k].end)
			k++
		}
	}
}

// compare counts the features of the masks and the matched ones.
func (m *lists) compare(of labelled) (c assess.Comparison) {
	m.euler = [masksOfSet][assess.Constructions]int64{}
	m.plane, m.set[pred], m.set[truth], m.set[union] = of.plane, of.set[pred], of.set[truth], &m.union.list
	m.unite()
	for of := range m.set {
		m.join(of)
	}
	c.Pred, c.Truth = m.set[pred].voxels(), m.set[truth].voxels()
	c.Both = c.Pred + c.Truth - m.set[union].voxels()
	holes := m.matchedGaps()
	for k := range assess.Constructions {
		t := &c.In[k]
		for of, to := range []*betti.Numbers{&t.Pred, &t.Truth, &t.Union} {
			parts, gaps := m.parts[of].components[k], m.gaps[of].components[k]
			if *to = (betti.Numbers{B0: parts, B1: gaps}); m.plane > 0 {
				*to = betti.NewNumbers(parts, gaps, m.euler[of][k])
			}
		}
		t.Components = countMatched(m.parts[union].parent[k], m.union.sides)
		t.Holes = holes[k]
	}
	return c
}

// unite makes the union.
func (m *lists) unite() {
	p, t := m.set[pred], m.set[truth]
	m.union.rows, m.union.runs, m.union.sides = m.union.rows[:0], m.union.runs[:0], m.union.sides[:0]
	p.eachPair(t, func(at int32, i, k int) { m.union.merge(at, p.of(i), t.of(k)) })
	m.union.close()
}

// matchedGaps joins the gaps of both masks where they overlap, and counts the joined components
// other than the outside.
func (m *lists) matchedGaps() (n [assess.Constructions]int64) {
	p, t := m.set[pred], m.set[truth]
	var both [assess.Constructions]*overlaps
	for k := range both {
		both[k] = newOverlaps(m.gaps[pred].parent[k], m.gaps[truth].parent[k])
	}
	meet := func(i, k int32, share bool) {
		if share {
			both[0].meet(i, k)
			both[1].meet(i, k)
		}
	}
	p.eachPair(t, func(_ int32, i, k int) {
		switch {
		case i == none:
			t.eachGap(k, func(node int32) { meet(0, node, true) })
		case k == none:
			p.eachGap(i, func(node int32) { meet(node, 0, true) })
		default:
			p.gapsTouching(t, i, k, meet)
		}
	})
	for k, o := range both {
		n[k] = o.count()
	}
	return n
}
