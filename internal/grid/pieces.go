package grid

import "cmp"

// pieceBytes is about the size of a piece: what its first slice costs once more is little
// beside it.
const pieceBytes = 64 << 20

// fewestSlices are in a piece where slices are large.
const fewestSlices = 8

// EachPiece reads a span of a source once, in order, and calls f with images that it is the
// sum of: slabs of its slices, of which each begins with the last slice of the one before,
// once, and each slice that two have, of a 3D image a 2D one, times −1. What f sums up must be
// additive as the Euler characteristic is, which of A ∪ B is that of A and of B without that
// of A ∩ B. The next slabs are read meanwhile; a piece is overwritten after f returns. Beside
// the shared one a piece has so many slices, at least two where the span does, or with 0 as
// many as are worth it.
//
// The sum of the spans that an image is cut into is that of the image: a span that does not
// begin with the first slice shares the slice before it with the previous piece.
//
// Of an image that is closed to a ring the last slice and the first are a piece too, and each
// of the two is shared. It is of the span that ends with the last slice, which reads the first
// one for it.
func EachPiece(s Source, of Span, pieceSlices int64, closed bool, f func(piece *Field, times int64) error) error {
	return EachJoined(s, of, pieceSlices, closed, func(p Piece) error {
		// The slab comes first, so that who is bound to the first piece is bound to one like most.
		if err := f(p.Field, p.Times); err != nil || p.Shared == nil {
			return err
		}
		return f(p.Shared, -p.Times)
	})
}

// A Piece is an image that counts so many times.
type Piece struct {
	*Field
	Times  int64
	Shared *Field // its first slice, where that counts −Times because another piece has it; else nil
	More   bool   // the piece after it begins with its last slice, which is Shared there
	rest   *func() error
}

// Leave is for callers that return before a piece is done: before the piece is overwritten, and before
// EachJoined returns, it waits for that, on any goroutine, while the next piece is handed out. It is called
// once for a piece at most.
func (p Piece) Leave(rest func() error) { *p.rest = rest }

// EachJoined is EachPiece for callers that count the contribution of a piece after the previous one.
func EachJoined(s Source, of Span, pieceSlices int64, closed bool, f func(Piece) error) error {
	if of.Len() == 0 {
		return nil
	}
	size := SliceBytes(s)
	if pieceSlices == 0 {
		pieceSlices = piecesOf(s)
	}
	field := func(slab []byte) (*Field, error) {
		return Trusted(s.Shape().WithSlices(int64(len(slab))/size), s.Type(), slab, s.Ladder())
	}
	call := func(slab []byte, shares, more bool, times int64) (rest func() error, err error) {
		rest = nothing
		p := Piece{Times: times, More: more, rest: &rest}
		if p.Field, err = field(slab); err == nil && shares {
			p.Shared, err = field(slab[:size])
		}
		if err == nil {
			err = f(p)
		}
		return rest, err
	}
	callAndWait := func(slab []byte, shares bool, times int64) error {
		rest, err := call(slab, shares, false, times)
		return cmp.Or(err, rest())
	}
	closed = closed && of.Hi == s.Shape().Slices()
	var seam []byte // the last slice and the first
	if closed {
		seam = NewBuffer(2 * size)
	}
	shares := of.Lo > 0 // the first slab, and each after it
	err := eachSlab(s, of, max(2, pieceSlices), 1, func(slab []byte, lo, hi int64) (func() error, error) {
		if closed && lo == 0 {
			copy(seam[size:], slab)
		}
		if closed && hi == of.Hi {
			copy(seam, slab[int64(len(slab))-size:])
		}
		before := shares
		shares = true
		return call(slab, before, hi < of.Hi, 1)
	})
	if err != nil || !closed {
		return err
	}
	if of.Lo > 1 { // nobody has read it
		if err := s.ReadSlab(seam[size:], 0, 1); err != nil {
			return err
		}
	}
	return cmp.Or(callAndWait(seam, true, 1), callAndWait(seam[size:], false, -1))
}

// cachedBytes is what a piece has for each core: all of a piece is still in a cache that the cores
// share when it is looked at once more.
const cachedBytes = 8 << 20

// CachedSlices is how many slices a piece of EachJoined has at best, beside the shared one, for
// so many cores that take it out of a cache more than once.
func CachedSlices(s Source, threads int) int64 {
	if InBulk(s) {
		return piecesOf(s)
	}
	return min(piecesOf(s), max(fewestSlices, int64(threads)*cachedBytes/SliceBytes(s)))
}

// piecesOf is how many slices of a source make a piece, beside the shared one.
func piecesOf(s Source) int64 { return max(fewestSlices, pieceBytes/SliceBytes(s)) }

// PieceSlices is how many slices the largest piece of a span of a source has, the shared one
// too.
func PieceSlices(s Source, of Span) int64 { return min(of.Len(), piecesOf(s)) + 1 }

// PieceBytes is how much memory EachPiece takes of a span of a source.
func PieceBytes(s Source, of Span) int64 {
	step := PieceSlices(s, of) - 1
	return min(1+(of.Len()-1)/max(1, step), slabsAhead(step*SliceBytes(s))) * (step + 1) * SliceBytes(s)
}
