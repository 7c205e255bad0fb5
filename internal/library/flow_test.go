package library

import (
	"math/rand/v2"
	"strings"
	"testing"

	"eccbench/datasets/element"
	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// Flows of images in memory, whole and within labels, equal the plain loop bit by bit. At rest the
// residual is small enough.
func TestFlow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, shape := range [][]int64{{7}, {1, 1}, {9, 13}, {6, 5, 7}} {
		s, err := grid.ShapeOf(shape)
		if err != nil {
			t.Fatal(err)
		}
		voxels, labels := make([]float32, s.Voxels()), make([]float32, s.Voxels())
		for i := range voxels {
			voxels[i], labels[i] = rng.Float32(), float32(1+i/3%2)
		}
		for _, masked := range []bool{false, true} {
			for _, f := range []ask.FlowOptions{{Steps: 5, Mu: 0.1, Boundary: "replicate"}, {Steps: 4, Mu: 0.05, Boundary: "third"}, {Tol: 1e-4, Mu: 0.1, Boundary: "replicate"}} {
				r := request()
				r.Type, r.Shape, r.Flow = "float32", shape, &f
				var mask []byte
				if masked {
					if f.Tol > 0 || f.Boundary == "third" {
						continue
					}
					mask = grid.Bytes(labels)
				}
				answers, err := Answers(t.Context(), r, grid.Bytes(voxels), mask)
				if err != nil {
					t.Fatalf("%v, %+v: %v", shape, f, err)
				}
				a := answers[0]
				if a.Verdict != "VERIFIED" {
					t.Errorf("%v, %+v: %+v", shape, f, a)
				}
				out := grid.NewBuffer(4 * a.Rows)
				if err := a.Fill(out, nil); err != nil {
					t.Fatal(err)
				}
				if f.Tol > 0 {
					continue
				}
				image, err := element.Voxels(t.Context(), 1, s, "float32", grid.Bytes(voxels), 0)
				if err != nil {
					t.Fatal(err)
				}
				boundary := gvf.Replicate
				if f.Boundary == "third" {
					boundary = gvf.Third
				}
				p := gvf.NewProblem(image, float32(f.Mu), f.Steps, 0, boundary)
				if masked {
					if p, err = p.WithinParts(labels); err != nil {
						t.Fatal(err)
					}
				}
				want, err := gvf.Define(p, 1)
				if err != nil {
					t.Fatal(err)
				}
				got := gvf.Flow{}
				n := int(s.Voxels())
				for c := range want.V {
					got.V = append(got.V, grid.Values[float32](out)[c*n:][:n])
				}
				if d := gvf.Steps().Policy.Agree(p, want, got); d != nil {
					t.Errorf("%v, %+v, masked %v: %v", shape, f, masked, d)
				}
			}
		}
	}
	voxels := grid.Bytes(make([]float32, 6))
	for want, f := range map[string]ask.FlowOptions{
		"boundary periodic: want replicate or third": {Mu: 0.1, Boundary: "periodic"}, "tol 2": {Tol: 2, Mu: 0.1, Boundary: "third"},
		"steps -1": {Steps: -1, Mu: 0.1, Boundary: "third"}, "mu 0: want a number above 0": {Boundary: "third"}, "grow without bound": {Steps: 1, Mu: 1, Boundary: "third"},
	} {
		r := request()
		r.Type, r.Shape, r.Flow = "float32", []int64{2, 3}, &f
		if _, err := Answers(t.Context(), r, voxels, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", f, err, want)
		}
	}
	r := request()
	r.Type, r.Shape, r.Flow = "float32", []int64{2, 3}, &ask.FlowOptions{Steps: 1, Mu: 0.1, Boundary: "replicate"}
	if _, err := Answers(t.Context(), r, voxels, make([]byte, 6)); err == nil || !strings.Contains(err.Error(), "want float32 of") {
		t.Errorf("a mask of bytes: %v", err)
	}
	r.Betti = true
	if _, err := Answers(t.Context(), r, voxels, nil); err == nil || !strings.Contains(err.Error(), "leave them out") {
		t.Errorf("a flow and Betti numbers: %v", err)
	}
}

// A mask of an input equals a mask of the same voxels in memory.
func TestFlowOfInputWithin(t *testing.T) {
	r := request()
	r.Input, r.Shape, r.Type, r.Images = "ramp/shape=4x3/type=uint8", nil, "", 0
	r.Flow = &ask.FlowOptions{Steps: 2, Mu: 0.1, Boundary: "replicate"}
	mask := make([]float32, 12)
	for i := range mask {
		mask[i] = float32(i % 2)
	}
	answers, err := Answers(t.Context(), r, nil, grid.Bytes(mask))
	if err != nil {
		t.Fatal(err)
	}
	field := grid.NewBuffer(4 * answers[0].Rows)
	if err := answers[0].Fill(field, nil); err != nil {
		t.Fatal(err)
	}
	for i, v := range grid.Values[float32](field) {
		if i%2 == 0 && v != 0 {
			t.Errorf("where the mask is 0 the field is %v", v)
		}
	}
	if _, err := Answers(t.Context(), r, nil, make([]byte, 6)); err == nil || !strings.Contains(err.Error(), "want float32 of") {
		t.Errorf("a mask of 6 bytes: %v", err)
	}
	r.Flow = nil
	if _, err := Answers(t.Context(), r, nil, make([]byte, 12)); err == nil || !strings.Contains(err.Error(), "give the voxels in memory") {
		t.Errorf("the mask of a curve of an input: %v", err)
	}
}

// A volume of one slice has an axis z.
func TestOneSlice(t *testing.T) {
	for _, shape := range [][]int64{{1, 3, 2}, {1, 1, 6}} {
		r := request()
		r.Shape, r.Periodic = shape, []string{"z"}
		answers, err := Answers(t.Context(), r, []byte{1, 2, 3, 3, 2, 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a := answers[0]; a.Rows != 0 || len(a.Shape) != 3 || a.Verdict != "VERIFIED" {
			t.Errorf("%v closed along z, of which χ is 0: %+v", shape, a)
		}
	}
}
