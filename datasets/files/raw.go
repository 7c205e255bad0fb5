package files

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// openRaw describes a file that consists of little-endian voxels.
func openRaw(in fileInput) (*fileBody, error) {
	if in.Shape == (grid.Shape{}) || !in.typed() {
		return nil, errors.New("a raw file contains neither its shape nor its type; give both")
	}
	if err := in.Shape.Check(); err != nil {
		return nil, err
	}
	b := &fileBody{shape: in.Shape, stored: in.Stored(), truth: in.Other == "bool"}
	if in.OneSlice {
		b.axes = 3
	}
	if b.stored == 0 {
		return nil, fmt.Errorf("unknown element type %v; want one of %s",
			cmp.Or(in.Other, in.Type.String()), strings.Join(element.TypeNames(), ", "))
	}
	if b.bytes() != in.size && !in.unsized {
		return nil, fmt.Errorf("the file has %d bytes but %v %v needs %d; correct the shape or the type",
			in.size, b.shape, b.stored, b.bytes())
	}
	return b, nil
}

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

// convert converts stored voxels to native ones, row-major. If the result is ranks, it returns
// their values as labels. It takes ownership of data.
func (b *fileBody) convert(data []byte) (native []byte, labels *grid.Labels, err error) {
	if b.big {
		swapBytes(data, b.stored.Size())
	}
	if b.truth {
		oneTruths(data)
	}
	if b.blank != nil && hasBits(data, b.stored.Size(), *b.blank) {
		return nil, nil,
			errors.New("voxels have the value of FITS keyword BLANK, which means that they have none; fill them in and remove it")
	}
	if b.bits > 0 {
		lowBits(data, b.stored, b.bits)
	}
	if b.otherSign {
		for at, size := int64(0), b.stored.Size(); at < int64(len(data)); at += size { // little-endian
			data[at+size-1] ^= 0x80
		}
	}
	if b.stored == element.Int8 {
		wide := grid.NewBuffer(2 * int64(len(data)))
		values := grid.Values[int16](wide)
		for i, v := range data {
			values[i] = int16(int8(v))
		}
		data = wide
	}
	typ, ranks := b.stored.Native(), b.in.Levels == 0 // ranks have no evenly spaced levels
	if b.scales != nil {
		if data, labels, err = element.Narrowed(element.AllCores(), b.scaleSlices(data), element.Float64, ranks,
			element.ExactFloat); err != nil {
			return nil, nil, err
		}
		typ = grid.Float32
	} else if b.stored.Narrowed() || b.ranked() {
		if data, labels, err = element.Narrow(element.AllCores(), data, b.stored, b.scaled, b.slope, b.inter,
			ranks); err != nil {
			return nil, nil, err
		}
		typ = grid.Float32
	} else if b.scaled {
		switch typ {
		case grid.Uint8:
			data = rescale[uint8](data, b.slope, b.inter)
		case grid.Int16:
			data = rescale[int16](data, b.slope, b.inter)
		case grid.Uint16:
			data = rescale[uint16](data, b.slope, b.inter)
		case grid.Float32:
			data = rescale[float32](data, b.slope, b.inter)
		}
		typ = grid.Float32
	}
	if b.fortran {
		switch typ {
		case grid.Uint8:
			data = transpose[uint8](data, b.shape)
		case grid.Int16:
			data = transpose[int16](data, b.shape)
		case grid.Uint16:
			data = transpose[uint16](data, b.shape)
		case grid.Float32:
			data = transpose[float32](data, b.shape)
		}
	}
	return data, labels, nil
}

// merges reports whether scaling may map several values to one float32.
func (b *fileBody) merges() bool {
	at := func(v float64) float32 { return float32(float64(v*b.slope) + b.inter) }
	lo, hi := 0.0, 255.0
	switch b.stored {
	case element.Uint8:
	case element.Int8:
		lo, hi = -128, 127
	case element.Int16:
		lo, hi = -1<<15, 1<<15-1
	case element.Uint16:
		hi = 1<<16 - 1
	default:
		return true
	}
	for v := lo; v < hi; v++ {
		if at(v) == at(v+1) {
			return true
		}
	}
	return false
}

// swapBytes reverses the bytes of each element in place.
func swapBytes(data []byte, size int64) {
	switch size {
	case 2:
		for i, v := range grid.Values[uint16](data) {
			binary.LittleEndian.PutUint16(data[2*i:], bits.ReverseBytes16(v))
		}
	case 4:
		for i := 0; i+4 <= len(data); i += 4 {
			binary.LittleEndian.PutUint32(data[i:], binary.BigEndian.Uint32(data[i:]))
		}
	case 8:
		for i := 0; i+8 <= len(data); i += 8 {
			binary.LittleEndian.PutUint64(data[i:], binary.BigEndian.Uint64(data[i:]))
		}
	}
}

// oneTruths replaces each nonzero byte by 1.
func oneTruths(data []byte) {
	const ones = 0x0101010101010101
	fix := func(part []byte) {
		for i, v := range part {
			part[i] = min(v, 1)
		}
	}
	for ; len(data) >= 8; data = data[8:] {
		if binary.LittleEndian.Uint64(data)&^ones != 0 {
			fix(data[:8])
		}
	}
	fix(data)
}

// hasBits reports whether one of the little-endian elements of a size has these bits.
func hasBits(data []byte, size int64, pattern uint64) bool {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], pattern)
	want := word[:size]
	for at := int64(0); at < int64(len(data)); at += size {
		if bytes.Equal(data[at:at+size], want) {
			return true
		}
	}
	return false
}

func rescale[T grid.Element](data []byte, slope, inter float64) []byte {
	src := grid.Values[T](data)
	out := grid.NewBuffer(4 * int64(len(src)))
	dst := grid.Values[float32](out)
	for i, v := range src {
		// The conversion keeps the compiler from fusing the two operations,
		// which would change bits between machines.
		dst[i] = float32(float64(float64(v)*slope) + inter)
	}
	return out
}

// transpose makes voxels row-major if the first axis is the fastest.
func transpose[T grid.Element](data []byte, s grid.Shape) []byte {
	if s.D == 1 {
		s = grid.Shape{D: s.H, H: 1, W: s.W}
	}
	src := grid.Values[T](data)
	out := grid.NewBuffer(int64(len(data)))
	dst := grid.Values[T](out)
	const tile = 64 // both sides of a tile stay in the cache
	for y := range s.H {
		for z0 := int64(0); z0 < s.D; z0 += tile {
			for x0 := int64(0); x0 < s.W; x0 += tile {
				for z := z0; z < min(z0+tile, s.D); z++ {
					row := dst[(z*s.H+y)*s.W:][:s.W]
					for x := x0; x < min(x0+tile, s.W); x++ {
						row[x] = src[(x*s.H+y)*s.D+z]
					}
				}
			}
		}
	}
	return out
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
