package files

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

// typed reports whether the options contain the type of a raw file.
func (o Options) typed() bool { return o.Type != 0 || o.Other != "" }

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

// A fileBody describes the voxels in a file. The reader of a header fills it in. The code after the
// header is common to all formats and is here.
type fileBody struct {
	in      fileInput // of the voxels; zero if the header is in the same file
	shape   grid.Shape
	axes    int // the image's axes in the file, if its header counts them
	volumes volumes
	stored  element.Type
	big     bool // big-endian
	fortran bool // the first axis is the fastest
	scaled  bool // a voxel is float32(stored·slope + inter)
	// otherSign inverts the first bit of each integer, so that the type is signed and the file's is
	// not, or vice versa.
	otherSign bool
	truth     bool       // uint8 whose nonzero values are 1
	blank     *uint64    // the bits of an integer that marks a voxel without a value, which is an error
	sum       *sliceSums // checksums of a file's member that contains the voxels; nil for none
	bits      int        // number of significant low bits of each integer; 0 for all
	slope     float64
	inter     float64
	scales    []valueScale // of the slices, if they differ

	place *slicePlace // position of an image among others, if known

	// One of three holds the voxels. Plain voxels are in the file from offset to its end, or at its
	// end. inflate decompresses packed bytes of the file; the voxels are after offset bytes.
	// decoded is row-major, little-endian and owned by the body.
	offset  int64
	atEnd   bool
	inflate io.Reader
	packed  int64
	ratio   int64 // the greatest compression ratio
	decoded []byte
}

// bytes returns the stored size of all voxels of the image.
func (b *fileBody) bytes() int64 { return b.shape.Voxels() * b.stored.Size() }

// total returns the size of all volumes in bytes.
func (b *fileBody) total() int64 { return max(1, b.volumes.count) * b.bytes() }

// native returns the type of the image.
func (b *fileBody) native() grid.Type {
	if b.scaled {
		return grid.Float32
	}
	return b.stored.Native()
}

// plain reports whether the stored bytes need no conversion.
func (b *fileBody) plain() bool {
	return b.stored.Native().Size() == b.stored.Size() && !b.stored.Narrowed() && !b.scaled && !b.otherSign &&
		b.bits == 0 && b.blank == nil && !(b.big && b.stored.Size() > 1)
}

// ranked reports whether the value of one voxel depends on all voxels.
func (b *fileBody) ranked() bool {
	return b.stored.Narrowed() && b.stored != element.Float16 || b.scales != nil || b.scaled && b.merges()
}

// source makes the source of the body.
func (b *fileBody) source() (grid.Source, error) {
	in := b.in
	typ := b.native()
	if in.Levels > 0 && typ != grid.Float32 {
		return nil, element.LevelsError{Err: fmt.Errorf("a number of levels is for float32 images and this one is %v; leave it out", typ)}
	}
	if in.Stream {
		return b.stream()
	}
	if err := b.room(in); err != nil {
		return nil, err
	}
	data, err := b.read()
	if err != nil {
		return nil, err
	}
	data, labels, err := b.convert(data)
	if errors.Is(err, element.ErrRanks) {
		return nil, element.LevelsError{Err: fmt.Errorf("float32 does not hold its values of %s, which are ranked, and ranks have no evenly spaced levels; leave the number of levels out, or save the image as float32", b.stored)}
	}
	if err != nil {
		return nil, err
	}
	if typ != grid.Float32 {
		return grid.NewField(b.shape, typ, data, grid.Identity(typ))
	}
	values := grid.Values[float32](data)
	ladder, known, err := in.ladder(b.shape, func() element.Reader {
		return func(lo, hi int64) ([]float32, error) { return values[lo:hi], nil }
	})
	if err == nil && known { // finding it would have normalised them
		err = in.normalise()(values, 0, b.shape)
	}
	if err != nil {
		return nil, err
	}
	field := grid.NewField
	if in.Gaps { // NaN is above every level
		field = grid.Trusted
	}
	f, err := field(b.shape, typ, data, ladder)
	if err != nil || labels == nil {
		return f, err
	}
	return f.Labelled(labels), nil
}

// read returns the stored bytes of all voxels, aligned for every type. It allocates only memory for
// bytes that the file contains.
func (b *fileBody) read() ([]byte, error) {
	switch {
	case b.decoded != nil:
		return b.decodedVolume()
	case b.inflate != nil:
		if err := checkRatio(b.total(), b.packed, b.ratio); err != nil {
			return nil, err
		}
		if err := b.skip(); err != nil {
			return nil, err
		}
		data, err := b.pick(b.inflate, b.packed)
		if err != nil {
			return nil, err
		}
		return data, storage.CheckEnd(b.inflate, true)
	}
	if err := b.checkPlain(); err != nil {
		return nil, err
	}
	if b.volumes.stride > 1 {
		return b.pick(bufio.NewReader(io.NewSectionReader(b.in, b.offset, b.total())), b.total())
	}
	if first := b.offset + b.volumes.first*b.stored.Size(); b.in.held != nil && b.bytes() > b.in.size/2 {
		// Bytes in memory move to an aligned address.
		data := b.in.held[:copy(b.in.held, b.in.held[first:first+b.bytes()])]
		return data, b.sum.add(b, data, 0)
	}
	data := grid.NewBuffer(b.bytes())
	if err := storage.ReadAt(b.in.ReaderAt, data, b.offset+b.volumes.first*b.stored.Size()); err != nil {
		return nil, fmt.Errorf("reading the voxels: %w", storage.Cause(err))
	}
	return data, b.sum.add(b, data, 0)
}

// skip reads the compressed bytes before the voxels.
func (b *fileBody) skip() error {
	if n, err := io.CopyN(io.Discard, b.inflate, b.offset); err != nil {
		return fmt.Errorf("truncated: the compressed data end after %d bytes where the voxels start at byte %d: %w",
			n, b.offset, storage.Cause(err))
	}
	return nil
}

// checkPlain compares the header with the size of a file of plain voxels.
func (b *fileBody) checkPlain() error {
	if b.atEnd {
		b.offset = max(0, b.in.size-b.total())
	}
	have, want := max(0, b.in.size-b.offset), b.total()
	switch {
	case have < want:
		return fmt.Errorf("truncated: %d bytes of voxels where the header states %d (%v, %d each); copy the file again",
			have, want, b.shape, b.stored.Size())
	case have > want:
		return fmt.Errorf("trailing data: %d bytes of voxels where the header states %d (%v, %d each); cut off the rest or correct the header", have, want, b.shape, b.stored.Size())
	}
	return nil
}

// checkRatio returns an error for a size that the compressed bytes cannot contain.
func checkRatio(claim, packed, ratio int64) error {
	if claim/ratio > packed {
		return fmt.Errorf("the header states %d bytes of voxels, more than %d compressed bytes can hold; the header is damaged",
			claim, packed)
	}
	return nil
}

// likelyRatio is more than the compression ratio of most images.
const likelyRatio = 8

// readExactly reads n bytes from a stream of packed compressed bytes. The buffer grows as bytes
// arrive, so that a wrong header cannot cause a huge allocation. It begins with a plausible size,
// so that it is rarely copied.
func readExactly(r io.Reader, n, packed int64) ([]byte, error) {
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

// wholeNumbers parses a list of integers.
func wholeNumbers(text string) ([]int64, error) {
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
