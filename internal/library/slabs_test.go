package library

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Parts of images with 2 and 3 axes, merged in pairs or all at once, have the numbers of the whole.
func TestParts(t *testing.T) {
	for _, shape := range [][]int64{{7, 9}, {8, 5, 6}, {3, 1, 4}} {
		size := int64(1)
		for _, n := range shape[1:] {
			size *= n
		}
		voxels := make([]byte, shape[0]*size)
		rng := rand.New(rand.NewPCG(uint64(size), 1))
		for i := range voxels {
			voxels[i] = byte(rng.IntN(9))
		}
		for _, construction := range []string{"T", "V"} {
			for _, superlevel := range []bool{false, true} {
				r := request()
				r.Shape, r.Construction, r.Superlevel, r.Betti, r.At = shape, construction, superlevel, true, grid.Numbers(5, 2, 6.5)
				want := answer(t, r, voxels)
				var parts, halves [][][]byte
				chi := make([]int64, len(r.At))
				for _, cut := range [][2]int64{{0, 1}, {1, 2}, {2, shape[0]}} {
					p, first := r, max(0, cut[0]-1)
					p.Part = &Part{Shape: shape, Lo: cut[0], Hi: cut[1]}
					p.Shape = append([]int64{cut[1] - first}, shape[1:]...)
					a := answer(t, p, voxels[first*size:cut[1]*size])
					if a.Verdict != "VERIFIED" || len(a.Slabs) != len(r.At) {
						t.Errorf("%v, %v: %s, %d slabs", shape, cut, a.Verdict, len(a.Slabs))
					}
					parts = append(parts, a.Slabs)
					for k, c := range a.Chi {
						chi[k] += c
					}
				}
				j := r
				flat := len(shape) == 2
				j.Join = &Join{Slabs: parts[1:], Flat: flat}
				halves = [][][]byte{parts[0], answer(t, j, nil).Slabs}
				for _, list := range [][][][]byte{parts, halves} {
					j.Join = &Join{Slabs: list, Flat: flat, Chi: chi}
					if got := filled(t, answer(t, j, nil)); !slices.Equal(got, filled(t, want)) {
						t.Errorf("%v %s, superlevel %v: %v, want %v", shape, construction, superlevel, got, filled(t, want))
					}
				}
			}
		}
	}
}

func answer(t *testing.T, r Request, voxels []byte) Answer {
	t.Helper()
	a, err := Answers(t.Context(), r, voxels, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a[0]
}

func filled(t *testing.T, a Answer) []int64 {
	t.Helper()
	numbers := make([]int64, a.Numbers())
	if err := a.Fill(make([]byte, 8*a.Rows), numbers); err != nil {
		t.Fatal(err)
	}
	return numbers
}

// Invalid parts, and slabs that no part has written, are rejected.
func TestPartsRefused(t *testing.T) {
	voxels := make([]byte, 24)
	r := request()
	r.Shape, r.Betti, r.At = []int64{2, 3, 4}, true, grid.Numbers(1)
	for want, change := range map[string]func(*Request){
		"slices 1 to 3 of 4x3x5": func(r *Request) { r.Part = &Part{Shape: []int64{5, 3, 4}, Lo: 1, Hi: 4} },
		"slices 4 to 5 of 4x3x5": func(r *Request) { r.Part = &Part{Shape: []int64{5, 3, 4}, Lo: 4, Hi: 6} },
		"slices 2 to 1 of 4x3x5": func(r *Request) { r.Part = &Part{Shape: []int64{5, 3, 4}, Lo: 2, Hi: 2} },
		"4 axes":                 func(r *Request) { r.Part = &Part{Shape: []int64{1, 5, 3, 4}, Lo: 1, Hi: 2} },
		"at some values":         func(r *Request) { r.Part, r.At = &Part{Shape: []int64{2, 3, 4}, Hi: 2}, nil },
		"part 0: malformed":      func(r *Request) { r.Join = &Join{Slabs: [][][]byte{{{200}}}} },
		"slabs of 2 sets, of 1":  func(r *Request) { r.Join = &Join{Slabs: [][][]byte{{nil, nil}}} },
		"slabs are of different": func(r *Request) { r.Join = &Join{Chi: []int64{1}} },
		"different components": func(r *Request) {
			r.Join = &Join{Slabs: [][][]byte{{{0, 0, 3, 0, 0, 0, 0, 0}}, {{0, 2, 0, 0, 0, 0, 0}}}}
		},
	} {
		r := r
		change(&r)
		if _, err := Answers(t.Context(), r, voxels, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Betti numbers at every level of an image with periodic axes equal those at its values.
func TestLevelsOfRings(t *testing.T) {
	r := request()
	r.Shape, r.Betti, r.Periodic, r.Superlevel = []int64{4, 5}, true, []string{"x"}, true
	voxels := []byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0}
	fill := func(a Answer) []int64 {
		numbers := make([]int64, a.Numbers())
		size := map[string]int64{"<f4": 4, "<f8": 8}[a.Levels]
		if err := a.Fill(make([]byte, a.Rows*size), numbers); err != nil {
			t.Fatal(err)
		}
		return numbers
	}
	every := answer(t, r, voxels)
	r.At = grid.Numbers(2, 1, 0)
	if got, want := fill(every), fill(answer(t, r, voxels)); !slices.Equal(got, want) || every.Implementation != "rings" || every.Verdict != "VERIFIED" {
		t.Errorf("%v by %s, %s: want %v", got, every.Implementation, every.Witness, want)
	}
}
