package betti

import (
	"cmp"
	"runtime"
	"sync/atomic"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// floodBytes are about the bits of a slab that one core fills, and readBytes about what is read
// of a source at a time.
const (
	floodBytes = 4 << 20
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
	f := &flood{
		in: in, convention: c, flat: in.Shape().Dim() == 2, planes: planes, few: few,
		ends: [2]bool{true, true}, counts: true, cores: int64(runtime.GOMAXPROCS(0)),
	}
	f.d, f.h, f.w = ecc.Stack(in.Shape())
	slabs, err := f.slabs()
	if err != nil {
		return t, err
	}
	for _, s := range slabs {
		t.characteristic += s.characteristic
	}
	var wg crew.Group
	wg.Go(func() { t.set = together(slabs, ofSet, nil) })
	wg.Go(func() { t.rest = together(slabs, ofRest, nil) })
	wg.Wait()
	return t, nil
}

// slabs fills slabs of planes, and lists how neighbours meet.
func (f *flood) slabs() ([]filled, error) {
	f.words = f.w/64 + 1 // as those of ecc.PlaneSet: the last bit of a row is of no voxel
	f.plane = (f.h + 2) * f.words
	if f.planes == 0 {
		f.planes = max(leastPlanes, min(floodBytes/(8*f.plane), (f.d+2*f.cores-1)/(2*f.cores)))
	}
	n := (f.d + f.planes - 1) / f.planes
	slabs := make([]filled, n)
	met := make([]atomic.Int32, n) // sides of each slab's last plane that are filled
	fillers := make([]filler, f.cores)
	errs := make([]error, f.cores)
	var failed atomic.Bool
	inParts(f.cores, n, func(core int, k int64) {
		if failed.Load() {
			return
		}
		if slabs[k], errs[core] = fillers[core].fill(f, k*f.planes, min((k+1)*f.planes, f.d)); errs[core] != nil {
			failed.Store(true)
			return
		}
		for s := max(0, k-1); s <= min(k, n-2); s++ {
			if met[s].Add(1) == 2 {
				for kind := range kinds {
					if !f.omits[kind] {
						slabs[s].of[kind].meet(&slabs[s+1].of[kind], int(f.words), f.corners(kind))
					}
				}
			}
		}
	})
	return slabs, cmp.Or(errs...)
}

// inParts calls f with 0 ≤ k < n on so many cores.
func inParts(cores, n int64, f func(core int, k int64)) {
	var next atomic.Int64
	var wg crew.Group
	for core := range int(min(n, cores)) {
		wg.Go(func() {
			for k := next.Add(1) - 1; k < n; k = next.Add(1) - 1 {
				f(core, k)
			}
		})
	}
	wg.Wait()
}

// A filled slab has components of both kinds, and the cells between its planes and the one
// before them.
type filled struct {
	characteristic int64
	of             [kinds]found
}

// A filler is a core's memory.
type filler struct {
	*flood
	buffer       []byte
	below, above *ecc.PlaneSet
	inside       []uint64 // the bits of a slab
	left         []uint64 // to be filled
	main         []uint64 // the main component
	due          []uint64 // filled, but their neighbours are not
	todo         []int    // words that have bits which are due
	// of the kind that is filled
	to                  *found
	touching            bool // at edges and corners too
	spares              bool // whether a component may become the main one
	begin, end          int64
	firstEnd, lastBegin int64 // the end of the first plane, and where the last one begins, if they are asked for
	// of the component that is filled
	number  int32 // 0 as long as it is no node
	touched bool  // whether it touches the main one
}

// fill fills the components of planes lo ≤ z < hi.
func (f *filler) fill(of *flood, lo, hi int64) (s filled, err error) {
	if f.flood == nil {
		f.flood = of
		f.below, f.above = ecc.NewPlaneSet(of.h, of.w), ecc.NewPlaneSet(of.h, of.w)
		n := of.row(min(of.planes, of.d)+1, 0)
		all := grid.NewValues[uint64](4 * n) // in one piece, for large pages
		f.inside, f.left, f.main, f.due = all[:n:n], all[n:2*n:2*n], all[2*n:3*n:3*n], all[3*n:]
	}
	if s.characteristic, err = f.read(lo, hi); err != nil {
		return s, err
	}
	for kind := range kinds {
		if !f.omits[kind] {
			s.of[kind] = f.components(kind, lo, hi)
		}
	}
	return s, nil
}

// read sets the bits of planes, and counts the cells that begin between each of them and the
// one before it, after the last plane of the image too.
func (f *filler) read(lo, hi int64) (characteristic int64, err error) {
	count := ecc.CellsBetween
	if f.convention.Vertices {
		count = ecc.DualCellsBetween
	}
	threshold := f.in.Threshold
	if f.convention.Superlevel {
		threshold = f.in.below().Threshold // who is not above it is not in the set
	}
	f.above.Clear()
	next := func() { f.below, f.above = f.above, f.below }
	size := f.h * f.w * f.in.Type().Size()
	step := max(1, readBytes/size)
	first := lo
	if f.counts {
		first = max(0, lo-1)
	}
	for from := first; from < hi; from += step {
		end := min(hi, from+step)
		slab, err := f.slab(from, end)
		if err != nil {
			return 0, err
		}
		for z := from; z < end; z++ {
			next()
			f.above.Fill(f.in.Type(), slab[(z-from)*size:][:size], threshold)
			if f.convention.Superlevel {
				f.above.Invert()
			}
			if z < lo {
				continue
			}
			if f.counts {
				characteristic += count(f.below, f.above)
			}
			copy(f.inside[f.row(z-lo, -1):], f.above.Row(-1)[:f.plane])
		}
	}
	if hi == f.d && f.counts {
		next()
		f.above.Clear()
		characteristic += count(f.below, f.above)
	}
	return characteristic, nil
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
