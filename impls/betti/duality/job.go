package duality

import (
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
)

// A job is an image as planes of rows. A 2D image has planes of one row.
type job struct {
	in      *betti.Image
	d, h, w int64
	layout
	last   uint64  // mask of the voxels in a row's last word
	hollow bool    // whether cavities are possible
	slab   bool    // whether Slab needs the components of its first and last plane
	ends   [2]bool // whether the image begins with the first plane, and ends with the last

	parts      []*part
	components [kinds]int64
	bench.Output[betti.Numbers]
}

// A layout is the arrangement of words in memory. An empty word follows each row, and an empty row
// precedes and follows each plane.
type layout struct {
	words, stride, plane int64
	rows, marks          int64 // rows of a plane, and bytes of marks per row
}

// row returns the index of a row of a plane. An empty word precedes everything.
func (l layout) row(y int64) int64 { return 1 + (y+1)*l.stride }

// A part is planes lo ≤ z < hi, which one core processes.
type part struct {
	lo, hi      int64
	window      window
	forests     [kinds]*forest
	chi         int64
	first, last []uint64 // bits of the first and of the last plane
	slab        []byte
	err         error
}

// The two kinds of components.
const (
	ofSet  = iota
	ofRest // the background, with the outside
	kinds
)

// each calls f for all parts in parallel.
func (j *job) each(f func(p *part)) {
	crew.Each(len(j.parts), func(i int) { f(j.parts[i]) })
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("parts")
	j.each(func(p *part) { p.err = j.take(p) })
	for _, p := range j.parts {
		if p.err != nil {
			return p.err
		}
	}
	end()
	defer trace.Span("seams")()
	crew.Each(j.kinds(), func(kind int) { j.components[kind] = j.join(kind) })
	chi := int64(0)
	for i, p := range j.parts {
		if chi += p.chi; i > 0 {
			chi += fastest.characteristic(j.layout, j.parts[i-1].last, p.first, j.h)
		}
	}
	cavities := j.components[ofRest]
	if j.hollow {
		cavities-- // the outside
	}
	j.Last = betti.NewNumbers(j.components[ofSet], cavities, chi)
	return nil
}

// kinds returns the number of kinds whose components are counted.
func (j *job) kinds() int {
	if j.hollow {
		return kinds
	}
	return ofRest
}

// take counts within a part, window by window.
func (j *job) take(p *part) error {
	w := &p.window
	p.chi, w.far = 0, false
	clear(w.set)
	for kind := range j.kinds() {
		p.forests[kind].begin(kind)
	}
	for lo := p.lo; lo < p.hi; lo += w.room {
		hi := min(p.hi, lo+w.room)
		if err := j.pack(p, lo, hi); err != nil {
			return err
		}
		for z := range hi - lo {
			if lo+z == p.lo {
				continue // Do adds the χ between parts; before the image's first plane it is 0
			}
			p.chi += fastest.characteristic(j.layout, w.set[z*j.plane:], w.set[(z+1)*j.plane:], j.h)
		}
		if hi == j.d {
			clear(w.set[(hi-lo+1)*j.plane:][:j.plane])
			p.chi += fastest.characteristic(j.layout, w.set[(hi-lo)*j.plane:], w.set[(hi-lo+1)*j.plane:], j.h)
		}
		for kind := range j.kinds() {
			j.count(p, kind, lo, hi)
		}
		if lo == p.lo {
			copy(p.first, w.set[j.plane:])
		}
		copy(w.set[1:][:j.plane], w.set[1+(hi-lo)*j.plane:])
	}
	copy(p.last, w.set)
	return nil
}

// join joins the components of a kind over all parts, and returns their number. Neighbouring parts
// are joined pairwise in parallel, then pairs of pairs, and so on, so that no two cores share
// nodes.
func (j *job) join(kind int) (components int64) {
	n := 0
	for _, p := range j.parts {
		f := p.forests[kind]
		components += f.components
		f.from = int32(n)
		n += len(f.parent)
	}
	all := j.parts[0].forests[kind]
	all.parent = slices.Grow(all.parent, n-len(all.parent))
	parent := all.parent[:n]
	j.each(func(p *part) { p.forests[kind].numberNodes(parent) })
	joined := make([]int64, len(j.parts))
	for by := 1; by < len(j.parts); by *= 2 {
		var g crew.Group
		for i := by; i < len(j.parts); i += 2 * by {
			g.Go(func() { joined[i] = j.seam(parent, i-by, i, kind) })
		}
		g.Wait()
	}
	all.parent = parent
	for _, n := range joined {
		components -= n
	}
	return components
}

// seam joins the components of parts before … i−1 with components of the parts from i on.
func (j *job) seam(parent []int32, before, i, kind int) (joined int64) {
	f := j.parts[i].forests[kind]
	if kind == ofRest { // both have the same outside
		joined = unite(parent, j.parts[before].forests[kind].from+outside, f.from+outside)
	}
	return joined + j.meet(parent, &j.parts[i-1].forests[kind].last, &f.first, kind)
}

// unite unites the components of two nodes and returns 1, or returns 0 if they are the same. It
// uses Rem's algorithm (Dijkstra 1976), which also shortens the paths that it follows.
func unite(parent []int32, a, b int32) int64 {
	for {
		p, q := parent[a], parent[b]
		if p == q {
			return 0
		}
		if p < q {
			a, b, p, q = b, a, q, p
		}
		if parent[a] = q; a == p {
			return 1
		}
		a = p
	}
}

// characteristic returns the Euler characteristic of the cells that begin in the plane of vertices
// between two planes of voxels. Consider the cells at a row of vertices that differ only in whether
// they span x: the cells without x outnumber the others by one per run.
func characteristic(l layout, before, plane []uint64, rows int64) (chi int64) {
	for y := range rows + 1 {
		lesser, at := l.row(y-1), l.row(y)
		a, b, c, d := before[lesser:][:l.words], before[at:][:l.words], plane[lesser:][:l.words], plane[at:][:l.words]
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		var all, lower, upper, last uint64 // the last bits of the previous words
		n := 0
		for i := range a {
			v1, v2, v3 := d[i], b[i]|d[i], c[i]|d[i]
			v := a[i] | b[i] | v3
			n += bits.OnesCount64(v&^(v<<1|all)) - bits.OnesCount64(v2&^(v2<<1|lower)) -
				bits.OnesCount64(v3&^(v3<<1|upper)) + bits.OnesCount64(v1&^(v1<<1|last))
			all, lower, upper, last = v>>63, v2>>63, v3>>63, v1>>63
		}
		chi += int64(n)
	}
	return chi
}

func (j *job) Poison() {
	j.Last = betti.Poisoned
	j.each(func(p *part) { // each core touches its own memory first
		for _, list := range [][]uint64{p.window.left, p.window.main, p.first, p.last} {
			for i := range list {
				list[i] = 0x5a5a5a5a5a5a5a5a
			}
		}
	})
}

// slabBytes is the approximate size of a read from a source that is not in memory.
const slabBytes = 1 << 20

// pack sets the bits of the planes of a window after its first plane.
func (j *job) pack(p *part, lo, hi int64) error {
	size := j.h * j.w * j.in.Type().Size()
	if f, ok := j.in.Source.(*grid.Field); ok {
		j.packSlab(p.window.set[j.plane:], f.Data()[lo*size:hi*size], hi-lo)
		return nil
	}
	step := max(1, slabBytes/size)
	for z := lo; z < hi; z += step {
		n := min(hi-z, step)
		if int64(len(p.slab)) < n*size {
			p.slab = grid.NewBuffer(n * size)
		}
		slab := p.slab[:n*size]
		if err := j.in.ReadSlab(slab, z, z+n); err != nil {
			return err
		}
		j.packSlab(p.window.set[(z-lo+1)*j.plane:], slab, n)
	}
	return nil
}

func (j *job) packSlab(to []uint64, slab []byte, planes int64) {
	switch j.in.Type() {
	case grid.Uint8:
		packPlanes(j, to, slab, planes, fastest.packBytes)
	case grid.Int16:
		packPlanes(j, to, grid.Values[int16](slab), planes, packValues[int16])
	case grid.Uint16:
		packPlanes(j, to, grid.Values[uint16](slab), planes, packValues[uint16])
	case grid.Float32:
		packPlanes(j, to, grid.Values[float32](slab), planes, packValues[float32])
	}
}

func packPlanes[T grid.Element](j *job, to []uint64, values []T, planes int64,
	pack func(to []uint64, values []T, w, stride, rows int64, t float32)) {
	for z := range planes {
		pack(to[z*j.plane+j.row(0):], values[z*j.h*j.w:][:j.h*j.w], j.w, j.stride, j.h, j.in.Threshold)
	}
}

// windows returns the number of parts of d planes for some cores, and the planes of a window, at most
// planes.
func windows(d int64, cores int, planes int64) (parts, each int64) {
	parts = min(int64(max(1, cores)), (d+1)/2)
	return parts, min(planes, (d+parts-1)/parts)
}

// setup divides the planes into parts, with windows of the given number of planes.
func (j *job) setup(d, h, w int64, threads int, planes int64) {
	j.d, j.h, j.w = d, h, w
	j.layout = layoutOf(h, w)
	j.last = math.MaxUint64 >> uint(64*j.words-w)
	j.hollow = min(h, w) > 2 && (j.slab || d > 2) // otherwise every voxel is at a side of the box
	if planes == 0 {
		planes = windowPlanes(j.layout)
	}
	n, planes := windows(d, threads, planes)
	set, other := j.windowWords(planes)
	all := grid.NewValues[uint64](n * (set + 2*other)) // one allocation, for huge pages
	for i := range n {
		p := &part{lo: d * i / n, hi: d * (i + 1) / n, first: make([]uint64, j.plane+2), last: make([]uint64, j.plane+2)}
		p.window, all = newWindow(j.layout, planes, all)
		for kind := range j.kinds() {
			p.forests[kind] = newForest(j.layout, [2]bool{p.lo > 0 || j.slab, p.hi < d || j.slab})
		}
		j.parts = append(j.parts, p)
	}
}

func layoutOf(h, w int64) (l layout) {
	l.words = words(w)
	l.stride = l.words + 1
	l.rows = h + 2
	l.plane = l.rows * l.stride
	l.marks = grid.CeilDiv(l.words, markWords)
	return l
}
