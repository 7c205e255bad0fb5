package ask

import (
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/homology"
)

// HomologyImpls are in the order of their speed.
var HomologyImpls = []string{"duality", "reduced", "definition"}

// HomologyName returns the canonical name of a complex that people name by a file or an input string. The coefficients
// are a prime, Q or Z; "" for those that the input states, or 2.
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

// A Homology asks for the homology groups of a complex: of an input, or of simplices in memory.
type Homology struct {
	Input        string
	Complex      *simplicial.Complex // nil for that of Input
	Coefficients string              // a prime, Q or Z; "" for those that Input states, or 2
	Impls        []bench.Implementation[*homology.Problem, homology.Groups]
	Threads      int
	Verify       bool // hold the groups to the elimination of the boundary matrices
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

// Answer answers, by the first implementation that takes the complex.
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
