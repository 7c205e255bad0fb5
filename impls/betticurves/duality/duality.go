// Package duality computes the Betti curves of an image from the voxels that change its components:
// minima, which start one, and saddles, where several may meet.
//
// Voxels are ordered by level, then by position. A voxel without an earlier neighbour is a minimum.
// The earlier neighbours of a voxel are its link. If the link has several components, the voxel is
// a saddle, with an edge from the first of them to each other one. Every voxel except the minima
// has an earlier neighbour, and so descends to a minimum. So
//
//	b0(t) = minima not above t − the rank of the edges not above t,
//
// for any order of the edges of a level. The complement has the reverse order, neighbours at faces
// only, and the outside before everything; by Alexander duality it gives b2. b1 follows from the
// changes of the Euler characteristic.
//
// An image is divided into boxes that share a layer of voxels. A box joins its edges independently:
// a component that does not reach a shared layer ends within the box. The results of a box are the
// edges between other components. The minima of a shared layer are united with the same voxels of
// the other box; all other voxels of the layer descend to one of these minima in both boxes. One
// core joins the few remaining nodes and edges. The results do not depend on the number of cores or
// their order.
package duality

import (
	"errors"
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/isa"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// voxelNS is the estimated time per voxel and core: about three times that of noise.
func voxelNS(name string) int64 {
	if name == isa.Portable {
		return 150
	}
	return 75
}

// Implementation combines the method with an implementation that counts the Euler characteristic.
type Implementation struct {
	Counter bench.Implementation[grid.Source, ecc.VCEC]
	box     int64 // voxels per box; 0 for boxVoxels
}

// About describes the method.
func (i Implementation) About() bench.About {
	return bench.About{
		Name: "duality", Where: "cpu",
		Method: "union-find of minima at saddles, of the sublevel sets and their complements; b1 from the curve by " +
			i.Counter.About().Name + "; all cores",
		Source: "doc/proofs/betti.md, Delfinado and Edelsbrunner 1995",
		ISAs:   available(),
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
}

// CanDo rejects an image that needs more time or memory than the conditions allow, or that the
// counter rejects.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	name, err := isa.Choose(c.ISA, available())
	if err != nil {
		return err
	}
	n, ns := in.Shape().Voxels(), voxelNS(name)
	cores := max(1, c.Threads)
	if err := c.Allow(quantity.Seconds(float64(n*ns)*1e-9/float64(cores)), "%d voxels × %d ns on %d cores", n, ns,
		cores); err != nil {
		return err
	}
	if err := c.AllowMemory(i.memory(in, cores)+i.counterBytes(in, c), "at most, for %d voxels on %d cores", n, cores); err != nil {
		return err
	}
	if err := i.Counter.CanDo(in, c); err != nil {
		return fmt.Errorf("%s: %w", i.Counter.About().Name, err)
	}
	return nil
}

// counterBytes returns the memory of the counter without the levels of a tally.
func (i Implementation) counterBytes(in grid.Source, c bench.Conditions) int64 {
	var most bench.TooMuch
	c.Memory, c.Time, c.Once = 1, 0, true
	errors.As(i.Counter.CanDo(in, c), &most)
	return most.Need
}

// Upper bounds of memory: per voxel of a box with its bits; per voxel of the image for the results
// of boxes; and per voxel for its change, if levels have no table.
const (
	boxBytes  = 96
	leftBytes = 2
	listBytes = 8
)

func (i Implementation) memory(in grid.Source, cores int) int64 {
	n := in.Shape().Voxels()
	need := leftBytes * n
	l := i.layout(in, cores)
	if l.tabled {
		need += 16 * l.levels * int64(cores)
	} else {
		need += listBytes * n
	}
	slots := l.most[0] * planeWords(l.most[1], words(l.most[2])) * 64
	need += int64(cores) * slots * boxBytes
	if _, whole := in.(*grid.Field); !whole {
		need += int64(cores) * l.most[0] * l.h * l.w * in.Type().Size()
	}
	return need
}

// A layout describes the boxes of an image, and the storage of its levels.
type layout struct {
	d, h, w int64
	cuts    [3][]int64 // first and last planes, rows and columns of the boxes; neighbours share them
	most    [3]int64   // largest size of a box
	hollow  bool       // whether cavities are possible
	levels  int64
	tabled  bool // changes are stored in a table of the levels
}

// boxVoxels is the approximate number of voxels of a box, padding included, so that its data stays
// in a core's cache. Boxes of a smaller image have fewer, but at least fewVoxels, so that each of
// several cores has a few of them. rowVoxels is the longest row of a box.
const (
	boxVoxels = 1 << 18
	fewVoxels = 1 << 14
	rowVoxels = 1 << 10
)

func (i Implementation) layout(in grid.Source, cores int) (l layout) {
	l.d, l.h, l.w = cells.Stack(in.Shape())
	l.hollow = min(l.d, l.h, l.w) > 2 // otherwise every voxel is at a side
	l.levels = in.Ladder().Len()
	l.tabled = l.levels <= 1<<16
	left := i.box
	if left == 0 {
		left = boxVoxels
		if cores > 1 {
			left = min(left, max(fewVoxels, in.Shape().Voxels()*9/16/int64(cores)))
		}
	}
	sides := [3]int64{l.d, l.h, l.w}
	for _, axis := range []int{2, 1, 0} {
		most := max(2, left)
		switch axis {
		case 2:
			most = min(most, rowVoxels)
		case 1:
			most = max(2, int64(math.Sqrt(float64(left))), left/l.d)
		}
		l.cuts[axis], l.most[axis] = cuts(sides[axis], most)
		switch axis { // rows have whole words, and planes whole groups
		case 2:
			left /= 64 * words(l.most[2])
		case 1:
			left = left * words(l.most[2]) / planeWords(l.most[1], words(l.most[2]))
		}
	}
	l.share(cores)
	return l
}

// share cuts more boxes of fewer planes while cores with one box less than others wait for a tenth of the time.
func (l *layout) share(cores int) {
	const fewPlanes = 8
	for l.most[0] > fewPlanes && (l.boxes()+cores-1)/cores*cores*10 > 11*l.boxes() {
		l.cuts[0], l.most[0] = cuts(l.d, l.most[0]-1)
	}
}

// boxes returns the number of boxes.
func (l *layout) boxes() int { return (len(l.cuts[0]) - 1) * l.perLayer() }

// perLayer returns the number of boxes with the same planes.
func (l *layout) perLayer() int { return (len(l.cuts[1]) - 1) * (len(l.cuts[2]) - 1) }

// cuts divides a side into pieces of at most the given length, which share their ends.
func cuts(side, most int64) (at []int64, longest int64) {
	pieces := max(1, (side-1+most-2)/(most-1))
	for i := range pieces + 1 {
		at = append(at, (side-1)*i/pieces)
	}
	for i := range pieces {
		longest = max(longest, at[i+1]-at[i]+1)
	}
	return at, longest
}

// words returns the number of words for the bits of a row.
func words(w int64) int64 { return (w + 63) / 64 }

// Setup sets up the counter. The cores' memory is allocated when they first run.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[betti.Curves], error) {
	name, err := isa.Choose(c.ISA, available())
	if err != nil {
		return nil, err
	}
	counter, err := i.Counter.Setup(in, c)
	if err != nil {
		return nil, err
	}
	threads := max(1, c.Threads)
	j := &common{in: in, layout: i.layout(in, threads), counter: counter, threads: threads, isa: name,
		out: betti.PoisonedCurves}
	switch {
	case j.levels < 1<<8, in.Type() == grid.Uint8 && identical(in):
		return newJob[uint8](j), nil
	case j.levels < 1<<16, in.Type() != grid.Float32 && identical(in):
		return newJob[uint16](j), nil
	}
	return newJob[uint32](j), nil
}

// identical reports whether the levels are all values of the type.
func identical(in grid.Source) bool { return in.Ladder().Key() == grid.Identity(in.Type()).Key() }
