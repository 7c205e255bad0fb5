package runs

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/assess"
)

// vector is a chain over Z/2: its cells, ascending.
type vector []int32

// low returns the last cell of a chain, or −1 for the zero chain.
func (v vector) low() int32 {
	if len(v) == 0 {
		return -1
	}
	return v[len(v)-1]
}

// plus returns the sum of two chains.
func (v vector) plus(o vector) vector {
	sum := make(vector, 0, len(v)+len(o))
	for len(v) > 0 && len(o) > 0 {
		switch {
		case v[0] < o[0]:
			sum, v = append(sum, v[0]), v[1:]
		case v[0] > o[0]:
			sum, o = append(sum, o[0]), o[1:]
		default:
			v, o = v[1:], o[1:]
		}
	}
	return append(append(sum, v...), o...)
}

// echelon maps the last cell of each of some independent chains to the chain.
type echelon map[int32]vector

// add adds a chain and reports whether it was independent of the earlier ones. tracks holds a second
// chain for each, which the same operations change; with is that of v, and add returns it.
func (e echelon) add(v, with vector, tracks echelon) (independent bool, track vector) {
	for len(v) > 0 {
		i := v.low()
		o, ok := e[i]
		if !ok {
			if e[i] = v; tracks != nil {
				tracks[i] = with
			}
			return true, with
		}
		if v = v.plus(o); tracks != nil {
			with = with.plus(tracks[i])
		}
	}
	return false, with
}

// addAll adds chains and returns the number of independent ones so far.
func (e echelon) addAll(list []vector) int64 {
	for _, v := range list {
		e.add(v, nil, nil)
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
func (c complex) boundary(i int) (v vector) {
	step := [3]int{c.h * c.w, c.w, 1}
	for k, p := range c.place(i) {
		if p&1 == 1 {
			v = append(v, int32(i-step[k]), int32(i+step[k]))
		}
	}
	slices.Sort(v)
	return v
}

// cycles returns a basis of the cycles of a dimension.
func (c complex) cycles(in []bool, dim int) (list []vector) {
	e, tracks := echelon{}, echelon{}
	for i, is := range in {
		if !is || c.dim(i) != dim {
			continue
		}
		if independent, cycle := e.add(c.boundary(i), vector{int32(i)}, tracks); !independent {
			list = append(list, cycle)
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
	var cycles [3][4][]vector // of each mask by dimension
	for i, in := range both {
		var cells [4]int64
		for at, is := range in {
			if is {
				cells[c.dim(at)]++
			}
		}
		for k := range cells {
			cycles[i][k] = c.cycles(in, k)
		}
		for k := range 3 {
			rank := cells[k+1] - int64(len(cycles[i][k+1])) // of the boundaries
			betti[i][k] = int64(len(cycles[i][k])) - rank
		}
	}
	for k := range 3 {
		e := echelon{}
		rank := e.addAll(c.boundaries(both[2], k))
		truth := maps.Clone(e).addAll(cycles[1][k]) - rank
		pred := e.addAll(cycles[0][k]) - rank
		matched[k] = pred + truth - (e.addAll(cycles[1][k]) - rank)
	}
	return betti, matched
}

// TestDefinition compares answers for random pairs with the definitions of homology and of matching:
// small ones of any shape, and some of 12³.
func TestDefinition(t *testing.T) {
	t.Log("seed 5, 6")
	rng := rand.New(rand.NewPCG(5, 6))
	small, large := 400, 24
	switch {
	case testing.Short():
		small, large = 100, 2
	case os.Getenv("ECCBENCH_LONG") != "":
		large = 1000
	}
	holes := int64(0)
	for i := range small + large {
		s := grid.Shape{D: 12, H: 12, W: 12}
		if i < small {
			s = grid.Shape{D: 1 + rng.Int64N(4), H: 1 + rng.Int64N(4), W: 1 + rng.Int64N(5)}
			if rng.IntN(3) == 0 {
				s = grid.Shape{D: 1, H: 1 + rng.Int64N(8), W: 1 + rng.Int64N(8)}
			}
		}
		p := random(t, rng, s, 2, 0.2+0.75*rng.Float64())
		constructions := []int{assess.T, assess.V}
		if i >= small {
			p.Sets, constructions = p.Sets[:1], constructions[i%2:][:1]
		}
		holes += compareWithRanks(t, p, constructions)
	}
	if holes == 0 {
		t.Error("no pair has a matched hole")
	}
}

// compareWithRanks compares the answer for a pair with the definition. It returns the number of
// matched features above dimension 0.
func compareWithRanks(t *testing.T, p *assess.Pair, constructions []int) (holes int64) {
	s, out := p.Shape(), answer(t, Implementation{}, p)
	for i, set := range p.Sets {
		mask := func(f *grid.Field) func(z, y, x int64) bool {
			return func(z, y, x int64) bool {
				return slices.Contains(set.Codes, uint16(f.Data()[(z*s.H+y)*s.W+x]))
			}
		}
		for _, k := range constructions {
			betti, matched := byRanks(s, mask(p.Fields()[0]), mask(p.Fields()[1]), k == assess.V)
			got := out[i].In[k]
			for side, n := range []fmt.Stringer{got.Pred, got.Truth, got.Union} {
				b := betti[side]
				if want := fmt.Sprintf("(%d, %d, %d)", b[0], b[1], b[2]); n.String() != want {
					t.Fatalf("%v, label %s, construction %d, side %d: want %s, got %v", s, set.Name, k, side, want, n)
				}
			}
			for dim := range s.Dim() {
				least, most := out[i].Matched(k, dim, s.Dim())
				if matched[dim] < least || matched[dim] > most || (dim == 0 || dim == s.Dim()-1) && least != most {
					t.Fatalf("%v, label %s, construction %d: %d matched in dimension %d, got %d to %d", s,
						set.Name, k, matched[dim], dim, least, most)
				}
				if dim > 0 {
					holes += matched[dim]
				}
			}
		}
	}
	if d := assess.Workload().Policy.Agree(p, assess.BySearch(p), out); d != nil {
		t.Fatalf("%v: the judge differs: %v", s, d)
	}
	return holes
}
