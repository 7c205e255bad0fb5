package ondevice

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/ecc/ecctest"
)

// Matched features of pairs equal those of the judge of comparisons. A wrong one is noticed.
func TestMatching(t *testing.T) {
	d, err := ecctest.Modules(t, "", "betti_matching", "betti_labels")("")
	if err != nil {
		t.Fatal(err)
	}
	plans, c := Plans{Open: func(string) (device.Device, error) { return d, nil }}, newCaller(t, d)
	for construction, name := range []string{"T", "V"} {
		var images []byte
		var want []int64
		in, err := assess.Inputs().Open("assess/labels=1/shift=5/of=noise/shape=70x6x5/levels=64/type=uint8/seed=5")
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []*assess.Pair{in, in.Swapped()} {
			of := assess.BySearch(p)[0]
			want = append(want, of.In[construction].Components, of.In[construction].Holes, of.Pred+of.Truth-2*of.Both)
			for _, f := range p.Fields() {
				images = append(images, f.Data()...)
			}
		}
		plan, err := plans.Make(Request{Shape: []int64{5, 6, 70}, Type: "uint8", Matching: name})
		if err != nil {
			t.Fatal(err)
		}
		answers := c.put(t, make([]byte, 2*plan.answer))
		call := Call{
			Image: c.put(t, images).Address(), Answer: answers.Address(),
			Memory: c.put(t, make([]byte, 2*plan.Memory)).Address(), Stream: devicetest.Handle(c.Stream),
		}
		if err := plans.Add(plan.Number, 2, call); err != nil {
			t.Fatal(err)
		}
		data, got := make([]byte, answers.Bytes()), make([]int64, len(want))
		if err := c.Download(data, answers, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := binary.Decode(data, binary.LittleEndian, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if err := plans.Verify(plan.Number, 2, call); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for k := range int64(3) {
			wrong := slices.Clone(data)
			wrong[plan.answer+8*k] ^= 1
			if err := c.Upload(answers, 0, wrong); err != nil {
				t.Fatal(err)
			}
			err := plans.Verify(plan.Number, 2, call)
			if !errors.As(err, new(Wrong)) || !strings.HasPrefix(err.Error(), "the matched features of pair 1 are WRONG") {
				t.Errorf("%s, number %d wrong by 1: %v", name, k, err)
			}
		}
		if err := plans.Close(plan.Number); err != nil {
			t.Error(err)
		}
	}
	for _, r := range []Request{{Type: "uint8", Matching: "U"}, {Type: "int16", Matching: "T"}} {
		r.Shape = []int64{4, 4}
		if _, err := plans.Make(r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
}
