package betti

import (
	"cmp"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// floodBytes are about the bits of a slab that one core fills, and readBytes about what is read
// of a source at a time.
const (
	floodBytes = 5 << 20
	readBytes  = 1 << 20
)

// leastPlanes are in a slab, of which two meet others.
const leastPlanes = 4

// A flood counts the components of a set and of the rest by filling each from its first voxel
// on, 64 voxels of a row at a time. Slabs of planes are filled by all cores, and what comes to
// their first and last planes is the nodes of a graph, which is filled likewise. Of an image
// nothing is kept but the slabs that cores have at hand, and the components at planes where a
// neighbour is not filled yet.
type flood struct {
	in         *Image
	convention ecc.Convention
	flat       bool    // whether planes are the rows of a 2D image, and have no sides along y
	ends       [2]bool // whether the image begins with the first plane, and ends with the last one
	keeps      [2]bool // whether the nodes of the first plane, and of the last one, are asked for
	omits      [kinds]bool
	counts     bool // whether the cells are asked for, too
	cores      int64
	d, h, w    int64 // planes of h rows
	skip       int64 // planes of the source before the first one
	planes     int64 // of a slab
	few        int   // words of a component that is not grown along all rows
	words      int64 // of a row
	plane      int64 // words of a plane, with a row of none at either end

	slabs []filled
	met   []atomic.Int32 // sides of each slab's last plane that are filled
	none  *ecc.PlaneSet  // a plane of none

	sets, borders sync.Pool // of planes
}

// row is where a row of a slab begins. There is a plane of none at either end of a slab, and a
// word before all.
func (f *flood) row(z, y int64) int64 { return 1 + (z+1)*f.plane + (y+1)*f.words }

// A tally is what a flood counts. The outside of the box is part of the rest, whether or not a
// voxel touches it.
type tally struct{ set, rest, characteristic int64 }

// The two kinds of components.
const (
	ofSet = iota
	ofRest
	kinds
)

// shared is how many nodes a kind has that are the same in all slabs: the outside.
func shared(kind int) int32 { return int32(kind) }

// corners reports whether voxels of a kind are neighbours at edges and corners, too.
func (f *flood) corners(kind int) bool { return (kind == ofSet) != f.convention.Vertices }

// floodOf counts an image in a convention, in slabs of so many planes, or of what suits, 0, where
// components are small up to so many words.
func floodOf(in *Image, c ecc.Convention, planes int64, few int) (t tally, err error) {
	if k, is := in.Source.(*keeper); is && k.filledAs(in.Threshold, c) {
		return k.sum(), nil
	}
	f := newFlood(in, c, planes, few)
	if err := f.fill(); err != nil {
		return t, err
	}
	return f.sum(), nil
}

// newFlood is of an image, as floodOf.
func newFlood(in *Image, c ecc.Convention, planes int64, few int) *flood {
	f := &flood{
		in: in, convention: c, flat: in.Shape().Dim() == 2, planes: planes, few: few,
		ends: [2]bool{true, true}, counts: true, cores: int64(runtime.GOMAXPROCS(0)),
	}
	f.d, f.h, f.w = ecc.Stack(in.Shape())
	return f
}

// sum is what is counted in all slabs.
func (f *flood) sum() (t tally) {
	for i := range f.slabs {
		t.characteristic += f.slabs[i].characteristic
	}
	var wg crew.Group
	wg.Go(func() { t.set = countComponents(f.slabs, ofSet, nil) })
	wg.Go(func() { t.rest = countComponents(f.slabs, ofRest, nil) })
	wg.Wait()
	return t
}

// prepare says how the image is cut into slabs, as many for each core.
func (f *flood) prepare() {
	f.words = ecc.RowWords(f.w) // the last bit of a row is of no voxel
	f.plane = (f.h + 2) * f.words
	if f.planes == 0 {
		most := max(leastPlanes, floodBytes/(8*f.plane))
		each := max(2, grid.CeilDiv(f.d, most*f.cores)) // slabs of a core
		f.planes = max(leastPlanes, grid.CeilDiv(f.d, each*f.cores))
	}
	n := grid.CeilDiv(f.d, f.planes)
	f.slabs, f.met = make([]filled, n), make([]atomic.Int32, n)
	f.none = ecc.NewPlaneSet(f.h, f.w)
	f.sets.New = func() any { return ecc.NewPlaneSet(f.h, f.w) }
	f.borders.New = func() any { return newBorder(f.plane + 2) }
}

// span is the planes of a slab.
func (f *flood) span(k int64) (lo, hi int64) { return k * f.planes, min((k+1)*f.planes, f.d) }

// fill fills slabs of planes, and finds how neighbours meet.
func (f *flood) fill() error {
	f.prepare()
	fillers := make([]filler, f.cores)
	errs := make([]error, f.cores)
	var failed atomic.Bool
	inRuns(f.cores, int64(len(f.slabs)), func(core int, k int64) {
		if failed.Load() {
			return
		}
		lo, hi := f.span(k)
		by := &fillers[core]
		by.begin(f)
		if by.inside == nil {
			by.inside = f.newSlab()
		}
		if errs[core] = by.read(lo, hi); errs[core] != nil {
			failed.Store(true)
			return
		}
		f.fillSlab(by, k)
	})
	return cmp.Or(errs...)
}

// newSlab is room for the bits of a slab, with a plane at either end.
func (f *flood) newSlab() []uint64 {
	return grid.NewValues[uint64](f.row(min(f.planes, f.d)+1, 0))
}

// fillSlab fills a slab whose bits a filler has, and finds how it meets its neighbours if they are filled.
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

// leading are the voxels of the main component in the planes next to a slab's first plane and last one, those of slabs that
// are filled. The main components of two neighbours may be two, unless they are what is outside: then the first leads alone.
func (f *flood) leading(kind int, k int64) (main [2][]uint64) {
	if k > 0 && f.met[k-1].Load() == 1 && f.slabs[k-1].of[kind].main != 0 {
		main[0] = f.slabs[k-1].of[kind].last.main
	}
	if k < int64(len(f.met))-1 && f.met[k].Load() == 1 && (kind == ofRest || main[0] == nil) {
		main[1] = f.slabs[k+1].of[kind].first.main
	}
	return main
}

// meet finds how a slab meets the next one.
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
func (f *flood) count(below, above *ecc.PlaneSet) int64 {
	if f.convention.Vertices {
		return ecc.DualCellsBetween(below, above)
	}
	return ecc.CellsBetween(below, above)
}

// inRuns calls f with 0 ≤ k < n on so many cores. Each begins with a run of its own, so that neighbours come one after
// the other.
func inRuns(cores, n int64, f func(core int, k int64)) {
	cores = min(n, cores)
	order := make([]int64, 0, n)
	for i := int64(0); int64(len(order)) < n; i++ {
		for core := range cores {
			if k := n*core/cores + i; k < n*(core+1)/cores {
				order = append(order, k)
			}
		}
	}
	var next atomic.Int64
	crew.Each(int(cores), func(core int) {
		for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
			f(core, order[i])
		}
	})
}

// A filled slab has components of both kinds, and the cells of its planes. Its first and its last plane are kept for those
// between it and its neighbours.
type filled struct {
	characteristic int64
	first, last    *ecc.PlaneSet
	of             [kinds]found
}

// A filler is a core's memory.
type filler struct {
	*flood
	buffer []byte
	inside []uint64 // the bits of a slab
	left   []uint64 // to be filled
	main   []uint64 // the main component
	due    []due    // filled, but their neighbours are not
	// of the kind that is filled
	to                  *found
	touching            bool  // at edges and corners too
	spares              bool  // whether a component may become the main one
	firstEnd, lastBegin int64 // the end of the first plane, and where the last one begins, if they are asked for
	// of the component that is filled
	number  int32 // 0 as long as it is no node
	touched bool  // whether it touches the main one
}

// begin makes room for slabs.
func (f *filler) begin(of *flood) {
	if f.flood != nil {
		return
	}
	f.flood = of
	n := of.row(min(of.planes, of.d)+1, 0)
	all := grid.NewValues[uint64](2 * n) // in one piece, for large pages
	f.left, f.main = all[:n:n], all[n:]
}

// due are bits of a word.
type due struct {
	word int
	bits uint64
}

// Packed is a source that has its set as bits: the voxels at or below the threshold, whichever that is.
type Packed interface {
	grid.Source
	// Pack puts the set of a plane into one of bits, whose other bits are 0. The planes of a 2D image are
	// its rows.
	Pack(set *ecc.PlaneSet, z int64)
}

// read sets the bits of planes.
func (f *filler) read(lo, hi int64) error {
	if p, ok := f.in.Source.(Packed); ok && !f.convention.Superlevel {
		for z := lo; z < hi; z++ {
			p.Pack(f.planeOf(f.inside, z-lo), z)
		}
		return nil
	}
	size := f.h * f.w * f.in.Type().Size()
	step := max(1, readBytes/size)
	for from := lo; from < hi; from += step {
		end := min(hi, from+step)
		slab, err := f.slab(from, end)
		if err != nil {
			return err
		}
		for z := from; z < end; z++ {
			f.put(f.inside, z-lo, slab[(z-from)*size:][:size])
		}
	}
	return nil
}

// planeOf is a plane of the bits of a slab.
func (f *flood) planeOf(inside []uint64, z int64) *ecc.PlaneSet {
	return ecc.PlaneSetOf(inside[f.row(z, -1):], f.h, f.w)
}

// put puts the set of a plane's values into the bits of a slab.
func (f *flood) put(inside []uint64, z int64, plane []byte) {
	set, c, typ := f.planeOf(inside, z), f.convention, f.in.Type()
	if !c.Superlevel {
		t := f.in.Threshold
		if c.Masked {
			t = min(t, math.MaxFloat32)
		}
		set.Fill(typ, plane, t)
		return
	}
	set.Fill(typ, plane, f.in.belowThreshold().Threshold) // who is not above it is not in the set
	set.Invert()
	if !c.Masked {
		return
	}
	for i, v := range grid.Values[float32](plane) { // a masked voxel is in no set
		if x := int64(i) % f.w; v > math.MaxFloat32 {
			set.Row(int64(i) / f.w)[x/64] &^= 1 << (x % 64)
		}
	}
}

// cells counts those of the planes of a slab, of which the first one and the last one stay for those between it and its
// neighbours.
func (f *filler) cells(s *filled, lo, hi int64) (n int64) {
	for z := lo + 1; z < hi; z++ {
		n += f.count(f.planeOf(f.inside, z-1-lo), f.planeOf(f.inside, z-lo))
	}
	if lo > 0 { // else no cells begin before the first plane, or as many even ones as odd ones
		s.first = f.copied(f.planeOf(f.inside, 0))
	}
	last := f.planeOf(f.inside, hi-1-lo)
	if hi == f.d {
		return n + f.count(last, f.none)
	}
	s.last = f.copied(last)
	return n
}

// copied is a plane that stays as it is.
func (f *flood) copied(plane *ecc.PlaneSet) *ecc.PlaneSet {
	to := f.sets.Get().(*ecc.PlaneSet)
	copy(to.Row(-1)[:f.plane], plane.Row(-1)[:f.plane])
	return to
}

// slab is slices of the image, where they are or read.
func (f *filler) slab(lo, hi int64) ([]byte, error) {
	size := f.h * f.w * f.in.Type().Size()
	lo, hi = lo+f.skip, hi+f.skip
	if whole, is := f.in.Source.(*grid.Field); is {
		return whole.Data()[lo*size : hi*size], nil
	}
	if n := (hi - lo) * size; int64(len(f.buffer)) < n {
		f.buffer = grid.NewBuffer(n)
	}
	slab := f.buffer[:(hi-lo)*size]
	return slab, f.in.ReadSlab(slab, lo, hi)
}
