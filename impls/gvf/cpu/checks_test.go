package cpu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/gvf/gvftest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover fields within masks, which no input of a name has, and rejected problems.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		gvftest.Calls(i, gvf.Name, "gradient", "steps"),
		{Name: "fields within masks", Of: maskBits},
		{Name: "parts of a mask", Of: maskParts},
		{Name: "masks that are refused", Of: maskRefusals},
		{Name: "refusals", Of: refusals},
	}
}

func field(t *testing.T, shape grid.Shape, values func(i int64) byte) *grid.Field {
	t.Helper()
	data := grid.NewBuffer(shape.Voxels())
	for i := range data {
		data[i] = values(int64(i))
	}
	return gridtest.OfBytes(t, shape, data...)
}

func answer(t *testing.T, p *gvf.Problem, threads int) gvf.Flow {
	t.Helper()
	got, err := bench.Answer[*gvf.Problem, gvf.Flow](Implementation{}, p, bench.Conditions{Setting: bench.Setting{Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Within a mask at random, and without one, fields have the bits of the plain loop, and the laws hold.
func maskBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for k := range 30 {
		side := func() int64 { return 1 + rng.Int64N(24) }
		shape := grid.Shape{D: side(), H: side(), W: side()}
		if k%3 == 0 {
			shape.D = 1
		}
		blocks := 1 + rng.Int64N(6) // parts of more than single voxels, too
		labels := make([]byte, shape.Voxels())
		for i := range labels {
			labels[i] = byte(rng.IntN(3))
		}
		mask := field(t, shape, func(i int64) byte {
			z, y, x := shape.Coordinates(i)
			return labels[((z/blocks)*shape.H+y/blocks)*shape.W+x/blocks]
		})
		p := gvf.NewProblem(field(t, shape, func(int64) byte { return byte(rng.IntN(256)) }), 0.09, rng.Int64N(8), 0, gvf.Replicate)
		plain, err := gvf.Define(p, 1)
		if err != nil {
			t.Fatal(err)
		}
		if d := gvf.Steps().Policy.Agree(p, plain, answer(t, p, 1+k%4)); d != nil {
			t.Fatalf("%v without a mask, %d steps: %v (%s)", shape, p.Steps, d, d.Context)
		}
		q, err := p.WithMask(mask)
		if err != nil {
			continue // all of it is 0
		}
		want, err := gvf.Define(q, 1)
		if err != nil {
			t.Fatal(err)
		}
		out := answer(t, q, 1+k%3)
		w := gvf.Steps(Implementation{})
		if d := w.Policy.Agree(q, want, out); d != nil {
			t.Fatalf("%v, %d steps: %v (%s)", shape, q.Steps, d, d.Context)
		}
		ask := func(p *gvf.Problem) (gvf.Flow, error) { return answer(t, p, 2), nil }
		evidence := w.Policy.Check(verify.Question[*gvf.Problem, gvf.Flow]{Name: "a masked image", In: q, Out: out, Ask: ask, PerCall: 1, Budget: 1 << 40, Thorough: true})
		if v := verify.Judge([]string{"a masked image"}, evidence); v.Status == verify.Wrong {
			t.Errorf("%v, %d steps: %v", shape, q.Steps, v.Reason)
		}
	}
}

// The parts of a mask are independent: each flows as if it were alone. A mask of one part changes
// nothing.
func maskParts(t *testing.T) {
	shape := grid.Shape{D: 1, H: 20, W: 30}
	rng := rand.New(rand.NewPCG(2, 2))
	// Values of 0 and 255 in each part, so that all have the same scale.
	image := field(t, shape, func(i int64) byte {
		if x := i % shape.W; i/shape.W == 0 && x%15 < 2 {
			return byte(255 * (x % 15))
		}
		return byte(rng.IntN(256))
	})
	p := gvf.NewProblem(image, 0.1, 25, 0, gvf.Replicate)
	whole, err := p.WithMask(field(t, shape, func(int64) byte { return 7 }))
	if err != nil {
		t.Fatal(err)
	}
	plain := answer(t, p, 1)
	if d := gvf.Steps().Policy.Agree(p, plain, answer(t, whole, 2)); d != nil {
		t.Errorf("a mask of one part: %v", d)
	}
	left := func(i int64) bool { return i%shape.W < 15 }
	label := func(l, r byte) *grid.Field {
		return field(t, shape, func(i int64) byte {
			if left(i) {
				return l
			}
			return r
		})
	}
	two, err := p.WithMask(label(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := p.WithMask(label(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	both, one, cut := answer(t, two, 2), answer(t, alone, 2), gvf.NewProblem(field(t, grid.Shape{D: 1, H: 20, W: 15}, func(i int64) byte {
		return image.Data()[i/15*30+i%15]
	}), 0.1, 25, 0, gvf.Replicate)
	half := answer(t, cut, 1)
	across := 0
	for c := range both.V {
		for i := range shape.Voxels() {
			want := float32(0)
			if left(i) {
				want = half.V[c][i/30*15+i%30]
				if both.V[c][i] != want {
					t.Fatalf("component %d at %d: %v beside another part, %v alone", c, i, both.V[c][i], want)
				}
				if plain.V[c][i] != want {
					across++
				}
			}
			if one.V[c][i] != want {
				t.Fatalf("component %d at %d: %v, want %v", c, i, one.V[c][i], want)
			}
		}
	}
	if across == 0 {
		t.Error("a mask changes nothing")
	}
}

func maskRefusals(t *testing.T) {
	shape := grid.Shape{D: 1, H: 4, W: 5}
	image, ones := field(t, shape, func(i int64) byte { return byte(i) }), field(t, shape, func(int64) byte { return 1 })
	for want, c := range map[string]struct {
		p    *gvf.Problem
		mask grid.Source
	}{
		"want a mask of the same shape": {gvf.NewProblem(image, 0.1, 1, 0, gvf.Replicate), field(t, grid.Shape{D: 1, H: 5, W: 4}, func(int64) byte { return 1 })},
		"the mask is 0 everywhere":      {gvf.NewProblem(image, 0.1, 1, 0, gvf.Replicate), field(t, shape, func(int64) byte { return 0 })},
		"a steady state needs a whole":  {gvf.NewProblem(image, 0.1, 0, 1e-3, gvf.Replicate), ones},
		"a mask goes with":              {gvf.NewProblem(image, 0.1, 1, 0, gvf.Third), ones},
	} {
		q, err := c.p.WithMask(c.mask)
		if err == nil {
			err = q.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Problems that need too much memory, or of another workload, are rejected.
func refusals(t *testing.T) {
	p, err := gvf.Steps().Inputs.Open("gvf/steps=4/mu=50/boundary=0/of=noise/shape=12x11x10/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]bench.Conditions{
		"1320 voxels × 3 components × 4 steps": {Time: 1}, "8 numbers for each of 1320 voxels": {Memory: 1000}, "instruction set sse": {Setting: bench.Setting{ISA: "sse"}},
	} {
		if err := (Implementation{}).CanDo(p, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (Implementation{}).CanDo(gvf.NewProblem(p.Source, 0.1, 0, 1e-4, gvf.Replicate), bench.Conditions{}); err == nil {
		t.Error("a steady state is taken")
	}
	if _, err := (Implementation{}).Setup(p, bench.Conditions{Setting: bench.Setting{ISA: "sse"}}); err == nil {
		t.Error("an unknown instruction set is set up")
	}
}
