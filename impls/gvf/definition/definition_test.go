package definition

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/gvf"
)

func TestRefusals(t *testing.T) {
	p, err := gvf.Steps().Inputs.Open("gvf/steps=4/mu=50/boundary=0/of=noise/shape=12x11x10/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]bench.Conditions{"1320 voxels × 3 components × 4 steps": {Time: 1}, "9 numbers for each of 1320 voxels": {Memory: 1000}} {
		if err := (Implementation{}).CanDo(p, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for want, q := range map[string]*gvf.Problem{"want μ of at most": gvf.NewProblem(p.Source, 0.4, 4, 0, gvf.Replicate), "computes steps only": gvf.NewProblem(p.Source, 0.1, 0, 1e-4, gvf.Replicate)} {
		if err := (Implementation{}).CanDo(q, bench.Conditions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
