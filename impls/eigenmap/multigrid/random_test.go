package multigrid

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"eccbench/impls/eigenmap/definition"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/eigenmap"
)

// A corpus is random images with sides from least to most voxels, for graphs with floors from 1e-3
// down by some decades.
type corpus struct {
	least, most int64
	decades     float64
	kinds       int // the number of kinds in use of: squares, large squares, single pixels, halves, noise of two values
	cycles      bool
}

// problem returns image number seed and its description.
func (c corpus) problem(t testing.TB, seed uint64) (*eigenmap.Problem, string) {
	r := rand.New(rand.NewPCG(seed, 7))
	side := func() int64 { return c.least + int64(math.Pow(r.Float64(), 2)*float64(c.most-c.least+1)) }
	s := grid.Shape{D: 1, H: side(), W: side()}
	values := make([]byte, s.Voxels())
	level := func() byte { return []byte{90, 160, 250, 255, byte(r.IntN(256))}[r.IntN(5)] }
	squares := func(n int, most func(n int64) int64) {
		for range n {
			v, x0, y0, w, h := level(), r.Int64N(s.W), r.Int64N(s.H), 1+r.Int64N(most(s.W)), 1+r.Int64N(most(s.H))
			for y := y0; y < min(s.H, y0+h); y++ {
				for x := x0; x < min(s.W, x0+w); x++ {
					values[y*s.W+x] = v
				}
			}
		}
	}
	kind := r.IntN(c.kinds)
	switch kind {
	case 0:
		squares(1+r.IntN(8), func(int64) int64 { return 6 })
	case 1:
		squares(1+r.IntN(8), func(n int64) int64 { return n })
	case 2:
		squares(1+r.IntN(10), func(int64) int64 { return 1 })
	case 3:
		cut := r.Int64N(s.W)
		for i := range values {
			if int64(i)%s.W > cut {
				values[i] = 255
			}
		}
	default:
		for i := range values {
			values[i] = byte(r.IntN(2) * 255)
		}
	}
	if noise := r.IntN(4); kind != 4 && noise > 0 {
		for i := range values {
			values[i] = byte(min(255, int(values[i])+r.IntN(noise+1)))
		}
	}
	k, floor := 2+r.IntN(7), math.Pow(10, -3-c.decades*r.Float64())
	what := fmt.Sprintf("seed %d: %v, kind %d, k %d, floor %.3g", seed, s, kind, k, floor)
	return eigenmap.OfVoxels(gridtest.OfBytes(t, s, values...), k, 1e-6, 0.1, floor, false, false), what
}

// verdict returns an answer with the verdict of the proof alone, and of the definition for few
// voxels.
func verdict(p *eigenmap.Problem, i Implementation) (eigenmap.Map, verify.Verdict, error) {
	out, err := bench.Answer(i, p, conditions(1))
	if err != nil {
		return out, verify.Verdict{}, err
	}
	policy := eigenmap.OnGrid().Policy
	policy.Laws = policy.Laws[:2] // the proofs
	q := verify.Question[*eigenmap.Problem, eigenmap.Map]{Name: "image", In: p, Out: out, Budget: 1 << 50}
	v := verify.Judge([]string{"image"}, policy.Check(q))
	if p.Nodes().Voxels() > 150 || v.Status == verify.Wrong {
		return out, v, nil
	}
	want, err := bench.Answer(definition.Implementation{}, p, conditions(1))
	for k, value := range want.Values {
		if math.Abs(out.Values[k]-value) > 0.01*value+1e-13 {
			v.Status, v.Reason = verify.Wrong, fmt.Sprintf("values %v, by the definition %v", out.Values, want.Values)
		}
	}
	return out, v, err
}

// images is the number of random images of the largest corpus in the long test.
var images = flag.Int("images", 150, "random images of 5² to 96² with ECCBENCH_LONG")

// Random images with weak links always get an answer, and no wrong one. Few are not proven, if
// values are as close as rounding.
func TestRandomImages(t *testing.T) {
	small, cycles, large := corpus{5, 40, 9, 5, false}, corpus{20, 50, 3, 4, true}, corpus{240, 330, 3, 1, false}
	drawn := map[corpus]int{small: 60, cycles: 10}
	if ecctest.Long() {
		drawn = map[corpus]int{{5, 96, 9, 5, false}: *images, cycles: 1 + *images/16, large: 1 + *images/125}
	}
	for c, n := range drawn {
		counts := map[verify.Status]int{}
		for seed := range uint64(n) {
			p, what := c.problem(t, seed)
			_, v, err := verdict(p, Implementation{cycles: c.cycles})
			if err != nil || v.Status == verify.Wrong {
				t.Errorf("%s: %s, %v", what, v.Reason, err)
			}
			counts[v.Status]++
		}
		if t.Logf("%+v: %v", c, counts); counts[verify.Unverified]*20 > n {
			t.Errorf("%d of %d are not proven", counts[verify.Unverified], n)
		}
	}
}

// Pairs are found for graphs that are nearly disconnected, and for small squares with weak links.
func TestWeakLinks(t *testing.T) {
	halves, bright, squares := make([]byte, 8*9), make([]byte, 9*9), make([]byte, 280*280)
	random, draw := make([]byte, 32*32), rand.New(rand.NewPCG(1, 1))
	for i := range random {
		random[i] = byte(255 * draw.IntN(2))
	}
	for i := range halves {
		if i%9 >= 4 {
			halves[i] = 255
		}
	}
	bright[40] = 255
	for _, b := range [][5]int{
		{32, 34, 204, 206, 252}, {38, 41, 68, 71, 92}, {115, 118, 262, 265, 91}, {176, 181, 228, 233, 92}, {201, 204, 257, 260, 93}, {239, 244, 4, 9, 162}, {263, 267, 254, 258, 162},
	} {
		for y := b[0]; y < b[1]; y++ {
			for x := b[2]; x < b[3]; x++ {
				squares[280*y+x] = byte(b[4])
			}
		}
	}
	of := func(w, h int64, values []byte, k int, floor float64, plain bool) *eigenmap.Problem {
		return eigenmap.OfVoxels(gridtest.OfBytes(t, grid.Shape{D: 1, H: h, W: w}, values...), k, 1e-6, 0.1, floor, false, plain)
	}
	for _, c := range []struct {
		p    *eigenmap.Problem
		want []float64
	}{
		{of(280, 280, squares, 2, 1e-5, false), []float64{0, 2.49995487e-06}}, {of(280, 280, squares, 3, 1e-5, false), []float64{0, 2.49995487e-06, 2.90717977e-06}},
		{of(9, 8, halves, 4, 1e-12, false), []float64{0, 1.36624569e-13, 0.0485506720, 0.0501690318}}, {of(9, 8, halves, 4, 1e-14, false), []float64{0, 1.366e-15, 0.0485506720, 0.0501690318}},
		{of(9, 8, halves, 4, 1e-30, false), []float64{0, 0, 0.0485506720, 0.0501690318}},
		{of(9, 8, halves, 4, 1e-60, false), []float64{0, 0, 0.0485506720, 0.0501690318}},
		{of(9, 8, halves, 4, 1e-20, false), []float64{0, 0, 0.0485506720, 0.0501690318}},
		{of(32, 32, random, 4, 0, false), []float64{0, 0, 0, 0}},
		{of(9, 8, halves, 2, 1e-12, false), []float64{0, 1.36624569e-13}},
		{of(9, 9, bright, 4, 0, false), []float64{0, 0.0331012386, 0.0331012386, 0.0761204675}}, {of(9, 9, bright, 3, 0, true), []float64{0, 0, 0.111728243}},
	} {
		if testing.Short() && len(c.want) == 2 && c.p.Nodes().Voxels() > 1000 {
			continue
		}
		m, v, err := verdict(c.p, Implementation{})
		if err != nil || v.Status != verify.Verified {
			t.Errorf("%v: %s, %s, %v", c.want, v.Status, v.Reason, err)
			continue
		}
		for k, v := range c.want {
			if math.Abs(m.Values[k]-v) > 1e-4*v+1e-15 {
				t.Errorf("values %v, want %v", m.Values, c.want)
			}
		}
	}
}
