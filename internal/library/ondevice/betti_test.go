package ondevice

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/betti/labels"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc/ecctest"
)

// Numbers at each value, on their own and together, equal the numbers of a core. A wrong one is noticed.
func TestBetti(t *testing.T) {
	d, err := ecctest.Modules(t, "", "betti_duality", "betti_curves")("")
	if err != nil {
		t.Fatal(err)
	}
	plans, c := Plans{Open: func(string) (device.Device, error) { return d, nil }}, newCaller(t, d)
	for _, q := range []struct {
		images []string
		at     []float64
		of     Betti
	}{
		{
			[]string{"noise/shape=13x7x5/type=uint8/seed=1", "noise/shape=13x7x5/type=uint8/seed=2"},
			[]float64{200, -1, 90}, Betti{},
		},
		{[]string{"noise/shape=16x8x4/type=uint8/seed=3"}, []float64{100}, Betti{Above: true}},
		{[]string{"noise/shape=13x7x5/type=uint8/seed=1", "noise/shape=13x7x5/type=uint8/seed=2"}, nil, Betti{Every: true}},
		{[]string{"noise/shape=16x8x4/type=float32/levels=64/seed=11"}, []float64{0.125, 0.25, 0.75}, Betti{Every: true}},
		{
			[]string{"noise/shape=13x7/type=int16/seed=2", "noise/shape=13x7/type=int16/seed=3"},
			[]float64{9000, -5000, 9000, 3}, Betti{Above: true},
		},
		{[]string{"noise/shape=13x7/type=uint16/seed=2"}, []float64{9000, 30000}, Betti{Above: true, Every: true}},
	} {
		var fields []*grid.Field
		var images []byte
		for _, name := range q.images {
			_, f := ecctest.Open(t, name)
			fields, images = append(fields, f), append(images, f.Data()...)
		}
		plan, err := plans.Make(Request{
			Shape: shapeOf(fields[0]), Type: fields[0].Type().String(), At: q.at, Align: fields[0].Type().Size(), Betti: &q.of,
		})
		if err != nil {
			t.Fatal(err)
		}
		at := q.at
		for v := 0.0; q.at == nil && v < 256; v++ {
			at = append(at, v)
		}
		if q.of.Above && q.of.Every {
			slices.Reverse(at)
		}
		var want []int64
		for _, f := range fields {
			for _, v := range at {
				n, err := bench.Answer(labels.Implementation{}, set(t, f, float32(v), q.of.Above), bench.Conditions{})
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, n.B0, n.B1, n.B2)
			}
		}
		n := int64(len(fields))
		memory, answers := c.put(t, make([]byte, n*plan.Memory)), c.put(t, make([]byte, n*plan.answer))
		call := Call{
			Image: c.put(t, images).Address(), Answer: answers.Address(), Memory: memory.Address(),
			Stream: devicetest.Handle(c.Stream),
		}
		if err := plans.Add(plan.Number, n, call); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, answers.Bytes())
		if err := c.Download(data, answers, 0); err != nil {
			t.Fatal(err)
		}
		got := make([]int64, len(data)/8)
		if _, err := binary.Decode(data, binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v at %v, %+v: %v, want %v", q.images, q.at, q.of, got, want)
		}
		if err := plans.Verify(plan.Number, n, call); err != nil {
			t.Errorf("%v at %v: %v", q.images, q.at, err)
		}
		data[len(data)-16] ^= 1 // b1 of the last set
		if err := c.Upload(answers, 0, data); err != nil {
			t.Fatal(err)
		}
		if err := plans.Verify(plan.Number, n, call); !errors.As(err, new(Wrong)) || !strings.Contains(err.Error(), "WRONG") {
			t.Errorf("%v at %v, wrong by 1: %v", q.images, q.at, err)
		}
		if err := plans.Close(plan.Number); err != nil {
			t.Error(err)
		}
	}
	for _, r := range []Request{
		{Betti: &Betti{}}, {Betti: &Betti{Above: true, Every: true}}, {At: []float64{2, 1}, Betti: &Betti{Every: true}},
	} {
		r.Shape, r.Type, r.Align = []int64{4, 4}, "uint8", 16
		if _, err := plans.Make(r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
}

// set returns the voxels up to a value, or those above it.
func set(t *testing.T, f *grid.Field, v float32, above bool) *betti.Image {
	t.Helper()
	outside := grid.NewBuffer(f.Shape().Voxels()) // 0 inside, 1 outside
	if err := (&betti.Image{Source: f, Threshold: v}).Binary().ReadSlab(outside, 0, f.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	for i := range outside {
		if above {
			outside[i] ^= 1
		}
	}
	s, err := grid.Trusted(f.Shape(), grid.Uint8, outside, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return &betti.Image{Source: s}
}
