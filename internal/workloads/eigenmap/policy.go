package eigenmap

import (
	"math"
	"runtime"
	"time"

	"eccbench/internal/verify"
)

type (
	measure = verify.Measure
	law     = verify.Law[*Problem, Map]
	ask     = verify.Ask[*Problem, Map]
)

// certifiedPolicy says when pairs are right: by what the harness finds of them, whatever another's
// are, and when nothing is missing.
func certifiedPolicy() verify.Policy[*Problem, Map] {
	return verify.Policy[*Problem, Map]{
		Distance: distance,
		Laws: []law{
			{Name: "nothing missed, by the inertia of LDLᵀ", Independent: true, Work: factoring, Measure: inertia},
			{Name: "nothing lower found by a search of its own", Note: "a find refutes, none is no proof", Independent: true, Work: searched, Measure: search},
			{Name: "closed spectrum of an image all of one value", Calls: 1, Work: on(100), Measure: spectrum},
			{Name: "the second value is at most any set's normalised cut", Work: passes(2), Measure: cuts},
			{Name: "flip along x has the same values", Calls: 1, Work: on(5), Measure: flipped},
		},
		Weak: weak,
	}
}

// stepsPolicy says when what steps reach is right: when pairs are what they are told to be, of one
// Krylov space, and the values those of the definition's steps.
func stepsPolicy() verify.Policy[*Problem, Map] {
	return verify.Policy[*Problem, Map]{
		Distance: distance,
		Laws: []law{
			{Name: "the definition's steps in float64", Independent: true, Work: stepping, Measure: stepped},
			{Name: "residuals of one Krylov space", Note: "which does not say after how many steps", Independent: true, Work: passes(2), Measure: krylov},
		},
		Weak: weak,
	}
}

// distance is what the harness finds of an answer.
func distance(p *Problem, _, got Map) []verify.Measure {
	list, _, err := p.held(got)
	if p.Kind == Lanczos {
		list, _, err = p.pairs(got)
	}
	if err != nil {
		return nan("residual", err.Error())
	}
	return list
}

// weak says why an answer would not tell a right program from a wrong one.
func weak(p *Problem, _ Map) string {
	values, err := p.Numbers()
	if err != nil {
		return ""
	}
	if lo, hi := span(values); lo == hi {
		return "the image is all of one value, and its pairs follow from its shape"
	}
	return ""
}

// What an edge takes in nanoseconds, about three times what it took on a busy machine, of voxels
// and of patches.
const voxelEdgeNS, patchEdgeNS = 20, 50

// edges is how many pairs of neighbours a pass goes through.
func (p *Problem) edges() float64 {
	n := float64(p.Nodes().Voxels())
	if p.Kind == Grid {
		return n * float64(2*len(p.behind()))
	}
	return n * n
}

// passes is so many passes through all rows of W on all cores.
func passes(n int) func(*Problem) time.Duration {
	return func(p *Problem) time.Duration {
		each := float64(voxelEdgeNS)
		if p.Kind != Grid {
			each = patchEdgeNS
		}
		return time.Duration(float64(n) * each * p.edges() / float64(runtime.GOMAXPROCS(0)))
	}
}

// searched is what a search takes: of patches its steps are of near weights alone.
func searched(p *Problem) time.Duration {
	if p.Kind == Grid {
		return passes(3 + starts*mostSought)(p)
	}
	const near = 5 // nanoseconds a weight
	return passes(4)(p) + time.Duration(near*starts*mostSought*math.Min(p.edges(), 1<<26)/float64(runtime.GOMAXPROCS(0)))
}

// on is so many nanoseconds a node on all cores.
func on(each float64) func(*Problem) time.Duration {
	return func(p *Problem) time.Duration {
		return time.Duration(each * float64(p.Nodes().Voxels()) / float64(runtime.GOMAXPROCS(0)))
	}
}

// factoring is what LDLᵀ takes, on one core.
func factoring(p *Problem) time.Duration {
	s := p.Nodes()
	width := float64(s.W*s.H*s.D) / float64(max(s.W, s.H, s.D))
	if p.Kind != Grid {
		width = float64(s.Voxels())
	}
	if large(int(s.Voxels()), int(width)) {
		return 0 // and not tried
	}
	return passes(3)(p) + time.Duration(float64(s.Voxels())*width*width)
}

// stepping is what the definition's steps take.
func stepping(p *Problem) time.Duration {
	own := float64(p.Steps) * float64(p.Steps) * float64(p.Nodes().Voxels()) * 4
	return passes(p.Steps)(p) + time.Duration(own)
}
