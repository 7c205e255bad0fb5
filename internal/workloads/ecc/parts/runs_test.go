package parts

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// Steps that are kept outside memory are added up as those in it are, however many runs there
// are, more than once, and leave no file.
func TestRuns(t *testing.T) {
	files, _ := made(t, 2, grid.Float32, grid.Identity(grid.Float32), 1<<29, nil)
	for _, superlevel := range []bool{false, true} {
		p, err := Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		p.Head.Superlevel = superlevel
		folder := t.TempDir()
		levels := grid.Identity(grid.Float32).Len()
		runs := NewRuns(folder, p.Head, levels)
		rng := rand.New(rand.NewPCG(8, 9))
		changes := map[int64]int64{}
		n := 2*mostRuns + 3
		if superlevel && !testing.Short() && !race.Enabled {
			n += mostRuns * mostRuns
		}
		for range n {
			var steps ecc.VCEC
			for level := rng.Int64N(40); level < 90; level += 1 + rng.Int64N(40) {
				s := ecc.Step{Level: level * 17, Change: rng.Int64N(5) - 2}
				if s.Change != 0 {
					steps = append(steps, s)
				}
				changes[s.Level] += s.Change
			}
			if err := runs.Add(steps); err != nil {
				t.Fatal(err)
			}
		}
		var want ecc.VCEC
		for level, change := range changes {
			if change != 0 {
				want = append(want, ecc.Step{Level: level, Change: change})
			}
		}
		slices.SortFunc(want, func(a, b ecc.Step) int { return int(a.Level - b.Level) })
		if n := len(runs.all()); n > 3*mostRuns || !runs.Any() {
			t.Errorf("%d runs are open", n)
		}
		k := fingerprint.Derived("a").For(levels)
		merged, sum := runs.Steps(k, 1)
		for range 2 {
			var got ecc.VCEC
			for steps, err := range merged {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, steps...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("superlevel %v: %v, want %v", superlevel, got, want)
			}
		}
		sums, err := ecc.SumOf(want, levels, k, 1)
		if err != nil || !sum.Equal(sums) {
			t.Error(sum, sums, err)
		}
		if err := runs.Close(); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
			t.Errorf("%v are left (%v)", left, err)
		}
	}
	if NewRuns("nowhere", Head{Key: fingerprint.Derived("a").String()}, 2).Add(nil) == nil {
		t.Error("a run in no folder")
	}
}
