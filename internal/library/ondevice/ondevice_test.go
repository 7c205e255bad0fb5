package ondevice

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/softecc"
)

// A caller owns a stream and memory of a device.
type caller struct {
	device.Device
	device.Stream
}

func newCaller(t *testing.T, d device.Device) caller {
	t.Helper()
	s, err := d.NewStream("the caller's")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return caller{d, s}
}

// put returns memory with the given bytes.
func (c caller) put(t *testing.T, data []byte) device.Buffer {
	t.Helper()
	b, err := c.Alloc("the caller's", int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := c.Upload(b, 0, data); err != nil {
		t.Fatal(err)
	}
	return b
}

// answered returns a plan's answers for images of one kind, which are consecutive in one buffer.
func (c caller) answered(t *testing.T, plans *Plans, plan *Plan, fields []*grid.Field) []byte {
	t.Helper()
	var images []byte
	for _, f := range fields {
		images = append(images, f.Data()...)
	}
	junk := func(bytes int64) device.Buffer { return c.put(t, slices.Repeat([]byte{0x5a}, int(bytes))) }
	n := int64(len(fields))
	image, answer, memory := c.put(t, images), junk(plan.answer*n), junk(plan.Memory*min(plan.Most, n))
	call := Call{Image: image.Address(), Answer: answer.Address(), Memory: memory.Address(), Stream: devicetest.Handle(c.Stream)}
	if err := plans.Add(plan.Number, n, call); err != nil {
		t.Fatal(err)
	}
	got, back := make([]byte, answer.Bytes()), make([]byte, len(images))
	if err := c.Download(got, answer, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Download(back, image, 0); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back, images) {
		t.Error("the images were written to")
	}
	if err := plans.Close(plan.Number); err != nil {
		t.Error(err)
	}
	if err := plans.Add(plan.Number, 1, call); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("a plan that was closed: %v", err)
	}
	return got
}

// shapeOf returns the shape of a field as a caller passes it.
func shapeOf(f *grid.Field) []int64 {
	s := f.Shape()
	if s.Dim() == 3 {
		return []int64{s.D, s.H, s.W}
	}
	return []int64{s.H, s.W}
}

// chiAt computes χ at some values by enumeration of all cells.
func chiAt(f *grid.Field, at []float64) []int64 {
	chi := make([]int64, len(at))
	for _, c := range ecctest.EnumerateIn(f, ecc.Convention{}) {
		for i, v := range at {
			if float64(f.Ladder().Value(c.Level)) <= v {
				chi[i] += c.Change
			}
		}
	}
	return chi
}

func TestCount(t *testing.T) {
	open := ecctest.Modules(t, "", "ecc_extrema_array_uint8", "ecc_extrema_array_int16", "ecc_extrema_array_float32")
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	bytes := make([]float64, 256)
	for i := range bytes {
		bytes[i] = float64(i)
	}
	for _, c := range []struct {
		images   []string // of one shape and type
		at, want []float64
		onLevels bool
	}{
		{[]string{"noise/shape=16x8x4/type=uint8/seed=1", "noise/shape=16x8x4/type=uint8/seed=2"}, nil, bytes, false},
		{[]string{"noise/shape=16x8x4/type=uint8/seed=3"}, bytes, bytes, false},
		{[]string{"noise/shape=33x5/type=uint8/seed=4", "noise/shape=33x5/type=uint8/seed=5"}, []float64{3, 200}, []float64{3, 200}, false},
		{[]string{"noise/shape=16x8/type=int16/seed=6"}, []float64{-20000, 0, 32767}, []float64{-20000, 0, 32767}, false},
		{[]string{"noise/shape=16x8/type=int16/seed=10"}, []float64{-20000, 0}, []float64{-20000, 0}, false},
		{[]string{"noise/shape=16x8x4/type=float32/levels=64/seed=11"}, []float64{0.125, 0.25, 0.75}, []float64{0.125, 0.25, 0.75}, false},
		{[]string{"noise/shape=16x8x4/type=float32/levels=4/seed=7"}, []float64{0, 0.25, 0.5, 0.75}, []float64{0, 0.25, 0.5, 0.75}, true},
		{[]string{"noise/shape=16x8x4/type=float32/levels=64/seed=8"}, []float64{0.125, 0.75}, []float64{0.125, 0.75}, false},
		{[]string{"noise/shape=16x8x4/type=float32/levels=64/seed=9"}, []float64{-3, 0.125, 0.5, 7}, []float64{-3, 0.125, 0.5, 7}, false},
	} {
		asked := ""
		plans := Plans{Open: func(which string) (device.Device, error) { asked = which; return d, nil }}
		var fields []*grid.Field
		for _, name := range c.images {
			_, f := ecctest.Open(t, name)
			fields = append(fields, f)
		}
		plan, err := plans.Make(Request{Device: 3, Shape: shapeOf(fields[0]), Type: fields[0].Type().String(), At: c.at, Align: fields[0].Type().Size(), OnLevels: c.onLevels})
		if err != nil {
			t.Errorf("%v at %v: %v", c.images, c.at, err)
			continue
		}
		if asked != "3" || plan.Rows != int64(len(c.want)) {
			t.Errorf("%v: %d rows on device %s, want %d on 3", c.images, plan.Rows, asked, len(c.want))
		}
		data := newCaller(t, d).answered(t, &plans, plan, fields)
		for i, f := range fields {
			got := make([]int64, len(c.want))
			if _, err := binary.Decode(data[8*i*len(c.want):], binary.LittleEndian, got); err != nil {
				t.Fatal(err)
			}
			if want := chiAt(f, c.want); !slices.Equal(got, want) {
				t.Errorf("%s at %v: χ is %v, want %v", c.images[i], c.at, got, want)
			}
		}
	}
}

// Curves are compared with fingerprints, also for few values.
func TestVerify(t *testing.T) {
	d, err := ecctest.Modules(t, "", "ecc_extrema_array_uint8", "ecc_extrema_array_float32", "fingerprint_uint8", "fingerprint_float32")("")
	if err != nil {
		t.Fatal(err)
	}
	plans, c := Plans{Open: func(string) (device.Device, error) { return d, nil }}, newCaller(t, d)
	for _, q := range []struct {
		images string
		at     []float64
		on     bool
	}{
		{"noise/shape=16x8x4/type=uint8/seed=%d", nil, false}, {"noise/shape=33x5/type=uint8/seed=%d", []float64{3, 200}, false},
		{"noise/shape=16x8x4/type=float32/levels=64/seed=%d", []float64{0.125, 0.25, 0.75}, false}, {"noise/shape=16x8x4/type=float32/levels=4/seed=%d", []float64{0, 0.25, 0.5, 0.75}, true},
		{"between/shape=33x34x5/levels=300/seed=%d", []float64{-3, 0.125, 0.5, 7}, false},
	} {
		var images []byte
		var f *grid.Field
		for seed := range 2 {
			_, f = ecctest.Open(t, fmt.Sprintf(q.images, seed))
			images = append(images, f.Data()...)
		}
		plan, err := plans.Make(Request{Shape: shapeOf(f), Type: f.Type().String(), At: q.at, Align: f.Type().Size(), OnLevels: q.on})
		if err != nil {
			t.Fatal(err)
		}
		memory, curves := c.put(t, make([]byte, 2*plan.Memory)), c.put(t, make([]byte, 2*plan.answer))
		call := Call{
			Image: c.put(t, images).Address(), Answer: curves.Address(), Memory: memory.Address(),
			Stream: devicetest.Handle(c.Stream),
		}
		if err := plans.Add(plan.Number, 2, call); err != nil {
			t.Fatal(err)
		}
		if err := plans.Verify(plan.Number, 2, call); err != nil {
			t.Errorf("%s at %v: %v", q.images, q.at, err)
		}
		data := make([]byte, curves.Bytes())
		if err := c.Download(data, curves, 0); err != nil {
			t.Fatal(err)
		}
		data[plan.answer+8] ^= 1 // of the second image
		if err := c.Upload(curves, 0, data); err != nil {
			t.Fatal(err)
		}
		if err := plans.Verify(plan.Number, 2, call); !errors.As(err, new(Wrong)) || !strings.Contains(err.Error(), "image 1 ") {
			t.Errorf("%s at %v: a curve that is wrong by 1: %v", q.images, q.at, err)
		}
		if err := plans.Close(plan.Number); err != nil {
			t.Error(err)
		}
	}
}

// Fields have the bits of the definition, the component along the slowest axis first.
func TestFlow(t *testing.T) {
	d, err := ecctest.Modules(t, "", "gvf_start", "gvf_blocked")("")
	if err != nil {
		t.Fatal(err)
	}
	plans := Plans{Open: func(string) (device.Device, error) { return d, nil }}
	for _, c := range []struct {
		images []string // of one shape and type
		shape  []int64
		flow   Flow
		rows   int64
	}{
		{[]string{"noise/shape=20x9/type=uint8/seed=1", "noise/shape=20x9/type=uint8/seed=2"}, []int64{9, 20}, Flow{Steps: 5, Mu: 0.1, Boundary: "replicate", Align: 16}, 2},
		{[]string{"noise/shape=13x7x5/type=int16/seed=3"}, []int64{5, 7, 13}, Flow{Steps: 6, Mu: 0.08, Boundary: "third", Align: 4}, 3},
		{[]string{"noise/shape=33x1/type=uint8/seed=4", "noise/shape=33x1/type=uint8/seed=5"}, []int64{33}, Flow{Steps: 3, Mu: 0.05, Boundary: "replicate", Align: 16}, 1},
		{[]string{"noise/shape=20x9/type=float32/levels=99/seed=6"}, []int64{1, 9, 20}, Flow{Steps: 1, Mu: 0.1, Boundary: "replicate", Align: 16}, 2},
		{[]string{"noise/shape=9x6x4/type=uint16/seed=7"}, []int64{4, 6, 9}, Flow{Mu: 0.1, Boundary: "replicate", Align: 16}, 3},
	} {
		var fields []*grid.Field
		for _, name := range c.images {
			_, f := ecctest.Open(t, name)
			fields = append(fields, f)
		}
		plan, err := plans.Make(Request{Shape: c.shape, Type: fields[0].Type().String(), Flow: &c.flow})
		if err != nil {
			t.Errorf("%v: %v", c.images, err)
			continue
		}
		if plan.Rows != c.rows {
			t.Errorf("%v: %d components, want %d", c.images, plan.Rows, c.rows)
		}
		data := newCaller(t, d).answered(t, &plans, plan, fields)
		for i, f := range fields {
			want, err := gvf.Define(gvf.NewProblem(f, float32(c.flow.Mu), c.flow.Steps, 0, gvf.Boundary(slices.Index(gvf.Boundaries(), c.flow.Boundary))), 0)
			if err != nil {
				t.Fatal(err)
			}
			n := int(f.Shape().Voxels())
			got := grid.Values[float32](data[4*i*n*int(c.rows):])
			for k := range int(c.rows) {
				for v := range n {
					if g, w := got[k*n+v], want.V[int(c.rows)-1-k][v]; math.Float32bits(g) != math.Float32bits(w) {
						t.Fatalf("%s, axis %d, voxel %d: %v, want %v", c.images[i], k, v, g, w)
					}
				}
			}
		}
	}
}

// Soft curves of consecutive images equal the definition's answers, with an upstream gradient for
// each.
func TestSoft(t *testing.T) {
	d, err := ecctest.Modules(t, "", "softecc_direct", "softecc_float32")("")
	if err != nil {
		t.Fatal(err)
	}
	plans := Plans{Open: func(string) (device.Device, error) { return d, nil }}
	c := newCaller(t, d)
	var list []*softecc.Problem
	var x []byte
	for seed := range 3 {
		p, err := softecc.Inputs().Open(fmt.Sprintf("softecc/m=5/lambda=50/alpha=0/dir=%d/of=noise/shape=21x9x4/type=float32/levels=100/seed=%d", seed, seed))
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(p)
		if err != nil {
			t.Fatal(err)
		}
		list, x = append(list, p), append(x, f.Data()...)
	}
	const m, voxels = 5, 21 * 9 * 4
	g := []float32{}
	for _, p := range list {
		for _, v := range p.G {
			g = append(g, float32(v))
		}
	}
	plan, err := plans.Make(Request{
		Shape: []int64{4, 9, 21}, Type: "float32", Align: 4, Soft: &Soft{Images: 3, Thresholds: m, Doubles: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	put := func(numbers any) uint64 {
		data, err := binary.Append(nil, binary.LittleEndian, numbers)
		if err != nil {
			t.Fatal(err)
		}
		return c.put(t, data).Address()
	}
	junk := func(bytes int64) device.Buffer { return c.put(t, slices.Repeat([]byte{0x5a}, int(bytes))) }
	curves, derivatives, dx := junk(4*3*m), junk(2*8*3*m), junk(3*4*voxels)
	call := SoftCall{
		Image: put(x), Kept: junk(plan.Kept).Address(), Tau: put(list[0].Tau), Lambda: put(float32(list[0].Lambda)),
		Work: junk(plan.Memory).Address(), Curves: curves.Address(), Derivatives: derivatives.Address(),
		Upstream: put(g), Gradient: dx.Address(), Moments: junk(32 * plan.Rows).Address(),
	}
	if err := plans.AddSoft(plan.Number, false, call, devicetest.Handle(c.Stream)); err != nil {
		t.Fatal(err)
	}
	if err := plans.AddSoft(plan.Number, true, call, devicetest.Handle(c.Stream)); err != nil {
		t.Fatal(err)
	}
	data, by, gradient := make([]byte, curves.Bytes()), make([]byte, derivatives.Bytes()), make([]byte, dx.Bytes())
	err = errors.Join(c.Download(data, curves, 0), c.Download(by, derivatives, 0), c.Download(gradient, dx, 0))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		want, err := softecc.Define(p)
		if err != nil {
			t.Fatal(err)
		}
		chi, slope := grid.Values[float32](data[4*m*i:]), grid.Values[float64](by[8*m*i:])
		for j := range m {
			if math.Abs(float64(chi[j])-want.Chi[j]) > 1e-5*100 || math.Abs(p.G[j]*slope[j]-want.DTau[j]) > 1e-5*1000 {
				t.Errorf("image %d, threshold %d: %v and %v, want %v and %v",
					i, j, chi[j], p.G[j]*slope[j], want.Chi[j], want.DTau[j])
			}
		}
		for k, v := range grid.Values[float32](gradient[4*voxels*i:][:4*voxels]) {
			if math.Abs(float64(v-want.DX[k])) > 1e-3 {
				t.Fatalf("image %d, voxel %d: %v, want %v", i, k, v, want.DX[k])
			}
		}
	}
	if err := plans.Add(plan.Number, 1, Call{}); err == nil {
		t.Error("soft curves were taken for others")
	}
	if err := plans.Close(plan.Number); err != nil {
		t.Error(err)
	}
	if err := plans.AddSoft(plan.Number, true, call, 1); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("a plan that was closed: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	plans := Plans{Open: func(string) (device.Device, error) { t.Error("a device was opened"); return nil, nil }}
	like := func(change func(*Request)) Request {
		r := Request{Shape: []int64{4, 4}, Type: "uint8", Align: 1}
		change(&r)
		return r
	}
	for want, r := range map[string]Request{
		"0 axes":                      like(func(r *Request) { r.Shape = nil }),
		"4 axes":                      like(func(r *Request) { r.Shape = []int64{1, 1, 1, 1} }),
		"addresses that are":          like(func(r *Request) { r.Align = 0 }),
		"at is missing":               like(func(r *Request) { r.Type = "float32" }),
		"at is empty":                 like(func(r *Request) { r.At = []float64{} }),
		"at 0.5: want a value of":     like(func(r *Request) { r.At = []float64{0.5} }),
		"at 256: want a value of":     like(func(r *Request) { r.At = []float64{256} }),
		"at 0.1: want a finite":       like(func(r *Request) { r.Type, r.At = "float32", []float64{0.1} }),
		`boundary "mirror": want one`: like(func(r *Request) { r.Flow = &Flow{Mu: 0.1, Boundary: "mirror", Align: 4} }),
		"soft curves of uint8":        like(func(r *Request) { r.Soft = &Soft{Images: 1, Thresholds: 1} }),
		"fields at addresses that":    like(func(r *Request) { r.Flow = &Flow{Mu: 0.1, Boundary: "third", Align: 2} }),
	} {
		if _, err := plans.Make(r); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}
