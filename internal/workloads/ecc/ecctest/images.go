package ecctest

import (
	"math"
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
)

// Image is an image in memory of a value for each voxel in row-major order, which is one of
// its type, or for float32 is rounded to it.
func Image(t testing.TB, shape grid.Shape, typ grid.Type, l grid.Ladder, value func(i int64) float64) *grid.Field {
	t.Helper()
	data := grid.NewBuffer(shape.Voxels() * typ.Size())
	for i := range shape.Voxels() {
		v := value(i)
		switch typ {
		case grid.Uint8:
			data[i] = uint8(v)
		case grid.Int16:
			grid.Values[int16](data)[i] = int16(v)
		case grid.Uint16:
			grid.Values[uint16](data)[i] = uint16(v)
		case grid.Float32:
			grid.Values[float32](data)[i] = float32(v)
		}
	}
	f, err := grid.NewField(shape, typ, data, l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// AroundLevels are float32 images of values on levels, a rounding beside them, anywhere
// between, and below all of them, on ladders that float32 arithmetic gives and on those that
// it does not.
func AroundLevels(t testing.TB) (images []*grid.Field) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, l := range []struct {
		lo, step float64
		n        int64
	}{{0, 1. / 1024, 1024}, {0, 0.1, 200}, {-3.3, 0.1, 256}, {-1e6, 1. / 3, 60000}, {-4, 0.001, 70000}, {1, 1.3e-7, 50}, {5, 1, 1}, {-7, 2, 2}, {0, 1e-42, 99}} {
		ladder, err := grid.Affine(l.lo, l.step, l.n)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, Image(t, grid.Shape{D: 1, H: 31, W: 213}, grid.Float32, ladder, func(int64) float64 {
			at := ladder.Value(rng.Int64N(l.n))
			switch rng.IntN(8) {
			case 0:
				at = math.Nextafter32(at, float32(math.Inf(1)))
			case 1:
				at = math.Nextafter32(at, float32(math.Inf(-1)))
			case 2:
				at += float32((rng.Float64() - 0.5) * l.step)
			case 3:
				at -= float32(rng.Float64() * 3 * l.step)
			case 4:
				if rng.IntN(20) == 0 {
					at = -1e30
				}
			}
			return float64(min(at, ladder.Value(l.n-1)))
		}))
	}
	return images
}

// Drawn is the image that a fuzz target draws: random values, which all stand on levels for
// one seed in three.
func Drawn(t testing.TB, shape grid.Shape, typ grid.Type, levels uint16, seed uint64) *grid.Field {
	t.Helper()
	top := float64(levels) + 1
	if typ == grid.Uint8 {
		top = min(top, 256)
	}
	lo, step := 0.0, 1+float64(seed%3)/2
	switch typ {
	case grid.Int16:
		lo = -32768
	case grid.Float32:
		step /= 3
	}
	ladder, err := grid.Affine(lo, step, int64(levels)+1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(levels)))
	return Image(t, shape, typ, ladder, func(int64) float64 {
		v := math.Floor(rng.Float64() * top)
		if typ == grid.Float32 {
			return v / 3
		}
		return lo + v
	})
}
