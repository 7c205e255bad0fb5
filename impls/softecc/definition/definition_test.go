package definition

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/softecc"
)

func TestAnswersAndRefusals(t *testing.T) {
	p, err := softecc.Inputs().Open("softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=12x11x10/type=uint8/seed=5")
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
	flat, err := softecc.Inputs().Open("softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=12x11/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	two, err := softecc.Inputs().Open("softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=12x11x2/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	four := bench.Setting{Threads: 4}
	for _, c := range []struct {
		p     *softecc.Problem
		given bench.Conditions
		want  string // "" where it is allowed
	}{
		{p, bench.Conditions{Time: 2_375_999}, "2.38 ms per answer (1320 voxels × 8 cells × 9 thresholds × 25 ns on 1 cores)"},
		{p, bench.Conditions{Time: 2_376_000}, ""},
		{p, bench.Conditions{Setting: four, Time: 593_999}, "9 thresholds × 25 ns on 4 cores"},
		{p, bench.Conditions{Setting: four, Time: 594_000}, ""},
		{flat, bench.Conditions{Setting: four, Time: 118_799}, "132 voxels × 4 cells × 9 thresholds × 25 ns on 1 cores"},
		{flat, bench.Conditions{Setting: four, Time: 118_800}, ""},
		{two, bench.Conditions{Setting: four, Time: 118_799}, "264 voxels × 8 cells × 9 thresholds × 25 ns on 4 cores"},
		{p, bench.Conditions{Memory: 26399}, "20 bytes for each of 1320 voxels"},
		{p, bench.Conditions{Memory: 26400}, ""},
	} {
		if err := (Implementation{}).CanDo(c.p, c.given); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.given, err, c.want)
		}
	}
	p.G = p.G[1:]
	if err := (Implementation{}).CanDo(p, bench.Conditions{}); err == nil {
		t.Error("takes a problem without an answer")
	}
}
