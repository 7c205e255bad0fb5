package random

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// TestSlabsThatFollow reads images from slice to slice in slabs of any thickness, by several
// readers from different starts, and compares them with the whole.
func TestSlabsThatFollow(t *testing.T) {
	for _, c := range []struct {
		shape  string
		typ    grid.Type
		levels int64
		smooth float64
	}{
		{"40x30x60", grid.Uint8, 256, 2}, {"600x20x40", grid.Uint16, 65536, 1}, {"20x70x90", grid.Uint8, 256, 4},
		{"50x300", grid.Uint8, 256, 3}, {"30x20x40", grid.Float32, 1024, 0.5},
	} {
		for _, isa := range vectors.Available() {
			name := fmt.Sprint(c)
			whole, err := grid.Load(fieldOf(t, c.shape, c.typ, c.levels, c.smooth, 1, isa))
			if err != nil {
				t.Fatal(err)
			}
			s := fieldOf(t, c.shape, c.typ, c.levels, c.smooth, 1, isa)
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
			if made := s.passages.made; made < 1 || made > 4 {
				t.Errorf("%s by %s: %d passages for 4 readers", name, isa, made)
			}
		}
	}
}

// TestPassagesAreBounded has more readers than memory for their passages: they share it, and their
// slabs stay right.
func TestPassagesAreBounded(t *testing.T) {
	open := func(shape string) *Field { return fieldOf(t, shape, grid.Uint8, 256, 2, 1, vectors.Available()[0]) }
	const shape = "1024x1024x400"
	s := open(shape)
	g, size := s, grid.SliceBytes(s)
	each := g.marchBytes(g.tiles(0, 1))
	_, rows, columns := g.tiles(0, 1).counts()
	each *= rows * columns
	slab, again := grid.NewBuffer(size), grid.NewBuffer(size)
	for i := range int64(3) {
		for reader := range int64(6) {
			at := reader*50 + i
			if err := s.ReadSlab(slab, at, at+1); err != nil {
				t.Fatal(err)
			}
			if err := open(shape).ReadSlab(again, at, at+1); err != nil {
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
	s = open("64x64x64")
	for at := int64(0); at < 64; at += 3 {
		if err := s.ReadSlab(slab[:64*64], at, at+1); err != nil {
			t.Fatal(err)
		}
	}
	if made := s.passages.made; made != 0 {
		t.Errorf("%d passages for slices that are not neighbours", made)
	}
}

// A passage continues at its slice, and begins after consecutive slabs. Their number is limited by
// memory: beyond it, the longest waiting one restarts.
func TestPassagesGoOn(t *testing.T) {
	const half = passageBytes / 2
	var p passages
	enter := func(lo int64, want *passage) *passage {
		t.Helper()
		w := p.enter(lo, 3, half)
		if w != nil && (len(w.marches) != 3 || w.next != lo && w.next != -1) || want != nil && w != want {
			t.Errorf("at slice %d: %v, want %v", lo, w, want)
		}
		return w
	}
	if enter(0, nil) != nil {
		t.Error("a passage where no slab ended")
	}
	p.leave(nil, 5)
	first := enter(5, nil)
	if first == nil || enter(5, nil) != nil {
		t.Fatal("where one slab ended one passage begins")
	}
	p.leave(first, 7)
	if enter(7, first).next != 7 {
		t.Error("a passage that goes on begins anew")
	}
	p.leave(first, 9)
	p.leave(nil, 20)
	second := enter(20, nil)
	if second == nil || second == first || p.made != 2 {
		t.Fatal("there is room for two passages")
	}
	p.leave(second, 21)
	p.leave(nil, 30)
	if w := enter(30, first); w == nil || w.next != -1 || len(p.waiting) != 1 || p.made != 2 {
		t.Errorf("of %d passages %d wait, beside one that begins anew", p.made, len(p.waiting))
	}
	enter(21, second)
	if p.leave(nil, 40); enter(40, nil) != nil {
		t.Error("there is room for three passages")
	}
	p = passages{}
	for i := range int64(slabEnds + 1) {
		p.leave(nil, 100+i)
	}
	if len(p.ends) != slabEnds || enter(100, nil) != nil || enter(101, nil) == nil || enter(100+slabEnds, nil) == nil {
		t.Errorf("%d ends of slabs are kept", len(p.ends))
	}
}
