package definition

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.OnGrid, "eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=12x11/type=uint8/seed=5",
		map[string]bench.Conditions{"the cube of 132 nodes": {Time: 1}, "three matrices of 132 × 132 numbers": {Memory: 1000}})
}

// All pairs of a few nodes are present, in order.
func TestAllPairs(t *testing.T) {
	p, err := eigenmap.OnGrid().Inputs.Open("eigenmap/k=6/tol=9/sigma=300/floor=1000/corners=1/plain=0/of=noise/shape=3x2/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	m, err := bench.Answer(eigentest.Implementation(Implementation{}), p, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	// The trace of I − D^−½WD^−½ is the number of nodes.
	sum := 0.0
	for _, v := range m.Values {
		sum += v
	}
	if sum < 6-1e-12 || sum > 6+1e-12 || m.Values[0] > 1e-15 {
		t.Errorf("values %v", m.Values)
	}
	// The definition rejects steps on a graph of patches.
	q := eigenmap.OfSteps(p.Source, 2, 2, 1, 40, 5, 1)
	if err := (Implementation{}).CanDo(q, bench.Conditions{}); err == nil || !strings.Contains(err.Error(), "eigenmap-lanczos") {
		t.Error(err)
	}
}
