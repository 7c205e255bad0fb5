package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// Options hold the properties that a file does not contain, and how to read it.
type Options struct {
	// Shape and Type are required for a raw file and must be zero for other files.
	Shape grid.Shape
	Type  grid.Type
	// OneSlice marks a Shape of 2 axes as a volume of one slice.
	OneSlice bool
	// Other is a type of a raw file that grid.Type does not have, such as float64 or int8.
	Other string
	// Levels is 0 for the identity ladder of 8 and 16-bit types, and for the table of distinct
	// values of float32. For float32, Levels > 0 is the number of levels of an affine ladder from
	// the least value to the greatest.
	Levels int64
	// Every selects the identity ladder of float32 too, which does not need a pass over the voxels.
	// Levels is 0 then.
	Every bool
	// Gaps excludes NaN voxels from the image, together with Every.
	Gaps bool
	// Stream requests a source that reads slabs from the file, instead of an image in memory. With
	// Once, it may be a compressed file whose slabs are read once: in order, or together.
	Stream, Once bool
	// Volume is the number of one image in a file with several, from 0; nil for the only one.
	Volume *int64
	// Array is the name of one array in a file with several. "" selects the only array, or the
	// finest level of an image.
	Array string
	// Channel is the name or the number of a channel, or "" for the only one.
	Channel string
	// Strict makes a missing chunk of a Zarr array an error instead of reading the fill value.
	Strict bool
	// Ranks describe the representation of values that float32 does not hold.
	Ranks element.Ranks
	// Memory is the greatest size in bytes of an image in memory; 0 for no limit.
	Memory int64
	// Surveys cache the results of complete passes over files; nil for none.
	Surveys *Surveys
}

// Normalise returns the check and conversion of float32 values.
func (o Options) Normalise() func(values []float32, base int64, shape grid.Shape) error {
	if o.Gaps {
		return grid.NormaliseGaps
	}
	return grid.Normalise
}

// An Input is the input of a format's reader: the bytes of an image file, their number, and the
// caller's options.
type Input struct {
	io.ReaderAt
	Size int64
	Options
	Files *storage.Set // the open files; nil for bytes without a file
	// Identity identifies the bytes if files does not.
	Identity string
	Held     []byte // the bytes, if they are in memory and not shared
	Unsized  bool   // the bytes are the beginning of a file of unknown size
}

// ladder returns the ladder of float32 voxels, and reports whether it was cached.
func (in Input) ladder(shape grid.Shape, newReader func() element.Reader) (l grid.Ladder, known bool, err error) {
	if in.Every {
		return grid.Identity(grid.Float32), true, nil
	}
	if in.Gaps {
		return l, false, errors.New("NaN can be left out where each float32 is a level: add levels=every")
	}
	image := in.Identity
	if image == "" {
		image = in.Files.Identity()
	}
	if image != "" && in.Volume != nil {
		image += fmt.Sprintf("volume %d ", *in.Volume)
	}
	if image != "" {
		image += in.Array
	}
	return in.Surveys.ladder(image, in.Levels,
		func() (grid.Ladder, error) { return element.Float32Ladder(shape, in.Levels, newReader) })
}

// Head reads up to n bytes from the start of the file.
func (in Input) Head(n int64) ([]byte, error) {
	b := make([]byte, min(n, in.Size))
	if _, err := in.ReadAt(b, 0); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the header: %w", storage.Cause(err))
	}
	return b, nil
}

// NotStreamed is the error of a file whose slabs cannot be read separately.
type NotStreamed struct{ Reason string }

func (n NotStreamed) Error() string {
	return fmt.Sprintf("cannot be streamed because %s; read it whole, or save it as raw little-endian", n.Reason)
}

// A ReadError is an error in the voxels of a file with a valid header.
type ReadError struct {
	Path string
	Err  error
}

func (e *ReadError) Error() string { return e.Path + ": " + e.Err.Error() }

func (e *ReadError) Unwrap() error { return e.Err }

// ShapeOf makes a shape of axes given slowest first. It drops slow axes of length 1 beyond the
// third.
func ShapeOf(axes []int64) (grid.Shape, error) {
	for len(axes) > 3 && axes[0] == 1 {
		axes = axes[1:]
	}
	for len(axes) > 3 && axes[len(axes)-1] == 1 {
		axes = axes[:len(axes)-1]
	}
	s := grid.Shape{D: 1, H: 1, W: 1}
	switch len(axes) {
	case 1:
		s.W = axes[0]
	case 2:
		s.H, s.W = axes[0], axes[1]
	case 3:
		s.D, s.H, s.W = axes[0], axes[1], axes[2]
	default:
		return s, fmt.Errorf("%d axes; want an image of 2 or 3, so save one volume of it alone", len(axes))
	}
	if err := s.Check(); err != nil {
		return s, fmt.Errorf("%w; the image is empty or its header is damaged", err)
	}
	return s, nil
}

// A Format is one kind of image file.
type Format struct {
	Name       string
	Extensions []string // lower case, with the dot
	// Matches recognizes the format by the first bytes of a file; nil if they are not
	// characteristic.
	Matches func(head []byte) bool
	// Open reads the header and describes the storage of the voxels.
	Open func(Input) (*Body, error)
	// Geometry reads the position of the voxels from the header of a file; nil if the format has none,
	// or it is not read.
	Geometry func(Input) (*Geometry, error)
}

// HasExtension reports whether a file name, in lower case, has an extension of the format.
func (f Format) HasExtension(name string) bool {
	return slices.ContainsFunc(f.Extensions, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// MatchedBytes is enough for every matches.
const MatchedBytes = 348

func StartsWith(magics ...string) func([]byte) bool {
	return func(head []byte) bool {
		for _, m := range magics {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// LevelsError returns the error of an impossible number of levels.
func LevelsError(n int64) error {
	return fmt.Errorf("%d levels; want 0 to %d", n, int64(grid.MaxLevels))
}
