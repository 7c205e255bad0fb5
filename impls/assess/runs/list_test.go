package runs

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// tubes makes a pair of images of slanted tubes with thin walls, closed at both ends, with some stray voxels.
func tubes(t *testing.T, rng *rand.Rand, s grid.Shape) *assess.Pair {
	t.Helper()
	var slope [4][2]float64
	for i := range slope {
		slope[i] = [2]float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	thick, wide, stray := 0.7+2*rng.Float64(), 1+6*rng.Float64(), 0.002*rng.Float64()
	image := func(shift float64) *grid.Field {
		data := grid.NewBuffer(s.Voxels())
		for i := range data {
			z, y, x := s.Coordinates(int64(i))
			isEnd := z == 0 && s.D > 1 || z == s.D-1 && s.D > 1 || y == 0 || y == s.H-1
			for label, by := range slope {
				at := float64(x) - 20*float64(label) - 5 - shift - by[0]*float64(z) - by[1]*float64(y)
				isWall := at < thick || at >= thick+wide || isEnd
				if at >= 0 && at < 2*thick+wide && isWall || rng.Float64() < stray {
					data[i] = uint8(label + 1)
				}
			}
		}
		f, err := grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	p, err := assess.NewPair(image(0), image(0.4), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLists compares sets as lists of runs with the same sets as bits.
func TestLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	holes := int64(0)
	for i := range 300 {
		s := grid.Shape{D: 1 + rng.Int64N(9), H: 1 + rng.Int64N(9), W: 1 + rng.Int64N(140)}
		p := random(t, rng, s, 1+rng.IntN(6), rng.Float64())
		if i%2 == 1 {
			p = tubes(t, rng, grid.Shape{D: 3 + rng.Int64N(7), H: 3 + rng.Int64N(7), W: 30 + rng.Int64N(60)})
		}
		all := survey(p, 1+i%3)
		if all == nil {
			continue
		}
		var by lists
		for _, set := range p.Sets {
			if len(set.Codes) != 1 {
				continue
			}
			got, want := by.compare(*all.lists([]assess.Set{set})[0]), assess.Comparison{}
			f := finderOf(p, set, all)
			newMasks(f, f.box, 1).islands(func(island *masks) { want.Add(island.compare()) })
			if got != want {
				t.Fatalf("%v, label %s: as lists %+v, want %+v", s, set.Name, got, want)
			}
			holes += got.In[assess.T].Holes
		}
	}
	if holes == 0 {
		t.Error("no set has a matched hole")
	}
}

// TestListsInParts compares answers for a pair whose labels do not fit into the memory for lists at once.
func TestListsInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	p := random(t, rng, grid.Shape{D: 2, H: 3, W: 600}, 40, 0.9)
	all, sets := survey(p, 2), p.Sets[:len(p.Labels)-1]
	var by lists
	for n := 0; len(sets) > 0; n++ {
		of := all.lists(sets)
		if n == 0 && len(of) == len(sets) {
			t.Fatal("all lists are made at once")
		}
		for i, l := range of {
			f := finderOf(p, sets[i], all)
			want := assess.Comparison{}
			newMasks(f, f.box, 1).islands(func(island *masks) { want.Add(island.compare()) })
			if got := by.compare(*l); got != want {
				t.Fatalf("label %s: %+v, want %+v", sets[i].Name, got, want)
			}
		}
		sets = sets[len(of):]
	}
}
