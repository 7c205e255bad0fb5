package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// Typed reports whether the options contain the type of a raw file.
func (o Options) Typed() bool { return o.Type != 0 || o.Other != "" }

// Stored returns the type of a raw file, or 0.
func (o Options) Stored() element.Type {
	name := o.Other
	if name == "" && slices.Contains(grid.Types(), o.Type) {
		name = o.Type.String()
	}
	if name == "bool" {
		return element.Uint8
	}
	return element.ParseType(name)
}

// A Body describes the voxels in a file. The reader of a header fills it in. The code after the
// header is common to all formats and is here.
type Body struct {
	Format  string // its name
	In      Input  // of the voxels; zero if the header is in the same file
	Shape   grid.Shape
	Axes    int // the image's axes in the file, if its header counts them
	Volumes Volumes
	Stored  element.Type
	Big     bool // big-endian
	Fortran bool // the first axis is the fastest
	turned  bool // Permute copies the voxels
	Scaled  bool // a voxel is float32(stored·slope + inter)
	// OtherSign inverts the first bit of each integer, so that the type is signed and the file's is
	// not, or vice versa.
	OtherSign bool
	Truth     bool       // uint8 whose nonzero values are 1
	Blank     Blank      // marks voxels without a value
	sum       *sliceSums // checksums of a file's member that contains the voxels; nil for none
	Bits      int        // number of significant low bits of each integer; 0 for all
	Slope     float64
	Inter     float64
	scales    []Scale // of the slices, if they differ

	Place *Place // position of an image among others, if known

	// One of three holds the voxels. Plain voxels are in the file from offset to its end, or at its
	// end. inflate decompresses packed bytes of the file; the voxels are after offset bytes.
	// decoded is row-major, little-endian and owned by the body.
	Offset  int64
	AtEnd   bool
	Inflate io.Reader
	Packed  int64
	Ratio   int64 // the greatest compression ratio
	Decoded []byte
}

// A Blank is a list of stored values that mark voxels without a value, which are an error.
type Blank struct {
	Name string   // of the field that states them
	Bits []uint64 // little-endian
}

// Bytes returns the stored size of all voxels of the image.
func (b *Body) Bytes() int64 { return b.Shape.Voxels() * b.Stored.Size() }

// Total returns the size of all volumes in bytes.
func (b *Body) Total() int64 { return max(1, b.Volumes.Count) * b.Bytes() }

// Native returns the type of the image.
func (b *Body) Native() grid.Type {
	if b.Scaled {
		return grid.Float32
	}
	return b.Stored.Native()
}

// plain reports whether the stored bytes need no conversion.
func (b *Body) plain() bool {
	return b.Stored.Native().Size() == b.Stored.Size() && !b.Stored.Narrowed() && !b.Scaled && !b.OtherSign &&
		b.Bits == 0 && len(b.Blank.Bits) == 0 && !(b.Big && b.Stored.Size() > 1)
}

// Ranked reports whether the value of one voxel depends on all voxels.
func (b *Body) Ranked() bool {
	return b.Stored.Narrowed() && b.Stored != element.Float16 || b.scales != nil || b.Scaled && b.merges()
}

// Source makes the source of the body.
func (b *Body) Source() (grid.Source, error) {
	in := b.In
	typ := b.Native()
	if in.Levels > 0 && typ != grid.Float32 {
		return nil, element.LevelsError{Err: fmt.Errorf("a number of levels is for float32 images and this one is %v; "+
			"leave it out", typ)}
	}
	if in.Stream {
		return b.stream()
	}
	if err := b.CheckMemory(in); err != nil {
		return nil, err
	}
	data, err := b.Read()
	if err != nil {
		return nil, err
	}
	data, labels, err := b.Convert(data)
	if errors.Is(err, element.ErrRanks) {
		return nil, element.LevelsError{Err: fmt.Errorf("float32 does not hold its values of %s, which are ranked, and "+
			"ranks have no evenly spaced levels; leave the number of levels out, or save the image as float32", b.Stored)}
	}
	if err != nil {
		return nil, err
	}
	if typ != grid.Float32 {
		return grid.NewField(b.Shape, typ, data, grid.Identity(typ))
	}
	values := grid.Values[float32](data)
	ladder, known, err := in.ladder(b.Shape, func() element.Reader {
		return func(lo, hi int64) ([]float32, error) { return values[lo:hi], nil }
	})
	if err == nil && known { // finding it would have normalised them
		err = in.Normalise()(values, 0, b.Shape)
	}
	if err != nil {
		return nil, err
	}
	field := grid.NewField
	if in.Gaps { // NaN is above every level
		field = grid.Trusted
	}
	f, err := field(b.Shape, typ, data, ladder)
	if err != nil || labels == nil {
		return f, err
	}
	return f.Labelled(labels), nil
}

// Read returns the stored bytes of all voxels, aligned for every type. It allocates only memory for
// bytes that the file contains.
func (b *Body) Read() ([]byte, error) {
	switch {
	case b.Decoded != nil:
		return b.decodedVolume()
	case b.Inflate != nil:
		if err := CheckRatio(b.Total(), b.Packed, b.Ratio); err != nil {
			return nil, err
		}
		if err := b.skip(); err != nil {
			return nil, err
		}
		data, err := b.pick(b.Inflate, b.Packed)
		if err != nil {
			return nil, err
		}
		return data, storage.CheckEnd(b.Inflate, true)
	}
	if err := b.checkPlain(); err != nil {
		return nil, err
	}
	if b.Volumes.Stride > 1 {
		return b.pick(bufio.NewReader(io.NewSectionReader(b.In, b.Offset, b.Total())), b.Total())
	}
	if first := b.Offset + b.Volumes.First*b.Stored.Size(); b.In.Held != nil && b.Bytes() > b.In.Size/2 {
		// Bytes in memory move to an aligned address.
		data := b.In.Held[:copy(b.In.Held, b.In.Held[first:first+b.Bytes()])]
		return data, b.sum.add(b, data, 0)
	}
	data := grid.NewBuffer(b.Bytes())
	if err := storage.ReadAt(b.In.ReaderAt, data, b.Offset+b.Volumes.First*b.Stored.Size()); err != nil {
		return nil, fmt.Errorf("reading the voxels: %w", storage.Cause(err))
	}
	return data, b.sum.add(b, data, 0)
}

// skip reads the compressed bytes before the voxels.
func (b *Body) skip() error {
	if n, err := io.CopyN(io.Discard, b.Inflate, b.Offset); err != nil {
		return fmt.Errorf("truncated: the compressed data end after %d bytes where the voxels start at byte %d: %w",
			n, b.Offset, storage.Cause(err))
	}
	return nil
}

// checkPlain compares the header with the size of a file of plain voxels.
func (b *Body) checkPlain() error {
	if b.AtEnd {
		b.Offset = max(0, b.In.Size-b.Total())
	}
	have, want := max(0, b.In.Size-b.Offset), b.Total()
	switch {
	case have < want:
		return fmt.Errorf("truncated: %d bytes of voxels where the header states %d (%v, %d each); copy the file again",
			have, want, b.Shape, b.Stored.Size())
	case have > want:
		return fmt.Errorf("trailing data: %d bytes of voxels where the header states %d (%v, %d each); cut off the rest or "+
			"correct the header", have, want, b.Shape, b.Stored.Size())
	}
	return nil
}

// CheckRatio returns an error for a size that the compressed bytes cannot contain.
func CheckRatio(claim, packed, ratio int64) error {
	if claim/ratio > packed {
		return fmt.Errorf("the header states %d bytes of voxels, more than %d compressed bytes can hold; the header is "+
			"damaged",
			claim, packed)
	}
	return nil
}

// likelyRatio is more than the compression ratio of most images.
const likelyRatio = 8

// ReadExactly reads n bytes from a stream of packed compressed bytes. The buffer grows as bytes
// arrive, so that a wrong header cannot cause a huge allocation. It begins with a plausible size,
// so that it is rarely copied.
func ReadExactly(r io.Reader, n, packed int64) ([]byte, error) {
	buf := grid.NewBuffer(min(n, likelyRatio*packed))[:0]
	for int64(len(buf)) < n {
		have := int64(len(buf))
		buf = storage.Extend(buf, min(n-have, max(have, 64<<10)), n)
		if _, err := inflateNext(r, buf[have:], have, n); err != nil {
			return nil, err
		}
	}
	return buf, nil
}

// inflateNext fills dst with decompressed voxels after the first before bytes of n. It returns the
// number of bytes read.
func inflateNext(r io.Reader, dst []byte, before, n int64) (got int, err error) {
	got, err = io.ReadFull(r, dst)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return got, fmt.Errorf("truncated: the compressed voxels end after %d of %d bytes; copy the file again",
			before+int64(got), n)
	case err != nil:
		return got, fmt.Errorf("decompressing the voxels: %w; copy the file again", storage.Cause(err))
	}
	return got, nil
}

// WholeNumbers parses a list of integers.
func WholeNumbers(text string) ([]int64, error) {
	var list []int64
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%.80q is not a whole number; correct the header", word)
		}
		list = append(list, n)
	}
	return list, nil
}
