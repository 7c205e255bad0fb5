// Package verifytest has a check that tests of laws share.
package verifytest

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"eccbench/internal/verify"
)

// EstimatesGrow checks that the estimate of a law is some nanoseconds per voxel and core. It must
// double with the voxels and halve with twice the cores; estimating must not change the number of
// cores. Laws are made anew for each estimate. The estimates of laws named in apart need only be
// positive.
func EstimatesGrow[In, Out any](t testing.TB, laws func() []verify.Law[In, Out], image func(voxels int64) In,
	apart ...string) {
	t.Helper()
	cores := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(cores)
	for i, l := range laws() {
		if l.Work == nil {
			continue
		}
		of := func(voxels int64, cores int) time.Duration {
			runtime.GOMAXPROCS(cores)
			took := laws()[i].Work(image(voxels))
			if now := runtime.GOMAXPROCS(0); now != cores {
				t.Errorf("the estimate of %q leaves %d cores of %d", l.Name, now, cores)
			}
			return took
		}
		const voxels = 1 << 26
		base := of(voxels, 2)
		if slices.Contains(apart, l.Name) {
			if base <= 0 {
				t.Errorf("%q is said to take %v", l.Name, base)
			}
			continue
		}
		if each := base * 2 / voxels; base <= 0 || each > time.Microsecond*10 {
			t.Errorf("%q is said to take %v of each voxel and core", l.Name, each)
		}
		for what, ratio := range map[string]float64{"twice as many voxels": float64(of(2*voxels, 2)) / float64(base),
			"half as many cores": float64(of(voxels, 1)) / float64(base)} {
			if ratio < 1.8 || ratio > 2.2 {
				t.Errorf("with %s %q is said to take %.2f times as long", what, l.Name, ratio)
			}
		}
	}
}
