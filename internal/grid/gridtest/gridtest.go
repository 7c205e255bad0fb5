// Package gridtest has images for tests: small ones by value, and images that cannot be read, break or are
// too large to exist.
package gridtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"eccbench/internal/grid"
)

// Image returns an image in memory with a value for each voxel, row-major. A value must be one of
// the type; for float32 it is rounded.
func Image(t testing.TB, shape grid.Shape, typ grid.Type, ladder grid.Ladder, value func(i int64) float64) *grid.Field {
	t.Helper()
	data := grid.NewBuffer(shape.Voxels() * typ.Size())
	for i := range shape.Voxels() {
		switch v := value(i); typ {
		case grid.Uint8:
			data[i] = uint8(v)
		case grid.Int16:
			grid.Values[int16](data)[i] = int16(v)
		case grid.Uint16:
			grid.Values[uint16](data)[i] = uint16(v)
		case grid.Float32:
			grid.Values[float32](data)[i] = float32(v)
		}
	}
	f, err := grid.NewField(shape, typ, data, ladder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Drawn returns an image of random values. For one seed in three all of them are on levels.
func Drawn(t testing.TB, shape grid.Shape, typ grid.Type, levels uint16, seed uint64) *grid.Field {
	t.Helper()
	top := float64(levels) + 1
	if typ == grid.Uint8 {
		top = min(top, 256)
	}
	lo, step := 0.0, 1+float64(seed%3)/2
	switch typ {
	case grid.Int16:
		lo = -32768
	case grid.Float32:
		step /= 3
	}
	ladder, err := grid.Affine(lo, step, int64(levels)+1)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(levels)))
	return Image(t, shape, typ, ladder, func(int64) float64 {
		v := math.Floor(rng.Float64() * top)
		if typ == grid.Float32 {
			return v / 3
		}
		return lo + v
	})
}

// OfBytes is an image of uint8 in memory, of values in row-major order, which it takes over.
func OfBytes(t testing.TB, shape grid.Shape, values ...uint8) *grid.Field {
	t.Helper()
	f, err := grid.NewField(shape, grid.Uint8, values, grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Labelled returns an image in memory with a table of labels; ranks are the indices of its voxels,
// row-major.
func Labelled(t testing.TB, shape grid.Shape, labels []float64, ranks ...int) *grid.Field {
	t.Helper()
	l, err := grid.NewLabels("float64", labels)
	if err != nil {
		t.Fatal(err)
	}
	return Image(t, shape, grid.Float32, grid.Identity(grid.Float32), func(i int64) float64 { return float64(grid.Ranked(ranks[i])) }).Labelled(l)
}

// ErrUnread is the error of images that cannot be read.
var ErrUnread = errors.New("it cannot be read")

// Unread is an image that cannot be read.
type Unread struct{ grid.Source }

// ReadSlab is ErrUnread.
func (Unread) ReadSlab([]byte, int64, int64) error { return ErrUnread }

// UnreadSlice is an image with a slice that cannot be read.
type UnreadSlice struct {
	grid.Source
	At int64
}

// ReadSlab is ErrUnread for slabs with the slice.
func (u UnreadSlice) ReadSlab(dst []byte, lo, hi int64) error {
	if lo <= u.At && u.At < hi {
		return ErrUnread
	}
	return u.Source.ReadSlab(dst, lo, hi)
}

// A Breaking image fails at one read, and may be another image from then on.
type Breaking struct {
	grid.Source
	left *atomic.Int64 // reads until then
	then grid.Source   // nil where it fails once
}

// BreaksAfter returns an image that breaks after the given reads. It fails once, or becomes the
// image then unless that is nil.
func BreaksAfter(in grid.Source, reads int64, then grid.Source) Breaking {
	b := Breaking{in, new(atomic.Int64), then}
	b.left.Store(reads)
	return b
}

// Left returns the number of reads left until it breaks; it is negative after that.
func (b Breaking) Left() int64 { return b.left.Load() }

// ReadSlab is ErrUnread at the read that fails.
func (b Breaking) ReadSlab(dst []byte, lo, hi int64) error {
	switch left := b.left.Add(-1); {
	case left < 0 && b.then != nil:
		return b.then.ReadSlab(dst, lo, hi)
	case left == -1:
		return ErrUnread
	}
	return b.Source.ReadSlab(dst, lo, hi)
}

// A Vast image is of a shape, a type and a ladder alone, and cannot be read.
type Vast struct {
	Unread
	Size   grid.Shape
	Of     grid.Type
	Levels grid.Ladder
}

// VastOf is on the ladder of all values of a type.
func VastOf(shape grid.Shape, typ grid.Type) Vast {
	return Vast{Size: shape, Of: typ, Levels: grid.Identity(typ)}
}

// Shape is the image's.
func (v Vast) Shape() grid.Shape { return v.Size }

// Type is the image's.
func (v Vast) Type() grid.Type { return v.Of }

// Ladder is the image's.
func (v Vast) Ladder() grid.Ladder { return v.Levels }

// Once is a source that allows one read of each slice.
type Once struct {
	grid.Source
	Read []atomic.Bool // by slice
}

// ReadOnce wraps a source; no slice has been read yet.
func ReadOnce(s grid.Source) Once { return Once{s, make([]atomic.Bool, s.Shape().Slices())} }

// ReadSlab is an error where a slice is read again.
func (o Once) ReadSlab(dst []byte, lo, hi int64) error {
	for i := lo; i < hi; i++ {
		if o.Read[i].Swap(true) {
			return fmt.Errorf("slice %d is read again", i)
		}
	}
	return o.Source.ReadSlab(dst, lo, hi)
}

// A Looker is a grid.Watcher that keeps all values.
type Looker struct {
	Watches bool
	Values  []float32
}

// Watch records that values will follow.
func (l *Looker) Watch() { l.Watches = true }

// Look keeps values.
func (l *Looker) Look(values []byte) { l.Values = append(l.Values, grid.Values[float32](values)...) }

// Err is nil: nothing is wrong with any value.
func (l *Looker) Err() error { return nil }

// Roll shows a source with its slices moved round by k: slice i is slice
// (i+k) mod n of the original.
func Roll(s grid.Source, k int64) grid.Source {
	n := s.Shape().Slices()
	return rolled{s, ((k % n) + n) % n}
}

type rolled struct {
	grid.Source
	k int64
}

func (r rolled) ReadSlab(dst []byte, lo, hi int64) error {
	if err := grid.CheckSlab(r, dst, lo, hi); err != nil {
		return err
	}
	n, size := r.Shape().Slices(), grid.SliceBytes(r)
	for at := lo; at < hi; {
		from := (at + r.k) % n
		count := min(hi-at, n-from)
		part := dst[(at-lo)*size : (at-lo+count)*size]
		if err := r.Source.ReadSlab(part, from, from+count); err != nil {
			return err
		}
		at += count
	}
	return nil
}

// Numbered is a field whose values are their own row-major positions.
func Numbered(t testing.TB, s grid.Shape) *grid.Field {
	t.Helper()
	data := grid.NewBuffer(s.Voxels() * 2)
	for i := range s.Voxels() {
		grid.Values[uint16](data)[i] = uint16(i)
	}
	f, err := grid.NewField(s, grid.Uint16, data, grid.Identity(grid.Uint16))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Fill writes one value everywhere.
func Fill(t grid.Type, dst []byte, v float32) {
	for i := range int64(len(dst)) / t.Size() {
		at := dst[i*t.Size():][:t.Size()]
		switch t {
		case grid.Uint8:
			at[0] = uint8(v)
		case grid.Uint16:
			grid.Values[uint16](at)[0] = uint16(v)
		case grid.Int16:
			grid.Values[int16](at)[0] = int16(v)
		case grid.Float32:
			grid.Values[float32](at)[0] = v
		}
	}
}

// EachApart calls f for each slab and for each shared slice of EachJoined.
func EachApart(s grid.Source, of grid.Span, slices int64, closed bool, f func(piece *grid.Field, times int64) error) error {
	return grid.EachJoined(s, of, slices, closed, func(p grid.Piece) error {
		if err := f(p.Field, p.Times); err != nil || p.Shared == nil {
			return err
		}
		return f(p.Shared, -p.Times)
	})
}
