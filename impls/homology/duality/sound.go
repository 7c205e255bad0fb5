package duality

import (
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/sound"
	"eccbench/internal/workloads/homology"
)

// Checks are of what small complexes and those of grids do not come to: buckets of more than a
// vertex, the sides of tetrahedra in any place, and tables that grow.
func (Implementation) Checks(string) []sound.Check {
	return []sound.Check{
		{Name: "buckets of several vertices", Of: buckets},
		{Name: "sides of tetrahedra", Of: sidesOfTetrahedra},
		{Name: "tables", Of: tables},
	}
}

// Groups are the same however many vertices share a bucket, on any number of cores.
func buckets(t sound.T) {
	for _, name := range []string{"kuhn/shape=7x6x5/drills=1/cavities=2/order=random/seed=5", "five/shape=6x6x6/drills=4"} {
		p, err := homology.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want := homology.NewGroups(4)
		for k, low := range []uint{0, 1, 2, 5, 12} {
			for _, cores := range []int{1, 3} {
				j := newJob(p, bench.Conditions{Setting: bench.Setting{Threads: cores}}, "")
				j.bucket(low)
				if err := j.Do(nil); err != nil {
					t.Fatalf("%s, %d bits a bucket: %v", name, low, err)
				}
				got, err := j.Out()
				if err != nil {
					t.Fatal(err)
				}
				if k == 0 && cores == 1 {
					if want = got; got.Betti[1] == 0 && got.Betti[2] == 0 {
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

// A tetrahedron is on the side that whole numbers say, which are added up exactly.
func sidesOfTetrahedra(t sound.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	seen := [3]int{}
	rounded := 0
	for range 2000 {
		most := int64(1) << (1 + rng.IntN(18)) // of few places many are in one plane
		var at [12]int64
		points := make([]float64, 12)
		for i := range at {
			at[i] = rng.Int64N(2*most) - most
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
		got, err := orientation(points, &[4]uint32{0, 1, 2, 3})
		if got != want || (err == nil) != (want > 0) {
			t.Fatalf("%v: side %d, %v, want %d", points, got, err, want)
		}
		got, err = exactly(points[:3], points[3:6], points[6:9], points[9:])
		if got != want || (err == nil) != (want > 0) {
			t.Fatalf("%v: side %d without rounding, %v, want %d", points, got, err, want)
		}
		p := &homology.Problem{Complex: &simplicial.Complex{Tops: [][]uint32{nil, nil, nil, {0, 1, 2, 3}}, Vertices: 4, Points: points}, Over: 2}
		j := newJob(p, bench.Conditions{Setting: bench.Setting{Threads: 1 + rng.IntN(4)}}, "")
		if err := j.round(); err != nil {
			t.Fatal(err)
		}
		if got := side((*[4]uint64)(j.rounded)); got != want && got != 0 {
			t.Fatalf("%v, rounded to %x: side %d, want %d", points, j.rounded, got, want)
		} else if got != 0 {
			rounded++
		}
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

// A table keeps the number of each key, and none of what it had before.
func tables(t sound.T) {
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
			if got := *table.at(key); got != want[key] {
				t.Fatalf("key %#x of %d: %d, want %d", key, n, got, want[key])
			}
			*table.at(key), want[key] = i+1, i+1
		}
		for key, number := range want {
			if got := *table.at(key); got != number {
				t.Fatalf("key %#x of %d: %d at the end, want %d", key, n, got, number)
			}
		}
	}
}
