package grid_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
)

// The least and the greatest value of a span are found for every type, and values that are not
// finite are counted.
func ranges(t *testing.T) {
	for _, typ := range grid.Types() {
		data := grid.NewBuffer(6 * typ.Size())
		f, err := grid.Trusted(grid.Shape{D: 3, H: 1, W: 2}, typ, data, grid.Identity(typ))
		if err != nil {
			t.Fatal(err)
		}
		set := func(i int, v int16) {
			switch typ {
			case grid.Uint8:
				grid.Values[uint8](data)[i] = uint8(v)
			case grid.Uint16:
				grid.Values[uint16](data)[i] = uint16(v)
			case grid.Int16:
				grid.Values[int16](data)[i] = v
			case grid.Float32:
				grid.Values[float32](data)[i] = float32(v)
			}
		}
		for i, v := range []int16{1, 200, 7, 3, 5, 4} {
			set(i, v)
		}
		for _, c := range []struct {
			of             grid.Span
			least, largest float32
		}{{grid.Span{Lo: 0, Hi: 3}, 1, 200}, {grid.Span{Lo: 1, Hi: 3}, 3, 7}, {grid.Span{Lo: 2, Hi: 3}, 4, 5}} {
			if a, b, err := grid.Range(f, c.of); a != c.least || b != c.largest || err != nil {
				t.Errorf("%v %v: %v to %v (%v), want %v to %v", typ, c.of, a, b, err, c.least, c.largest)
			}
		}
	}
}

// The range is right whatever the values are, and wherever in words of 8 bytes and after them.
func rangesOfWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, typ := range []grid.Type{grid.Uint8, grid.Uint16, grid.Int16} {
		for n := int64(1); n <= 60; n++ {
			data := grid.NewBuffer(n * typ.Size())
			for i := range data {
				data[i] = byte(int(100 + 40*rng.NormFloat64()))
			}
			f, err := grid.Trusted(grid.Shape{D: 1, H: 1, W: n}, typ, data, grid.Identity(typ))
			if err != nil {
				t.Fatal(err)
			}
			least, greatest := float32(math.Inf(1)), float32(math.Inf(-1))
			for i := range int(n) {
				v := float32(data[i])
				switch typ {
				case grid.Uint16:
					v = float32(grid.Values[uint16](data)[i])
				case grid.Int16:
					v = float32(grid.Values[int16](data)[i])
				}
				least, greatest = min(least, v), max(greatest, v)
			}
			if a, b, err := grid.Range(f, grid.Whole(f)); a != least || b != greatest || err != nil {
				t.Errorf("%d values of %v: %v to %v (%v), want %v to %v", n, typ, a, b, err, least, greatest)
			}
		}
	}
}
