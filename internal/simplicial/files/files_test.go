package files

import "testing"

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
