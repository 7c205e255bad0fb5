package grid

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// A counting source holds the number of each slice, fails from one slice on, and
// is large enough for several slabs.
type counting struct {
	slices, fails int64
}

var errBroken = errors.New("broken")

func (c counting) Shape() Shape { return Shape{D: c.slices, H: 1 << 10, W: 1 << 12} }
func (counting) Type() Type     { return Float32 }
func (counting) Ladder() Ladder { return Ladder{} }
func (c counting) ReadSlab(dst []byte, lo, hi int64) error {
	if hi > c.fails {
		return errBroken
	}
	for i, slice := lo, Values[float32](dst); i < hi; i++ {
		slice[(i-lo)<<22] = float32(i)
	}
	return CheckSlab(c, dst, lo, hi)
}

// Slabs come in order while the next one is read, and an error of either side ends
// it.
func TestEachSlab(t *testing.T) {
	stop := errors.New("stop")
	for _, c := range []struct {
		source counting
		stop   int64 // the slice that f stops at
		want   error
		seen   int
	}{
		{counting{2, 2}, -1, nil, 2}, {counting{7, 7}, -1, nil, 7}, {counting{8, 8}, -1, nil, 8}, {counting{25, 25}, -1, nil, 25},
		{counting{25, 9}, -1, errBroken, 9}, {counting{25, 1}, -1, errBroken, 1}, {counting{25, 25}, 4, stop, 4}, {counting{25, 25}, 24, stop, 24},
		{counting{25, 5}, 0, stop, 0}, {counting{25, 0}, -1, errBroken, 0},
	} {
		var seen []float32
		err := EachSlab(c.source, func(slab []byte, lo, hi int64) error {
			if lo <= c.stop && c.stop < hi {
				return stop
			}
			for i := range hi - lo {
				seen = append(seen, Values[float32](slab)[i<<22])
			}
			return nil
		})
		want := make([]float32, c.seen)
		for i := range want {
			want[i] = float32(i)
		}
		if !errors.Is(err, c.want) || !slices.Equal(seen, want) {
			t.Errorf("%+v: %v, slices %v", c, err, seen)
		}
	}
}

// Slabs that share a slice are the same of an image in memory as of one that is read.
func TestEachSharing(t *testing.T) {
	for _, shape := range []Shape{{D: 7, H: 2, W: 3}, {D: 1, H: 7, W: 6}} {
		f, err := NewField(shape, Uint8, NewBuffer(shape.Voxels()), Identity(Uint8))
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Data() {
			f.Data()[i] = byte(i)
		}
		for step := range int64(9) {
			var spans [2][]string
			for i, s := range []Source{f, struct{ Source }{f}} {
				if err := EachSharing(s, step+1, func(slab []byte, lo, hi int64) error {
					spans[i] = append(spans[i], fmt.Sprint(lo, hi, slab))
					return nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			if n := (shape.Slices() + step) / (step + 1); int64(len(spans[0])) != n || !slices.Equal(spans[0], spans[1]) {
				t.Errorf("%v in %ds: %v, read %v", shape, step+1, spans[0], spans[1])
			}
			if size, hi := SliceBytes(f), min(2*step+2, shape.Slices()); step+1 < shape.Slices() {
				if want := fmt.Sprint(step, hi, f.Data()[step*size:hi*size]); spans[0][1] != want {
					t.Errorf("%v in %ds: the second is %v, want %v", shape, step+1, spans[0][1], want)
				}
			}
		}
		if err := EachSharing(f, 3, func([]byte, int64, int64) error { return errBroken }); !errors.Is(err, errBroken) {
			t.Errorf("%v: %v", shape, err)
		}
	}
}

// An image in memory is one slab, of all its slices and its own bytes.
func TestEachSlabOfAField(t *testing.T) {
	for _, shape := range []Shape{{D: 3, H: 2, W: 5}, {D: 1, H: 4, W: 5}} {
		data := NewBuffer(shape.Voxels())
		f, err := NewField(shape, Uint8, data, Identity(Uint8))
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		if err := EachSlab(f, func(slab []byte, lo, hi int64) error {
			if calls++; lo != 0 || hi != shape.Slices() || len(slab) != len(data) || &slab[0] != &data[0] {
				t.Errorf("%v: slices %d to %d in %d bytes", shape, lo, hi, len(slab))
			}
			return nil
		}); err != nil || calls != 1 {
			t.Errorf("%v: %d slabs, %v", shape, calls, err)
		}
	}
}
