package assess

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
)

// The judge counts the same numbers of lists of runs as of bits, for noise and for slanted tubes with thin walls.
func TestJudgeThin(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	labels := []uint8{1, 2, 3, 4}
	even := 0
	for i := range 200 {
		s := grid.Shape{D: 1 + rng.Int64N(7), H: 1 + rng.Int64N(8), W: 1 + rng.Int64N(90)}
		filled := rng.Float64()
		if i%2 == 1 {
			s, filled = grid.Shape{D: 3 + rng.Int64N(7), H: 3 + rng.Int64N(7), W: 60 + rng.Int64N(60)}, 0.002
		}
		pred, truth := drawn(t, rng, s, filled, labels...), drawn(t, rng, s, filled/2, labels...)
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
		whole := extent{greatest: [3]int64{s.D - 1, s.H - 1, s.W - 1}}
		for set, of := range p.Sets {
			if len(of.Codes) != 1 {
				continue
			}
			want := task{set: set, within: whole}
			want.run(p, make([]uint8, 256))
			both := takeCensus(p).stretchesOf(p, of.Codes)[0]
			both[ofPred].eachWindow(func(at *[rowsOfWindow]int) {
				if both[ofPred].isEven(at) {
					even++
				}
			})
			if got := judgeThin(both[ofPred], both[ofTruth]).comparison(); got != want.found {
				t.Fatalf("%v, label %s: %+v, want %+v", s, of.Name, got, want.found)
			}
		}
	}
	if even < 300 {
		t.Errorf("%d even windows: want at least 300", even)
	}
}
