package betti

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti/unions"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// Unions in order say of every level what fills its set, in all conventions, and neither
// knows of the other.
func TestUnions(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 60 {
		side := func() int64 { return 1 + rng.Int64N(6) }
		in := ecctest.Drawn(t, grid.Shape{D: side(), H: side(), W: side()}, grid.Types()[rng.IntN(4)], 6, 3*uint64(rng.Uint32()))
		for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true}, {Vertices: true, Superlevel: true}} {
			b0, rest, err := unions.Changes(in, c.Superlevel, c.Vertices)
			if err != nil {
				t.Fatal(err)
			}
			for level := range in.Ladder().Len() {
				filled, err := ByFlooding(&Image{in, in.Ladder().Value(level)}, c)
				if err != nil {
					t.Fatal(err)
				}
				want := [2]int64{filled.B0, filled.B2}
				if in.Shape().Dim() == 2 {
					want[1] = filled.B1
				}
				at := func(steps []unions.Step) (sum int64) {
					for _, s := range steps {
						if c.Superlevel && s.Level >= level || !c.Superlevel && s.Level <= level {
							sum += s.Change
						}
					}
					return sum
				}
				if got := [2]int64{at(b0), at(rest)}; got != want {
					t.Fatalf("%v %v %+v level %d: %v, filled %v", in.Shape(), in.Type(), c, level, got, want)
				}
			}
		}
	}
}

// Every float32 is a level, of which those that the image has are listed in order.
func TestEveryLevel(t *testing.T) {
	in := ecctest.Image(t, grid.Shape{D: 1, H: 2, W: 2}, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return []float64{1, -3, 0.5, -3}[i] })
	levels, err := unions.LevelsOf(in)
	if err != nil {
		t.Fatal(err)
	}
	values := []float32{}
	for _, k := range levels {
		values = append(values, in.Ladder().Value(k))
	}
	if !slices.Equal(values, []float32{-3, 0.5, 1}) {
		t.Errorf("%v", values)
	}
}

// What a name does not say is found by the laws alone.
func TestCurvesAgree(t *testing.T) {
	s, err := fields.Inputs{}.Open("noise/shape=9x8/levels=4/type=uint8/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	want := Curves{{1, Numbers{1, 2, 3}}, {3, Numbers{0, -2, 0}}}
	for what, got := range map[string]Curves{
		"level 3 (value 3)": {{1, Numbers{1, 2, 3}}}, "level 2 (value 2)": {{1, Numbers{1, 2, 3}}, {2, Numbers{1, 0, 0}}, {3, Numbers{0, -2, 0}}},
		"level 1 (value 1)": {{1, Numbers{1, 2, 4}}, {3, Numbers{0, -2, 0}}}, "level 0 (value 0)": {{0, Numbers{1, 2, 3}}, {3, Numbers{0, -2, 0}}},
	} {
		if d := sameCurves(s, want, got); d == nil || d.Where != what {
			t.Errorf("%v: %v, want %s", got, d, what)
		}
	}
	if d := sameCurves(s, want, want); d != nil {
		t.Error(d)
	}
	if fmt.Sprint(want.Euler()) != "[{1 2} {3 2}]" || want.At(2) != (Numbers{1, 2, 3}) || want.At(3) != (Numbers{1, 0, 3}) || want.from(2) != (Numbers{0, -2, 0}) {
		t.Errorf("%v", want.Euler())
	}
	if c := Joined(ecc.VCEC{{Level: 1, Change: 1}}, ecc.VCEC{{Level: 1, Change: 3}}, want.Euler()); !slices.Equal(c, want) {
		t.Errorf("%v", c)
	}
}

// Whatever is decoded as curves is read again as the same.
func FuzzDecodeCurves(f *testing.F) {
	f.Add(EncodeCurves(Curves{{1, Numbers{1, 2, 3}}, {300, Numbers{-1, 0, 1 << 40}}}))
	f.Add(EncodeCurves(PoisonedCurves))
	f.Add([]byte{1, 2})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeCurves(data)
		if err != nil {
			return
		}
		again, err := DecodeCurves(EncodeCurves(c))
		if err != nil || !slices.Equal(again, c) {
			t.Fatalf("%v, %v; want %v", again, err, c)
		}
		if c2 := EncodeCurves(again); !bytes.Equal(c2, EncodeCurves(c)) {
			t.Fatal("two encodings")
		}
	})
}

// On the ladder of every float32, of which there are more than an int32 counts, levels are in
// the order of the values.
func TestLevelsOfEveryFloat32(t *testing.T) {
	values := []float32{3e38, -3e38, 0, float32(math.Copysign(0, -1)), 1e-45, -1e-45, 1, -1, 3e38, 2}
	f := ecctest.Image(t, grid.Shape{D: 1, H: 2, W: 5}, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return float64(values[i]) })
	got, err := unions.LevelsOf(f)
	if err != nil {
		t.Fatal(err)
	}
	var want []int64
	for _, v := range []float32{-3e38, -1, -1e-45, 0, 1e-45, 1, 2, 3e38} {
		want = append(want, int64(grid.EveryLevel(v)))
	}
	if !slices.Equal(got, want) || !slices.IsSorted(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
