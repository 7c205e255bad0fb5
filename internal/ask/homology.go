package ask

import (
	"errors"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// homologyImpls are in the order of speed.
var homologyImpls = []string{"duality", "reduced", "definition"}

// HomologyName returns the canonical name of a complex given by a file or an input string. The
// coefficients are a prime, Q or Z; "" for the ring of the input, or 2.
func HomologyName(input, coefficients string) (string, error) {
	if coefficients == "" {
		return homology.Workload().Named(input)
	}
	over, err := homology.ParseRing(coefficients)
	if err != nil {
		return "", err
	}
	return homology.NameOf(input, over)
}

// A Homology requests the homology groups of a complex: of an input, or of simplices in memory.
type Homology struct {
	Question // without an image and its options
	By       bench.Workload[*homology.Problem, homology.Groups]

	Name         string              // canonical
	Complex      *simplicial.Complex // nil for the complex of the name
	Coefficients string              // of a complex in memory: a prime, Q or Z; "" for 2
}

// Problem opens the complex.
func (q *Homology) Problem() (*homology.Problem, error) {
	if q.Complex == nil {
		return q.By.Inputs.Open(q.Name)
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

// Answer computes the confirmed groups.
func (q *Homology) Answer() (p *homology.Problem, a Answered[homology.Groups], err error) {
	opened := q.Follow.Waiting("reading " + q.Shown)
	p, err = q.Problem()
	opened()
	if err != nil {
		return p, a, Usage(err)
	}
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: q.Threads}, Memory: q.memory(),
		Once: true}
	var refused error
	for order := homologyImpls; ; { // until one does not refuse the complex while it computes the answer
		impl, err := Choose(q.By, q.Impl, q.Shown, p, conditions, order...)
		if err != nil {
			return p, a, errors.Join(err, refused)
		}
		q.Follow.ShowMemory(q.Shown, statedMemory(q.By, impl, p, conditions), q.memory())
		done := q.Follow.Waiting("finding and checking the homology")
		a, err = Answer(q.By, impl, q.Name, p, conditions, q.limits(), "homology")
		done()
		if q.Impl != "" || !errors.As(err, new(bench.Refusal)) {
			return p, a, err
		}
		refused, order = err, order[slices.Index(order, impl)+1:]
	}
}
