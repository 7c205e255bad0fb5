package library

import (
	"math"
	"strings"
	"testing"

	"eccbench/internal/ask"
	"eccbench/internal/grid"
)

// Three voxels are a path, with eigenvalues 0, 1 and 2; two equal patches have 0 and 2. Larger
// graphs are searched for a missing pair.
func TestEigenmap(t *testing.T) {
	whole := func(q ask.EigenmapOptions, shape []int64, voxels []byte) (Answer, []float64) {
		r := request()
		r.Type, r.Shape, r.Eigenmap = "uint8", shape, &q
		answers, err := Answers(t.Context(), r, voxels, nil)
		if err != nil {
			t.Fatalf("%v, %+v: %v", shape, q, err)
		}
		a := answers[0]
		out := grid.NewBuffer(8 * a.Rows)
		if err := a.Fill(out, nil); err != nil || a.Levels != "<f8" {
			t.Fatalf("%s, %v", a.Levels, err)
		}
		return a, grid.Values[float64](out)
	}
	hold := func(got []float64, want ...float64) {
		t.Helper()
		for i, v := range want {
			if math.Abs(got[i]-v) > 1e-9 {
				t.Errorf("%v, want %v", got, want)
				break
			}
		}
	}
	ofGrid := ask.EigenmapOptions{Graph: "grid", Pairs: 3, Tol: 1e-9, Sigma: 0.1, Floor: 0.001, Radius: 1}
	a, got := whole(ofGrid, []int64{3}, []byte{1, 2, 3})
	if a.Rows != 3+3+9 || a.Implementation != "multigrid" || !strings.HasPrefix(a.Witness, "nothing missed, by the inertia") {
		t.Errorf("%d rows by %s, %s", a.Rows, a.Implementation, a.Witness)
	}
	hold(got, 0, 1, 2)
	hold(got[6:], 0.5, math.Sqrt(0.5), 0.5)
	ofGrid.Radius, ofGrid.Floor, ofGrid.Sigma = 2, 1e9, 1
	if _, got := whole(ofGrid, []int64{3}, []byte{1, 2, 3}); math.Abs(got[1]-1.5) > 1e-6 {
		t.Errorf("within 2: %v", got)
	}
	ofPatches := ask.EigenmapOptions{Graph: "patch", Pairs: 2, Tol: 1e-9, Alpha: 40, Beta: 5, Side: 2}
	a, got = whole(ofPatches, []int64{2, 4}, make([]byte, 8))
	if a.Rows != 2+2+4 || a.Implementation != "windowed" {
		t.Errorf("%d rows by %s", a.Rows, a.Implementation)
	}
	hold(got, 0, 2, 0, 0, math.Sqrt(0.5), math.Sqrt(0.5))
	// uint8 values are grey values, also of an image with fewer voxels than grey values. Of three nodes with the
	// weights w and degrees d, the eigenvalues are 0 and two with the sum 3 and the product 3 − Σ w²/(d d).
	three := ask.EigenmapOptions{Graph: "patch", Pairs: 3, Tol: 1e-9, Alpha: 40, Beta: 1, Side: 1}
	weight := func(grey, place float64) float64 { return math.Exp(-grey*grey/1600 - place*place/2) }
	u, v, w := weight(10, 1), weight(30, 1), weight(40, 2)
	product := 3 - u*u/(u+w)/(u+v) - v*v/(u+v)/(v+w) - w*w/(u+w)/(v+w)
	_, got = whole(three, []int64{3}, []byte{10, 20, 50})
	hold([]float64{got[0], got[1] + got[2], got[1] * got[2]}, 0, 3, product)
	patches := ask.EigenmapOptions{Graph: "patch", Pairs: 2, Tol: 1e-6, Alpha: 40, Beta: 1, Side: 1}
	if a, _ := whole(patches, []int64{40, 46}, make([]byte, 40*46)); !strings.Contains(a.Witness, "a search of its own") || a.Verdict != "UNVERIFIED" {
		t.Errorf("%s by %s", a.Verdict, a.Witness)
	}

	for want, q := range map[string]ask.EigenmapOptions{
		"graph tree: want grid or patch": {Graph: "tree"}, "sigma is 0": {Graph: "grid", Pairs: 2, Tol: 1e-6, Radius: 1}, "4 pairs of 3 nodes": {Graph: "grid", Pairs: 4, Tol: 1e-6, Sigma: 1, Radius: 1},
		"patches of 2 voxels": {Graph: "patch", Pairs: 2, Tol: 1e-6, Alpha: 1, Beta: 1, Side: 2}, "radius 0": {Graph: "grid", Pairs: 2, Tol: 1e-6, Sigma: 1},
	} {
		r := request()
		r.Type, r.Shape, r.Eigenmap = "uint8", []int64{3}, &q
		if _, err := Answers(t.Context(), r, make([]byte, 3), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", q, err, want)
		}
	}
	r := request()
	r.Type, r.Shape, r.Eigenmap = "uint8", []int64{3}, &ofGrid
	if _, err := Answers(t.Context(), r, make([]byte, 3), make([]byte, 3)); err == nil || !strings.Contains(err.Error(), "a mask") {
		t.Errorf("a mask: %v", err)
	}
	r.Betti = true
	if _, err := Answers(t.Context(), r, make([]byte, 3), nil); err == nil || !strings.Contains(err.Error(), "leave them out") {
		t.Errorf("pairs and Betti numbers: %v", err)
	}
}
