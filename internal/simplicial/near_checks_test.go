package simplicial

import (
	"math"
	"slices"
	"testing"

	"eccbench/internal/pool"
)

// A complex is renumbered breadth first, with the same result on any number of cores.
func renumbered(t *testing.T) {
	list := []*Complex{
		{Tops: [][]uint32{nil}, Vertices: 3}, // only unused vertices
		{Tops: [][]uint32{{7}, {0, 5, 5, 2, 9, 3}, {1, 4, 0, 3, 9, 8}}, Vertices: 11},
	}
	for _, name := range []string{
		"kuhn/shape=7x6x5/drills=1/cavities=1/order=random/seed=3", "five/shape=9x8x7/order=random/seed=2",
		"random/vertices=300/dim=2/count=150/seed=2", "random/vertices=90/dim=1/count=65",
	} {
		list = append(list, open(t, name))
	}
	for i, c := range list {
		want := oneByOne(c)
		for _, cores := range []int{1, 3} {
			got := NumberBreadthFirst(new(pool.Pool), c, cores)
			if !slices.EqualFunc(got.Tops, want, slices.Equal) || got.Vertices != c.Vertices {
				t.Errorf("complex %d, %d cores: other simplices than by a search from one vertex to the next", i, cores)
			}
		}
	}
}

// oneByOne returns the given simplices with vertices numbered breadth first, from the first vertex
// of least degree.
func oneByOne(c *Complex) [][]uint32 {
	type simplex struct{ d, at int }
	around := make([][]simplex, c.Vertices)
	for d, tops := range c.Tops {
		for at := 0; at < len(tops); at += d + 1 {
			for _, v := range tops[at : at+d+1] {
				around[v] = append(around[v], simplex{d, at})
			}
		}
	}
	starts := []int{0}
	for v := range around {
		if least := len(around[starts[0]]); len(around[v]) > 0 && (least == 0 || len(around[v]) < least) {
			starts[0] = v
		}
		starts = append(starts, v)
	}
	number, seen := map[uint32]uint32{}, map[simplex]bool{}
	out := make([][]uint32, len(c.Tops))
	for _, start := range starts {
		if _, ok := number[uint32(start)]; ok {
			continue
		}
		number[uint32(start)] = uint32(len(number))
		for queue := []uint32{uint32(start)}; len(queue) > 0; queue = queue[1:] {
			for _, s := range around[queue[0]] {
				if seen[s] {
					continue
				}
				seen[s] = true
				for _, v := range c.Tops[s.d][s.at : s.at+s.d+1] {
					if _, ok := number[v]; !ok {
						number[v] = uint32(len(number))
						queue = append(queue, v)
					}
					out[s.d] = append(out[s.d], number[v])
				}
			}
		}
	}
	return out
}

// A complex is scattered if the vertex numbers of a simplex usually differ by more than an eighth
// of all vertices.
func farIsScattered(t *testing.T) {
	for _, c := range []struct {
		tops []uint32
		want bool
	}{
		{[]uint32{0, 10, 79, 69}, false}, {[]uint32{0, 11, 79, 68}, true}, {[]uint32{22, 0, 5, 6}, true}, {[]uint32{20, 0, 5, 6}, false},
	} {
		if got := Scattered(&Complex{Tops: [][]uint32{nil, c.tops}, Vertices: 80}); got != c.want {
			t.Errorf("%v of 80 vertices: %v", c.tops, got)
		}
	}
	for _, tops := range [][][]uint32{nil, {{3, 70}}} {
		if Scattered(&Complex{Tops: tops, Vertices: 80}) {
			t.Errorf("%v is scattered", tops)
		}
	}
}

// The estimated number of simplices differs by a few percent from the number, in any order, and is
// exact for small complexes. A vertex of very many simplices does not count beyond all subsets.
func estimates(t *testing.T) {
	type complex struct {
		*Complex
		most float64
	}
	list := []complex{
		{open(t, "kuhn/shape=33x33x33/drills=9/cavities=99"), 0.03},
		{open(t, "five/shape=31x33x29/order=random/seed=4"), 0.03},
		{open(t, "torus/shape=150x150/order=random"), 0.03},
		{open(t, "random/vertices=30000/dim=5/count=9000/seed=3"), 0.03},
		{open(t, "kuhn/shape=9x9x9"), 0},
	}
	for hub := range uint32(8) { // some of them are taken
		c := &Complex{}
		for v := hub + 1; v < 40000; v++ {
			c.Add(v, hub)
		}
		list = append(list, complex{c, 0})
	}
	few := &Complex{}
	for v := range uint32(300) { // the other numbers of vertices are unused
		for u := range v {
			few.Add(u, v)
		}
	}
	few.Add(400000, 400001)
	list = append(list, complex{few, 0})
	for _, c := range list {
		c.counts = nil
		got, want := c.Estimate(), c.Simplices()
		if math.Abs(float64(got-want)) > c.most*float64(want) {
			t.Errorf("%v: estimated %d simplices, there are %d", c.Given(), got, want)
		}
	}
}
