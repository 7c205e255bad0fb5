// Package simplicial has finite simplicial complexes, generators by name, and readers of common
// file formats.
package simplicial

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"eccbench/internal/simplicial/files"
)

// MaxDim is the greatest dimension of a simplex. Such a simplex has 65,535 faces.
const MaxDim = files.MaxDim

// A Complex is a finite simplicial complex. It consists of the given simplices and all of their
// faces.
type Complex struct {
	// Tops are the given simplices by dimension; they need not be maximal. Tops[d] has the d+1 vertices
	// of each one after the other. The last list is not empty.
	Tops [][]uint32
	// Vertices is the number of vertex numbers, from 0 on. A number that no simplex has is no part of
	// the complex.
	Vertices int
	// Points are the coordinates x, y, z of each vertex; nil without coordinates.
	Points []float64

	centres []uint32 // the vertices, in ascending order, that a reader made

	once   sync.Once
	counts []int64

	sampling sync.Once
	estimate int64

	numbers atomic.Pointer[[]uint32]

	tried   sync.Once
	refused error
}

// Coincident returns the number of vertices at exactly the place of an earlier one, and of all vertices. Centres of
// faces and cells, which no file has, do not count. Files with corners for each triangle have many, and the triangles
// do not meet.
func (c *Complex) Coincident() (same, vertices int) {
	places := make(map[[3]float64]struct{}, c.Vertices)
	centres := c.centres
	for v := range len(c.Points) / 3 {
		if len(centres) > 0 && int(centres[0]) == v {
			centres = centres[1:]
			continue
		}
		vertices++
		places[[3]float64(c.Points[3*v:])] = struct{}{}
	}
	return vertices - len(places), vertices
}

// Dim returns the greatest dimension of a simplex, -1 for the empty complex.
func (c *Complex) Dim() int { return len(c.Tops) - 1 }

// Given returns the number of given simplices.
func (c *Complex) Given() (n int64) {
	for d, tops := range c.Tops {
		n += int64(len(tops) / (d + 1))
	}
	return n
}

// Bytes returns the memory of the simplices and points.
func (c *Complex) Bytes() int64 {
	n := 8 * int64(len(c.Points))
	for _, tops := range c.Tops {
		n += 4 * int64(len(tops))
	}
	return n
}

// Counts returns the number of simplices of each dimension, including faces. They are counted once.
func (c *Complex) Counts() []int64 {
	c.once.Do(func() {
		if c.counts == nil {
			c.counts = countFaces(c, runtime.GOMAXPROCS(0))
		}
	})
	return c.counts
}

// Try returns the error of a run that determines whether the tetrahedra of the complex bound a
// surface in space. Only the first call runs.
func (c *Complex) Try(run func() error) error {
	c.tried.Do(func() { c.refused = run() })
	return c.refused
}

// Simplices returns the number of simplices, including faces.
func (c *Complex) Simplices() (n int64) {
	for _, k := range c.Counts() {
		n += k
	}
	return n
}

// sampled is the number of vertices from which Estimate starts to sample, and about how many it takes.
const sampled = 1 << 11

// mostUneven is the largest ratio of a vertex's simplices to the mean for which Estimate samples.
const mostUneven = 16

// Estimate returns about the number of simplices, including faces, in a fraction of the time of
// Simplices. It counts the simplices at some of the vertices, once; in meshes the error is a few
// percent. If vertices are unused or have very different numbers of simplices, all are counted.
func (c *Complex) Estimate() int64 {
	c.sampling.Do(func() {
		if c.Vertices <= sampled || !c.even() {
			c.estimate = c.Simplices()
		} else {
			c.estimate = max(c.sample(), c.Given())
		}
	})
	return c.estimate
}

// even reports whether all vertices are used, by similar numbers of simplices.
func (c *Complex) even() bool {
	of, all := make([]uint32, c.Vertices), 0
	for _, tops := range c.Tops {
		for _, v := range tops {
			of[v]++
		}
		all += len(tops)
	}
	return slices.Min(of) > 0 && int(slices.Max(of)) <= mostUneven*all/c.Vertices
}

func (c *Complex) sample() int64 {
	rate := uint32(c.Vertices / sampled)
	taken := func(v uint32) bool { return ^v*0x9e3779b1 <= math.MaxUint32/rate }
	near, most := &Complex{Tops: make([][]uint32, len(c.Tops)), Vertices: c.Vertices}, int64(0)
	for d, tops := range c.Tops {
		most += int64(len(tops)/(d+1)) * (1<<(d+1) - 1)
		for s := range slices.Chunk(tops, d+1) {
			if slices.ContainsFunc(s, taken) {
				near.Tops[d] = append(near.Tops[d], s...)
			}
		}
	}
	n := 0.0
	eachList(near, runtime.GOMAXPROCS(0), func(d int, list []uint32) {
		for _, v := range list {
			if taken(v) { // each of the vertices of a simplex counts a part of it
				n += float64(rate) / float64(d+1)
			}
		}
	})
	return min(int64(n), most)
}

// Check returns the fault of the complex, or nil.
func (c *Complex) Check() error {
	if c.Dim() > MaxDim {
		return fmt.Errorf("a simplex of dimension %d: want at most %d", c.Dim(), MaxDim)
	}
	if c.Vertices < 0 || int64(c.Vertices) > math.MaxUint32 {
		return fmt.Errorf("%d vertices: want at most %d", c.Vertices, uint32(math.MaxUint32))
	}
	if len(c.Points) > 0 && len(c.Points) != 3*c.Vertices {
		return fmt.Errorf("%d coordinates of %d vertices: want three of each", len(c.Points), c.Vertices)
	}
	for d, tops := range c.Tops {
		if len(tops)%(d+1) != 0 {
			return fmt.Errorf("%d vertices in simplices of %d", len(tops), d+1)
		}
		if err := givenFit(len(tops), d); err != nil {
			return err
		}
		for at := 0; at < len(tops); at += d + 1 {
			s := tops[at : at+d+1]
			for i, v := range s {
				if int64(v) >= int64(c.Vertices) {
					return fmt.Errorf("simplex %v has a vertex %d: want 0 to %d", s, v, c.Vertices-1)
				}
				if slices.Contains(s[:i], v) {
					return fmt.Errorf("simplex %v has vertex %d twice", s, v)
				}
			}
		}
	}
	if d := c.Dim(); d >= 0 && len(c.Tops[d]) == 0 {
		return errors.New("the list of the greatest dimension is empty")
	}
	return nil
}

// mostGiven is the greatest number of given simplices of a dimension, so that indices in the lists
// of their faces fit 32 bits.
const mostGiven = 1 << 28

// givenFit rejects too many simplices of a dimension. listed is the number of vertices in their
// list.
func givenFit(listed, d int) error {
	if n := listed / (d + 1); n > mostGiven {
		return fmt.Errorf("%d simplices of dimension %d: want at most %d", n, d, mostGiven)
	}
	return nil
}

// trim removes empty lists at the end.
func (c *Complex) trim() *Complex {
	for len(c.Tops) > 0 && len(c.Tops[len(c.Tops)-1]) == 0 {
		c.Tops = c.Tops[:len(c.Tops)-1]
	}
	return c
}

// Add adds a simplex.
func (c *Complex) Add(vertices ...uint32) {
	d := len(vertices) - 1
	for len(c.Tops) <= d {
		c.Tops = append(c.Tops, nil)
	}
	c.Tops[d] = append(c.Tops[d], vertices...)
	for _, v := range vertices {
		c.Vertices = max(c.Vertices, int(v)+1)
	}
}
