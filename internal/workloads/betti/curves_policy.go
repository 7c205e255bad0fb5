package betti

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/unions"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/fingerprint"
)

type (
	curvesLaw = verify.Law[grid.Source, Curves]
	curvesAsk = verify.Ask[grid.Source, Curves]
)

func curvesQuestion() bench.Question {
	q := bench.Question{
		Doc: "the Betti numbers of all sublevel sets of an image, as changes by level",
		Small: []string{
			"noise/shape=64x64x64/levels=256/type=uint8/seed=1", "grf/shape=64x64x64/levels=256/type=uint8/smooth=2/seed=1",
			"grf/shape=61x67x71/levels=1024/type=float32/smooth=2/seed=1", "noise/shape=512x512/levels=256/type=uint8/seed=1",
		},
	}
	for _, name := range adversarial() {
		if image := imageOptions().Image(name); !slices.Contains(q.Adversarial, image) {
			q.Adversarial = append(q.Adversarial, image)
		}
	}
	return q
}

// curvesPolicy returns the rules to verify curves. An answer that computes b1 from χ always has the
// right fingerprint of b0 − b1 + b2. So unions of all voxels verify b0 and b2 too.
func curvesPolicy() verify.Policy[grid.Source, Curves] {
	return verify.Policy[grid.Source, Curves]{Agree: sameCurves, Laws: curvesLaws(), Weak: weakCurves}
}

// weakCurves returns the reason why a right answer would not expose a wrong program, or "".
func weakCurves(_ grid.Source, out Curves) string {
	if len(out) < 2 {
		return fmt.Sprintf("the curves have %d changes, which a program that ignores its input could answer", len(out))
	}
	return ""
}

// unionNS is about the time in nanoseconds that one core takes to join a voxel of noise. Smooth
// images take less.
const unionNS = 150

func curvesLaws() []curvesLaw {
	return verify.Bounded(append(append(conventional(ecc.Convention{}),
		curvesLaw{Name: "flip of the slices", Calls: 1.1, Check: sameOf(ecc.Flipped('s'))},
		curvesLaw{Name: "flip of the rows", Calls: 1.1, Check: sameOf(ecc.Flipped('x'))},
		curvesLaw{Name: "swap of the fastest axes", Calls: 1.5, Check: sameOf(ecc.Transposed)},
		curvesLaw{Name: "slices upright", Calls: 1.5, Check: sameOf(upright)},
		curvesLaw{Name: "planes of an image, all alike", Calls: 3.1, Check: sameOf(planes)},
		curvesLaw{Name: "each voxel cut in eight", Calls: 8.1,
			Check: sameOf(func(s grid.Source) (grid.Source, error) { return doubled{s}, nil })},
	), curvesViews()...), func(s grid.Source) int64 { return 24 * s.Shape().Voxels() })
}

// curvesViews returns laws that compare answers for views in other conventions with unions in these
// conventions.
func curvesViews() (list []curvesLaw) {
	for _, o := range conventions {
		unions := Unions(o.c)
		list = append(list, curvesLaw{Name: o.name + ", all levels", Note: unions.Note, Calls: 1.3, Work: unions.Work,
			Check: func(in grid.Source, _ Curves, answer curvesAsk) (*verify.Diff, error) {
				in, err := ecc.OnLevels(in)
				if err != nil {
					return nil, err
				}
				out, err := bench.Answer(curvesViewer{bench.FromFunc(answer), o.c}, in, bench.Conditions{})
				if err != nil {
					return nil, err
				}
				return unions.Check(in, out, nil)
			}})
	}
	return list
}

// conventional returns the laws that implement a convention independently.
func conventional(c ecc.Convention) []curvesLaw {
	return []curvesLaw{
		{Name: "the last set is a box", Check: box(c)},
		Unions(c),
		{Name: "flood fill at some levels",
			Work:  func(s grid.Source) time.Duration { return filledLevels * costPerVoxel(fillNS)(&Image{Source: s}) },
			Check: func(in grid.Source, out Curves, _ curvesAsk) (*verify.Diff, error) { return filledAt(in, out, c) }},
	}
}

// UnionsLaw is the name of the law of Unions.
const UnionsLaw = "unions of all voxels in order, and the fingerprint"

// Unions returns the law that verifies all levels by unions of all voxels in a convention, and
// b0 − b1 + b2 by the fingerprint of the image.
func Unions(c ecc.Convention) verify.Law[grid.Source, Curves] {
	key := fingerprint.Draw(1).WithConvention(c)
	return curvesLaw{
		Name: UnionsLaw, Note: "key " + key.String(), Drawn: true, Independent: true,
		Work:   func(s grid.Source) time.Duration { return costPerVoxel(unionNS)(&Image{Source: s}) },
		Memory: func(s grid.Source) int64 { return unions.Bytes(s) + min(verify.SlabMemory, 2*grid.TotalBytes(s)) },
		Check:  func(in grid.Source, out Curves, _ curvesAsk) (*verify.Diff, error) { return united(in, out, key) },
	}
}

func united(in grid.Source, out Curves, key fingerprint.Key) (*verify.Diff, error) {
	if d, err := CompareUnions(key.Convention())(in, out); d != nil || err != nil {
		return d, err
	}
	d, err := ecc.HoldToFingerprint(in, out.Euler(), key, runtime.GOMAXPROCS(0))
	if d != nil {
		d.Where = "b0 − b1 + b2, " + d.Where
	}
	return d, err
}

// CompareUnions returns a function that compares b0 and b2 with unions of all voxels, and also b1
// for a 2D image. Its images share memory.
func CompareUnions(c ecc.Convention) func(grid.Source, Curves) (*verify.Diff, error) {
	m := &unions.Memory{}
	return func(in grid.Source, out Curves) (*verify.Diff, error) { return compareUnions(m, in, out, c) }
}

func compareUnions(m *unions.Memory, in grid.Source, out Curves, c ecc.Convention) (*verify.Diff, error) {
	for i, s := range out { // the fingerprint needs levels in order
		if s.Level < 0 || s.Level >= in.Ladder().Len() || i > 0 && s.Level <= out[i-1].Level {
			return &verify.Diff{Where: fmt.Sprintf("change %d", i), Want: "the levels of the image in order",
				Got: fmt.Sprintf("level %d", s.Level)}, nil
		}
	}
	b0, rest, err := m.Changes(in, c.Superlevel, c.Vertices, c.Masked)
	if err != nil {
		return nil, err
	}
	holes, other := func(n Numbers) int64 { return n.B2 }, func(Numbers) int64 { return 0 }
	if in.Shape().Dim() == 2 {
		holes, other = func(n Numbers) int64 { return n.B1 }, func(n Numbers) int64 { return n.B2 }
	}
	for _, b := range []struct {
		name string
		want []unions.Step
		got  func(Numbers) int64
	}{{"b0", b0, func(n Numbers) int64 { return n.B0 }}, {"what is enclosed", rest, holes},
		{"b2 of a 2D image", nil, other}} {
		if d := firstDifferingLevel(in, b.name, b.want, out, b.got); d != nil {
			return d, nil
		}
	}
	return nil, nil
}

// firstDifferingLevel returns the first level at which one of the numbers has a wrong change.
func firstDifferingLevel(
	in grid.Source, name string, want []unions.Step, out Curves, number func(Numbers) int64,
) *verify.Diff {
	at := func(level, want, got int64) *verify.Diff {
		return &verify.Diff{Where: name + " at " + place(in, level), Want: fmt.Sprintf("a change of %+d", want),
			Got: fmt.Sprintf("a change of %+d", got)}
	}
	for _, s := range out {
		got := number(s.Numbers)
		if len(want) > 0 && want[0].Level < s.Level {
			return at(want[0].Level, want[0].Change, 0)
		}
		expected := int64(0)
		if len(want) > 0 && want[0].Level == s.Level {
			expected, want = want[0].Change, want[1:]
		}
		if got != expected {
			return at(s.Level, expected, got)
		}
	}
	if len(want) > 0 {
		return at(want[0].Level, want[0].Change, 0)
	}
	return nil
}

// box returns the law that the set of all voxels has one component, and neither tunnels nor
// cavities.
func box(c ecc.Convention) func(grid.Source, Curves, curvesAsk) (*verify.Diff, error) {
	return func(in grid.Source, out Curves, _ curvesAsk) (*verify.Diff, error) {
		if c.Masked || !whole(in) {
			return nil, verify.ErrNotApplicable
		}
		last := in.Ladder().Len() - 1
		if c.Superlevel {
			last = 0
		}
		if n := out.numbersIn(c, last); n != (Numbers{B0: 1}) {
			return &verify.Diff{Where: place(in, last), Want: Numbers{B0: 1}.String(), Got: n.String()}, nil
		}
		return nil, nil
	}
}

// whole reports whether every value that an image may have is on a level.
func whole(in grid.Source) bool {
	of := grid.Identity(in.Type())
	return in.Ladder().Value(in.Ladder().Len()-1) >= of.Value(of.Len()-1)
}

// filledLevels is the number of levels that are flood-filled.
const filledLevels = 3

// filledAt verifies the numbers at some levels of change by flood fill of the sets.
func filledAt(in grid.Source, out Curves, c ecc.Convention) (*verify.Diff, error) {
	for i := range filledLevels {
		if len(out) == 0 {
			return nil, verify.ErrNotApplicable
		}
		level := out[(2*i+1)*len(out)/(2*filledLevels)].Level
		want, err := ByFlooding(&Image{in, in.Ladder().Value(level)}, c)
		if err != nil {
			return nil, err
		}
		if got := out.numbersIn(c, level); got != want {
			return &verify.Diff{Where: place(in, level), Want: want.String(), Got: got.String()}, nil
		}
	}
	return nil, nil
}

// sameOf returns the law that a changed image has the same curves.
func sameOf(change func(grid.Source) (grid.Source, error)) func(grid.Source, Curves, curvesAsk) (*verify.Diff, error) {
	return verify.Invariant(change, sameCurves)
}

// SelfTest compares the vector instructions of the witness of all levels with Go code.
func SelfTest(seed uint32) error { return unions.SelfTest(seed) }
