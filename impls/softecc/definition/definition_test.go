package definition

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/softecc"
)

func TestAnswersAndRefusals(t *testing.T) {
	p, err := softecc.Inputs{}.Open("softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=12x11x10/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	want, err := softecc.Define(p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := bench.Answer(Implementation{}, p, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	if d, list := softecc.Policy().Compare(p, want, got); d != nil || list[2].Value > 1e-7 {
		t.Errorf("%v, %v", d, list)
	}
	for want, c := range map[string]bench.Conditions{"1320 voxels × 8 cells × 9 thresholds": {Time: 1}, "the limit is": {Memory: 1000}} {
		if err := (Implementation{}).CanDo(p, c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
