package gvf

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

type (
	law = verify.Law[*Problem, Flow]
	ask = verify.Ask[*Problem, Flow]
)

// stepsPolicy judges a field after N steps: it must have the bits of the plain loop.
func stepsPolicy() verify.Policy[*Problem, Flow] {
	return verify.Policy[*Problem, Flow]{Agree: agree, Known: knownFlow, Laws: stepsLaws(), Weak: weak}
}

// steadyPolicy judges a steady state by its residual. Two right answers may differ.
func steadyPolicy() verify.Policy[*Problem, Flow] {
	return verify.Policy[*Problem, Flow]{
		Distance: func(p *Problem, _, got Flow) []verify.Measure {
			list, err := residuals(p, got, nil)
			if err != nil {
				return []verify.Measure{{Name: "residual", Value: math.NaN(), At: err.Error()}}
			}
			return list
		},
		Laws: steadyLaws(), Weak: weak,
	}
}

// weak reports why an answer cannot tell a right program from a wrong one.
func weak(_ *Problem, out Flow) string {
	for _, list := range out.V {
		for _, v := range list {
			if v != 0 {
				return ""
			}
		}
	}
	return "the field is 0 everywhere, which a program that ignores its input could answer"
}

// knownFlow is the flow of an image that is all the same: 0.
func knownFlow(input string, p *Problem) (Flow, bool) {
	image, _, err := Inputs(Name).Parse(input)
	if err != nil || p.V0 != nil {
		return Flow{}, false
	}
	if n, err := datasets.ParseName(image); err != nil || n.Generator != "constant" {
		return Flow{}, false
	}
	return p.zeros(), true
}

// zeros is the field that is 0.
func (p *Problem) zeros() Flow {
	return Flow{V: lists(p.Dim(), p.Shape().Voxels())}
}

// misshapen reports a component or values that a field lacks.
func (p *Problem) misshapen(f Flow) *verify.Diff {
	if len(f.V) != p.Dim() {
		return &verify.Diff{Where: "the field", Want: fmt.Sprintf("%d components", p.Dim()), Got: fmt.Sprint(len(f.V))}
	}
	for c, list := range f.V {
		if n := p.Shape().Voxels(); int64(len(list)) != n {
			return &verify.Diff{Where: "component " + axis(c), Want: fmt.Sprintf("%d values", n), Got: fmt.Sprint(len(list))}
		}
	}
	return nil
}

func axis(c int) string { return "xyz"[c : c+1] }

// place names the component and the voxel of a value.
func (p *Problem) place(c, i int) string {
	z, y, x := p.Shape().Coordinates(int64(i))
	if p.Dim() == 2 {
		return fmt.Sprintf("component %s at x %d, y %d", axis(c), x, y)
	}
	return fmt.Sprintf("component %s at x %d, y %d, z %d", axis(c), x, y, z)
}

// agree is the first value of two fields that has other bits.
func agree(p *Problem, want, got Flow) *verify.Diff {
	return compareFields(p, want, got, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}

func compareFields(p *Problem, want, got Flow, equal func(a, b float32) bool) *verify.Diff {
	if d := p.misshapen(got); d != nil {
		return d
	}
	if slices.EqualFunc(want.V, got.V, hasSameBits) {
		return nil
	}
	var first *verify.Diff
	differ := 0
	for c, list := range want.V {
		for i, v := range list {
			if w := got.V[c][i]; !equal(v, w) {
				if differ++; first == nil {
					first = &verify.Diff{Where: p.place(c, i), Want: number(v), Got: number(w)}
				}
			}
		}
	}
	if first != nil {
		first.Context = fmt.Sprintf("%d of %d values differ", differ, p.Dim()*len(want.V[0]))
	}
	return first
}

// hasSameBits reports whether two components have the same bits.
func hasSameBits(a, b []float32) bool {
	var differ atomic.Bool
	inParts(int64(len(a)), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
		if !bytes.Equal(grid.Bytes(a[lo:hi]), grid.Bytes(b[lo:hi])) {
			differ.Store(true)
		}
	})
	return !differ.Load()
}

// number prints a value with its bits, so that different values look different.
func number(v float32) string { return fmt.Sprintf("%g (%#08x)", v, math.Float32bits(v)) }

// stepCost returns a cost in nanoseconds per voxel and per voxel and step, on all cores.
func stepCost(voxel, step int64) func(*Problem) time.Duration {
	return func(p *Problem) time.Duration {
		each := float64(voxel) + float64(step)*float64(p.Dim())*float64(p.Steps)
		return time.Duration(each * float64(p.Shape().Voxels()) / float64(runtime.GOMAXPROCS(0)))
	}
}
