package datasets

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// TestSlabsThatFollow reads images from slice to slice in slabs of any thickness, by several
// readers from different starts, and compares them with the whole.
func TestSlabsThatFollow(t *testing.T) {
	for _, name := range []string{
		"grf/shape=40x30x60/type=uint8", "grf/shape=600x20x40/type=uint16/levels=65536/smooth=1",
		"grf/shape=20x70x90/smooth=4/type=uint8", "grf/shape=50x300/smooth=3/type=uint8", "grf/shape=30x20x40/smooth=0.5",
	} {
		for _, isa := range vectors.Available() {
			whole := loadNamed(t, name)
			s := openOn(t, name, isa)
			size, n := grid.SliceBytes(s), s.Shape().Slices()
			var wg sync.WaitGroup
			for reader := range 4 {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(5, uint64(reader)))
					for at := int64(reader) * n / 8; at < n; {
						end := min(n, at+1+r.Int64N(6))
						slab := grid.NewBuffer((end - at) * size)
						if err := s.ReadSlab(slab, at, end); err != nil {
							t.Error(err)
						}
						if !bytes.Equal(slab, whole.Data()[at*size:end*size]) {
							t.Errorf("%s by %s, reader %d: slab %d..%d differs", name, isa, reader, at, end)
							return
						}
						at = end
					}
				})
			}
			wg.Wait()
			if made := s.(*grf).passages.made; made < 1 || made > 4 {
				t.Errorf("%s by %s: %d passages for 4 readers", name, isa, made)
			}
		}
	}
}

// TestPassagesAreBounded has more readers than memory for their passages: they share it, and their
// slabs stay right.
func TestPassagesAreBounded(t *testing.T) {
	name := "grf/shape=1024x1024x400/type=uint8/smooth=2"
	s := openNamed(t, name)
	g, size := s.(*grf), grid.SliceBytes(s)
	each := g.marchBytes(g.tiles(0, 1))
	_, rows, columns := g.tiles(0, 1).along()
	each *= rows * columns
	slab, again := grid.NewBuffer(size), grid.NewBuffer(size)
	for i := range int64(3) {
		for reader := range int64(6) {
			at := reader*50 + i
			if err := s.ReadSlab(slab, at, at+1); err != nil {
				t.Fatal(err)
			}
			if err := openNamed(t, name).ReadSlab(again, at, at+1); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(slab, again) {
				t.Fatalf("slice %d differs where readers take turns", at)
			}
		}
	}
	if p := &g.passages; p.made*each > passageBytes || p.made == 0 || int64(len(p.waiting)) != p.made {
		t.Errorf("%d passages of %d bytes, %d of them wait", p.made, each, len(p.waiting))
	}
	// Random access leaves no passages.
	s = openNamed(t, "grf/shape=64x64x64/type=uint8")
	for at := int64(0); at < 64; at += 3 {
		if err := s.ReadSlab(slab[:64*64], at, at+1); err != nil {
			t.Fatal(err)
		}
	}
	if made := s.(*grf).passages.made; made != 0 {
		t.Errorf("%d passages for slices that are not neighbours", made)
	}
}
