package smith

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/ranks/rankstest"
	"eccbench/internal/simplicial"
)

func factors(t *testing.T, orders []uint64) []uint64 {
	t.Helper()
	list, err := Factors(orders)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestFactorsDivide(t *testing.T) {
	for _, c := range [][2][]uint64{{{4, 6}, {2, 12}}, {{2, 3, 5}, {30}}, {{1}, {}}, {nil, {}}, {{2, 2, 4, 9}, {2, 2, 36}}, {{6, 10, 15}, {30, 30}}, {{4, 6, 9}, {6, 36}}} {
		if got := factors(t, c[0]); !slices.Equal(got, c[1]) {
			t.Errorf("%v: %v, want %v", c[0], got, c[1])
		}
	}
	for order, want := range map[uint64]error{1<<32 - 1: nil, 1<<32 + 1: ErrLong} {
		if got, err := Factors([]uint64{1 << 32, order, 1}); err != want || err == nil && !slices.Equal(got, []uint64{order << 32}) {
			t.Errorf("2³² and %d: %v, %v", order, got, err)
		}
	}
}

// The forms of a projective plane, and of orders of 64 bits and one more.
func TestFormByHand(t *testing.T) {
	name, err := simplicial.ParseName("rp2")
	if err != nil {
		t.Fatal(err)
	}
	c, err := name.Open()
	if err != nil {
		t.Fatal(err)
	}
	f := simplicial.NewFaces(c, 1)
	rank, torsion, err := Form(10, 15, func(i int64) []uint32 { return f.Boundary[2][3*i : 3*i+3] })
	if rank != 10 || !slices.Equal(torsion, []uint64{2}) || err != nil {
		t.Errorf("rank %d, torsion %v, %v", rank, torsion, err)
	}
	// Orders of 64 bits, and of one more.
	for bits, want := range map[uint]error{63: nil, 64: ErrLong} {
		order := new(big.Int).Lsh(big.NewInt(1), bits)
		rank, torsion, err := diagonal([][]*big.Int{{order, new(big.Int)}, {new(big.Int), big.NewInt(-1)}})
		if rank != 2 || !errors.Is(err, want) || want == nil && !slices.Equal(torsion, []uint64{1 << 63}) {
			t.Errorf("an order of 2^%d: rank %d, torsion %v, %v", bits, rank, torsion, err)
		}
	}
}

// A diagonal form has the rank of the matrix. Its entries define the group of the invariant
// factors, computed from the minors.
func TestDiagonalsByMinors(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 11))
	torsion := 0
	for round := range 600 {
		m := rankstest.Random(rng, []int64{1, 2, 6, 1 << 40}[round%4])
		rows := make([][]*big.Int, len(m))
		for i := range m {
			for _, v := range m[i] {
				rows[i] = append(rows[i], big.NewInt(v))
			}
		}
		rank, got, err := diagonal(rows)
		var want []uint64
		fits := true
		for _, f := range rankstest.Factors(m) {
			if fits = fits && f.BitLen() < 60; fits && f.Cmp(big.NewInt(1)) > 0 {
				want = append(want, f.Uint64())
			}
		}
		if rank != rankstest.Rank(m, 0) {
			t.Fatalf("%v: rank %d, want %d", m, rank, rankstest.Rank(m, 0))
		}
		if !fits {
			continue
		}
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		if torsion += len(want); !slices.Equal(factors(t, got), want) {
			t.Fatalf("%v: a diagonal of %v, want %v", m, got, want)
		}
	}
	if torsion < 100 {
		t.Errorf("%d factors in all", torsion)
	}
}
