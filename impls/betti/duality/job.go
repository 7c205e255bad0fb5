package duality

import (
	"fmt"
	"math"
	"math/bits"
	"sync"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
)

// A job is planes of rows of bits, 1 where a voxel is inside. A 2D image has planes of one
// row.
type job struct {
	in      *betti.Image
	fault   Fault
	d, h, w int64
	words   int64   // of a row
	last    uint64  // the voxels of a row's last word
	hollow  bool    // whether there can be cavities
	slab    bool    // whether it is planes of an image that goes on
	ends    [2]bool // whether the image begins with the first plane and ends with the last

	pairs, rowPairs int64 // of planes, and of the rows of a plane
	bits            []uint64
	none            []uint64 // a row of the space around the box

	bundles    []int32 // the first node of each pair of rows in each pair of planes
	runs       []int32 // the first node of each row of the background
	foreground []int32 // the parent of each node, one of a smaller number or itself
	background []int32

	parts []*part
	out   betti.Numbers
}

// A part is pairs of planes lo ≤ k < hi, which one core takes.
type part struct {
	lo, hi               int64
	bundles, runs        int64 // how many
	outside              int32 // the node of the background that is all space around the box
	joined, joinedAround int64 // links that joined two components, of the foreground and of the background
	chi                  int64
	slab                 []byte
	err                  error
}

// row is row y of plane z, empty beyond the box.
func (j *job) row(z, y int64) []uint64 {
	if z < 0 || z >= j.d || y < 0 || y >= j.h {
		return j.none
	}
	at := (z*j.h + y) * j.words
	return j.bits[at : at+j.words : at+j.words]
}

// each calls f for all parts at the same time.
func (j *job) each(f func(p *part)) {
	var wg sync.WaitGroup
	for _, p := range j.parts {
		wg.Go(func() { f(p) })
	}
	wg.Wait()
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("pack")
	j.each(func(p *part) {
		if p.err = j.pack(p); p.err == nil {
			j.number(p)
		}
	})
	for _, p := range j.parts {
		if p.err != nil {
			return p.err
		}
	}
	end()
	end = trace.Span("nodes")
	nodes, err := j.place()
	end()
	if err != nil {
		return err
	}
	end = trace.Span("links")
	j.each(j.link)
	end()
	end = trace.Span("seams")
	j.seams()
	end()
	b := betti.Numbers{B0: nodes.bundles, B2: nodes.runs}
	chi := int64(0)
	for _, p := range j.parts {
		b.B0 -= p.joined
		b.B2 -= p.joinedAround
		chi += p.chi
	}
	if j.hollow && j.fault != OutsideCounts {
		b.B2-- // the outside
	}
	b.B1 = b.B0 + b.B2 - chi
	j.out = b
	return nil
}

// number counts the nodes of each row of a part, and the runs of χ.
func (j *job) number(p *part) {
	p.bundles, p.runs, p.chi = 0, 0, 0
	for k := p.lo; k < p.hi; k++ {
		for r := range j.rowPairs {
			j.bundles[k*j.rowPairs+r] = int32(p.bundles)
			a, b, c, d := j.row(2*k, 2*r), j.row(2*k, 2*r+1), j.row(2*k+1, 2*r), j.row(2*k+1, 2*r+1)
			p.bundles += countRuns(a, b, c, d)
		}
	}
	if !j.hollow {
		return
	}
	p.runs = 1 // the outside
	for r := 2 * p.lo * j.h; r < min(j.d, 2*p.hi)*j.h; r++ {
		j.runs[r] = int32(p.runs)
		row := j.bits[r*j.words:][:j.words]
		carry, n := uint64(0), 0
		for i, v := range row {
			v = ^v
			if i == len(row)-1 {
				v &= j.last
			}
			n += bits.OnesCount64(v &^ (v<<1 | carry))
			carry = v >> 63
		}
		p.runs += int64(n)
	}
}

// countRuns counts the runs of four rows together.
func countRuns(a, b, c, d []uint64) int64 {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	carry, n := uint64(0), 0
	for i := range a {
		v := a[i] | b[i] | c[i] | d[i]
		n += bits.OnesCount64(v &^ (v<<1 | carry))
		carry = v >> 63
	}
	return int64(n)
}

// nodes are how many there are.
type nodes struct{ bundles, runs int64 }

// place gives each part numbers of its own.
func (j *job) place() (n nodes, err error) {
	var first []nodes
	for _, p := range j.parts {
		first = append(first, n)
		n.bundles += p.bundles
		n.runs += p.runs
	}
	if max(n.bundles, n.runs) > math.MaxInt32 {
		return n, fmt.Errorf("%d runs: nodes are at most %d; take a smaller image", max(n.bundles, n.runs), math.MaxInt32)
	}
	j.foreground, j.background = grown(j.foreground, n.bundles), grown(j.background, n.runs)
	for i, p := range j.parts {
		p.outside = int32(first[i].runs)
		if i == 0 {
			continue
		}
		for k := p.lo * j.rowPairs; k < p.hi*j.rowPairs; k++ {
			j.bundles[k] += int32(first[i].bundles)
		}
		if j.hollow {
			for r := 2 * p.lo * j.h; r < min(j.d, 2*p.hi)*j.h; r++ {
				j.runs[r] += int32(first[i].runs)
			}
		}
	}
	j.bundles[len(j.bundles)-1] = int32(n.bundles)
	if j.hollow {
		j.runs[len(j.runs)-1] = int32(n.runs)
	}
	return n, nil
}

// grown is a list of so many, the same one where it is long enough.
func grown(list []int32, n int64) []int32 {
	if int64(cap(list)) < n {
		return make([]int32, n)
	}
	return list[:n]
}

// link makes the links within a part, and counts its runs of χ.
func (j *job) link(p *part) {
	p.joined, p.joinedAround = 0, 0
	first, end := j.bundles[p.lo*j.rowPairs], j.bundles[p.hi*j.rowPairs]
	for i := first; i < end; i++ {
		j.foreground[i] = i
	}
	for k := p.lo; k < p.hi; k++ {
		for r := range j.rowPairs {
			p.joined += j.linkBundles(k, r, r > 0, k > p.lo)
		}
		for z := 2 * k; z < min(j.d, 2*k+2); z++ {
			p.chi += j.characteristic(z)
		}
	}
	if p.hi == j.pairs {
		p.chi += j.characteristic(j.d)
	}
	if !j.hollow {
		return
	}
	j.background[p.outside] = p.outside
	for z := 2 * p.lo; z < min(j.d, 2*p.hi); z++ {
		for y := range j.h {
			p.joinedAround += j.open(p, z, y)
			p.joinedAround += j.linkRuns(z, y, true, z > 2*p.lo)
		}
	}
}

// open makes the nodes of a row of the background, and joins those at a side of the box with
// the outside.
func (j *job) open(p *part, z, y int64) (joined int64) {
	at := z*j.h + y
	first, end := j.runs[at], j.runs[at+1]
	if z == 2*p.hi-1 && y == j.h-1 && p.hi < j.pairs {
		end = p.outside + int32(p.runs)
	}
	parent := j.background[first:end]
	ends := 0
	for _, is := range []bool{z == 0 && j.ends[0], z == j.d-1 && j.ends[1], y == 0, y == j.h-1} {
		if is {
			ends++
		}
	}
	if ends == 1 || ends > 1 && j.fault != OpenEdges {
		for i := range parent {
			parent[i] = p.outside
		}
		return int64(len(parent))
	}
	for i := range parent {
		parent[i] = first + int32(i)
	}
	row := j.row(z, y)
	if ends > 1 || len(parent) == 0 {
		return 0
	}
	if row[0]&1 == 0 {
		parent[0] = p.outside
		joined++
	}
	if end := len(parent) - 1; row[j.words-1]>>(uint(j.w-1)%64)&1 == 0 && (end > 0 || row[0]&1 == 1) {
		parent[end] = p.outside
		joined++
	}
	return joined
}

// seams joins neighbouring parts, then neighbouring pairs of them, and so on: none of those
// that are joined at the same time has nodes of another.
func (j *job) seams() {
	for step := 1; step < len(j.parts); step *= 2 {
		var wg sync.WaitGroup
		for i := step; i < len(j.parts); i += 2 * step {
			p := j.parts[i]
			wg.Go(func() { j.seam(p) })
		}
		wg.Wait()
	}
}

// seam joins a part with the one before it.
func (j *job) seam(p *part) {
	if j.fault != LostSeam {
		for r := range j.rowPairs {
			p.joined += j.linkBundles(p.lo, r, false, true)
		}
	}
	if !j.hollow {
		return
	}
	joined := unite(j.background, 0, p.outside) // all that is outside is one
	for y := range j.h {
		joined += j.linkRuns(2*p.lo, y, false, true)
	}
	if j.fault == CountedTwice {
		joined *= 2
	}
	p.joinedAround += joined
}

// unite makes one component of those of two nodes, where there are two: Rem's algorithm
// (Dijkstra 1976), which takes whatever it passes along with it.
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

// characteristic is the Euler characteristic of the cells that begin in the plane between
// plane z−1 and plane z, or between that and the next one. Of the cells that begin at a row
// of vertices and are alike but for whether they span x, the shorter ones are more by one for
// each run.
func (j *job) characteristic(z int64) (chi int64) {
	for y := range j.h + 1 {
		a, b, c, d := j.row(z-1, y-1), j.row(z-1, y), j.row(z, y-1), j.row(z, y)
		b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
		var all, lower, upper, last uint64 // the last bits of the words before
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
	j.out = betti.Poisoned
	for i := range j.bits {
		j.bits[i] = 0x5a5a5a5a5a5a5a5a
	}
}

func (j *job) Out() (betti.Numbers, error) { return j.out, nil }

func (j *job) Close() error { return nil }

// slabBytes is about how much of a source that is not in memory is read at a time.
const slabBytes = 4 << 20

// pack sets the bits of a part.
func (j *job) pack(p *part) error {
	lo, hi := 2*p.lo, min(j.d, 2*p.hi)
	size := j.h * j.w * j.in.Type().Size()
	if f, ok := j.in.Source.(*grid.Field); ok {
		j.packSlab(f.Data()[lo*size:hi*size], lo, hi)
		return nil
	}
	step := max(1, slabBytes/size)
	if p.slab == nil {
		p.slab = grid.NewBuffer(min(step, hi-lo) * size)
	}
	for z := lo; z < hi; z += step {
		end := min(hi, z+step)
		slab := p.slab[:(end-z)*size]
		if err := j.in.ReadSlab(slab, z, end); err != nil {
			return err
		}
		j.packSlab(slab, z, end)
	}
	return nil
}

func (j *job) packSlab(slab []byte, lo, hi int64) {
	to := j.bits[lo*j.h*j.words : hi*j.h*j.words]
	switch j.in.Type() {
	case grid.Uint8:
		packBytes(to, slab, j.w, j.in.Threshold)
	case grid.Int16:
		packValues(to, grid.Values[int16](slab), j.w, j.in.Threshold)
	case grid.Uint16:
		packValues(to, grid.Values[uint16](slab), j.w, j.in.Threshold)
	case grid.Float32:
		packValues(to, grid.Values[float32](slab), j.w, j.in.Threshold)
	}
	if j.fault == LastRow {
		for z := range hi - lo {
			clear(to[((z+1)*j.h-1)*j.words:][:j.words])
		}
	}
}
