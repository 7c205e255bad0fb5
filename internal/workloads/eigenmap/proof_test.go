package eigenmap

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/eigenmap/algebra"
)

// without returns the lowest k pairs of a problem but for one of them, with the next one instead.
func without(t *testing.T, p *Problem, missing int) Map {
	q := *p
	q.K++
	_, m := dense(t, q.ready())
	return Map{Values: slices.Delete(m.Values, missing, missing+1), Vectors: slices.Delete(m.Vectors, missing, missing+1)}
}

// A missing pair is noticed even if the last value is double, so that the number of eigenvalues
// below it is right. If values are far apart, one count proves all of them.
func TestProofSeesEveryMissingPair(t *testing.T) {
	nearly, bright := make([]byte, 72), make([]byte, 81)
	for i := range nearly {
		nearly[i] = byte(255 * min(1, i%9/4))
	}
	bright[40] = 255
	thin, wide := grid.Shape{D: 1, H: 8, W: 9}, grid.Shape{D: 1, H: 9, W: 9}
	for name, p := range map[string]*Problem{
		"a square image of one value":        OfVoxels(gridtest.OfBytes(t, wide, make([]byte, 81)...), 3, 1e-6, 0.1, 1e-3, false, false),
		"two halves, floor 1e-12":            OfVoxels(gridtest.OfBytes(t, thin, nearly...), 4, 1e-6, 0.1, 1e-12, false, false),
		"two halves, floor 1e-12, two pairs": OfVoxels(gridtest.OfBytes(t, thin, nearly...), 2, 1e-6, 0.1, 1e-12, false, false),
		"two halves, floor 1e-5":             OfVoxels(gridtest.OfBytes(t, thin, nearly...), 2, 1e-6, 0.1, 1e-5, false, false),
		"a bright pixel, no floor":           OfVoxels(gridtest.OfBytes(t, wide, bright...), 4, 1e-6, 0.1, 0, false, false),
	} {
		_, m := dense(t, p)
		if list, err := complete(p, m, nil); err != nil || !keepLimits(list) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
		for k := 1; k < p.K; k++ {
			if list, err := complete(p, without(t, p, k), nil); err == nil && keepLimits(list) {
				t.Errorf("%s without pair %d passes: %v", name, k+1, list)
			}
		}
	}
	// For λ = 0, 1, 2, 2, 3 the pairs 0, 2, 2 have the same number of eigenvalues below 2 as the
	// right ones.
	line := mat.NewDiagDense(5, []float64{0, 1, 2, 2, 3})
	counts := 0
	below := func(shift float64) (n int, moved float64, err error) {
		counts++
		for k := range 5 {
			if line.At(k, k) < shift {
				n++
			}
		}
		return n, 1e-16, nil
	}
	for _, c := range []struct {
		values    []float64
		residual  float64
		want      bool
		mostCount int
	}{
		{[]float64{0, 1, 2}, 1e-6, true, 1}, {[]float64{0, 1, 2, 2}, 1e-6, true, 1}, {[]float64{0, 1}, 1e-6, true, 1}, {[]float64{0, 1, 2, 2, 3}, 1e-3, true, 1},
		{[]float64{0, 1, 2}, 0.5, true, 2}, {[]float64{0, 2, 2}, 1e-6, false, 2}, {[]float64{0, 2}, 1e-6, false, 2}, {[]float64{0, 1, 3}, 1e-6, false, 2}, {[]float64{0, 1.02, 2}, 0.5, false, 3}, {[]float64{0, 1.005, 2}, 0.5, true, 3},
	} {
		counts = 0
		b := &bounds{values: c.values, lower: make([]float64, len(c.values)), known: 1, squares: make([]float64, len(c.values)), skew: make([]float64, len(c.values))}
		for i := range c.values {
			b.squares[i] = c.residual * c.residual * float64(i+1)
		}
		if m, err := b.prove(below); err != nil || m.IsWithinLimit() != c.want || counts > c.mostCount {
			t.Errorf("%v with residuals of %v: %v, %v, after %d counts", c.values, c.residual, m, err, counts)
		}
	}
}

// Rounding or a failing counter leaves the proof undecided.
func TestProofIsUndecided(t *testing.T) {
	b := func() *bounds {
		return &bounds{values: []float64{0, 1e-9}, lower: make([]float64, 2), known: 1, squares: []float64{0, 1e-24}, skew: make([]float64, 2)}
	}
	_, err := b().prove(func(shift float64) (int, float64, error) { return 2, 1e-8, nil })
	if err != nil {
		t.Errorf("a gap above a value that rounding hides: %v", err)
	}
	_, err = b().prove(func(shift float64) (int, float64, error) { return 3, 1e-8, nil })
	if !errors.As(err, new(verify.UndecidedError)) || !strings.Contains(err.Error(), "value 2, which is 1e-09") {
		t.Errorf("no gap above: %v", err)
	}
	_, err = b().prove(func(shift float64) (int, float64, error) { return 0, math.Inf(1), algebra.ErrPivot })
	if !errors.Is(err, algebra.ErrPivot) {
		t.Errorf("no count: %v", err)
	}
}

// A search proves nothing: where no proof is affordable an answer is UNVERIFIED, for a reason.
func TestSearchIsNoProof(t *testing.T) {
	const name = "eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=9x8/type=uint8/seed=1"
	p := open(t, name)
	_, m := dense(t, p)
	policy := certifiedPolicy()
	q := verify.Question[*Problem, Map]{Name: name, In: p, Out: m, Budget: 1 << 40}
	if v := verify.Judge([]string{name}, policy.Check(q)); v.Status != verify.Verified {
		t.Errorf("with a proof: %v, %s", v.Status, v.Reason)
	}
	policy.Laws[1].Measure = func(*Problem, Map, ask) ([]measure, error) { return nil, verify.Undecided("too large") }
	policy.Laws = policy.Laws[:3]
	if v := verify.Judge([]string{name}, policy.Check(q)); v.Status != verify.Unverified || !strings.Contains(v.Reason, "not decided: too large") {
		t.Errorf("with a search alone: %v, %s", v.Status, v.Reason)
	}
	// Another's pairs are other values, though residuals are as small.
	q.Out, q.Others = without(t, p, 1), []verify.Witness[Map]{{By: "another", Out: m}}
	if v := verify.Judge([]string{name}, policy.Check(q)); v.Status != verify.Wrong || !strings.Contains(v.Reason, "values off another answer's") {
		t.Errorf("other pairs than those of another: %v, %s", v.Status, v.Reason)
	}
}
