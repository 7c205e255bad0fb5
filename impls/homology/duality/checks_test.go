package duality

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/homology/homologytest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

func TestEliminationConfirms(t *testing.T) { homologytest.EliminationConfirms(t, Implementation{}) }

// checks cover cases that small complexes and grids lack: buckets of several vertices, the sides of
// tetrahedra at any coordinates, and tables that grow.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "buckets of several vertices", Of: buckets},
		{Name: "tetrahedra that are taken at several times", Of: severalTimes},
		{Name: "vertices in no simplex", Of: unusedVertices},
		{Name: "sides of tetrahedra", Of: sidesOfTetrahedra},
		{Name: "sides that rounding may change", Of: sidesAreLeft},
		{Name: "sides of tetrahedra that are nearly flat", Of: flatOnes},
		{Name: "bits of a triangle", Of: trianglesFit},
		{Name: "tables", Of: tables},
		{Name: "triangles that are looked for in the same places", Of: triangleTables},
		{Name: "refused complexes", Of: refused},
		{Name: "boundaries that are no surfaces", Of: noSurfaces},
		homologytest.Limited(Implementation{}, homologytest.Limit{Of: "kuhn/shape=3x3x3/over=Z", NS: 14_400, Bytes: 2400}, homologytest.Limit{Of: "kuhn/shape=3x3x3/over=2", Threads: 3, NS: 4800, Bytes: 2400}, homologytest.Limit{Of: "rp2", Never: "tetrahedra with coordinates"}),
		homologytest.Answered(Implementation{}, []string{"boundary", "surfaces and components", "triangles"}, "kuhn/shape=7x6x5/drills=1/cavities=2/order=random/seed=5/over=Z", "five/shape=10x10x10/drills=4/cavities=12/over=3", "kuhn/shape=2x2x2/over=2", "kuhn/shape=3x9x19/over=2", "kuhn/shape=3x9x19/order=random/over=2"), // the last two with a vertex of a bit more than others have
	}
}

// Groups are the same however many vertices share a bucket, on any number of cores.
func buckets(t *testing.T) {
	for _, name := range []string{"kuhn/shape=7x6x5/drills=1/cavities=2/order=random/seed=5", "five/shape=6x6x6/drills=4", "apart"} {
		p := disjoint(70)
		if name != "apart" {
			var err error
			if p, err = (homology.Inputs{}).Open(name); err != nil {
				t.Fatal(err)
			}
		}
		want := homology.NewGroups(4)
		for k, low := range []uint{0, 1, 2, 5, 12} {
			for _, cores := range []int{1, 3} {
				j := newJob(p, bench.Conditions{Setting: bench.Setting{Threads: cores}})
				j.bucket(low)
				if err := j.Do(nil); err != nil {
					t.Fatalf("%s, %d bits a bucket: %v", name, low, err)
				}
				got, err := j.Out()
				if err != nil {
					t.Fatal(err)
				}
				if k == 0 && cores == 1 {
					if want = got; got.Betti[0] == 1 && got.Betti[1] == 0 && got.Betti[2] == 0 {
						t.Fatalf("%s: %v shows little", name, got)
					}
				}
				if !slices.Equal(got.Betti, want.Betti) {
					t.Errorf("%s, %d bits a bucket, %d cores: %v, want %v", name, low, cores, got, want)
				}
			}
		}
	}
}

// All tetrahedra are joined if there are more than one core takes at once.
func severalTimes(t *testing.T) {
	const n = atOnce + 70
	p := disjoint(n)
	for _, cores := range []int{1, 3} {
		j := newJob(p, bench.Conditions{Setting: bench.Setting{Threads: cores}})
		if err := j.Do(nil); err != nil || !slices.Equal(j.Last.Betti, []int64{n, 0, 0, 0}) {
			t.Errorf("%d tetrahedra apart: %v, %v", n, j.Last, err)
		}
	}
}

// Vertices in no simplex are no components.
func unusedVertices(t *testing.T) {
	p := disjoint(5)
	p.Vertices++
	p.Points = append(p.Points, 9, 9, 9)
	j := newJob(p, bench.Conditions{Setting: bench.Setting{Threads: 3}})
	if err := j.Do(nil); err != nil || !slices.Equal(j.Last.Betti, []int64{5, 0, 0, 0}) {
		t.Errorf("%v, %v", j.Last, err)
	}
}

// disjoint returns n tetrahedra without a common triangle, so that tables hold all of them.
func disjoint(n int) *homology.Problem {
	c := &simplicial.Complex{}
	for i := range n {
		v := uint32(4 * i)
		c.Add(v, v+1, v+2, v+3)
		x := float64(2 * i)
		c.Points = append(c.Points, x, 0, 0, x+1, 0, 0, x, 1, 0, x, 0, 1)
	}
	return &homology.Problem{Complex: c, Over: 2}
}

// No side is decided by a determinant that rounding may change, whichever coordinate is the
// largest.
func sidesAreLeft(t *testing.T) {
	for large := range 9 {
		var at [4]uint64
		for k, place := range []uint64{1 << 16, 1 << 10, 1 << 10} { // one of each row and column
			at[1+(large/3+k)%3] = place << ((large%3 + k) % 3 * placeBits)
		}
		if got := side(&at); got != 0 {
			t.Errorf("places %x have side %d, and may have another", at, got)
		}
	}
}

// The side of a tetrahedron is that of the determinant in exact integers.
func sidesOfTetrahedra(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	seen := [3]int{}
	rounded := 0
	for range 2000 {
		most := int64(1) << (1 + rng.IntN(18)) // of few coordinates many are coplanar
		var at [12]int64
		points := make([]float64, 12)
		for i := range at {
			at[i] = rng.Int64N(2*most) - most
		}
		if rng.IntN(2) == 0 { // or one place off a plane, which rounding hides
			s, t := rng.Int64N(3)-1, rng.Int64N(3)-1
			for k := range 3 {
				at[9+k] = at[k] + s*(at[3+k]-at[k]) + t*(at[6+k]-at[k])
			}
			at[9+rng.IntN(3)] += rng.Int64N(3) - 1
		}
		for i := range at {
			points[i] = float64(at[i])
		}
		var v [3][3]int64
		for i := range v {
			for k := range v[i] {
				v[i][k] = at[3*i+3+k] - at[k]
			}
		}
		det := v[0][0]*(v[1][1]*v[2][2]-v[1][2]*v[2][1]) - v[0][1]*(v[1][0]*v[2][2]-v[1][2]*v[2][0]) + v[0][2]*(v[1][0]*v[2][1]-v[1][1]*v[2][0])
		want := uint32(0)
		switch {
		case det > 0:
			want = 1
		case det < 0:
			want = 2
		}
		seen[want]++
		for _, s := range [][4]uint32{{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}} { // which mirror it twice
			if got, err := orientation(points, &s); got != want || (err == nil) != (want > 0) {
				t.Fatalf("%v, in the order %v: side %d, %v, want %d", points, s, got, err, want)
			}
		}
		got, err := exactly(points[:3], points[3:6], points[6:9], points[9:])
		if got != want || (err == nil) != (want > 0) {
			t.Fatalf("%v: side %d without rounding, %v, want %d", points, got, err, want)
		}
		p := &homology.Problem{Complex: &simplicial.Complex{Tops: [][]uint32{nil, nil, nil, {0, 1, 2, 3}}, Vertices: 4, Points: points}, Over: 2}
		j := newJob(p, bench.Conditions{Setting: bench.Setting{Threads: 1 + rng.IntN(4)}})
		j.round()
		if got := side((*[4]uint64)(j.rounded)); got != want && got != 0 {
			t.Fatalf("%v, rounded to %x: side %d, want %d", points, j.rounded, got, want)
		} else if got != 0 {
			rounded++
		}
		// An axis too short or too long for any scale decides no side: 0.
		long, e := slices.Clone(points), []int{-1074, -1060, 1005}[rng.IntN(3)]
		for i, axis := 0, rng.IntN(3); i < 4; i++ {
			long[3*i+axis] = math.Ldexp(long[3*i+axis], e)
		}
		if got, err = orientation(long, &[4]uint32{0, 1, 2, 3}); got != want || (err == nil) != (want > 0) {
			t.Fatalf("%v: side %d, %v, want %d", long, got, err, want)
		}
		p.Points = long
		j.round()
		if got := side((*[4]uint64)(j.rounded)); got != want && got != 0 || e < 0 && slices.Max(j.rounded) > 0 {
			t.Fatalf("%v, rounded to %x: side %d, want %d", long, j.rounded, got, want)
		}
		p.Points = points
		points[rng.IntN(12)] = math.Inf(1 - 2*rng.IntN(2))
		if err := j.Do(nil); err == nil {
			t.Fatalf("%v: no error", points)
		}
	}
	if rounded < 1000 {
		t.Errorf("the sides of %d tetrahedra are told of rounded places", rounded)
	}
	if slices.Min(seen[:]) < 10 {
		t.Errorf("%v on each side", seen)
	}
}

// The side of a tetrahedron that is flat except for rounding is exact, along whichever axis its
// last vertex is far away.
func flatOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	seen := [3]int{}
	for round := range 300 {
		points := make([]float64, 12)
		along, s := rng.Float64(), rng.Float64()
		for k := range 3 {
			axis := (round + k) % 3
			from, to := rng.Float64(), rng.Float64()
			points[axis], points[3+axis], points[6+axis], points[9+axis] = from, from+to, from+s*to, from
			if k == 0 {
				points[6+axis], points[9+axis] = from+along, from+1e6
			}
		}
		want, none := exactly(points[:3], points[3:6], points[6:9], points[9:])
		if got, err := orientation(points, &[4]uint32{0, 1, 2, 3}); got != want || (err == nil) != (none == nil) {
			t.Fatalf("%v: side %d, %v, want %d", points, got, err, want)
		}
		seen[want]++
	}
	if min(seen[1], seen[2]) < 50 {
		t.Errorf("%v on each side", seen)
	}
}

// The bits of a vertex within a bucket leave eleven bits for buckets. They fit a word with two
// vertices and the sides.
func trianglesFit(t *testing.T) {
	for width := 1; width <= mostBits; width++ {
		if got, want := bucketBits(uint(width)), max(0, min(width-11, 64-2-2*width)); got != uint(want) {
			t.Errorf("%d of %d bits within a bucket, want %d", got, width, want)
		}
	}
}

// A table keeps the number of each key, and nothing from before it was cleared.
func tables(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var table table
	for _, n := range []int{0, 1, 600, 40, 900, 1} {
		table.clear(n)
		want := map[uint64]uint32{}
		for i := range uint32(3 * n) {
			key := (1 + rng.Uint64N(1<<30)) << rng.IntN(34)
			if len(want) == n {
				for key = range want {
					break
				}
			}
			if got := *table.numberOf(key); got != want[key] {
				t.Fatalf("key %#x of %d: %d, want %d", key, n, got, want[key])
			}
			*table.numberOf(key), want[key] = i+1, i+1
		}
		for key, number := range want {
			if got := *table.numberOf(key); got != number {
				t.Fatalf("key %#x of %d: %d at the end, want %d", key, n, got, number)
			}
		}
	}
}

// A table of triangles has room for each, even if all first probes are at even places. Its list has
// each once.
func triangleTables(t *testing.T) {
	const n = 42 // the most for a table of 64 places
	j := newJob(disjoint(1<<12), bench.Conditions{Setting: bench.Setting{Threads: 1}})
	j.bucket(0)
	j.words = nil
	var want []uint64
	for c := uint64(2); len(j.words) < n; c++ {
		key := 1<<(j.bits+2) | c<<2
		if key*0x9e3779b97f4a7c15>>20&1 == 0 {
			j.words, want = append(j.words, key|1+c&1), append(want, 1, c)
		}
	}
	for b := range j.start[1:] {
		j.start[b+1] = n
	}
	list, err := j.unmatched(0)
	var got []uint64
	for i := 0; i < len(list); i += 2 {
		got = append(got, list[i], list[i+1])
	}
	if slices.Sort(got); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("triangles %v, %v, want %v", got, err, want)
	}
}

// A complex that is no manifold in space is rejected, with the place of the fault.
func refused(t *testing.T) {
	at := []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0.2, 0.2, 0.5, 1, 1, 1, 2, 1, 1, 1, 2, 1, 2, 2, 3, -1, 0, 0, 0, -1, 0}
	for want, tets := range map[string][]uint32{
		"": {0, 1, 2, 3, 4, 0, 1, 2}, "triangle [0 1 2] has two tetrahedra on one side, which overlap": {0, 1, 2, 3, 5, 2, 1, 0}, "triangle [0 1 2] has three tetrahedra, which cannot be in space": {0, 1, 2, 3, 4, 1, 0, 2, 0, 1, 5, 2}, "triangle [0 1 2] has two tetrahedra on one side": {3, 2, 1, 0, 3, 2, 1, 0},
		"tetrahedron 1: its vertices are in one plane": {0, 1, 2, 3, 3, 6, 7, 8}, "the edge of vertices 0 and 3 has more than two of its triangles": {0, 3, 1, 2, 0, 3, 10, 11}, "parts of it touch at vertex 3 alone": {0, 1, 2, 3, 3, 6, 7, 9},
	} {
		wantRejected(t, want, at, len(at)/3, nil, nil, nil, tets)
	}
	wantRejected(t, "some simplices of dimension 2 are in none",
		at, 12, nil, nil, []uint32{0, 1, 4}, []uint32{0, 1, 2, 3})
	wantRejected(t, "some simplices of dimension 0 are in none", at, 12, []uint32{5}, nil, nil, []uint32{0, 1, 2, 3})
	wantRejected(t, "tetrahedra with coordinates", nil, 12, nil, nil, nil, []uint32{0, 1, 2, 3})
	wantRejected(t, "tetrahedra with coordinates", at, 12, nil, nil, []uint32{0, 1, 4})
	wantRejected(t, "67108865 vertices, and duality supports at most 67108864",
		at, 1<<mostBits+1, nil, nil, nil, []uint32{0, 1, 2, 3})
	at[15] = math.NaN()
	wantRejected(t, "tetrahedron 0: a vertex is at [NaN 0.2 0.5], which is no point",
		at, 12, nil, nil, nil, []uint32{0, 1, 2, 5})
}

// wantRejected requires that simplices at some points are rejected with the wanted words, or accepted, also by a
// single answer, which does not look for the boundary twice.
func wantRejected(t *testing.T, want string, at []float64, vertices int, tops ...[]uint32) {
	t.Helper()
	for threads := 1; threads < 4; threads++ {
		p, c := &homology.Problem{Complex: &simplicial.Complex{Tops: tops, Vertices: vertices, Points: at}, Over: 2}, bench.Conditions{Setting: bench.Setting{Threads: threads}}
		once := c
		once.Once = true
		_, answered := bench.Answer(Implementation{}, p, once)
		if answered != nil && !errors.As(answered, new(bench.Refusal)) {
			t.Errorf("%v: %v is no refusal", tops, answered)
		}
		for _, err := range []error{Implementation{}.CanDo(p, c), answered} {
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "; use reduced")) {
				t.Errorf("%v: %v, want %q", tops, err, want)
			}
		}
	}
}

// Triangles that form no surface are reported, even if they bound no tetrahedra. The components
// and the Euler characteristic of a surface are counted.
func noSurfaces(t *testing.T) {
	for _, c := range []struct {
		triangles  [][3]uint64
		want       string
		count, chi int64
	}{
		{nil, "", 0, 0}, {[][3]uint64{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}, "", 1, 2}, {[][3]uint64{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}, {4, 5, 6}, {4, 5, 7}, {4, 6, 7}, {5, 6, 7}}, "", 2, 4},
		{[][3]uint64{{0, 1, 2}}, "3 of 3 edges have one triangle alone", 0, 0}, {[][3]uint64{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}}, "3 of 6 edges have one triangle alone", 0, 0},
		{[][3]uint64{{0, 1, 2}, {0, 1, 3}, {0, 1, 4}}, "the edge of vertices 0 and 1 has more than two", 0, 0}, {[][3]uint64{{4, 5, 6}, {4, 5, 7}, {3, 4, 5}}, "the edge of vertices 4 and 5 has more than two", 0, 0}, {[][3]uint64{{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}, {3, 5, 6}, {3, 5, 7}, {3, 6, 7}, {5, 6, 7}}, "touch at vertex 3 alone", 0, 0},
	} {
		for cores := 1; cores < 4; cores++ {
			j := newJob(&homology.Problem{Complex: &simplicial.Complex{Tops: make([][]uint32, 4), Vertices: 8, Points: make([]float64, 24)}, Over: 2}, bench.Conditions{Setting: bench.Setting{Threads: cores}})
			lists := make([][]uint64, cores)
			for i, v := range c.triangles {
				lists[i%cores] = append(lists[i%cores], v[0]<<32|v[1], v[2])
			}
			count, chi, err := j.surfaces(lists)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %q", c.triangles, err, c.want)
			} else if count != c.count || chi != c.chi {
				t.Errorf("%v: %d surfaces of characteristic %d, want %d and %d", c.triangles, count, chi, c.count, c.chi)
			}
		}
	}
}
