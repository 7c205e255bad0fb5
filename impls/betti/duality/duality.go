// Package duality counts the Betti numbers of a binary image without a label: components are
// nodes less the links that join two, whatever the order of the links.
//
// The image is packed to a bit a voxel, a window of planes at a time. Most voxels of most images are of
// one component of the set, or of the outside. So in a window a trunk is grown along rows of words: voxels
// that are connected, however far it comes. What is left of a kind is counted voxel by voxel where no neighbour
// is left, and otherwise by runs: they and the trunk are nodes. Each set of bits where two neighbouring rows meet
// makes one link. Of a window that is done nodes of the last plane are kept. By Alexander duality the
// cavities are the components of the background but the outside (Delfinado and Edelsbrunner
// 1995), and tunnels follow from the Euler characteristic, which is counted by runs on the
// same bits. Components, cavities and the characteristic are sums over rows, so that cores
// take parts of the planes, which are joined in the end. Sums are the
// same whatever core comes first.
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
