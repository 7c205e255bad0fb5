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

// The parents of voxels, one more than their number: nowhere yet, or less than that for a
// root: one that has no node, or so much below that as the number of its node.
const (
	unknown = 0
	root    = -1
	noded   = -2
)

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

// find is the root of a voxel. Where it goes for the first time it descends, and all that it
// passes is next to the root then.
func (g *graph[K]) find(voxel int32) int32 {
	parent, at := g.parent, voxel
	for parent[at] >= unknown {
		next := parent[at] - 1
		if next < 0 {
			if next = g.descend(at); next == at {
				parent[at] = root
				break
			}
			parent[at] = next + 1
		}
		at = next
	}
	for voxel != at {
		voxel, parent[voxel] = parent[voxel]-1, at+1
	}
	return at
}

// join makes the edges of the box in the order of their keys. A component that has not come to
// a shared layer ends where it meets another one. Two that have stay two nodes for others, and
// are one from there on.
func (g *graph[K]) join(fault Fault) {
	g.spare = sorted(g.events, g.spare)
	p := part{}
	for n, count := range g.slots {
		p.shared[n] = make([]minimum, count)
	}
	if g.around {
		g.parent[len(g.parent)-1] = noded // the outside
		p.nodes = 1
	}
	for _, e := range g.events {
		key, ends := uint32(e>>32), g.ends[uint32(e)]
		a := g.find(ends[0])
		if ends[1] < 0 {
			if g.parent[a] == root {
				g.parent[a] = noded - p.nodes
				p.nodes++
			}
			slot := ^ends[1]
			p.shared[slot&7][slot>>3] = minimum{key, noded - g.parent[a]}
			continue
		}
		b := g.find(ends[1])
		if a == b {
			continue
		}
		if g.parent[a] == root {
			a, b = b, a
		}
		if g.parent[b] == root || fault == EndedEarly {
			g.tally.add(uint32(g.straight(K(key))), -1)
		} else {
			p.edges = append(p.edges, edge{key, noded - g.parent[a], noded - g.parent[b]})
		}
		g.parent[b] = a + 1
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
