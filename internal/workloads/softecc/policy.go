package softecc

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"eccbench/internal/verify"
)

// Limit is the largest relative error of a right answer, up to λ·range = 1000
// (doc/proofs/softecc.md derives what binned makes of it).
const Limit = 1e-5

type (
	ask = verify.Ask[*Problem, Answer]
	law = verify.Law[*Problem, Answer]
)

// Policy says when an answer is right: within Limit of the definition, and by the laws.
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

// scales are what errors are relative to: the largest of what was answered, or what one
// cell can come to where that is more. What has a sign and is summed over the image, ∂v
// and ∂α, is held to the root of the sum of squares too, which it would be if the signs
// were random; ∂λ, likewise, to ∂τ.
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

// half is the distance of a corner voxel from the middle of the image.
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

// Distance is how far an answer is from another one, output by output.
func Distance(p *Problem, want, got Answer) []verify.Measure {
	s := scalesOf(p, want)
	return []verify.Measure{
		errorOf("χ", "threshold", want.Chi, got.Chi, s.chi, Limit), errorOf("∂τ", "threshold", want.DTau, got.DTau, s.dtau, Limit),
		errorOf("∂X", "voxel", want.DX, got.DX, s.dx, Limit), errorOf("∂v", "axis", want.DV[:], got.DV[:], s.dv, Limit),
		errorOf("∂λ", "", []float64{want.Lambda}, []float64{got.Lambda}, s.lambda, Limit),
		errorOf("∂α", "", []float64{want.Alpha}, []float64{got.Alpha}, s.alpha, Limit),
	}
}

// errorOf is the largest difference of two lists, relative to a scale; lists of other
// lengths, and what is no number, are beyond any limit.
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
	if m.Value != 0 { // a scale of 0 is of what cannot be anything else
		m.Value /= scale
	}
	if at >= 0 && place != "" {
		m.At = fmt.Sprintf("%s %d: %g in place of %g", place, at, float64(got[at]), float64(want[at]))
	}
	return m
}

// counted is a measure of a list that has as many numbers as it is to have, and else is beyond any
// limit.
func counted(what string, want, got int, limit float64) verify.Measure {
	m := verify.Measure{Name: "error of " + what, Limit: limit}
	if want != got {
		m.Value, m.At = math.NaN(), fmt.Sprintf("%d in place of %d", got, want)
	}
	return m
}

// nanoseconds is what so many a voxel come to on all cores.
func nanoseconds(each int64) func(p *Problem) time.Duration {
	return func(p *Problem) time.Duration {
		return time.Duration(each * p.Shape().Voxels() / int64(runtime.GOMAXPROCS(0)))
	}
}
