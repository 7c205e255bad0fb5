package unions

import (
	"math"
	"math/bits"
	"slices"

	"eccbench/internal/grid"
)

// A key is the level of a voxel.
type key interface{ uint8 | uint32 }

// A joiner is a core's memory for a box.
type joiner[K key] struct {
	s       grid.Shape
	convert conversion[K]
	size    int64 // of a voxel
	kernel  kernel[K]
	plan    plan
	group   group

	keys    []K
	found   [2]found
	towards []int32 // per voxel: one more than the end of its first link, or less than 0 if its minimum is known
	other   []uint64
	count   []int32
	parent  []int32  // of minima
	node    []uint32 // of minima that are roots, or none
	tallies [2]tally
	edges   []edge
}

// outside is the number of the outside among the minima of a box.
const outside = 0

// take reads the keys of a box from a slab that starts at slice first.
func (j *joiner[K]) take(b *box, slab []byte, first int64) {
	p := &j.plan
	p.lay(b)
	j.keys = room(j.keys, 2*p.lead+p.d*p.plane)
	for z := range p.d {
		for y := range p.h {
			row := (b.lo[0]+int64(z))*j.s.H + b.lo[1] + int64(y) - first*j.s.H
			if j.s.Dim() == 2 {
				row = b.lo[1] + int64(y) - first
			}
			j.convert(j.keys[p.lead+z*p.plane+y*p.row:][:p.w], slab[(row*j.s.W+b.lo[2])*j.size:][:int64(p.w)*j.size])
		}
	}
}

// room returns a slice of length n, in the memory of s if it is large enough.
func room[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// join joins the minima of a box in one of the graphs.
func (j *joiner[K]) join(b *box, which int, g *graph) error {
	p, f, tally, flip := &j.plan, &j.found[which], &j.tallies[which], K(g.flip())
	level := func(v int32) uint32 { return uint32(j.keys[p.lead+int(v)]) }
	j.towards = room(j.towards, p.d*p.plane+1)
	clear(j.towards)
	j.towards[p.d*p.plane] = ^outside
	j.parent, j.node = room(j.parent, len(f.minima)+1), room(j.node, len(f.minima)+1)
	clear(j.node)
	j.node[outside] = outsideNode
	for i, v := range f.minima {
		tally.add(level(v), 1)
		j.towards[v] = ^int32(i + 1)
	}
	for i := range j.parent {
		j.parent[i] = int32(i)
	}
	w := j.walk(b, g)
	w.first, w.along = f.first, f.along
	nodes := uint32(outsideNode)
	for _, m := range f.meetings {
		to := w.minimum(m.voxel)
		if j.node[to] == none {
			nodes++
			j.node[to] = nodes
		}
		list := &b.crossings[which][m.axis][m.side]
		*list = append(*list, crossing{level(m.voxel), j.node[to]})
	}
	links := f.links[:0]
	for _, e := range f.links {
		v := int32(uint32(e) >> placeBits)
		if a, c := w.minimum(v), w.minimum(v+p.steps[e&(1<<placeBits-1)]); a != c {
			links = append(links, e&^math.MaxUint32|uint64(a)<<16|uint64(c))
		}
	}
	edges := j.edges[:0]
	for _, e := range j.sorted(links) {
		a, c := j.find(int32(e>>16&math.MaxUint16)), j.find(int32(e&math.MaxUint16))
		if a == c {
			continue
		}
		level := uint32(K(e>>32) ^ flip)
		if j.node[a] != none && j.node[c] != none {
			edges = append(edges, edge{level, j.node[a], j.node[c]})
		} else {
			tally.add(level, -1)
		}
		j.node[a] = max(j.node[a], j.node[c])
		j.parent[c] = a
	}
	j.edges = edges
	return g.number(b, which, edges, nodes)
}

// find returns the root of a minimum and halves the path to it.
func (j *joiner[K]) find(i int32) int32 {
	parent := j.parent
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// A walk follows the first links of voxels.
type walk[K key] struct {
	towards []int32
	first   []uint8
	along   [2][]uint64
	keys    []K
	plan    *plan
	flip    K
	image   uint8 // sides of the image with an outside
	ways    []way
}

// A way leads to a neighbour. Some sides have no neighbour there.
type way struct {
	step   int32
	strict uint8 // 1 if the neighbour precedes only if its key is less
	sides  uint8
}

func (j *joiner[K]) walk(b *box, g *graph) *walk[K] {
	p := &j.plan
	w := &walk[K]{towards: j.towards, keys: j.keys, plan: p, flip: K(g.flip())}
	for axis, sides := range b.shares {
		for side, shared := range sides {
			if g.outside && !shared && (axis > 0 || j.s.Dim() == 3) {
				w.image |= 1 << (2*axis + side)
			}
		}
	}
	for _, k := range walkOrder[2:g.ways()] { // after those along x
		by := offset(int(k))
		w.ways = append(w.ways, way{p.steps[k], rim(p.steps[k] > 0 != g.descending),
			rim(by[0] < 0, by[0] > 0, by[1] < 0, by[1] > 0, by[2] < 0, by[2] > 0)})
	}
	return w
}

// minimum returns the number of the minimum at the end of the first links from a voxel, and keeps
// it for all voxels on the way.
func (w *walk[K]) minimum(v int32) int32 {
	start, towards := v, w.towards
	for towards[v] >= 0 {
		if towards[v] == 0 {
			towards[v] = w.next(v) + 1
		}
		v = towards[v] - 1
	}
	to := towards[v]
	for start != v {
		start, towards[start] = towards[start]-1, to
	}
	return ^to
}

// next returns the end of the first link of a voxel, or of a run of first links along x.
func (w *walk[K]) next(v int32) int32 {
	p := w.plan
	if run := w.along[0][v/64] << (63 - v%64); run>>63 != 0 {
		return v - int32(bits.LeadingZeros64(^run))
	}
	if run := w.along[1][v/64] >> (v % 64); run&1 != 0 {
		return v + int32(bits.TrailingZeros64(^run))
	}
	if len(w.first) > 0 {
		switch k := w.first[v]; {
		case k == toOutside+1:
			return int32(p.d * p.plane)
		case k > 0:
			return v + p.steps[k-1]
		}
	}
	rims, x, at := p.rims[v/64], int(v)%64, p.lead+int(v)
	if x > 0 {
		rims &^= 1 << 4
	}
	if x != (p.w-1)%64 {
		rims &^= 1 << 5
	}
	if rims&w.image != 0 {
		return int32(p.d * p.plane)
	}
	own := int64(w.keys[at] ^ w.flip)
	for _, to := range w.ways {
		if rims&to.sides == 0 && int64(w.keys[at+int(to.step)]^w.flip)+int64(to.strict) <= own {
			return v + to.step
		}
	}
	panic("a voxel without links is a minimum")
}

// sorted sorts links by key.
func (j *joiner[K]) sorted(links []uint64) []uint64 {
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, e := range links {
		low, high = min(low, e>>32), max(high, e>>32)
	}
	if len(links) == 0 {
		return nil
	}
	const digit = 11
	from, to := links, room(j.other, len(links))
	j.other = to
	for shift := 0; (high-low)>>shift > 0; shift += digit {
		j.count = room(j.count, min(int((high-low)>>shift), 1<<digit-1)+2)
		clear(j.count)
		for _, e := range from {
			j.count[(e>>32-low)>>shift&(1<<digit-1)+1]++
		}
		for k := range j.count[1:] {
			j.count[k+1] += j.count[k]
		}
		for _, e := range from {
			n := &j.count[(e>>32-low)>>shift&(1<<digit-1)]
			to[*n] = e
			*n++
		}
		from, to = to, from
	}
	return from
}
