package homology

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/ranks"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/homology/torsion"
)

// The code below uses only the list of given simplices of package simplicial. So it is an
// independent witness for implementations that number faces by that package.

// A chains is all simplices of a complex, most of them in pairs that eliminate each other. The
// others are critical simplices of a discrete Morse function, with a boundary of their own.
type chains struct {
	count    []int64    // simplices by dimension
	critical [][]uint32 // the vertices of each critical simplex, ascending, by dimension
	below    []lists
	down     []uint32 // of each vertex: the other one of the edge that it is paired with, or itself
}

// A lists is lists of the same number of vertices, for each vertex above them. Together they are a
// simplex, with its greatest vertex last.
type lists struct {
	size     int
	start    []uint32 // of each vertex, a number of lists
	vertices []uint32
}

// list returns the lists of a vertex, one after the other.
func (l *lists) list(v uint32) []uint32 {
	return l.vertices[int(l.start[v])*l.size : int(l.start[v+1])*l.size]
}

// atOnce is the number of vertices whose stars a core pairs in turn.
const atOnce = 1 << 10

// chainsOf pairs the simplices of a complex, within the star of each vertex.
func chainsOf(p *Problem) *chains {
	dims := len(p.Tops)
	c := &chains{make([]int64, dims), make([][]uint32, dims), listsBelow(p), make([]uint32, p.Vertices)}
	type part struct {
		count    []int64
		critical [][]uint32
	}
	parts := make([]part, (p.Vertices+atOnce-1)/atOnce)
	cores := runtime.GOMAXPROCS(0)
	stars := make([]star, cores)
	crew.InTurn(cores, len(parts), func(core, at int) {
		own, s := part{make([]int64, dims), make([][]uint32, dims)}, &stars[core]
		for v := at * atOnce; v < min((at+1)*atOnce, p.Vertices); v++ {
			if c.down[v] = uint32(v); !c.pair(s, uint32(v)) {
				continue
			}
			for i := range s.cells {
				x := &s.cells[i]
				own.count[x.dim]++
				if x.partner == uint32(i) {
					own.critical[x.dim] = append(s.vertices(uint32(i), own.critical[x.dim]), uint32(v))
				}
			}
			if edge := s.cells[0].partner; edge > 0 {
				c.down[v] = s.nodes[edge].last
			}
		}
		parts[at] = own
	})
	for _, own := range parts {
		for d := range dims {
			c.count[d] += own.count[d]
			c.critical[d] = append(c.critical[d], own.critical[d]...)
		}
	}
	return c
}

// pair makes the star of a vertex, and pairs its cells. It reports whether the vertex is part of the
// complex.
func (c *chains) pair(s *star, v uint32) bool {
	room, used := 1, false
	for k := range c.below {
		n := int(c.below[k].start[v+1] - c.below[k].start[v])
		used = used || n > 0
		room += n << k
	}
	if !used {
		return false
	}
	s.reset(room, len(c.down))
	for k := len(c.below) - 1; k > 0; k-- {
		for list := range slices.Chunk(c.below[k].list(v), k) {
			s.add(list)
		}
	}
	s.pair()
	return true
}

// listsBelow returns the lists of k vertices of given simplices that are below another one, by k.
func listsBelow(p *Problem) []lists {
	below := make([]lists, len(p.Tops))
	number := numbered(p)
	tops := make([][]uint32, len(p.Tops))
	for d, given := range p.Tops {
		tops[d] = byGreatest(given, d, number)
	}
	for k := range below {
		below[k] = lists{size: k, start: make([]uint32, p.Vertices+1)}
	}
	for d, list := range tops {
		for s := range slices.Chunk(list, d+1) {
			for k, v := range s {
				below[k].start[v]++
			}
		}
	}
	for k := range below {
		below[k].vertices = make([]uint32, k*int(ends(below[k].start)))
	}
	for d, list := range tops {
		for s := range slices.Chunk(list, d+1) {
			for k, v := range s {
				at := &below[k].start[v]
				*at--
				to := below[k].vertices[k*int(*at):]
				copy(to, s[:k])
			}
		}
	}
	return below
}

// ends replaces counts by their sums up to there, and returns the last.
func ends(count []uint32) (sum uint32) {
	for i, n := range count {
		sum += n
		count[i] = sum
	}
	return sum
}

// byGreatest returns simplices with numbers of their vertices, ascending, in the order of the
// greatest.
func byGreatest(given []uint32, d int, number []uint32) []uint32 {
	renumbered, out := make([]uint32, len(given)), make([]uint32, len(given))
	start := make([]uint32, len(number))
	for at := 0; at < len(given); at += d + 1 {
		to := renumbered[at:][:d+1]
		for i, v := range given[at:][:d+1] {
			v = number[v]
			for k, w := range to[:i] { // without a branch, which would be unpredictable
				to[k], v = min(v, w), max(v, w)
			}
			to[i] = v
		}
		start[to[d]]++
	}
	ends(start)
	for s := range slices.Chunk(renumbered, d+1) {
		at := &start[s[d]]
		*at--
		copy(out[int(*at)*(d+1):], s)
	}
	return out
}

// numbered returns numbers of the vertices. They ascend along a line, which is not parallel to the
// edges of grids, or from neighbour to neighbour if the vertices have no points. Few simplices are
// critical in that order, whatever the order of the file. Groups do not depend on it, so the search
// may be that of an implementation.
func numbered(p *Problem) []uint32 {
	if len(p.Points) == 0 {
		return distinct(p.Numbers(runtime.GOMAXPROCS(0)))
	}
	along := make([]uint32, p.Vertices)
	for v := range along {
		at := p.Points[3*v:][:3]
		key := math.Float32bits(float32(at[2] + 0.61*at[1] + 0.37*at[0]))
		along[v] = key ^ (uint32(int32(key)>>31) | 1<<31) // in the order of the numbers
	}
	return distinct(along)
}

// distinct returns numbers from 0 on in the order of others, and those if they are such numbers. Equal numbers of two
// vertices would make them one in the witness too.
func distinct(given []uint32) []uint32 {
	seen := make([]bool, len(given))
	repeats := slices.ContainsFunc(given, func(n uint32) bool {
		if int(n) >= len(seen) || seen[n] {
			return true
		}
		seen[n] = true
		return false
	})
	if !repeats {
		return given
	}
	keys := make([]uint64, len(given))
	for v, n := range given {
		keys[v] = uint64(n)<<32 | uint64(v)
	}
	slices.Sort(keys)
	number := make([]uint32, len(given))
	for at, key := range keys {
		number[uint32(key)] = uint32(at)
	}
	return number
}

// betti returns the Betti numbers over the field of p elements, by the ranks of the boundary of
// the critical simplices.
func (c *chains) betti(p int64) ([]int64, error) {
	b := make([]int64, len(c.count))
	for d := range b {
		columns, err := c.boundary(d, b, p)
		if err != nil {
			return nil, err
		}
		rank := ranks.Rank(c.criticals(d-1), int64(len(columns)), p, func(i int64, list []ranks.Term) []ranks.Term {
			for _, t := range columns[i] {
				list = append(list, ranks.Term(t))
			}
			return list
		})
		c.eliminate(b, d, rank)
	}
	return b, nil
}

// groups returns the groups over the integers.
func (c *chains) groups() (Groups, error) {
	g := NewGroups(len(c.count))
	for d := range g.Betti {
		columns, err := c.boundary(d, g.Betti, 0)
		if err != nil {
			return g, err
		}
		column := func(i int64, list []torsion.Term) []torsion.Term { return append(list, columns[i]...) }
		rank, orders, err := torsion.Compute(c.criticals(d-1), int64(len(columns)), column)
		if err == nil && d > 0 {
			g.Torsion[d-1], err = short(orders)
		}
		if err != nil {
			return g, err
		}
		c.eliminate(g.Betti, d, rank)
	}
	return g, nil
}

// eliminate sets the Betti number of a dimension to that of the cycles, and lowers the one below.
func (c *chains) eliminate(b []int64, d int, rank int64) {
	if b[d] = c.criticals(d) - rank; d > 0 {
		b[d-1] -= rank
	}
}

// criticals returns the number of critical simplices of a dimension.
func (c *chains) criticals(d int) int64 {
	if d < 0 {
		return 0
	}
	return int64(len(c.critical[d]) / (d + 1))
}

// boundary returns the boundary of the critical simplices of dimension d in those of dimension d−1,
// modulo p, or over the integers if p is 0. Columns of zeros may be left out. It is nil if there are
// no cycles of dimension d−1, whose number b has.
func (c *chains) boundary(d int, b []int64, p int64) ([][]torsion.Term, error) {
	if d == 0 || b[d-1] == 0 || c.criticals(d) == 0 {
		return nil, nil
	}
	if d == 1 {
		return c.edges(), nil
	}
	f := flow{chains: c, d: d, p: p, reached: make([]bool, len(c.down)), room: fewTerms}
	for _, n := range c.count {
		f.room += n
	}
	f.known.reset(0, len(c.down))
	for v := range c.down {
		if err := f.value(uint32(v)); err != nil {
			return nil, err
		}
	}
	return f.columns, nil
}

// edges returns the boundary of the critical edges. A vertex flows down to a critical one.
func (c *chains) edges() (columns [][]torsion.Term) {
	number, critical := make([]uint32, len(c.down)), uint32(0)
	for v, to := range c.down {
		number[v] = number[to]
		if int(critical) < len(c.critical[0]) && c.critical[0][critical] == uint32(v) {
			number[v] = critical
			critical++
		}
	}
	for e := range slices.Chunk(c.critical[1], 2) {
		var terms []torsion.Term
		if from, to := number[e[0]], number[e[1]]; from != to {
			terms = []torsion.Term{{Row: from, Times: -1}, {Row: to, Times: 1}}
		}
		columns = append(columns, terms)
	}
	return columns
}

// A flow finds the boundary of the critical simplices of dimension d. In it, the rest of the boundary
// of the greater simplex of a pair replaces the lesser one, and greater ones are left out. So each
// simplex of dimension d−1 has a value, a sum of critical ones. It follows from values in the same
// star or in those of lesser vertices. Most values are 0: only others are stored, and only stars
// that can have some are made.
type flow struct {
	*chains
	d       int
	p       int64
	star    star
	columns [][]torsion.Term
	row     int              // the number of critical simplices of dimension d−1 in the stars before
	reached []bool           // of each vertex, whether a simplex in its star has a value
	known   trie             // these simplices, each as its greatest vertex and the others
	values  [][]torsion.Term // of these simplices; shorter than known
	at      [][]torsion.Term // of each cell of the star
	list    []torsion.Term
	room    int64 // for terms
}

// fewTerms is the number of terms that a flow may have besides one for each simplex.
const fewTerms = 1 << 20

// mayHave reports whether a simplex of dimension d−1 in the star of a vertex may have a value: a
// critical one, or one next to the stars of such simplices. Stars before have f.row critical ones.
func (f *flow) mayHave(v uint32) bool {
	if rows := f.critical[f.d-1][f.row*f.d:]; len(rows) > 0 && rows[f.d-1] == v {
		return true
	}
	for k := range f.below {
		for _, u := range f.below[k].list(v) {
			if f.reached[u] {
				return true
			}
		}
	}
	return false
}

// opposite returns the value of the face of a cell that lacks the top.
func (f *flow) opposite(of uint32) []torsion.Term {
	n := f.star.nodes[of]
	at := *f.known.place(node{0, n.last})
	for _, v := range f.star.vertices(n.parent, nil) {
		if at == 0 {
			return nil
		}
		at = *f.known.place(node{at - 1, v})
	}
	if at == 0 || int(at) > len(f.values) {
		return nil
	}
	return f.values[at-1]
}

// keep stores the value of a cell of the star of a vertex.
func (f *flow) keep(v, id uint32) {
	f.reached[v] = true
	at, _ := f.known.child(0, v)
	for _, u := range f.star.vertices(id, nil) {
		at, _ = f.known.child(at, u)
	}
	f.values = append(f.values, make([][]torsion.Term, len(f.known.nodes)-len(f.values))...)
	f.values[at] = f.at[id]
}

// value finds the values in the star of a vertex, and the boundaries of its critical simplices.
func (f *flow) value(v uint32) error {
	if !f.mayHave(v) {
		return nil
	}
	s := &f.star
	f.pair(s, v)
	f.at = append(f.at[:0], make([][]torsion.Term, len(s.cells))...)
	for i := range uint32(len(s.cells)) {
		if s.isCritical(i, f.d-1) {
			f.at[i] = []torsion.Term{{Row: uint32(f.row), Times: 1}}
			f.row++
		}
	}
	for _, face := range s.removed {
		if partner := s.cells[face].partner; partner != face && int(s.cells[partner].dim) == f.d {
			f.at[face] = f.sum(partner, face)
		}
		if f.room < 0 {
			return verify.Undecided("the values of simplices have more terms than there are simplices")
		}
	}
	for i := range uint32(len(s.cells)) {
		if s.isCritical(i, f.d) {
			column := f.sum(i, i)
			if isOvergrown(column) {
				return verify.Undecided("an entry of the boundary of critical simplices grows beyond %d", mostTimes)
			}
			f.columns = append(f.columns, column)
		}
		if len(f.at[i]) > 0 {
			f.keep(v, i)
		}
	}
	return nil
}

// mostTimes bounds the coefficients over the integers, so that products fit 64 bits.
const mostTimes = 1 << 30

// overgrown is the value of a simplex with a coefficient beyond mostTimes, and of all that depend on
// it. It matters only in a column.
func overgrown() []torsion.Term { return []torsion.Term{{Row: alone, Times: 1}} }

func isOvergrown(terms []torsion.Term) bool { return len(terms) == 1 && terms[0].Row == alone }

// sum returns the value of the boundary of a cell. For the partner of a face it returns the value of
// that face: the rest of the boundary, times minus the coefficient of the face.
func (f *flow) sum(of, face uint32) []torsion.Term {
	faces := f.star.facesOf(of)
	times := int64(1)
	if of != face {
		times = int64(2*(slices.IndexFunc(faces, func(l link) bool { return l.face == face })&1) - 1)
	}
	f.list = f.list[:0]
	for k, l := range faces {
		if l.face != face {
			f.add(f.at[l.face], times*int64(1-2*(k&1)))
		}
	}
	f.add(f.opposite(of), times*int64(1-2*(len(faces)&1)))
	slices.SortFunc(f.list, func(a, b torsion.Term) int { return cmp.Compare(a.Row, b.Row) })
	var out []torsion.Term
	for i := 0; i < len(f.list); {
		t := f.list[i]
		for i++; i < len(f.list) && f.list[i].Row == t.Row; i++ {
			t.Times += f.list[i].Times
		}
		if f.p > 0 {
			t.Times %= f.p
		} else if t.Row == alone || t.Times > mostTimes || t.Times < -mostTimes {
			return overgrown()
		}
		if t.Times != 0 {
			out = append(out, t)
		}
	}
	f.room -= int64(len(out))
	return out
}

func (f *flow) add(value []torsion.Term, times int64) {
	for _, t := range value {
		f.list = append(f.list, torsion.Term{Row: t.Row, Times: times * t.Times})
	}
}
