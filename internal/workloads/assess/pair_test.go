package assess

import (
	"math"
	"math/rand/v2"
	"slices"
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

// TestExactLabels compares the sets of labels of 64 bits, which float64 would merge, with those of equal images of
// small labels.
func TestExactLabels(t *testing.T) {
	s := grid.Shape{D: 1, H: 1, W: 6}
	image := func(values ...int64) *grid.Field {
		distinct := slices.Compact(slices.Sorted(slices.Values(values)))
		l, err := grid.NewLabels("int64", distinct)
		if err != nil {
			t.Fatal(err)
		}
		ranks := grid.NewValues[float32](s.Voxels())
		for i, v := range values {
			rank, _ := slices.BinarySearch(distinct, v)
			ranks[i] = grid.Ranked(rank)
		}
		f, err := grid.NewField(s, grid.Float32, grid.Bytes(ranks), grid.Identity(grid.Float32))
		if err != nil {
			t.Fatal(err)
		}
		return f.Labelled(l)
	}
	const large = 1<<60 + 1
	pred, truth := image(large, 0, large+1, large+1, 0, math.MinInt64), image(large, large, large+1, 0, 0, math.MaxInt64)
	given, err := grid.ParseNumber("1152921504606846978") // large+1
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPair(pred, truth, nil, []Group{{"one", []grid.Number{given}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][2]string{ // the voxels in both images, by hand
		"-9223372036854775808": {"000001", "000000"}, "1152921504606846977": {"100000", "110000"}, "1152921504606846978": {"001100", "001000"},
		"9223372036854775807": {"000000", "000001"}, "all": {"101101", "111001"}, "one": {"001100", "001000"},
	} {
		at := slices.IndexFunc(p.Sets, func(s Set) bool { return s.Name == name })
		if at < 0 || len(p.Sets) != 6 {
			t.Fatalf("no set %s in %v", name, p.Sets)
		}
		for i, bits := range want {
			for voxel, bit := range bits {
				var in [2]bool
				if in[0], in[1] = p.Has(p.Sets[at], int64(voxel)); in[i] != (bit == '1') {
					t.Errorf("%s: image %d, voxel %d: %v", name, i, voxel, in[i])
				}
			}
		}
	}
}
