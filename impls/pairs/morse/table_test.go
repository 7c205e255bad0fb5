package morse

import (
	"math/bits"
	"testing"
)

// Every lower link has an entry. Its cells are paired without a cycle, and no more of them are critical than needed:
// an edge for each further component, and a square for each further region of the complement.
func entriesAreProved(t *testing.T) {
	all := tables()
	if len(all.entries) != links {
		t.Fatalf("%d entries, want %d", len(all.entries), links)
	}
	seen := map[uint16]bool{}
	for faces := range uint32(1 << directions) {
		for set := range uint32(1 << squares) {
			if set&^uint32(allowed[faces]) != 0 {
				continue
			}
			for cubes := range uint32(1 << octants) {
				if cubes&^uint32(all.full[set]) != 0 {
					continue
				}
				id := all.lookUp(faces, set, cubes)
				if seen[id] {
					t.Fatalf("entry %d has two links", id)
				}
				seen[id] = true
				proveEntry(t, &all.entries[id], uint8(faces), uint16(set), uint8(cubes))
			}
		}
	}
	if len(seen) != links {
		t.Errorf("%d links, want %d", len(seen), links)
	}
}

// proveEntry checks one entry.
func proveEntry(t *testing.T, e *entry, faces uint8, set uint16, cubes uint8) {
	t.Helper()
	// The forest, from the roots on, has each edge once that is neither first nor critical, below an edge that it has.
	reached := e.edges
	if e.first != none {
		reached |= 1 << e.first
	}
	if faces != 0 && (e.first != uint8(bits.TrailingZeros8(faces)) || reached&^faces != 0 || e.edges>>e.first&1 > 0) {
		t.Fatalf("edges %06b: first %d, critical %06b", faces, e.first, e.edges)
	}
	regular := uint16(0)
	for i := range int(e.forest >> countFrom) {
		l := e.forest >> (i * linkBits)
		child, parent, s := uint8(l&7), uint8(l>>3&7), uint8(l>>6&15)
		if reached>>child&1 > 0 || reached>>parent&1 == 0 || squareOf[child][parent] != s || set>>s&1 == 0 || regular>>s&1 > 0 {
			t.Fatalf("edges %06b, squares %012b: link %d of the forest", faces, set, i)
		}
		reached, regular = reached|1<<child, regular|1<<s
	}
	critical := e.critical
	if reached != faces || critical|e.inner|regular != set || e.present != set ||
		bits.OnesCount16(critical)+bits.OnesCount16(e.inner)+bits.OnesCount16(regular) != bits.OnesCount16(set) {
		t.Fatalf("edges %06b, squares %012b: not a partition", faces, set)
	}
	// Components of the link and regions of the complement, counted by flooding.
	components := flood(uint16(faces), func(a, b int) bool { s := squareOf[a][b]; return s != none && set>>s&1 > 0 })
	if want := max(0, components-1); bits.OnesCount8(e.edges) != want {
		t.Fatalf("edges %06b, squares %012b: %d critical edges, want %d", faces, set, bits.OnesCount8(e.edges), want)
	}
	regions := flood(uint16(^cubes), func(a, b int) bool { s := between(a, b); return s >= 0 && set>>s&1 == 0 })
	if want := max(0, regions-1); int(e.joins) != want || (e.rises == none) != (cubes == 255) || e.rises != none && cubes>>e.rises&1 > 0 {
		t.Fatalf("edges %06b, squares %012b, cubes %08b: %d critical squares, want %d", faces, set, cubes, e.joins, want)
	}
	// Inner squares pair all cubes (all but one of a maximum), without a cycle: with the regions as one root, they span.
	if want := bits.OnesCount8(cubes) - bits.OnesCount8(cubes)/octants; bits.OnesCount16(e.inner) != want {
		t.Fatalf("squares %012b, cubes %08b: %d inner squares, want %d", set, cubes, bits.OnesCount16(e.inner), want)
	}
	joined := flood(255, func(a, b int) bool {
		s := between(a, b)
		return cubes>>a&1 == 0 && cubes>>b&1 == 0 || s >= 0 && e.inner>>s&1 > 0
	})
	if joined != 1 {
		t.Fatalf("squares %012b, cubes %08b: inner squares leave %d parts", set, cubes, joined)
	}
}

// between returns the square between two octants, or -1.
func between(a, b int) int {
	for i, s := range sides {
		if int(s.octants[0]) == min(a, b) && int(s.octants[1]) == max(a, b) {
			return i
		}
	}
	return -1
}

// flood counts the components of a set of numbers.
func flood(set uint16, linked func(a, b int) bool) (n int) {
	for set != 0 {
		n++
		part := set & -set
		for grown := true; grown; {
			grown = false
			for a := range 16 {
				for b := range 16 {
					if part>>a&1 > 0 && set>>b&1 > 0 && part>>b&1 == 0 && linked(a, b) {
						part, grown = part|1<<b, true
					}
				}
			}
		}
		set &^= part
	}
	return n
}
