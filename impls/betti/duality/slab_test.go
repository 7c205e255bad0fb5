package duality_test

import (
	"math/rand/v2"
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// Slabs of an image, cut anywhere, are put together to its numbers, in every construction and on
// any number of cores, and each tells what flood fill does.
func TestSlabs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for k := range 100 {
		in := random(t, rng, 7+int64(k%4)*5)
		if k%4 == 0 { // 2D
			in = flat(t, in)
		}
		for _, vertices := range []bool{false, true} {
			for threads := 1; threads < 3; threads++ {
				if got, want := ofSlabs(t, rng, in, vertices, threads), ofConvention(t, in, vertices); got != want {
					t.Fatalf("%v of %v not above %v, vertices %v, on %d cores: want %v", got, in.Shape(), in.Threshold, vertices, threads, want)
				}
			}
		}
	}
}

// flat is an image as rows.
func flat(t testing.TB, in *betti.Image) *betti.Image {
	s := in.Shape()
	f, err := grid.NewField(grid.Shape{D: 1, H: s.D * s.H, W: s.W}, in.Type(), in.Source.(*grid.Field).Data(), in.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	return &betti.Image{Source: f, Threshold: in.Threshold}
}

func ofConvention(t testing.TB, in *betti.Image, vertices bool) betti.Numbers {
	t.Helper()
	n, err := betti.ByFlooding(in, ecc.Convention{Vertices: vertices})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ofSlabs are the numbers of an image that is cut at random.
func ofSlabs(t testing.TB, rng *rand.Rand, in *betti.Image, vertices bool, threads int) betti.Numbers {
	t.Helper()
	isFlat, n := in.Shape().Dim() == 2, in.Shape().Slices()
	var all betti.Slab
	var chi int64
	for lo := int64(0); lo == 0 || lo < n-1; {
		hi := min(n, lo+1+rng.Int64N(4))
		if lo > 0 || n > 1 {
			hi = min(n, max(hi, lo+2))
		}
		if lo == 0 && rng.IntN(3) == 0 {
			hi = 1 // a slab of one slice
		}
		f, err := grid.Load(grid.Crop(in.Source, lo, hi))
		if err != nil {
			t.Fatal(err)
		}
		piece := betti.Piece{Image: &betti.Image{Source: f, Threshold: in.Threshold}, Vertices: vertices, Flat: isFlat, Ends: [2]bool{lo == 0, hi == n}}
		s, err := duality.InWindows(rng.Int64N(3)).Slab(piece, threads)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := betti.Unlike(piece, s, threads); d != nil || err != nil {
			t.Fatalf("slices %d to %d of %v not above %v, vertices %v: %v %v", lo, hi, in.Shape(), in.Threshold, vertices, d, err)
		}
		if lo == 0 {
			all = s
		} else if all, err = betti.Join(all, s); err != nil {
			t.Fatal(err)
		}
		if hi == n {
			break
		}
		lo = hi - 1
	}
	want := ofConvention(t, in, vertices)
	chi = want.B0 - want.B1 + want.B2
	return betti.NumbersOf(all, isFlat, vertices, chi)
}
