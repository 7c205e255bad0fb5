// Package rings counts the Betti numbers of a set in an image with periodic axes. Each run of voxels
// in a row is joined with its neighbours, and a union-find structure stores how often the path from a
// run to its root goes round each axis.
package rings

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// voxelNS is the estimated time per voxel of noise, and runBytes the memory of a run: its ends, and
// its node.
const (
	voxelNS  = 150
	runBytes = 8 + 16
)

// Implementation is the method for a convention with periodic axes.
type Implementation struct{ In ecc.Convention }

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("rings", "union of neighbouring runs of a set and of its complement, "+
		"with the number of turns round each periodic axis; one core", "Alexander-Lefschetz duality")
}

// CanDo rejects images with more voxels than 32-bit node numbers allow.
func (i Implementation) CanDo(in *betti.Image, c bench.Conditions) error {
	if err := i.In.Periodic.Check(in.Shape()); err != nil {
		return err
	}
	n := in.Shape().Voxels()
	if n > math.MaxInt32-2 {
		return fmt.Errorf("%d voxels: at most %d", n, math.MaxInt32-2)
	}
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9), "%d voxels × %d ns", n, voxelNS); err != nil {
		return err
	}
	rows, w := n/in.Shape().W, in.Shape().W
	need := rows*((w+1)/2*runBytes+words(w)*8+4) + grid.SliceBytes(in.Source)
	return c.AllowMemory(need, "%d bytes for each run in %d rows", runBytes, rows)
}

// Setup allocates nothing.
func (i Implementation) Setup(in *betti.Image, _ bench.Conditions) (bench.Job[betti.Numbers], error) {
	return &job{in: in, c: i.In, Output: bench.PoisonedBy(betti.Poisoned)}, nil
}

type job struct {
	in *betti.Image
	c  ecc.Convention
	bench.Output[betti.Numbers]
}

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
		j.Last = betti.Numbers{B0: set.components, B1: enclosed, B2: top}
		return nil
	}
	tunnels := set.components + enclosed - top - l.characteristic(j.c.Vertices)
	j.Last = betti.Numbers{B0: set.components, B1: tunnels, B2: enclosed}
	return nil
}

// The kinds of voxels.
const inside, outside = 0, 1

// A lattice is the voxels of an image along z, y and x.
type lattice struct {
	dim   int
	sides [3]int64
	ring  [3]bool  // the periodic axes
	set   []uint64 // a bit for each voxel of the set, in whole words for each row
}

// words returns the number of words for the bits of a row.
func words(w int64) int64 { return (w + 63) / 64 }

func latticeOf(in *betti.Image, c ecc.Convention) (l lattice, err error) {
	s := in.Shape()
	rows := s.D * s.H
	l = lattice{dim: s.Dim(), sides: [3]int64{s.D, s.H, s.W}, set: make([]uint64, rows*words(s.W))}
	l.ring = [3]bool{c.Periodic.Z, c.Periodic.Y, c.Periodic.X}
	err = grid.EachSlab(betti.SetOf(in, c), func(slab []byte, lo, _ int64) error {
		to := l.set[lo*s.SliceVoxels()/s.W*words(s.W):]
		for ; len(slab) > 0; slab = slab[s.W:] {
			pack(to, slab[:s.W])
			to = to[words(s.W):]
		}
		return nil
	})
	return l, err
}

// pack sets the bits of the voxels of a row that are inside.
func pack(to []uint64, kinds []byte) {
	x := 0
	for ; x+8 <= len(kinds); x += 8 {
		eight := binary.LittleEndian.Uint64(kinds[x:]) ^ 0x0101010101010101
		to[x/64] |= eight * 0x0102040810204080 >> 56 << (x % 64)
	}
	for ; x < len(kinds); x++ {
		to[x/64] |= uint64(kinds[x]^1) << (x % 64)
	}
}

// row returns the bits of a row.
func (l *lattice) row(z, y int64) []uint64 {
	n := words(l.sides[2])
	return l.set[(z*l.sides[1]+y)*n:][:n]
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

// characteristic sums over the rows of cells that begin at one row and differ in the axes that they
// span. Within a row of cells, the shorter ones exceed the others by one per run. In construction T a
// row of cells is the union of the rows of voxels around it, in construction V their intersection.
func (l *lattice) characteristic(vertices bool) (chi int64) {
	for wide := range 4 { // the axes z and y along which a row of cells lies between two rows of voxels
		sign := int64(1)
		if odd := bits.OnesCount(uint(wide))%2 == 1; odd {
			sign = -1
		}
		for _, z := range l.places(0, wide&1 > 0, vertices) {
			for _, y := range l.places(1, wide&2 > 0, vertices) {
				rows := [4][]uint64{l.row(z[0], y[0]), l.row(z[0], y[1]), l.row(z[1], y[0]), l.row(z[1], y[1])}
				chi += sign * l.runsOf(rows, vertices)
			}
		}
	}
	return chi
}

// places lists the voxels before and after each cell along an axis: the same one twice for a cell
// that has only one.
func (l *lattice) places(axis int, wide, vertices bool) (list [][2]int64) {
	n := l.sides[axis]
	switch {
	case !wide:
	case l.ring[axis]:
		list = append(list, [2]int64{n - 1, 0})
	case !vertices:
		list = append(list, [2]int64{0, 0}, [2]int64{n - 1, n - 1})
	}
	for i := range n {
		if !wide {
			list = append(list, [2]int64{i, i})
		} else if i > 0 {
			list = append(list, [2]int64{i - 1, i})
		}
	}
	return list
}

// runsOf returns the number of runs in the union or the intersection of rows. A row that is a full
// ring has none.
func (l *lattice) runsOf(rows [4][]uint64, intersect bool) (n int64) {
	combined := func(i int64) uint64 {
		if intersect {
			return rows[0][i] & rows[1][i] & rows[2][i] & rows[3][i]
		}
		return rows[0][i] | rows[1][i] | rows[2][i] | rows[3][i]
	}
	before := uint64(0) // the voxel before a word
	if last := l.sides[2] - 1; l.ring[2] {
		before = combined(last/64) >> (last % 64) & 1
	}
	for i := range words(l.sides[2]) {
		v := combined(i)
		n += int64(bits.OnesCount64(v &^ (v<<1 | before)))
		before = v >> 63
	}
	return n
}
