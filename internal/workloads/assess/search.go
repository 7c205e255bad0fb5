package assess

import (
	"math/bits"

	"eccbench/internal/crew"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// A space is the layout of masks as words of bits: planes of rows, with empty voxels around them.
type space struct {
	planes, rows, words int64
	below               int64 // empty planes before the first; 0 in 2D
	w                   int64 // voxels of a row, without the border
}

func newSpace(e extent, flat bool) space {
	s := space{planes: 1, rows: e.greatest[1] - e.least[1] + 3, w: e.greatest[2] - e.least[2] + 1}
	s.words = ecc.RowWords(s.w + 1)
	if !flat {
		s.planes, s.below = e.greatest[0]-e.least[0]+3, 1
	}
	return s
}

// plane returns the number of words of a plane.
func (s space) plane() int64 { return s.rows * s.words }

// row returns the words of a row of a mask.
func (s space) row(mask []uint64, z, y int64) []uint64 { return mask[z*s.plane()+y*s.words:][:s.words] }

// euler returns the Euler characteristics of a mask.
func (s space) euler(mask []uint64) (n [Constructions]int64) {
	at := func(z int64) *ecc.PlaneSet { return ecc.PlaneSetOf(mask[z*s.plane():], s.rows-2, s.w+1) }
	for z := int64(1); z < s.planes; z++ {
		n[T] += ecc.CellsBetween(at(z-1), at(z))
		n[V] += ecc.DualCellsBetween(at(z-1), at(z))
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
	begin := make([]int32, g.nodes+1) // in next, of the neighbours of each node
	for _, e := range g.edges {
		begin[e[0]]++
		begin[e[1]]++
	}
	sum := int32(0)
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

// A scan visits the rows of a mask in order, or of its complement, and builds a graph for each
// adjacency. The graph has a node where a run of voxels in a row touches no earlier run. Other runs
// belong to the node of an earlier run that they touch. If a run touches several nodes, edges join
// them. So the components of the graph are those of the mask.
type scan struct {
	space
	mask       []uint64
	complement uint64 // all ones for the complement
	graphs     [adjacencies]graph
	now, last  labels // of the current plane and the one before
	none       []uint64

	y   int64 // of the current row
	own []uint64
}

// labels are the nodes of the runs of a plane.
type labels struct {
	before []int32 // runs before each word
	node   [adjacencies][]int32
}

// newScan returns a scan of a mask, or of its complement.
func newScan(s space, mask []uint64, complement bool) *scan {
	c := &scan{space: s, mask: mask, none: make([]uint64, s.words)}
	c.now.before, c.last.before = make([]int32, s.plane()), make([]int32, s.plane())
	if complement {
		c.complement = ^uint64(0)
		for i := range c.none {
			c.none[i] = c.complement
		}
	}
	return c
}

// row returns the words of a row, to be inverted for a complement.
func (s *scan) row(z, y int64) []uint64 {
	if z < 0 || y < 0 || y == s.rows {
		return s.none
	}
	return s.space.row(s.mask, z, y)
}

// run returns the index of the run of a voxel in its plane. row is the words of row y.
func (s *scan) run(l *labels, row []uint64, y, x int64) int32 {
	i := x / 64
	v := row[i] ^ s.complement
	starts := v &^ (v << 1)
	if i > 0 {
		starts &^= (row[i-1] ^ s.complement) >> 63
	}
	return l.before[y*s.words+i] + int32(bits.OnesCount64(starts<<(63-x%64))) - 1
}

// next scans a row. z and y ascend.
func (s *scan) next(z, y int64) {
	if y == 0 {
		s.now, s.last = s.last, s.now
		for k := range s.now.node {
			s.now.node[k] = s.now.node[k][:0]
		}
	}
	s.y, s.own = y, s.row(z, y)
	first := int32(len(s.now.node[faces]))
	runs, last, before := first, uint64(0), s.now.before[y*s.words:][:len(s.own)]
	for i, v := range s.own {
		v ^= s.complement
		before[i] = runs
		runs += int32(bits.OnesCount64(v &^ (v<<1 | last>>63)))
		last = v
	}
	if runs == first {
		return
	}
	for k := range s.now.node {
		s.now.node[k] = append(s.now.node[k], make([]int32, runs-first)...)
		for i := first; i < runs; i++ {
			s.now.node[k][i] = -1
		}
	}
	b, c := s.row(z-1, y), s.row(z, y-1)
	s.linkFaces(b, c, s.row(z-1, y-1))
	s.linkCorners(b, c, s.row(z-1, y-1), s.row(z-1, y+1), s.row(z, y+1))
	for k := range s.now.node {
		g, own := &s.graphs[k], s.now.node[k][first:]
		for i, node := range own {
			if node < 0 {
				own[i] = g.nodes
				g.nodes++
			}
		}
	}
}

// linkFaces links the runs of a row with runs of rows b (before it in z) and c (in y). A link with
// b is left out where c and row d (before b) have the voxel too: three other links imply it.
func (s *scan) linkFaces(b, c, d []uint64) {
	b, c, d = b[:len(s.own)], c[:len(s.own)], d[:len(s.own)]
	last := uint64(0)
	for i, v := range s.own {
		v ^= s.complement
		vb, vc := v&(b[i]^s.complement), v&(c[i]^s.complement)
		if starts := vc &^ (vc<<1 | last>>63); starts != 0 {
			s.link(faces, &s.now, s.y-1, c, i, starts, 0)
		}
		implied := vb & vc & (d[i] ^ s.complement)
		implied |= vb &^ (vb + implied) // up to the end of a run
		if ends := vb &^ (vb>>1 | implied); ends != 0 {
			s.link(faces, &s.last, s.y, b, i, ends, 0)
		}
		last = vc
	}
}

// link links the runs at some voxels of word i with the runs of another row at the same voxels,
// shifted by a distance. A run gets the node of the first linked run; edges lead to other nodes.
// Links across faces belong to both adjacencies.
func (s *scan) link(adjacency int, l *labels, y int64, its []uint64, i int, voxels uint64, by int64) {
	for ; voxels != 0; voxels &= voxels - 1 {
		x := int64(64*i + bits.TrailingZeros64(voxels))
		run, with := s.run(&s.now, s.own, s.y, x), s.run(l, its, y, x+by)
		for k := adjacency; k < adjacencies; k++ {
			own, node := &s.now.node[k][run], l.node[k][with]
			if *own < 0 {
				*own = node
			} else if *own != node {
				s.graphs[k].join(edge{*own, node})
			}
		}
	}
}

// A window is a word of a row, and the same word shifted such that bit x is voxel x − 1 or x + 1.
type window struct{ before, at, after uint64 }

func newWindow(row []uint64, i int, inverted uint64) (w window) {
	w.at = row[i] ^ inverted
	w.before, w.after = w.at<<1, w.at>>1
	if i > 0 {
		w.before |= (row[i-1] ^ inverted) >> 63
	}
	if i+1 < len(row) {
		w.after |= (row[i+1] ^ inverted) << 63
	}
	return w
}

// linkCorners links the runs of a row with runs that share edges or corners alone: of rows b and c,
// and of d and e, which are before and after b. Row g is after the own one. A link is left out if a
// third voxel touches both voxels: links across faces, then those across edges imply it.
func (s *scan) linkCorners(b, c, d, e, g []uint64) {
	b, c, g = b[:len(s.own)], c[:len(s.own)], g[:len(s.own)]
	for i, v := range s.own {
		v ^= s.complement
		noB, noC := v&^(b[i]^s.complement), v&^(c[i]^s.complement)
		if noB|noC == 0 {
			continue
		}
		o, vb, vc := newWindow(s.own, i, s.complement), newWindow(b, i, s.complement), newWindow(c, i, s.complement)
		s.linkBeside(&s.now, s.y-1, c, i, noC, vc, o)
		s.linkBeside(&s.last, s.y, b, i, noB, vb, o)
		if free := noB & noC; free != 0 {
			between := window{before: o.before | vb.before | vc.before, after: o.after | vb.after | vc.after}
			s.linkBeside(&s.last, s.y-1, d, i, free, newWindow(d, i, s.complement), between)
		}
		if free := noB &^ (g[i] ^ s.complement); free != 0 {
			vg := newWindow(g, i, s.complement)
			between := window{before: o.before | vb.before | vg.before, after: o.after | vb.after | vg.after}
			s.linkBeside(&s.last, s.y+1, e, i, free, newWindow(e, i, s.complement), between)
		}
	}
}

// linkBeside links the voxels of word i that are free, with no voxel between, with those of another
// row at the same place or at one beside it.
func (s *scan) linkBeside(l *labels, y int64, its []uint64, i int, free uint64, w, between window) {
	if at := free & w.at; at != 0 {
		s.link(corners, l, y, its, i, at, 0)
		free &^= w.at
	}
	if at := free & w.before &^ between.before; at != 0 {
		s.link(corners, l, y, its, i, at, -1)
	}
	if at := free & w.after &^ between.after; at != 0 {
		s.link(corners, l, y, its, i, at, 1)
	}
}

// A judged is the masks of a set, and what the judge counts of them.
type judged struct {
	space
	masks   [masksOfSet][]uint64
	parts   [masksOfSet][adjacencies]int64 // components of the masks
	gaps    [masksOfSet][adjacencies]int64 // of their complements
	euler   [masksOfSet][Constructions]int64
	matched [adjacencies]int64 // components of the union that meet both masks
	holes   [adjacencies]int64 // joined components of both complements
}

// count counts everything.
func (m *judged) count() {
	tasks := []func(){m.countUnion, m.countGaps, func() { m.gaps[ofUnion] = m.components(ofUnion, true) }}
	for k := range ofUnion {
		tasks = append(tasks, func() { m.parts[k] = m.components(k, false) })
	}
	for k := range m.masks {
		tasks = append(tasks, func() { m.euler[k] = m.space.euler(m.masks[k]) })
	}
	crew.Each(len(tasks), func(i int) { tasks[i]() })
}

// components counts the components of a mask or its complement.
func (m *judged) components(of int, complement bool) (n [adjacencies]int64) {
	s := newScan(m.space, m.masks[of], complement)
	m.eachRow(s.next)
	for k := range n {
		n[k], _ = s.graphs[k].search()
	}
	return n
}

func (s space) eachRow(f func(z, y int64)) {
	for z := range s.planes {
		for y := range s.rows {
			f(z, y)
		}
	}
}

// countUnion counts the components of the union, and those that meet both masks.
func (m *judged) countUnion() {
	s := newScan(m.space, m.masks[ofUnion], false)
	var met [adjacencies][]uint8 // by node: bit k if a run of mask k is in the node's component
	m.eachRow(func(z, y int64) {
		s.next(z, y)
		for k := range met {
			met[k] = append(met[k], make([]uint8, int(s.graphs[k].nodes)-len(met[k]))...)
		}
		for of := range ofUnion {
			eachStart(m.row(m.masks[of], z, y), 0, func(x int64) {
				run := s.run(&s.now, s.own, y, x)
				for k := range met {
					met[k][s.now.node[k][run]] |= 1 << of
				}
			})
		}
	})
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
		scans[k] = newScan(m.space, m.masks[k], true)
	}
	var shared [adjacencies]graph // its edges join a node of each complement
	m.eachRow(func(z, y int64) {
		for _, s := range scans {
			s.next(z, y)
		}
		eachStart(m.row(m.masks[ofUnion], z, y), scans[0].complement, func(x int64) {
			var run [ofUnion]int32
			for k, s := range scans {
				run[k] = s.run(&s.now, s.own, y, x)
			}
			for k := range shared {
				shared[k].join(edge{scans[0].now.node[k][run[0]], scans[1].now.node[k][run[1]]})
			}
		})
	})
	for k := range shared {
		var component [ofUnion][]int32
		for side, s := range scans {
			m.gaps[side][k], component[side] = s.graphs[k].search()
		}
		joined, alone := &shared[k], make([]bool, m.gaps[ofPred][k]+m.gaps[ofTruth][k])
		for i := range alone {
			alone[i] = true
		}
		for i, e := range joined.edges {
			e = edge{component[0][e[0]], component[1][e[1]] + int32(m.gaps[ofPred][k])}
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
}

// eachStart calls f with the first voxel of each run of a row, whose words are inverted by another.
func eachStart(row []uint64, inverted uint64, f func(x int64)) {
	last := uint64(0)
	for i, v := range row {
		v ^= inverted
		for starts := v &^ (v<<1 | last>>63); starts != 0; starts &= starts - 1 {
			f(int64(64*i + bits.TrailingZeros64(starts)))
		}
		last = v
	}
}

// topology returns the topology in a construction.
func (m *judged) topology(construction int) (t Topology) {
	inside, outside := corners, faces
	if construction == V {
		inside, outside = faces, corners
	}
	for k, to := range []*betti.Numbers{&t.Pred, &t.Truth, &t.Union} {
		parts, enclosed := m.parts[k][inside], m.gaps[k][outside]-1 // without the outside
		if *to = betti.Of(parts, enclosed, m.euler[k][construction]); m.planes == 1 {
			*to = betti.Numbers{B0: parts, B1: enclosed}
		}
	}
	t.Components, t.Holes = m.matched[inside], m.holes[outside]-1
	return t
}
