package definition

import (
	"math/rand/v2"
	"strings"
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// vertices returns the complex of the cells whose vertices are all inside.
func vertices(s grid.Shape, inside func(z, y, x int64) bool) *complex {
	d, h, w := 2*s.D-1, 2*s.H-1, 2*s.W-1
	there := make([]bool, d*h*w)
	for at := range int64(len(there)) {
		z, y, x := at/(h*w), at/w%h, at%w
		there[at] = true
		for k := z / 2; k <= (z+1)/2; k++ {
			for j := y / 2; j <= (y+1)/2; j++ {
				for i := x / 2; i <= (x+1)/2; i++ {
					there[at] = there[at] && inside(k, j, i)
				}
			}
		}
	}
	return complexOf(there, h, w)
}

// The numbers in every convention are ranks of the boundary matrices for that convention.
func TestConventions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	plain := betti.Workload(duality.Implementation{})
	seen := map[betti.Numbers]bool{}
	for range 150 {
		side := func() int64 { return 1 + rng.Int64N(5) }
		s := grid.Shape{D: side(), H: side(), W: side()}
		data := grid.NewBuffer(s.Voxels())
		for i := range data {
			data[i] = byte(rng.IntN(10))
		}
		f, err := grid.NewField(s, grid.Uint8, data, grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		in := &betti.Image{Source: f, Threshold: float32(rng.IntN(10))}
		for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
			inside := func(z, y, x int64) bool {
				v := float32(data[(z*s.H+y)*s.W+x])
				return c.Superlevel && v >= in.Threshold || !c.Superlevel && v <= in.Threshold
			}
			cells := newComplex(s.D, s.H, s.W, inside)
			if c.Vertices {
				cells = vertices(s, inside)
			}
			for _, p := range fields() {
				want, err := cells.betti(p)
				if err != nil {
					t.Fatal(err)
				}
				got, err := bench.Answer(betti.InConvention(plain, c).Impls[0], in, bench.Conditions{Setting: bench.Setting{Threads: 2}})
				if err != nil || got != want {
					t.Fatalf("%+v: %v of %v at %v, %v; want %v", c, got, s, in.Threshold, err, want)
				}
				seen[want] = true
			}
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d different answers", len(seen))
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		shape string
		given bench.Conditions
		want  string // "" where it is allowed
	}{
		{"32769x1", bench.Conditions{}, "32769 voxels: matrices are for at most 32768"}, {"32768x1", bench.Conditions{}, ""},
		{"10x9", bench.Conditions{Time: 8_999_999}, "90 voxels × 100 µs"}, {"10x9", bench.Conditions{Time: 9_000_000}, ""},
		{"10x9", bench.Conditions{Memory: 359_999}, "4000 bytes for each of 90 voxels"}, {"10x9", bench.Conditions{Memory: 360_000}, ""},
	} {
		in, err := betti.Inputs{}.Open("betti/at=0/of=constant/shape=" + c.shape + "/type=uint8")
		if err != nil {
			t.Fatal(err)
		}
		if err := (Implementation{}).CanDo(in, c.given); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %+v: %v, want %q", c.shape, c.given, err, c.want)
		}
	}
}
