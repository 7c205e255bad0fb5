package dense

import (
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/workloads/softecc"
)

func TestRefusals(t *testing.T) {
	p, err := softecc.Inputs().Open("softecc/m=9/lambda=50/alpha=100/dir=2/of=noise/shape=12x11x10/type=uint8/seed=5")
	if err != nil {
		t.Fatal(err)
	}
	two := bench.Setting{Threads: 2}
	for _, c := range []struct {
		given bench.Conditions
		want  string // "" where it is allowed
	}{
		{bench.Conditions{Setting: two, Time: 125_399}, "1320 voxels × (2 × 9 thresholds × 5 ns + 100 ns) on 2 cores"}, {bench.Conditions{Setting: two, Time: 125_400}, ""},
		{bench.Conditions{Time: 125_400}, "on 1 cores"}, {bench.Conditions{Memory: 18479}, "14 bytes for each of 1320 voxels"}, {bench.Conditions{Memory: 18480}, ""},
	} {
		if err := (Implementation{}).CanDo(p, c.given); err == nil != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.given, err, c.want)
		}
	}
	p.Lambda = -1
	if err := (Implementation{}).CanDo(p, bench.Conditions{}); err == nil {
		t.Error("takes a problem without an answer")
	}
}

func TestAnswers(t *testing.T) {
	names := softecc.Workload().Adversarial
	for i := range 2 * len(names) {
		name := names[i/2]
		p, err := softecc.Inputs().Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Vertices = i%2 > 0
		want, err := softecc.Define(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 5} {
			j, err := Implementation{}.Setup(p, bench.Conditions{Setting: bench.Setting{Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // twice
				j.Poison()
				if err := j.Do(nil); err != nil {
					t.Fatal(err)
				}
				got, err := j.Out()
				if err != nil {
					t.Fatal(err)
				}
				if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("%s, vertices %v: %v", name, p.Vertices, d)
				}
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
