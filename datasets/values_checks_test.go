package datasets

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"eccbench/datasets/vectors"
	"eccbench/internal/grid"
)

// Consecutive slabs equal the whole, for any thickness and every instruction set.
func slabsThatFollow(t *testing.T) {
	for _, name := range []string{
		"grf/shape=40x20x20/type=uint8", "grf/shape=90x20x20/type=uint16/levels=65536/smooth=1",
		"grf/shape=20x20x40/smooth=4/type=uint8", "grf/shape=50x100/smooth=3/type=uint8",
	} {
		whole := loadNamed(t, name)
		n, err := split(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, isa := range vectors.Available() {
			r, err := resolveOn(n, nil, 0, isa)
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.open()
			if err != nil {
				t.Fatal(err)
			}
			size, n := grid.SliceBytes(s), s.Shape().Slices()
			rng := rand.New(rand.NewPCG(5, 1))
			for at := int64(0); at < n; {
				end := min(n, at+1+rng.Int64N(6))
				slab := grid.NewBuffer((end - at) * size)
				if err := s.ReadSlab(slab, at, end); err != nil || !bytes.Equal(slab, whole.Data()[at*size:end*size]) {
					t.Fatalf("%s by %s: slab %d..%d differs (%v)", name, isa, at, end, err)
				}
				at = end
			}
			if p := &s.(*grf).passages; p.made != 1 || len(p.waiting) != 1 || p.waiting[0].next != n {
				t.Errorf("%s by %s: %d passages for one reader", name, isa, p.made)
			}
		}
	}
}

// A passage continues at its slice, and begins after consecutive slabs. Their number is limited by
// memory: beyond it, the longest waiting one restarts.
func passagesAreBounded(t *testing.T) {
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
