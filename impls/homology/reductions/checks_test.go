package reductions

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/pool"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/homology/homologytest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

func TestEliminationConfirms(t *testing.T) {
	for _, i := range []homologytest.Implementation{Implementation{}, Partitions{}, Race{}} {
		homologytest.EliminationConfirms(t, i)
	}
}

// checks cover cases that the groups of a small complex do not show: lists that outgrow their
// places, parts of a complex, and races, on any number of cores.
func checks() []checktest.Check {
	parts := []string{"faces", "reducible complex", "reductions"}
	shared := []string{"faces", "partition", "reducible complex", "reductions", "reductions of parts"}
	return []checktest.Check{
		{Name: "lists that grow", Of: listsGrow},
		{Name: "what jobs say of themselves", Of: flagsAreTold},
		limited(Implementation{}),
		homologytest.Answered(Implementation{}, parts, answered...),
		homologytest.Answered(Implementation{}, append(parts, "renumbering"), scatteredOnes...),

		{Name: "parts of a complex", Of: partsAreEqual},
		{Name: "what lies between parts", Of: ownersAreDefined},
		limited(Partitions{}),
		homologytest.Answered(Partitions{}, shared, answered...),
		homologytest.Answered(Partitions{}, append(shared, "renumbering"), scatteredOnes...),

		limited(Race{}),
		homologytest.Answered(Race{}, []string{"faces", "reductions"}, slices.Concat(answered, scatteredOnes)...),
	}
}

func limited(i bench.Implementation[*homology.Problem, homology.Groups]) checktest.Check {
	return homologytest.Limited(i, homologytest.Limit{Of: "rp2/over=2", Threads: 2, NS: 46_500, Bytes: 4960}, homologytest.Limit{Of: "rp2/over=3", Never: "over 2, not over 3"}, homologytest.Limit{Of: "rp2/over=Z", Never: "over 2, not over Z"}, homologytest.Limit{Of: "rp2/over=Q", Never: "over 2, not over Q"})
}

// Complexes with groups known from their names, and complexes whose simplices have distant vertex
// numbers.
var (
	answered      = []string{"kuhn/shape=5x6x16/drills=1/cavities=3/over=2", "five/shape=5x40/drills=3/over=2"}
	scatteredOnes = []string{"kuhn/shape=6x7x6/drills=2/cavities=3/order=random/over=2", "klein/shape=9x9/order=random/over=2", "rp2/over=2", "wedge/with=moore,n=4/over=2/of=moore/n=6", "sphere/dim=5/over=2"}
)

// Each list keeps its values while others change: short ones that stay in place, and long ones that
// fill a piece of memory.
func listsGrow(t *testing.T) {
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
		some := l.selected(few)
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

// complexOf returns the complex of a name. "mixed" has three dimensions and an unused vertex.
func complexOf(t *testing.T, name string) *simplicial.Complex {
	t.Helper()
	if name == "mixed" {
		return &simplicial.Complex{Tops: [][]uint32{{7}, {0, 5, 5, 2, 9, 3}, {1, 4, 0, 3, 9, 8}}, Vertices: 11}
	}
	p, err := homology.Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p.Complex
}

// Parts have as many simplices, but for one or two, however many there are.
func partsAreEqual(t *testing.T) {
	for _, name := range []string{"kuhn/shape=7x6x5/drills=1/cavities=1/order=random/seed=3", "random/vertices=90/dim=2/count=100/seed=2", "rp2"} {
		p, err := homology.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		n := int(p.Given())
		for parts := 1; parts <= 7; parts++ {
			count := make([]int, parts)
			for _, part := range bisect(p.Complex, parts) {
				count[part]++
			}
			for part, c := range count {
				if c < n/parts-1 || c > n/parts+2 {
					t.Errorf("%s: part %d of %d has %d of %d simplices", name, part, parts, c, n)
				}
			}
			j, err := Partitions{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: parts}})
			if err != nil {
				t.Fatal(err)
			}
			if got := j.(*job).parts; got != parts {
				t.Errorf("%d parts on %d cores", got, parts)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// A simplex belongs to a part if all given simplices at one of its vertices do. Otherwise it is
// between parts.
func ownersAreDefined(t *testing.T) {
	for _, name := range []string{"kuhn/shape=7x6x5/drills=1/cavities=1/order=random/seed=3", "random/vertices=90/dim=2/count=100/seed=2", "mixed"} {
		c := complexOf(t, name)
		f := simplicial.NewFaces(c, 1)
		for parts := 1; parts <= 5; parts++ {
			of := make([]map[int32]bool, c.Vertices)
			part, at := bisect(c, parts), 0
			for d, tops := range c.Tops {
				for s := 0; s < len(tops); s += d + 1 {
					for _, v := range tops[s : s+d+1] {
						if of[v] == nil {
							of[v] = map[int32]bool{}
						}
						of[v][part[at]] = true
					}
					at++
				}
			}
			for d, owner := range owners(f, c, parts) {
				for i, got := range owner {
					want := map[int32]bool{}
					for _, v := range f.Vertices[d][i*(d+1) : (i+1)*(d+1)] {
						if len(of[v]) == 1 {
							for p := range of[v] {
								want[p] = true
							}
						}
					}
					if len(want) > 1 || len(want) == 1 && !want[got] || len(want) == 0 && got != between {
						t.Fatalf("%s: simplex %d of dimension %d is of part %d, want %v", name, i, d, got, want)
					}
				}
			}
		}
	}
}

// The flags report the longest boundary of any dimension and part, and the number of rounds.
func flagsAreTold(t *testing.T) {
	const points, random, holes, nearer = "sphere/dim=0/over=2", "random/vertices=30/dim=3/count=300/seed=4/over=2", "kuhn/shape=9x8x9/drills=4/cavities=9/order=random/over=2", "vertices renumbered breadth first"
	longest := func(n int) string { return fmt.Sprintf("longest boundary of a cell: %d faces", n) }
	for _, c := range []struct {
		of      string
		i       bench.Implementation[*homology.Problem, homology.Groups]
		options string
		threads int
		want    []string
	}{
		{random, Implementation{}, "", 1, []string{longest(17), nearer}}, {random, Implementation{}, "pairs=numbered", 1, []string{longest(19)}}, {holes, Implementation{}, "", 1, []string{longest(18), nearer}}, {holes, Implementation{}, "pairs=numbered", 1, []string{longest(110)}},
		{random, Partitions{}, "", 3, []string{longest(16), nearer}}, {random, Partitions{}, "pairs=numbered", 4, []string{longest(19)}}, {holes, Partitions{}, "", 3, []string{longest(31), nearer}},
		{random, Race{}, "", 1, []string{longest(18), "108 rounds"}}, {random, Race{}, "margin=0", 1, []string{longest(22), "248 rounds"}}, {holes, Race{}, "", 1, []string{longest(24), "82 rounds"}},
		{points, Implementation{}, "", 1, []string{longest(0)}}, {points, Partitions{}, "", 3, []string{longest(0)}}, {points, Race{}, "", 1, []string{longest(0), "0 rounds"}},
	} {
		p, err := homology.Inputs{}.Open(c.of)
		if err != nil {
			t.Fatal(err)
		}
		j, err := c.i.Setup(p, bench.Conditions{Setting: bench.Setting{Options: c.options, Threads: c.threads}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // a second call reports the same
			if err := j.Do(nil); err != nil {
				t.Fatal(err)
			}
			if got := j.(interface{ Flags() []string }).Flags(); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s, %d cores: %q, want %q", c.i.About().Name, c.options, c.threads, got, c.want)
			}
		}
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := (Race{}).Setup(nil, bench.Conditions{Setting: bench.Setting{Options: "margin=few"}}); err == nil {
		t.Error("a margin of few is one")
	}
	// With a margin that admits every reduction, all cells race.
	p, err := homology.Inputs{}.Open(random)
	if err != nil {
		t.Fatal(err)
	}
	rounds, faces, err := Rounds(p.Complex, math.MaxUint32, true)
	if most, far, _ := Rounds(p.Complex, 1<<30, true); err != nil || rounds != most || faces != far || rounds == 0 {
		t.Errorf("%d rounds to a boundary of %d faces, %v, want %d and %d", rounds, faces, err, most, far)
	}
}
