package pairs

import (
	"fmt"
	"runtime"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs/chains"
)

// Check finds the pairs of an image by the witness, and returns the first pair that the answer lacks or adds. The
// witness trusts the chains in nothing (doc/proofs/pairs.md). The error is verify.ErrNotApplicable for periodic axes.
func Check(in grid.Source, c ecc.Convention, out Answer) (*verify.Diff, error) {
	if c.Periodic != (grid.Axes{}) {
		return nil, verify.ErrNotApplicable
	}
	all, d, err := chains.Confirm(in, c.Superlevel, c.Vertices, (*chains.Log)(out.Chains), runtime.GOMAXPROCS(0))
	if d != nil || err != nil {
		return d, err
	}
	i := 0
	for want := range all.All() {
		switch {
		case i == len(out.Pairs):
			return differ(all, i, inWords(all, Pair(want)), "the end of the list"), nil
		case out.Pairs[i] != Pair(want):
			return differ(all, i, inWords(all, Pair(want)), inWords(all, out.Pairs[i])), nil
		}
		i++
	}
	if i < len(out.Pairs) {
		return differ(all, i, "the end of the list", inWords(all, out.Pairs[i])), nil
	}
	return nil, nil
}

func differ(all *chains.Pairs, i int, want, got string) *verify.Diff {
	return &verify.Diff{Where: fmt.Sprintf("pair %d of %d", i, all.Len()), Want: want, Got: got}
}

// inWords formats a pair: "dimension 1, voxel (3, 4, 5) of value 0.5 to (3, 5, 5) of value 2".
func inWords(all *chains.Pairs, p Pair) string {
	death := "never"
	if p.Death != Never {
		death = all.Voxel(p.Death)
	}
	return fmt.Sprintf("dimension %d, voxel %s to %s", p.Dim, all.Voxel(p.Birth), death)
}

// CheckWork estimates the time of Check on one core.
func CheckWork(s grid.Source) time.Duration { return chains.Work(s) }

// CheckMemory estimates the memory of Check.
func CheckMemory(s grid.Source) int64 { return chains.Memory(s) }
