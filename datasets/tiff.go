package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// openTiff reads a stack of pages of one size and type (TIFF 6.0, or BigTIFF):
// one page is a 2D image, several are the slices of a 3D one. It takes one
// sample per pixel, an integer of 8 to 64 bits or a float of 16 to 64, or colours of 8 or 16
// bits that are all grey, with alpha only where it is opaque, in strips or tiles, uncompressed
// or PackBits, LZW or deflate, with or without horizontal differences, of floats also by bytes.
// White-is-zero images are refused, because tools differ on whether their values are to be
// inverted. The orientation is ignored.
func openTiff(in fileInput) (*fileBody, error) {
	if in.Stream {
		return nil, notStreamed{"a TIFF stack is assembled from its strips"}
	}
	t := &tiffFile{in: in, directoryBytes: in.size, segmentBytes: in.size}
	next, err := t.header()
	if err != nil {
		return nil, err
	}
	var pages []*tiffPage
	for next != 0 {
		var p *tiffPage
		if p, next, err = t.page(next); err == nil && len(pages) > 0 {
			err = p.like(pages[0])
		}
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", len(pages)+1, err)
		}
		pages = append(pages, p)
	}
	if len(pages) == 0 {
		return nil, errors.New("the TIFF file has no page; it holds no image")
	}
	if n := pages[0].images; n > 1 && n != int64(len(pages)) {
		return nil, fmt.Errorf("ImageJ says %d slices but the file has %d pages; save it from ImageJ again, as a plain stack", n, len(pages))
	}
	b := &fileBody{stored: pages[0].stored}
	if b.shape, err = fileShape([]int64{int64(len(pages)), pages[0].height, pages[0].width}); err != nil {
		return nil, err
	}
	if err := b.room(in); err != nil {
		return nil, err
	}
	for i, p := range pages {
		if b.decoded, err = t.appendPage(b.decoded, p, b.bytes()); err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
	}
	return b, nil
}

// A tiffFile reads the directories of a TIFF file.
type tiffFile struct {
	in    fileInput
	order binary.ByteOrder
	large bool // BigTIFF
	// What is left of the file's size for directories and for pixels. No part
	// of an honest file serves twice, and without these limits a small file
	// could ask for a great deal of work by pointing many times to one place.
	directoryBytes, segmentBytes int64
}

// A tiffPage is one image of the file. Its pixels lie in segments, which are
// strips or tiles.
type tiffPage struct {
	width, height      int64
	stored             storedType
	samples, colours   int64 // of a pixel, and how many of them are no alpha
	compression        uint64
	predictor          uint64
	tiled              bool
	segmentW, segmentH int64
	offsets, counts    []uint64
	images             int64 // as ImageJ wrote, or 0
}

// header reads the first bytes, and returns the offset of the first directory.
func (t *tiffFile) header() (int64, error) {
	h, err := t.in.head(16)
	if err != nil {
		return 0, err
	}
	if len(h) < 16 {
		return 0, errors.New("truncated: the file is shorter than a TIFF header; copy the file again")
	}
	switch string(h[:2]) {
	case "II":
		t.order = binary.LittleEndian
	case "MM":
		t.order = binary.BigEndian
	default:
		return 0, errors.New("not a TIFF file: it does not start with II or MM; check the file")
	}
	switch version := t.order.Uint16(h[2:]); version {
	case 42:
		return int64(t.order.Uint32(h[4:])), nil
	case 43:
		t.large = true
		if t.order.Uint16(h[4:]) != 8 || t.order.Uint16(h[6:]) != 0 {
			return 0, errors.New("a BigTIFF file whose offsets are not of 8 bytes; check the file")
		}
		return t.offset(h[8:])
	default:
		return 0, fmt.Errorf("not a TIFF file: its version is %d where 42 or 43 should be; check the file", version)
	}
}

func (t *tiffFile) offset(b []byte) (int64, error) {
	v := uint64(t.order.Uint32(b))
	if t.large {
		v = t.order.Uint64(b)
	}
	if v > math.MaxInt64 {
		return 0, fmt.Errorf("offset %d is beyond the end of the file; copy the file again", v)
	}
	return int64(v), nil
}

// directory reads n bytes of a directory or of a list that it points to.
func (t *tiffFile) directory(at, n int64) ([]byte, error) {
	switch {
	case at < 0 || at > t.in.size || n > t.in.size-at:
		return nil, fmt.Errorf("truncated: %d bytes at byte %d of a file of %d; copy the file again", n, at, t.in.size)
	case n > t.directoryBytes:
		return nil, errors.New("the directories overlap or go round in a circle; the file is damaged")
	}
	t.directoryBytes -= n
	b := make([]byte, n)
	if _, err := t.in.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading a directory: %w", pathCause(err))
	}
	return b, nil
}

// The tags that bear on the pixels.
const (
	tiffWidth           = 256
	tiffHeight          = 257
	tiffBits            = 258
	tiffCompression     = 259
	tiffPhotometric     = 262
	tiffFillOrder       = 266
	tiffDescription     = 270
	tiffStripOffsets    = 273
	tiffSamples         = 277
	tiffRowsPerStrip    = 278
	tiffStripByteCounts = 279
	tiffPlanar          = 284
	tiffPredictor       = 317
	tiffTileWidth       = 322
	tiffTileHeight      = 323
	tiffTileOffsets     = 324
	tiffTileByteCounts  = 325
	tiffSampleFormat    = 339
)

// What pixels are stored as, beside themselves: tag 317 says it.
const (
	tiffNoPredictor    = 1
	tiffDifferences    = 2 // between neighbours in a row
	tiffBytesPredictor = 3 // between the bytes of floats, by their weight
)

// tags reads the directory at an offset: the values of the tags above, and the
// offset of the next directory or 0.
func (t *tiffFile) tags(at int64) (map[uint16][]uint64, int64, error) {
	countSize, entrySize, offsetSize := int64(2), int64(12), int64(4)
	if t.large {
		countSize, entrySize, offsetSize = 8, 20, 8
	}
	head, err := t.directory(at, countSize)
	if err != nil {
		return nil, 0, err
	}
	n := uint64(t.order.Uint16(head))
	if t.large {
		n = t.order.Uint64(head)
	}
	if n > math.MaxUint16 {
		return nil, 0, fmt.Errorf("a directory of %d tags; the file is damaged", n)
	}
	body, err := t.directory(at+countSize, int64(n)*entrySize+offsetSize)
	if err != nil {
		return nil, 0, err
	}
	tags := map[uint16][]uint64{}
	for range n {
		tag := t.order.Uint16(body)
		switch tag {
		case tiffWidth, tiffHeight, tiffBits, tiffCompression, tiffPhotometric, tiffFillOrder, tiffDescription,
			tiffStripOffsets, tiffSamples, tiffRowsPerStrip, tiffStripByteCounts, tiffPlanar, tiffPredictor,
			tiffTileWidth, tiffTileHeight, tiffTileOffsets, tiffTileByteCounts, tiffSampleFormat:
			if tags[tag], err = t.values(body[2:entrySize]); err != nil {
				return nil, 0, fmt.Errorf("tag %d: %w", tag, err)
			}
		}
		body = body[entrySize:]
	}
	next, err := t.offset(body)
	return tags, next, err
}

// values reads the numbers of a tag, whose entry is given from its type on.
func (t *tiffFile) values(entry []byte) ([]uint64, error) {
	var size uint64
	kind := t.order.Uint16(entry)
	switch kind {
	case 1, 2: // BYTE, ASCII
		size = 1
	case 3: // SHORT
		size = 2
	case 4: // LONG
		size = 4
	case 16: // LONG8
		size = 8
	default:
		return nil, fmt.Errorf("type %d where a whole number should be; the file is damaged", kind)
	}
	n, field := uint64(t.order.Uint32(entry[2:])), entry[6:]
	if t.large {
		n, field = t.order.Uint64(entry[2:]), entry[10:]
	}
	if n == 0 || n > uint64(t.in.size) {
		return nil, fmt.Errorf("%d values in a file of %d bytes; the file is damaged", n, t.in.size)
	}
	if n*size > uint64(len(field)) {
		at, err := t.offset(field)
		if err != nil {
			return nil, err
		}
		if field, err = t.directory(at, int64(n*size)); err != nil {
			return nil, err
		}
	}
	v := make([]uint64, n)
	for i := range v {
		switch size {
		case 1:
			v[i] = uint64(field[i])
		case 2:
			v[i] = uint64(t.order.Uint16(field[2*i:]))
		case 4:
			v[i] = uint64(t.order.Uint32(field[4*i:]))
		case 8:
			v[i] = t.order.Uint64(field[8*i:])
		}
	}
	return v, nil
}

// page reads the directory at an offset, and returns the offset of the next.
func (t *tiffFile) page(at int64) (*tiffPage, int64, error) {
	tags, next, err := t.tags(at)
	if err != nil {
		return nil, 0, err
	}
	number := func(tag uint16, missing uint64) uint64 {
		if v := tags[tag]; len(v) > 0 {
			return v[0]
		}
		return missing
	}
	const grey = "save it as greyscale: integers of 8 to 64 bits, or floats"
	p := &tiffPage{compression: number(tiffCompression, 1), images: imagejImages(tags[tiffDescription]), colours: 1}
	switch n := number(tiffPhotometric, 1); n {
	case 1:
	case 2:
		p.colours = 3
	case 0:
		return nil, 0, errors.New("white is zero, which tools read in two ways; save it with black as zero")
	default:
		return nil, 0, fmt.Errorf("photometric interpretation %d is not grey; %s", n, grey)
	}
	if n := number(tiffFillOrder, 1); n != 1 {
		return nil, 0, fmt.Errorf("fill order %d; save it with fill order 1", n)
	}
	if n := number(tiffSamples, 1); n != uint64(p.colours) && n != uint64(p.colours)+1 {
		return nil, 0, fmt.Errorf("%d samples in each pixel; %s", n, grey)
	} else if p.samples = int64(n); n > 1 && number(tiffPlanar, 1) != 1 {
		return nil, 0, fmt.Errorf("%d samples in planes of their own; %s", n, grey)
	}
	if p.predictor = number(tiffPredictor, 1); p.predictor < tiffNoPredictor || p.predictor > tiffBytesPredictor {
		return nil, 0, fmt.Errorf("predictor %d is not read; save it with predictor 1, 2 or 3", p.predictor)
	}
	bits, format := number(tiffBits, 1), number(tiffSampleFormat, 1)
	if p.stored = tiffTypes[[2]uint64{bits, format}]; p.stored == 0 {
		return nil, 0, fmt.Errorf("%d bits of sample format %d; %s", bits, format, grey)
	}
	if p.predictor == tiffBytesPredictor && format != 3 {
		return nil, 0, fmt.Errorf("predictor 3, which is for floats, of %v; save it with predictor 1 or 2", p.stored)
	}
	if p.samples > 1 {
		other := func(want uint64) func(uint64) bool { return func(n uint64) bool { return n != want } }
		if slices.ContainsFunc(tags[tiffBits], other(bits)) || slices.ContainsFunc(tags[tiffSampleFormat], other(format)) {
			return nil, 0, fmt.Errorf("samples of several types in each pixel; %s", grey)
		}
		if p.stored != storedUint8 && p.stored != storedUint16 {
			return nil, 0, fmt.Errorf("%d samples of %v in each pixel; %s", p.samples, p.stored, grey)
		}
	}
	if err := p.layout(tags, number); err != nil {
		return nil, 0, err
	}
	return p, next, t.claim(p)
}

// tiffTypes are the types by their bits and sample format.
var tiffTypes = map[[2]uint64]storedType{
	{8, 1}: storedUint8, {16, 1}: storedUint16, {32, 1}: storedUint32, {64, 1}: storedUint64,
	{8, 2}: storedInt8, {16, 2}: storedInt16, {32, 2}: storedInt32, {64, 2}: storedInt64,
	{16, 3}: storedFloat16, {32, 3}: storedFloat32, {64, 3}: storedFloat64,
}

// imagejImages is the number of slices that ImageJ's description says, or 0.
// ImageJ writes stacks beyond 4 GiB with a directory for the first slice alone.
func imagejImages(description []uint64) int64 {
	text := make([]byte, len(description))
	for i, c := range description {
		text[i] = byte(c)
	}
	if !strings.HasPrefix(string(text), "ImageJ=") {
		return 0
	}
	var n int64
	_, rest, _ := strings.Cut(string(text), "\nimages=")
	for _, c := range []byte(rest) {
		if c < '0' || c > '9' || n > math.MaxInt32 {
			break
		}
		n = 10*n + int64(c-'0')
	}
	return n
}
