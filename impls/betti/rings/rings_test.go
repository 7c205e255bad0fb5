package rings

import (
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// A complex is the cells of a set at half steps: a cell spans the axes of its odd coordinates.
type complex struct {
	axes  []int
	sides [3]int64
	ring  [3]bool
	cells [4][][3]int64
}

func (c *complex) wrapped(p [3]int64) [3]int64 {
	for a := range p {
		if c.ring[a] {
			p[a] = (p[a] + 2*c.sides[a]) % (2 * c.sides[a])
		}
	}
	return p
}

// inside reports whether the voxel at a place is in the set.
func (c *complex) inside(kinds []byte, at [3]int64) bool {
	n := int64(0)
	for a, side := range c.sides {
		if at[a] = c.wrapped([3]int64{2 * at[0], 2 * at[1], 2 * at[2]})[a] / 2; at[a] < 0 || at[a] >= side {
			return false
		}
		n = n*side + at[a]
	}
	return kinds[n] == inside
}

func dimension(p [3]int64, axes []int) (n int) {
	for _, a := range axes {
		n += int(p[a] & 1)
	}
	return n
}

// complexOf returns the complex of a set by definition: voxels with all their faces, or all cubes
// of vertices.
func complexOf(in *betti.Image, kinds []byte, convention ecc.Convention) *complex {
	s, rings, vertices := in.Shape(), convention.Periodic, convention.Vertices
	c := &complex{axes: []int{0, 1, 2}[3-s.Dim():], sides: [3]int64{s.D, s.H, s.W}}
	c.ring = [3]bool{rings.Z, rings.Y, rings.X}
	has := map[[3]int64]bool{}
	for i, kind := range kinds {
		n := int64(i)
		at := [3]int64{n / s.W / s.H, n / s.W % s.H, n % s.W}
		for k := range int64(27) {
			by := [3]int64{k/9 - 1, k/3%3 - 1, k%3 - 1}
			if s.Dim() == 2 && by[0] != 0 || kind != inside {
				continue
			}
			p := [3]int64{2 * at[0], 2 * at[1], 2 * at[2]}
			all := true
			for _, a := range c.axes {
				if !vertices {
					p[a]++
				}
				p[a] += by[a]
			}
			for m := range int64(8) {
				var to [3]int64
				for a := range to {
					to[a] = by[a] * (m >> a & 1)
				}
				all = all && c.inside(kinds, [3]int64{at[0] + to[0], at[1] + to[1], at[2] + to[2]})
			}
			if !vertices || all {
				has[c.wrapped(p)] = true
			}
		}
	}
	for p := range has {
		d := dimension(p, c.axes)
		c.cells[d] = append(c.cells[d], p)
	}
	return c
}

// prime is the order of the field, which shows no torsion.
const prime = 1<<31 - 1

// rank returns the rank of the boundary of the cells of a dimension.
func (c *complex) rank(d int) (rank int64) {
	if d < 1 || d > 3 {
		return 0
	}
	row := map[[3]int64]int{}
	for i, p := range c.cells[d-1] {
		row[p] = i
	}
	pivots := map[int][]int64{}
	for _, p := range c.cells[d] {
		column := make([]int64, len(c.cells[d-1]))
		sign := int64(1)
		for _, a := range c.axes {
			if p[a]&1 == 0 {
				continue
			}
			for _, by := range []int64{1, -1} {
				q := p
				q[a] += by
				i := row[c.wrapped(q)]
				column[i] = (column[i] + by*sign + prime) % prime
			}
			sign = -sign
		}
		for i := range column {
			if column[i] == 0 {
				continue
			}
			pivot := pivots[i]
			if pivot == nil {
				pivots[i] = scaled(column, inverse(column[i]))
				rank++
				break
			}
			by := prime - column[i]
			for k := range column {
				column[k] = (column[k] + by*pivot[k]) % prime
			}
		}
	}
	return rank
}

func scaled(v []int64, by int64) []int64 {
	v = slices.Clone(v)
	for i := range v {
		v[i] = v[i] * by % prime
	}
	return v
}

func inverse(v int64) int64 {
	power, left := int64(1), prime-2
	for ; left > 0; left >>= 1 {
		if left&1 == 1 {
			power = power * v % prime
		}
		v = v * v % prime
	}
	return power
}

func (c *complex) betti(d int) int64 { return int64(len(c.cells[d])) - c.rank(d) - c.rank(d+1) }

// Numbers agree with the complex of all cells for any periodic axes, in all conventions, with and
// without a mask. Flood fill confirms them, and rejects wrong ones.
func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 60))
	shapes := []grid.Shape{{D: 3, H: 3, W: 4}, {D: 1, H: 4, W: 5}, {D: 2, H: 2, W: 2}, {D: 1, H: 1, W: 3}, {D: 2, H: 1, W: 3}, {D: 1, H: 1, W: 1}, {D: 3, H: 4, W: 1}}
	if !testing.Short() {
		shapes = slices.Repeat(shapes, 4)
	}
	turned := 0
	for n, shape := range shapes {
		for axes := range 8 {
			rings := grid.Axes{X: axes&1 > 0, Y: axes&2 > 0, Z: axes&4 > 0}
			if rings.Check(shape) != nil {
				continue
			}
			for _, share := range []int{0, 2, 4, 5, 7, 8} { // eighths of the voxels in the set
				f := gridtest.Image(t, shape, grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 {
					if rng.IntN(8) < share {
						return 3
					}
					return 9
				})
				c := ecc.Convention{Vertices: (n+share)%2 == 1, Superlevel: rng.IntN(2) == 1, Periodic: rings, Masked: rng.IntN(3) == 0}
				checkNumbers(t, masked(t, f, c, rng), c, &turned)
			}
		}
	}
	if turned == 0 {
		t.Error("no set of these goes round a ring")
	}
}

// masked returns an image in a convention, with a random mask if the convention has one.
func masked(t *testing.T, f *grid.Field, c ecc.Convention, rng *rand.Rand) *betti.Image {
	in := &betti.Image{Source: f, Threshold: 5}
	if !c.Masked {
		return in
	}
	within := gridtest.Image(t, f.Shape(), grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 { return float64(rng.IntN(5)) })
	s, err := views.Mask(f, within)
	if err != nil {
		t.Fatal(err)
	}
	in.Source = s
	return in
}

func checkNumbers(t *testing.T, in *betti.Image, c ecc.Convention, turned *int) {
	t.Helper()
	kinds := make([]byte, in.Shape().Voxels())
	if err := betti.SetOf(in, c).ReadSlab(kinds, 0, in.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	cells := complexOf(in, kinds, c)
	want := betti.Numbers{B0: cells.betti(0), B1: cells.betti(1), B2: cells.betti(2)}
	got, err := bench.Answer(Implementation{c}, in, bench.Conditions{})
	if err != nil || got != want {
		t.Fatalf("%v %+v: %v, the ranks say %v (%v)\n%v", in.Shape(), c, got, want, err, kinds)
	}
	for wrong := range int64(4) {
		out := want
		for k, b := range []*int64{&out.B0, &out.B1, &out.B2} {
			if int64(k)+1 == wrong {
				*b++
			}
		}
		d, err := betti.OnRings(Implementation{c}, c).Policy.Laws[0].Check(in, out, nil)
		if err != nil || (d != nil) != (wrong > 0) {
			t.Fatalf("%v %+v: wrong by b%d of %v: %v (%v)", in.Shape(), c, wrong-1, want, d, err)
		}
	}
	if want.B1 > 0 && c.Periodic != (grid.Axes{}) {
		*turned++
	}
}

// In rows of several words, the numbers agree with flood fill.
func TestWideRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 61))
	for n := range 64 {
		shape := grid.Shape{D: 1 + int64(n%4), H: 1 + int64(n%3), W: []int64{63, 64, 65, 128, 130}[n%5]}
		f := gridtest.Image(t, shape, grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 {
			return float64(3 * rng.IntN(2+n%9))
		})
		c := ecc.Convention{Vertices: n%2 == 1, Superlevel: n%7 == 1}
		c.Periodic = grid.Axes{X: n&2 > 0, Y: n&4 > 0, Z: shape.D > 1 && n&8 > 0}
		in := &betti.Image{Source: f, Threshold: 4}
		want, err := betti.ByFloodingRings(in, c)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := bench.Answer(Implementation{c}, in, bench.Conditions{}); err != nil || got != want {
			t.Fatalf("%v %+v: %v, flood fill says %v (%v)", shape, c, got, want, err)
		}
	}
}
