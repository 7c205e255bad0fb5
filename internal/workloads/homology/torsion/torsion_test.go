package torsion

import (
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"eccbench/internal/ranks/rankstest"
	"eccbench/internal/verify"
)

func list(orders []*big.Int) string { return fmt.Sprint(orders) }

// Ranks and factors of random matrices agree with their minors.
func TestFactorsAreThoseOfMinors(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	found := 0
	for round := range 800 {
		m := rankstest.Random(r, []int64{1, 2, 6, 1 << 20}[round%4])
		if len(m) == 0 {
			continue
		}
		var want []*big.Int
		for _, f := range rankstest.Factors(m) {
			if f.Cmp(big.NewInt(1)) > 0 {
				want = append(want, f)
			}
		}
		found += len(want)
		full := make([][]*big.Int, len(m))
		for i, row := range m {
			for _, v := range row {
				full[i] = append(full[i], big.NewInt(v))
			}
		}
		if rank, orders := smith(full); rank != rankstest.Rank(m, 0) || list(orders) != list(want) {
			t.Fatalf("%v: rank %d, orders %v, want %d, %v", m, rank, orders, rankstest.Rank(m, 0), want)
		}
		rank, orders, err := Compute(int64(len(m[0])), int64(len(m)), func(i int64, list []Term) []Term {
			for c, v := range m[i] {
				if v != 0 {
					list = append(list, Term{uint32(c), v})
				}
			}
			return list
		})
		if err != nil || rank != rankstest.Rank(m, 0) || list(orders) != list(want) {
			t.Fatalf("%v, sparse: rank %d, orders %v, %v, want %d, %v", m, rank, orders, err, rankstest.Rank(m, 0), want)
		}
	}
	if found < 100 {
		t.Errorf("%d factors in all", found)
	}
}

// A sum of cyclic groups has one chain of factors, of any length.
func TestChain(t *testing.T) {
	for _, c := range [][2][]int64{{{4, 6}, {2, 12}}, {{2, 3, 5}, {30}}, {{1}, {}}, {nil, {}}, {{2, 2, 4, 9}, {2, 2, 36}}, {{4, 6, 9}, {6, 36}}, {{6, 10, 15}, {30, 30}}, {{9, 1, 4, 6, 25}, {3, 2700 / 3 * 2}}} {
		var orders []*big.Int
		product := big.NewInt(1)
		for _, v := range c[0] {
			orders = append(orders, big.NewInt(v))
			product.Mul(product, big.NewInt(v))
		}
		got := Chain(orders)
		for i, v := range got {
			if product.Quo(product, v); i > 0 && new(big.Int).Rem(v, got[i-1]).Sign() != 0 {
				t.Errorf("%v: %v", c[0], got)
			}
		}
		if product.Cmp(big.NewInt(1)) != 0 || len(got) != len(c[1]) {
			t.Errorf("%v: %v, want %v", c[0], got, c[1])
		}
	}
}

// Matrices whose entries grow, or that are too large, are undecided.
func TestLimits(t *testing.T) {
	const n = 60
	columns := func(i int64, list []Term) []Term { // each row is 3 times the one before it, less one before that
		for k, v := range []int64{1, -3, 1} {
			list = append(list, Term{uint32(i + 2 - int64(k)), v})
		}
		return list
	}
	_, _, err := Compute(n+3, n+1, func(i int64, list []Term) []Term {
		if i == n {
			return append(list, Term{n + 1, 5}, Term{n + 2, 7})
		}
		return columns(i, list)
	})
	if !errors.As(err, new(verify.UndecidedError)) {
		t.Errorf("entries that grow: %v", err)
	}
	_, _, err = Compute(500, 500, func(i int64, list []Term) []Term { return append(list, Term{uint32(i), 3}) })
	if !errors.As(err, new(verify.UndecidedError)) {
		t.Errorf("a large full matrix: %v", err)
	}
	rank, orders, err := Compute(5, 4, func(i int64, list []Term) []Term { return append(list, Term{uint32(i), -1}) })
	if rank != 4 || len(orders) > 0 || err != nil {
		t.Errorf("units: rank %d, %v, %v", rank, orders, err)
	}
}
