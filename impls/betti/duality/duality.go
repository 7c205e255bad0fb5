// Package duality counts the Betti numbers of a binary image without a label: components are
// nodes less the links that join two, whatever the order of the links.
//
// The image is packed to a bit a voxel. Nodes of the foreground are runs of columns of 2 × 2
// rows, whose voxels all touch each other; nodes of the background are runs of a row. Each
// set of bits where two neighbouring rows meet is found by a few operations on words and
// makes one link, or none where other links close a circle with it. By Alexander duality the
// cavities are the components of the background but the outside (Delfinado and Edelsbrunner
// 1995), and tunnels follow from the Euler characteristic, which is counted by runs on the
// same bits. Components, cavities and the characteristic are sums over rows, so that cores
// take parts of the planes; the parts are joined in pairs, then pairs of pairs. Sums are the
// same whatever core comes first.
package duality

import (
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// voxelNS is what a voxel costs a core, for the estimate in a refusal.
const voxelNS = 10

// Implementation is ready to use.
type Implementation struct{ fault Fault }

// About describes the method.
func (i Implementation) About() bench.About {
	a := bench.About{
		Name: "duality", Where: "cpu",
		Method: "nodes less successful unions of runs of bits, of the set and of its complement, b1 by the Euler characteristic of the same bits; all cores",
		Source: "doc/betti.md, Delfinado and Edelsbrunner 1995",
		Scopes: []bench.Scope{bench.E2E, bench.File},
	}
	if i.fault != "" {
		a.Method += "; planted fault: " + string(i.fault)
	}
	return a
}

// CanDo refuses what takes more time or memory than the conditions allow.
func (Implementation) CanDo(in *betti.Image, c bench.Conditions) error {
	n := in.Shape().Voxels()
	cores := max(1, c.Threads)
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9/float64(cores)), "%d voxels × %d ns on %d cores", n, voxelNS, cores); err != nil {
		return err
	}
	return c.AllowMemory(memory(in, cores), "a bit for each of %d voxels, and 4 bytes for each run that there may be", n)
}

// memory is what a job takes at most: bits, runs of every second voxel in the background and
// of a quarter of them in the foreground's bundles, what rows begin with, and slabs.
func memory(in *betti.Image, cores int) int64 {
	d, h, w := ecc.Stack(in.Shape())
	rows := d * h
	need := 8*rows*words(w) + 4*(rows*((w+1)/2)+(d+1)/2*((h+1)/2)*((w+1)/2)) + 6*rows
	if _, whole := in.Source.(*grid.Field); !whole {
		need += int64(cores) * max(slabBytes, grid.SliceBytes(in.Source))
	}
	return need
}

// words is how many words the bits of a row take.
func words(w int64) int64 { return (w + 63) / 64 }

// Setup allocates the bits; nodes are as many as there are in the image.
func (i Implementation) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	d, h, w := ecc.Stack(in.Shape())
	j := &job{in: in, fault: i.fault, ends: [2]bool{true, true}, out: betti.Poisoned}
	j.setup(d, h, w, c.Threads)
	return j, nil
}

// setup allocates the bits of so many planes.
func (j *job) setup(d, h, w int64, threads int) {
	j.d, j.h, j.w, j.words = d, h, w, words(w)
	j.pairs = (d + 1) / 2
	j.rowPairs = (h + 1) / 2
	j.bits = make([]uint64, d*h*j.words)
	j.none = make([]uint64, j.words)
	j.bundles = make([]int32, j.pairs*j.rowPairs+1)
	j.hollow = min(h, w) > 2 && (j.slab || d > 2) // else every voxel is at a side of the box
	if j.hollow {
		j.runs = make([]int32, d*h+1)
	}
	j.last = math.MaxUint64 >> uint(64*j.words-w)
	parts := min(int64(max(1, threads)), j.pairs)
	for p := range parts {
		j.parts = append(j.parts, &part{lo: j.pairs * p / parts, hi: j.pairs * (p + 1) / parts})
	}
}
