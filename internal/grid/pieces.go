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
// begin with the first slice shares the slice before it with who has that.
//
// Of an image that is closed to a ring the last slice and the first are a piece too, and each
// of the two is shared. It is of the span that ends with the last slice, which reads the first
// one for it.
func EachPiece(s Source, of Span, pieceSlices int64, closed bool, f func(piece *Field, times int64) error) error {
	if of.Len() == 0 {
		return nil
	}
	size := SliceBytes(s)
	if pieceSlices == 0 {
		pieceSlices = piecesOf(s)
	}
	call := func(slab []byte, times int64) error {
		piece, err := Trusted(s.Shape().WithSlices(int64(len(slab))/size), s.Type(), slab, s.Ladder())
		if err != nil {
			return err
		}
		return f(piece, times)
	}
	closed = closed && of.Hi == s.Shape().Slices()
	var seam []byte // the last slice and the first
	if closed {
		seam = NewBuffer(2 * size)
	}
	shares := of.Lo > 0 // the first slab, and each after it
	err := eachSlab(s, of, max(2, pieceSlices), 1, func(slab []byte, lo, hi int64) error {
		if closed && lo == 0 {
			copy(seam[size:], slab)
		}
		if closed && hi == of.Hi {
			copy(seam, slab[int64(len(slab))-size:])
		}
		// The slab comes first, so that who is bound to the first piece is bound to one like most.
		if err := call(slab, 1); err != nil {
			return err
		}
		if !shares {
			shares = true
			return nil
		}
		return call(slab[:size], -1)
	})
	if err != nil || !closed {
		return err
	}
	if of.Lo > 1 { // nobody has read it
		if err := s.ReadSlab(seam[size:], 0, 1); err != nil {
			return err
		}
	}
	return cmp.Or(call(seam[:size], -1), call(seam, 1), call(seam[size:], -1))
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
