package duality_test

import (
	"testing"

	"eccbench/impls/homology/duality"
	"eccbench/internal/bench"
	"eccbench/internal/resident"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/homology/homologytest"
)

// meshes returns tetrahedra in space for all branches of the kernels: nested surfaces, several
// components, drills, unused vertices, and invalid boundaries.
func meshes(t *testing.T) map[string]*homology.Problem {
	t.Helper()
	list := map[string]*homology.Problem{}
	for _, name := range []string{
		"kuhn/shape=2x2x2", "kuhn/shape=8x7x6/drills=2/cavities=3", "five/shape=7x6x8/drills=1/cavities=4/order=random/seed=2",
		"voxels/at=0/cut=five/order=random/of=shell/shape=9x9x9/type=uint8", "voxels/at=127/of=noise/shape=5x4x4/type=uint8/seed=8", "voxels/at=60/of=noise/shape=7x7x5/type=uint8/seed=3",
	} {
		list[name] = homologytest.Open(t, name)
	}
	mesh := func(name string, points []float64, tets ...uint32) {
		list[name] = &homology.Problem{Complex: &simplicial.Complex{Tops: [][]uint32{nil, nil, nil, tets}, Vertices: len(points) / 3, Points: points}, Over: 2}
	}
	corners := []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 9, 9, 9}
	mesh("vertices that are not used", corners, 0, 1, 2, 3)
	mesh("two tetrahedra on one side", corners, 0, 1, 2, 3, 0, 1, 2, 4)
	mesh("three tetrahedra on a triangle", []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 1, 1}, 0, 1, 2, 3, 0, 1, 2, 4, 0, 1, 2, 5)
	mesh("vertices in one plane", []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0}, 0, 1, 2, 3)
	mesh("a vertex that two tetrahedra share", []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0, 0, -1, 0, 0, 0, -1}, 0, 1, 2, 3, 0, 4, 5, 6)
	mesh("an edge that two tetrahedra share", []float64{0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1, 0, -1, 0, 0, -1, -1, 0}, 0, 1, 2, 3, 0, 1, 4, 5)
	// Rounding hides on which side of the triangle the last vertex is.
	mesh("as flat as can be", []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 0.3, 0.4, 0.3 + 1.0/(1<<53)}, 0, 1, 2, 3)
	return list
}

func kernels(open resident.Opener) homologytest.Implementation { return duality.OnDevice{Open: open} }

// The kernels repeatedly return the groups of the cores, and reject the same complexes with the
// same words.
func testKernels(t *testing.T, open resident.Opener, list map[string]*homology.Problem, times int) {
	t.Helper()
	for name, p := range list {
		for _, scope := range []bench.Scope{bench.Kernel, bench.E2E} {
			if err := homologytest.Differs(t, kernels(open), duality.Implementation{}, p, scope, times); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestKernelsOnHost(t *testing.T) {
	testKernels(t, homologytest.OnHost(t, "homology_duality", ""), meshes(t), 1)
}

func TestKernelsOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	list := meshes(t)
	for _, name := range []string{"five/shape=64x64x64/cavities=4096/order=random/seed=3", "kuhn/shape=75x75x75/cavities=5832", "voxels/at=127/cut=kuhn/of=noise/shape=60x60x60/type=uint8/seed=8"} {
		list[name] = homologytest.Open(t, name)
	}
	testKernels(t, open, list, 5)
}

func TestFaultsPlantedInKernelsShow(t *testing.T) {
	homologytest.Faults(t, "homology_duality", kernels, duality.Implementation{}, meshes(t), "corner", "unused", "last")
}
