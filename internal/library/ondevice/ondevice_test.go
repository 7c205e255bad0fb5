package ondevice

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// guest is a stand-in for a device that lends what was allocated there, by made-up addresses.
type guest struct {
	device.Device
	stream  device.Stream
	buffers map[uint64]device.Buffer
}

func (g *guest) LentStream(_ string, handle uint64) device.Stream {
	if handle != 77 {
		panic(fmt.Sprintf("stream %d: nobody made it", handle))
	}
	return g.stream
}

func (g *guest) LentBuffer(_ string, address uint64, bytes int64) device.Buffer {
	b := g.buffers[address]
	if b == nil || b.Bytes() != bytes {
		panic(fmt.Sprintf("%d bytes at %d: nobody allocated them", bytes, address))
	}
	return b
}

func (g *guest) put(t *testing.T, address uint64, data []byte) {
	t.Helper()
	b, err := g.Alloc("the caller's", int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	if err := g.stream.Upload(b, 0, data); err != nil {
		t.Fatal(err)
	}
	g.buffers[address] = b
}

// chiAt is χ at some values by enumeration of all cells.
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
		images   []string // alike
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
		s, err := d.NewStream("the caller's")
		if err != nil {
			t.Fatal(err)
		}
		g := &guest{d, s, map[uint64]device.Buffer{}}
		asked := ""
		plans := Plans{Open: func(which string) (device.Device, error) { asked = which; return g, nil }}
		var fields []*grid.Field
		for _, name := range c.images {
			_, f := ecctest.Open(t, name)
			fields = append(fields, f)
		}
		shape := []int64{fields[0].Shape().H, fields[0].Shape().W}
		if fields[0].Shape().Dim() == 3 {
			shape = append([]int64{fields[0].Shape().D}, shape...)
		}
		plan, err := plans.Make(Request{Device: 3, Shape: shape, Type: fields[0].Type().String(), At: c.at, Align: fields[0].Type().Size(), OnLevels: c.onLevels})
		if err != nil {
			t.Errorf("%v at %v: %v", c.images, c.at, err)
			continue
		}
		if asked != "3" || plan.Rows != int64(len(c.want)) {
			t.Errorf("%v: %d rows on device %s, want %d on 3", c.images, plan.Rows, asked, len(c.want))
		}
		call := Call{Image: 1 << 20, Chi: 2 << 20, Memory: 3 << 20, Stream: 77}
		for i, f := range fields {
			g.put(t, call.Image+uint64(i*len(f.Data())), f.Data())
			g.put(t, call.Chi+uint64(8*i*len(c.want)), slices.Repeat([]byte{0x5a}, 8*len(c.want)))
		}
		g.put(t, call.Memory, slices.Repeat([]byte{0x5a}, int(plan.Memory)))
		if err := plans.Count(plan.Number, int64(len(fields)), call); err != nil {
			t.Errorf("%v at %v: %v", c.images, c.at, err)
			continue
		}
		for i, f := range fields {
			got, data := make([]int64, len(c.want)), make([]byte, 8*len(c.want))
			if err := s.Download(data, g.buffers[call.Chi+uint64(8*i*len(c.want))], 0); err != nil {
				t.Fatal(err)
			}
			if _, err := binary.Decode(data, binary.LittleEndian, got); err != nil {
				t.Fatal(err)
			}
			if want := chiAt(f, c.want); !slices.Equal(got, want) {
				t.Errorf("%s at %v: χ is %v, want %v", c.images[i], c.at, got, want)
			}
		}
		if err := plans.Close(plan.Number); err != nil {
			t.Error(err)
		}
		if err := plans.Count(plan.Number, 1, call); err == nil || !strings.Contains(err.Error(), "there is none") {
			t.Errorf("a plan that was closed: %v", err)
		}
		s.Close()
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
		"0 axes":                     like(func(r *Request) { r.Shape = nil }),
		"4 axes":                     like(func(r *Request) { r.Shape = []int64{1, 1, 1, 1} }),
		"addresses that are":         like(func(r *Request) { r.Align = 0 }),
		"at is missing":              like(func(r *Request) { r.Type = "float32" }),
		"at is empty":                like(func(r *Request) { r.At = []float64{} }),
		"at 0.5: is no value of":     like(func(r *Request) { r.At = []float64{0.5} }),
		"at 256: is no value of":     like(func(r *Request) { r.At = []float64{256} }),
		"at 0.1: is no finite value": like(func(r *Request) { r.Type, r.At = "float32", []float64{0.1} }),
	} {
		if _, err := plans.Make(r); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
}
