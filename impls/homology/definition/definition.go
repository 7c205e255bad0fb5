// Package definition computes homology groups by their definition: ranks of the boundary matrices
// over a field, and Smith normal forms over the integers. The matrices are dense, so it accepts
// small complexes only. It is the reference.
package definition

import (
	"math/big"

	"eccbench/impls/homology/smith"
	"eccbench/internal/bench"
	"eccbench/internal/quantity"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/homology"
)

// Estimated nanoseconds per entry and row of a matrix, and bytes per entry, over a field and over
// the integers.
const (
	fieldNS, integerNS       = 2, 60
	fieldBytes, integerBytes = 8, 64
)

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("definition",
		"ranks of full boundary matrices by elimination over a field, their Smith normal forms over the integers "+
			"and the rationals; one core",
		"Munkres 1984, sections 8 and 11")
}

// CanDo rejects a complex that needs more time or memory than the conditions allow.
func (Implementation) CanDo(p *homology.Problem, c bench.Conditions) error {
	ns, size := int64(fieldNS), int64(fieldBytes)
	if p.Over <= homology.Integers {
		ns, size = integerNS, integerBytes
	}
	counts := p.Counts()
	var steps, most float64
	for d := 1; d < len(counts); d++ {
		n, m := float64(counts[d]), float64(counts[d-1])
		steps += n * m * min(n, m)
		most = max(most, n*m)
	}
	if err := c.Allow(quantity.Seconds(steps*float64(ns)*1e-9), "%.3g steps of elimination × %d ns", steps,
		ns); err != nil {
		return err
	}
	return c.AllowMemory(int64(min(most*float64(size), 1<<62)), "%d bytes for each of %.3g entries", size, most)
}

// Setup binds the method to a complex.
func (Implementation) Setup(p *homology.Problem, _ bench.Conditions) (bench.Job[homology.Groups], error) {
	return &job{in: p, Output: bench.PoisonedBy(homology.Poisoned())}, nil
}

type job struct {
	in *homology.Problem
	bench.Output[homology.Groups]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("faces")
	f := simplicial.NewFaces(j.in.Complex, 1)
	end()
	defer trace.Span("elimination")()
	out, err := groups(f, j.in.Over)
	if err == nil {
		j.Last = out
	}
	return err
}

// groups returns the homology groups of a complex with these faces.
func groups(f *simplicial.Faces, over homology.Ring) (homology.Groups, error) {
	out := homology.NewGroups(len(f.Vertices))
	for d, n := range f.Counts() {
		out.Betti[d] += n
		if d == 0 {
			continue
		}
		m := f.Count(d - 1)
		var rank int64
		if over > homology.Integers {
			rank = fieldRank(f.Boundary[d], d, n, m, int64(over))
		} else {
			var torsion []uint64
			var err error
			rank, torsion, err = smith.Form(n, m,
				func(i int64) []uint32 { return f.Boundary[d][i*int64(d+1) : (i+1)*int64(d+1)] })
			if over == homology.Integers {
				if err == nil {
					out.Torsion[d-1], err = smith.Factors(torsion)
				}
				if err != nil {
					return out, err
				}
			}
		}
		out.Betti[d] -= rank
		out.Betti[d-1] -= rank
	}
	return out, nil
}

// fieldRank returns the rank of a boundary matrix over the field of p elements.
func fieldRank(boundary []uint32, d int, n, m, p int64) (rank int64) {
	rows := make([][]int64, n)
	for i := range rows {
		rows[i] = make([]int64, m)
		for k, face := range boundary[i*(d+1) : (i+1)*(d+1)] {
			rows[i][face] = 1
			if k%2 == 1 {
				rows[i][face] = p - 1
			}
		}
	}
	for column := int64(0); column < m && rank < n; column++ {
		pivot := rank
		for pivot < n && rows[pivot][column] == 0 {
			pivot++
		}
		if pivot == n {
			continue
		}
		rows[rank], rows[pivot] = rows[pivot], rows[rank]
		inverse := new(big.Int).ModInverse(big.NewInt(rows[rank][column]), big.NewInt(p)).Int64()
		for i := rank + 1; i < n; i++ {
			if rows[i][column] == 0 {
				continue
			}
			times := p - rows[i][column]*inverse%p
			for c := column; c < m; c++ {
				rows[i][c] = (rows[i][c] + times*rows[rank][c]) % p
			}
		}
		rank++
	}
	return rank
}
