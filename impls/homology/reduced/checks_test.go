package reduced

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/ranks"
	"eccbench/internal/ranks/rankstest"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/homology/homologytest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

func TestEliminationConfirms(t *testing.T) { homologytest.EliminationConfirms(t, Implementation{}) }

// checks cover cases that the few critical simplices of a complex lack: large numbers, and
// arbitrary matrices.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "scalars", Of: scalars},
		{Name: "rows", Of: rowsAreSums},
		{Name: "ranks and torsion by minors", Of: rankedByMinors},
		{Name: "orders of more than 64 bits", Of: ordersFit},
		{Name: "critical simplices", Of: fewAreCritical},
		homologytest.Limited(Implementation{}, homologytest.Limit{Of: "rp2/over=2", NS: 18_600, Bytes: 3720}, homologytest.Limit{Of: "rp2/over=Z", Threads: 3, NS: 18_600, Bytes: 3720}),
		homologytest.Answered(Implementation{}, []string{"core", "faces", "pairs"}, "rp2/over=2", "klein/order=random/seed=2/over=Z", "moore/n=12/order=random/over=Z", "wedge/with=moore,n=4/order=random/over=Z/of=moore/n=6", "join/with=moore,n=4/over=3/of=moore/n=3", "lens/p=5/q=2/over=5", "sphere/dim=5/over=Z", "five/shape=6x7x6/drills=2/cavities=3/order=random/over=Q"),
		homologytest.Answered(Implementation{}, []string{"core", "faces"}, "sphere/dim=0/over=Q"),
	}
}

// kept reports whether a scalar represents v in the right form: small if it fits.
func kept(s scalar, v *big.Int, p int64) bool {
	if p > 0 {
		return s.large == nil && s.small == new(big.Int).Mod(v, big.NewInt(p)).Int64()
	}
	if v.CmpAbs(big.NewInt(mostSmall)) <= 0 {
		return s.large == nil && s.small == v.Int64()
	}
	return s.large != nil && s.small == 0 && s.large.Cmp(v) == 0
}

// Scalars compute with integers, or with residues modulo the prime of a field, of any size.
func scalars(t *testing.T) {
	var list []*big.Int
	for _, v := range []int64{0, 1, 2, 3, 6, mostSmall - 1, mostSmall, mostSmall + 1, math.MaxInt64} {
		list = append(list, big.NewInt(v), big.NewInt(-v))
	}
	list = append(list, big.NewInt(math.MinInt64), new(big.Int).Lsh(big.NewInt(3), 90), new(big.Int).Lsh(big.NewInt(-1), 63), new(big.Int).Lsh(big.NewInt(1), 63))
	of := func(v *big.Int, p int64) scalar {
		if p > 0 {
			return fit(new(big.Int).Mod(v, big.NewInt(p)).Int64(), p)
		}
		return fitBig(new(big.Int).Set(v))
	}
	for _, p := range []int64{0, 2, 3, ranks.MostPrime} {
		for _, v := range list {
			a := of(v, p)
			rest := v
			if p > 0 {
				rest = new(big.Int).Mod(v, big.NewInt(p))
			}
			one := p == 0 && v.IsInt64() && (v.Int64() == 1 || v.Int64() == -1)
			if !kept(a, v, p) || a.zero() != (rest.Sign() == 0) || a.big().Cmp(rest) != 0 || a.unit(p) != (p > 0 && rest.Sign() != 0 || one) {
				t.Fatalf("%v over %d is %v", v, p, a)
			}
			if n := a.negative(p); !kept(n, new(big.Int).Neg(v), p) {
				t.Fatalf("the negative of %v over %d is %v", v, p, n)
			}
			if a.unit(p) && !kept(a.times(a.inverse(p), p), big.NewInt(1), p) {
				t.Fatalf("the inverse of %v over %d is %v", v, p, a.inverse(p))
			}
			for _, w := range list {
				b := of(w, p)
				if s := a.plus(b, p); !kept(s, new(big.Int).Add(v, w), p) {
					t.Fatalf("%v + %v over %d is %v", v, w, p, s)
				}
				if s := a.times(b, p); !kept(s, new(big.Int).Mul(v, w), p) {
					t.Fatalf("%v · %v over %d is %v", v, w, p, s)
				}
			}
		}
	}
}

// sparse is a row of a matrix, in another order before it is sorted.
func sparse(full []int64, p int64) (r row) {
	for c, v := range slices.Backward(full) {
		if s := fit(v, p); !s.zero() {
			r = append(r, entry{int32(c), s})
		}
	}
	r.sort()
	return r
}

// Adding a multiple of one row to another adds each column, and drops columns that become 0.
func rowsAreSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 13))
	for range 400 {
		p := []int64{0, 2, 5}[rng.IntN(3)]
		a, b, times := make([]int64, 1+rng.IntN(6)), make([]int64, 1+rng.IntN(6)), rng.Int64N(9)-4
		sum := make([]int64, max(len(a), len(b)))
		for i := range a {
			a[i] = rng.Int64N(5) - 2
			sum[i] += a[i]
		}
		for i := range b {
			b[i] = rng.Int64N(5) - 2
			sum[i] += b[i] * times
		}
		r := sparse(a, p).plus(sparse(b, p), fit(times, p), p)
		if !slices.IsSortedFunc(r, func(x, y entry) int { return cmp.Compare(x.column, y.column) }) {
			t.Fatalf("%v is in no order", r)
		}
		for c := range 8 {
			want := scalar{}
			if c < len(sum) {
				want = fit(sum[c], p)
			}
			if got, ok := r.valueIn(int32(c)); ok == want.zero() || got != want {
				t.Fatalf("%v and %d times %v over %d: %v in column %d, want %v", a, times, b, p, got, c, want)
			}
		}
	}
}

// The rank of a matrix and its torsion follow from the common divisors of its minors.
func rankedByMinors(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 14))
	large := 0
	for round := range 800 {
		m := rankstest.Random(rng, []int64{1, 2, 12, 1 << 36}[round%4])
		for _, p := range []int64{0, 2, 3, ranks.MostPrime} {
			var rows []row
			for _, full := range m {
				rows = append(rows, sparse(full, p))
			}
			rank, rest := ranked(rows, p)
			if want := rankstest.Rank(m, p); rank != want {
				t.Fatalf("%v over %d: rank %d, want %d", m, p, rank, want)
			}
			if p > 0 {
				if len(rest) > 0 {
					t.Fatalf("%v over %d: %v are left", m, p, rest)
				}
				continue
			}
			// Diagonal entries that do not divide each other give the same torsion.
			list := slices.Clone(rest)
			for i := range list {
				for k := i + 1; k < len(list); k++ {
					g := new(big.Int).GCD(nil, nil, list[i], list[k])
					list[i], list[k] = g, new(big.Int).Mul(new(big.Int).Quo(list[i], g), list[k])
				}
			}
			one := func(v *big.Int) bool { return v.Cmp(big.NewInt(1)) == 0 }
			list = slices.DeleteFunc(list, one)
			want := slices.DeleteFunc(rankstest.Factors(m), one)
			if !slices.EqualFunc(list, want, func(a, b *big.Int) bool { return a.Cmp(b) == 0 }) {
				t.Fatalf("%v: %v are left, want %v", m, rest, want)
			}
			for _, v := range want {
				if !v.IsInt64() {
					large++
				}
			}
		}
	}
	if large < 30 {
		t.Errorf("%d orders are large", large)
	}
}

// Orders up to 64 bits are reported, and larger ones rejected.
func ordersFit(t *testing.T) {
	most := new(big.Int).SetUint64(math.MaxUint64)
	if got, err := orders([]*big.Int{big.NewInt(6), big.NewInt(4)}); err != nil || !slices.Equal(got, []uint64{2, 12}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := orders([]*big.Int{most}); err != nil || !slices.Equal(got, []uint64{math.MaxUint64}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := orders([]*big.Int{big.NewInt(2), new(big.Int).Add(most, big.NewInt(1))}); err == nil {
		t.Errorf("an order of 2⁶⁴ is %v", got)
	}
	for over, want := range map[homology.Ring]bool{homology.Integers: true, homology.Rationals: false} {
		j := &job{in: homologytest.LongTorsion(t, over), cores: 1}
		if err := j.Do(nil); (err != nil) != want {
			t.Errorf("over %v: %v", over, err)
		}
	}
}

// A ball has one critical simplex, and a sphere two.
func fewAreCritical(t *testing.T) {
	for name, want := range map[string][]int{"kuhn/shape=5x4x6": {1, 0, 0, 0}, "five/shape=4x4x4/order=random": {1, 0, 0, 0}, "sphere/dim=3": {1, 0, 0, 1}, "sphere/dim=0": {2}, "kuhn/shape=6x6/drills=1": {1, 1, 0}} {
		p, err := homology.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]int, p.Dim()+1)
		j := &job{in: p, cores: 1}
		if err := j.each(nil, func(d int, l, _ *level) error {
			got[d] = len(l.critical)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v are critical, want %v", name, got, want)
		}
	}
}
