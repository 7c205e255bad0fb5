package smooth

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/smooth"
)

func pixels(t *testing.T, name string) (values []float32, p *smooth.Pipeline) {
	t.Helper()
	p, err := smooth.Inputs().Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data := grid.NewBuffer(grid.TotalBytes(p))
	if err := p.ReadSlab(data, 0, p.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	return grid.Values[float32](data), p
}

// The smoother by rows has the bits of the definition, with any number of cores.
func TestSmootherIsPlain(t *testing.T) {
	var twenty []int64
	for i := range int64(20) {
		twenty = append(twenty, i+1)
	}
	for _, name := range []string{"grf/shape=70x50/smooth=1/seed=3", "noise/shape=31x45/seed=2", "noise/shape=3x5/seed=2", "noise/shape=1x1/seed=2", "noise/shape=13x1/seed=4", "constant/shape=8x8/type=float32"} {
		src, p := pixels(t, "smooth/iterations=1/of="+name)
		w, h := p.Shape().W, p.Shape().H
		want, err := p.Images(twenty)
		if err != nil {
			t.Fatal(err)
		}
		for cores := 1; cores <= 5; cores++ {
			got, next := slices.Clone(src), make([]float32, len(src))
			s := newSmoother(w, h, p.Top(), cores)
			for i := range 20 {
				s.smooth(next, got)
				got, next = next, got
				if !bytes.Equal(grid.Bytes(want[i]), grid.Bytes(got)) {
					t.Fatalf("%s: iteration %d differs on %d cores", name, i+1, cores)
				}
			}
		}
	}
}

func answer(t *testing.T, h OnHost, p *smooth.Pipeline, threads int) smooth.Answer {
	t.Helper()
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
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

func judge(p *smooth.Pipeline, out smooth.Answer) verify.Verdict {
	pol := smooth.Workload().Policy
	return verify.Judge([]string{"p"}, pol.Check(verify.Question[*smooth.Pipeline, smooth.Answer]{Name: "p", In: p, Out: out, Budget: 1 << 45, Thorough: true}))
}

func TestHost(t *testing.T) {
	_, p := pixels(t, "smooth/iterations=1003/of=grf/shape=48x40/levels=1024/smooth=1/seed=3")
	one := answer(t, OnHost{cpu.Implementation{}}, p, 1)
	if d := smooth.Workload().Policy.Agree(p, one, answer(t, OnHost{cpu.Implementation{}}, p, 3)); d != nil {
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
	if got, err := smooth.Decode(smooth.Encode(one)); err != nil || smooth.Workload().Policy.Agree(p, one, got) != nil {
		t.Errorf("decoded %+v, %v", got, err)
	}
	for i := range smooth.Encode(one) {
		if _, err := smooth.Decode(smooth.Encode(one)[:i]); err == nil {
			t.Fatalf("an answer cut at %d was decoded", i)
		}
	}
}

func TestPolicyCatches(t *testing.T) {
	_, p := pixels(t, "smooth/iterations=7/of=grf/shape=60x50/levels=256/smooth=1/seed=3")
	right := answer(t, OnHost{cpu.Implementation{}}, p, 2)
	spoil := func(change func(*smooth.Answer)) smooth.Answer {
		a := right
		a.Checkpoints = nil
		for _, c := range right.Checkpoints {
			a.Checkpoints = append(a.Checkpoints, smooth.Checkpoint{Iteration: c.Iteration, VCEC: slices.Clone(c.VCEC)})
		}
		change(&a)
		return a
	}
	for want, a := range map[string]smooth.Answer{
		"sum of all changes": spoil(func(a *smooth.Answer) { a.Sum++ }),
		"iteration 7, level": spoil(func(a *smooth.Answer) { a.Checkpoints[1].VCEC = a.Checkpoints[0].VCEC }),
		"iteration 1, level": spoil(func(a *smooth.Answer) { a.Checkpoints[0].VCEC = a.Checkpoints[1].VCEC }),
		"iteration 7, level 114": spoil(func(a *smooth.Answer) {
			for i := range a.Checkpoints[1].VCEC { // all but one level
				if c := &a.Checkpoints[1].VCEC[i]; i != 5 {
					c.Change++
				}
			}
		}),
		"want a curve, got n": spoil(func(a *smooth.Answer) { a.Checkpoints = a.Checkpoints[:1] }),
	} {
		if v := judge(p, a); v.Status != verify.Wrong || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s %s", want, v.Status, v.Reason)
		}
	}
	if d := smooth.Workload().Policy.Agree(p, right, spoil(func(a *smooth.Answer) { a.Trail++ })); d == nil {
		t.Error("another curve between those that are kept passed")
	}
	// One smoothing too few or too many, or by other weights, is another answer.
	less := answer(t, OnHost{cpu.Implementation{}}, &smooth.Pipeline{Source: p.Source, Iterations: 6}, 2)
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
	if err := smooth.Inputs().Share(p, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || int64(len(data)) > smooth.Inputs().Size(p) {
		t.Fatal(len(data), smooth.Inputs().Size(p), err)
	}
	got, err := smooth.Inputs().Attach(data)
	if err != nil || got.Iterations != 12 || got.Shape() != p.Shape() {
		t.Fatal(got, err)
	}
	if smooth.Workload().Policy.Agree(p, answer(t, OnHost{cpu.Implementation{}}, p, 1), answer(t, OnHost{cpu.Implementation{}}, got, 1)) != nil {
		t.Error("the shared pipeline has another answer")
	}
	names, err := smooth.Inputs().Variants(name, 2)
	if err != nil || len(names) != 2 || !strings.HasSuffix(names[1], "seed=2") {
		t.Error(names, err)
	}
	for _, bad := range []string{"smooth/iterations=0/of=noise/shape=4x4", "smooth/of=noise/shape=4x4", "smooth/iterations=2", "noise/shape=4x4"} {
		if _, err := smooth.Inputs().Open(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	_, cube := pixels(t, "smooth/iterations=2/of=noise/shape=4x4x4/levels=4")
	if err := (OnHost{cpu.Implementation{}}).CanDo(cube, bench.Conditions{}); err == nil {
		t.Error("3D was accepted")
	}
	_, large := pixels(t, "smooth/iterations=10000/of=noise/shape=256x256")
	err = OnHost{cpu.Implementation{}}.CanDo(large, bench.Conditions{Time: 1e9, Setting: bench.Setting{Threads: 2}})
	if err == nil || !strings.Contains(err.Error(), "10000 iterations × 65536 pixels × 100 ns") {
		t.Error(err)
	}
}
