package binned_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"eccbench/impls/softecc/binned"
	"eccbench/internal/device"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/softecc"
	"eccbench/internal/workloads/softecc/softtest"
)

// Images in memory of others have the definition's answers, with bins that are laid by whoever calls,
// whatever was in the memory before.
func TestArraysOnHost(t *testing.T) { testArrays(t, onHost(t)) }

func TestArraysOnDevice(t *testing.T) { testArrays(t, ecctest.Device(t)) }

func testArrays(t *testing.T, open resident.Opener) {
	t.Helper()
	for k, image := range []string{
		"noise/shape=133x70x3/type=float32/levels=1024/seed=1", "noise/shape=5x33x7/type=float32/levels=1024/seed=4", "noise/shape=300x37/type=float32/levels=64/seed=3",
		"noise/shape=1x1/type=float32/levels=4/seed=5", "noise/shape=64x9/type=float32/levels=1000/seed=2", "between/shape=32x34x5/levels=300/seed=5", "noise/shape=41x1/type=float32/levels=64/seed=6",
	} {
		for _, alpha := range []int{0, 200} {
			name := fmt.Sprintf("softecc/m=5/lambda=90/alpha=%d/dir=3/of=%s", alpha, image)
			p := softtest.Open(t, name)
			want, err := softecc.Define(p)
			if err != nil {
				t.Fatal(err)
			}
			align := int64(16)
			if k%3 == 2 {
				align = 4
			}
			got, err := softOfArray(t, open, p, align)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
				t.Errorf("%s, align %d: %v", name, align, d)
			}
		}
	}
}

// softOfArray is what Arrays finds, in two calls.
func softOfArray(t *testing.T, open resident.Opener, p *softecc.Problem, align int64) (a softecc.Answer, err error) {
	t.Helper()
	d, err := open("")
	if err != nil {
		return a, err
	}
	const bins = 5000
	s, m := p.Shape(), len(p.Tau)
	o, err := binned.OpenArrays(d, binned.ArrayKind{Shape: s, Thresholds: int64(m), Bins: bins, Align: align})
	if err != nil {
		return a, err
	}
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	st, err := d.NewStream("the caller's")
	if err != nil {
		return a, err
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
	y, err := p.Y()
	if err != nil {
		return a, err
	}
	x, err := p.Values()
	if err != nil {
		return a, err
	}
	const reach = 40 // in units of 1/λ: farther from all thresholds a sigmoid is 0 or 1
	seen := reach / p.Lambda
	lo, hi := max(float64(slices.Min(y)), slices.Min(p.Tau)-seen), min(float64(slices.Max(y)), slices.Max(p.Tau)+seen)
	width := max(hi-lo, 1e-3) / (bins - 3)
	over := []float64{lo - width, 1 / width, width, p.Lambda}
	middles, ones := make([]float64, bins), slices.Repeat([]float64{1}, m)
	for k := range middles {
		middles[k] = over[0] + float64(k)*width
	}
	tilt, rows := p.Tilt(), make([]float32, s.H*s.D)
	for r := range rows {
		rows[r] = tilt.Row(int64(r)%s.H, int64(r)/s.H)
	}
	shared := binned.ArrayMemory{Image: put(x), Over: put(over), Middles: put(middles), Along: put(tilt.X), OfRow: put(rows), Tau: put(p.Tau), Changes: alloc(o.Changes())}
	first, second := shared, shared
	first.G, first.Work, first.Curve = put(ones), alloc(o.Work()), alloc(int64(24*m))
	if err := o.Forward(st, first); err != nil {
		return a, err
	}
	second.G, second.Work, second.DX, second.Moments = put(p.G), alloc(o.Work()), alloc(4*s.Voxels()), alloc(32*o.Blocks())
	if err := o.Backward(st, second); err != nil {
		return a, err
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
	curve, moments := make([]float64, 3*m), make([]float64, 4*o.Blocks())
	a.DX = make([]float32, s.Voxels())
	down(first.Curve, curve)
	down(second.Moments, moments)
	down(second.DX, a.DX)
	for k := range m {
		a.Chi, a.DTau = append(a.Chi, curve[3*k]), append(a.DTau, p.G[k]*curve[3*k+1])
		a.Lambda += p.G[k] * curve[3*k+2]
	}
	var sum [4]float64
	for i, v := range moments {
		sum[i%4] += v
	}
	moment := [3]float64{}
	for i, n := range []int64{s.W, s.H, s.D} {
		moment[i] = sum[1+i] + sum[0]*softecc.Place(0, n)
	}
	p.Direction(&a, moment)
	return a, nil
}
