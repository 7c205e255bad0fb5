// Package unions computes the changes of the numbers of components by level from a spanning forest
// of the voxels. Voxels are ordered by level, then by position, and a link joins a voxel with a
// neighbour that precedes it, at the level of the voxel. A voxel adds a component at its level, and
// a link of a minimum spanning forest ends one. The first link of a voxel always does, so only
// voxels without a link (minima) and further links are counted. Links that close a cycle with
// earlier ones are left out. The proof is in doc/proofs/betti.md.
//
// An image is cut into boxes that fit a core's cache; neighbouring boxes share a layer of voxels. A
// component that has no node in a shared layer is joined for good when it meets another. Two with
// nodes may already be joined in another box, so their union is kept as an edge between the two,
// with its level. The same voxel of two boxes is an edge too, for voxels that no other voxel of the
// layer precedes: others are linked with such a voxel in both boxes. Finally the nodes are joined in
// the order of their edges.
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

// mostInBox is the largest number of voxels of a box. Among neighbours at most every second voxel is a
// minimum, and a walk has numbers of 16 bits for them and two of its own.
const mostInBox = 2 * (1<<16 - 2)

// boxOf returns the shape of boxes without the layer shared with the previous boxes. Along an axis that is
// cut it has at least two layers, so that no layer is both a side of the image and shared. Boxes of
// a volume have the number of rows with which a core scans the fewest words, padding and shared layers included.
func boxOf(s grid.Shape) (best grid.Shape) {
	if s.Dim() == 2 { // a box per core
		return grid.Shape{D: 1, H: min(128, max(64, s.H/cores()+1)), W: 511}
	}
	const planes, fewRows, mostRows, mostColumns = 32, 12, 64, 511
	across, w := parts(s.W-1, mostColumns)
	words, least := w/64+1, int64(math.MaxInt64)
	for down, h := parts(s.H-1, mostRows); h >= fewRows || best.D == 0; down, h = parts(s.H-1, max(1, h-1)) {
		d := min(planes, mostInBox/((h+1)*(w+1))-1)
		slabs, _ := parts(s.D, d)
		plane := grid.CeilDiv((h+1)*words, groupWords) * groupWords
		if n := grid.CeilDiv(across*down, cores()) * plane * (s.D - 1 + slabs); n < least {
			best, least = grid.Shape{D: d, H: max(2, h), W: max(2, w)}, n
		}
	}
	return best
}

// parts divides steps from layer to layer into the fewest parts of at most the given number, and returns
// their number and the steps of the longest.
func parts(steps, most int64) (count, longest int64) {
	count = max(1, grid.CeilDiv(steps, most))
	return count, grid.CeilDiv(steps, count)
}

// Bytes estimates the memory to join all voxels of an image: slabs, and the edges of both graphs,
// which are at most a quarter of the voxels, and a sixteenth for noise. With many levels it includes
// the changes at each voxel.
func Bytes(s grid.Source) int64 {
	each := int64(3)
	if dense(s.Ladder()) == 0 {
		each = 20
	}
	return grid.SharingBytes(s, slicesPerSlab(boxOf(s.Shape()), s.Shape())) + each*s.Shape().Voxels()
}

func cores() int64 { return int64(runtime.GOMAXPROCS(0)) }

// slicesPerSlab returns the number of slices of a slab of boxes. A slab of a 2D image has a row of
// boxes for each core.
func slicesPerSlab(box, s grid.Shape) int64 {
	if s.Dim() == 2 {
		return box.H * cores()
	}
	return box.D
}

// An edge joins two nodes at a level. A crossing is a voxel of a shared layer with its node.
type (
	edge     struct{ level, a, b uint32 }
	crossing struct{ level, node uint32 }
)

// outsideNode is the node around the image in all boxes. none marks a component without a node in a
// shared layer.
const none, outsideNode = 0, 1

var errNodes = errors.New("boxes have more components at their sides than there are numbers of 32 bits")

// A graph connects voxels at faces, or also at edges and corners: one graph for the set, one for
// its complement. If there is an outside, it precedes all voxels and touches the sides of the
// image.
type graph struct {
	descending, corners, outside bool

	nodes atomic.Uint64
	mutex sync.Mutex
	edges [][]edge // of boxes and of shared layers
	total tally
}

// flip returns the bits that differ between levels and keys. Keys are in the order of growth.
func (g *graph) flip() uint32 {
	if g.descending {
		return math.MaxUint32
	}
	return 0
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

// size returns the number of voxels along an axis.
func (b *box) size(axis int) int64 { return b.hi[axis] - b.lo[axis] }

// A conversion writes the levels of values. Values above the last level get the number of levels or
// more.
type conversion[K key] = func(to []K, from []byte)

func bytesAreLevels(s grid.Source) bool {
	first, ok := s.Ladder().Consecutive()
	return ok && first == 0 && s.Type() == grid.Uint8
}

// bytesOf copies values that are levels.
func bytesOf(grid.Source) conversion[uint8] {
	return func(to []uint8, from []byte) { copy(to, from) }
}

// levelsDown converts values to levels counted from the last one.
func levelsDown(s grid.Source) conversion[uint32] {
	up, n := grid.ToLevels(s), s.Ladder().Len()
	return func(to []uint32, from []byte) {
		up(to, from)
		for i, k := range to {
			if int64(k) < n {
				to[i] = uint32(n - 1 - int64(k))
			}
		}
	}
}

// LevelsOf lists the levels that occur in an image, in order.
func LevelsOf(s grid.Source) ([]int64, error) {
	levels, convert, size := make([]uint32, s.Shape().Voxels()), grid.ToLevels(s), s.Type().Size()
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
	list := make([]edge, len(edges))
	for i, e := range edges {
		list[i] = edge{e.level, of(e.a), of(e.b)}
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.edges = append(g.edges, list)
	return nil
}

// meet joins the crossings of two boxes in their shared layer.
func (g *graph) meet(a, b []crossing) {
	list := make([]edge, len(a))
	for i := range a {
		list[i] = edge{a[i].level, a[i].node, b[i].node}
	}
	g.edges = append(g.edges, list)
}

// rest joins the nodes. Each union subtracts one from the sum at its level.
func (g *graph) rest() {
	edges := g.sorted()
	parent := make([]uint32, g.nodes.Load()+outsideNode+1)
	for i := range parent {
		parent[i] = uint32(i)
	}
	for _, e := range edges {
		if a, b := find(parent, e.a), find(parent, e.b); a != b {
			parent[max(a, b)] = min(a, b)
			g.total.add(e.level, -1)
		}
	}
}

// sorted returns the edges by level, and keeps none. With many levels it first sorts them into ranges
// of levels, and then each range.
func (g *graph) sorted() []edge {
	low, high, count := uint32(math.MaxUint32), uint32(0), 0
	for _, list := range g.edges {
		for _, e := range list {
			low, high = min(low, e.level), max(high, e.level)
		}
		count += len(list)
	}
	if count == 0 {
		return nil
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
	for _, list := range g.edges {
		for _, e := range list {
			next[of(e)+1]++
		}
	}
	for k := range next[1:] {
		next[k+1] += next[k]
	}
	edges := make([]edge, count)
	for i, list := range g.edges {
		for _, e := range list {
			to := &next[of(e)]
			edges[*to] = e
			*to++
		}
		g.edges[i] = nil
	}
	for begin, k := 0, 0; shift > 0 && k+1 < len(next); k++ {
		slices.SortFunc(edges[begin:next[k]], func(a, b edge) int {
			if g.descending {
				a, b = b, a
			}
			return cmp.Compare(a.level, b.level)
		})
		begin = next[k]
	}
	return edges
}

// A Step is the change of a number at a level. The level is an index on the image's ladder.
type Step struct{ Level, Change int64 }

// A Memory is that of images done, which further ones reuse. Its zero value is ready.
type Memory struct{ joiners sync.Pool }

// Changes returns the changes of the number of components of an image's sublevel or superlevel
// sets. Voxels are vertices, or top cells that also touch at corners. It also returns the changes
// of the number of cavities of a 3D image, or of holes of a 2D one. A masked voxel, with a value
// above the last level, is in no set.
func (m *Memory) Changes(s grid.Source, superlevel, vertices, masked bool) (components, enclosed []Step, err error) {
	if !superlevel || !masked {
		if bytesAreLevels(s) {
			return unite(m, s, superlevel, vertices, boxOf(s.Shape()), bytesOf)
		}
		return unite(m, s, superlevel, vertices, boxOf(s.Shape()), grid.ToLevels)
	}
	// Count levels from the greatest one down. So superlevel sets grow like sublevel sets, and masked
	// voxels stay beyond all levels.
	components, enclosed, err = unite(m, s, false, vertices, boxOf(s.Shape()), levelsDown)
	for _, steps := range [][]Step{components, enclosed} {
		slices.Reverse(steps)
		for i := range steps {
			steps[i].Level = s.Ladder().Len() - 1 - steps[i].Level
		}
	}
	return components, enclosed, err
}

// joinerFor returns a joiner for the boxes of an image.
func joinerFor[K key](m *Memory, s grid.Source, convert conversion[K]) *joiner[K] {
	j, _ := m.joiners.Get().(*joiner[K])
	if j == nil {
		j = &joiner[K]{kernel: best[K]()}
	}
	j.s, j.convert, j.size = s.Shape(), convert, s.Type().Size()
	j.tallies = [2]tally{newTally(s.Ladder()), newTally(s.Ladder())}
	return j
}

// meetNeighbours joins the boxes of the last slab with their neighbours before them. steps is the
// distance of neighbours in the list along each axis; steps[0] is also the number of boxes of a slab.
func meetNeighbours(boxes []*box, steps [3]int, graphs [2]*graph) {
	for i := len(boxes) - steps[0]; i < len(boxes); i++ {
		for axis, step := range steps {
			if boxes[i].shares[axis][0] {
				boxes[i].meet(boxes[i-step], axis, graphs)
			}
		}
	}
}

// unite joins the voxels of an image in boxes of a size, with converted levels.
func unite[K key](m *Memory, s grid.Source, superlevel, vertices bool, size grid.Shape,
	converting func(grid.Source) conversion[K]) (components, enclosed []Step, err error) {
	graphs := [2]*graph{
		{descending: superlevel, corners: !vertices, total: newTally(s.Ladder())},
		{descending: !superlevel, corners: vertices, outside: true, total: newTally(s.Ladder())},
	}
	step := slicesPerSlab(size, s.Shape())
	first, _ := boxesOf(s.Shape(), size, 0, min(step+1, s.Shape().Slices()))
	joiners := make([]*joiner[K], min(int(cores()), len(first)))
	for i := range joiners {
		joiners[i] = joinerFor(m, s, converting(s))
	}
	var before []*box
	if err := grid.EachSharing(s, step, func(slab []byte, lo, hi int64) error {
		if err := grid.Ended(s); err != nil {
			return err
		}
		boxes, across := boxesOf(s.Shape(), size, lo, hi)
		if err := each(boxes, joiners, func(j *joiner[K], b *box) error {
			j.take(b, slab, lo)
			j.scan(b, graphs)
			for which, g := range graphs {
				if err := j.join(b, which, g); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return fmt.Errorf("%v: %w", s.Shape(), err)
		}
		layer := len(boxes)
		if s.Shape().Dim() == 2 {
			layer = across
		}
		before = append(before[max(0, len(before)-layer):], boxes...)
		meetNeighbours(before, [3]int{len(boxes), across, 1}, graphs)
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
	for _, j := range joiners {
		m.joiners.Put(j)
	}
	// An increase of the set at a level decreases the complement.
	return graphs[0].total.changes(1), graphs[1].total.changes(-1), nil
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
	cuts := func(axis int) (list [][2]int64) {
		first, steps := int64(0), n[axis]-1
		if axis == deep {
			first, steps = lo, hi-1-lo
		}
		count, _ := parts(steps, by[axis])
		for i := range count {
			list = append(list, [2]int64{first + i*steps/count, first + (i+1)*steps/count + 1})
		}
		return list
	}
	across = len(cuts(2))
	for _, z := range cuts(0) {
		for _, y := range cuts(1) {
			for _, x := range cuts(2) {
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
func each[K key](boxes []*box, joiners []*joiner[K], f func(*joiner[K], *box) error) error {
	return crew.Try(len(joiners), len(boxes), func(i, k int) error { return f(joiners[i], boxes[k]) })
}
