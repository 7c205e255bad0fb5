package grid

import (
	"context"
	"fmt"
	"math"
	"os"
	"unsafe"
)

// A Field is an image whole in memory. It is never modified once made, and is
// safe for concurrent use.
type Field struct {
	shape   Shape
	typ     Type
	ladder  Ladder
	data    []byte
	period  int64           // see Period
	labels  *Labels         // original values of a ranked image; nil if the values are the original ones
	until   context.Context // see WithContext; nil for no deadline
	watcher Watcher         // nil for none
	missing string          // see Missing
	volume  bool            // see Volume
	home    *os.File        // see Home; nil for none
	at      int64           // of the data in it
}

// NewField makes a Field of row-major bytes in host byte order. It keeps data, whose length must be
// Voxels·Size. It checks float32 values and normalises them in place: −0 becomes +0, and NaN or
// ±Inf are an error with their count and first index. A value above the ladder's last level is also
// an error, because no sublevel set would contain it.
func NewField(shape Shape, typ Type, data []byte, ladder Ladder) (*Field, error) {
	f, err := Trusted(shape, typ, data, ladder)
	if err != nil {
		return nil, err
	}
	if typ == Float32 {
		if err := Normalise(Values[float32](f.data), 0, shape); err != nil {
			return nil, err
		}
	}
	if err := f.checkTop(); err != nil {
		return nil, err
	}
	return f, nil
}

// Trusted makes a Field without checking the values. Use it for bytes that NewField has accepted
// before, in this process or in the one that shares them.
func Trusted(shape Shape, typ Type, data []byte, ladder Ladder) (*Field, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if want := shape.Voxels() * typ.Size(); int64(len(data)) != want {
		return nil, fmt.Errorf("field %v %v: %d bytes, want %d", shape, typ, len(data), want)
	}
	if ladder.Len() < 1 {
		return nil, fmt.Errorf("field %v %v: the ladder has no levels", shape, typ)
	}
	if !Aligned(data, typ.Size()) {
		data = append(NewBuffer(int64(len(data)))[:0], data...)
	}
	return &Field{shape: shape, typ: typ, ladder: ladder, data: data}, nil
}

// Load reads a whole source into a Field.
func Load(s Source) (*Field, error) {
	if f, ok := s.(*Field); ok {
		return f, nil
	}
	data := NewBuffer(TotalBytes(s))
	if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
		return nil, err
	}
	f, err := Trusted(s.Shape(), s.Type(), data, s.Ladder())
	if err != nil {
		return nil, err
	}
	f.volume = Dim(s) == 3
	f.labels = LabelsOf(s)
	return f, nil
}

// Slab returns slices lo ≤ i < hi of the field, in the same memory. A single plane of a 3D image becomes a
// 2D image.
func (f *Field) Slab(lo, hi int64) *Field {
	size := SliceBytes(f)
	return &Field{shape: f.shape.WithSlices(hi - lo), typ: f.typ, ladder: f.ladder,
		data: f.data[lo*size : hi*size : hi*size], until: f.until, labels: f.labels}
}

// Reshaped returns the field with another shape of as many voxels.
func (f *Field) Reshaped(shape Shape) *Field {
	g := *f
	g.shape = shape
	return &g
}

// Volume returns the field as a 3D image, even if it has a single slice.
func (f *Field) Volume() *Field {
	volume := *f
	volume.volume = true
	return &volume
}

// Dim returns the number of axes (see the function Dim).
func (f *Field) Dim() int {
	if f.volume {
		return 3
	}
	return f.shape.Dim()
}

// Lacking returns the field with a note about missing data (see Missing).
func (f *Field) Lacking(missing string) *Field {
	lacking := *f
	lacking.missing = missing
	return &lacking
}

// Missing describes the data that the field's file lacks, or the skipped files of its folder.
func (f *Field) Missing() string { return f.missing }

// InFile returns the field as one whose bytes are at an offset of a file, through a mapping that may be written to.
func (f *Field) InFile(home *os.File, at int64) *Field {
	housed := *f
	housed.home, housed.at = home, at
	return &housed
}

// Home returns the file of InFile and the offset, or nil. A process that edits the image there has to undo that.
func (f *Field) Home() (home *os.File, at int64) { return f.home, f.at }

// Shape returns the field's extent.
func (f *Field) Shape() Shape { return f.shape }

// Type returns the field's element type.
func (f *Field) Type() Type { return f.typ }

// Ladder returns the levels that index answers about the field.
func (f *Field) Ladder() Ladder { return f.ladder }

// Data returns the field's bytes, row-major. The caller must not modify them.
func (f *Field) Data() []byte { return f.data }

// InMemory is always true for a Field.
func (f *Field) InMemory() bool { return true }

// ReadSlab copies slices lo ≤ i < hi to dst.
func (f *Field) ReadSlab(dst []byte, lo, hi int64) error {
	if err := CheckSlab(f, dst, lo, hi); err != nil {
		return err
	}
	if err := Ended(f); err != nil {
		return err
	}
	size := SliceBytes(f)
	copy(dst, f.data[lo*size:hi*size])
	return nil
}

// Normalise replaces every −0 by +0. NaN and ±Inf are an error with their count and first index.
// The values start at row-major index base of an image of the given shape.
func Normalise(values []float32, base int64, shape Shape) error {
	return normalise(values, base, shape, false, true)
}

// Finite checks values as Normalise does, without writing to them: −0 stays.
func Finite(values []float32, base int64, shape Shape) error {
	return normalise(values, base, shape, false, false)
}

// Absent is the value of voxels outside a masked image. It is above every level.
var Absent = float32(math.Inf(1))

// NormaliseGaps normalises values in which NaN marks voxels outside the image.
func NormaliseGaps(values []float32, base int64, shape Shape) error {
	return normalise(values, base, shape, true, true)
}

func normalise(values []float32, base int64, shape Shape, gaps, write bool) error {
	var bad, first int64
	for at := 0; at < len(values); {
		if at += plain(values[at:]); at == len(values) {
			break
		}
		some := values[at:min(at+plainGroup, len(values))]
		for i, v := range some {
			if b := math.Float32bits(v); b&0x7f800000 == 0x7f800000 {
				if gaps && v != v {
					some[i] = Absent
					continue
				}
				if bad == 0 {
					first = base + int64(at+i)
				}
				bad++
			} else if b == 1<<31 && write {
				some[i] = 0
			}
		}
		at += len(some)
	}
	if bad == 0 {
		return nil
	}
	z, y, x := shape.Coordinates(first)
	return &NotFiniteError{Count: bad, First: first, Z: z, Y: y, X: x, Flat: shape.D == 1}
}

// plainGroup is the number of values that plain tests together.
const plainGroup = 16

// Bit masks for two float32 values in a 64-bit word.
const (
	signOfEach      = 1<<63 | 1<<31
	magnitudeOfEach = 1<<63 - 1 - 1<<31
)

// special sets the sign bit of each of two values that is −0, infinite or NaN. The addition carries
// into the sign bit if the exponent is all ones. The second term detects −0.
func special(two uint64) uint64 {
	m := two & magnitudeOfEach
	return m + (1<<55 | 1<<23) | two&^(m+magnitudeOfEach)
}

// plain returns the length of the prefix, in whole groups, whose values are all finite and not −0.
// In most images that is everything.
func plain(values []float32) int {
	n := 0
	for ; n+plainGroup <= len(values); n += plainGroup {
		some := (*[plainGroup / 2]uint64)(unsafe.Pointer(&values[n]))
		var found uint64
		for i := 0; i < len(some); i += 4 {
			a, b, c, d := some[i], some[i+1], some[i+2], some[i+3]
			found |= special(a) | special(b) | special(c) | special(d)
		}
		if found&signOfEach != 0 {
			break
		}
	}
	return n
}

// A NotFiniteError reports the number of NaN and infinite values in an image, with the row-major
// index and the coordinates of the first one.
type NotFiniteError struct {
	Count, First, Z, Y, X int64
	Flat                  bool // a 2D image
}

func (e *NotFiniteError) Error() string {
	noun := "values are"
	if e.Count == 1 {
		noun = "value is"
	}
	place := fmt.Sprintf("y %d, x %d", e.Y, e.X)
	if !e.Flat {
		place = fmt.Sprintf("z %d, %s", e.Z, place)
	}
	return fmt.Sprintf("%d %s NaN or infinite, the first at index %d (%s)", e.Count, noun, e.First, place)
}

func (f *Field) checkTop() error {
	top := f.ladder.Value(f.ladder.Len() - 1)
	var above, first int64
	switch f.typ {
	case Uint8:
		above, first = countAbove(Values[uint8](f.data), top)
	case Int16:
		above, first = countAbove(Values[int16](f.data), top)
	case Uint16:
		above, first = countAbove(Values[uint16](f.data), top)
	case Float32:
		above, first = countAbove(Values[float32](f.data), top)
	}
	if above > 0 {
		return fmt.Errorf("%d values are above the ladder's last level %v, the first at index %d", above, top, first)
	}
	return nil
}

func countAbove[T Element](values []T, top float32) (count, first int64) {
	for i, v := range values {
		if float32(v) > top {
			if count == 0 {
				first = int64(i)
			}
			count++
		}
	}
	return count, first
}

// Floats returns the image's values as float32, row-major. The conversion is exact for every type.
func (f *Field) Floats() []float32 {
	switch f.Type() {
	case Uint8:
		return floats(Values[uint8](f.Data()))
	case Int16:
		return floats(Values[int16](f.Data()))
	case Uint16:
		return floats(Values[uint16](f.Data()))
	}
	return Values[float32](f.Data())
}

func floats[T uint8 | int16 | uint16](list []T) []float32 {
	out := make([]float32, len(list))
	for i, v := range list {
		out[i] = float32(v)
	}
	return out
}

// A Watcher checks values of a Field that may be outside its ladder. Several goroutines call it
// concurrently.
type Watcher interface {
	// Watch announces that the caller will pass to Look every value that may be on no level.
	Watch()
	// Look receives values that may be on no level. It may receive a value repeatedly.
	Look(values []byte)
	// Err returns the error for the values so far. Ended returns it too.
	Err() error
}

// Watched returns the field with a watcher. Code that reads its Data may pass values to it.
func (f *Field) Watched(w Watcher) *Field {
	g := *f
	g.watcher = w
	return &g
}

// WatcherOf returns the watcher of a field, or nil.
func WatcherOf(s Source) Watcher {
	if f, ok := s.(*Field); ok {
		return f.watcher
	}
	return nil
}
