package impls_test

import (
	"fmt"
	"math"
	"testing"

	"eccbench/impls"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/eigenmap"
)

// holdValues compares the values of every implementation of a workload with another program's.
func holdValues(t *testing.T, w bench.Workload[*eigenmap.Problem, eigenmap.Map], all []*grid.Field, want [][]float64, within float64, pose func(grid.Source) *eigenmap.Problem) {
	t.Helper()
	if len(want) != len(all) {
		t.Fatalf("the other program answered %d of %d images", len(want), len(all))
	}
	for _, impl := range w.Impls {
		t.Run(impl.About().Name, func(t *testing.T) {
			for i, f := range all {
				m := answered(t, impl, pose(f))
				for k, v := range want[i] {
					if !(math.Abs(v-m.Values[k]) <= within) {
						t.Errorf("image %d, value %d: %g, not %g", i, k+1, m.Values[k], v)
					}
				}
			}
		})
	}
}

// The eigenvalues agree with SciPy's, of a Laplacian that the test builds there.
func TestEigenmapAgainstSciPy(t *testing.T) {
	const k = 5
	all, files := saved(t, "noise/shape=7x6x5/type=uint8/seed=1", "grf/shape=17x12/levels=1000/type=float32/smooth=2/seed=2", "noise/shape=15x11/levels=300/type=int16/seed=3", "ball/shape=13x14/type=uint8")
	for _, c := range []struct {
		square, radius int64
		corners, plain bool
	}{{1, 1, false, false}, {3, 1, true, false}, {1, 1, false, true}, {3, 1, true, true}, {4, 2, false, false}, {9, 3, false, true}, {25, 5, false, false}} {
		const sigma, floor = 0.3, 0.01
		var want [][]float64
		oracle(t, &want, "eigenmap", append([]string{fmt.Sprint(k), fmt.Sprint(sigma), fmt.Sprint(floor), fmt.Sprint(c.square), fmt.Sprint(c.plain)}, files...)...)
		holdValues(t, impls.All(impls.Devices()).Voxels, all, want, 1e-9, func(s grid.Source) *eigenmap.Problem {
			return eigenmap.OfVoxels(s, k, 1e-6, sigma, floor, c.corners, c.plain).WithRadius(c.radius)
		})
	}
}

func TestPatchEigenmapAgainstSciPy(t *testing.T) {
	const k = 4
	all, files := saved(t, "noise/shape=45x33/type=uint8/seed=1", "grf/shape=64x52/levels=1000/type=float32/smooth=3/seed=2", "grf/shape=20x24x28/levels=1000/type=int16/smooth=2/seed=3")
	for _, c := range [][2]float64{{40, 5}, {90, 2}} {
		var want [][]float64
		oracle(t, &want, "eigenmap-patch", append([]string{fmt.Sprint(k), fmt.Sprint(c[0]), fmt.Sprint(c[1]), "4"}, files...)...)
		holdValues(t, impls.All(impls.Devices()).Patches, all, want, 1e-12, func(s grid.Source) *eigenmap.Problem {
			return eigenmap.OfPatches(s, k, 1e-8, c[0], c[1], 4)
		})
	}
}

// Lanczos steps reach the same values as NumPy's from the same start.
func TestLanczosAgainstNumPy(t *testing.T) {
	all, files := saved(t, "noise/shape=45x33/type=uint8/seed=1", "grf/shape=64x52/levels=1000/type=float32/smooth=3/seed=2")
	for _, steps := range []int{3, 12, 40} {
		var want [][]float64
		oracle(t, &want, "eigenmap-lanczos", append([]string{"2", fmt.Sprint(steps), "9", "40", "5", "4"}, files...)...)
		holdValues(t, impls.All(impls.Devices()).Lanczos, all, want, 1e-10, func(s grid.Source) *eigenmap.Problem {
			return eigenmap.OfSteps(s, 2, steps, 9, 40, 5, 4)
		})
	}
}
