package datasets

import (
	"fmt"
	"math"
	"testing"

	"eccbench/datasets/random"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// TestNoiseCrop compares a small field with the corner of larger ones, and a 2D field with the
// first plane of a 3D one.
func TestNoiseCrop(t *testing.T) {
	small := grid.Shape{D: 1, H: 6, W: 9}
	for _, generator := range []string{"noise", "grf"} {
		for _, big := range []grid.Shape{{D: 5, H: 6, W: 9}, {D: 3, H: 20, W: 9}, {D: 1, H: 6, W: 1030}, {D: 8, H: 11, W: 33}} {
			a := small
			if big.D > 1 {
				a.D = 2
			}
			if generator == "noise" {
				a.D = 1
			}
			la := imageLevels(t, openNamed(t, fmt.Sprintf("%s/shape=%v/seed=5", generator, a)))
			lb := imageLevels(t, openNamed(t, fmt.Sprintf("%s/shape=%v/seed=5", generator, big)))
			for i, got := range la {
				z, y, x := a.Coordinates(int64(i))
				if want := lb[(z*big.H+y)*big.W+x]; got != want {
					t.Fatalf("%s %v: voxel %d is on level %d, in %v on %d", generator, a, i, got, big, want)
				}
			}
		}
	}
}

func TestNoiseIsUniform(t *testing.T) {
	for _, n := range []int{1, 2, 7, 256} {
		counts := make([]float64, n)
		levels := imageLevels(t, openNamed(t, fmt.Sprintf("noise/shape=101x103x17/levels=%d/type=uint8/seed=3", n)))
		for _, k := range levels {
			counts[k]++
		}
		want, chi := float64(len(levels))/float64(n), 0.0
		for _, c := range counts {
			chi += (c - want) * (c - want) / want
		}
		// χ² has mean n−1 and variance 2(n−1).
		if dof := float64(n - 1); math.Abs(chi-dof) > 5*math.Sqrt(2*dof) {
			t.Errorf("%d levels: χ² = %.1f", n, chi)
		}
	}
}

func TestNoiseSeeds(t *testing.T) {
	seen := map[string]uint64{}
	for _, seed := range []uint64{0, 1, 2, 1 << 32, 1<<32 + 1, 1<<64 - 1} {
		d, err := gridtest.Digest(openNamed(t, fmt.Sprintf("noise/shape=9x9/seed=%d", seed)))
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[d]; ok {
			t.Errorf("seeds %d and %d make the same image", seed, other)
		}
		seen[d] = seed
	}
}

// TestScales checks that a voxel on level k has the ladder's value k, by every function that writes
// values.
func TestScales(t *testing.T) {
	p := random.NewLattice(1, random.NoiseStream)
	for _, c := range []struct {
		params string
		levels uint64
		lo, hi float64 // bounds of the values
		key    string
	}{
		{"type=uint8", 256, 0, 255, "identity:256"},
		{"type=uint8/levels=200", 200, 0, 199, "affine:0:1:200"},
		{"type=uint16", 65536, 0, 65535, "identity:65536"},
		{"type=uint16/levels=1000", 1000, 0, 999, "affine:0:1:1000"},
		{"type=int16", 65536, -32768, 32767, "identity:65536 from -32768"},
		{"type=int16/levels=7", 7, -3, 3, "affine:-3:1:7"},
		{"type=float32", 1024, 0, 1023. / 1024, "affine:0:0.0009765625:1024"},
		{"type=float32/levels=1000", 1000, 0, 1, "affine:0:0.0009765625:1000"},
		{"type=float32/levels=1", 1, 0, 0, "affine:0:1:1"},
		{"type=float32/levels=100000", 100000, 0, 1, "affine:0:7.62939453125e-06:100000"},
		{"type=float32/levels=16777216", 1 << 24, 0, 1, "affine:0:5.960464477539063e-08:16777216"},
		{"type=float32/levels=50/lo=1/step=1.3e-7", 50, 1, 1.00001, "affine:1:1.3e-07:50"},
		{"type=float32/levels=300/step=1.401298464324817e-45", 300, 0, 1e-42, "affine:0:1.401298464324817e-45:300"},
		{"type=float32/levels=3/lo=-3e-46/step=1.4e-45", 3, 0, 1e-44, "affine:-3e-46:1.4e-45:3"},
		{"type=float32/levels=9/lo=-4/step=0.1", 9, -4, -3.1, "affine:-4:0.1:9"},
	} {
		s := openNamed(t, "noise/shape=13x11/"+c.params)
		if got := s.Ladder().Key(); got != c.key {
			t.Errorf("%s: ladder %s, want %s", c.params, got, c.key)
		}
		f, err := grid.Load(s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Shape().Voxels() {
			_, y, x := f.Shape().Coordinates(i)
			u := p.Block([4]uint32{uint32(x / 4), uint32(y), 0, p.Tag})[x%4]
			level := int64(uint64(u) * c.levels >> 32)
			got := valueAt(f, i)
			if want := f.Ladder().Value(level); got != want || math.Signbit(float64(got)) && got == 0 {
				t.Fatalf("%s: voxel %d is %v, want %v", c.params, i, got, want)
			}
			if float64(got) < c.lo || float64(got) > c.hi {
				t.Fatalf("%s: voxel %d is %v, want %v to %v", c.params, i, got, c.lo, c.hi)
			}
		}
	}
}

func valueAt(f *grid.Field, i int64) float32 {
	switch f.Type() {
	case grid.Uint8:
		return float32(grid.Values[uint8](f.Data())[i])
	case grid.Int16:
		return float32(grid.Values[int16](f.Data())[i])
	case grid.Uint16:
		return float32(grid.Values[uint16](f.Data())[i])
	}
	return grid.Values[float32](f.Data())[i]
}
