// Package flood counts the components of a set of voxels and of its complement by flood fill, 64
// voxels of a row at a time. It verifies Betti numbers, and uses no disjoint sets.
package flood

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/cells"
)

// floodBytes is about the size of the bits of a slab that one core fills. readBytes is about the
// size of one read of a source. Images of up to smallBytes are one slab.
const (
	floodBytes = 5 << 20
	readBytes  = 1 << 20
	smallBytes = 16 << 10
)

// LeastPlanes is the least number of planes in a slab; two of them meet neighbours.
const LeastPlanes = 4

// A Set selects voxels of an image: those at or below a threshold, or at or above it.
type Set struct {
	Threshold  float32
	Superlevel bool // at or above the threshold
	Vertices   bool // voxels are vertices of the cells, so that voxels of the set touch at faces only
	Masked     bool // +Inf marks voxels that are in no set
}

// A flood counts the components of a set and of its complement. It fills each component from its
// first voxel, 64 voxels of a row at a time. All cores fill slabs of planes. The components that
// reach the first and last plane of a slab become the nodes of a graph, which is filled in the same
// way. In memory are only the slabs in work, and the components at planes whose neighbour is not
// filled yet.
type flood struct {
	in      grid.Source
	set     Set
	flat    bool    // the planes are the rows of a 2D image, without sides along y
	ends    [2]bool // the image begins with the first plane, ends with the last one
	keeps   [2]bool // the nodes of the first plane, of the last one are needed
	omits   [kinds]bool
	counts  bool // the cells are counted too
	cores   int64
	d, h, w int64 // planes of h rows
	skip    int64 // planes of the source before the first one
	planes  int64 // of a slab
	few     int   // words of a component that is not grown along all rows
	words   int64 // of a row
	plane   int64 // words of a plane, with an empty row at either end

	slabs []filled
	met   []atomic.Int32  // filled sides of each slab's last plane
	none  *cells.PlaneSet // an empty plane

	sets, borders sync.Pool // of planes
}

// row returns the index at which a row of a slab begins. A slab has an empty plane at either end,
// and a word before everything.
func (f *flood) row(z, y int64) int64 { return 1 + (z+1)*f.plane + (y+1)*f.words }

// A Tally holds the components of a set and of its complement, and the set's Euler characteristic.
// The outside of the box belongs to the complement even if no voxel touches it.
type Tally struct{ Set, Rest, Characteristic int64 }

// The two kinds of components.
const (
	ofSet = iota
	ofRest
	kinds
)

// shared returns the number of nodes of a kind that all slabs share: the outside.
func shared(kind int) int32 { return int32(kind) }

// corners reports whether voxels of a kind are neighbours at edges and corners too.
func (f *flood) corners(kind int) bool { return (kind == ofSet) != f.set.Vertices }

// Count counts the components of a set of an image, and its cells.
func Count(in grid.Source, set Set) (Tally, error) { return count(in, set, 0, mainWords) }

// count does the same in slabs of the given number of planes, or of a suitable number for 0.
// Components of at most few words are small.
func count(in grid.Source, set Set, planes int64, few int) (t Tally, err error) {
	if k, is := in.(*keeper); is && k.filledAs(set) {
		return k.sum(), nil
	}
	f := newFlood(in, set, planes, few)
	if err := f.fill(); err != nil {
		return t, err
	}
	return f.sum(), nil
}

// newFlood returns the flood of an image with the parameters of count.
func newFlood(in grid.Source, set Set, planes int64, few int) *flood {
	f := &flood{
		in: in, set: set, flat: in.Shape().Dim() == 2, planes: planes, few: few,
		ends: [2]bool{true, true}, counts: true, cores: int64(runtime.GOMAXPROCS(0)),
	}
	f.d, f.h, f.w = cells.Stack(in.Shape())
	return f
}

// sum adds up the counts of all slabs.
func (f *flood) sum() (t Tally) {
	for i := range f.slabs {
		t.Characteristic += f.slabs[i].characteristic
	}
	var components [kinds]int64
	crew.Each(kinds, func(kind int) { components[kind] = countComponents(f.slabs, kind, nil) })
	t.Set, t.Rest = components[ofSet], components[ofRest]
	return t
}

// Bytes estimates the memory to fill a set of an image on some cores, with the words to visit, the pieces and the
// edges of noise.
func Bytes(in grid.Source, cores int) int64 {
	f := newFlood(in, Set{}, 0, mainWords)
	f.cores = int64(max(1, cores))
	seams := f.cut() - 1
	work := min(f.cores, seams+1) // slabs in work, each with the seams at its ends and at those of its core's run
	const bits, border, planes = 3 * 8, kinds * (8 + 4), 2 * 2
	slab := min(f.planes, f.d)
	need := work * (bits*f.row(slab+1, 0) + dueBytes*slab*f.h*f.w + max(readBytes, grid.SliceBytes(in)) + planes*8*f.plane)
	need += min(seams, 2*work) * 2 * (border*f.plane + pieceBytes*f.h*f.w)
	return need + seams*(edgeBytes*f.h*f.w+filledBytes)
}

// Memory for noise: of the words to visit, per voxel of a slab in work; of the pieces and of the edges, per voxel of a
// seam; and of each slab.
const dueBytes, pieceBytes, edgeBytes, filledBytes = 3, 6, 1, 512

// cut sets the number of planes of a slab, with an equal number of slabs for each core, and returns the number of
// slabs.
func (f *flood) cut() int64 {
	f.words = cells.RowWords(f.w) // the last bit of a row is no voxel
	f.plane = (f.h + 2) * f.words
	if f.planes == 0 && 8*f.plane*f.d <= smallBytes {
		f.planes = f.d
	}
	if f.planes == 0 {
		most := max(LeastPlanes, floodBytes/(8*f.plane))
		each := max(2, grid.CeilDiv(f.d, most*f.cores)) // slabs per core
		f.planes = max(LeastPlanes, grid.CeilDiv(f.d, each*f.cores))
	}
	return grid.CeilDiv(f.d, f.planes)
}

// prepare cuts the image into slabs.
func (f *flood) prepare() {
	n := f.cut()
	f.slabs, f.met = make([]filled, n), make([]atomic.Int32, n)
	f.none = cells.NewPlaneSet(f.h, f.w)
	f.sets.New = func() any { return cells.NewPlaneSet(f.h, f.w) }
	f.borders.New = func() any { return newBorder(f.plane + 2) }
}

// span returns the planes of a slab.
func (f *flood) span(k int64) (lo, hi int64) { return k * f.planes, min((k+1)*f.planes, f.d) }

// fill fills the slabs and joins neighbours.
func (f *flood) fill() error {
	f.prepare()
	fillers := make([]filler, f.cores)
	return inRuns(f.cores, int64(len(f.slabs)), func(core int, k int64) error {
		lo, hi := f.span(k)
		by := &fillers[core]
		by.begin(f)
		if by.inside == nil {
			by.inside = f.newSlab()
		}
		if err := by.read(lo, hi); err != nil {
			return err
		}
		f.fillSlab(by, k)
		return nil
	})
}

// newSlab allocates the bits of a slab with a plane at either end.
func (f *flood) newSlab() []uint64 {
	return grid.NewValues[uint64](f.row(min(f.planes, f.d)+1, 0))
}

// fillSlab fills the slab that a filler has read, and joins it with its neighbours if they are
// filled.
func (f *flood) fillSlab(by *filler, k int64) {
	lo, hi := f.span(k)
	s := &f.slabs[k]
	if f.counts {
		s.characteristic = by.cells(s, lo, hi)
	}
	for kind := range kinds {
		if !f.omits[kind] {
			s.of[kind] = by.components(kind, lo, hi, f.leading(kind, k))
		}
	}
	for i := max(0, k-1); i <= min(k, int64(len(f.slabs))-2); i++ {
		if f.met[i].Add(1) == 2 { // both sides of its last plane
			f.meet(&f.slabs[i], &f.slabs[i+1])
		}
	}
}

// leading returns the voxels of the neighbours' main components in the planes next to a slab, if
// the neighbours are filled. The main components of two neighbours may differ, unless they are the
// outside. In that case only the first one leads.
func (f *flood) leading(kind int, k int64) (main [2][]uint64) {
	if k > 0 && f.met[k-1].Load() == 1 && f.slabs[k-1].of[kind].main != 0 {
		main[0] = f.slabs[k-1].of[kind].last.main
	}
	if k < int64(len(f.met))-1 && f.met[k].Load() == 1 && (kind == ofRest || main[0] == nil) {
		main[1] = f.slabs[k+1].of[kind].first.main
	}
	return main
}

// meet joins a slab with the next one.
func (f *flood) meet(s, next *filled) {
	if f.counts {
		s.characteristic += f.count(s.last, next.first)
		f.sets.Put(s.last)
		f.sets.Put(next.first)
		s.last, next.first = nil, nil
	}
	for kind := range kinds {
		if !f.omits[kind] {
			a, b := &s.of[kind], &next.of[kind]
			a.meet(b, int(f.words), f.corners(kind))
			for _, of := range [2]**border{&a.last, &b.first} {
				(*of).forget()
				f.borders.Put(*of)
				*of = nil
			}
		}
	}
}

// count counts the cells between two planes.
func (f *flood) count(below, above *cells.PlaneSet) int64 {
	if f.set.Vertices {
		return cells.DualCellsBetween(below, above)
	}
	return cells.CellsBetween(below, above)
}

// inRuns calls f with 0 ≤ k < n on several cores. Each core begins with its own run of consecutive
// values, so that neighbours follow each other.
func inRuns(cores, n int64, f func(core int, k int64) error) error {
	cores = min(n, cores)
	order := make([]int64, 0, n)
	for i := int64(0); int64(len(order)) < n; i++ {
		for core := range cores {
			if k := n*core/cores + i; k < n*(core+1)/cores {
				order = append(order, k)
			}
		}
	}
	return crew.Try(int(cores), int(n), func(core, i int) error { return f(core, order[i]) })
}

// A filled slab holds the components of both kinds and the Euler characteristic of its cells. It
// keeps the first and the last plane to count the cells between slabs.
type filled struct {
	characteristic int64
	first, last    *cells.PlaneSet
	of             [kinds]found
}

// A filler is the memory of one core.
type filler struct {
	*flood
	buffer []byte
	inside []uint64          // the bits of a slab
	left   []uint64          // not filled yet
	main   []uint64          // the main component
	due    []due             // filled bits whose neighbours are not visited yet
	sets   [2]cells.PlaneSet // planes in work
	// for the kind in work
	to                  *found
	touching            bool  // at edges and corners too
	spares              bool  // a component may become the main one
	firstEnd, lastBegin int64 // end of the first plane and begin of the last one, if needed
	// for the component in work
	number  int32 // 0 until it becomes a node
	touched bool  // it touches the main component
}

// begin allocates the memory for slabs.
func (f *filler) begin(of *flood) {
	if f.flood != nil {
		return
	}
	f.flood = of
	n := of.row(min(of.planes, of.d)+1, 0)
	all := grid.NewValues[uint64](2 * n) // in one piece, for large pages
	f.left, f.main = all[:n:n], all[n:]
}

// due is a word with some bits.
type due struct {
	word int
	bits uint64
}

// read sets the bits of planes.
func (f *filler) read(lo, hi int64) error {
	size := f.h * f.w * f.in.Type().Size()
	step := max(1, readBytes/size)
	for from := lo; from < hi; from += step {
		end := min(hi, from+step)
		slab, err := f.slab(from, end)
		if err != nil {
			return err
		}
		for z := from; z < end; z++ {
			f.sets[0] = *f.planeOf(f.inside, z-lo)
			f.put(&f.sets[0], slab[(z-from)*size:][:size])
		}
	}
	return nil
}

// planeOf returns a plane of a slab's bits.
func (f *flood) planeOf(inside []uint64, z int64) *cells.PlaneSet {
	return cells.PlaneSetOf(inside[f.row(z, -1):], f.h, f.w)
}

// put writes the set of a plane's values.
func (f *flood) put(to *cells.PlaneSet, plane []byte) {
	t, typ := f.set.Threshold, f.in.Type()
	if !f.set.Superlevel {
		if f.set.Masked {
			t = min(t, math.MaxFloat32)
		}
		to.Fill(typ, plane, t)
		return
	}
	to.Fill(typ, plane, math.Nextafter32(t, float32(math.Inf(-1)))) // the complement of the set
	to.Invert()
	if !f.set.Masked {
		return
	}
	for i, v := range grid.Values[float32](plane) { // no set contains a masked voxel
		if x := int64(i) % f.w; v > math.MaxFloat32 {
			to.Row(int64(i) / f.w)[x/64] &^= 1 << (x % 64)
		}
	}
}

// cells counts the cells of a slab's planes. It copies the first and the last plane for the cells
// between slabs.
func (f *filler) cells(s *filled, lo, hi int64) (n int64) {
	last, next := &f.sets[0], &f.sets[1]
	*last = *f.planeOf(f.inside, 0)
	if lo > 0 { // otherwise the cells that begin before the first plane cancel out
		s.first = f.copied(last)
	}
	for z := lo + 1; z < hi; z++ {
		*next = *f.planeOf(f.inside, z-lo)
		n, last, next = n+f.count(last, next), next, last
	}
	if hi == f.d {
		return n + f.count(last, f.none)
	}
	s.last = f.copied(last)
	return n
}

// copied returns a copy of a plane.
func (f *flood) copied(plane *cells.PlaneSet) *cells.PlaneSet {
	to := f.sets.Get().(*cells.PlaneSet)
	copy(to.Row(-1)[:f.plane], plane.Row(-1)[:f.plane])
	return to
}

// slab returns slices of the image, in place or read.
func (f *filler) slab(lo, hi int64) ([]byte, error) {
	size := f.h * f.w * f.in.Type().Size()
	lo, hi = lo+f.skip, hi+f.skip
	if whole, is := f.in.(*grid.Field); is {
		return whole.Data()[lo*size : hi*size], nil
	}
	if n := (hi - lo) * size; int64(len(f.buffer)) < n {
		f.buffer = grid.NewBuffer(n)
	}
	slab := f.buffer[:(hi-lo)*size]
	return slab, f.in.ReadSlab(slab, lo, hi)
}
