package grid

import (
	"errors"
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
		data := NewBuffer(2 * shape.Voxels())
		for i := range shape.Voxels() {
			Values[int16](data)[i] = int16(i)
		}
		f, err := NewField(shape, Int16, data, Identity(Int16))
		if err != nil {
			t.Fatal(err)
		}
		n, size := shape.Slices(), SliceBytes(f)
		for _, step := range []int64{0, 2, 3, 4, 100} {
			times, last := make([]int64, n), int64(-1)
			err := EachPiece(once{struct{ Source }{f}, make([]atomic.Int32, n)}, step, false, func(piece *Field, by int64) error {
				first := int64(Values[int16](piece.Data())[0]) / shape.SliceVoxels()
				if want := max(last, 0); first != want {
					t.Errorf("%v in %d: a piece begins with slice %d, want %d", shape, step, first, want)
				}
				k := piece.Shape().Slices()
				if piece.Shape().Dim() != shape.Dim() { // a plane
					k = 1
				}
				if !slices.Equal(piece.Data(), data[first*size:(first+k)*size]) || piece.Ladder().Key() != f.Ladder().Key() {
					t.Errorf("%v in %d: a piece from slice %d on is not the image's", shape, step, first)
				}
				if by == -1 && (k != 1 || shape.D > 1 && piece.Shape() != Shape{1, shape.H, shape.W}) || by == 1 && k == 1 && n > 1 {
					t.Errorf("%v in %d: piece %v counts %d times", shape, step, piece.Shape(), by)
				}
				for i := range k {
					times[first+i] += by
				}
				last = first + k - 1
				return nil
			})
			if err != nil || slices.ContainsFunc(times, func(k int64) bool { return k != 1 }) {
				t.Errorf("%v in %d: slices count %v times (%v)", shape, step, times, err)
			}
			stop := errors.New("stop")
			if err := EachPiece(f, step, false, func(_ *Field, times int64) error {
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
