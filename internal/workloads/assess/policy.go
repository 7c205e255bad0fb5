package assess

import (
	"fmt"
	"runtime"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
)

type (
	law = verify.Law[*Pair, Comparisons]
	ask = verify.Ask[*Pair, Comparisons]
)

// Upper bounds of the time (per core) and the memory that the judge needs per voxel and set of
// labels.
const (
	searchNS    = 80
	searchBytes = 12
)

// policy decides if comparisons are right. An independent judge confirms every number; the laws
// hold without it.
func policy() verify.Policy[*Pair, Comparisons] {
	return verify.Policy[*Pair, Comparisons]{Agree: agree, Laws: laws(), Weak: weak}
}

// weak returns the reason why an answer could not expose a wrong program, or "".
func weak(in *Pair, out Comparisons) string {
	for _, c := range out {
		if c.Pred != c.Both || c.Truth != c.Both {
			return ""
		}
	}
	return "the masks of every label are equal"
}

func laws() []law {
	return verify.Bounded([]law{
		{Name: "graph search", Independent: true, Work: func(in *Pair) time.Duration {
			return time.Duration(in.Shape().Voxels() * searchNS / int64(runtime.GOMAXPROCS(0)))
		}, Check: func(in *Pair, out Comparisons, _ ask) (*verify.Diff, error) {
			return agree(in, BySearch(in), out), nil
		}},
		{Name: "prediction and truth swapped", Calls: 1.1, Check: swapped},
		{Name: "the truth against itself", Calls: 1.1, Check: compareWithItself},
		{Name: "flip of the slices", Calls: 1.2, Check: changed(flipped('s'))},
		{Name: "flip of the rows", Calls: 1.2, Check: changed(flipped('x'))},
		{Name: "swap of the fastest axes", Calls: 1.5, Check: changed(views.Transpose)},
	}, func(in *Pair) int64 { return searchBytes * in.Shape().Voxels() })
}

func swapped(in *Pair, out Comparisons, answer ask) (*verify.Diff, error) {
	got, err := answer(in.Swapped())
	if err != nil {
		return nil, err
	}
	for i := range got {
		c := &got[i]
		c.Pred, c.Truth = c.Truth, c.Pred
		for k := range c.In {
			t := &c.In[k]
			t.Pred, t.Truth = t.Truth, t.Pred
		}
	}
	return agree(in, out, got), nil
}

// compareWithItself compares the truth with itself, where every feature is matched.
func compareWithItself(in *Pair, out Comparisons, answer ask) (*verify.Diff, error) {
	truth := in.Fields()[1]
	got, err := answer(in.with([2]*grid.Field{truth, truth}))
	if err != nil {
		return nil, err
	}
	want := make(Comparisons, len(out))
	for i, c := range out {
		w := &want[i]
		w.Pred, w.Truth, w.Both = c.Truth, c.Truth, c.Truth
		for k, t := range c.In {
			w.In[k] = Topology{t.Truth, t.Truth, t.Truth, t.Truth.B0, highest(t.Truth, in.Shape().Dim())}
		}
	}
	return agree(in, want, got), nil
}

// highest returns the Betti number of dimension d − 1.
func highest(n betti.Numbers, dims int) int64 { return numbers(n)[dims-1] }

func flipped(axis byte) func(grid.Source) grid.Source {
	return func(s grid.Source) grid.Source { return views.Flip(s, axis) }
}

// changed repeats the comparison with changed images: no number may differ.
func changed(change func(grid.Source) grid.Source) func(*Pair, Comparisons, ask) (*verify.Diff, error) {
	return func(in *Pair, out Comparisons, answer ask) (*verify.Diff, error) {
		fields := in.Fields()
		for i, f := range fields {
			var err error
			if fields[i], err = grid.Load(change(f)); err != nil {
				return nil, fmt.Errorf("changing an image: %w", err)
			}
		}
		got, err := answer(in.with(fields))
		if err != nil {
			return nil, err
		}
		return agree(in, out, got), nil
	}
}
