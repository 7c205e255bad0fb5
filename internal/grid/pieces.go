package grid

import "cmp"

// pieceBytes is about the size of a piece: what its first slice costs once more is little
// beside it.
const pieceBytes = 64 << 20

// fewestSlices are in a piece where slices are large.
const fewestSlices = 8

// EachPiece reads a source once, in order, and calls f with images that it is the sum of:
// slabs of its slices, of which each begins with the last slice of the one before, once, and
// each slice that two have, of a 3D image a 2D one, times −1. What f sums up must be
// additive as the Euler characteristic is, which of A ∪ B is that of A and of B without that
// of A ∩ B. The next slabs are read meanwhile; a piece is overwritten after f returns. Beside
// the shared one a piece has so many slices, at least two, or with 0 as many as are worth it.
//
// Of an image that is closed to a ring the last slice and the first are a piece too, and each
// of the two is shared.
func EachPiece(s Source, pieceSlices int64, closed bool, f func(piece *Field, times int64) error) error {
	size := SliceBytes(s)
	if pieceSlices == 0 {
		pieceSlices = max(fewestSlices, pieceBytes/size)
	}
	call := func(slab []byte, times int64) error {
		piece, err := Trusted(s.Shape().WithSlices(int64(len(slab))/size), s.Type(), slab, s.Ladder())
		if err != nil {
			return err
		}
		return f(piece, times)
	}
	var seam []byte // the last slice and the first
	if closed {
		seam = NewBuffer(2 * size)
	}
	err := eachSlab(s, max(2, pieceSlices), 1, func(slab []byte, lo, hi int64) error {
		if closed && lo == 0 {
			copy(seam[size:], slab)
		}
		if closed && hi == s.Shape().Slices() {
			copy(seam, slab[int64(len(slab))-size:])
		}
		if lo > 0 {
			if err := call(slab[:size], -1); err != nil {
				return err
			}
		}
		return call(slab, 1)
	})
	if err != nil || !closed {
		return err
	}
	return cmp.Or(call(seam[:size], -1), call(seam, 1), call(seam[size:], -1))
}
