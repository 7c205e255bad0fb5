// Package morse computes persistence pairs from a discrete gradient of the image (Robins, Wood and Sheppard 2011).
//
// All cells that a vertex ends are its star. The earlier neighbours of the vertex are its lower link, which determines
// by a table of all links how the cells of a star are paired with each other. The few that are left are critical:
// vertices and edges of pairs of dimension 0, which union-find gives; cells of the two highest dimensions, by the same
// on the dual graph; and edges and squares of pairs of dimension 1 in 3D, by a reduction of the boundaries of squares
// or the coboundaries of edges, whichever is shorter.
package morse

import (
	"fmt"
	"math/bits"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
)

// Implementation is ready to use as its zero value, for the default convention.
type Implementation struct {
	Convention ecc.Convention
	only       direction // of the reduction, for tests
	tile       uint32    // side of a tile; 0 for tileSide
}

// A direction is of a reduction: that with less work, homology or cohomology.
type direction int

const (
	either direction = iota
	homology
	cohomology
)

// In returns the implementation for another convention.
func (i Implementation) In(c ecc.Convention) pairs.Implementation {
	i.Convention = c
	return i
}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("morse",
		"discrete gradient from a table of lower links; union-find of minima and of maxima, reduction of critical cells",
		"doc/proofs/pairs.md; Robins, Wood, Sheppard 2011; Guillou, Vidal, Tierny 2023")
}

// estimate returns the time in nanoseconds and the memory in bytes per voxel, the box excluded. Both are for large
// noise with a margin; smooth images take a tenth. Thin walls, such as the sublevel sets of -|gyroid|, take more, and
// more per voxel in larger images. So the reduction limits its memory itself.
func estimate(s grid.Shape) (ns, bytes int64) {
	if s.Dim() == 2 {
		return 400, 60
	}
	return 4000, 230
}

// Bytes of the table, and of each place of the box: its key, star, time and two parents.
const tableBytes, placeBytes = 2 << 20, 18

// shiftOf returns the number of bits of a cell of a box of some vertices.
func shiftOf(vertices int) uint { return uint(bits.Len(uint(vertices-1))) + cellBits }

// CanDo rejects an image whose cells have no name of 64 bits.
func (i Implementation) CanDo(in grid.Source, c bench.Conditions) error {
	if err := pairs.Supported(in, i.Convention); err != nil {
		return err
	}
	s := pairs.Box(pairs.Box(in.Shape()))
	levels := in.Ladder().Len()
	if shiftOf(int(s.Voxels()))+uint(bits.Len64(uint64(levels)+1)) > 64 {
		return fmt.Errorf("%d levels of an image of shape %v: names of cells have more than 64 bits", levels, in.Shape())
	}
	n := in.Shape().Voxels()
	ns, bytes := estimate(in.Shape())
	if err := c.Allow(quantity.Seconds(float64(n*ns)*1e-9), "%d voxels × %d ns, as for noise", n, ns); err != nil {
		return err
	}
	return c.AllowMemory(n*bytes+s.Voxels()*placeBytes+tableBytes+grid.SliceBytes(in),
		"%d voxels × %d bytes, as for noise, and %d places of the box × %d bytes", n, bytes, s.Voxels(), placeBytes)
}

// Setup allocates nothing.
func (i Implementation) Setup(in grid.Source, c bench.Conditions) (bench.Job[pairs.Answer], error) {
	return &job{Implementation: i, in: in, threads: max(1, c.Threads), memory: c.Memory,
		Output: bench.PoisonedBy(pairs.Poisoned())}, nil
}

type job struct {
	Implementation
	in      grid.Source
	threads int
	memory  int64 // limit of bytes; 0 means none
	bench.Output[pairs.Answer]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("read")
	times, err := pairs.ReadTimes(j.in, j.Convention.Superlevel)
	if err != nil {
		return err
	}
	b := newBox(j.in.Shape(), times, j.in.Ladder().Len(), j.Convention)
	end()
	end = trace.Span("gradient")
	b.findStars(j.threads)
	end()
	end = trace.Span("forests")
	var low, high *forest
	grow := []func(){func() { low = b.growForest() }, func() { high = b.growDual() }}
	crew.Each(min(2, j.threads), func(i int) {
		for ; i < 2; i += j.threads {
			grow[i]()
		}
	})
	end()
	var out pairs.Answer
	lists := [3][]uint64{0: b.times(append(low.pairs, b.essential(low)...))}
	lists[b.dim-1] = b.times(high.pairs)
	if b.dim == 3 {
		end = trace.Span("reduction")
		var list []uint64
		if list, out.Chains, err = j.loops(low, high); err != nil {
			return err
		}
		lists[1] = b.times(list)
		end()
	}
	if b.dual {
		slices.Reverse(lists[:b.dim])
	}
	for dim, list := range lists {
		for _, p := range sortFrom(list, 0) {
			out.Pairs = append(out.Pairs, pairs.Pair{Dim: dim, Birth: int64(p >> 32), Death: int64(uint32(p)) - 1})
		}
	}
	j.Last = out
	return nil
}

// never is the death of a component of the box that no vertex ends.
const never = 1<<32 - 1

// essential returns the pair of the component that has all vertices.
func (b *box) essential(f *forest) []uint64 {
	return []uint64{uint64(f.find(uint32(b.vertex(0))))<<32 | never}
}

// times returns the pairs of the image that are those of the box: birth and death + 1, by voxels.
func (b *box) times(list []uint64) []uint64 {
	kept := list[:0]
	for _, p := range list {
		birth, death := uint32(p>>32), uint32(p)
		if b.dual {
			birth, death = death, birth
		}
		if birth == never || b.key[birth] == b.absent || death != never && b.key[birth] == b.key[death] {
			continue
		}
		pair := uint64(b.voxel(birth)) << 32
		if death != never && b.key[death] != b.absent {
			pair |= uint64(b.voxel(death) + 1)
		}
		kept = append(kept, pair)
	}
	return kept
}
