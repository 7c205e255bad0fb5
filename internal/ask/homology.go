package ask

import (
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/homology"
)

// HomologyImpls are in the order of speed.
var HomologyImpls = []string{"duality", "reduced", "definition"}

// HomologyName returns the canonical name of a complex given by a file or an input string. The
// coefficients are a prime, Q or Z; "" for those of the input, or 2.
func HomologyName(input, coefficients string) (string, error) {
	if coefficients == "" {
		return homology.Workload().Named(input)
	}
	over, err := homology.ParseRing(coefficients)
	if err != nil {
		return "", err
	}
	return homology.Of(input, over)
}

// A Homology requests the homology groups of a complex: of an input, or of simplices in memory.
type Homology struct {
	Input        string
	Complex      *simplicial.Complex // nil for the complex of Input
	Coefficients string              // a prime, Q or Z; "" for those of Input, or 2
	Impls        []bench.Implementation[*homology.Problem, homology.Groups]
	Threads      int
	Verify       bool // compare the groups with the elimination of the boundary matrices
}

// Problem opens the complex.
func (q *Homology) Problem() (*homology.Problem, error) {
	if q.Complex == nil {
		name, err := HomologyName(q.Input, q.Coefficients)
		if err != nil {
			return nil, err
		}
		return homology.Inputs{}.Open(name)
	}
	p := &homology.Problem{Complex: q.Complex, Over: 2}
	if q.Coefficients != "" {
		var err error
		if p.Over, err = homology.ParseRing(q.Coefficients); err != nil {
			return nil, err
		}
	}
	return p, p.Check()
}

// Answer computes the groups with the first implementation that accepts the complex.
func (q *Homology) Answer() (
	p *homology.Problem, a Answered[homology.Groups], verdict verify.Status, err error,
) {
	if p, err = q.Problem(); err != nil {
		return p, a, "", err
	}
	w := homology.Workload(q.Impls...)
	w.Policy.Laws = slices.DeleteFunc(w.Policy.Laws,
		func(l verify.Law[*homology.Problem, homology.Groups]) bool { return !l.Independent })
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: q.Threads}}
	a, verdict, err = First(w, p, conditions, q.Verify)
	return p, a, verdict, err
}
