package duality

import "slices"

// A part is what is left of a box: nodes, which are components that have come to a shared
// layer; the edges between them; and for each side the nodes of the minima of its layer, in
// order. Around the sets, node 0 is the outside.
type part struct {
	nodes  int32
	edges  []edge
	shared [6][]minimum
}

// An edge joins two nodes from a turned key on.
type edge struct {
	key  uint32
	a, b int32
}

// A minimum of a shared layer, with its turned key.
type minimum struct {
	key  uint32
	node int32
}

// unknown is the parent of a voxel that nobody went to. The parents of others are more by one
// than the number of the voxel, and those of minima below it: −1 of the first one that was
// found, −2 of the second.
const unknown = 0

// none is the node of a component that has not come to a shared layer.
const none = -1

// descend is where a voxel descends to, itself for a minimum.
func (g *graph[K]) descend(voxel int32) int32 {
	word, bit := int(voxel>>6), uint(voxel&63)
	if g.around {
		n := g.numbers[word*faceBits:][:faceBits]
		number := n[0]>>bit&1 | n[1]>>bit&1<<1 | n[2]>>bit&1<<2
		if number == toOutside {
			return int32(len(g.parent) - 1)
		}
		return voxel + g.offsets[number]
	}
	n := g.numbers[word*placeBits:][:placeBits]
	return voxel + g.offsets[n[0]>>bit&1|n[1]>>bit&1<<1|n[2]>>bit&1<<2|n[3]>>bit&1<<3|n[4]>>bit&1<<4|n[5]>>bit&1<<5]
}

// minimum is the number of the minimum that a voxel descends to. All that it passes is next to
// the minimum then.
func (g *graph[K]) minimum(voxel int32) int32 {
	parent, at := g.parent, voxel
	for parent[at] >= unknown {
		next := parent[at] - 1
		if next < 0 {
			if next = g.descend(at); next == at {
				g.up, g.nodes = append(g.up, int32(len(g.up))), append(g.nodes, none)
				parent[at] = -int32(len(g.up))
				break
			}
			parent[at] = next + 1
		}
		at = next
	}
	for voxel != at {
		voxel, parent[voxel] = parent[voxel]-1, at+1
	}
	return -1 - parent[at]
}

// find is the root of a minimum. The way there is halved.
func (g *graph[K]) find(i int32) int32 {
	up := g.up
	for up[i] != i {
		up[i] = up[up[i]]
		i = up[i]
	}
	return i
}

// join makes the edges of the box in the order of their keys. A component that has not come to
// a shared layer ends where it meets another one. Two that have stay two nodes for others, and
// are one from there on.
func (g *graph[K]) join(fault Fault) {
	p := part{}
	for n, count := range g.slots {
		p.shared[n] = make([]minimum, count)
	}
	g.up, g.nodes = g.up[:0], g.nodes[:0]
	if g.around { // the outside
		g.up, g.nodes = append(g.up, 0), append(g.nodes, 0)
		g.parent[len(g.parent)-1] = -1
		p.nodes = 1
	}
	// In the order of voxels, which are near each other; what has one minimum joins nothing.
	left := g.events[:0]
	for _, e := range g.events {
		ends := &g.ends[uint32(e)]
		if ends[0] = g.minimum(ends[0]); ends[1] >= 0 {
			if ends[1] = g.minimum(ends[1]); ends[0] == ends[1] {
				continue
			}
		}
		left = append(left, e)
	}
	g.events = left
	g.spare = sorted(g.events, g.spare)
	for _, e := range g.events {
		key, ends := uint32(e>>32), g.ends[uint32(e)]
		a := g.find(ends[0])
		if ends[1] < 0 {
			if g.nodes[a] == none {
				g.nodes[a] = p.nodes
				p.nodes++
			}
			slot := ^ends[1]
			p.shared[slot&7][slot>>3] = minimum{key, g.nodes[a]}
			continue
		}
		b := g.find(ends[1])
		if a == b {
			continue
		}
		if g.nodes[a] == none {
			a, b = b, a
		}
		if g.nodes[b] == none || fault == EndedEarly {
			g.tally.add(uint32(g.straight(K(key))), -1)
		} else {
			p.edges = append(p.edges, edge{key, g.nodes[a], g.nodes[b]})
		}
		g.up[b] = a
	}
	g.part = p
}

// straight is a key that was turned, or not.
func (g *graph[K]) straight(k K) K {
	if g.around {
		return ^k
	}
	return k
}

// sorted sorts events by their keys in place, and gives the memory that it took.
func sorted(events, spare []uint64) []uint64 {
	var or uint64
	and := ^uint64(0)
	for _, e := range events {
		or |= e
		and &= e
	}
	if len(events) < 1<<8 {
		slices.Sort(events)
		return spare
	}
	spare = slices.Grow(spare[:0], len(events))[:len(events)]
	from, to := events, spare
	for shift := uint(32); shift < 64; shift += 8 {
		if (or^and)>>shift&0xff == 0 {
			continue
		}
		var first [257]int
		for _, e := range from {
			first[e>>shift&0xff+1]++
		}
		for i := range 256 {
			first[i+1] += first[i]
		}
		for _, e := range from {
			digit := e >> shift & 0xff
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
