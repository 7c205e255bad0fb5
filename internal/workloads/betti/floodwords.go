package betti

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"
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

// floodOf counts an image in a convention, in slabs of so many planes, or of what suits, 0.
func floodOf(in *Image, c ecc.Convention, planes int64) (t tally, err error) {
	f := &flood{
		in: in, convention: c, flat: in.Shape().Dim() == 2, planes: planes,
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
						slabs[s].of[kind].meet(&slabs[s+1].of[kind], f.h, f.w, f.corners(kind))
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

// What is found in a slab are components those that come to no plane of a neighbour, and nodes: the others,
// numbered from 1 on. Of each voxel of the first and of the last plane there is the number of
// its node, 0 where it is of the other kind, as long as a neighbour needs it.
type found struct {
	inner       int64
	nodes       int32
	first, last []int32
	edges       []edge // to nodes of the next slab
}

// An edge is two nodes, of a slab and of the next one.
type edge uint64

func edgeOf(a, b int32) edge    { return edge(a)<<32 | edge(b) }
func (e edge) nodes() [2]int32  { return [2]int32{int32(e >> 32), int32(e & math.MaxUint32)} }
func compacted(e []edge) []edge { slices.Sort(e); return slices.Compact(e) }

// A filler is a core's memory.
type filler struct {
	*flood
	buffer       []byte
	below, above *ecc.PlaneSet
	inside       []uint64 // the bits of a slab
	left         []uint64 // to be filled
	due          []uint64 // filled, but their neighbours are not
	todo         []int    // words that have bits which are due
	// of the component that is filled
	number int32 // 0 as long as it is no node
	to     *found
}

// fill fills the components of planes lo ≤ z < hi.
func (f *filler) fill(of *flood, lo, hi int64) (s filled, err error) {
	if f.flood == nil {
		f.flood = of
		f.below, f.above = ecc.NewPlaneSet(of.h, of.w), ecc.NewPlaneSet(of.h, of.w)
		n := of.row(min(of.planes, of.d)+1, 0)
		f.inside, f.left, f.due = make([]uint64, n), make([]uint64, n), make([]uint64, n)
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
			for y := range f.h {
				copy(f.inside[f.row(z-lo, y):][:f.words], f.above.Row(y))
			}
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

// components fills those of a kind, of the rest first what the outside comes to.
func (f *filler) components(kind int, lo, hi int64) (c found) {
	n := hi - lo
	if lo > 0 || f.keeps[0] {
		c.first = make([]int32, f.h*f.w)
	}
	if hi < f.d || f.keeps[1] {
		c.last = make([]int32, f.h*f.w)
	}
	f.to = &c
	last := uint64(1)<<uint(f.w%64) - 1 // the voxels of a row's last word
	for z := range n {
		for y := range f.h {
			at := f.row(z, y)
			from, left := f.inside[at:at+f.words], f.left[at:at+f.words]
			for i, v := range from {
				if kind == ofRest {
					v = ^v
				}
				left[i] = v
			}
			left[f.words-1] &= last
		}
	}
	clear(f.left[f.row(n, 0):]) // a slab before this one may have had more planes
	if kind == ofRest {
		c.nodes, f.number = 1, 1
		f.sides(lo, hi)
		f.flow(n, f.corners(kind))
	}
	for i, end := f.row(0, 0), f.row(n, 0); i < end; i++ {
		for f.left[i] != 0 {
			f.number = 0
			f.take(int(i), f.left[i]&-f.left[i])
			f.flow(n, f.corners(kind))
			if f.number == 0 {
				c.inner++
			}
		}
	}
	return c
}

// sides takes the voxels at the sides of the image, which touch what is outside.
func (f *filler) sides(lo, hi int64) {
	for z := lo; z < hi; z++ {
		for y := range f.h {
			at := int(f.row(z-lo, y))
			if z == 0 && f.ends[0] || z == f.d-1 && f.ends[1] || !f.flat && (y == 0 || y == f.h-1) {
				for i := range int(f.words) {
					f.take(at+i, math.MaxUint64)
				}
				continue
			}
			f.take(at, 1)
			f.take(at+int((f.w-1)/64), 1<<uint((f.w-1)%64))
		}
	}
}

// take takes those bits of a word that are left.
func (f *filler) take(i int, bits uint64) {
	if bits &= f.left[i]; bits != 0 {
		f.left[i] &^= bits
		if f.due[i] == 0 {
			f.todo = append(f.todo, i)
		}
		f.due[i] |= bits
	}
}

// flow fills what is left around bits that are due, until none are, in a slab of n planes.
func (f *filler) flow(n int64, corners bool) {
	words, plane := int(f.words), int(f.plane)
	first, last := int(f.row(1, 0)), int(f.row(n-1, 0)) // of the second plane and of the last one
	if f.to.first == nil {
		first = 0
	}
	if f.to.last == nil {
		last = math.MaxInt
	}
	around := [8]int{-words, words, -plane, plane, -plane - words, -plane + words, plane - words, plane + words}
	for len(f.todo) > 0 {
		i := f.todo[len(f.todo)-1]
		f.todo = f.todo[:len(f.todo)-1]
		v := f.due[i]
		f.due[i] = 0
		if all := f.left[i] | v; all != v {
			v = runs(v, all)
			f.left[i] = all &^ v
		}
		if i < first {
			f.note(f.to.first, i-int(f.row(0, 0)), v)
		}
		if i >= last {
			f.note(f.to.last, i-int(f.row(n-1, 0)), v)
		}
		// The last bit of a row is of no voxel, so that no row goes on in the next one.
		if v&1 != 0 {
			f.take(i-1, 1<<63)
		}
		if v>>63 != 0 {
			f.take(i+1, 1)
		}
		if !corners {
			for _, by := range around[:4] {
				f.take(i+by, v)
			}
			continue
		}
		wide := v | v<<1 | v>>1
		for _, by := range around {
			f.take(i+by, wide)
			if v&1 != 0 {
				f.take(i+by-1, 1<<63)
			}
			if v>>63 != 0 {
				f.take(i+by+1, 1)
			}
		}
	}
}

// runs are the runs of ones in a word that have one of some bits of it.
func runs(some, all uint64) uint64 {
	v := some | all&^(all+some) // a carry goes up to the end of a run
	for by := uint(1); by < 64; by *= 2 {
		v |= v >> by & all // all holds the places from which so many ones go up
		all &= all >> by
	}
	return v
}

// note writes the number of the component to voxels of a plane, from the word on that has
// some bits.
func (f *filler) note(plane []int32, word int, v uint64) {
	if f.number == 0 {
		f.to.nodes++
		f.number = f.to.nodes
	}
	row := plane[int64(word)/f.words*f.w+int64(word)%f.words*64:]
	for ; v != 0; v &= v - 1 {
		row[bits.TrailingZeros64(v)] = f.number
	}
}

// meet lists the edges from the last plane of a slab to the first one of the next, which
// nobody needs any more.
func (c *found) meet(next *found, h, w int64, corners bool) {
	reach := int64(0)
	if corners {
		reach = 1
	}
	seen, most := edge(0), 1<<16
	for y := range h {
		for x := range w {
			mine := c.last[y*w+x]
			if mine == 0 {
				continue
			}
			for v := max(0, y-reach); v <= min(h-1, y+reach); v++ {
				for u := max(0, x-reach); u <= min(w-1, x+reach); u++ {
					if e := edgeOf(mine, next.first[v*w+u]); e != seen && e.nodes()[1] != 0 {
						c.edges, seen = append(c.edges, e), e
					}
				}
			}
		}
		if len(c.edges) > most {
			c.edges = compacted(c.edges)
			most = max(most, 2*len(c.edges))
		}
	}
	c.edges = compacted(c.edges)
	c.last, next.first = nil, nil
}

// together counts the components of a kind of all slabs: those at planes that meet are filled
// from node to node. Where see is not nil it is called with each node of all slabs, counted from 0 on
// in their order after those that are the same in all, and a number of the component that it is of.
func together(slabs []filled, kind int, see func(node, component int64)) (n int64) {
	same := shared(kind)
	base := make([]int64, len(slabs)+1)
	base[0] = int64(same)
	degree := 0
	for k := range slabs {
		c := &slabs[k].of[kind]
		n += c.inner
		base[k+1] = base[k] + int64(c.nodes-same)
		degree += 2 * len(c.edges)
	}
	// ends are the nodes of each edge.
	ends := func(f func(a, b int64)) {
		for k := range slabs {
			node := func(k int, number int32) int64 {
				if number <= same {
					return int64(number - 1)
				}
				return base[k] + int64(number-1-same)
			}
			for _, e := range slabs[k].of[kind].edges {
				both := e.nodes()
				f(node(k, both[0]), node(k+1, both[1]))
			}
		}
	}
	// The neighbours of each node follow each other.
	begin := make([]int64, base[len(slabs)]+1)
	ends(func(a, b int64) {
		begin[a]++
		begin[b]++
	})
	for i, sum := 0, int64(0); i < len(begin); i++ {
		sum += begin[i]
		begin[i] = sum
	}
	next := make([]int64, degree)
	ends(func(a, b int64) {
		begin[a]--
		next[begin[a]] = b
		begin[b]--
		next[begin[b]] = a
	})
	been := make([]bool, len(begin)-1)
	var todo []int64
	for first := range been {
		if been[first] {
			continue
		}
		n++
		been[first] = true
		todo = append(todo, int64(first))
		for len(todo) > 0 {
			at := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if see != nil {
				see(at, n)
			}
			for _, to := range next[begin[at]:begin[at+1]] {
				if !been[to] {
					been[to] = true
					todo = append(todo, to)
				}
			}
		}
	}
	return n
}
