// Package reduced computes the homology groups of any complex over any ring. From the greatest
// dimension down, collapses pair cells with faces that no other cell has. A cell without such a face
// is critical (Benedetti and Lutz 2014). The critical simplices of this discrete Morse function have
// a boundary of their own (Harker, Mischaikow, Mrozek and Nanda 2014) over the integers or a field.
// Unit pivots of these small matrices are eliminated, and over the integers the rest is brought to
// Smith normal form.
package reduced

import (
	"eccbench/internal/bench"
	"eccbench/internal/pool"
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
		"collapses to the critical simplices of a discrete Morse function, then their Smith normal "+
			"form; scattered vertices are renumbered breadth first; any complex and ring; mostly one core",
		"Benedetti and Lutz 2014, Harker, Mischaikow, Mrozek and Nanda 2014")
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
	out := homology.NewGroups(len(j.in.Tops))
	err := j.each(trace, func(d int, l, above *level) error {
		defer trace.Span("core")()
		if out.Betti[d] += int64(len(l.critical)); above == nil || len(l.critical) == 0 {
			return nil
		}
		p := int64(0)
		if j.in.Over > homology.Integers {
			p = int64(j.in.Over)
		}
		rank, torsion := ranked(above.matrix(l.critical, p), p)
		out.Betti[d+1] -= rank
		out.Betti[d] -= rank
		var err error
		if j.in.Over == homology.Integers && len(torsion) > 0 {
			out.Torsion[d], err = orders(torsion)
		}
		return err
	})
	if err == nil {
		j.Last = out
	}
	return err
}

// each calls f with the level of each dimension, from the greatest down, and the one above if that has
// critical cells. The last, of the vertices, has only such cells.
func (j *job) each(trace *bench.Trace, f func(d int, l, above *level) error) error {
	d, p := j.in.Dim(), new(pool.Pool)
	if d < 0 {
		return nil
	}
	end, in := trace.Span("faces"), j.in.Complex
	distinct := simplicial.Distinct
	if simplicial.Scattered(in) { // neighbours are then near each other in memory
		in, distinct = simplicial.NumberBreadthFirst(p, in, j.cores), simplicial.DistinctIn
	}
	cells := distinct(p, in.Tops[d], d, in.Vertices, j.cores)
	end()
	var above *level
	for ; d > 0; d-- {
		end := trace.Span("faces")
		faces, boundary := simplicial.Below(p, cells, in.Tops[d-1], d-1, in.Vertices, j.cores)
		pool.Give(p, cells)
		end()
		end = trace.Span("pairs")
		var l *level
		if d > 1 {
			l = collapse(p, boundary, d+1, len(faces)/d)
		} else {
			l = span(p, boundary, len(faces))
		}
		cells = l.unpaired(faces, d)
		end()
		if err := f(d, l, above); err != nil {
			return err
		}
		if above != nil {
			above.free(p)
		}
		if above = l; len(l.critical) == 0 {
			l.free(p)
			above = nil
		}
	}
	l := &level{critical: make([]uint32, len(cells))}
	for v := range l.critical {
		l.critical[v] = uint32(v)
	}
	return f(0, l, nil) // the boundary of critical edges is 0
}
