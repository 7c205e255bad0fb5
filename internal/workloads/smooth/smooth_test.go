package smooth

import (
	"hash/fnv"
	"math"
	"testing"

	"eccbench/internal/grid"
)

func pixels(t *testing.T, name string) (values []float32, p *Pipeline) {
	t.Helper()
	p, err := Inputs().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data := grid.NewBuffer(grid.TotalBytes(p))
	if err := p.ReadSlab(data, 0, p.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	return grid.Values[float32](data), p
}

// The weights are a Gaussian's, and never add up to more than rounding makes of 1.
func TestWeights(t *testing.T) {
	w := Weights()
	var exact [Radius + 1]float64
	sum, total := 0.0, 0.0
	for k := range w {
		exact[k] = math.Exp(-float64(k*k) / 8)
		twice := 2.0
		if k == 0 {
			twice = 1
		}
		sum += twice * exact[k]
		total += twice * float64(w[k])
	}
	for k := range w {
		if math.Abs(float64(w[k])-exact[k]/sum) > float64(w[k])/(1<<24) {
			t.Errorf("weight %d is %v, want %v", k, w[k], exact[k]/sum)
		}
	}
	if math.Abs(total-1) > 1e-7 {
		t.Errorf("the weights add up to 1%+g", total-1)
	}
}

// The definition in float32 is a Gaussian: within 10⁻⁶ of the image convolved with
// 13 × 13 weights in float64, unseparated.
func TestPlainIsGaussian(t *testing.T) {
	for _, name := range []string{"grf/shape=70x50/smooth=1/seed=3", "noise/shape=31x45/seed=2", "noise/shape=3x5/seed=2", "noise/shape=1x1/seed=2"} {
		src, p := pixels(t, "smooth/iterations=1/of="+name)
		w, h := p.Shape().W, p.Shape().H
		got := make([]float32, len(src))
		plain(got, src, make([]float32, len(src)), w, h, p.Top(), 3)
		worst := 0.0
		for y := range h {
			for x := range w {
				sum, of := 0.0, 0.0
				for dy := -int64(Radius); dy <= Radius; dy++ {
					for dx := -int64(Radius); dx <= Radius; dx++ {
						g := math.Exp(-float64(dx*dx+dy*dy) / 8)
						sum += g * float64(src[min(max(y+dy, 0), h-1)*w+min(max(x+dx, 0), w-1)])
						of += g
					}
				}
				worst = max(worst, math.Abs(float64(got[y*w+x])-sum/of))
			}
		}
		if worst > 1e-6 {
			t.Errorf("%s: off by %g", name, worst)
		}
	}
}

// The same bits on every machine: fused multiply-adds, which the compiler makes on
// arm64, would show here.
func TestDigest(t *testing.T) {
	_, p := pixels(t, "smooth/iterations=1/of=noise/shape=64x48/levels=1024/type=float32/seed=1")
	images, err := p.Images([]int64{20})
	if err != nil {
		t.Fatal(err)
	}
	h := fnv.New64a()
	h.Write(grid.Bytes(images[0]))
	const want = 0xc4ccfa5652293fe5
	if got := h.Sum64(); got != want {
		t.Errorf("the image hashes to %#x, want %#x", got, uint64(want))
	}
}
