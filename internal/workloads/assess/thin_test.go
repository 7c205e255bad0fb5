package assess

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
)

// asBits compares a set as bits of the whole image.
func asBits(p *Pair, set int) Comparison {
	s := p.Shape()
	t := task{set: set, within: extent{greatest: [3]int64{s.D - 1, s.H - 1, s.W - 1}}}
	t.run(p, make([]uint8, 256))
	return t.found
}

// The judge counts the same numbers of lists of runs as of bits, for noise and for slanted tubes with thin walls.
func TestJudgeThin(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	labels := []uint8{1, 2, 3, 4}
	cavities := int64(0)
	for i := range 200 {
		s := grid.Shape{D: 1 + rng.Int64N(7), H: 1 + rng.Int64N(8), W: 1 + rng.Int64N(90)}
		filled := rng.Float64()
		if i%2 == 1 {
			s, filled = grid.Shape{D: 3 + rng.Int64N(7), H: 3 + rng.Int64N(7), W: 60 + rng.Int64N(60)}, 0.002
		}
		pred, truth := drawn(t, rng, s, filled, labels[i%4:]...), drawn(t, rng, s, filled/2, labels...)
		if i%2 == 1 {
			slope, thick, wide := [2]float64{rng.NormFloat64(), 2 * rng.NormFloat64()}, 0.7+2*rng.Float64(), 1+4*rng.Float64()
			for k, f := range []*grid.Field{pred, truth} {
				for at := range f.Data() {
					z, y, x := s.Coordinates(int64(at))
					isEnd := z == 0 || z == s.D-1 || y == 0 || y == s.H-1
					d := float64(x) - 20 - slope[0]*float64(z) - slope[1]*float64(y) - 0.4*float64(k)
					n := int(d / 15)
					isWall := isEnd || d-15*float64(n) < thick || d-15*float64(n) >= thick+wide
					if d >= 0 && n < len(labels) && d-15*float64(n) < 2*thick+wide && isWall {
						f.Data()[at] = uint8(1 + n/2)
					}
				}
			}
		}
		p, err := NewPair(pred, truth, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		var byRow [masksOfSet][]int32
		for k := range byRow {
			byRow[k] = make([]int32, rowsAround(s))
		}
		for set, of := range p.Sets {
			if len(of.Codes) != 1 {
				continue
			}
			both := takeCensus(p).stretchesOf(p, of.Codes)[0]
			got, want := judgeThin(both[ofPred], both[ofTruth], &byRow).comparison(), asBits(p, set)
			if got != want {
				t.Fatalf("%v, label %s: %+v, want %+v", s, of.Name, got, want)
			}
			cavities += min(got.In[V].Holes, got.In[T].Holes)
		}
	}
	if cavities < 50 {
		t.Errorf("%d matched cavities: want at least 50", cavities)
	}
}

// Lists of many labels are made in parts, as many as fit into memory.
func TestThinInParts(t *testing.T) {
	rng, s := rand.New(rand.NewPCG(43, 44)), grid.Shape{D: 40, H: 40, W: 200}
	labels := make([]uint8, 40)
	for i := range labels {
		labels[i] = uint8(i + 1)
	}
	p, err := NewPair(drawn(t, rng, s, 0.08, labels...), drawn(t, rng, s, 0.04, labels...), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, codes := takeCensus(p), []uint16{}
	for code := range uint16(len(labels)) {
		if codes = append(codes, code+1); !c.isThin(p, code+1) {
			t.Fatalf("label %d is not thin", code+1)
		}
	}
	if n := len(c.stretchesOf(p, codes)); n == len(codes) {
		t.Fatal("all lists are made at once")
	}
	for set, got := range BySearch(p) {
		if want := asBits(p, set); got != want {
			t.Errorf("label %s: %+v, want %+v", p.Sets[set].Name, got, want)
		}
	}
}
