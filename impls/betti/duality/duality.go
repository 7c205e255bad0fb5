// Package duality computes the Betti numbers of a binary image without labels. The number of
// components is the number of nodes minus the number of links that join two components, in any
// order of the links.
//
// The image is packed to one bit per voxel, a window of planes at a time. Most voxels of most
// images belong to one component of the set or to the outside. So a trunk of connected voxels is
// grown along rows of words; it stays connected however far it grows. Remaining voxels without
// remaining neighbours are counted one by one, and the others by runs. Runs and the trunk are
// nodes. Each run of bits that two neighbouring rows share is a link. Only nodes of the last plane
// continue to the next window.
//
// By Alexander duality the cavities are the components of the background without the outside
// (Delfinado and Edelsbrunner 1995). Tunnels follow from the Euler characteristic, counted by runs
// on the same bits. Cores process parts of the planes, which are joined at the end. All results are
// sums, so they do not depend on the order of the cores.
package duality

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc/cells"
)

// voxelNS is the estimated time per voxel and core.
const voxelNS = 5

// Implementation is ready to use as its zero value.
type Implementation struct {
	planes int64 // of a window; 0 selects a suitable number
}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("duality",
		"union-find of runs of bits, of the set and its complement; b1 from χ of the same bits; all cores",
		"doc/proofs/betti.md, Delfinado and Edelsbrunner 1995")
}

// CanDo rejects an image that needs more time or memory than the conditions allow.
func (Implementation) CanDo(in *betti.Image, c bench.Conditions) error {
	n := in.Shape().Voxels()
	cores := max(1, c.Threads)
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9/float64(cores)), "%d voxels × %d ns on %d cores", n,
		voxelNS, cores); err != nil {
		return err
	}
	return c.AllowMemory(memory(in, cores), "a few planes of bits and of runs for each of %d cores", cores)
}

// memory returns an upper bound of a job's memory: windows, kept planes, slabs, and nodes for half
// of the voxels of each kind.
func memory(in *betti.Image, cores int) int64 {
	d, h, w := cells.Stack(in.Shape())
	l := layoutOf(h, w)
	parts, planes := windows(d, cores, windowPlanes(l))
	const words, kept, node = 3*8 + 4, 2 * (2*2*8 + 2*2*4 + 8), 4 * 4 // three numbers per node, with room to grow
	need := (planes+3)*l.plane*words + l.plane*kept + (planes+2)*h*(w+1)/2*node
	if _, whole := in.Source.(*grid.Field); !whole {
		need += max(slabBytes, grid.SliceBytes(in.Source))
	}
	return parts * need
}

// words returns the number of words for the bits of a row.
func words(w int64) int64 { return (w + 63) / 64 }

// Setup divides the image into parts, one per core.
func (i Implementation) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	d, h, w := cells.Stack(in.Shape())
	j := &job{in: in, ends: [2]bool{true, true}, Output: bench.PoisonedBy(betti.Poisoned)}
	j.setup(d, h, w, c.Threads, i.planes)
	return j, nil
}
