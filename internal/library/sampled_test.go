package library

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// Curves at some values equal the whole curves there, in every convention, with a mask or without.
func TestSampledCurves(t *testing.T) {
	for k, sets := range [][]float32{{0}, {-1, 2.5}, {-8, -3, -1, 0, 0.25, 3, 8}, {-math.MaxFloat32, 0, math.MaxFloat32}} {
		for _, shape := range [][]int64{{9, 11}, {4, 5, 6}} {
			r := Request{Type: "float32", Images: 3, Threads: 2, Verify: true, Shape: shape}
			r.Construction = []string{"T", "V"}[k%2]
			s, _ := grid.ShapeOf(shape)
			voxels := grid.NewBuffer(3 * 4 * s.Voxels())
			rng := rand.New(rand.NewPCG(uint64(k), 1))
			for i := range grid.Values[float32](voxels) {
				grid.Values[float32](voxels)[i] = float32(rng.IntN(17)-8) / float32(1+rng.IntN(2))
			}
			for i := range 4 {
				var mask []byte
				if r.Superlevel = i&1 > 0; i&2 > 0 {
					mask = maskOf(rng, len(voxels)/4)
				}
				whole, err := Answers(t.Context(), r, voxels, mask)
				if err != nil {
					t.Fatal(err)
				}
				var want []int64
				for _, a := range whole {
					levels, chi := rows(t, a)
					for _, at := range sets {
						n := int64(0)
						for i, l := range levels {
							if l == at || l < at != r.Superlevel {
								n = chi[i]
							}
						}
						want = append(want, n)
					}
					if r.Superlevel { // sets grow from the greatest value
						slices.Reverse(want[len(want)-len(sets):])
					}
				}
				asked := r
				for _, at := range sets {
					asked.Sets = append(asked.Sets, json.Number(fmt.Sprint(float64(at))))
				}
				a, err := Answers(t.Context(), asked, voxels, mask)
				got := make([]int64, len(want))
				if err != nil || a[0].Fill(nil, got) != nil || !slices.Equal(got, want) || a[0].Verdict != "VERIFIED" {
					t.Errorf("%v at %v: %v, %+v, %v, want %v", shape, sets, got, a, err, want)
				}
			}
		}
	}
}

// Betti numbers of a batch at some values equal the numbers of its images one by one, with a mask or without,
// both set by set and at all levels.
func TestSampledBetti(t *testing.T) {
	for k, values := range [][]grid.Number{{grid.Numbers(3)[0]}, grid.Numbers(0, 1, 2, 3, 5, 6, 7, 8)} {
		for _, shape := range [][]int64{{9, 11}, {4, 5, 6}} {
			r := Request{Type: "uint8", Images: 3, Threads: 2, Verify: true, Shape: shape, Betti: true}
			s, _ := grid.ShapeOf(shape)
			if few := fewBetti(int64(len(values)), s.Voxels()); few != (k == 0) {
				t.Fatalf("%d sets of %v: few is %v", len(values), s, few)
			}
			rng := rand.New(rand.NewPCG(uint64(k), 2))
			voxels := make([]byte, 3*s.Voxels())
			for i := range voxels {
				voxels[i] = byte(rng.IntN(9))
			}
			for _, r.Construction = range []string{"T", "V"} {
				for i := range 4 {
					var mask []byte
					if r.Superlevel = i&1 > 0; i&2 > 0 {
						mask = maskOf(rng, len(voxels))
					}
					one, asked := r, r
					one.At = slices.Clone(values)
					for _, v := range values {
						asked.Sets = append(asked.Sets, json.Number(fmt.Sprint(v.Float64())))
					}
					if r.Superlevel { // sets grow from the greatest value
						slices.Reverse(one.At)
					}
					answers, err := Answers(t.Context(), one, voxels, mask)
					if err != nil {
						t.Fatal(err)
					}
					var want []int64
					for _, a := range answers {
						numbers := make([]int64, a.Numbers())
						if err := a.Fill(make([]byte, 8*a.Rows), numbers); err != nil {
							t.Fatal(err)
						}
						want = append(want, numbers...)
					}
					a, err := Answers(t.Context(), asked, voxels, mask)
					got := make([]int64, len(want))
					if err != nil || a[0].Fill(nil, got) != nil || !slices.Equal(got, want) ||
						a[0].Verdict != "VERIFIED" {
						t.Errorf("%v: %v, %+v, %v, want %v", r, got, a, err, want)
					}
				}
			}
		}
	}
}

// Betti numbers of a file of int64 at some values equal those of its voxels in memory, and so does χ, whose curve has
// no more levels than it needs. A description has the types of all values, and all are read.
func TestOfFileAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	values := make([]int64, 6*5*4)
	for i := range values {
		values[i] = 1<<60 + rng.Int64N(9)
	}
	path := filepath.Join(t.TempDir(), "image.raw")
	if err := os.WriteFile(path, grid.Bytes(values), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Request{Type: "int64", Shape: []int64{4, 5, 6}, Images: 1, Threads: 2, Verify: true, Betti: true}
	for _, text := range []string{"1152921504606846977", "1152921504606846980", "0", "1e19", "1152921504606846980.5"} {
		n, err := grid.ParseNumber(text)
		if err != nil {
			t.Fatal(err)
		}
		r.At = append(r.At, n)
	}
	for i := range 4 {
		r.Construction, r.Superlevel, r.Input = "TV"[i&1:i&1+1], i&2 > 0, ""
		var got [2][]int64
		for k := range got {
			answers, err := Answers(t.Context(), r, grid.Bytes(values)[:len(values)*8*(1-k)], nil)
			if err != nil {
				t.Fatal(err)
			}
			got[k] = make([]int64, answers[0].Numbers())
			if err := answers[0].Fill(make([]byte, 8*answers[0].Rows), got[k]); err != nil || answers[0].Type != "int64" {
				t.Errorf("%+v, %v", answers[0], err)
			}
			r.Input = path
		}
		if !slices.Equal(got[0], got[1]) || got[0][0] == 0 {
			t.Errorf("%+v: %v of the file, want %v", r, got[1], got[0])
		}
		r.Betti = false
		answers, err := Answers(t.Context(), r, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		levels, chi := make([]int64, answers[0].Rows), make([]int64, answers[0].Rows)
		if err := answers[0].Fill(grid.Bytes(levels), chi); err != nil || len(levels) > len(r.At)+1 || answers[0].Verdict != "VERIFIED" {
			t.Errorf("%d levels of %+v, %v", len(levels), answers[0], err)
		}
		for k, at := range r.At {
			sum := int64(0)
			for row, v := range levels {
				labels, err := grid.NewLabels("int64", []int64{v})
				if err != nil {
					t.Fatal(err)
				}
				if c := labels.Compare(grid.Ranked(0), at); c == 0 || c > 0 == r.Superlevel {
					sum = chi[row]
				}
			}
			if n := got[0][3*k:]; sum != n[0]-n[1]+n[2] {
				t.Errorf("%+v: χ at %v is %d, want that of %v", r, at, sum, n[:3])
			}
		}
		r.Betti = true
	}
	r.Betti, r.Describe = false, true
	a, err := Answers(t.Context(), r, nil, nil)
	if err != nil || a[0].Type != "int64" || a[0].Levels != "<i8" {
		t.Errorf("%+v, %v", a, err)
	}
	voxels := make([]int64, len(values))
	r.Describe, r.Read = false, true
	if a, err = Answers(t.Context(), r, grid.Bytes(voxels), nil); err != nil || !slices.Equal(voxels, values) {
		t.Errorf("%v of %+v, %v", voxels, a, err)
	}
}

// maskOf returns a mask without some voxels.
func maskOf(rng *rand.Rand, voxels int) []byte {
	mask := make([]byte, voxels)
	for i := range mask {
		mask[i] = byte(rng.IntN(4))
	}
	return mask
}

// A violated law makes an answer an error.
func TestSampledWrong(t *testing.T) {
	s := &sampling{by: "nobody"}
	if err := s.wrong("law", &verify.Diff{Where: "b0"}, nil); !errors.As(err, new(ask.VerdictError)) {
		t.Error(err)
	}
	if err := s.wrong("law", nil, nil); err != nil {
		t.Error(err)
	}
}

// A wrong curve at some values is not given. Without verification the verdict is UNVERIFIED.
func TestSampledCurvesAreVerified(t *testing.T) {
	r := request()
	r.by = []bench.Implementation[grid.Source, ecc.VCEC]{cpu.Faulty(cpu.HaloOffByOne)}
	r.Shape, r.Sets = []int64{30, 30, 30}, []json.Number{"50", "100", "150"}
	_, f := ecctest.Open(t, "noise/shape=30x30x30/type=uint8/seed=1")
	for _, r.Verify = range []bool{true, false} {
		a, err := Answers(t.Context(), r, f.Data(), nil)
		if r.Verify && !errors.As(err, new(ask.VerdictError)) {
			t.Errorf("%+v, %v", a, err)
		}
		if !r.Verify && (err != nil || a[0].Verdict != "UNVERIFIED" || a[0].Witness != "") {
			t.Errorf("%+v, %v", a, err)
		}
	}
}

// Wrong Betti numbers of all levels are rejected: with the right χ by the unions, else by the fingerprint.
func TestSampledBettiCurvesAreVerified(t *testing.T) {
	right := bettiCurves(ecc.Convention{}).Impls[0]
	shape := grid.Shape{D: 6, H: 7, W: 8}
	for _, lie := range []betti.Numbers{{}, {B0: 1, B1: 1}, {B1: 1, B2: 1}, {B1: 1}} {
		s, err := newSampling(Request{Verify: true, Betti: true}, shape, 60)
		if err != nil {
			t.Fatal(err)
		}
		s.ofBettiCurves(bench.FromFunc(func(in grid.Source) (betti.Curves, error) {
			out, err := bench.Answer(right, in, bench.Conditions{})
			n := &out[len(out)/2].Numbers
			n.B0, n.B1, n.B2 = n.B0+lie.B0, n.B1+lie.B1, n.B2+lie.B2
			return out, err
		}), ecc.Convention{})
		ranks := grid.NewBuffer(shape.Voxels())
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range ranks {
			ranks[i] = byte(rng.IntN(61))
		}
		f, err := grid.Trusted(shape, grid.Uint8, ranks, s.ladder)
		if err != nil {
			t.Fatal(err)
		}
		count, err := s.counter(f, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := count(make([]int64, 3*60)); errors.As(err, new(ask.VerdictError)) != (lie != betti.Numbers{}) {
			t.Errorf("%+v too many: %v", lie, err)
		}
	}
}

// All voxels of an image have a rank, also the last few, and voxels of several cores.
func TestRanksOfAllVoxels(t *testing.T) {
	k := grid.NewRanking([]uint8{100}, false)
	values := slices.Repeat([]uint8{50, 150}, 100000)
	ranks := slices.Repeat([]byte{9}, len(values))
	err := rankAll(t.Context(), k, ranks, values, 2)
	if err != nil || !slices.Equal(ranks, slices.Repeat([]byte{0, 1}, 100000)) {
		t.Errorf("%v, the last ranks are %v", err, ranks[len(ranks)-4:])
	}
}

// A wrong rank of a value is an error, and so is a value without a rank.
func TestRanksAreConfirmed(t *testing.T) {
	values := []int16{math.MinInt16, -5, -4, 0, 1, 7, 8, math.MaxInt16}
	for i := range 4 {
		super, at := i%2 == 1, [][]int16{{-5, 0, 7}, {math.MinInt16, 0, math.MaxInt16}}[i/2]
		k := grid.NewRanking(at, super)
		ranks := make([]byte, len(values))
		k.Rank(ranks, values)
		if err := k.Confirm(ranks, values); err != nil {
			t.Error(err)
		}
		for i := range ranks {
			for wrong := range byte(4) {
				right := ranks[i]
				ranks[i] = wrong
				if err := k.Confirm(ranks, values); (err != nil) != (wrong != right) {
					t.Errorf("rank %d of %d: %v", wrong, values[i], err)
				}
				ranks[i] = right
			}
		}
	}
	k := grid.NewRanking([]float64{1}, false)
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		err := rankAll(t.Context(), k, make([]byte, 1), []float64{v}, 1)
		if !errors.As(err, new(*grid.NotFiniteError)) {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// Invalid sets are errors.
func TestRefusedSets(t *testing.T) {
	for _, sets := range [][]json.Number{{"2", "1"}, {"1", "1"}, {"256"}, {"-1"}, {"1.5"}, make([]json.Number, 256)} {
		r := request()
		r.Shape, r.Sets = []int64{2, 2}, sets
		if _, err := Answers(t.Context(), r, make([]byte, 4), nil); err == nil {
			t.Errorf("%v is taken", sets)
		}
	}
	r := request()
	r.Shape, r.Sets, r.Periodic = []int64{2, 2}, []json.Number{"1"}, []string{"x"}
	if _, err := Answers(t.Context(), r, make([]byte, 4), nil); err == nil {
		t.Error("periodic axes are taken")
	}
}
