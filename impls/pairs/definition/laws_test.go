package definition

import (
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/pairs"
	"eccbench/internal/workloads/pairs/pairstest"
)

// few are the inputs of these tests: 2D and 3D images with few levels and with many, of several types.
var few = []string{
	"constant/shape=5x4x3/type=uint8", "noise/shape=9x8x7/levels=5/type=uint8/seed=1", "noise/shape=23x21/levels=9/type=int16/seed=2",
	"between/shape=13x11/levels=40/step=0.1/seed=3", "noise/shape=8x7x6/levels=300/type=float32/seed=4",
}

// judged returns the workload on few inputs, with some laws and without closed forms.
func judged(i bench.Implementation[grid.Source, pairs.Answer], c ecc.Convention, laws string) bench.Workload[grid.Source, pairs.Answer] {
	w := pairs.InConvention(pairs.Workload(Implementation{}), c)
	w.Impls, w.Adversarial = []bench.Implementation[grid.Source, pairs.Answer]{i}, few
	w.Policy.Known = nil
	return judgedtest.WithLaws(w, func(law string) bool { return strings.HasPrefix(law, laws) })
}

// All laws hold for right answers in every convention.
func TestLawsHold(t *testing.T) {
	for _, c := range pairstest.Conventions() {
		w := judged(Implementation{c}, c, "")
		if n := judgedtest.Alone(t, w, true, 0); n.Right != len(few) || n.Wrong+n.Open+n.Refused > 0 {
			t.Errorf("%+v: right answers are found %+v", c, n)
		}
		if want := map[bool]int{true: 6, false: 2}[c == ecc.Convention{}]; len(w.Policy.Laws) != want {
			t.Errorf("%+v: %d laws, want %d", c, len(w.Policy.Laws), want)
		}
	}
	w := judged(Implementation{}, ecc.Convention{}, "none")
	w.Policy.Known, w.Adversarial = pairs.Workload().Policy.Known, []string{
		"constant/shape=5x4x3/type=uint8", "ramp/shape=9x8x7/type=uint16", "ramp/shape=9x8/levels=3/type=uint16", "point/shape=7x6x5/type=uint8", "point/shape=7x1/type=uint8",
	}
	if n := judgedtest.Alone(t, w, true, 0); !n.All() {
		t.Errorf("closed forms are found %+v", n)
	}
}

// Each law notices mistakes: pairs that are lost, doubled, exchanged or moved, and answers that depend on the order of
// the axes or on the levels.
func TestLawsNotice(t *testing.T) {
	edit := func(f func(grid.Source, []pairs.Pair) []pairs.Pair) func(grid.Source, pairs.Answer) pairs.Answer {
		return func(in grid.Source, out pairs.Answer) pairs.Answer {
			list := f(in, slices.Clone(out.Pairs))
			slices.SortFunc(list, pairs.Pair.Compare)
			return pairs.Answer{Pairs: list, Chains: out.Chains}
		}
	}
	lastLess := func(_ grid.Source, list []pairs.Pair) []pairs.Pair { return list[:len(list)-1] }
	spoils := map[string]struct {
		spoil func(grid.Source, []pairs.Pair) []pairs.Pair
		laws  []string
	}{
		"a pair less": {lastLess, []string{"both forests", "pairs alive"}},
		"a pair twice": {func(_ grid.Source, list []pairs.Pair) []pairs.Pair { return append(list, list[len(list)/2]) },
			[]string{"both forests", "pairs alive"}},
		"birth and death exchanged": {func(_ grid.Source, list []pairs.Pair) []pairs.Pair {
			p := &list[len(list)-1]
			if p.Death != pairs.Never {
				p.Birth, p.Death = p.Death, p.Birth
			}
			return list
		}, []string{"both forests", "pairs alive", "flip of the rows"}},
		"deaths exchanged, which keeps the numbers at each level": {func(_ grid.Source, list []pairs.Pair) []pairs.Pair {
			if n := len(list); n > 2 && list[n-1].Dim == list[n-2].Dim && list[n-1].Birth != list[n-2].Birth {
				list[n-1].Death, list[n-2].Death = list[n-2].Death, list[n-1].Death
			}
			return list
		}, []string{"both forests"}},
		"another dimension": {func(_ grid.Source, list []pairs.Pair) []pairs.Pair {
			list[len(list)-1].Dim ^= 1
			return list
		}, []string{"both forests", "pairs alive"}},
		"no voxel": {func(in grid.Source, list []pairs.Pair) []pairs.Pair {
			list[0].Birth = in.Shape().Voxels()
			return list
		}, []string{"both forests", "pairs alive", "flip of the slices", "flip of the rows", "swap of the fastest axes"}},
		"none of the first slice": {func(in grid.Source, list []pairs.Pair) []pairs.Pair {
			return slices.DeleteFunc(list, func(p pairs.Pair) bool { return p.Birth < in.Shape().SliceVoxels() })
		}, []string{"flip of the slices"}},
		"none of the first column": {func(in grid.Source, list []pairs.Pair) []pairs.Pair {
			return slices.DeleteFunc(list, func(p pairs.Pair) bool { return p.Birth%in.Shape().W == 0 })
		}, []string{"flip of the rows", "swap of the fastest axes"}},
		"no end of those of the first column": {func(in grid.Source, list []pairs.Pair) []pairs.Pair {
			for i, p := range list {
				if p.Birth%in.Shape().W == 0 {
					list[i].Death = pairs.Never
				}
			}
			return list
		}, []string{"flip of the rows"}},
		"one less of float32": {func(in grid.Source, list []pairs.Pair) []pairs.Pair {
			if in.Type() == grid.Float32 {
				return list[1:]
			}
			return list
		}, []string{"increasing relabelling"}},
	}
	for name, s := range spoils {
		for _, law := range s.laws {
			i := judgedtest.Spoiled[grid.Source, pairs.Answer](Implementation{}, edit(s.spoil))
			t.Run(name+", "+law, func(t *testing.T) { judgedtest.Caught(t, judged(i, ecc.Convention{}, law), true, 0) })
		}
	}
	for _, c := range pairstest.Conventions() {
		for name, of := range map[string]ecc.Convention{"construction": {Vertices: !c.Vertices, Superlevel: c.Superlevel}, "direction": {Vertices: c.Vertices, Superlevel: !c.Superlevel}} {
			for _, law := range []string{"both forests", "pairs alive"} {
				t.Run(name+", "+law, func(t *testing.T) { judgedtest.Caught(t, judged(Implementation{of}, c, law), true, 0) })
			}
		}
	}
	i := judgedtest.Spoiled[grid.Source, pairs.Answer](Implementation{}, edit(lastLess))
	w := judged(i, ecc.Convention{}, "none")
	w.Policy.Known, w.Adversarial = pairs.Workload().Policy.Known, []string{"ramp/shape=9x8x7/type=uint16"}
	judgedtest.Caught(t, w, true, 0)
}
