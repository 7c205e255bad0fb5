// Package reduced computes the homology groups of any complex over any ring. Coreductions (Mrozek
// and Batko 2009) pair almost all simplices. The rest are the critical simplices of a discrete
// Morse function, with a boundary of their own (Harker, Mischaikow, Mrozek and Nanda 2014) over the
// integers or a field. Unit pivots of these small matrices are eliminated, and over the integers
// the rest is brought to Smith normal form.
package reduced

import (
	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// simplexNS and simplexBytes are the estimated time and memory per simplex: its vertices, faces and
// cofaces, and scratch memory for numbering.
const (
	simplexNS    = 600
	simplexBytes = 120
)

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("reduced",
		"coreductions to the critical simplices of a discrete Morse function, then their Smith normal "+
			"form; scattered vertices are renumbered breadth first; any complex and ring; mostly one core",
		"Mrozek and Batko 2009, Harker, Mischaikow, Mrozek and Nanda 2014")
}

// CanDo rejects a complex that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *homology.Problem, c bench.Conditions) error {
	n := p.Estimate()
	work := quantity.Seconds(float64(n) * simplexNS * 1e-9)
	if err := c.Allow(work, "about %d simplices × %d ns", n, simplexNS); err != nil {
		return err
	}
	return c.AllowMemory(n*simplexBytes, "%d bytes for each of about %d simplices", simplexBytes, n)
}

// Setup binds the method to a complex.
func (Implementation) Setup(p *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	return &job{in: p, cores: max(1, c.Threads), Output: bench.PoisonedBy(homology.Poisoned())}, nil
}

type job struct {
	in    *homology.Problem
	cores int
	bench.Output[homology.Groups]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("faces")
	in := j.in.Complex
	if simplicial.Scattered(in) { // neighbours are then near each other in memory
		in = simplicial.NumberBreadthFirst(nil, in, j.cores)
	}
	f := simplicial.NewFaces(in, j.cores)
	end()
	end = trace.Span("coreductions")
	m := newMatching(f)
	m.pair()
	end()
	defer trace.Span("core")()
	out := homology.NewGroups(len(f.Vertices))
	p := int64(0)
	if j.in.Over > homology.Integers {
		p = int64(j.in.Over)
	}
	for d, critical := range m.critical {
		out.Betti[d] += int64(len(critical))
		if d == 0 || len(critical) == 0 || len(m.critical[d-1]) == 0 {
			continue
		}
		matrix := m.boundary(d, p)
		rank, torsion := ranked(matrix, p)
		out.Betti[d] -= rank
		out.Betti[d-1] -= rank
		if j.in.Over == homology.Integers && len(torsion) > 0 {
			var err error
			if out.Torsion[d-1], err = orders(torsion); err != nil {
				return err
			}
		}
	}
	j.Last = out
	return nil
}
