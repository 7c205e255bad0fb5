package batch

import (
	"os"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/batch"
)

// The reader's sum is confirmed image by image, from files and generated. A sum without a word, a
// file or all of them is rejected.
func TestReader(t *testing.T) {
	image := "noise/shape=33x31/levels=256/type=uint8/seed=5"
	files := store(t, image, 9)
	w := batch.ReadingWorkload()
	for _, name := range []string{"batch/count=9/of=" + image, "batch/count=9/of=" + files} {
		b := open(t, name)
		status := func(out uint64) verify.Status {
			return verify.Judge([]string{"b"}, w.Policy.Check(verify.Question[*batch.Batch, uint64]{Name: "b", In: b, Out: out, Budget: 1 << 40})).Status
		}
		for threads := 1; threads < 4; threads++ {
			j, err := Reader{}.Setup(b, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: threads}})
			if err != nil {
				t.Fatal(err)
			}
			j.Poison()
			if sum, _ := j.Out(); status(sum) != verify.Wrong {
				t.Error("poison passed")
			}
			if err := j.Do(nil); err != nil {
				t.Fatal(err)
			}
			sum, err := j.Out()
			if err != nil || status(sum) != verify.Verified || status(sum+1) != verify.Wrong {
				t.Errorf("%s, %d threads: sum %d is %s", name, threads, sum, status(sum))
			}
		}
	}
	b := open(t, "batch/count=9/of="+files)
	if err := os.Truncate(datasets.StoredFile(variants(t, files, 9)[7]), 100); err != nil {
		t.Fatal(err)
	}
	j, err := Reader{}.Setup(b, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Do(nil); err == nil || !strings.Contains(err.Error(), "seed=12") {
		t.Errorf("a short file: %v", err)
	}
}
