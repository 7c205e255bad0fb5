package ecc

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// allLaws are the laws of answers and the laws of this package's own code. The latter cover views
// and conventions, joined pieces, the fingerprint by each instruction set, the laws themselves, and
// the output.
func allLaws() []law {
	k := fingerprint.Draw(1)
	laws := append(Laws(), inOtherWords(k)...)
	return append(laws, oneFingerprint(k), joinedLooks(k), noticing(Laws(), k), readBack)
}

// inOtherWords are laws of an answer that views of the image have in another convention, or pieces.
func inOtherWords(k fingerprint.Key) []law {
	work := func(s grid.Source) time.Duration {
		return fingerprint.Work(s, k.ForLevels(s.Ladder().Len()), runtime.GOMAXPROCS(0)) + viewing(60)(s)
	}
	laws := []law{{Name: "sum of pieces", Calls: 3, Work: work, Check: inPieces}}
	for _, o := range []struct {
		name   string
		c      Convention
		pieces bool
	}{
		{"superlevel sets", Convention{Superlevel: true}, false},
		{"voxels as vertices", Convention{Vertices: true}, false},
		{"axes closed to rings", Convention{Periodic: grid.Axes{X: true, Y: true, Z: true}}, false},
		{"superlevel sets of vertices, closed to rings, in pieces", Convention{Vertices: true, Superlevel: true, Periodic: grid.Axes{X: true, Y: true, Z: true}}, true},
	} {
		laws = append(laws, law{Name: o.name, Calls: 4, Work: work, Check: func(in grid.Source, _ VCEC, answer ask) (*verify.Diff, error) {
			c := o.c
			c.Periodic.Z = c.Periodic.Z && in.Shape().D > 1
			stood, err := OnLevels(in)
			if err != nil {
				return nil, err
			}
			return inConvention(stood, c, k, o.pieces, answer)
		}})
	}
	return laws
}

// mostWeighed bounds the levels for comparing all instruction sets: each needs its own tables of
// weights.
const mostWeighed = 1 << 17

// largestPiece bounds the bytes of a piece, so that the memory of a law does not grow with the
// image.
const largestPiece = 16 << 20

// piecesOf returns the number of slices of a piece: a quarter of the image's slices, so that the
// last piece has another height, but no more than fit largestPiece.
func piecesOf(in grid.Source) int64 {
	return max(2, min(in.Shape().Slices()/4, largestPiece/grid.SliceBytes(in)))
}

// inPieces asks for slabs of a few slices, and for the slices that two of them share.
func inPieces(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if in.Ladder().Len() > fewLevels {
		return nil, verify.ErrNotApplicable
	}
	sum, err := bench.Answer(asking(Convention{}, answer, piecesOf(in)), in, bench.Conditions{Setting: bench.Setting{Threads: runtime.GOMAXPROCS(0)}})
	if err != nil {
		return nil, err
	}
	return first(in, sum, out), nil
}

// inConvention asks about views, or views of pieces. It compares the result in a convention with
// the fingerprint, which implements the convention independently.
func inConvention(in grid.Source, c Convention, k fingerprint.Key, pieces bool, answer ask) (*verify.Diff, error) {
	if c.Vertices != c.Superlevel {
		if _, err := views.Negate(in); err != nil {
			return nil, verify.ErrNotApplicable
		}
	}
	height := int64(0)
	if pieces {
		height = piecesOf(in)
	}
	out, err := bench.Answer(asking(c, answer, height), in, bench.Conditions{Setting: bench.Setting{Threads: runtime.GOMAXPROCS(0)}})
	if errors.Is(err, views.ErrNoValue) {
		return nil, verify.ErrNotApplicable
	}
	if err != nil {
		return nil, err
	}
	return HoldToFingerprint(in, out, k.WithConvention(c), runtime.GOMAXPROCS(0))
}

// asking returns the implementation under test in a convention, in pieces of the given number of
// slices, or whole for 0.
func asking(c Convention, answer ask, slices int64) bench.Implementation[grid.Source, VCEC] {
	if slices == 0 {
		return viewer{Implementation: bench.FromFunc(answer), in: viewed(c)}
	}
	return InOnePass(bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{bench.FromFunc(answer)}}, c, slices).Impls[0]
}

// oneFingerprint returns the law that all instruction sets compute the same fingerprint. It uses the image's
// ladder, in the conventions that change most, and the ladder of every float32.
func oneFingerprint(k fingerprint.Key) law {
	const times = 50 // in units of the fastest fingerprint; the slowest takes six
	return law{
		Name: "the fingerprint is one by each instruction set",
		Work: func(s grid.Source) time.Duration {
			return times * fingerprint.Work(s, k.ForLevels(s.Ladder().Len()), runtime.GOMAXPROCS(0))
		},
		Check: func(in grid.Source, _ VCEC, _ ask) (*verify.Diff, error) {
			if in.Ladder().Len() > mostWeighed {
				return nil, verify.ErrNotApplicable
			}
			views := []grid.Source{in}
			if f, ok := in.(*grid.Field); ok && in.Type() == grid.Float32 && in.Ladder().Len() <= fewLevels {
				every, err := grid.Trusted(f.Shape(), f.Type(), f.Data(), grid.Identity(grid.Float32))
				if err != nil {
					return nil, err
				}
				views = append(views, every)
			}
			for _, view := range views {
				all := k.ForLevels(view.Ladder().Len())
				for _, k := range []fingerprint.Key{all, all.WithConvention(Convention{Vertices: true, Superlevel: true, Periodic: grid.Axes{X: true, Y: true, Z: in.Shape().D > 1}})} {
					isa, want, got, err := fingerprint.DifferingISA(view, k, runtime.GOMAXPROCS(0))
					if err != nil {
						return nil, err
					}
					if isa != "" {
						return &verify.Diff{Where: FingerprintLaw + " by " + isa, Want: want.String(), Got: got.String()}, nil
					}
				}
			}
			return nil, nil
		},
	}
}

// joinedLooks is the law that the fingerprints of joined pieces add up to that of the image, as for
// an image that is read once.
func joinedLooks(k fingerprint.Key) law {
	return law{
		Name: "the fingerprint of what is joined",
		Work: func(s grid.Source) time.Duration {
			return 3 * fingerprint.Work(s, k.ForLevels(s.Ladder().Len()), runtime.GOMAXPROCS(0))
		},
		Check: func(in grid.Source, _ VCEC, _ ask) (*verify.Diff, error) {
			if in.Shape().Dim() < 3 || in.Ladder().Len() > mostWeighed {
				return nil, verify.ErrNotApplicable
			}
			k := k.ForLevels(in.Ladder().Len())
			look, threads := fingerprint.Prepare(in.Type(), in.Ladder(), k), runtime.GOMAXPROCS(0)
			want, err := look.Compute(in, threads)
			if err != nil {
				return nil, err
			}
			got := look.Zero()
			if err := grid.EachJoined(in, grid.Whole(in), piecesOf(in), false, func(p grid.Piece) error {
				sum, err := look.OfPiece(p, threads)
				got.Add(sum, p.Times)
				return err
			}); err != nil {
				return nil, err
			}
			if !got.Equal(want) {
				return &verify.Diff{Where: FingerprintLaw + " of joined pieces", Want: want.String(), Got: got.String()}, nil
			}
			return nil, nil
		},
	}
}

// noticing is the law that every law about the answer alone rejects an answer that is off by one.
// The fingerprint and the comparison of answers must also name the level.
func noticing(laws []law, k fingerprint.Key) law {
	return law{
		Name: "an error put into the answer is found",
		Work: func(s grid.Source) (work time.Duration) {
			for _, l := range laws {
				if l.Calls == 0 && l.Work != nil {
					work += l.Work(s)
				}
			}
			if n := s.Ladder().Len(); n <= fewLevels {
				work += fingerprint.Work(s, k.ForLevels(n), runtime.GOMAXPROCS(0)) * time.Duration(bits.Len64(uint64(n)))
			}
			return work
		},
		Check: func(in grid.Source, out VCEC, _ ask) (*verify.Diff, error) {
			if len(out) == 0 || in.Ladder().Len() > fewLevels {
				return nil, verify.ErrNotApplicable
			}
			for _, m := range misanswers(in, out) {
				if d := first(in, m.want, m.got); !alikeDiff(d, m.diff) {
					return &verify.Diff{Where: fmt.Sprintf("the comparison of %d steps with %d", len(m.got), len(m.want)), Want: m.diff.String(), Got: saying(d)}, nil
				}
			}
			for _, l := range laws {
				if l.Calls > 0 {
					continue
				}
				at := 0 // with this change, sets at all drawn levels are wrong
				if l.Name == FingerprintLaw {
					at = len(out) / 2
				}
				wrong := slices.Clone(out)
				wrong[at].Change++
				d, err := l.Check(in, wrong, nil)
				if err != nil {
					return nil, err
				}
				if d != nil && (l.Name != FingerprintLaw || d.Where == FingerprintLaw) {
					continue
				}
				want := atLevel(in, out[at].Level, "a change of %+d", out[at].Change, wrong[at].Change)
				if !alikeDiff(d, want) {
					return &verify.Diff{Where: fmt.Sprintf("the law %q of an answer that is wrong at level %d", l.Name, out[at].Level), Want: want.String(), Got: saying(d)}, nil
				}
			}
			return nil, nil
		},
	}
}

// A misanswer differs from the wanted answer in one property.
type misanswer struct {
	want, got VCEC
	diff      *verify.Diff
}

// misanswers returns answers that are off by one in the middle, or lack a step there or at either
// end. Each missing step also occurs as one too many.
func misanswers(in grid.Source, out VCEC) (list []misanswer) {
	middle := len(out) / 2
	changed := slices.Clone(out)
	changed[middle].Change++
	list = []misanswer{{out, changed, atLevel(in, out[middle].Level, "a change of %+d", out[middle].Change, changed[middle].Change)}}
	for _, i := range []int{0, middle, len(out) - 1} {
		s, less := out[i], slices.Delete(slices.Clone(out), i, i+1)
		list = append(list,
			misanswer{out, less, atLevel(in, s.Level, "a change of %+d", s.Change, 0)},
			misanswer{less, out, atLevel(in, s.Level, "a change of %+d", 0, s.Change)})
	}
	return list
}

// alikeDiff reports whether a difference is the wanted one.
func alikeDiff(got, want *verify.Diff) bool {
	return got != nil && got.Where == want.Where && got.Want == want.Want && got.Got == want.Got
}

// saying formats the result of a law or a comparison.
func saying(d *verify.Diff) string {
	if d == nil {
		return "nothing"
	}
	return d.String()
}

// Laws that weigh levels or ask often apply to few levels only, the others to all.
func TestLawsOfManyLevels(t *testing.T) {
	honest := func(in grid.Source) (VCEC, error) { return counted(in, 0) }
	for levels, want := range map[int64]int{fewLevels: 0, fewLevels + 1: 6} {
		f := scattered(t, grid.Shape{D: 3, H: 4, W: 5}, grid.Float32, levels)
		not := 0
		for _, law := range allLaws() {
			d, err := law.Check(f, Enumerate(f), honest)
			switch {
			case errors.Is(err, verify.ErrNotApplicable):
				not++
			case err != nil || d != nil:
				t.Errorf("%s: %v %v", law.Name, d, err)
			}
		}
		if not != want {
			t.Errorf("%d levels: %d laws do not apply, want %d", levels, not, want)
		}
	}
}
