package library

import (
	"errors"
	"fmt"

	"eccbench/impls/homology/duality"
	"eccbench/impls/homology/reduced"
	"eccbench/internal/ask"
	"eccbench/internal/grid"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// A Homology requests the homology groups of a complex: of the input, or of simplices in memory.
type Homology struct {
	Coefficients string `json:"coefficients"` // a prime, Q or Z; "" for the input's own, by default 2
	// Given is the number of simplices in memory by dimension. They are consecutive, each by its
	// vertices as uint32.
	Given    []int64 `json:"given"`
	Vertices int     `json:"vertices"` // vertices have numbers below this
}

// read returns the complex in memory, whose vertices may have coordinates x, y, z as float64.
func (h Homology) read(simplices, points []byte) (*simplicial.Complex, error) {
	c := &simplicial.Complex{Vertices: h.Vertices}
	if len(points) > 0 {
		c.Points = grid.Values[float64](points)
	}
	listed := grid.Values[uint32](simplices)
	for d, n := range h.Given {
		size := n * int64(d+1)
		if n < 0 || n > int64(len(listed)) || size > int64(len(listed)) {
			return nil, fmt.Errorf("%d simplices of dimension %d in %d bytes", n, d, len(simplices))
		}
		c.Tops, listed = append(c.Tops, listed[:size:size]), listed[size:]
	}
	if len(listed) > 0 {
		return nil, fmt.Errorf("%d bytes beside the simplices", 4*len(listed))
	}
	return c, nil
}

// homology returns the homology groups of a complex.
func (r Request) homology(simplices, points []byte) (a Answer, err error) {
	if r.Betti || r.Flow != nil || r.Eigenmap != nil || r.Assess != nil || r.Superlevel || r.OfSets() || r.Levels > 0 {
		return a, errors.New("homology needs a complex, without conventions or levels; leave them out")
	}
	q := ask.Homology{
		By: homology.Workload(duality.Implementation{}, reduced.Implementation{}), Coefficients: r.Homology.Coefficients,
	}
	if r.Input == "" {
		q.Complex, err = r.Homology.read(simplices, points)
	} else {
		q.Name, err = ask.HomologyName(r.Input, q.Coefficients)
	}
	if err != nil {
		return a, err
	}
	p, err := q.Problem()
	if err != nil {
		return a, err
	}
	q.By.Policy = q.By.Policy.Witnesses()
	out, err := answered(&a, q.By, p, r)
	a.Groups, a.Torsion, a.Coefficients = out.Betti, out.Torsion, p.Over.String()
	return a, err
}
