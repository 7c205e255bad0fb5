package duality

import (
	"cmp"
	"math/bits"
	"slices"
)

// A part is the result of a box. Its nodes are components that reach a shared layer, and its edges
// join them. For each side it has the nodes of the minima of its layer, in order. For the
// background, node 0 is the outside.
type part struct {
	nodes  int32
	edges  []edge
	shared [6][]minimum
}

// An edge joins two nodes from a key on (complemented for the background).
type edge struct {
	key  uint32
	a, b int32
}

// A minimum of a shared layer, with its key (complemented for the background).
type minimum struct {
	key  uint32
	node int32
}

// none is the node of a component that has not reached a shared layer.
const none = -1

// An event joins two minima from a key on. If b < 0, it is a minimum of a shared layer instead.
type event struct {
	key  uint32
	a, b int32
}

// minimum returns the number of the minimum that a voxel descends to. One of every eight voxels
// stores its result for later descents. A circular descent is detected and given up.
func (g *graph[K]) minimum(voxel uint32) int32 {
	keeps := func(at uint32) bool { return (at^at>>6*0x9e3779b1>>29)&7 == 0 }
	at, found := voxel, int32(0)
	for left := len(g.towards); ; left-- {
		if keeps(at) && g.known[at>>3] != 0 {
			found = g.known[at>>3] - 1
			break
		}
		next := at + g.offsets[g.towards[at]]
		if next == at {
			found = g.number(at)
			break
		}
		if left == 0 {
			g.circle = true
			break
		}
		at = next
	}
	for end := at; voxel != end; voxel += g.offsets[g.towards[voxel]] {
		if keeps(voxel) {
			g.known[voxel>>3] = found + 1
		}
	}
	return found
}

// number returns the number of a minimum.
func (g *graph[K]) number(at uint32) int32 {
	word, bit := at>>6, at&63
	minima := g.minima[word]
	if minima>>bit&1 == 0 { // a voxel that touches the outside
		return 0
	}
	return g.first[word] + int32(bits.OnesCount64(minima&(1<<bit-1)))
}

// A forest stores for each node another node of its component with a lower number, or the node
// itself.
type forest []int32

// singles returns a forest of single nodes, in the memory of another forest.
func singles(f forest, nodes int) forest {
	f = slices.Grow(f[:0], nodes)[:nodes]
	for i := range f {
		f[i] = int32(i)
	}
	return f
}

// find returns the root of a node and halves the path to it.
func (f forest) find(i int32) int32 {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// unite unites two components. It returns the root that becomes a child and the root that remains,
// or the same node twice if the components are one. It follows both paths together and shortens
// them on the way (Rem's algorithm).
func (f forest) unite(a, b int32) (from, to int32) {
	for f[a] != f[b] {
		if f[a] < f[b] {
			a, b = b, a
		}
		if f[a] == a {
			to = f.find(f[b])
			f[a] = to
			return a, to
		}
		f[a], a = f[b], f[a]
	}
	return a, a
}

// join processes the edges of the box in the order of their keys. A component that has not reached
// a shared layer ends where it meets another one. Two that have reached one remain two nodes of the
// result, with an edge between them.
func (g *graph[K]) join(keys []K) {
	p := part{}
	for n, count := range g.slots {
		p.shared[n] = make([]minimum, count)
	}
	g.up = singles(g.up, int(g.count))
	g.nodes = slices.Grow(g.nodes[:0], int(g.count))[:g.count]
	for i := range g.nodes {
		g.nodes[i] = none
	}
	if g.around { // the outside
		g.nodes[0] = 0
		p.nodes = 1
	}
	g.order(keys)
	for _, run := range g.runs {
		g.take(&p, run)
	}
	g.part = p
}

// take processes events that are in order.
func (g *graph[K]) take(p *part, events []event) {
	turn := g.turn()
	for _, e := range events {
		if e.b < 0 {
			a := g.up.find(e.a)
			if g.nodes[a] == none {
				g.nodes[a] = p.nodes
				p.nodes++
			}
			slot := ^e.b
			p.shared[slot&7][slot>>3] = minimum{e.key, g.nodes[a]}
			continue
		}
		from, to := g.up.unite(e.a, e.b)
		if from == to {
			continue
		}
		a, b := g.nodes[from], g.nodes[to]
		if a == none || b == none {
			g.tally.add(uint32(K(e.key)^turn), -1)
		} else {
			p.edges = append(p.edges, edge{e.key, a, b})
		}
		if b == none {
			g.nodes[to] = a
		}
	}
}

// turn returns the mask that complements keys, or 0 for the set.
func (g *graph[K]) turn() K {
	if g.around {
		return ^K(0)
	}
	return 0
}

// span returns the least key of the saddles and layers, and the shift by which their differences from
// it have 8 bits.
func (g *graph[K]) span(keys []K) (least K, shift int) {
	turn, most := g.turn(), K(0)
	least = ^K(0)
	for _, s := range g.saddles {
		key := keys[s>>placeBits] ^ turn
		least, most = min(least, key), max(most, key)
	}
	for _, l := range g.layers {
		key := keys[l.voxel] ^ turn
		least, most = min(least, key), max(most, key)
	}
	return least, max(0, bits.Len32(uint32(most-least))-8)
}

// order finds the events of the box and arranges them in runs by key. Events are found in the order
// of voxels, which helps the cache, and distributed to runs of neighbouring keys. A saddle whose
// components have the same minimum is not an event.
func (g *graph[K]) order(keys []K) {
	turn := g.turn()
	least, shift := g.span(keys)
	digit := func(key K) uint8 { return uint8((key - least) >> shift) }
	var first, next [256]int32
	for _, s := range g.saddles {
		next[digit(keys[s>>placeBits]^turn)]++
	}
	for _, l := range g.layers {
		next[digit(keys[l.voxel]^turn)]++
	}
	sum := int32(0)
	for i, n := range next {
		first[i], next[i] = sum, sum
		sum += n
	}
	events := slices.Grow(g.events[:0], int(sum))[:sum]
	towards, offsets, places := g.towards, &g.offsets, &g.places
	for _, s := range g.saddles {
		voxel := s >> placeBits
		a, b := voxel, voxel+places[s&(1<<placeBits-1)]
		var x, y int32
		// Four steps at a time, without testing whether the descents have ended.
		for n := 0; ; n++ {
			a, b = a+offsets[towards[a]], b+offsets[towards[b]]
			a, b = a+offsets[towards[a]], b+offsets[towards[b]]
			a, b = a+offsets[towards[a]], b+offsets[towards[b]]
			a, b = a+offsets[towards[a]], b+offsets[towards[b]]
			if offsets[towards[a]]|offsets[towards[b]] == 0 {
				x, y = g.number(a), g.number(b)
				break
			}
			if n == 4 {
				x, y = g.minimum(a), g.minimum(b)
				break
			}
		}
		key := keys[voxel] ^ turn
		at := &next[digit(key)]
		events[*at] = event{uint32(key), x, y}
		if x != y {
			*at++
		}
	}
	for _, l := range g.layers {
		key := keys[l.voxel] ^ turn
		at := &next[digit(key)]
		events[*at] = event{uint32(key), g.minimum(l.voxel), l.slot}
		*at++
	}
	g.events = events
	for i := range next {
		g.runs[i] = events[first[i]:next[i]]
		if shift > 0 {
			g.spare = sorted(g.runs[i], g.spare)
		}
	}
}

// sorted sorts events by key, and returns its scratch memory.
func sorted(events, spare []event) []event {
	if len(events) < 1<<6 {
		slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.key, b.key) })
		return spare
	}
	var or uint32
	and := ^uint32(0)
	for _, e := range events {
		or |= e.key
		and &= e.key
	}
	spare = slices.Grow(spare[:0], len(events))[:len(events)]
	from, to := events, spare
	for shift := uint(0); shift < 32; shift += 8 {
		if (or&^and)>>shift&0xff == 0 {
			continue
		}
		var first [256]int32
		for i := range from {
			first[uint8(from[i].key>>shift)]++
		}
		sum := int32(0)
		for i, n := range first {
			first[i] = sum
			sum += n
		}
		for _, e := range from {
			digit := uint8(e.key >> shift)
			to[first[digit]] = e
			first[digit]++
		}
		from, to = to, from
	}
	if len(events) > 0 && &from[0] != &events[0] {
		copy(events, from)
	}
	return spare
}
