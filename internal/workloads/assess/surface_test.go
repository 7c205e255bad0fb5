package assess

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
)

// pairOf pairs an image with an empty truth.
func pairOf(t *testing.T, s grid.Shape, value func(z, y, x int64) uint16) *Pair {
	t.Helper()
	a, b := grid.NewValues[uint16](s.Voxels()), grid.NewValues[uint16](s.Voxels())
	for i := range a {
		a[i] = value(s.Coordinates(int64(i)))
	}
	var fields [2]*grid.Field
	for i, data := range [][]uint16{a, b} {
		f, err := grid.NewField(s, grid.Uint16, grid.Bytes(data), grid.Identity(grid.Uint16))
		if err != nil {
			t.Fatal(err)
		}
		fields[i] = f
	}
	p, err := NewPair(fields[0], fields[1], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSurfaceOfEllipsoid compares estimates with the areas of balls and the perimeters of discs in
// voxels of different spacing.
func TestSurfaceOfEllipsoid(t *testing.T) {
	for _, spacing := range [][3]float64{{1, 1, 1}, {0.5, 0.5, 1.5}, {2, 1, 1}} {
		const r = 21
		n := func(axis int) int64 { return int64(2*r/spacing[axis]) + 5 }
		s := grid.Shape{D: n(2), H: n(1), W: n(0)}
		inside := func(z, y, x int64) uint16 {
			var sum float64
			for axis, at := range []int64{x, y, z} {
				sum += math.Pow((float64(at)-float64(n(axis)-1)/2)*spacing[axis], 2)
			}
			if sum < r*r {
				return 300
			}
			return 0
		}
		got := Surfaces(pairOf(t, s, inside), 3, spacing)[0]
		if want := 4 * math.Pi * r * r; math.Abs(got[0]/want-1) > 0.03 || got[1] != 0 {
			t.Errorf("spacing %v: want a surface of about %v, got %v", spacing, want, got)
		}
		s.D = 1
		disc := func(_, y, x int64) uint16 { return inside(n(2)/2, y, x) }
		got = Surfaces(pairOf(t, s, disc), 2, spacing)[0]
		if want := 2 * math.Pi * r; math.Abs(got[0]/want-1) > 0.05 {
			t.Errorf("spacing %v: want a perimeter of about %v, got %v", spacing, want, got)
		}
		got = Surfaces(pairOf(t, s, disc), 3, spacing)[0]
		if want := 2*math.Pi*r*r + 2*math.Pi*r*spacing[2]; math.Abs(got[0]/want-1) > 0.2 {
			t.Errorf("spacing %v, one slice: want a surface of about %v, got %v", spacing, want, got)
		}
	}
}

// TestCroftonWeights compares the weights of cubic voxels with published solid angles (Ohser and
// Mücklich 2000).
func TestCroftonWeights(t *testing.T) {
	weights := crofton([3]float64{1, 1, 1}, false)
	for i, e := range earlier() {
		length := math.Sqrt(float64(e[0]*e[0] + e[1]*e[1] + e[2]*e[2]))
		want := []float64{0.0915556, 0.0739613, 0.0703913}[int(math.Round(length*length))-1]
		if math.Abs(weights[i]*length-want) > 5e-4 {
			t.Errorf("direction %v: want %v, got %v", e, want, weights[i]*length)
		}
	}
}

// TestSurfaceByDefinition compares estimates with boundaries counted voxel by voxel, for codes of
// one byte and of two.
func TestSurfaceByDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for _, most := range []uint16{3, 400} {
		s := grid.Shape{D: 5, H: 6, W: 21}
		values := make([]uint16, s.Voxels())
		for i := range values {
			if values[i] = uint16(rng.UintN(uint(most))); i > 0 && rng.IntN(3) > 0 {
				values[i] = values[i-1]
			}
		}
		p := pairOf(t, s, func(z, y, x int64) uint16 { return values[(z*s.H+y)*s.W+x] })
		spacing := [3]float64{1, 2, 3}
		got, weights := Surfaces(p, 3, spacing), crofton(spacing, false)
		for i, set := range p.Sets {
			in := p.members(set)
			has := func(z, y, x int64) bool {
				if z < 0 || y < 0 || x < 0 || z >= s.D || y >= s.H || x >= s.W {
					return false
				}
				if data := p.Fields()[0].Data(); p.Fields()[0].Type() == grid.Uint8 {
					return in[data[(z*s.H+y)*s.W+x]]
				}
				return in[grid.Values[uint16](p.Fields()[0].Data())[(z*s.H+y)*s.W+x]]
			}
			want := 0.0
			for k := range s.Voxels() {
				z, y, x := s.Coordinates(k)
				for d, e := range earlier() {
					if has(z, y, x) && !has(z+int64(e[0]), y+int64(e[1]), x+int64(e[2])) {
						want += 4 * 6 * weights[d]
					}
				}
			}
			if math.Abs(got[i][0]-want) > 1e-9*want {
				t.Errorf("most %d, set %s: want %v, got %v", most, set.Name, want, got[i][0])
			}
		}
	}
}

// TestSurfacesOfManyLabels repeats an estimate with too many codes for a table of all pairs.
func TestSurfacesOfManyLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	p := pairOf(t, grid.Shape{D: 8, H: 16, W: 40}, func(z, y, x int64) uint16 { return uint16(rng.UintN(2 * mostPaired)) })
	spacing := [3]float64{0.3, 0.7, 1.1}
	if a, b := Surfaces(p, 3, spacing), Surfaces(p, 3, spacing); !slices.Equal(a, b) {
		t.Error("two estimates of the same surfaces differ")
	}
}

// TestCross compares crossings with a count voxel by voxel in each direction, in an image of large
// and small parts.
func TestCross(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := grid.Shape{D: 4, H: 5, W: 400}
	codes := make([]uint8, s.Voxels())
	for i := range codes {
		if codes[i] = uint8(i % 400 / 150); rng.IntN(300) == 0 {
			codes[i] = uint8(rng.IntN(3))
		}
	}
	var got, want [directions]counts
	for d := range got {
		got[d], want[d] = newCounts(3), newCounts(3)
	}
	cross(codes, s, &got)
	for i, a := range codes {
		z, y, x := s.Coordinates(int64(i))
		for d, e := range earlier() {
			b := uint8(0)
			if r, c, v := z+int64(e[0]), y+int64(e[1]), x+int64(e[2]); r >= 0 && c >= 0 && c < s.H && v >= 0 && v < s.W {
				b = codes[(r*s.H+c)*s.W+v]
			}
			if a != 0 && a != b {
				want[d].add(uint16(a), uint16(b), 1)
			}
		}
	}
	for d := range got {
		if !slices.Equal(got[d].pairs, want[d].pairs) {
			t.Errorf("direction %v: want %v, got %v", earlier()[d], want[d].pairs, got[d].pairs)
		}
	}
}
