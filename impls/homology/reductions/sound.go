package reductions

import (
	"math/rand/v2"
	"slices"

	"eccbench/internal/pool"
	"eccbench/internal/simplicial"
	"eccbench/internal/sound"
	"eccbench/internal/workloads/homology"
)

// Checks are of what the numbers of a small complex do not show: lists that outgrow their places,
// and complexes that are renumbered.
func (Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		{Name: "lists that grow", Of: listsGrow},
		{Name: "renumbered complexes", Of: renumbered},
	}
}

// Lists are what is set, whatever happens to others, from those that stand where their length is to
// those that fill a piece of memory.
func listsGrow(t sound.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, k := range []int{1, 2, 3, 5} {
		const n = 60
		data := make([]uint32, n*k)
		for i := range data {
			data[i] = uint32(i/k*10 + k - i%k) // descending within a list
		}
		var p pool.Pool
		l, want := fixed(&p, slices.Clone(data), k), make([][]uint32, n)
		for i := range want {
			want[i] = slices.Sorted(slices.Values(data[i*k : (i+1)*k]))
		}
		for step := range 4000 {
			i := rng.IntN(n)
			if list := want[i]; len(list) > 0 && rng.IntN(3) == 0 {
				out := list[rng.IntN(len(list))]
				l.drop(uint32(i), out)
				want[i] = slices.DeleteFunc(slices.Clone(list), func(v uint32) bool { return v == out })
			} else {
				other := make([]uint32, rng.IntN(12))
				if step == 2000 {
					other = make([]uint32, mostPiece)
				}
				at := uint32(0)
				for j := range other {
					at += 1 + rng.Uint32N(9)
					other[j] = at
				}
				kept := l.get(uint32((i + 1) % n))
				l.set(uint32(i), other)
				if want[i] = other; !slices.Equal(kept, want[(i+1)%n]) {
					t.Fatalf("%d each: a list is %v after another one was set, want %v", k, kept, want[(i+1)%n])
				}
			}
			if got := l.get(uint32(i)); !slices.Equal(got, want[i]) {
				t.Fatalf("%d each, step %d: %d numbers, %v, want %d", k, step, len(got), got[:min(len(got), 9)], len(want[i]))
			}
		}
		few := []uint32{3, 59, 0}
		some := l.some(few)
		for i, from := range few {
			if !slices.Equal(some.get(uint32(i)), want[from]) {
				t.Errorf("%d each: list %d is %v as a copy, want %v", k, from, some.get(uint32(i)), want[from])
			}
		}
		having := inverted(&p, l, 200, nil, func(v uint32) (uint32, bool) { return v, v < 200 })
		for v := range uint32(200) {
			var lists []uint32
			for i, list := range want {
				if slices.Contains(list, v) {
					lists = append(lists, uint32(i))
				}
			}
			if !slices.Equal(having.get(v), lists) {
				t.Errorf("%d each: %d is in lists %v, want %v", k, v, having.get(v), lists)
			}
		}
	}
}

// A complex is renumbered as by a search that goes from one vertex to the next; how many cores
// look at it changes nothing.
func renumbered(t sound.T) {
	for _, name := range []string{"kuhn/shape=7x6x5/drills=1/cavities=1/order=random/seed=3", "five/shape=9x8x7/order=random/seed=2", "mixed", "random/vertices=300/dim=2/count=150/seed=2"} {
		// Of three dimensions, with a vertex that no simplex has.
		c := &simplicial.Complex{Tops: [][]uint32{{7}, {0, 5, 5, 2, 9, 3}, {1, 4, 0, 3, 9, 8}}, Vertices: 11}
		if name != "mixed" {
			p, err := homology.Inputs{}.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			c = p.Complex
		}
		want := oneByOne(c)
		for _, cores := range []int{1, 3} {
			if got := near(new(pool.Pool), c, cores); !slices.EqualFunc(got.Tops, want, slices.Equal) || got.Vertices != c.Vertices {
				t.Errorf("%s, %d cores: other simplices than by a search from one vertex to the next", name, cores)
			}
		}
	}
}

// oneByOne is the given simplices with vertices numbered breadth first, from the first one that
// the fewest simplices have.
func oneByOne(c *simplicial.Complex) [][]uint32 {
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
