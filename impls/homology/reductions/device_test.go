package reductions_test

import (
	"maps"
	"slices"
	"testing"

	"eccbench/impls/homology/reductions"
	"eccbench/internal/bench"
	"eccbench/internal/resident"
	"eccbench/internal/simplicial"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/homology"
	"eccbench/internal/workloads/homology/homologytest"
)

// complexes returns small complexes of each dimension, shuffled or not. Some simplices are given
// twice, are faces of others, or are alone.
func complexes(t *testing.T) map[string]*homology.Problem {
	t.Helper()
	list := map[string]*homology.Problem{}
	for _, name := range []string{"kuhn/shape=4x3x3/order=random/seed=2", "rp2", "torus", "sphere/dim=0", "random/vertices=30/dim=1/count=120/seed=2"} {
		list[name] = homologytest.Open(t, name)
	}
	mixed := &simplicial.Complex{}
	for _, s := range [][]uint32{{3, 1, 2}, {2, 3, 1}, {1, 2}, {5, 2}, {9, 5}, {2, 9}, {7}, {1}, {300}, {4, 6, 8, 10}, {8, 6}} {
		mixed.Add(s...)
	}
	list["mixed"] = &homology.Problem{Complex: mixed, Over: 2}
	return list
}

func kernels(open resident.Opener) homologytest.Implementation {
	return reductions.RaceOnDevice{Open: open}
}

// The kernels return the groups of the cores.
func TestKernelsOnHost(t *testing.T) {
	open := homologytest.OnHost(t, "homology_race", "")
	for name, p := range complexes(t) {
		scope := bench.Kernel
		if name == "mixed" {
			scope = bench.E2E
		}
		t.Run(name, func(t *testing.T) {
			if err := homologytest.Differs(t, kernels(open), reductions.Race{}, p, scope, 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// The result is the same for every call, whichever cell wins. Cells around one vertex win one by
// one, and their number is the length of their list, so little is random here.
func TestKernelsOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	list, large := complexes(t), []string{
		"five/shape=34x34x34/cavities=512/drills=9/order=random/seed=3", "kuhn/shape=60x50x20/cavities=99", "voxels/at=127/cut=kuhn/of=noise/shape=30x30x30/type=uint8/seed=8",
		"random/vertices=60/dim=5/count=200/seed=2", "join/with=torus/of=klein/shape=9x9", "random/vertices=200/dim=1/count=600/seed=2",
	}
	if testing.Short() {
		large = nil
	}
	for _, name := range large {
		list[name] = homologytest.Open(t, name)
	}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		for _, scope := range []bench.Scope{bench.Kernel, bench.E2E} {
			t.Run(name+" "+string(scope), func(t *testing.T) {
				if err := homologytest.Differs(t, kernels(open), reductions.Race{}, list[name], scope, 5); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestFaultsPlantedInKernelsShow(t *testing.T) {
	homologytest.Faults(t, "homology_race", kernels, reductions.Race{}, complexes(t), "check", "cobound", "again")
}
