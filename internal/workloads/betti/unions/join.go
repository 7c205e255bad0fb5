package unions

import (
	"math"
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
	first   []uint8 // the numbers of each voxel's first links
	found   [2]found
	walk    walk
	other   []uint64
	count   []int32
	parent  []uint32 // of minima
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
	rows, columns := 1, p.w
	if p.w == p.row && int64(p.w) == j.s.W { // the rows of a plane are consecutive
		rows, columns = p.h, p.w*p.h
	}
	for z := range p.d {
		for y := 0; y < p.h; y += rows {
			row := (b.lo[0]+int64(z))*j.s.H + b.lo[1] + int64(y) - first*j.s.H
			if j.s.Dim() == 2 {
				row = b.lo[1] + int64(y) - first
			}
			j.convert(j.keys[p.lead+z*p.plane+y*p.row:][:columns], slab[(row*j.s.W+b.lo[2])*j.size:][:int64(columns)*j.size])
		}
	}
}

// room returns a slice of length n, in the memory of s if it is large enough.
func room[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// join joins the minima of a box in one of the graphs.
func (j *joiner[K]) join(b *box, which int, g *graph) error {
	p, f, tally, flip := &j.plan, &j.found[which], &j.tallies[which], K(g.flip())
	level := func(v uint32) uint32 { return uint32(j.keys[p.lead+int(v)]) }
	j.parent, j.node = room(j.parent, len(f.minima)+1), room(j.node, len(f.minima)+1)
	parent, node := j.parent, j.node
	for i := range parent {
		parent[i] = uint32(i)
	}
	clear(node)
	node[outside] = outsideNode
	for _, v := range f.minima {
		tally.add(level(v), 1)
	}
	j.walk.begin(p, f, j.first, g.corners)
	nodes := uint32(outsideNode)
	for axis, sides := range f.meetings {
		for side, voxels := range sides {
			list := make([]crossing, len(voxels))
			for i, to := range j.walk.ofVoxels(voxels) {
				if node[to] == none {
					nodes++
					node[to] = nodes
				}
				list[i] = crossing{level(voxels[i]), node[to]}
			}
			b.crossings[which][axis][side] = list
		}
	}
	links := j.walk.ofLinks(f.links, p)
	j.walk.end(f)
	edges := j.edges[:0]
	for _, e := range j.sorted(links) {
		a, c := find(parent, uint32(e>>16&math.MaxUint16)), find(parent, uint32(e&math.MaxUint16))
		if a == c {
			continue
		}
		a, c = min(a, c), max(a, c) // ways are then short
		level := uint32(K(e>>32) ^ flip)
		if node[a] != none && node[c] != none {
			edges = append(edges, edge{level, node[a], node[c]})
		} else {
			tally.add(level, -1)
		}
		node[a] = max(node[a], node[c])
		parent[c] = a
	}
	j.edges = edges
	return g.number(b, which, edges, nodes)
}

// find returns the root of a node and halves the path to it.
func find(parent []uint32, i uint32) uint32 {
	for parent[i] != i {
		parent[i] = parent[parent[i]]
		i = parent[i]
	}
	return i
}

// A walk follows the first links of voxels to minima, or to the outside.
type walk struct {
	known []uint16 // per voxel: one more than the number of its minimum, or 0; all 0 between graphs
	first []uint8
	steps [1 << numberBits]uint32 // voxels to the end of a first link, by the numbers of both graphs, or 0 at the end

	ends, going []uint32
	stops       []uint32 // the voxels of long ways, which are known
}

func (w *walk) begin(p *plan, f *found, first []uint8, corners bool) {
	if w.first = first; len(w.known) < p.d*p.plane {
		w.known = make([]uint16, p.d*p.plane)
	}
	for i, v := range f.minima {
		w.known[v] = uint16(i + outside + 2)
	}
	for numbers := range w.steps {
		n := numbers >> cornerBits
		if corners {
			n = numbers & (1<<cornerBits - 1)
		}
		w.steps[numbers] = 0
		if n > 0 && n <= ways(corners) {
			w.steps[numbers] = p.steps[walkOrder[n-1]]
		}
	}
}

// end removes the known minima, which takes less than to clear the memory.
func (w *walk) end(f *found) {
	for _, list := range [][]uint32{f.minima, w.stops} {
		for _, v := range list {
			w.known[v] = 0
		}
	}
	w.stops = w.stops[:0]
}

// ofVoxels returns the minimum of each voxel.
func (w *walk) ofVoxels(list []uint32) []uint32 {
	w.ends = append(w.ends[:0], list...)
	w.minima(w.ends)
	return w.ends
}

// ofLinks returns the links between different minima, with these in place of voxels, in the memory of all links.
func (w *walk) ofLinks(all []uint64, p *plan) []uint64 {
	links := all[:0]
	for some := range slices.Chunk(all, 1<<10) { // which stay in the cache
		w.ends = room(w.ends, 2*len(some))
		ends := w.ends
		for i, e := range some {
			v := uint32(e) >> placeBits
			ends[2*i], ends[2*i+1] = v, v+p.steps[e&(1<<placeBits-1)]
		}
		w.minima(ends)
		for i, e := range some {
			if a, c := ends[2*i], ends[2*i+1]; a != c {
				links = append(links, e&^math.MaxUint32|uint64(a)<<16|uint64(c))
			}
		}
	}
	return links
}

// rounds is the number of rounds without a record of the way, which only long ways repay.
const rounds = 8

// minima replaces voxels by the numbers of the minima at the ends of their ways. Voxels go a few
// steps each in turn, so that the processor has many of them at a time.
func (w *walk) minima(of []uint32) {
	first, steps := w.first, &w.steps
	next := func(v uint32) uint32 { return v + steps[first[v]] }
	w.going = room(w.going, len(of))
	going, n := w.going, 0
	for i, v := range of { // most ways in noise end here
		v = next(next(v))
		of[i], going[n] = v, uint32(i)
		if steps[first[v]] != 0 {
			n++
		}
	}
	going = going[:n]
	for round := 0; len(going) > 0 && round < rounds; round++ {
		n := 0
		for _, i := range going {
			v := next(next(next(next(of[i]))))
			of[i], going[n] = v, i
			if steps[first[v]] != 0 {
				n++
			}
		}
		going = going[:n]
	}
	for _, i := range going {
		before, v := len(w.stops), of[i]
		for ; w.known[v] == 0 && next(v) != v; v = next(v) {
			w.stops = append(w.stops, v)
		}
		for _, stop := range w.stops[before:] {
			w.known[stop] = max(w.known[v], outside+1)
		}
	}
	for i, v := range of {
		of[i] = uint32(max(w.known[v], outside+1)) - 1
	}
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
