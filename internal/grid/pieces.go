package grid

import "cmp"

// pieceBytes is the approximate size of a piece. It is large compared with the slice that two
// pieces share, so that counting shared slices again costs little.
const pieceBytes = 64 << 20

// fewestSlices is the minimum number of slices in a piece, for images with large slices.
const fewestSlices = 8

// A Piece is an image with a factor.
type Piece struct {
	*Field
	Times  int64
	Shared *Field // the first slice if the previous piece contains it too (its factor is −Times); else nil
	More   bool   // whether the next piece begins with the last slice of this one
	rest   *func() error
}

// Leave postpones the rest of the work on a piece. The caller may return and receive the next piece
// while rest runs on another goroutine. EachJoined waits for rest before it overwrites the piece
// and before it returns. Call Leave at most once per piece.
func (p Piece) Leave(rest func() error) { *p.rest = rest }

// EachJoined reads a span of a source once, in order, and calls f for overlapping slabs. Each slab
// begins with the last slice of the previous one, which is in the same Piece alone. A slab counts
// once, and a shared slice −1 times, as an image of one dimension less. So the sum over the calls
// of an additive quantity, such as the Euler characteristic, is its value for the span: χ(A ∪ B) =
// χ(A) + χ(B) − χ(A ∩ B).
//
// The next slab is read while f runs, and a piece is overwritten after f returns. A piece has
// pieceSlices slices in addition to the shared one, but at least two if the span has two; 0 selects
// a suitable number.
//
// If an image is divided into spans, the sum over the spans is the value for the image. A span that
// does not start at slice 0 shares the preceding slice with the previous span.
//
// If closed, the slice axis is periodic: the last and the first slice form one more piece, and both
// are shared. This piece belongs to the span that ends with the last slice.
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
		rest = noRest
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
	shares := of.Lo > 0 // whether the first slab shares a slice; all later ones do
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
	if of.Lo > 1 { // the span has not read the first slice
		if err := s.ReadSlab(seam[size:], 0, 1); err != nil {
			return err
		}
	}
	return cmp.Or(callAndWait(seam, true, 1), callAndWait(seam[size:], false, -1))
}

// cachedBytes is the size of a piece per core, which stays in the shared cache between two passes over it.
const cachedBytes = 8 << 20

// CachedSlices returns the best number of slices per piece of EachJoined, without the shared one, for code that reads
// each piece more than once, on the given number of cores.
// Images of at least 16 MiB have at least four pieces, to count while reading, if pieces of 8 slices allow it.
func CachedSlices(s Source, threads int) int64 {
	if InBulk(s) {
		return piecesOf(s)
	}
	large := min(int64(threads)*cachedBytes, max(cachedBytes/2, TotalBytes(s)/4)) / SliceBytes(s)
	return min(piecesOf(s), max(fewestSlices, large))
}

// piecesOf returns the default number of slices per piece, without the shared one.
func piecesOf(s Source) int64 { return max(fewestSlices, pieceBytes/SliceBytes(s)) }

// PieceSlices returns the number of slices of the largest piece of a span, with the shared one.
func PieceSlices(s Source, of Span) int64 { return min(of.Len(), piecesOf(s)) + 1 }

// PieceBytes returns the memory that EachJoined allocates for a span.
func PieceBytes(s Source, of Span) int64 {
	step := PieceSlices(s, of) - 1
	return min(1+(of.Len()-1)/max(1, step), slabsAhead(step*SliceBytes(s))) * (step + 1) * SliceBytes(s)
}

// A Batch is a stack of images of one shape, type and ladder. The slices of its source are divided
// evenly among the images.
type Batch struct {
	Source
	Images int64
}

// Image returns the shape of each image.
func (b Batch) Image() Shape {
	return Shape{D: b.Shape().D / b.Images, H: b.Shape().H, W: b.Shape().W}
}

// FieldAt returns image i, or false if the batch is not in memory.
func (b Batch) FieldAt(i int64) (*Field, bool) {
	if all, ok := b.Source.(*Field); ok {
		size := TotalBytes(b) / b.Images
		return &Field{shape: b.Image(), typ: all.typ, ladder: all.ladder, data: all.data[i*size : (i+1)*size]}, true
	}
	return nil, false
}
