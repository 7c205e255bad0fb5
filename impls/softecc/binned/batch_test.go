package binned_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

// Batches of images agree with the definition for any previous contents of the memory.
func TestBatchOnHost(t *testing.T) { testBatch(t, onHost(t)) }

func TestBatchOnDevice(t *testing.T) { testBatch(t, ecctest.Device(t)) }

func testBatch(t *testing.T, open resident.Opener) {
	t.Helper()
	thresholds := []int{5, 33, 1, 64, 4, 17, 64}
	for k, image := range []string{
		"noise/shape=133x70x3/type=float32/levels=1024", "noise/shape=5x33x7/type=float32/levels=1024",
		"noise/shape=300x37/type=float32/levels=64", "noise/shape=1x1/type=float32/levels=4",
		"noise/shape=64x9/type=float32/levels=1000", "noise/shape=41x1/type=float32/levels=64",
		"noise/shape=6x11x25/type=float32/levels=1024", // blocks of 13 planes, which is odd
	} {
		for _, alpha := range []int{0, 200} {
			for _, vertices := range []bool{false, true} {
				images := 1 + (k+alpha/100)%3
				list := make([]*softecc.Problem, images)
				for i := range list {
					list[i] = softtest.Open(t, fmt.Sprintf("softecc/m=%d/lambda=90/alpha=%d/dir=3/of=%s/seed=%d",
						thresholds[k], alpha, image, i+1))
					list[i].Tau, list[i].Vertices = list[0].Tau, vertices
				}
				want := make([]softecc.Answer, images)
				for i, p := range list {
					var err error
					if want[i], err = softecc.Define(p); err != nil {
						t.Fatal(err)
					}
				}
				kind := binned.BatchKind{Align: 16}
				if k%3 == 2 {
					kind.Align = 4
				}
				for _, kind.InBins = range []bool{false, true} {
					got, err := ofBatch(t, open, list, kind)
					if err != nil {
						t.Errorf("%s: %v", image, err)
						continue
					}
					for i, p := range list {
						if d, _ := softecc.Policy().Compare(p, want[i], got[i]); d != nil {
							t.Errorf("%s, α %d, vertices %v, image %d of %d, align %d, in bins %v: %v",
								image, alpha, vertices, i, images, kind.Align, kind.InBins, d)
						}
					}
				}
			}
		}
	}
}

// counted returns an image and its shape as a batch counts it: for vertices negated, with a border
// of −∞.
func counted(p *softecc.Problem, values []float32) ([]float32, grid.Shape) {
	s := p.Shape()
	if !p.Vertices {
		return values, s
	}
	wide := grid.Shape{W: s.W + 2, H: s.H + 2, D: s.D}
	if s.D > 1 {
		wide.D += 2
	}
	x := slices.Repeat([]float32{float32(math.Inf(-1))}, int(wide.Voxels()))
	for i, v := range values {
		x[inside(s, wide, int64(i))] = -v
	}
	return x, wide
}

// inside returns the position of a voxel in an image with a border.
func inside(s, wide grid.Shape, i int64) int64 {
	z, y, x := s.Coordinates(i)
	return ((z+(wide.D-s.D)/2)*wide.H+y+(wide.H-s.H)/2)*wide.W + x + (wide.W-s.W)/2
}

// ofBatch returns the answers of a Batch to problems that differ only in their values and upstream
// gradients. Curves without derivatives must agree with theirs.
func ofBatch(t *testing.T, open resident.Opener, list []*softecc.Problem, kind binned.BatchKind) (
	answers []softecc.Answer, err error,
) {
	t.Helper()
	d, err := open("")
	if err != nil {
		return nil, err
	}
	p := list[0]
	_, s := counted(p, make([]float32, p.Shape().Voxels()))
	n, m := int64(len(list)), int64(len(p.Tau))
	axes := int32(s.Dim())
	kind.Shape, kind.Type, kind.Images, kind.Thresholds = s, grid.Float32, n, m
	kind.Axes, kind.Vertices, kind.Directed = axes, p.Vertices, p.Alpha != 0
	o, err := binned.OpenBatch(d, kind)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	st, err := d.NewStream("the caller's")
	if err != nil {
		return nil, err
	}
	defer st.Close()
	alloc := func(n int64) device.Buffer {
		b, err := d.Alloc("the caller's", n)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		if err := st.Fill(b, 0, n, 0x5a); err != nil {
			t.Fatal(err)
		}
		return b
	}
	put := func(list any) device.Buffer {
		data, err := binary.Append(nil, binary.LittleEndian, list)
		if err != nil {
			t.Fatal(err)
		}
		b := alloc(int64(len(data)))
		if err := st.Upload(b, 0, data); err != nil {
			t.Fatal(err)
		}
		return b
	}
	var x, g []float32
	for _, p := range list {
		values, err := p.Values()
		if err != nil {
			return nil, err
		}
		image, _ := counted(p, values)
		x = append(x, image...)
		for _, v := range p.G {
			g = append(g, float32(v))
		}
	}
	u, _ := p.U()
	memory := binned.BatchMemory{Image: put(x), Changes: alloc(o.Changes()), Laid: alloc(o.Laid())}
	if p.Alpha != 0 {
		memory.Along, memory.OfRow = alloc(4*s.W), alloc(4*s.H*s.D)
	}
	numbers := binned.Numbers{
		Tau: put(p.Tau), Lambda: put(float32(p.Lambda)), Alpha: put(p.Alpha),
		Direction: put([]float64{u[2], u[1], u[0]}[3-axes:]), Doubles: 1 | 4 | 8,
	}
	chi, derivatives, dx, moments := alloc(4*n*m), alloc(16*n*m), alloc(4*n*s.Voxels()), alloc(32*o.Blocks())
	if err := o.Lay(st, numbers, memory); err != nil {
		return nil, err
	}
	plain, work := alloc(4*n*m), alloc(max(1, o.Work(true)))
	if err := o.Forward(st, numbers, memory, work, plain, nil); err != nil {
		return nil, err
	}
	if err := o.Forward(st, numbers, memory, work, chi, derivatives); err != nil {
		return nil, err
	}
	if err := o.Backward(st, memory, put(g), dx, moments); err != nil {
		return nil, err
	}
	down := func(b device.Buffer, to any) {
		data := make([]byte, b.Bytes())
		if err := st.Download(data, b, 0); err != nil {
			t.Fatal(err)
		}
		if err := binary.Read(bytes.NewReader(data), binary.LittleEndian, to); err != nil {
			t.Fatal(err)
		}
	}
	alone, curves, gradients := make([]float32, n*m), make([]float32, n*m), make([]float32, n*s.Voxels())
	by, of := make([]float64, 2*n*m), make([]float64, 4*o.Blocks())
	down(plain, alone)
	down(chi, curves)
	terms := float64(s.Voxels()) / (1 << 10) // may cancel, and are rounded in another order
	for i, v := range curves {
		if d := math.Abs(float64(alone[i] - v)); d > 1e-5*max(1, terms, math.Abs(float64(v))) {
			return nil, fmt.Errorf("χ %d without derivatives: %v, want %v", i, alone[i], v)
		}
	}
	down(derivatives, by)
	down(moments, of)
	down(dx, gradients)
	for i, p := range list {
		var a softecc.Answer
		for k := range p.Shape().Voxels() {
			a.DX = append(a.DX, gradients[int64(i)*s.Voxels()+inside(p.Shape(), s, k)])
		}
		for k := range m {
			at := int64(i)*m + k
			a.Chi, a.DTau = append(a.Chi, float64(curves[at])), append(a.DTau, p.G[k]*by[at])
			a.Lambda += p.G[k] * by[n*m+at]
		}
		var sum [4]float64
		each := int64(len(of)) / n
		for k, v := range of[int64(i)*each:][:each] {
			sum[k%4] += v
		}
		moment := [3]float64{}
		for axis, n := range []int64{s.W, s.H, s.D} {
			moment[axis] = sum[1+axis] + sum[0]*softecc.Place(0, n)
		}
		p.Direction(&a, moment)
		answers = append(answers, a)
	}
	return answers, nil
}

// Batches are evaluated directly up to a number of voxels per image, per multiprocessor, and up to 64 thresholds.
func TestBatchIsDirect(t *testing.T) {
	const sms = 20
	driver := devicetest.New(1, func(string) devicetest.Kernel {
		return func(device.Launch, func(uint64) ([]byte, error), []any) error { return errors.New("launched") }
	})
	driver.Multiprocessors(sms)
	d, err := ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		w, h, images, thresholds int64
		direct                   bool
	}{
		{256, 256, 1, 64, true}, {257, 256, 1, 64, false}, {256, 256, 1, 65, false}, {4096, 2, 10, 1, true},
		{4096, 2, 11, 1, false}, {64, 64, sms, 1, true}, {64, 65, sms, 1, false}, {64, 65, sms + 1, 1, true},
		{64, 64, 100 * sms, 1, true}, {64, 65, 100 * sms, 1, false},
	} {
		o, err := binned.OpenBatch(d, binned.BatchKind{
			Shape: grid.Shape{W: c.w, H: c.h, D: 1}, Type: grid.Float32, Images: c.images, Thresholds: c.thresholds,
			Axes: 2, Align: 4,
		})
		if err != nil {
			t.Fatal(err)
		}
		// Bins need working memory, and at most one block per multiprocessor for some images.
		if got := o.Work(false) == 0 || o.Blocks() > max(sms, c.images); got != c.direct {
			t.Errorf("%+v: direct: %v", c, got)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

// If an image is nearly constant, terms of χ cancel: their rounding errors stay within the documented bound.
func TestBatchNearlyConstantOnHost(t *testing.T) {
	testNearlyConstant(t, softtest.OnHost(t, "softecc_direct"), "64x64", "16x16x16")
}

func TestBatchNearlyConstantOnDevice(t *testing.T) {
	testNearlyConstant(t, ecctest.Device(t), "64x64", "256x256", "32x32x64")
}

func testNearlyConstant(t *testing.T, open resident.Opener, shapes ...string) {
	t.Helper()
	const bound = 6e-8
	for _, shape := range shapes {
		for _, lambda := range []float64{10, 100} {
			p := softtest.Open(t, "softecc/m=33/lambda=1/alpha=0/dir=3/of=noise/type=float32/levels=1024/"+
				"step=1e-9/seed=1/shape="+shape)
			p.Lambda = lambda
			g := 0.0 // G' of all voxels
			for j := range p.Tau {
				p.Tau[j] = float64(j)/33 - 0.43
				s := 1 / (1 + math.Exp(-lambda*p.Tau[j]))
				g += p.G[j] * lambda * s * (1 - s)
			}
			want, err := softecc.Define(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := ofBatch(t, open, []*softecc.Problem{p}, binned.BatchKind{Align: 4})
			if err != nil {
				t.Fatal(err)
			}
			worst, changes := 0.0, 0.0
			for j, v := range got[0].Chi {
				worst = max(worst, math.Abs(v-want.Chi[j]))
			}
			for _, v := range got[0].DX {
				changes += math.Abs(float64(v) / g)
			}
			t.Logf("%s, λ %v: %.2g, of Σ|c| = %.0f: %.2g", shape, lambda, worst, changes, worst/changes)
			if worst > bound*changes {
				t.Errorf("%s, λ %v: error %v, want at most %v", shape, lambda, worst, bound*changes)
			}
		}
	}
}

// χ is NaN if λ or a threshold exceeds float32 or is NaN.
func TestBatchIsNotANumberOnHost(t *testing.T) {
	open := onHost(t)
	for _, inBins := range []bool{false, true} {
		for _, wrong := range []func(p *softecc.Problem){
			func(p *softecc.Problem) { p.Lambda = 3e38 }, func(p *softecc.Problem) { p.Lambda = math.Inf(1) },
			func(p *softecc.Problem) { p.Tau[3] = 1e39 }, func(p *softecc.Problem) { p.Tau[0] = -1e39 },
			func(p *softecc.Problem) { p.Tau[2] = math.NaN() },
		} {
			p := softtest.Open(t, "softecc/m=5/lambda=90/alpha=0/dir=3/of=noise/shape=20x30/type=float32/seed=1")
			wrong(p)
			answers, err := ofBatch(t, open, []*softecc.Problem{p}, binned.BatchKind{Align: 4, InBins: inBins})
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(answers[0].Chi, func(v float64) bool { return !math.IsNaN(v) }) {
				t.Errorf("λ %v, τ %v, in bins %v: %v, want NaN", p.Lambda, p.Tau, inBins, answers[0].Chi)
			}
		}
	}
}

// A batch without an answer is rejected.
func TestBatchIsRefused(t *testing.T) {
	d, err := onHost(t)("")
	if err != nil {
		t.Fatal(err)
	}
	nine := grid.Shape{W: 3, H: 3, D: 1}
	for _, c := range []struct {
		kind binned.BatchKind
		want string
	}{
		{binned.BatchKind{Shape: nine, Type: grid.Float32, Images: 1}, "0 thresholds"},
		{binned.BatchKind{Shape: nine, Type: grid.Float32, Thresholds: 1}, "of 0 images"},
		{binned.BatchKind{Shape: nine, Type: grid.Float32, Thresholds: 1 << 16, Images: 1 << 16}, "at most"},
		{
			binned.BatchKind{Shape: grid.Shape{W: 1 << 30, H: 1, D: 1}, Type: grid.Float32, Thresholds: 1, Images: 1},
			"voxels per row",
		},
		{binned.BatchKind{Type: grid.Float32, Thresholds: 1, Images: 1}, "every axis"},
	} {
		if _, err := binned.OpenBatch(d, c.kind); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.kind, err, c.want)
		}
	}
}
