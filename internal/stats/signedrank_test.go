package stats

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// golden reads vectors of another program, with its name and the method.
func golden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-12*max(1, math.Abs(want)) }

func TestSignedRankAgreesWithSciPy(t *testing.T) {
	var g struct {
		Tests []struct {
			Name    string
			D       []float64
			Greater float64
		}
		Ranks []struct {
			N                   int
			Confidence, Reached float64
			Lo                  int
		}
	}
	golden(t, "signedrank.json", &g)
	if len(g.Tests) < 20 || len(g.Ranks) < 30 {
		t.Fatalf("%d tests and %d ranks: the vectors are incomplete", len(g.Tests), len(g.Ranks))
	}
	for _, c := range g.Tests {
		if got := SignedRank(c.D); !near(got, c.Greater) {
			t.Errorf("%s: %v: p = %.15g, SciPy says %.15g", c.Name, c.D, got, c.Greater)
		}
	}
	for _, c := range g.Ranks {
		lo, hi, reached := medianRanks(c.N, c.Confidence)
		if lo != c.Lo || hi != c.N-1-c.Lo || !near(reached, c.Reached) {
			t.Errorf("n=%d at %g: ranks %d..%d reach %.15g, SciPy says %d..%d and %.15g", c.N, c.Confidence, lo, hi, reached, c.Lo, c.N-1-c.Lo, c.Reached)
		}
	}
}

func TestHodgesLehmannAgreesWithR(t *testing.T) {
	var g struct {
		Bounds []struct {
			Level, Estimate, Lo, Hi, P float64
			D                          []float64
		}
		Holm []struct{ P, Adjusted []float64 }
	}
	golden(t, "hodgeslehmann.json", &g)
	if len(g.Bounds) < 20 || len(g.Holm) < 5 {
		t.Fatalf("%d bounds and %d adjustments: the vectors are incomplete", len(g.Bounds), len(g.Holm))
	}
	for _, c := range g.Bounds {
		if got := HodgesLehmann(c.D); !near(got, c.Estimate) {
			t.Errorf("%v: estimate %.15g, R says %.15g", c.D, got, c.Estimate)
		}
		if lo, hi := SignedRankBounds(c.D, c.Level); !near(lo, c.Lo) || !near(hi, c.Hi) {
			t.Errorf("%v at %g: bounds %.15g and %.15g, R says %.15g and %.15g", c.D, c.Level, lo, hi, c.Lo, c.Hi)
		}
		if got := SignedRank(c.D); !near(got, c.P) {
			t.Errorf("%v: p = %.15g, R says %.15g", c.D, got, c.P)
		}
	}
	for _, c := range g.Holm {
		got := Holm(c.P)
		for i := range got {
			if !near(got[i], c.Adjusted[i]) {
				t.Errorf("%v: adjusted %v, R says %v", c.P, got, c.Adjusted)
				break
			}
		}
	}
}

// Too few values for a level have no bounds, and one or none no surprise.
func TestSignedRankOfFew(t *testing.T) {
	for n := range 5 {
		d := []float64{1, 2, 3, 4}[:n]
		if lo, hi := SignedRankBounds(d, 0.95); !math.IsInf(lo, -1) || !math.IsInf(hi, 1) {
			t.Errorf("%d values: bounds %v and %v, want none", n, lo, hi)
		}
		if got, want := SignedRank(d), math.Pow(0.5, float64(n)); got != want {
			t.Errorf("%d values: p = %v, want %v", n, got, want)
		}
	}
	// The least of all sums of ranks has the probability 2⁻⁵, which a bound may leave out.
	if lo, hi := SignedRankBounds([]float64{3, 1, 2, 5, 4}, 1-1./32); lo != 1 || hi != 5 {
		t.Errorf("bounds %v and %v at the least confidence of five values, want 1 and 5", lo, hi)
	}
	if lo, hi := SignedRankBounds([]float64{3, 1, 2, 5, 4}, 0.95); lo != 1 || hi != 5 {
		t.Errorf("five values: bounds %v and %v, want the extremes", lo, hi)
	}
	if got := SignedRank(make([]float64, 500)); got != 1 {
		t.Errorf("zeros: p = %v, want 1", got)
	}
}

// The test and its bounds are two views of one distribution: a median is
// rejected exactly when it lies below the bound.
func TestBoundsInvertTheTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d []float64
		for _, v := range rapid.SliceOfNDistinct(rapid.IntRange(-1e6, 1e6), 5, 14, rapid.ID).Draw(t, "d") {
			d = append(d, float64(v))
		}
		lo, hi := SignedRankBounds(d, 0.95)
		if estimate := HodgesLehmann(d); !(lo <= estimate && estimate <= hi) {
			t.Fatalf("estimate %v outside %v..%v", estimate, lo, hi)
		}
		at := func(shift float64) float64 {
			var moved []float64
			for _, v := range d {
				moved = append(moved, v-shift)
			}
			return SignedRank(moved)
		}
		const step = 0.1
		if p := at(lo - step); p > 0.05 && apart(walsh(d), 3*step) {
			t.Fatalf("p = %v just below the bound %v of %v", p, lo, d)
		}
		if p := at(lo + step); p <= 0.05 && apart(walsh(d), 3*step) {
			t.Fatalf("p = %v just above the bound %v of %v", p, lo, d)
		}
		for i := range d {
			d[i] = -d[i]
		}
		if l, h := SignedRankBounds(d, 0.95); l != -hi || h != -lo {
			t.Fatalf("mirrored: %v..%v, then %v..%v", lo, hi, l, h)
		}
	})
}

// apart reports whether no two of ascending values are closer than that.
func apart(w []float64, by float64) bool {
	for i := 1; i < len(w); i++ {
		if w[i]-w[i-1] < by {
			return false
		}
	}
	return true
}

// A difference that is no number has no rank, and the test of it no p-value; it ends.
func TestSignedRankOfNaN(t *testing.T) {
	for _, d := range [][]float64{{math.NaN()}, {1, math.NaN(), -2}, {math.NaN(), math.NaN(), 0}} {
		if p := SignedRank(d); !math.IsNaN(p) {
			t.Errorf("%v: p = %v, want none", d, p)
		}
	}
}

// Rounding in the sum of all probabilities makes none exceed 1.
func TestProbabilityIsNeverAboveOne(t *testing.T) {
	var d []float64
	for n := range 200 {
		d = append(d, -float64(n+1))
		if p := SignedRank(d); p > 1 || p < 1-1e-12 {
			t.Errorf("%d negative values: p = 1 + %g", len(d), p-1)
		}
	}
}

// The sum of no ranks and the sum of all ranks each have the probability of one choice of signs.
func TestSumsOfRanks(t *testing.T) {
	for _, ranks := range [][]int{nil, {2}, {1, 2, 3}, {3, 3, 6, 8}} {
		want := math.Pow(0.5, float64(len(ranks)))
		if p := rankSums(ranks); p[0] != want || p[len(p)-1] != want {
			t.Errorf("%v: none has the probability %v, all have %v, want %v", ranks, p[0], p[len(p)-1], want)
		}
	}
}
