package assess

import (
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/crew"
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

// row returns the words of a row of a mask.
func (s space) row(mask []uint64, z, y int64) []uint64 { return mask[s.index(z, y)*s.words:][:s.words] }

// A mask is the bits of voxels, and whether each row has any.
type mask struct {
	bits []uint64
	some []bool
}

func (s space) newMask() mask {
	return mask{make([]uint64, s.planes*s.plane()), make([]bool, s.planes*s.rows)}
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

// A scan finds the components of the voxels of a mask, or of its gaps with the outside around them.
//
// It visits runs of voxels along rows, in order. A run that shares no face with an earlier run is a node.
// Other runs are joined by few links, so the components of the graph of nodes and links are those of the
// voxels. To find the node of a run, the scan goes from run to earlier run.
type scan struct {
	space
	mask
	flip uint64 // all bits for gaps
	deep uint64 // all bits in 3D

	ends   []int64 // the last voxel of the run of each node, from node 1 on; node 0 is the outside
	graphs [adjacencies]graph
	links  [adjacencies][][2]int64 // of the plane at work, by voxel
	memo   []known
	path   []int64

	components [adjacencies]int64 // without the outside
	of         [adjacencies][]int32
}

// A known run has a node.
type known struct {
	end  int64
	node int32
}

// outside is the number of a voxel beyond the image in a link; it is in node 0.
const outside = 0

// scan scans all rows.
func (s space) scan(of mask, flip uint64) *scan {
	c := &scan{space: s, mask: of, flip: flip, memo: make([]known, 1<<min(13, bits.Len(uint(len(of.some)))))}
	first := int64(0)
	if s.planes > 1 {
		first, c.deep = 1, math.MaxUint64
	}
	for k := range c.graphs {
		c.graphs[k].nodes = 1
	}
	for z := first; z < s.planes; z++ {
		c.visit(z)
	}
	for k := range c.graphs {
		c.graphs[k].nodes = int32(len(c.ends) + 1)
		n, of := c.graphs[k].search()
		c.components[k], c.of[k] = n-1, of
	}
	return c
}

// visit links the runs of a plane with those of row c before each row along y, row b before it along z, and
// row d before both. In the words with s, bit x is voxel x − 1. The voxels around the box end all runs of a
// mask, and join those of its gaps with the outside.
//
// A segment is voxels that two runs of a row and of c share, or of a row and of b. Where two segments
// overlap and row d has a voxel, they are joined in a square of four rows. So the one that ends first is left
// out, or that with b if both end. Each other segment is a link at its last voxel.
func (s *scan) visit(z int64) {
	first, size, behind := z*s.plane()+s.words, s.plane()-s.words, s.plane()
	if s.planes == 1 {
		behind = 0 // not used
	}
	own, c := s.bits[first:][:size], s.bits[first-s.words:][:size]
	b, d := s.bits[first-behind:][:size], s.bits[first-behind-s.words:][:size]
	flip, deep := s.flip, s.deep
	var so, sc, sb, sd uint64
	var hasSquare, hasLink uint64 // 1 if the last segment or run reaches the word and has one
	last := int64(outside)        // the voxel of an earlier row at the last link
	for i, o := range own {
		o, c, b, d := o^flip, c[i]^flip, (b[i]^flip)&deep, (d[i]^flip)&deep
		lo, lc, lb, ld := o>>63, c>>63, b>>63, d>>63
		so, sc, sb, sd = so|o<<1, sc|c<<1, sb|b<<1, sd|d<<1
		p := first + int64(i)
		switch all := o & so & c & sc & b & sb & d & sd; {
		case all == math.MaxUint64:
			hasSquare = 1
		case o|so|c|sc|b|sb|d|sd == 0:
			hasSquare, hasLink = 0, 0
		default:
			nextC, nextB := o&c, o&b
			endC, endB := so&sc&^nextC, so&sb&^nextB
			both := so & sc & sb
			square := both & (sd | hasSquare)
			square |= both &^ (both + square) // the carry runs to the end of a run
			hasSquare = square >> 63
			implied := square &^ (nextC & b)
			endC, endB = endC&^(implied&^endB), endB&^implied
			links := endC | endB
			sum, carry := bits.Add64(so, links, hasLink) // clears the first link of a run, and no other
			hasLink = carry
			if born := so &^ (o | links | so&^sum); born != 0 {
				s.bear(p, born)
			}
			if later := links & sum; later|endC&endB != 0 {
				s.linkFaces(p, later, endC, endB, last)
			}
			if links != 0 {
				last = s.linked(p, bits.Len64(links)-1, endC)
			}
			xy, xz, yz := (so^o)&(sc^c)&(so^sc), (so^o)&(sb^b)&(so^sb), (o^c)&(b^d)&(o^b)
			withD, withB := (so^o)&(sd^d)&(so^sd)&^(sc|c|sb|b), (sc^c)&(sb^b)&(sc^sb)&^(so|o|sd|d)
			if xy|xz|yz|withD|withB != 0 {
				onC, onB := p-s.words, p-s.plane()
				s.linkCorners(xy, so, p, onC)
				s.linkCorners(xz, so, p, onB)
				s.linkCorners(withD, so, p, onB-s.words)
				s.linkCorners(withB, sc, onC, onB)
				s.linkEdges(yz&o, p, onB-s.words)
				s.linkEdges(yz&^o, onC, onB)
			}
		}
		so, sc, sb, sd = lo, lc, lb, ld
	}
	if hasLink&flip == 1 { // the last gap is outside
		s.links[faces] = append(s.links[faces], [2]int64{last, outside})
	}
	for k, list := range s.links {
		for _, link := range list {
			if e := (edge{s.node(link[0]), s.node(link[1])}); e[0] != e[1] {
				s.graphs[k].join(e)
				if k == faces {
					s.graphs[corners].join(e)
				}
			}
		}
		s.links[k] = list[:0]
	}
}

// bear makes nodes of runs that end with voxels x − 1 of a word.
func (s *scan) bear(p int64, born uint64) {
	for ; born != 0; born &= born - 1 {
		end := 64*p + int64(bits.TrailingZeros64(born)) - 1
		s.ends = append(s.ends, end)
		*s.entry(end) = known{end, int32(len(s.ends))}
	}
}

// linked returns the voxel of row c or b at a link.
func (s *scan) linked(p int64, x int, endC uint64) int64 {
	by := s.plane()
	if endC>>x&1 == 1 {
		by = s.words
	}
	return 64*(p-by) + int64(x) - 1
}

// linkFaces joins the later links of runs with the link before them, and links at one voxel.
func (s *scan) linkFaces(p int64, later, endC, endB uint64, last int64) {
	join := func(a, b int64) { s.links[faces] = append(s.links[faces], [2]int64{a, b}) }
	for ; later != 0; later &= later - 1 {
		x, before := bits.TrailingZeros64(later), last
		if lesser := (endC | endB) & (1<<x - 1); lesser != 0 {
			before = s.linked(p, bits.Len64(lesser)-1, endC)
		}
		join(before, s.linked(p, x, endC))
	}
	for twice := endC & endB; twice != 0; twice &= twice - 1 {
		x := bits.TrailingZeros64(twice)
		join(s.linked(p, x, endC), s.linked(p, x, 0))
	}
}

// linkCorners joins voxels x − 1 and x of words p and q, which no third voxel touches. before has voxels
// x − 1 of word p.
func (s *scan) linkCorners(at, before uint64, p, q int64) {
	for ; at != 0; at &= at - 1 {
		x := int64(bits.TrailingZeros64(at))
		by := int64(before >> x & 1)
		s.links[corners] = append(s.links[corners], [2]int64{64*p + x - by, 64*q + x - 1 + by})
	}
}

// linkEdges joins voxels x of words p and q, which no third voxel touches.
func (s *scan) linkEdges(at uint64, p, q int64) {
	for ; at != 0; at &= at - 1 {
		x := int64(bits.TrailingZeros64(at))
		s.links[corners] = append(s.links[corners], [2]int64{64*p + x, 64*q + x})
	}
}

// entry returns the place where the node of the run that ends with a voxel is kept.
func (s *scan) entry(end int64) *known {
	return &s.memo[uint64(end)*0x9e3779b97f4a7c15>>32&uint64(len(s.memo)-1)]
}

// node returns the node of the run of a voxel, or of a run that faces join with it.
func (s *scan) node(voxel int64) (n int32) {
	p, x := voxel>>6, int(voxel&63)
	z, y := p/s.words/s.rows, p/s.words%s.rows
	if y == s.rows-1 || s.planes > 1 && z == s.planes-1 {
		return 0
	}
	s.path = s.path[:0]
	const often = 8 // rows whose runs are kept
steps:
	for y > 0 && (z > 0 || s.planes == 1) {
		if y%often != 0 {
			if s.at(p-s.words)>>x&1 == 1 {
				p, y = p-s.words, y-1
				continue
			}
			if s.planes > 1 && s.at(p-s.plane())>>x&1 == 1 {
				p, z = p-s.plane(), z-1
				continue
			}
		}
		first := s.index(z, y) * s.words
		end := x + bits.TrailingZeros64(^(s.at(p) >> x))
		for end == 64 && p < first+s.words-1 {
			p++
			end = bits.TrailingZeros64(^s.at(p))
		}
		if end == 64 {
			break
		}
		last := 64*p + int64(end) - 1
		if e := s.entry(last); e.end == last {
			n = e.node
			break
		}
		s.path = append(s.path, last)
		for p, x = last>>6, int(last&63); ; p, x = p-1, 63 {
			size := bits.LeadingZeros64(^(s.at(p) << (63 - x)))
			run := uint64(1<<size-1) << (x + 1 - size)
			if v := s.at(p-s.words) & run; v != 0 {
				p, x, y = p-s.words, bits.TrailingZeros64(v), y-1
				continue steps
			}
			if s.planes > 1 {
				if v := s.at(p-s.plane()) & run; v != 0 {
					p, x, z = p-s.plane(), bits.TrailingZeros64(v), z-1
					continue steps
				}
			}
			if size <= x {
				at, _ := slices.BinarySearch(s.ends, last)
				n = int32(at + 1)
				break steps
			}
			if p == first {
				break steps
			}
		}
	}
	for _, end := range s.path {
		*s.entry(end) = known{end, n}
	}
	return n
}

// at returns a word.
func (s *scan) at(p int64) uint64 { return s.bits[p] ^ s.flip }

// A judged is the masks of a set, and what the judge counts of them.
type judged struct {
	space
	masks   [masksOfSet]mask
	parts   [masksOfSet]*scan // components of the masks
	gaps    [masksOfSet]*scan // of their complements
	euler   [masksOfSet][Constructions]int64
	matched [adjacencies]int64 // components of the union that meet both masks
	holes   [adjacencies]int64 // joined components of both complements, without the outside
}

// count counts everything.
func (m *judged) count() {
	var tasks []func()
	for k := range m.masks {
		tasks = append(tasks, func() { m.parts[k] = m.scan(m.masks[k], 0) },
			func() { m.gaps[k] = m.scan(m.masks[k], math.MaxUint64) },
			func() { m.euler[k] = m.space.euler(m.masks[k].bits) })
	}
	crew.InTurn(workers, len(tasks), func(_, i int) { tasks[i]() })
	m.matchParts()
	m.matchGaps()
}

// matchParts counts the components of the union with voxels of both masks. Each component of a mask has a node.
func (m *judged) matchParts() {
	all := m.parts[ofUnion]
	var met [adjacencies][]uint8 // by component: bit k if it has voxels of mask k
	for k := range met {
		met[k] = make([]uint8, all.components[k]+1)
	}
	for of := range ofUnion {
		for _, voxel := range m.parts[of].ends {
			node := all.node(voxel)
			for k := range met {
				met[k][all.of[k][node]] |= 1 << of
			}
		}
	}
	for k := range met {
		for _, v := range met[k] {
			m.matched[k] += int64(v >> 1 & v)
		}
	}
}

// matchGaps joins components of both complements that overlap, and counts the joined ones. They overlap in the
// complement of the union, and each of its components has a node.
func (m *judged) matchGaps() {
	pred, truth := m.gaps[ofPred], m.gaps[ofTruth]
	nodes := []edge{{}} // in the graphs of both
	for _, voxel := range m.gaps[ofUnion].ends {
		nodes = append(nodes, edge{pred.node(voxel), truth.node(voxel)})
	}
	for k := range m.holes {
		n := int32(pred.components[k] + 1)
		joined := graph{nodes: n + int32(truth.components[k]+1)}
		alone := int64(joined.nodes)
		met := make([]bool, joined.nodes)
		for _, e := range nodes {
			e = edge{pred.of[k][e[0]], n + truth.of[k][e[1]]}
			for _, node := range e {
				if !met[node] {
					met[node] = true
					alone--
				}
			}
			joined.join(e)
		}
		all, _ := joined.search()
		m.holes[k] = all - alone - 1
	}
}

// topology returns the topology in a construction.
func (m *judged) topology(construction int) (t Topology) {
	inside, around := corners, faces
	if construction == V {
		inside, around = faces, corners
	}
	for k, to := range []*betti.Numbers{&t.Pred, &t.Truth, &t.Union} {
		parts, enclosed := m.parts[k].components[inside], m.gaps[k].components[around]
		if *to = betti.NewNumbers(parts, enclosed, m.euler[k][construction]); m.planes == 1 {
			*to = betti.Numbers{B0: parts, B1: enclosed}
		}
	}
	t.Components, t.Holes = m.matched[inside], m.holes[around]
	return t
}
