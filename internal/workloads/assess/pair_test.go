package assess

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
)

// TestPlaces compares the places of labels with those counted voxel by voxel: of one label, of a label for
// each plane, and of several.
func TestPlaces(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for i := range 300 {
		s := grid.Shape{D: 1 + rng.Int64N(4), H: 1 + rng.Int64N(5), W: 1 + rng.Int64N(140)}
		filled, first, labels := rng.Float64(), 1+rng.IntN(250), 1+rng.IntN(3)
		data := grid.NewBuffer(s.Voxels())
		for at := range data {
			if rng.Float64() < filled {
				data[at] = uint8(first + []int{0, at / int(s.H*s.W) % 3, rng.IntN(labels)}[i%3])
			}
		}
		f, err := grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPair(f, f, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := map[uint16]Place{}
		for at, v := range data {
			if row := int64(at) / s.W; v > 0 && (int64(at)%s.W == 0 || data[at-1] != v) {
				place := want[uint16(v)]
				place.Join(placeOf(row/s.H, row%s.H))
				want[uint16(v)] = place
			}
		}
		for _, set := range p.Sets {
			if set.Name == Everything {
				continue
			}
			place := want[set.Codes[0]]
			place.Join(place) // the pair has the image twice
			if got := p.Place(set); got != place {
				t.Fatalf("%v, label %s: want %+v, got %+v", s, set.Name, place, got)
			}
			delete(want, set.Codes[0])
		}
		if len(want) > 0 {
			t.Fatalf("%v: no sets for %v", s, want)
		}
	}
}
