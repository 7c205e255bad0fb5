package ecc

import (
	"errors"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// inOtherWords are laws of an answer that the image has by another way to the same curve, or in
// another convention: on the ladder of every float32, in pieces, and by views of it. What people
// are answered so is put together by this package, so that these laws look at both.
func inOtherWords(k fingerprint.Key) []law {
	work := func(s grid.Source) time.Duration {
		return fingerprint.Work(s, k.For(s.Ladder().Len()), runtime.GOMAXPROCS(0)) + viewing(60)(s)
	}
	laws := []law{
		{Name: "each float32 a level", Calls: 1.5, Work: viewing(80), Check: everyFloat32},
		{Name: "sum of pieces", Calls: 3, Work: work, Check: inPieces},
		{Name: "sum of pieces by one job", Calls: 2, Work: viewing(1), Check: addedUp},
		{Name: "pieces joined by one job", Calls: 2, Work: viewing(1), Check: joinedUp},
		{Name: unreadableLaw, Calls: 3, Check: unanswered},
	}
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

// fewLevels are as many as laws are for that ask or weigh levels many times: of more, what each
// level takes is far more than what a small image does.
const fewLevels = 1 << 9

// mostWeighed are as many levels as the fingerprint is taken for by each instruction set: each has
// tables of weights of its own.
const mostWeighed = 1 << 17

// mostHeld is the size of images that are held in memory with their values on levels: views read
// some slices often.
const mostHeld = 64 << 20

// everyFloat32 asks about the image on the ladder of every float32, whose levels are those of
// the image's ladder in more steps.
func everyFloat32(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if in.Type() != grid.Float32 || !in.Ladder().Indexed() {
		return nil, verify.ErrNotApplicable
	}
	every := grid.Identity(grid.Float32)
	asked := grid.Source(onEvery{in})
	if f, ok := in.(*grid.Field); ok {
		whole, err := grid.Trusted(f.Shape(), f.Type(), f.Data(), every)
		if err != nil {
			return nil, err
		}
		asked = whole
	}
	fine, err := answer(asked)
	if errors.As(err, new(bench.Refusal)) { // most keep a table of levels
		return nil, verify.ErrNotApplicable
	}
	if err != nil {
		return nil, err
	}
	sum := map[int64]int64{}
	for i, s := range fine {
		if s.Level < 0 || s.Level >= every.Len() || i > 0 && s.Level <= fine[i-1].Level {
			return misplaced(fine, every.Len()), nil
		}
		sum[in.Ladder().Level(every.Value(s.Level))] += s.Change
	}
	delete(sum, in.Ladder().Len()) // above all levels
	return first(in, fromMap(sum), out), nil
}

// onEvery is a float32 image on the ladder of every float32.
type onEvery struct{ grid.Source }

func (onEvery) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// inPieces asks about slabs of a few slices and what two of them share.
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

// addedUp asks who adds up about the same slabs and slices, all of them by one job: as images are
// counted that are read once.
func addedUp(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if _, cut := in.(bench.Pieced[grid.Source]); !cut {
		in = slabs{in}
	}
	sum, err := answer(in)
	if errors.As(err, new(bench.Refusal)) {
		return nil, verify.ErrNotApplicable
	}
	if err != nil {
		return nil, err
	}
	return first(in, sum, out), nil
}

// slabs is an image in pieces.
type slabs struct{ grid.Source }

func (s slabs) EachPiece(f func(piece grid.Source, times int64) error) error {
	return grid.EachPiece(s.Source, grid.Whole(s.Source), piecesOf(s.Source), false, func(piece *grid.Field, times int64) error { return f(piece, times) })
}

// joinedUp asks who joins pieces to those before them, as images are counted that are read once.
func joinedUp(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if in.Shape().Dim() < 3 {
		return nil, verify.ErrNotApplicable
	}
	return addedUp(joinable{in}, out, answer)
}

// joinable is an image in pieces that are joined.
type joinable struct{ grid.Source }

func (s joinable) EachPiece(f func(piece grid.Source, times int64) error) error {
	return grid.EachJoined(s.Source, grid.Whole(s.Source), piecesOf(s.Source), false, func(p grid.Piece) error { return f(joint{p}, p.Times) })
}

// joint is one of its pieces.
type joint struct{ grid.Piece }

func (j joint) Image() grid.Source { return j.Field }

func (j joint) AddTo(job any) error {
	if job, ok := job.(Joiner); ok {
		return job.AddJoined(j.Piece)
	}
	return bench.Refuse(errors.New("its jobs do not join"))
}

const unreadableLaw = "what cannot be read has no answer"

var errUnreadable = errors.New("it cannot be read")

// unanswered asks about images of which the first slice cannot be read, one in the middle, and the
// last.
func unanswered(in grid.Source, _ VCEC, answer ask) (*verify.Diff, error) {
	n := in.Shape().Slices()
	for _, at := range []int64{0, n / 2, n - 1} {
		_, err := answer(unreadable{in, at})
		if err == nil {
			return &verify.Diff{Where: fmt.Sprintf("without slice %d", at), Want: "an error", Got: "an answer"}, nil
		}
		if !errors.Is(err, errUnreadable) {
			return nil, err
		}
	}
	return nil, nil
}

// unreadable is an image of which a slice cannot be read.
type unreadable struct {
	grid.Source
	at int64
}

func (u unreadable) ReadSlab(dst []byte, lo, hi int64) error {
	if lo <= u.at && u.at < hi {
		return errUnreadable
	}
	return u.Source.ReadSlab(dst, lo, hi)
}

// largestPiece bounds the bytes of a piece, so that the memory of a law does not grow with the image.
const largestPiece = 16 << 20

// piecesOf returns the number of slices of a piece: a quarter of the image's slices, so that the
// last piece has another height, but no more than fit largestPiece.
func piecesOf(in grid.Source) int64 {
	return max(2, min(in.Shape().Slices()/4, largestPiece/grid.SliceBytes(in)))
}

// inConvention asks about views, or about those of pieces, and holds what they come to in a
// convention to the fingerprint, which knows it by itself.
func inConvention(in grid.Source, c Convention, k fingerprint.Key, pieces bool, answer ask) (*verify.Diff, error) {
	if c.Vertices != c.Superlevel {
		if _, err := grid.Negate(in); err != nil {
			return nil, verify.ErrNotApplicable
		}
	}
	height := int64(0)
	if pieces {
		height = piecesOf(in)
	}
	out, err := bench.Answer(asking(c, answer, height), in, bench.Conditions{Setting: bench.Setting{Threads: runtime.GOMAXPROCS(0)}})
	if errors.Is(err, grid.ErrNoValue) {
		return nil, verify.ErrNotApplicable
	}
	if err != nil {
		return nil, err
	}
	return HoldToFingerprint(in, out, k.In(c), runtime.GOMAXPROCS(0))
}

// asking is the implementation under test in a convention, by pieces of so many slices or, with
// 0, whole.
func asking(c Convention, answer ask, slices int64) bench.Implementation[grid.Source, VCEC] {
	if slices == 0 {
		return viewer{Implementation: bench.Asking(answer), in: viewed(c)}
	}
	return InOnePass(bench.Workload[grid.Source, VCEC]{Impls: []bench.Implementation[grid.Source, VCEC]{bench.Asking(answer)}}, c, slices).Impls[0]
}

// OnLevels shows float32 values as the levels that they are on, which changes no set of those at or
// below a level, and makes sets of those at or above one the ladder's: for laws of other
// conventions. It is verify.ErrNotApplicable where other values are on no level, or levels too many.
func OnLevels(in grid.Source) (grid.Source, error) {
	if in.Ladder().Len() > fewLevels {
		return nil, verify.ErrNotApplicable
	}
	if grid.TotalBytes(in) > mostHeld {
		return standing{in}, nil
	}
	return grid.Load(standing{in})
}

// standing is what OnLevels shows.
type standing struct{ grid.Source }

func (s standing) ReadSlab(dst []byte, lo, hi int64) error {
	if err := s.Source.ReadSlab(dst, lo, hi); err != nil {
		return err
	}
	l := s.Ladder()
	stand := func(v float32) (float32, error) {
		k := l.Level(v)
		if k == l.Len() || s.Type() != grid.Float32 && l.Value(k) != v {
			return 0, fmt.Errorf("value %v: %w", v, verify.ErrNotApplicable)
		}
		return l.Value(k), nil
	}
	var err error
	switch s.Type() {
	case grid.Uint8:
		_, err = each(dst, stand)
	case grid.Int16:
		_, err = each(grid.Values[int16](dst), stand)
	case grid.Uint16:
		_, err = each(grid.Values[uint16](dst), stand)
	case grid.Float32:
		_, err = each(grid.Values[float32](dst), stand)
	}
	return err
}

// each puts what a function makes of values in their places.
func each[T grid.Element](values []T, f func(float32) (float32, error)) (n int, err error) {
	for i, v := range values {
		w, err := f(float32(v))
		if err != nil {
			return i, err
		}
		values[i] = T(w)
	}
	return len(values), nil
}

// alike is the law that the fingerprint, to which laws hold what they are told, is one by whichever
// instruction set it is taken: on the image's ladder, in the conventions that change most, and on
// that of every float32.
func alike(k fingerprint.Key) law {
	const times = 50 // the fingerprint by the fastest, of which the slowest takes six
	return law{
		Name: "the fingerprint is one by each instruction set",
		Work: func(s grid.Source) time.Duration {
			return times * fingerprint.Work(s, k.For(s.Ladder().Len()), runtime.GOMAXPROCS(0))
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
				all := k.For(view.Ladder().Len())
				for _, k := range []fingerprint.Key{all, all.In(Convention{Vertices: true, Superlevel: true, Periodic: grid.Axes{X: true, Y: true, Z: in.Shape().D > 1}})} {
					isa, want, got, err := fingerprint.Apart(view, k, runtime.GOMAXPROCS(0))
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

// joinedLooks is the law that the fingerprints of pieces that are joined add up to that of the image,
// as those do of an image that is read once.
func joinedLooks(k fingerprint.Key) law {
	return law{
		Name: "the fingerprint of what is joined",
		Work: func(s grid.Source) time.Duration {
			return 3 * fingerprint.Work(s, k.For(s.Ladder().Len()), runtime.GOMAXPROCS(0))
		},
		Check: func(in grid.Source, _ VCEC, _ ask) (*verify.Diff, error) {
			if in.Shape().Dim() < 3 || in.Ladder().Len() > mostWeighed {
				return nil, verify.ErrNotApplicable
			}
			k := k.For(in.Ladder().Len())
			look, threads := fingerprint.Prepare(in.Type(), in.Ladder(), k), runtime.GOMAXPROCS(0)
			want, err := look.Of(in, threads)
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

// noticing is the law that laws that look at an answer alone contradict one that is off by one:
// a witness that would take any answer is none. The fingerprint finds the level, too, as does the
// comparison of answers.
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
				work += fingerprint.Work(s, k.For(n), runtime.GOMAXPROCS(0)) * time.Duration(bits.Len64(uint64(n)))
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
				at := 0 // the sets at all levels that are drawn have what is wrong with this
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

// A misanswer differs from what is wanted, in this.
type misanswer struct {
	want, got VCEC
	diff      *verify.Diff
}

// misanswers differ from an answer by one in the middle, and lack one of its steps there or at
// either end; and what does is held to it, as what has a step too many.
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

// alikeDiff reports whether a difference is that which is wanted.
func alikeDiff(got, want *verify.Diff) bool {
	return got != nil && got.Where == want.Where && got.Want == want.Want && got.Got == want.Got
}

// saying is what a law or a comparison says.
func saying(d *verify.Diff) string {
	if d == nil {
		return "nothing"
	}
	return d.String()
}
