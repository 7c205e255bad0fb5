package gpu_test

import (
	"slices"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// The contribution of slices to the curve of an image, counted piece by piece on a device, equals
// the host's, in other conventions too.
func TestShareOnStandIn(t *testing.T) {
	f := gridtest.Image(t, grid.Shape{D: 23, H: 9, W: 10}, grid.Uint8, grid.Identity(grid.Uint8), func(i int64) float64 { return float64(i * 7919 % 251) })
	for _, c := range []ecc.Convention{{}, {Superlevel: true}, {Vertices: true, Periodic: grid.Axes{Z: true, X: true}}} {
		for _, of := range []grid.Span{{Lo: 0, Hi: 23}, {Lo: 3, Hi: 4}, {Lo: 5, Hi: 23}} {
			share := func(impl bench.Implementation[grid.Source, ecc.VCEC]) ecc.VCEC {
				t.Helper()
				w, _ := ecc.InShare(bench.Workload[grid.Source, ecc.VCEC]{Impls: []bench.Implementation[grid.Source, ecc.VCEC]{impl}}, c, of, fingerprint.Derived("a"), ecc.PieceHooks{})
				s := grid.Source(struct{ grid.Source }{f})
				out, err := bench.Answer(w.Impls[0], s, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
				if err != nil {
					t.Fatal(err)
				}
				q := verify.Question[grid.Source, ecc.VCEC]{Name: "image", In: s, Out: out}
				if v := verify.Judge([]string{"image"}, w.Policy.Check(q)); v.Status != verify.Verified {
					t.Errorf("%+v of %v: %v, %s", c, of, v.Status, v.Reason)
				}
				return out
			}
			want := share(extrema.Implementation{})
			if got := share(gpu.OnDevice{Open: standIns(t, 1), PTX: hollow}); !slices.Equal(got, want) {
				t.Errorf("%+v of %v: %v, want %v", c, of, got, want)
			}
		}
	}
}
