package pairs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

type (
	law = verify.Law[grid.Source, Answer]
	ask = verify.Ask[grid.Source, Answer]
)

// policy returns the rules to verify pairs. Right answers have equal pairs, but chains that differ, so their distance
// is the number of pairs that only one of them has.
func policy() verify.Policy[grid.Source, Answer] {
	laws := append(witnesses(ecc.Convention{}), verify.Bounded([]law{
		{Name: "flip of the slices", Calls: 1.1, Check: sameLevels(ecc.Flipped('s'))},
		{Name: "flip of the rows", Calls: 1.1, Check: sameLevels(ecc.Flipped('x'))},
		{Name: "swap of the fastest axes", Calls: 1.5, Check: sameLevels(ecc.Transposed)},
		{Name: "increasing relabelling", Calls: 1.5, Check: relabelled},
	}, levelsMemory)...)
	return verify.Policy[grid.Source, Answer]{Distance: distance, Known: known, Laws: laws, Weak: weak}
}

// weak returns the reason why a right answer would not expose a wrong program, or "".
func weak(_ grid.Source, out Answer) string {
	if len(out.Pairs) < 2 {
		return fmt.Sprintf("the answer has %d pairs, which a program that ignores its input could give", len(out.Pairs))
	}
	return ""
}

// distance returns the number of pairs that only one of two answers has, with the place of the first.
func distance(in grid.Source, want, got Answer) []verify.Measure {
	m := verify.Measure{Name: "different pairs", Aside: true} // 0 in each right answer
	note := func(p Pair, end string) {
		if m.Value++; m.At == "" {
			m.At = describe(in, p) + end
		}
	}
	a, b := want.Pairs, got.Pairs
	for len(a)+len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Compare(b[0]) < 0:
			note(a[0], ": missing")
			a = a[1:]
		case len(a) == 0 || b[0].Compare(a[0]) < 0:
			note(b[0], ": not expected")
			b = b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return []verify.Measure{m}
}

// describe formats a pair with the coordinates of its voxels.
func describe(in grid.Source, p Pair) string {
	return fmt.Sprintf("pair of dimension %d from %s to %s", p.Dim, voxel(in.Shape(), p.Birth), voxel(in.Shape(), p.Death))
}

// voxel formats the index of a voxel with its coordinates, fastest axis first.
func voxel(s grid.Shape, index int64) string {
	switch {
	case index == Never:
		return "the end"
	case index < 0 || index >= s.Voxels():
		return fmt.Sprintf("voxel %d", index)
	}
	z, y, x := s.Coordinates(index)
	if s.Dim() == 2 {
		return fmt.Sprintf("voxel %d (x %d, y %d)", index, x, y)
	}
	return fmt.Sprintf("voxel %d (x %d, y %d, z %d)", index, x, y, z)
}

// known returns the pairs that follow from the name of an image: one component without an end, which begins at the
// first voxel of the first level.
func known(name string, in grid.Source) (Answer, bool) {
	n, err := datasets.ParseName(name)
	if err != nil || n.Get("roll")+n.Get("repeat") != "" && n.Generator != "constant" {
		return Answer{}, false
	}
	s, first := in.Shape(), int64(0)
	switch n.Generator {
	case "constant", "ramp":
	case "point":
		first = (s.D/2*s.H+s.H/2)*s.W + s.W/2
	default:
		return Answer{}, false
	}
	return Answer{Pairs: []Pair{{0, first, Never}}}, true
}

// witnesses returns the laws that hold in a convention. The first derives all pairs from the image.
func witnesses(c ecc.Convention) []law {
	return []law{
		{Name: "both forests, and for volumes the chains by a random hash", Independent: true, Work: CheckWork,
			Memory: CheckMemory,
			Check:  func(in grid.Source, out Answer, _ ask) (*verify.Diff, error) { return Check(in, c, out) }},
		alive(c),
	}
}

// levelsMemory bounds the memory to read the times of an image and to list its pairs by level.
func levelsMemory(s grid.Source) int64 { return 32*s.Shape().Voxels() + verify.SlabMemory }

// valid returns the first pair whose numbers are no voxels of the image, or that is before the previous one.
func valid(in grid.Source, out Answer) *verify.Diff {
	n, dim := in.Shape().Voxels(), in.Shape().Dim()
	for i, p := range out.Pairs {
		if p.Dim < 0 || p.Dim >= dim || p.Birth < 0 || p.Birth >= n || p.Death < Never || p.Death >= n ||
			i > 0 && out.Pairs[i-1].Compare(p) > 0 {
			return &verify.Diff{Where: fmt.Sprintf("entry %d of the pairs", i), Want: "voxels of the image, in order",
				Got: describe(in, p)}
		}
	}
	return nil
}

// A span is a pair by the times of its voxels. Absent is the time of no death.
type span struct {
	dim          int
	birth, death uint32
}

// spans returns the pairs of an image by time, in order. Its difference is the first pair that is not valid, or that
// does not end after it begins.
func spans(in grid.Source, superlevel bool, out Answer) ([]span, *verify.Diff, error) {
	if d := valid(in, out); d != nil {
		return nil, d, nil
	}
	times, err := ReadTimes(in, superlevel)
	if err != nil {
		return nil, nil, err
	}
	list := make([]span, len(out.Pairs))
	for i, p := range out.Pairs {
		s := span{p.Dim, times[p.Birth], Absent}
		if p.Death != Never {
			s.death = times[p.Death]
		}
		if s.birth >= s.death || p.Death != Never && s.death == Absent {
			return nil, &verify.Diff{Where: fmt.Sprintf("entry %d of the pairs", i), Want: "a death at a later level than the birth",
				Got: describe(in, p)}, nil
		}
		list[i] = s
	}
	slices.SortFunc(list, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.dim, b.dim), cmp.Compare(a.birth, b.birth), cmp.Compare(a.death, b.death))
	})
	return list, nil, nil
}

// alive returns the law that the pairs alive at each level are as many as the Betti numbers of its set. It does not
// relate births to deaths, so it is no witness of an answer.
func alive(c ecc.Convention) law {
	c.Masked = c.Masked || c.Superlevel // pairs never have values above the last level
	unions := betti.Unions(c)
	return law{Name: "pairs alive at each level, by unions of all voxels and the fingerprint", Note: unions.Note, Drawn: true,
		Work:   func(s grid.Source) time.Duration { return unions.Work(s) + perVoxel(s, 20) },
		Memory: func(s grid.Source) int64 { return unions.Memory(s) + levelsMemory(s) },
		Check: func(in grid.Source, out Answer, _ ask) (*verify.Diff, error) {
			list, d, err := spans(in, c.Superlevel, out)
			if d != nil || err != nil {
				return d, err
			}
			return unions.Check(in, curves(list, in.Ladder().Len(), c.Superlevel), nil)
		}}
}

// perVoxel returns a time of ns nanoseconds per voxel, on one core.
func perVoxel(s grid.Source, ns int64) time.Duration { return time.Duration(s.Shape().Voxels() * ns) }

// curves returns the changes of the Betti numbers of n levels by pairs.
func curves(list []span, n int64, superlevel bool) betti.Curves {
	at := map[int64]betti.Numbers{}
	add := func(time uint32, dim int, change int64) {
		level := int64(time)
		if superlevel {
			level = n - 1 - level
		}
		b := at[level]
		*[]*int64{&b.B0, &b.B1, &b.B2}[dim] += change
		at[level] = b
	}
	for _, s := range list {
		if add(s.birth, s.dim, 1); s.death != Absent {
			add(s.death, s.dim, -1)
		}
	}
	c := betti.Curves{}
	for _, level := range slices.Sorted(maps.Keys(at)) {
		if at[level] != (betti.Numbers{}) {
			c = append(c, betti.Change{Level: level, Numbers: at[level]})
		}
	}
	return c
}

// sameLevels returns the law that a changed image has as many pairs of each dimension, birth level and death level.
// Its voxels have another order, and so may the voxels of pairs.
func sameLevels(change func(grid.Source) (grid.Source, error)) func(grid.Source, Answer, ask) (*verify.Diff, error) {
	return func(in grid.Source, out Answer, answer ask) (*verify.Diff, error) {
		changed, err := change(in)
		if err != nil {
			return nil, err
		}
		other, err := answer(changed)
		if err != nil {
			return nil, err
		}
		want, d, err := spans(changed, false, other)
		if d != nil || err != nil {
			return d, err
		}
		got, d, err := spans(in, false, out)
		if d != nil || err != nil {
			return d, err
		}
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || want[i] != got[i] {
				return &verify.Diff{Where: fmt.Sprintf("pair %d by level", i), Want: spanAt(want, i), Got: spanAt(got, i)}, nil
			}
		}
		return nil, nil
	}
}

// spanAt formats the i-th pair of a list.
func spanAt(list []span, i int) string {
	switch {
	case i >= len(list):
		return "none"
	case list[i].death == Absent:
		return fmt.Sprintf("dimension %d from level %d on", list[i].dim, list[i].birth)
	}
	return fmt.Sprintf("dimension %d from level %d to %d", list[i].dim, list[i].birth, list[i].death)
}

// relabelled is the law that an image on another ladder has the same pairs, voxels included.
func relabelled(in grid.Source, out Answer, answer ask) (*verify.Diff, error) {
	changed, err := views.Relabel(in, 1)
	if err != nil {
		return nil, verify.ErrNotApplicable
	}
	want, err := answer(changed)
	if err != nil {
		return nil, err
	}
	if m := distance(in, want, out)[0]; !m.IsWithinLimit() {
		return &verify.Diff{Where: m.At, Want: "the pairs of the image with other levels", Got: fmt.Sprintf("%v different pairs", m.Value)}, nil
	}
	return nil, nil
}
