// Package duality counts the Betti numbers of a binary image without labels: components are nodes
// minus the links that join two, in any order of the links.
//
// The image is packed to one bit per voxel, a window of planes at a time. Most voxels of most
// images belong to one component of the set or to the outside. So a trunk of connected voxels is
// grown along rows of words; it is connected however far it grows. The remaining voxels are counted
// one by one if they have no remaining neighbour, and otherwise by runs. Runs and the trunk are
// nodes, and each set of bits shared by two neighbouring rows is a link. Only nodes of the last
// plane continue to the next window. By Alexander duality the cavities are the components of the
// background without the outside (Delfinado and Edelsbrunner 1995), and tunnels follow from the
// Euler characteristic, counted by runs on the same bits. All are sums over rows, so cores process
// parts of the planes, which are joined in the end. The sums do not depend on the order of the
// cores.
package duality

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// voxelNS is what a voxel costs a core, for the estimate in a refusal.
const voxelNS = 5

// Implementation is ready to use.
type Implementation struct {
	fault  Fault
	planes int64 // of a window; 0 for what suits
}

// About describes the method.
func (i Implementation) About() bench.About {
	a := bench.About{
		Name: "duality", Where: "cpu",
		Method: "nodes less successful unions of runs of bits, of the set and of its complement, b1 by the Euler characteristic of the same bits; all cores",
		Source: "doc/proofs/betti.md, Delfinado and Edelsbrunner 1995",
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
	return c.AllowMemory(memory(in, cores), "a few planes of bits and of runs for each of %d cores", cores)
}

// memory is what a job takes at most: windows, planes that are kept, and nodes of half of their voxels of
// each kind, and slabs.
func memory(in *betti.Image, cores int) int64 {
	d, h, w := ecc.Stack(in.Shape())
	l := layoutOf(h, w)
	planes := min(windowPlanes(l), d)
	const words, kept, node = 3*8 + 4, 2 * (2*2*8 + 2*2*4 + 8), 4 * 4 // three numbers of a node, with room to grow
	need := (planes+3)*l.plane*words + l.plane*kept + (planes+2)*h*(w+1)/2*node
	if _, whole := in.Source.(*grid.Field); !whole {
		need += max(slabBytes, grid.SliceBytes(in.Source))
	}
	return int64(cores) * need
}

// words is how many words the bits of a row take.
func words(w int64) int64 { return (w + 63) / 64 }

// Setup makes parts of the image, of one core each.
func (i Implementation) Setup(in *betti.Image, c bench.Conditions) (bench.Job[betti.Numbers], error) {
	d, h, w := ecc.Stack(in.Shape())
	j := &job{in: in, fault: i.fault, ends: [2]bool{true, true}, out: betti.Poisoned}
	j.setup(d, h, w, c.Threads, i.planes)
	return j, nil
}
