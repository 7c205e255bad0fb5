// Package unions joins all voxels of an image in the order of their levels. It returns the changes
// of the numbers of components by level. Each voxel adds a component and subtracts one for each
// component that it joins.
//
// An image is cut into boxes that fit a core's cache; neighbouring boxes share a layer of voxels. A
// component that has not reached a shared layer is joined for good. Two that have reached one may
// already be joined in another box, so their union is kept as an edge between two nodes, with its
// level. The same voxel of two boxes is an edge too, for voxels without an earlier neighbour in the
// layer: others are joined with such a voxel in both boxes. Finally the nodes are joined in the
// order of their edges.
package unions

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// rowBits is the number of voxels of a row of a box, with an empty one on both sides.
const rowBits = 64

// cut returns the shape of boxes without the layer shared with the previous boxes; each side is at
// least two.
func cut(s grid.Shape) grid.Shape {
	if s.Dim() == 2 {
		return grid.Shape{D: 1, H: 256, W: rowBits - 3} // fewer voxels at sides than with 32 rows
	}
	return grid.Shape{D: 32, H: 32, W: rowBits - 3}
}

// Bytes estimates the memory to join all voxels of an image: slabs, and edges, which are at most an
// eighth of the voxels and a sixteenth for noise. With many levels it includes the changes at each
// voxel.
func Bytes(s grid.Source) int64 {
	each := int64(3)
	if dense(s.Ladder()) == 0 {
		each = 20
	}
	return grid.SharingBytes(s, slicesPerSlab(cut(s.Shape()), s.Shape())) + each*s.Shape().Voxels()
}

// slicesPerSlab returns the number of slices of a slab of boxes.
func slicesPerSlab(box, s grid.Shape) int64 {
	if s.Dim() == 2 {
		return box.H
	}
	return box.D
}

// An edge joins two nodes at a level. A crossing is a voxel of a shared layer with its node.
type (
	edge     struct{ level, a, b uint32 }
	crossing struct{ level, node uint32 }
)

// outsideNode is the node around the image in all boxes. none marks a component that has not
// reached a shared layer.
const none, outsideNode = 0, 1

var errNodes = errors.New("boxes have more components at their sides than there are numbers of 32 bits")

// A graph connects voxels at faces, or also at edges and corners: one graph for the set, one for
// its complement. If there is an outside, it precedes all voxels and touches the sides of the
// image.
type graph struct {
	descending, corners, outside bool

	nodes atomic.Uint64
	mutex sync.Mutex
	edges []edge
	total tally
}

// A tally is a sum by level: a number for each of few levels, or a list of changes packed with
// their levels.
type tally struct {
	dense  []int64
	sparse []uint64
	levels int64 // levels from this one on do not count
}

const changeBits, changeZero = 8, 128

func dense(l grid.Ladder) int64 {
	if n := l.Len(); l.Indexed() && n <= 1<<16 {
		return n
	}
	return 0
}

func newTally(l grid.Ladder) tally { return tally{dense: make([]int64, dense(l)), levels: l.Len()} }

func (t *tally) add(level uint32, change int) {
	switch {
	case change == 0 || int64(level) >= t.levels:
	case len(t.dense) > 0:
		t.dense[level] += int64(change)
	default:
		t.sparse = append(t.sparse, uint64(level)<<changeBits|uint64(change+changeZero))
	}
}

func (t *tally) merge(o *tally) {
	for i, v := range o.dense {
		t.dense[i] += v
	}
	t.sparse = append(t.sparse, o.sparse...)
}

// changes returns the sums times a sign, by level.
func (t *tally) changes(sign int64) []Step {
	v := []Step{}
	for level, n := range t.dense {
		if n != 0 {
			v = append(v, Step{Level: int64(level), Change: sign * n})
		}
	}
	slices.Sort(t.sparse)
	for i := 0; i < len(t.sparse); {
		level, sum := t.sparse[i]>>changeBits, int64(0)
		for ; i < len(t.sparse) && t.sparse[i]>>changeBits == level; i++ {
			sum += int64(t.sparse[i]&(1<<changeBits-1)) - changeZero
		}
		if sum != 0 {
			v = append(v, Step{Level: int64(level), Change: sign * sum})
		}
	}
	return v
}

// A box is the voxels lo ≤ i < hi along z, y and x. shares marks the sides with a layer shared with
// a neighbouring box. crossings lists the crossings of both graphs there, in the same order in both
// boxes.
type box struct {
	lo, hi    [3]int64
	shares    [3][2]bool
	crossings [2][3][2][]crossing
}

// A joiner is a core's memory for a box. Voxel indices count rows of rowBits and planes of rows,
// with an empty frame around them.
type joiner struct {
	s       grid.Shape
	convert conversion
	size    int64 // of a voxel

	levels  []uint32 // of a row
	order   []uint64 // level and position of each voxel
	other   []uint64 // scratch memory for sorting
	count   []int32
	parent  []int32  // of visited voxels; the parent of a root is itself
	node    []uint32 // of roots, or none
	present []uint64 // visited voxels by row
	side    []bool   // whether all voxels of a row are at sides
	tallies [2]tally
	edges   []edge
}

// A conversion writes the levels of values. Values above the last level get the number of levels or
// more.
type conversion func(to []uint32, from []byte)

// levelsDown converts values to levels counted from the last one.
func levelsDown(s grid.Source) conversion {
	up, n := levelsOf(s), s.Ladder().Len()
	return func(to []uint32, from []byte) {
		up(to, from)
		for i, k := range to {
			if int64(k) < n {
				to[i] = uint32(n - 1 - int64(k))
			}
		}
	}
}

// levelsOf converts values to levels, also for every float32.
func levelsOf(s grid.Source) conversion {
	if !s.Ladder().Indexed() {
		return func(to []uint32, from []byte) {
			for i, v := range grid.Values[float32](from) {
				to[i] = grid.EveryLevel(v)
			}
		}
	}
	convert := grid.NewConverter(s.Type(), s.Ladder())
	var levels []int32
	return func(to []uint32, from []byte) {
		levels = slices.Grow(levels[:0], len(to))[:len(to)]
		convert.Convert(levels, from)
		for i, k := range levels {
			to[i] = uint32(k)
		}
	}
}

// LevelsOf lists the levels that occur in an image, in order.
func LevelsOf(s grid.Source) ([]int64, error) {
	levels, convert, size := make([]uint32, s.Shape().Voxels()), levelsOf(s), s.Type().Size()
	if err := grid.EachSlab(s, func(slab []byte, lo, _ int64) error {
		convert(levels[lo*s.Shape().SliceVoxels():][:int64(len(slab))/size], slab)
		return nil
	}); err != nil {
		return nil, err
	}
	slices.Sort(levels)
	var list []int64
	for _, k := range slices.Compact(levels) {
		if int64(k) < s.Ladder().Len() { // others are above all levels
			list = append(list, int64(k))
		}
	}
	return list, nil
}

// take reads the levels of a box from a slab that starts at slice first, and sorts its voxels.
func (j *joiner) take(b *box, slab []byte, first int64) {
	d, h, w := b.hi[0]-b.lo[0], b.hi[1]-b.lo[1], b.hi[2]-b.lo[2]
	n := int((d + 2) * (h + 2) * rowBits)
	j.levels, j.order, j.other = room(j.levels, int(w)), room(j.order, int(d*h*w)), room(j.other, int(d*h*w))
	j.parent, j.node = room(j.parent, n), room(j.node, n)
	j.present, j.side = room(j.present, n/rowBits), room(j.side, n/rowBits)
	low, high, i := uint32(math.MaxUint32), uint32(0), 0
	for z := range d {
		for y := range h {
			row := (b.lo[0]+z)*j.s.H + b.lo[1] + y - first*j.s.H
			if j.s.Dim() == 2 {
				row = b.lo[1] + y - first
			}
			at := ((z+1)*(h+2)+y+1)*rowBits + 1
			j.side[at/rowBits] = z == 0 && j.s.Dim() == 3 || z == d-1 && j.s.Dim() == 3 || y == 0 || y == h-1
			j.convert(j.levels, slab[(row*j.s.W+b.lo[2])*j.size:][:w*j.size])
			for x, level := range j.levels {
				low, high = min(low, level), max(high, level)
				j.order[i] = uint64(level)<<32 | uint64(at+int64(x))
				i++
			}
		}
	}
	const digit = 16
	for shift := 0; (high-low)>>shift > 0; shift += digit {
		j.count = room(j.count, min(int((high-low)>>shift), 1<<digit-1)+2)
		clear(j.count)
		for _, v := range j.order {
			j.count[(uint32(v>>32)-low)>>shift&(1<<digit-1)+1]++
		}
		for k := range j.count[1:] {
			j.count[k+1] += j.count[k]
		}
		for _, v := range j.order {
			to := &j.count[(uint32(v>>32)-low)>>shift&(1<<digit-1)]
			j.other[*to] = v
			*to++
		}
		j.order, j.other = j.other, j.order
	}
}

// room returns a slice of length n, in the memory of s if it is large enough.
func room[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// A neighbourhood is 27 bits for three planes of three rows of three voxels. neighbours[corners][k] has
// the neighbours of bit k and k itself. within[axis] has the bits of the middle layer across an
// axis.
var (
	within     [3]uint32
	neighbours = map[bool]*[27]uint32{false: {}, true: {}}
)

func init() {
	near := func(a, b int, corners bool) bool {
		far := 0
		for _, by := range []int{9, 3, 1} {
			d := a/by%3 - b/by%3
			if d*d > 1 {
				return false
			}
			far += d * d
		}
		return far <= 1 || corners
	}
	for a := range 27 {
		for axis, by := range []int{9, 3, 1} {
			if a/by%3 == 1 {
				within[axis] |= 1 << a
			}
		}
		for b := range 27 {
			for corners, list := range neighbours {
				if near(a, b, corners) {
					list[a] |= 1 << b
				}
			}
		}
	}
}

// join joins the sorted voxels of a box in one of the graphs.
func (j *joiner) join(b *box, which int, g *graph) error {
	parent, node, present, order := j.parent, j.node, j.present, j.order
	h, w := int32(b.hi[1]-b.lo[1]), int32(b.hi[2]-b.lo[2])
	clear(present)
	const middle = 13
	list := neighbours[g.corners]
	near := list[middle] // of the voxel, which is not visited yet
	var places [27]int32
	for k := range int32(27) {
		places[k] = ((k/9-1)*(h+2)+k/3%3-1)*rowBits + k%3 - 1
	}
	if g.outside {
		parent[outside], node[outside] = outside, outsideNode
	}
	edges, nodes := j.edges[:0], uint32(outsideNode)
	tally := &j.tallies[which]
	for i := range order {
		next := order[i]
		if g.descending {
			next = order[len(order)-1-i]
		}
		v, level, change := int32(uint32(next)), uint32(next>>32), 0
		row, x := v/rowBits, v%rowBits
		shift := uint(x-1) % rowBits
		three := func(of []uint64) uint32 { // rows of a plane
			return uint32(of[0]>>shift&7 | of[1]>>shift&7<<3 | of[2]>>shift&7<<6)
		}
		here := (three(present[row-h-3:][:3]) | three(present[row-1:][:3])<<9 | three(present[row+h+1:][:3])<<18) & near
		present[row] |= 1 << x
		if here == 0 {
			parent[v], node[v], change = v, none, 1
		} else {
			// The parent is two steps from the first neighbour, so it is closer to the root.
			k := bits.TrailingZeros32(here)
			root := parent[parent[v+places[k]]]
			parent[v] = root
			for left := here &^ list[k]; left != 0; { // a neighbour of a joined neighbour is joined too
				k = bits.TrailingZeros32(left)
				left &^= list[k]
				other := parent[parent[v+places[k]]]
				if other == root {
					continue
				}
				if root, other = j.find(root), j.find(other); other == root {
					continue
				}
				root, other = min(root, other), max(root, other)
				if node[root] != none && node[other] != none {
					edges = append(edges, edge{level, node[root], node[other]})
				} else {
					change--
				}
				node[root] = max(node[root], node[other])
				parent[other] = root
			}
		}
		if x == 1 || x == w || j.side[row] {
			edges, change = j.sides(b, which, g, v, level, here, &nodes, edges, change)
		}
		tally.add(level, change)
	}
	j.edges = edges
	return g.number(b, which, edges, nodes)
}

// outside is the index in the frame that represents the outside of the image.
const outside = 0

// sides joins a voxel at a side of a box with the outside of the image. At a shared layer it
// records the crossing, because the component has then reached that layer.
func (j *joiner) sides(b *box, which int, g *graph, v int32, level, here uint32, nodes *uint32, edges []edge,
	change int) ([]edge, int) {
	high, row := b.hi[1]-b.lo[1]+2, int64(v/rowBits)
	for axis, p := range [3]int64{row/high - 1, row%high - 1, int64(v%rowBits) - 1} {
		flat := axis == 0 && j.s.Dim() == 2 // a plane has no neighbours along z
		for side, is := range [2]bool{p == 0, p == b.hi[axis]-b.lo[axis]-1} {
			switch {
			case !is || flat:
			case b.shares[axis][side]:
				if here&within[axis] != 0 {
					continue // joined in the layer with an earlier voxel, in both boxes
				}
				root := j.find(v)
				if j.node[root] == none {
					*nodes++
					j.node[root] = *nodes
				}
				b.crossings[which][axis][side] = append(b.crossings[which][axis][side], crossing{level, j.node[root]})
			case g.outside:
				root := j.find(v) // the outside precedes all voxels
				if root == outside {
					continue
				}
				if j.node[root] != none {
					edges = append(edges, edge{level, j.node[root], j.node[outside]})
				} else {
					change--
				}
				j.node[outside] = max(j.node[outside], j.node[root])
				j.parent[root] = outside
			}
		}
	}
	return edges, change
}

// find returns the root of a visited voxel and halves the path to it.
func (j *joiner) find(i int32) int32 {
	parent := j.parent
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// number renumbers the nodes of a box to be unique in the graph, and keeps its edges.
func (g *graph) number(b *box, which int, edges []edge, nodes uint32) error {
	more := uint64(nodes - outsideNode)
	before := g.nodes.Add(more) - more
	if before+more >= math.MaxUint32-1 {
		return errNodes
	}
	of := func(n uint32) uint32 {
		if n == outsideNode {
			return n
		}
		return n + uint32(before)
	}
	for _, axis := range b.crossings[which] {
		for _, side := range axis {
			for i := range side {
				side[i].node = of(side[i].node)
			}
		}
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, e := range edges {
		g.edges = append(g.edges, edge{e.level, of(e.a), of(e.b)})
	}
	return nil
}

// meet joins the crossings of two boxes in their shared layer.
func (g *graph) meet(a, b []crossing) {
	for i := range a {
		g.edges = append(g.edges, edge{a[i].level, a[i].node, b[i].node})
	}
}

// rest joins the nodes. Each union subtracts one from the sum at its level.
func (g *graph) rest() {
	g.sort()
	parent := make([]uint32, g.nodes.Load()+outsideNode+1)
	for i := range parent {
		parent[i] = uint32(i)
	}
	find := func(i uint32) uint32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for _, e := range g.edges {
		if a, b := find(e.a), find(e.b); a != b {
			parent[a] = b
			g.total.add(e.level, -1)
		}
	}
}

// sort sorts the edges by level in place. With many levels it first sorts them into ranges of
// levels, and then each range.
func (g *graph) sort() {
	low, high := uint32(math.MaxUint32), uint32(0)
	for _, e := range g.edges {
		low, high = min(low, e.level), max(high, e.level)
	}
	if len(g.edges) == 0 {
		return
	}
	const most = 16 // bits
	shift := max(0, bits.Len32(high-low)-most)
	of := func(e edge) uint32 {
		if g.descending {
			return (high - e.level) >> shift
		}
		return (e.level - low) >> shift
	}
	next := make([]int, (high-low)>>shift+2) // where the next edge goes; at the end, the end of each range
	for _, e := range g.edges {
		next[of(e)+1]++
	}
	for k := range next[1:] {
		next[k+1] += next[k]
	}
	begin := 0
	for k, end := range slices.Clone(next[1:]) {
		for next[k] < end {
			e := &g.edges[next[k]]
			to := &next[of(*e)]
			g.edges[*to], *e = *e, g.edges[*to]
			*to++
		}
		if shift > 0 {
			slices.SortFunc(g.edges[begin:end], func(a, b edge) int {
				if g.descending {
					a, b = b, a
				}
				return cmp.Compare(a.level, b.level)
			})
		}
		begin = end
	}
}

// A Step is the change of a number at a level. The level is an index on the image's ladder.
type Step struct{ Level, Change int64 }

// Changes returns the changes of the number of components of an image's sublevel or superlevel
// sets. Voxels are vertices, or top cells that also touch at corners. It also returns the changes
// of the number of cavities of a 3D image, or of holes of a 2D one. Every voxel is joined with its
// neighbours in the order of the levels, and for the complement in the reverse order. It does not
// search for minima or saddles. A masked voxel, with a value above the last level, is in no set.
func Changes(s grid.Source, superlevel, vertices, masked bool) (components, enclosed []Step, err error) {
	if !superlevel || !masked {
		return unite(s, superlevel, vertices, cut(s.Shape()), levelsOf)
	}
	// Count levels from the greatest one down. So superlevel sets grow like sublevel sets, and masked
	// voxels stay beyond all levels.
	components, enclosed, err = unite(s, false, vertices, cut(s.Shape()), levelsDown)
	for _, steps := range [][]Step{components, enclosed} {
		slices.Reverse(steps)
		for i := range steps {
			steps[i].Level = s.Ladder().Len() - 1 - steps[i].Level
		}
	}
	return components, enclosed, err
}

// unite joins the voxels of an image in boxes of a size, with converted levels.
func unite(s grid.Source, superlevel, vertices bool, size grid.Shape,
	converting func(grid.Source) conversion) (components, enclosed []Step, err error) {
	graphs := [2]*graph{
		{descending: superlevel, corners: !vertices, total: newTally(s.Ladder())},
		{descending: !superlevel, corners: vertices, outside: true, total: newTally(s.Ladder())},
	}
	joiners := make([]*joiner, runtime.GOMAXPROCS(0))
	for i := range joiners {
		joiners[i] = &joiner{s: s.Shape(), convert: converting(s), size: s.Type().Size(),
			tallies: [2]tally{newTally(s.Ladder()), newTally(s.Ladder())}}
	}
	var before []*box
	step := slicesPerSlab(size, s.Shape())
	if err := grid.EachSharing(s, step, func(slab []byte, lo, hi int64) error {
		if err := grid.Ended(s); err != nil {
			return err
		}
		boxes, across := boxesOf(s.Shape(), size, lo, hi)
		if err := each(boxes, joiners, func(j *joiner, b *box) error {
			j.take(b, slab, lo)
			for which, g := range graphs {
				if err := j.join(b, which, g); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return fmt.Errorf("%v: %w", s.Shape(), err)
		}
		deep := 0 // the axis of slices
		if s.Shape().Dim() == 2 {
			deep = 1
		}
		for i, b := range boxes {
			for axis, other := range map[int]*box{2: boxAt(boxes, i-1), 1: boxAt(boxes, i-across)} {
				if axis != deep && b.shares[axis][0] {
					b.meet(other, axis, graphs)
				}
			}
			if b.shares[deep][0] {
				b.meet(before[i], deep, graphs)
			}
		}
		before = boxes
		return nil
	}); err != nil {
		return nil, nil, err
	}
	var wg crew.Group
	for which, g := range graphs {
		wg.Go(func() {
			for _, j := range joiners {
				g.total.merge(&j.tallies[which])
			}
			g.rest()
		})
	}
	wg.Wait()
	// An increase of the set at a level decreases the complement.
	return graphs[0].total.changes(1), graphs[1].total.changes(-1), nil
}

func boxAt(boxes []*box, i int) *box {
	if i < 0 {
		return nil
	}
	return boxes[i]
}

// meet joins a box with the previous one along an axis, and drops their crossings there.
func (b *box) meet(other *box, axis int, graphs [2]*graph) {
	for which, g := range graphs {
		g.meet(other.crossings[which][axis][1], b.crossings[which][axis][0])
		other.crossings[which][axis][1], b.crossings[which][axis][0] = nil, nil
	}
}

// boxesOf returns the boxes of a slab of slices, row by row, and the number of boxes across.
func boxesOf(s, size grid.Shape, lo, hi int64) (boxes []*box, across int) {
	n, by := [3]int64{s.D, s.H, s.W}, [3]int64{size.D, size.H, size.W}
	deep := 0
	if s.Dim() == 2 {
		deep = 1
	}
	parts := func(axis int) (list [][2]int64) {
		if axis == deep {
			return [][2]int64{{lo, hi}}
		}
		for at := int64(0); at < n[axis]; at += by[axis] {
			list = append(list, [2]int64{max(0, at-1), min(at+by[axis], n[axis])})
		}
		return list
	}
	across = len(parts(2))
	for _, z := range parts(0) {
		for _, y := range parts(1) {
			for _, x := range parts(2) {
				b := &box{}
				for axis, part := range [3][2]int64{z, y, x} {
					b.lo[axis], b.hi[axis] = part[0], part[1]
					b.shares[axis] = [2]bool{part[0] > 0, part[1] < n[axis]}
				}
				boxes = append(boxes, b)
			}
		}
	}
	return boxes, across
}

// each distributes boxes among joiners that run in parallel.
func each(boxes []*box, joiners []*joiner, f func(*joiner, *box) error) error {
	return crew.Try(len(joiners), len(boxes), func(i, k int) error { return f(joiners[i], boxes[k]) })
}
