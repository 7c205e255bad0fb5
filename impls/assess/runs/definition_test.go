package runs

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// vector is a chain over Z/2, one bit per cell.
type vector []uint64

func (v vector) flip(i int) { v[i/64] ^= 1 << (i % 64) }

// low returns the last cell of a chain, or −1 for the zero chain.
func (v vector) low() int {
	for i := len(v) - 1; i >= 0; i-- {
		if v[i] != 0 {
			return 64*i + bits.Len64(v[i]) - 1
		}
	}
	return -1
}

// echelon maps the last cell of each of some independent chains to the chain.
type echelon map[int]vector

// add adds a chain and reports whether it was independent of the earlier ones. The same operations
// are applied to with.
func (e echelon) add(v, with vector, tracks map[int]vector) bool {
	for {
		i := v.low()
		if i < 0 {
			return false
		}
		o, ok := e[i]
		if !ok {
			e[i] = v
			if tracks != nil {
				tracks[i] = with
			}
			return true
		}
		for k := range v {
			v[k] ^= o[k]
		}
		if tracks != nil {
			for k, w := range tracks[i] {
				with[k] ^= w
			}
		}
	}
}

// rank returns the number of independent chains in some lists.
func rank(lists ...[]vector) int64 {
	e := echelon{}
	for _, list := range lists {
		for _, v := range list {
			e.add(append(vector(nil), v...), nil, nil)
		}
	}
	return int64(len(e))
}

// A complex is the cells of masks within a box. Cells are positions of a grid with twice the
// resolution.
type complex struct {
	d, h, w  int
	vertices bool
}

func (c complex) cells() int { return c.d * c.h * c.w }

func (c complex) place(i int) [3]int { return [3]int{i / (c.h * c.w), i / c.w % c.h, i % c.w} }

func (c complex) dim(i int) (n int) {
	for _, v := range c.place(i) {
		n += v & 1
	}
	return n
}

// has marks the cells of a mask: in T the cells of any voxel, in V the cells whose corners are all
// voxels.
func (c complex) has(s grid.Shape, mask func(z, y, x int64) bool) []bool {
	in := make([]bool, c.cells())
	for i := range in {
		p := c.place(i)
		all, some := true, false
		for corner := range 8 {
			var at [3]int64
			for k := range p {
				side := corner >> k & 1
				switch odd := p[k]&1 == 1; {
				case c.vertices && odd: // voxels are at even positions
					at[k] = int64(p[k]/2 + side)
				case c.vertices || odd: // voxels are at odd positions in T
					at[k] = int64(p[k] / 2)
				default:
					at[k] = int64(p[k]/2 - 1 + side)
				}
			}
			is := at[0] >= 0 && at[0] < s.D && at[1] >= 0 && at[1] < s.H && at[2] >= 0 && at[2] < s.W &&
				mask(at[0], at[1], at[2])
			all, some = all && is, some || is
		}
		in[i] = some && !c.vertices || all && c.vertices
	}
	return in
}

// boundary returns the boundary of a cell.
func (c complex) boundary(i int) vector {
	v := make(vector, c.cells()/64+1)
	step := [3]int{c.h * c.w, c.w, 1}
	for k, p := range c.place(i) {
		if p&1 == 1 {
			v.flip(i - step[k])
			v.flip(i + step[k])
		}
	}
	return v
}

// cycles returns a basis of the cycles of a dimension.
func (c complex) cycles(in []bool, dim int) (list []vector) {
	e, tracks := echelon{}, map[int]vector{}
	for i, is := range in {
		if !is || c.dim(i) != dim {
			continue
		}
		track := make(vector, c.cells()/64+1)
		track.flip(i)
		if !e.add(c.boundary(i), track, tracks) {
			list = append(list, track)
		}
	}
	return list
}

func (c complex) boundaries(in []bool, dim int) (list []vector) {
	for i, is := range in {
		if is && c.dim(i) == dim+1 {
			list = append(list, c.boundary(i))
		}
	}
	return list
}

// byRanks compares masks by the definition. It returns the Betti numbers of both masks and of their
// union, and the dimension of the intersection of both images in the homology of the union.
func byRanks(s grid.Shape, pred, truth func(z, y, x int64) bool, vertices bool) (betti [3][3]int64,
	matched [3]int64) {
	c := complex{int(2*s.D + 1), int(2*s.H + 1), int(2*s.W + 1), vertices}
	if vertices {
		c = complex{int(2*s.D - 1), int(2*s.H - 1), int(2*s.W - 1), vertices}
	}
	both := [3][]bool{c.has(s, pred), c.has(s, truth),
		c.has(s, func(z, y, x int64) bool { return pred(z, y, x) || truth(z, y, x) })}
	for k := range 3 {
		var z [3][]vector
		for i, in := range both {
			z[i] = c.cycles(in, k)
			betti[i][k] = int64(len(z[i])) - rank(c.boundaries(in, k))
		}
		b := c.boundaries(both[2], k)
		matched[k] = rank(z[0], b) + rank(z[1], b) - rank(z[0], z[1], b) - rank(b)
	}
	return betti, matched
}

// TestDefinition compares answers for small random pairs with the definitions of homology and of
// matching.
func TestDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	n := 1000
	if testing.Short() {
		n = 100
	}
	exact := 0
	for range n {
		s := grid.Shape{D: 1 + rng.Int64N(4), H: 1 + rng.Int64N(4), W: 1 + rng.Int64N(5)}
		if rng.IntN(3) == 0 {
			s = grid.Shape{D: 1, H: 1 + rng.Int64N(8), W: 1 + rng.Int64N(8)}
		}
		p := random(t, rng, s, 2, 0.2+0.75*rng.Float64())
		out := answer(t, Implementation{}, p)
		for i, set := range p.Sets {
			mask := func(f *grid.Field) func(z, y, x int64) bool {
				return func(z, y, x int64) bool {
					code := f.Data()[(z*s.H+y)*s.W+x]
					for _, c := range set.Codes {
						if uint8(c) == code {
							return true
						}
					}
					return false
				}
			}
			for k := range assess.Constructions {
				betti, matched := byRanks(s, mask(p.Pred), mask(p.Truth), k == assess.V)
				got := out[i].In[k]
				for side, n := range []fmt.Stringer{got.Pred, got.Truth, got.Union} {
					b := betti[side]
					if want := fmt.Sprintf("(%d, %d, %d)", b[0], b[1], b[2]); n.String() != want {
						t.Fatalf("%v, label %s, construction %d, side %d: want %s, got %v", s, set.Name, k, side,
							want, n)
					}
				}
				for dim := range s.Dim() {
					least, most := out[i].Matched(k, dim, s.Dim())
					if matched[dim] < least || matched[dim] > most || (dim == 0 || dim == s.Dim()-1) && least != most {
						t.Fatalf("%v, label %s, construction %d: %d matched in dimension %d, got %d to %d", s,
							set.Name, k, matched[dim], dim, least, most)
					}
					if matched[dim] > 0 && dim > 0 {
						exact++
					}
				}
			}
		}
	}
	if exact == 0 {
		t.Error("no pair has a matched hole")
	}
}
