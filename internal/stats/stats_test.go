package stats

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The ranks agree with the tables of order-statistic intervals for the median
// (Conover, Practical Nonparametric Statistics, table A3, as 0-based ranks).
func TestMedianRanks(t *testing.T) {
	for _, c := range []struct {
		n, lo, hi int
		reached   float64
	}{
		{1, 0, 0, 0}, {2, 0, 1, 0.5}, {5, 0, 4, 0.9375}, {6, 0, 5, 0.96875}, {8, 0, 7, 0.9921875}, {9, 1, 7, 0.9609375},
		{10, 1, 8, 0.978515625}, {20, 5, 14, 0.95860}, {25, 7, 17, 0.95671}, {100, 39, 60, 0.96480},
	} {
		lo, hi, reached := medianRanks(c.n, 0.95)
		if lo != c.lo || hi != c.hi || math.Abs(reached-c.reached) > 1e-4 {
			t.Errorf("n=%d: ranks %d..%d reach %.5f, want %d..%d %.5f", c.n, lo, hi, reached, c.lo, c.hi, c.reached)
		}
	}
}

func TestSummarise(t *testing.T) {
	x := []float64{9, 1, 8, 2, 7, 3, 6, 4, 5}
	s := Summarise(x)
	want := Summary{N: 9, Min: 1, Q1: 2.25, Median: 5, Q3: 6.75, Max: 9, Mean: 5, StdDev: math.Sqrt(7.5), Lo: 2, Hi: 8, Confidence: s.Confidence}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if x[0] != 9 {
		t.Error("the sample was sorted in place")
	}
	if got := s.Spread(); got != 0.6 {
		t.Errorf("spread %v", got)
	}
	if even := Summarise([]float64{1, 2, 3, 10}); even.Median != 2.5 || !math.IsInf(even.Spread(), 1) {
		t.Errorf("four samples: %+v; they have no interval at 95 %%", even)
	}
}

// The quartiles are of type 4, whatever the library does.
func TestQuartilesAreOfType4(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(1e-9, 1e3), 1, 50).Draw(t, "x")
		sorted := slices.Sorted(slices.Values(x))
		quantile := func(p float64) float64 {
			at := p * float64(len(x))
			k := int(at)
			if k == 0 {
				return sorted[0]
			}
			return sorted[k-1] + (at-float64(k))*(sorted[min(k, len(x)-1)]-sorted[k-1])
		}
		if s := Summarise(x); !near(s.Q1, quantile(0.25)) || !near(s.Q3, quantile(0.75)) {
			t.Fatalf("quartiles %v and %v of %v, want %v and %v", s.Q1, s.Q3, x, quantile(0.25), quantile(0.75))
		}
	})
}

func TestSummaryLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(1e-9, 1e3), 1, 300).Draw(t, "x")
		s := Summarise(x)
		if !(s.Min <= s.Lo && s.Lo <= s.Median && s.Median <= s.Hi && s.Hi <= s.Max && s.Min <= s.Q1 && s.Q3 <= s.Max) {
			t.Fatalf("out of order: %+v", s)
		}
		for i := range x {
			x[i] *= 2
		}
		if d := Summarise(x); d.Median != 2*s.Median || d.Lo != 2*s.Lo || d.Hi != 2*s.Hi {
			t.Fatalf("twice the sample: %+v, then %+v", s, d)
		}
	})
}

// The interval contains the median as often as its confidence, for every distribution.
func TestIntervalCovers(t *testing.T) {
	state := uint64(1)
	exponential := func() float64 {
		state = state*6364136223846793005 + 1442695040888963407
		return -math.Log((float64(state>>11) + 0.5) / (1 << 53))
	}
	const runs, n = 4000, 15
	inside := 0
	for range runs {
		x := make([]float64, n)
		for i := range x {
			x[i] = exponential()
		}
		if s := Summarise(x); s.Lo <= math.Ln2 && math.Ln2 <= s.Hi {
			inside++
		}
	}
	_, _, reached := medianRanks(n, 0.95)
	got := float64(inside) / runs
	if se := math.Sqrt(reached * (1 - reached) / runs); math.Abs(got-reached) > 4*se {
		t.Errorf("covers %.4f of the time, want %.4f ± %.4f", got, reached, 4*se)
	}
}

func TestLowerDecile(t *testing.T) {
	var x []float64
	for i := range 40 {
		x = append(x, float64(40-i))
		want := 1 + float64(40-len(x)) // the least so far
		if n := len(x); n > 10 {
			want += float64(n)/10 - 1
		}
		if got := LowerDecile(x); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d values: %v, want %v", len(x), got, want)
		}
	}
	if x[0] != 40 {
		t.Error("the values were sorted in place")
	}
}

// A requested confidence equal to that of some ranks selects those ranks, to the last bit.
func TestConfidenceThatIsReached(t *testing.T) {
	for _, n := range []int{6, 8, 20, 51, 100} {
		lo, hi, reached := medianRanks(n, Confidence)
		if l, h, r := medianRanks(n, reached); l != lo || h != hi || r != reached {
			t.Errorf("n=%d: ranks %d..%d reach %v, for which %d..%d are taken", n, lo, hi, reached, l, h)
		}
	}
}

// One value has no deviation, two have one.
func TestDeviationOfFew(t *testing.T) {
	if got := Summarise([]float64{3}).StdDev; got != 0 {
		t.Errorf("of one value: %v", got)
	}
	if got := Summarise([]float64{3, 5}).StdDev; !near(got, math.Sqrt2) {
		t.Errorf("of two values: %v, want √2", got)
	}
}

// A spread is relative to the median, if that is not 0 and there is an interval of the confidence.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		s    Summary
		want float64
	}{
		{Summary{Confidence: Confidence, Median: 1, Lo: 0.5, Hi: 1.25}, 0.375},
		{Summary{Confidence: Confidence, Median: -4, Lo: -5, Hi: -3}, 0.25},
		{Summary{Confidence: 0.94, Median: 1, Lo: 1, Hi: 1}, math.Inf(1)},
		{Summary{Confidence: Confidence}, math.Inf(1)},
	} {
		if got := c.s.Spread(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.s, got, c.want)
		}
	}
}

// The median is of values in any order, which stay in theirs.
func TestMedianOfAnyOrder(t *testing.T) {
	x := []float64{5, 1, 4, 2}
	if got := Median(x); got != 3 || x[0] != 5 || x[3] != 2 {
		t.Errorf("%v of %v", got, x)
	}
}
