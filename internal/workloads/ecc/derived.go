package ecc

import (
	"errors"
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// otherWays lists laws that compare two ways to the same curve: on the ladder of every float32, and
// in pieces added up by one job, as for an image that is read once.
func otherWays() []law {
	return []law{
		{Name: "each float32 a level", Calls: 1.5, Work: viewing(80), Check: everyFloat32},
		{Name: "sum of pieces by one job", Calls: 2, Work: viewing(1), Check: addedUp},
		{Name: "pieces joined by one job", Calls: 2, Work: viewing(1), Check: joinedUp},
		{Name: unreadableLaw, Calls: 3, Check: unanswered},
	}
}

// fewLevels bounds the levels for laws whose cost grows faster with the levels than with the image.
const fewLevels = 1 << 9

// mostHeld is the largest image that OnLevels loads into memory; views read some slices repeatedly.
const mostHeld = 64 << 20

// everyFloat32 asks for the curve on the ladder of every float32. Its changes, summed within the
// levels of the image's own ladder, must be the answer.
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
	if errors.As(err, new(bench.Refusal)) { // most implementations keep a table of levels
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

// onEvery shows a float32 image on the ladder of every float32.
type onEvery struct{ grid.Source }

func (onEvery) Ladder() grid.Ladder { return grid.Identity(grid.Float32) }

// addedUp asks for the sum of slabs and shared slices by one job. It applies to implementations
// whose jobs are Adders; images that are read once are counted this way.
func addedUp(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if _, cut := in.(bench.Pieced); !cut {
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

func (s slabs) EachPiece(f func(piece any, times int64) error) error {
	return grid.EachPiece(s.Source, grid.Whole(s.Source), piecesOf(s.Source), false,
		func(piece *grid.Field, times int64) error { return f(piece, times) })
}

// joinedUp is addedUp for implementations whose jobs join a piece to the previous ones.
func joinedUp(in grid.Source, out VCEC, answer ask) (*verify.Diff, error) {
	if in.Shape().Dim() < 3 {
		return nil, verify.ErrNotApplicable
	}
	return addedUp(joinable{in}, out, answer)
}

// joinable is an image in pieces for a Joiner.
type joinable struct{ grid.Source }

func (s joinable) EachPiece(f func(piece any, times int64) error) error {
	return grid.EachJoined(s.Source, grid.Whole(s.Source), piecesOf(s.Source), false,
		func(p grid.Piece) error { return f(joint{p}, p.Times) })
}

// joint is one of its pieces.
type joint struct{ grid.Piece }

func (j joint) Image() any { return j.Field }

func (j joint) AddTo(job any) error {
	if job, ok := bench.As[Joiner](job); ok {
		return job.AddJoined(j.Piece)
	}
	return bench.Refuse(errors.New("its jobs do not join"))
}

const unreadableLaw = "what cannot be read has no answer"

var errUnreadable = errors.New("it cannot be read")

// unanswered requires an error for images with an unreadable slice: the first, a middle one, and
// the last.
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

// unreadable is an image with one slice that cannot be read.
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

// largestPiece bounds the bytes of a piece, so that the memory of a law does not grow with the
// image.
const largestPiece = 16 << 20

// piecesOf returns the number of slices of a piece: a quarter of the image's slices, so that the
// last piece has another height, but no more than fit largestPiece.
func piecesOf(in grid.Source) int64 {
	return max(2, min(in.Shape().Slices()/4, largestPiece/grid.SliceBytes(in)))
}

// OnLevels replaces each value by its level's value. That changes no sublevel set of the ladder,
// and it makes the superlevel sets those of the ladder too, which laws of other conventions need.
// It returns verify.ErrNotApplicable for too many levels, and for values that it cannot move.
func OnLevels(in grid.Source) (grid.Source, error) {
	if in.Ladder().Len() > fewLevels {
		return nil, verify.ErrNotApplicable
	}
	if grid.TotalBytes(in) > mostHeld {
		return levelsView{in}, nil
	}
	return grid.Load(levelsView{in})
}

// levelsView is the view of OnLevels.
type levelsView struct{ grid.Source }

func (s levelsView) ReadSlab(dst []byte, lo, hi int64) error {
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

// each replaces each value by f of it. It returns the number of replaced values.
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
