// Package rings counts the Betti numbers of a set in an image with periodic axes. Each voxel is
// joined with its neighbours, and a union-find structure stores how often the path from a voxel to
// its root goes round each axis.
package rings

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// voxelNS and voxelBytes are the estimated time and memory per voxel.
const (
	voxelNS    = 800
	voxelBytes = 17
)

// Implementation is the method for a convention with periodic axes.
type Implementation struct{ In ecc.Convention }

// About describes the method.
func (Implementation) About() bench.About {
	return bench.About{
		Name: "rings", Where: "cpu",
		Method: "union of neighbouring voxels of a set and of its complement, with the number of turns round each periodic axis; one core",
		Source: "Alexander-Lefschetz duality",
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
}

// CanDo rejects images with more voxels than 32-bit node numbers allow.
func (i Implementation) CanDo(in *betti.Image, c bench.Conditions) error {
	if err := i.In.Periodic.Of(in.Shape()); err != nil {
		return err
	}
	n := in.Shape().Voxels()
	if n > math.MaxInt32-2 {
		return fmt.Errorf("%d voxels: at most %d", n, math.MaxInt32-2)
	}
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9), "%d voxels × %d ns", n, voxelNS); err != nil {
		return err
	}
	return c.AllowMemory(n*voxelBytes, "%d bytes for each of %d voxels", voxelBytes, n)
}

// Setup allocates nothing.
func (i Implementation) Setup(in *betti.Image, _ bench.Conditions) (bench.Job[betti.Numbers], error) {
	return &job{in: in, c: i.In, out: betti.Poisoned}, nil
}

type job struct {
	in  *betti.Image
	c   ecc.Convention
	out betti.Numbers
}

func (j *job) Poison() { j.out = betti.Poisoned }

func (j *job) Out() (betti.Numbers, error) { return j.out, nil }

func (j *job) Close() error { return nil }

// Do counts components and applies duality. Let X be a set in a space M of n axes, p of them
// periodic. Let its complement have c components, whose closed paths have turns of rank r. Then
//
//	b[n−1] = (p − r) + (c − 1), and b[n] = 0,
//
// because H[n−k](M, M∖X) is dual to H[k](X). The outside belongs to the complement. If X is all of
// M, then b[n−1] = n and b[n] = 1.
func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("read")
	l, err := latticeOf(j.in, j.c)
	if err != nil {
		return err
	}
	end()
	defer trace.Span("join")()
	set := l.join(inside, !j.c.Vertices)
	rest := l.join(outside, j.c.Vertices)
	p := int64(l.rings())
	enclosed, top := p-int64(len(rest.turns))+rest.components-1, int64(0)
	if rest.components == 0 {
		enclosed, top = p, 1
	}
	if l.dim == 2 {
		j.out = betti.Numbers{B0: set.components, B1: enclosed, B2: top}
		return nil
	}
	tunnels := set.components + enclosed - top - l.characteristic(j.c.Vertices)
	j.out = betti.Numbers{B0: set.components, B1: tunnels, B2: enclosed}
	return nil
}

// The kinds of voxels.
const inside, outside = 0, 1

// A lattice is the voxels of an image along z, y and x.
type lattice struct {
	dim   int
	sides [3]int64
	ring  [3]bool // the periodic axes
	kinds []byte
}

func latticeOf(in *betti.Image, c ecc.Convention) (l lattice, err error) {
	s := in.Shape()
	l = lattice{dim: s.Dim(), sides: [3]int64{s.D, s.H, s.W}, kinds: grid.NewBuffer(s.Voxels())}
	l.ring = [3]bool{c.Periodic.Z, c.Periodic.Y, c.Periodic.X}
	return l, betti.SetOf(in, c).ReadSlab(l.kinds, 0, s.Slices())
}

// rings returns the number of periodic axes.
func (l *lattice) rings() (n int) {
	for _, is := range l.ring {
		if is {
			n++
		}
	}
	return n
}

// axes lists the axes of the image.
func (l *lattice) axes() []int { return []int{0, 1, 2}[3-l.dim:] }

// step returns the voxel one step away and the turns of the step around each axis, or false if
// there is none.
func (l *lattice) step(from, by [3]int64) (to int64, turns [3]int32, is bool) {
	for a := range from {
		at := from[a] + by[a]
		if at < 0 || at >= l.sides[a] {
			if !l.ring[a] {
				return 0, turns, false
			}
			turns[a] = int32(by[a])
			at = (at + l.sides[a]) % l.sides[a]
		}
		to = to*l.sides[a] + at
	}
	return to, turns, true
}

// each calls f with every voxel.
func (l *lattice) each(f func(i int64, at [3]int64)) {
	i := int64(0)
	for z := range l.sides[0] {
		for y := range l.sides[1] {
			for x := range l.sides[2] {
				f(i, [3]int64{z, y, x})
				i++
			}
		}
	}
}

// ahead lists the steps to half of the neighbours of a voxel. The other half have it as their
// neighbour.
func (l *lattice) ahead(corners bool) (steps [][3]int64) {
	for k := int64(14); k < 27; k++ {
		by := [3]int64{k/9 - 1, k/3%3 - 1, k%3 - 1}
		far := by[0]*by[0] + by[1]*by[1] + by[2]*by[2]
		if (far == 1 || corners) && (l.dim == 3 || by[0] == 0) {
			steps = append(steps, by)
		}
	}
	return steps
}

// characteristic counts each cell of the set once. In construction T these are the faces of its
// voxels; in construction V the cells whose vertices are all in the set.
func (l *lattice) characteristic(vertices bool) (chi int64) {
	var sides [3]int64
	for spans := range 8 {
		sign := int64(1)
		for a := range sides {
			spanned := spans>>a&1 == 1
			if sides[a] = l.sides[a]; spanned {
				sign = -sign
			}
			if !l.ring[a] && spanned == vertices { // along an open axis: vertices have one edge less, voxels one face more
				sides[a] += map[bool]int64{true: -1, false: 1}[vertices]
			}
		}
		cells := lattice{dim: 3, sides: sides}
		cells.each(func(_ int64, at [3]int64) {
			if l.hasCell(at, spans, vertices) {
				chi += sign
			}
		})
	}
	return chi
}

// hasCell reports whether the set contains the cell that begins at a place and spans some axes.
func (l *lattice) hasCell(at [3]int64, spans int, vertices bool) bool {
	for corner := range 8 {
		var by [3]int64
		skip := false
		for a := range by {
			if by[a] = int64(corner >> a & 1); by[a] == 1 && spans>>a&1 == 1 != vertices {
				skip = true // the cell has only one voxel along the axis
			}
			if !vertices {
				by[a] = -by[a]
			}
		}
		if skip {
			continue
		}
		i, _, is := l.stepFrom(at, by)
		if in := is && l.kinds[i] == inside; in != vertices {
			return in
		}
	}
	return vertices
}

// stepFrom is step for a place that may be beyond the last voxel.
func (l *lattice) stepFrom(from, by [3]int64) (int64, [3]int32, bool) {
	for a := range from {
		from[a], by[a] = from[a]+by[a], 0
	}
	return l.step(from, by)
}
