package smooth

import (
	"bytes"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

func pixels(t *testing.T, name string) (values []float32, p *Pipeline) {
	t.Helper()
	p, err := Inputs{}.Open(name)
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
		plain(got, src, make([]float32, len(src)), w, h, top(p), 3)
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

// The smoother by rows has the bits of the definition, with any number of cores.
func TestSmootherIsPlain(t *testing.T) {
	for _, name := range []string{"grf/shape=70x50/smooth=1/seed=3", "noise/shape=31x45/seed=2", "noise/shape=3x5/seed=2", "noise/shape=1x1/seed=2", "noise/shape=13x1/seed=4", "constant/shape=8x8/type=float32"} {
		src, p := pixels(t, "smooth/iterations=1/of="+name)
		w, h := p.Shape().W, p.Shape().H
		for cores := 1; cores <= 5; cores++ {
			want, got := slices.Clone(src), slices.Clone(src)
			next, between := make([]float32, len(src)), make([]float32, len(src))
			s := newSmoother(w, h, top(p), cores)
			for i := range 20 {
				plain(next, want, between, w, h, top(p), 2)
				want, next = next, want
				s.smooth(next, got)
				got, next = next, got
				if !bytes.Equal(grid.Bytes(want), grid.Bytes(got)) {
					t.Fatalf("%s: iteration %d differs on %d cores", name, i+1, cores)
				}
			}
		}
	}
}

func answer(t *testing.T, h OnHost, p *Pipeline, threads int) Answer {
	t.Helper()
	c := bench.Conditions{Scope: bench.E2E, Threads: threads}
	if err := h.CanDo(p, c); err != nil {
		t.Fatal(err)
	}
	j, err := h.Setup(p, c)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	j.Poison()
	if _, err := j.Out(); err == nil {
		t.Error("poison is an answer")
	}
	if err := j.Do(&bench.Trace{}); err != nil {
		t.Fatal(err)
	}
	out, err := j.Out()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func judge(p *Pipeline, out Answer) verify.Verdict {
	pol := policy()
	return verify.Judge([]string{"p"}, pol.Check(verify.Question[*Pipeline, Answer]{Name: "p", In: p, Out: out, Budget: 1 << 45, Thorough: true}))
}

func TestHost(t *testing.T) {
	_, p := pixels(t, "smooth/iterations=1003/of=grf/shape=48x40/levels=1024/smooth=1/seed=3")
	one := answer(t, OnHost{cpu.Implementation{}}, p, 1)
	if d := agree(p, one, answer(t, OnHost{cpu.Implementation{}}, p, 3)); d != nil {
		t.Error(d)
	}
	if v := judge(p, one); v.Status != verify.Verified {
		t.Errorf("%s: %s", v.Status, v.Reason)
	}
	var kept []int64
	for _, c := range one.Checkpoints {
		kept = append(kept, c.Iteration)
	}
	if !slices.Equal(kept, []int64{1, 1000, 1003}) || len(one.Checkpoints[0].VCEC) <= len(one.Checkpoints[1].VCEC) {
		t.Errorf("kept %v, of %d and %d changes", kept, len(one.Checkpoints[0].VCEC), len(one.Checkpoints[1].VCEC))
	}
	if got, err := Decode(Encode(one)); err != nil || agree(p, one, got) != nil {
		t.Errorf("decoded %+v, %v", got, err)
	}
	for i := range Encode(one) {
		if _, err := Decode(Encode(one)[:i]); err == nil {
			t.Fatalf("an answer cut at %d was decoded", i)
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

func TestPolicyCatches(t *testing.T) {
	_, p := pixels(t, "smooth/iterations=7/of=grf/shape=60x50/levels=256/smooth=1/seed=3")
	right := answer(t, OnHost{cpu.Implementation{}}, p, 2)
	spoil := func(change func(*Answer)) Answer {
		a := right
		a.Checkpoints = nil
		for _, c := range right.Checkpoints {
			a.Checkpoints = append(a.Checkpoints, Checkpoint{c.Iteration, slices.Clone(c.VCEC)})
		}
		change(&a)
		return a
	}
	for want, a := range map[string]Answer{
		"sum of all changes": spoil(func(a *Answer) { a.Sum++ }),
		"iteration 7, level": spoil(func(a *Answer) { a.Checkpoints[1].VCEC = a.Checkpoints[0].VCEC }),
		"iteration 1, level": spoil(func(a *Answer) { a.Checkpoints[0].VCEC = a.Checkpoints[1].VCEC }),
		"iteration 7, level 114": spoil(func(a *Answer) {
			for i := range a.Checkpoints[1].VCEC { // all but one level
				if c := &a.Checkpoints[1].VCEC[i]; i != 5 {
					c.Change++
				}
			}
		}),
		"want a curve, got n": spoil(func(a *Answer) { a.Checkpoints = a.Checkpoints[:1] }),
	} {
		if v := judge(p, a); v.Status != verify.Wrong || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s %s", want, v.Status, v.Reason)
		}
	}
	if d := agree(p, right, spoil(func(a *Answer) { a.Trail++ })); d == nil {
		t.Error("another curve between those that are kept passed")
	}
	// One smoothing too few or too many, or by other weights, is another answer.
	less := answer(t, OnHost{cpu.Implementation{}}, &Pipeline{p.Source, 6}, 2)
	less.Sum, less.Checkpoints[1].Iteration = 7, 7
	if judge(p, less).Status != verify.Wrong {
		t.Error("a smoothing too few passed")
	}
	if judge(p, answer(t, OnHost{cpu.Faulty(cpu.TieRule)}, p, 2)).Status != verify.Wrong {
		t.Error("a planted fault of the counter passed")
	}
}

func TestNamesAndSharing(t *testing.T) {
	name := "smooth/iterations=12/of=noise/shape=9x7/levels=4/type=float32/seed=1"
	_, p := pixels(t, name)
	f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := (Inputs{}).Share(p, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || int64(len(data)) > (Inputs{}).Size(p) {
		t.Fatal(len(data), (Inputs{}).Size(p), err)
	}
	got, err := Inputs{}.Attach(data)
	if err != nil || got.Iterations != 12 || got.Shape() != p.Shape() {
		t.Fatal(got, err)
	}
	if agree(p, answer(t, OnHost{cpu.Implementation{}}, p, 1), answer(t, OnHost{cpu.Implementation{}}, got, 1)) != nil {
		t.Error("the shared pipeline has another answer")
	}
	names, err := Inputs{}.Variants(name, 2)
	if err != nil || len(names) != 2 || !strings.HasSuffix(names[1], "seed=2") {
		t.Error(names, err)
	}
	for _, bad := range []string{"smooth/iterations=0/of=noise/shape=4x4", "smooth/of=noise/shape=4x4", "smooth/iterations=2", "noise/shape=4x4"} {
		if _, err := (Inputs{}).Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	_, cube := pixels(t, "smooth/iterations=2/of=noise/shape=4x4x4/levels=4")
	if err := (OnHost{cpu.Implementation{}}).CanDo(cube, bench.Conditions{}); err == nil {
		t.Error("3D was accepted")
	}
	_, large := pixels(t, "smooth/iterations=10000/of=noise/shape=256x256")
	err = OnHost{cpu.Implementation{}}.CanDo(large, bench.Conditions{Time: 1e9, Threads: 2})
	if err == nil || !strings.Contains(err.Error(), "10000 iterations × 65536 pixels × 100 ns") {
		t.Error(err)
	}
}
