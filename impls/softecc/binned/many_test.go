package binned_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/impls/softecc/definition"
	"eccbench/impls/softecc/each"
	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softbatch"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

type ofMany = bench.Implementation[*softecc.Batch, []softecc.Answer]

// judge returns the verdict on the answers that an implementation gives a second time, after spoil has changed them.
func judge(t *testing.T, of ofMany, name string, scope bench.Scope, spoil func([]softecc.Answer)) verify.Verdict {
	t.Helper()
	p, err := softbatch.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(p *softecc.Batch) ([]softecc.Answer, error) {
		c := bench.Conditions{Setting: bench.Setting{Scope: scope, Threads: 2}}
		if err := of.CanDo(p, c); err != nil {
			return nil, err
		}
		j, err := of.Setup(p, c)
		if err != nil {
			return nil, err
		}
		defer j.Close()
		for range 2 {
			j.Poison()
			if err := j.Do(nil); err != nil {
				return nil, err
			}
		}
		return j.Out()
	}
	out, err := answer(p)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	spoil(out)
	q := verify.Question[*softecc.Batch, []softecc.Answer]{
		Name: name, In: p, Out: out, Ask: answer, Budget: 1 << 40, Thorough: true,
	}
	return verify.Judge([]string{name}, softbatch.Workload().Policy.Check(q))
}

// All images of a batch have the answers of the witness.
func testMany(t *testing.T, of ofMany, names []string) {
	scopes := of.About().Scopes
	for k, name := range names {
		if v := judge(t, of, name, scopes[k%len(scopes)], func([]softecc.Answer) {}); v.Status != verify.Verified {
			t.Errorf("%s, %s: %s %s", of.About().Name, name, v.Status, v.Reason)
		}
	}
}

// manyImages are more flat images than a small device has multiprocessors, and volumes.
func manyImages() []string {
	return []string{
		"softecc-batch/count=5/m=5/lambda=20/alpha=0.1/dir=3/of=noise/shape=19x18/type=float32/seed=5",
		"softecc-batch/count=2/m=5/lambda=20/alpha=0/dir=3/of=noise/shape=9x8x7/type=float32/seed=5",
	}
}

func TestMany(t *testing.T) { testMany(t, binned.Many{}, manyImages()) }

func TestManyEach(t *testing.T) {
	testMany(t, each.Implementation{Of: definition.Implementation{}}, manyImages())
}

func TestManyOnHost(t *testing.T) {
	open := softtest.OnHost(t, "softecc_curve", "softecc_direct", "softecc_float32")
	testMany(t, binned.ManyOnDevice{Open: open}, manyImages())
	const name = "softecc-batch/count=2/m=5/lambda=20/alpha=0/dir=1/vertices=1/of=noise/shape=9x8/type=float32/seed=1"
	p, err := softbatch.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	err = binned.ManyOnDevice{Open: open}.CanDo(p, bench.Conditions{})
	if err == nil || !strings.Contains(err.Error(), "vertices") {
		t.Errorf("voxels as vertices: %v", err)
	}
}

// On a device, images share it or have several blocks each.
func TestManyOnDevice(t *testing.T) {
	names := slices.Concat(manyImages(), softbatch.Workload().Adversarial)
	testMany(t, binned.ManyOnDevice{Open: ecctest.Device(t)}, append(names,
		"softecc-batch/count=3/m=5/lambda=100/alpha=0.1/dir=3/of=noise/shape=150x260/type=float32/seed=5",
		"softecc-batch/count=2/m=5/lambda=100/alpha=0/dir=3/of=noise/shape=40x30x50/type=uint8/seed=5"))
}

// A wrong number of one image, and answers in another order, are seen.
func TestManyIsJudged(t *testing.T) {
	const name = "softecc-batch/count=20/m=5/lambda=100/alpha=0.1/dir=3/of=noise/shape=32x32/type=float32/seed=5"
	for want, spoil := range map[string]func([]softecc.Answer){
		"image 7, threshold 3":  func(list []softecc.Answer) { list[7].Chi[3]++ },
		"image 19, axis 1":      func(list []softecc.Answer) { list[19].DV[1]++ },
		"image 3, voxel":        func(list []softecc.Answer) { list[3].DX[9] = 1e30 },
		"error of χ, image 4":   func(list []softecc.Answer) { list[4], list[5] = list[5], list[4] },
		"error of χ, image 19,": func(list []softecc.Answer) { list[19] = list[18] },
	} {
		v := judge(t, binned.Many{}, name, bench.E2E, spoil)
		if v.Status != verify.Wrong || !strings.Contains(v.Reason, want) {
			t.Errorf("%s: %s %s", want, v.Status, v.Reason)
		}
	}
}

// Batches of other types are refused on the host.
func TestManyRefuses(t *testing.T) {
	const name = "softecc-batch/count=2/m=5/lambda=20/alpha=0/dir=1/of=noise/shape=9x8/type=uint8/seed=1"
	p, err := softbatch.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	err = binned.Many{}.CanDo(p, bench.Conditions{})
	if err == nil || !strings.Contains(err.Error(), "a layer has float32") {
		t.Errorf("uint8: %v", err)
	}
}

// A shared problem is the same one, and so are answers that were encoded.
func TestManyShared(t *testing.T) {
	const name = "softecc-batch/count=3/m=5/lambda=100/alpha=0.1/dir=3/of=noise/shape=9x8x7/type=float32/seed=5"
	in := softbatch.Inputs{}
	p, err := in.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "shared"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := in.Share(p, f); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Name())
	if err != nil || int64(len(data)) > in.Size(p) {
		t.Fatalf("%d bytes shared, %d announced, %v", len(data), in.Size(p), err)
	}
	q, err := in.Attach(data)
	if err != nil {
		t.Fatal(err)
	}
	if q.Len() != 3 || q.Shape() != p.Shape() || q.Lambda != p.Lambda || q.Alpha != p.Alpha || !slices.Equal(q.G, p.G) {
		t.Errorf("attached as %d of %v, λ %v, α %v, %v", q.Len(), q.Shape(), q.Lambda, q.Alpha, q.G)
	}
	if _, err := in.Attach(data[:len(data)-1]); err == nil {
		t.Error("a cut problem was attached")
	}
	var list []softecc.Answer
	for i := range p.Len() {
		one, err := p.At(i)
		if err != nil {
			t.Fatal(err)
		}
		a, err := softecc.Define(one)
		if err != nil {
			t.Fatal(err)
		}
		shared, err := q.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := softecc.Define(shared); err != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("image %d: shared %v, %v, want %v", i, b, err, a)
		}
		list = append(list, a)
	}
	var b, again bytes.Buffer
	if err := softbatch.Encode(&b, list); err != nil {
		t.Fatal(err)
	}
	back, err := softbatch.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := softbatch.Encode(&again, back); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("decoded answers differ, %v", err)
	}
	for cut := range b.Len() {
		if _, err := softbatch.Decode(b.Bytes()[:cut]); err == nil && (cut-8)%3 != 0 {
			t.Errorf("%d of %d bytes were decoded", cut, b.Len())
		}
	}
	if names, err := in.Variants(name, 2); err != nil || len(names) != 2 || !strings.HasSuffix(names[1], "seed=8") {
		t.Errorf("variants %v, %v", names, err)
	}
	if names := in.Smaller(name); len(names) != 2 || !strings.Contains(names[1], "/count=2/m=5/") {
		t.Errorf("smaller %v", names)
	}
}
