package softecc

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"eccbench/internal/verify"
)

// Limit is the largest relative error of a right answer, for λ·range up to 1000
// (doc/proofs/softecc.md derives the error of binned), and limitOfLambda that of ∂λ.
const Limit, limitOfLambda = 1e-5, 2e-5

type (
	ask = verify.Ask[*Problem, Answer]
	law = verify.Law[*Problem, Answer]
)

// Policy returns the policy of the workload: answers are within Limit of the definition, and obey
// the laws.
func Policy() verify.Policy[*Problem, Answer] {
	return verify.Policy[*Problem, Answer]{
		Distance: Distance,
		Laws:     laws(),
		Weak: func(p *Problem, a Answer) string {
			for _, v := range a.DX {
				if v != 0 {
					return ""
				}
			}
			return "no voxel has a gradient: thresholds are far from all values, or λ is too large"
		},
	}
}

// scales are the magnitudes that errors are relative to: the largest number of the answer, or the
// largest contribution of one cell if that is more. ∂v and ∂α are signed sums over the image. Their
// scale is at least the root of the sum of squares, as for random signs. The same holds for ∂λ as a
// sum of ∂τ.
type scales struct{ chi, dtau, dx, dv, lambda, alpha float64 }

func scalesOf(p *Problem, a Answer) scales {
	g := largest(p.G)
	cell := g * p.Lambda / 4
	square := 0.0
	top := 0.0
	for _, v := range a.DX {
		square += float64(v) * float64(v)
		top = max(top, math.Abs(float64(v)))
	}
	tau := 0.0
	for _, v := range a.DTau {
		tau += v * v
	}
	reach := max(0.5, p.half()) * max(cell, math.Sqrt(square))
	_, norm := p.U()
	return scales{
		chi: max(1, largest(a.Chi)), dtau: max(cell, largest(a.DTau)), dx: max(cell, top),
		dv: max(largest(a.DV[:]), p.Alpha*reach/norm), alpha: max(math.Abs(a.Alpha), reach),
		lambda: max(math.Abs(a.Lambda), math.Sqrt(tau)/(p.Lambda*p.Lambda), g/(4*p.Lambda)),
	}
}

// half is the distance of a corner voxel from the centre of the image.
func (p *Problem) half() float64 {
	s := p.Shape()
	return math.Hypot(math.Hypot(Place(0, s.W), Place(0, s.H)), Place(0, s.D))
}

func largest(list []float64) (top float64) {
	for _, v := range list {
		top = max(top, math.Abs(v))
	}
	return top
}

// Distance returns the error of an answer, output by output.
func Distance(p *Problem, want, got Answer) []verify.Measure {
	s := scalesOf(p, want)
	return []verify.Measure{
		errorOf("χ", "threshold", want.Chi, got.Chi, s.chi, Limit),
		errorOf("∂τ", "threshold", want.DTau, got.DTau, s.dtau, Limit),
		errorOf("∂X", "voxel", want.DX, got.DX, s.dx, Limit), errorOf("∂v", "axis", want.DV[:], got.DV[:], s.dv, Limit),
		errorOf("∂λ", "", []float64{want.Lambda}, []float64{got.Lambda}, s.lambda, limitOfLambda),
		errorOf("∂α", "", []float64{want.Alpha}, []float64{got.Alpha}, s.alpha, Limit),
	}
}

// errorOf returns the largest difference of two lists, relative to a scale. NaN and different
// lengths exceed any limit.
func errorOf[T float32 | float64](what, place string, want, got []T, scale, limit float64) verify.Measure {
	m := counted(what, len(want), len(got), limit)
	if m.At != "" {
		return m
	}
	at := -1
	for i := range want {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if math.IsNaN(d) {
			m.Value, at = d, i
			break
		}
		if d > m.Value {
			m.Value, at = d, i
		}
	}
	if m.Value != 0 { // a scale of 0 allows only 0
		m.Value /= scale
	}
	if at >= 0 && place != "" {
		m.At = fmt.Sprintf("%s %d: %g in place of %g", place, at, float64(got[at]), float64(want[at]))
	}
	return m
}

// counted returns a measure of a list, which exceeds any limit if the list has the wrong length.
func counted(what string, want, got int, limit float64) verify.Measure {
	m := verify.Measure{Name: "error of " + what, Limit: limit}
	if want != got {
		m.Value, m.At = math.NaN(), fmt.Sprintf("%d in place of %d", got, want)
	}
	return m
}

// nanoseconds returns an estimate from the time per voxel, divided among all cores.
func nanoseconds(each int64) func(p *Problem) time.Duration {
	return func(p *Problem) time.Duration {
		return time.Duration(each * p.Shape().Voxels() / int64(runtime.GOMAXPROCS(0)))
	}
}
