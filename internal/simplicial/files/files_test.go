package files

import (
	"slices"
	"testing"
)

// A face is added with all of its vertices or not at all.
func TestRings(t *testing.T) {
	m := &Mesh{Vertices: mostRing + 1}
	ring := make([]uint32, mostRing+1)
	for i := range ring {
		ring[i] = uint32(i)
	}
	if err := m.polygon(ring); err == nil || len(m.Tops) > 0 {
		t.Errorf("a face of %d vertices: %v", len(ring), err)
	}
	if err := m.polygon(ring[1:]); err != nil || m.Vertices != mostRing+2 || len(m.Tops[2]) != 3*mostRing {
		t.Errorf("a face of %d vertices: %v, %v", mostRing, m.Vertices, err)
	}
}

// Simplices of a text are sorted by dimension, in their order. Vertices are numbered by their values, of 32 bits or more.
func TestRuns(t *testing.T) {
	for text, want := range map[string][][]uint32{
		"0 1 2\n2 3\n4\n":                         {{4}, {2, 3}, {0, 1, 2}},
		"9 8\n4294967295 8":                       {nil, {1, 0, 2, 0}},
		"7 4294967296\n0 7\n\n4294967295 0\n5":    {{1}, {2, 4, 0, 2, 3, 0}},
		"0 1 2\n1 2 3\n\n2 3 4\n4\n5\n2 3\n0 1 5": {{4, 5}, {2, 3}, {0, 1, 2, 1, 2, 3, 2, 3, 4, 0, 1, 5}},
	} {
		m, err := readText([]byte(text))
		if err != nil || !slices.EqualFunc(m.Tops, want, slices.Equal[[]uint32]) {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
}
