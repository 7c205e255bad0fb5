package definition

import (
	"math/rand/v2"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/ranks"
	"eccbench/internal/ranks/rankstest"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/homology/homologytest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover cases that the groups of most complexes lack: ranks of any signs over any field.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "ranks by minors", Of: ranksByMinors},
		{Name: "orders of more than 64 bits", Of: longOrders},
		homologytest.Limited(Implementation{}, homologytest.Limit{Of: "rp2/over=2", NS: 4080, Bytes: 1200}, homologytest.Limit{Of: "rp2/over=Z", NS: 122_400, Bytes: 9600}, homologytest.Limit{Of: "rp2/over=Q", Threads: 3, NS: 122_400, Bytes: 9600}, homologytest.Limit{Of: "moore/n=2/over=3", NS: 22_896, Bytes: 3888}),
		homologytest.Answered(Implementation{}, []string{"elimination", "faces"}, "rp2/over=2", "moore/n=6/over=3", "klein/shape=4x4/over=Q", "wedge/with=moore,n=4/over=Z/of=rp2", "sphere/dim=0/over=5", "sphere/dim=4/over=Z", "join/with=sphere,dim=1/over=Z/of=rp2"),
	}
}

// Orders of more than 64 bits are rejected over the integers, and do not matter over other rings.
// Few simplices suffice for them if they form no complex.
func longOrders(t *testing.T) {
	const d, n = 14, 56
	rng := rand.New(rand.NewPCG(15, 15))
	f := &simplicial.Faces{Vertices: make([][]uint32, d+1), Boundary: make([][]uint32, d+1)}
	for k := range d {
		f.Vertices[k], f.Boundary[k] = make([]uint32, k+1), make([]uint32, k+1)
	}
	f.Vertices[d-1], f.Boundary[d-1], f.Vertices[d] = make([]uint32, d*n), make([]uint32, d*n), make([]uint32, (d+1)*n)
	for range n {
		for _, face := range rng.Perm(n)[:d+1] {
			f.Boundary[d] = append(f.Boundary[d], uint32(face))
		}
	}
	for over, want := range map[homology.Ring]bool{homology.Integers: true, homology.Rationals: false, 2: false} {
		if got, err := groups(f, over); (err != nil) != want {
			t.Errorf("over %v: %v, %v", over, got, err)
		}
	}
}

// The rank over a field is the greatest size of a minor that is not 0 there.
func ranksByMinors(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for range 150 {
		d, n := 1+rng.IntN(3), 1+rng.IntN(5)
		columns := d + 1 + rng.IntN(3)
		var boundary []uint32
		m := make([][]int64, n)
		for i := range m {
			m[i] = make([]int64, columns)
			for k, face := range rng.Perm(columns)[:d+1] {
				boundary = append(boundary, uint32(face))
				m[i][face] = int64(1 - 2*(k%2))
			}
		}
		for _, p := range []int64{2, 3, 5, ranks.MostPrime} {
			if got, want := fieldRank(boundary, d, int64(n), int64(columns), p), rankstest.Rank(m, p); got != want {
				t.Fatalf("%v over %d: rank %d, want %d", m, p, got, want)
			}
		}
	}
}
