package multigrid

import (
	"math"
	"testing"
)

// The bits are the same on any number of cores, and iterations are few on images that are smooth, and
// no more than some where tubes are thin.
func TestBitsAndIterations(t *testing.T) {
	for name, most := range map[string]int{
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=140x131/levels=1024/type=float32/smooth=3/seed=1":  12,
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=grf/shape=31x33x29/levels=1024/type=float32/smooth=3/seed=1": 14,
		"eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=tubes/shape=203x190/levels=256/type=uint8/seed=1":            18,
	} {
		p := open(t, name)
		var first []float64
		for _, threads := range []int{1, 2, 5} {
			j, err := Implementation{}.Setup(p, conditions(threads))
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Do(nil); err != nil {
				t.Fatal(err)
			}
			own := j.(*job)
			if own.iterations > most {
				t.Errorf("%s: %d iterations, want at most %d", name, own.iterations, most)
			}
			var bits []float64
			bits = append(append(bits, own.Values...), own.Vectors[3]...)
			if first == nil {
				first = bits
			}
			for i, v := range bits {
				if math.Float64bits(v) != math.Float64bits(first[i]) {
					t.Fatalf("%s: other bits on %d cores: number %d is %g and %g", name, threads, i, v, first[i])
				}
			}
		}
	}
}
