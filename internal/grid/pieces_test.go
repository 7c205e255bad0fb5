package grid

import (
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
)

// A once is a source of which each slice can be read once.
type once struct {
	Source
	read []atomic.Int32
}

func (o once) ReadSlab(dst []byte, lo, hi int64) error {
	for i := lo; i < hi; i++ {
		if o.read[i].Add(1) > 1 {
			return errors.New("read twice")
		}
	}
	return o.Source.ReadSlab(dst, lo, hi)
}

// Pieces are the source's slices, each in all once, those that two share one at a time; and
// the source is read once.
func TestEachPiece(t *testing.T) {
	for _, shape := range []Shape{{1, 1, 3}, {1, 9, 2}, {1, 3, 1}, {2, 3, 2}, {3, 1, 1}, {11, 2, 3}} {
		f := numbered(t, shape)
		n, size := shape.Slices(), SliceBytes(f)
		for _, step := range []int64{0, 2, 3, 4, 100} {
			times, last, shared := make([]int64, n), int64(-1), int64(-1)
			err := EachPiece(once{struct{ Source }{f}, make([]atomic.Int32, n)}, Whole(f), step, false, func(piece *Field, by int64) error {
				first := int64(Values[uint16](piece.Data())[0]) / shape.SliceVoxels()
				k := piece.Shape().Slices()
				if piece.Shape().Dim() != shape.Dim() { // a plane
					k = 1
				}
				want := max(last, 0)
				if by < 0 { // what the slab before this call shares
					want = shared
				}
				if first != want {
					t.Errorf("%v in %d: a piece begins with slice %d, want %d", shape, step, first, want)
				}
				if !slices.Equal(piece.Data(), f.Data()[first*size:(first+k)*size]) || piece.Ladder().Key() != f.Ladder().Key() {
					t.Errorf("%v in %d: a piece from slice %d on is not the image's", shape, step, first)
				}
				if by == -1 && (k != 1 || shape.D > 1 && piece.Shape() != Shape{1, shape.H, shape.W}) || by == 1 && k == 1 && n > 1 {
					t.Errorf("%v in %d: piece %v counts %d times", shape, step, piece.Shape(), by)
				}
				for i := range k {
					times[first+i] += by
				}
				if by > 0 {
					shared, last = first, first+k-1
				}
				return nil
			})
			if err != nil || slices.ContainsFunc(times, func(k int64) bool { return k != 1 }) {
				t.Errorf("%v in %d: slices count %v times (%v)", shape, step, times, err)
			}
			stop := errors.New("stop")
			if err := EachPiece(f, Whole(f), step, false, func(_ *Field, times int64) error {
				if times < 0 || n <= 2 {
					return stop
				}
				return nil
			}); !errors.Is(err, stop) && (step == 2 || step == 3) && n > step {
				t.Errorf("%v in %d: stopped with %v", shape, step, err)
			}
		}
	}
}

// What the spans of any cut add up to is every slice once, and each two neighbours once, of a
// ring the last and the first, too. Each span reads its own slices, the one before them, and
// the one that closes the ring.
func TestEachPieceOfSpans(t *testing.T) {
	for _, shape := range []Shape{{1, 9, 2}, {1, 1, 3}, {2, 3, 2}, {11, 2, 3}} {
		f := numbered(t, shape)
		n := shape.Slices()
		for _, closed := range []bool{false, true} {
			for cuts := range int64(14) {
				times, pairs := make([]int64, n), map[[2]int64]int64{}
				for i := range cuts + 1 {
					of := Span{n * i / (cuts + 1), n * (i + 1) / (cuts + 1)}
					read := once{struct{ Source }{f}, make([]atomic.Int32, n)}
					err := EachPiece(read, of, 2, closed, func(piece *Field, by int64) error {
						values := Values[uint16](piece.Data())
						slice := func(i int) int64 { return int64(values[i*int(shape.SliceVoxels())]) / shape.SliceVoxels() }
						k := len(values) / int(shape.SliceVoxels())
						for i := range k {
							times[slice(i)] += by
							if i > 0 {
								pairs[[2]int64{slice(i - 1), slice(i)}] += by
							}
						}
						return nil
					})
					if err != nil {
						t.Fatalf("%v in %d spans, %v: %v", shape, cuts+1, of, err)
					}
					for s := range read.read {
						s := int64(s)
						wanted := s >= max(of.Lo-1, 0) && s < of.Hi || closed && of.Hi == n && s == 0
						if got := read.read[s].Load() == 1; got != (wanted && of.Len() > 0) {
							t.Errorf("%v in %d spans, %v: slice %d was read: %v", shape, cuts+1, of, s, got)
						}
					}
				}
				want := map[[2]int64]int64{}
				for s := range n - 1 {
					want[[2]int64{s, s + 1}]++
				}
				if closed {
					want[[2]int64{n - 1, 0}]++
				}
				if slices.ContainsFunc(times, func(k int64) bool { return k != 1 }) {
					t.Errorf("%v in %d spans, closed %v: slices count %v times", shape, cuts+1, closed, times)
				}
				if !maps.Equal(pairs, want) {
					t.Errorf("%v in %d spans, closed %v: pairs %v, want %v", shape, cuts+1, closed, pairs, want)
				}
			}
		}
	}
}

// With 0 a piece has as many slices as are worth it, which a small image has not.
func TestPiecesAreLarge(t *testing.T) {
	f := numbered(t, Shape{5, 2, 2})
	pieces := 0
	if err := EachPiece(f, Whole(f), 0, false, func(*Field, int64) error { pieces++; return nil }); err != nil || pieces != 1 {
		t.Errorf("%d pieces of a small image (%v)", pieces, err)
	}
}

type bulky struct{ Source }

func (bulky) InBulk() bool { return true }

// Pieces that are joined fit a cache of the cores, but those of a source that is far away.
func TestJoinedPiecesAreSmall(t *testing.T) {
	s := sized{numbered(t, Shape{1, 1, 1}), Shape{1 << 10, 1 << 10, 1 << 9}} // a slice is 1 MiB
	for threads, want := range map[int]int64{1: 8, 2: 16, 3: 24, 64: 64} {
		if got := JoinedSlices(s, threads); got != want {
			t.Errorf("%d slices for %d cores, want %d", got, threads, want)
		}
	}
	for _, far := range []Source{bulky{s}, &Digester{Source: bulky{s}}} {
		if got := JoinedSlices(far, 1); got != 64 {
			t.Errorf("%d slices of a source that is far away", got)
		}
	}
}

// sized is an image of another shape, which nobody reads.
type sized struct {
	Source
	shape Shape
}

func (s sized) Shape() Shape { return s.shape }
