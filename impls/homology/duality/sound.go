package duality

import (
	"math/rand/v2"
	"slices"

	"eccbench/internal/bench"
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
	}
	if slices.Min(seen[:]) < 10 {
		t.Errorf("%v on each side", seen)
	}
}

// A table keeps the number of each key while it grows.
func tables(t sound.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	table, want := newTable(0), map[uint64]uint32{}
	for i := range uint32(2000) {
		key := 1 + rng.Uint64N(900)<<rng.IntN(30)
		if got := *table.at(key); got != want[key] {
			t.Fatalf("key %#x: %d, want %d", key, got, want[key])
		}
		*table.at(key), want[key] = i, i
		if table.count != len(want) || 2*(table.count-1) >= len(table.places) {
			t.Fatalf("%d keys, %d counted in %d places", len(want), table.count, len(table.places))
		}
	}
}
