package naive_test

import (
	"strings"
	"testing"
	"time"

	"eccbench/datasets"
	"eccbench/impls/naive"
	"eccbench/internal/bench"
	"eccbench/internal/workloads/ecc/ecctest"
)

// However many levels there are, each is counted in the same way.
func TestConformance(t *testing.T) { ecctest.RunOnceByLevel(t, naive.Implementation{}) }

func TestRefusesWithTheEstimate(t *testing.T) {
	in, err := datasets.Open("noise/shape=512x512x512/levels=1024/type=float32/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	err = naive.Implementation{}.CanDo(in, bench.Conditions{Time: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "134217728 voxels × 1024 levels") {
		t.Fatalf("refusal %v", err)
	}
	err = naive.Implementation{}.CanDo(in, bench.Conditions{Memory: 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "the limit is 1.00 MiB") {
		t.Fatalf("refusal %v", err)
	}
}
