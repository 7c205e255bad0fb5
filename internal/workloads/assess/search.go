package assess

import (
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc/cells"
)

// A space is the layout of masks as words of bits: planes of rows, with empty voxels around them.
type space struct {
	planes, rows, words int64
	below               int64 // empty planes before the first; 0 in 2D
	w                   int64 // voxels of a row, without the border
}

func newSpace(e extent, flat bool) space {
	s := space{planes: 1, rows: e.greatest[1] - e.least[1] + 3, w: e.greatest[2] - e.least[2] + 1}
	s.words = cells.RowWords(s.w + 1)
	if !flat {
		s.planes, s.below = e.greatest[0]-e.least[0]+3, 1
	}
	return s
}

// plane returns the number of words of a plane.
func (s space) plane() int64 { return s.rows * s.words }

// index returns the index of a row.
func (s space) index(z, y int64) int64 { return z*s.rows + y }

// rowsOf returns the words of all rows of a plane but two, from row y on.
func (s space) rowsOf(mask []uint64, z, y int64) []uint64 {
	return mask[s.index(z, y)*s.words:][:s.plane()-2*s.words]
}

// A mask is the bits of voxels, and whether each row has any.
type mask struct {
	bits []uint64
	some []bool
}

func (s space) newMask() mask {
	return mask{grid.NewTouched[uint64](int64(s.planes * s.plane())), make([]bool, s.planes*s.rows)}
}

// euler returns the Euler characteristics of a mask.
func (s space) euler(mask []uint64) (n [Constructions]int64) {
	at := func(z int64) *cells.PlaneSet { return cells.PlaneSetOf(mask[z*s.plane():], s.rows-2, s.w+1) }
	for z := int64(1); z < s.planes; z++ {
		n[T] += cells.CellsBetween(at(z-1), at(z))
		n[V] += cells.DualCellsBetween(at(z-1), at(z))
	}
	return n
}

// The neighbours of a voxel: across faces only, or across faces, edges and corners.
const (
	faces = iota
	corners
	adjacencies
)

// An edge joins two nodes of a graph.
type edge [2]int32

// A graph is nodes and the edges between them.
type graph struct {
	nodes  int32
	edges  []edge
	recent [256]edge // by hash
}

// join adds an edge. Most repeated edges are left out.
func (g *graph) join(e edge) {
	if seen := &g.recent[uint32(e[0]*31+e[1])%uint32(len(g.recent))]; *seen != e || len(g.edges) == 0 {
		*seen = e
		g.edges = append(g.edges, e)
	}
}

// search returns the number of connected components, and the component of each node.
func (g *graph) search() (n int64, of []int32) {
	begin := make([]uint32, g.nodes+1) // in next, of the neighbours of each node
	for _, e := range g.edges {
		begin[e[0]]++
		begin[e[1]]++
	}
	sum := uint32(0)
	for i := range begin {
		sum += begin[i]
		begin[i] = sum
	}
	next := make([]int32, sum)
	for _, e := range g.edges {
		for k, node := range e {
			begin[node]--
			next[begin[node]] = e[1-k]
		}
	}
	of = make([]int32, g.nodes)
	for i := range of {
		of[i] = -1
	}
	var due []int32
	for node := range g.nodes {
		if of[node] >= 0 {
			continue
		}
		of[node] = int32(n)
		for due = append(due, node); len(due) > 0; {
			at := due[len(due)-1]
			due = due[:len(due)-1]
			for _, to := range next[begin[at]:begin[at+1]] {
				if of[to] < 0 {
					of[to] = int32(n)
					due = append(due, to)
				}
			}
		}
		n++
	}
	return n, of
}

// A scan visits the planes of a mask in order, or of its closed gaps, and builds a graph for each
// adjacency. The graph has a node where a run of voxels in a row touches no earlier run. Other runs
// belong to the node of an earlier run that they touch. If a run touches several nodes, edges join
// them. So the components of the graph are those of the mask. In the graphs of gaps node 0 is the
// outside with the open gaps, and in those of open voxels it is their component.
type scan struct {
	space
	mask
	open      []uint64 // the open gaps or voxels; nil for none
	graphs    [adjacencies]graph
	now, last labels // of the current plane and the one before

	// The rows of the plane at work, and for each of them: rows c and after are before and after it; rows b, d and e
	// are these rows in the plane before, empty in 2D.
	own, c, after, b, d, e rows
}

// labels are the nodes of the runs of a plane.
type labels struct {
	before []int32 // runs before each word
	nodes  []nodes
}

// nodes are the nodes of a run in both graphs, or −1.
type nodes [adjacencies]int32

// rows are the words of successive rows, and the labels of their runs. The last bit of a row is no voxel.
type rows struct {
	words  []uint64
	before []int32
	*labels
}

func (s space) scan(of mask) *scan {
	c := &scan{space: s, mask: of}
	none := rows{words: make([]uint64, s.plane()), before: make([]int32, s.plane())}
	c.d, c.b, c.e = none, none, none
	c.now.before, c.last.before = make([]int32, s.plane()), make([]int32, s.plane())
	return c
}

// scanGaps returns a scan of the closed gaps of a mask.
func (m *judged) scanGaps(of int) *scan {
	return m.scanClosed(m.masks[of], m.newMask().bits, math.MaxUint64)
}

// scanParts returns a scan of a mask. If the mask seems to have a large component, paths from one of its voxels lead to
// open voxels.
func (m *judged) scanParts(of int) *scan {
	mask, voxels, seed := m.masks[of], int64(0), 0
	middle := m.planes / 2 * m.plane()
	for i, v := range mask.bits[middle:][:m.plane()] {
		n := bits.OnesCount64(v)
		if voxels += int64(n); n > bits.OnesCount64(mask.bits[seed]) {
			seed = int(middle) + i
		}
	}
	if voxels < (m.rows-2)*m.w/4 || voxels == 0 {
		return m.scan(mask)
	}
	open := m.newMask().bits
	open[seed] = mask.bits[seed] & -mask.bits[seed]
	return m.scanClosed(mask, open, 0)
}

// scanClosed returns a scan of the closed voxels of a mask, or with flip of its closed gaps: see divide.
func (m *judged) scanClosed(of mask, open []uint64, flip uint64) *scan {
	s := m.scan(m.divide(of, open, flip))
	s.open = open
	for k := range s.graphs {
		s.graphs[k].nodes = 1
	}
	return s
}

// divide divides the voxels of a mask, or its gaps if flip has all bits, into open and closed ones. Open are those to
// which certain paths lead across faces, from the outside of the gaps or from the first open voxels. Paths lead to the
// rows, planes and voxels after them and back, again and again while that opens many.
func (s space) divide(of mask, open []uint64, flip uint64) (closed mask) {
	before := s.words // a border of empty rows in 2D, of empty planes in 3D
	if s.below > 0 {
		before = s.plane()
	}
	first, end := before, int64(len(open))-before
	for _, outside := range [2][]uint64{open[:first], open[end:]} {
		for p := range outside {
			outside[p] = flip
		}
	}
	words, to := of.bits[first:end], open[first:end]
	if flip == 0 {
		spreadBack(words, to, open[first+s.words:], open[first+before:], flip)
	}
	for left, last := 0, len(to); ; last = left {
		spread(words, to, open[first-s.words:], open[first-before:], flip)
		left = spreadBack(words, to, open[first+s.words:], open[first+before:], flip)
		if left <= len(to)/64 || left >= last-last/8 {
			break
		}
	}
	closed = s.newMask()
	for i := range closed.some {
		some, at := uint64(0), int64(i)*s.words
		for p := at; p < at+s.words; p++ {
			v := (of.bits[p] ^ flip) &^ open[p]
			closed.bits[p] = v
			some |= v
		}
		closed.some[i] = some != 0
	}
	return closed
}

// spread opens voxels, or gaps with flip, next to open ones of the previous word and of the rows and planes before.
func spread(words, open, row, plane []uint64, flip uint64) {
	open, row, plane = open[:len(words)], row[:len(words)], plane[:len(words)]
	last := flip
	for p, v := range words {
		v ^= flip
		if open[p] != v {
			some := (open[p] | row[p] | plane[p] | last>>63) & v
			open[p] = some | v&^(v+some) // the carry runs to the end of a run
		}
		last = open[p]
	}
}

// spreadBack is spread from the next word and the rows and planes after. It returns the number of words with others.
func spreadBack(words, open, row, plane []uint64, flip uint64) (left int) {
	open, row, plane = open[:len(words)], row[:len(words)], plane[:len(words)]
	last := flip
	for p, v := range slices.Backward(words) {
		v ^= flip
		if open[p] != v {
			some, same := (open[p]|row[p]|plane[p]|last<<63)&v, v
			for by := 1; by < 16; by *= 2 {
				some |= some >> by & same
				same &= same >> by // voxels whose next ones are of the same run
			}
			if open[p] = some; some != v {
				left++
			}
		}
		last = open[p]
	}
	return left
}

// of returns all rows of a plane but two, from row y on.
func (s *scan) of(l *labels, z, y int64) rows {
	words := s.rowsOf(s.bits, z, y)
	return rows{words, l.before[y*s.words:][:len(words)], l}
}

// nodesAt returns the nodes of the run of a voxel of the rows at work.
func (s *scan) nodesAt(x int64) nodes {
	w := newWindow(s.own.words, int(x/64))
	return s.now.nodes[w.run(s.own.before[x/64], int(x%64))]
}

// A window is a word of some rows, and the same word shifted such that bit x is voxel x − 1 or x + 1.
type window struct{ before, at, after uint64 }

func newWindow(row []uint64, i int) (w window) {
	w.at = row[i]
	w.before, w.after = w.at<<1, w.at>>1
	if i > 0 {
		w.before |= row[i-1] >> 63
	}
	if i+1 < len(row) {
		w.after |= row[i+1] << 63
	}
	return w
}

// run returns the index of the run of voxel x ≤ 64. If x is not set, it is the run of the voxel before
// it. Argument before is the number of runs that start before the word.
func (w window) run(before int32, x int) int32 {
	starts := w.at &^ w.before
	if x == 64 && w.at>>63 == 0 {
		before++ // it starts in the next word
	}
	return before + int32(bits.OnesCount64(starts&(2<<uint(x)-1))) - 1
}

// next scans plane z, and returns false if it has no voxels. z ascends.
func (s *scan) next(z int64) bool {
	s.now, s.last = s.last, s.now
	if s.now.nodes = s.now.nodes[:0]; !slices.Contains(s.some[z*s.rows:][:s.rows], true) {
		return false // as at the border of the box
	}
	s.c, s.own, s.after = s.of(&s.now, z, 0), s.of(&s.now, z, 1), s.of(&s.now, z, 2)
	if z > 0 {
		s.d, s.b, s.e = s.of(&s.last, z-1, 0), s.of(&s.last, z-1, 1), s.of(&s.last, z-1, 2)
	}
	s.scanRows(z)
	return true
}

// scanRows links the runs of the rows at work. A run that is not linked in its first word has nodes of its own.
func (s *scan) scanRows(z int64) {
	own, before := s.own.words, s.own.before[:len(s.own.words)]
	b, c, d := s.b.words[:len(own)], s.c.words[:len(own)], s.d.words[:len(own)]
	last := uint64(0) // the voxels of the previous word in this row and in c
	for i, v := range own {
		first := len(s.now.nodes)
		before[i] = int32(first)
		withC, withB := v&c[i], v&b[i]
		implied := withC & withB & d[i]
		if v == 0 || implied == math.MaxUint64 && last>>63 == 1 {
			last = withC
			continue
		}
		w := newWindow(own, i)
		runs := s.now.add(bits.OnesCount64(v &^ w.before))
		// Of runs that rows share, the first voxel is linked with row c, and the last one with row
		// b: unless rows c and d have it or a voxel after it, too, when three other links imply
		// this one.
		implied |= withB &^ (withB + implied)
		if starts := withC &^ (withC<<1 | last>>63); starts != 0 {
			s.link(faces, w, i, s.c, newWindow(c, i), starts, 0)
		}
		if ends := withB &^ (withB>>1 | implied); ends != 0 {
			s.link(faces, w, i, s.b, newWindow(b, i), ends, 0)
		}
		if withC&withB != v {
			s.linkCorners(w, i)
		}
		if s.open != nil {
			s.linkOutside(w, s.index(z, 1)*s.words+int64(i), i)
		}
		for k := range runs {
			for graph := range runs[k] {
				if g := &s.graphs[graph]; runs[k][graph] < 0 {
					runs[k][graph] = g.nodes
					g.nodes++
				}
			}
		}
		last = withC
	}
}

// add adds runs without nodes.
func (l *labels) add(runs int) []nodes {
	l.nodes = slices.Grow(l.nodes, runs)
	first := len(l.nodes)
	l.nodes = l.nodes[:first+runs]
	added := l.nodes[first:]
	for k := range added {
		added[k] = nodes{-1, -1}
	}
	return added
}

// link links the runs at some voxels of word i with the runs of another row at the same voxels,
// shifted by a distance. A run gets the node of the first linked run; edges lead to other nodes.
// Links across faces belong to both adjacencies.
func (s *scan) link(adjacency int, w window, i int, to rows, its window, voxels uint64, by int) {
	before, itsBefore := s.own.before[i], to.before[i]
	for ; voxels != 0; voxels &= voxels - 1 {
		x := bits.TrailingZeros64(voxels)
		run, with := &s.now.nodes[w.run(before, x)], &to.nodes[its.run(itsBefore, x+by)]
		for k := adjacency; k < adjacencies; k++ {
			if own, node := run[k], with[k]; own < 0 {
				run[k] = node
			} else if own != node {
				s.graphs[k].join(edge{own, node})
			}
		}
	}
}

// linkCorners links runs in a word with runs that share edges or corners alone. A link is left out
// if a third voxel touches both voxels: links across faces, then those across edges imply it.
// Lesser links are those with the same x or x − 1.
func (s *scan) linkCorners(w window, i int) {
	c, b, next := newWindow(s.c.words, i), newWindow(s.b.words, i), newWindow(s.after.words, i)
	d, e := newWindow(s.d.words, i), newWindow(s.e.words, i)
	freeC, freeB := w.at&^c.at, w.at&^b.at
	lesserC, greaterC := freeC&c.before&^w.before, freeC&c.after&^w.after
	lesserB, greaterB := freeB&b.before&^w.before, freeB&b.after&^w.after
	before, after := w.before|b.before, w.after|b.after
	freeD, freeE := freeB&freeC, freeB&^next.at
	lesserD := freeD & (d.at | d.before&^(before|c.before))
	greaterD := freeD & d.after &^ (d.at | after | c.after)
	lesserE := freeE & (e.at | e.before&^(before|next.before))
	greaterE := freeE & e.after &^ (e.at | after | next.after)
	if lesserC|greaterC|lesserB|greaterB|lesserD|greaterD|lesserE|greaterE == 0 {
		return
	}
	s.link(corners, w, i, s.c, c, lesserC, 0)
	s.link(corners, w, i, s.c, c, greaterC, 1)
	s.link(corners, w, i, s.b, b, lesserB, 0)
	s.link(corners, w, i, s.b, b, greaterB, 1)
	s.link(corners, w, i, s.d, d, lesserD, 0)
	s.link(corners, w, i, s.d, d, greaterD, 1)
	s.link(corners, w, i, s.e, e, lesserE, 0)
	s.link(corners, w, i, s.e, e, greaterE, 1)
}

// linkOutside links runs in word i, word p of the mask, with node 0 where they touch open voxels. Nothing closed is at
// the border of the box.
func (s *scan) linkOutside(w window, p int64, i int) {
	var lesser, own, greater uint64
	for z := p - s.below*s.plane(); z <= p+s.below*s.plane(); z += s.plane() {
		for q := z - s.words; q <= z+s.words; q += s.words {
			lesser |= s.open[max(0, q-1)] // the first bit of a row and the last are no voxels
			own |= s.open[q]
			greater |= s.open[min(q+1, int64(len(s.open))-1)]
		}
	}
	around := (own | own<<1 | own>>1 | lesser>>63 | greater<<63) & w.at
	if around == 0 {
		return
	}
	above, under := s.open[p-s.below*s.plane()], s.open[p+s.below*s.plane()] // in 2D the word itself
	near := newWindow(s.open, int(p))
	near.at = near.before | near.after | s.open[p-s.words] | s.open[p+s.words] | above | under
	for k, v := range [adjacencies]uint64{near.at & w.at, around} {
		for v &^= v << 1; v != 0; v &= v - 1 {
			run := &s.now.nodes[w.run(s.own.before[i], bits.TrailingZeros64(v))]
			if run[k] < 0 {
				run[k] = 0
			} else if run[k] > 0 {
				s.graphs[k].join(edge{run[k], 0})
			}
		}
	}
}

// A judged is the masks of a set, and what the judge counts of them.
type judged struct {
	space
	masks   [masksOfSet]mask
	parts   [masksOfSet][adjacencies]int64 // components of the masks
	gaps    [masksOfSet][adjacencies]int64 // of their complements
	euler   [masksOfSet][Constructions]int64
	voxels  [ofUnion]int64
	common  int64
	matched [adjacencies]int64 // components of the union that meet both masks
	holes   [adjacencies]int64 // joined components of both complements
}

// count counts everything. Large tasks come first.
func (m *judged) count() {
	tasks := []func(){m.countUnion}
	for k := range ofUnion {
		tasks = append(tasks, func() { m.parts[k] = m.components(m.scanParts(k)) })
	}
	tasks = append(tasks, m.countGaps, func() { m.gaps[ofUnion] = m.components(m.scanGaps(ofUnion)) }, m.countVoxels)
	for k := range m.masks {
		tasks = append(tasks, func() { m.euler[k] = m.space.euler(m.masks[k].bits) })
	}
	crew.InTurn(workers, len(tasks), func(_, i int) { tasks[i]() })
}

// countVoxels counts the voxels of both masks and those in common.
func (m *judged) countVoxels() {
	for i, v := range m.masks[ofPred].bits {
		its := m.masks[ofTruth].bits[i]
		m.voxels[ofPred] += int64(bits.OnesCount64(v))
		m.voxels[ofTruth] += int64(bits.OnesCount64(its))
		m.common += int64(bits.OnesCount64(v & its))
	}
}

// components counts the components that a scan finds.
func (m *judged) components(s *scan) (n [adjacencies]int64) {
	for z := range m.planes {
		s.next(z)
	}
	for k := range n {
		n[k], _ = s.graphs[k].search()
	}
	return n
}

// countUnion counts the components of the union, and the components with voxels of both masks.
func (m *judged) countUnion() {
	s := m.scanParts(ofUnion)
	var met [adjacencies][]uint8 // by node: bit k if a run of mask k is in the node's component
	none := make([]uint64, m.plane())
	for z := range m.planes {
		s.next(z)
		for k := range met {
			met[k] = append(met[k], make([]uint8, int(s.graphs[k].nodes)-len(met[k]))...)
		}
		for of := range ofUnion {
			its := m.masks[of].bits
			b := none
			if z > 0 {
				b = m.rowsOf(its, z-1, 1)
			}
			eachFirst(m.rowsOf(its, z, 1), m.rowsOf(its, z, 0), b, func(x int64) {
				var at nodes
				if s.open == nil || m.rowsOf(s.open, z, 1)[x/64]>>(x%64)&1 == 0 {
					at = s.nodesAt(x)
				}
				for k, node := range at {
					met[k][node] |= 1 << of
				}
			})
		}
	}
	for k := range met {
		n, component := s.graphs[k].search()
		both := make([]uint8, n)
		for node, of := range component {
			both[of] |= met[k][node]
		}
		for _, v := range both {
			m.matched[k] += int64(v >> 1 & v)
		}
		m.parts[ofUnion][k] = n
	}
}

// countGaps counts the components of the complements of both masks, and how many remain of those
// that overlap when they are joined.
func (m *judged) countGaps() {
	var scans [ofUnion]*scan
	for k := range scans {
		scans[k] = m.scanGaps(k)
	}
	var shared [adjacencies]graph // its edges join a node of each complement
	for k := range shared {
		shared[k].join(edge{0, 0})
	}
	both := make([]uint64, m.plane()-2*m.words)
	share := func(a, b []uint64, nodesAt func(x int64) (pred, truth nodes)) {
		for i, v := range a {
			both[i] = v & b[i]
		}
		eachStart(both, func(x int64) {
			p, t := nodesAt(x)
			for k := range shared {
				shared[k].join(edge{p[k], t[k]})
			}
		})
	}
	pred, truth := scans[ofPred], scans[ofTruth]
	for z := range m.planes {
		hasPred, hasTruth := pred.next(z), truth.next(z)
		p, t := m.rowsOf(pred.bits, z, 1), m.rowsOf(truth.bits, z, 1)
		if hasPred {
			share(p, t, func(x int64) (nodes, nodes) { return pred.nodesAt(x), truth.nodesAt(x) })
			share(p, m.rowsOf(truth.open, z, 1), func(x int64) (nodes, nodes) { return pred.nodesAt(x), nodes{} })
		}
		if hasTruth {
			share(t, m.rowsOf(pred.open, z, 1), func(x int64) (nodes, nodes) { return nodes{}, truth.nodesAt(x) })
		}
	}
	for k := range shared {
		var component [ofUnion][]int32
		for side, s := range scans {
			m.gaps[side][k], component[side] = s.graphs[k].search()
		}
		for i, e := range shared[k].edges {
			shared[k].edges[i] = edge{component[ofPred][e[0]], component[ofTruth][e[1]]}
		}
		m.joinHoles(k, &shared[k])
	}
}

// joinHoles counts the groups of components of both complements that edges join.
func (m *judged) joinHoles(k int, joined *graph) {
	alone := make([]bool, m.gaps[ofPred][k]+m.gaps[ofTruth][k])
	for i := range alone {
		alone[i] = true
	}
	for i, e := range joined.edges {
		e[1] += int32(m.gaps[ofPred][k])
		joined.edges[i], alone[e[0]], alone[e[1]] = e, false, false
	}
	joined.nodes = int32(len(alone))
	m.holes[k], _ = joined.search()
	for _, is := range alone {
		if is {
			m.holes[k]--
		}
	}
}

// eachStart calls f with the first voxel of each run of a row.
func eachStart(row []uint64, f func(x int64)) {
	last := uint64(0)
	for i, v := range row {
		for starts := v &^ (v<<1 | last>>63); starts != 0; starts &= starts - 1 {
			f(int64(64*i + bits.TrailingZeros64(starts)))
		}
		last = v
	}
}

// eachFirst calls f with a voxel of each run of a row that touches none of the rows c and b before it. One of these
// runs is the first of a component. It may call f for runs of several words that touch them.
func eachFirst(row, c, b []uint64, f func(x int64)) {
	last := uint64(0)
	for i, v := range row {
		alone := v &^ (c[i] | b[i])
		ends, more := bits.Add64(alone, alone&^(v<<1|last>>63), 0) // the carry runs to the end of a run
		for at := (ends&^(alone|v))>>1 | more<<63; at != 0; at &= at - 1 {
			f(int64(64*i + bits.TrailingZeros64(at)))
		}
		last = v
	}
}

// comparison returns all numbers.
func (m *judged) comparison() (c Comparison) {
	c.Pred, c.Truth, c.Both = m.voxels[ofPred], m.voxels[ofTruth], m.common
	for k := range c.In {
		c.In[k] = m.topology(k)
	}
	return c
}

// topology returns the topology in a construction.
func (m *judged) topology(construction int) (t Topology) {
	inside, outside := corners, faces
	if construction == V {
		inside, outside = faces, corners
	}
	for k, to := range []*betti.Numbers{&t.Pred, &t.Truth, &t.Union} {
		parts, enclosed := m.parts[k][inside], m.gaps[k][outside]-1 // without the outside
		if *to = betti.NewNumbers(parts, enclosed, m.euler[k][construction]); m.planes == 1 {
			*to = betti.Numbers{B0: parts, B1: enclosed}
		}
	}
	t.Components, t.Holes = m.matched[inside], m.holes[outside]-1
	return t
}
