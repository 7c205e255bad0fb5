package gpu

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/gvf"
)

// Arrays in the caller's memory have the bits of the plain loop, whatever the output and scratch
// memory held before. On the host each has guards around it.
func TestArraysOnHost(t *testing.T) {
	testArrays(t, onHost(t, ""), slices.DeleteFunc(asked(), func(name string) bool {
		return problemOf(t, name).Steps > 5 && !slices.Contains(tiled, name)
	}))
}

func TestArraysOnDevice(t *testing.T) {
	testArrays(t, ecctest.Device(t), append(asked(), "gvf/steps=512/mu=80/boundary=0/of=noise/shape=512x512/type=uint8/seed=1"))
}

func testArrays(t *testing.T, open resident.Opener, names []string) {
	t.Helper()
	for k, name := range names {
		p := problemOf(t, name)
		if !p.StableAnyway() {
			continue
		}
		want, err := gvf.Define(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		dim := int64(p.Dim())
		kind := ArrayKind{Shape: p.Shape(), Type: p.Type(), Steps: p.Steps, Mu: p.Mu, Boundary: p.Boundary, Components: dim, Align: 16}
		switch {
		case p.Shape().H == 1 && dim == 2:
			kind.Components = 1
		case k%3 == 0:
			kind.Align = 4
		}
		got, err := flowOfArray(t, open, p, kind)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for c := range kind.Components {
			list := got[kind.Components-1-c]
			if !slices.EqualFunc(list, want.V[c], func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }) {
				t.Errorf("%s, component %d of %d, align %d: not the bits of the plain loop", name, c, kind.Components, kind.Align)
			}
		}
	}
}

// flowOfArray returns the second result of Arrays in the same memory.
func flowOfArray(t *testing.T, open resident.Opener, p *gvf.Problem, kind ArrayKind) ([][]float32, error) {
	t.Helper()
	d, err := open("")
	if err != nil {
		return nil, err
	}
	guest := d.(device.Guest)
	a, err := OpenArrays(guest, kind)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, err := d.NewStream("the caller's")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	alloc := func(bytes int64) device.Buffer {
		b, err := d.Alloc("the caller's", bytes)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { b.Close() })
		return b
	}
	f, err := grid.Load(p)
	if err != nil {
		return nil, err
	}
	first := int64(0) // where the field is
	if kind.Align < vector {
		first = kind.Align
	}
	image, field, work := alloc(int64(len(f.Data()))), alloc(first+a.Out()), alloc(a.Memory())
	n := p.Shape().Voxels()
	back, flow := make([]byte, len(f.Data())), make([]float32, n*kind.Components)
	for range 2 {
		for _, b := range []device.Buffer{image, field, work} {
			if err := s.Fill(b, 0, b.Bytes(), 0x5a); err != nil {
				return nil, err
			}
		}
		if err := s.Upload(image, 0, f.Data()); err != nil {
			return nil, err
		}
		if err := a.Enqueue(s, image, guest.LentBuffer("field", field.Address()+uint64(first), a.Out()), work); err != nil {
			return nil, err
		}
		if err := s.Download(grid.Bytes(flow), field, first); err != nil {
			return nil, err
		}
		if err := s.Download(back, image, 0); err != nil {
			return nil, err
		}
		if !slices.Equal(back, f.Data()) {
			return nil, fmt.Errorf("the image was written to")
		}
	}
	return slices.Collect(slices.Chunk(flow, int(n))), nil
}

// Steps that may grow are rejected without reading the image, and so are shapes that do not fit.
func TestArraysRefuse(t *testing.T) {
	open := onHost(t, "")
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		w, h, d int64
		mu      float32
		steps   int64
		want    string
	}{
		{8, 8, 1, 0.1875, 1, ""}, {8, 8, 1, 0.188, 1, "want μ of at most 0.1875"}, {8, 8, 1, 0.188, 0, ""},
		{8, 8, 8, 0.104, 1, ""}, {8, 8, 8, 0.105, 1, "want μ of at most 0.1042"}, {8, 8, 8, -1, 1, "above 0"},
		{1 << 29, 1, 1, 0.1, 1, "want at most"}, {8, 8, 1, 0.1, 1 << 32, "steps: want at most"},
	} {
		a, err := OpenArrays(d.(device.Guest), ArrayKind{Shape: grid.Shape{W: c.w, H: c.h, D: c.d}, Type: grid.Uint8, Steps: c.steps, Mu: c.mu, Components: 2, Align: 16})
		if err == nil {
			err = a.Close()
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
