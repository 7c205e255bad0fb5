package impls_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"testing"

	"eccbench/impls"
	"eccbench/internal/workloads/gvf"
)

// Fields after some steps have the bits of NumPy's.
func TestFlowAgainstNumPy(t *testing.T) {
	all, files := saved(t, "noise/shape=31x17x13/type=uint8/seed=1", "grf/shape=40x33x25/levels=1000/type=float32/smooth=2/seed=2", "noise/shape=67x50/levels=300/type=int16/seed=3",
		"ball/shape=90x120/type=uint8", "noise/shape=2x1x9/type=uint16/seed=4", "noise/shape=1x7/type=uint8/seed=5", "constant/shape=5x4x3/type=uint8")
	for _, boundary := range []gvf.Boundary{gvf.Replicate, gvf.Third} {
		for steps, mu := range map[int64]float32{0: 0.05, 1: 0.1, 37: 0.09} {
			var want []string
			oracle(t, &want, "gvf", append([]string{fmt.Sprint(steps), fmt.Sprint(mu), boundary.String()}, files...)...)
			if len(want) != len(files) {
				t.Fatalf("NumPy answered %d of %d images", len(want), len(files))
			}
			for _, impl := range impls.All(impls.Devices()).Flow.Impls {
				t.Run(fmt.Sprintf("%s/%v/%d", impl.About().Name, boundary, steps), func(t *testing.T) {
					for i, f := range all {
						var b bytes.Buffer
						for _, list := range answered(t, impl, gvf.NewProblem(f, mu, steps, 0, boundary)).V {
							if err := gvf.WriteValues(&b, list); err != nil {
								t.Fatal(err)
							}
						}
						if sum := sha256.Sum256(b.Bytes()); hex.EncodeToString(sum[:]) != want[i] {
							t.Errorf("image %d, μ %v: other bits than NumPy's", i, mu)
						}
					}
				})
			}
		}
	}
}

// Steady states agree with SciPy's direct solver.
func TestSteadyFlowAgainstSciPy(t *testing.T) {
	all, files := saved(t, "noise/shape=11x12x9/type=uint8/seed=1", "grf/shape=31x26/levels=1000/type=float32/smooth=2/seed=2", "noise/shape=2x1x9/type=uint16/seed=4")
	for _, boundary := range []gvf.Boundary{gvf.Replicate, gvf.Third} {
		const mu = 0.3
		var want [][]float64
		oracle(t, &want, "gvf-steady", append([]string{fmt.Sprint(mu), boundary.String()}, files...)...)
		if len(want) != len(files) {
			t.Fatalf("SciPy answered %d of %d images", len(want), len(files))
		}
		for _, impl := range impls.All(impls.Devices()).Steady.Impls {
			t.Run(fmt.Sprintf("%s/%v", impl.About().Name, boundary), func(t *testing.T) {
				for i, f := range all {
					got := answered(t, impl, gvf.NewProblem(f, mu, 0, 1e-5, boundary))
					worst, top, n := 0.0, 0.0, len(got.V[0])
					if len(want[i]) != n*len(got.V) {
						t.Fatalf("SciPy gives %d numbers of image %d", len(want[i]), i)
					}
					for k, v := range want[i] {
						worst = max(worst, math.Abs(v-float64(got.V[k/n][k%n])))
						top = max(top, math.Abs(v))
					}
					if !(worst <= 1e-3*top) {
						t.Errorf("image %d: %g from SciPy's, whose largest is %g", i, worst, top)
					}
				}
			})
		}
	}
}
