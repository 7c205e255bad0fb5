package raster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// openTiff reads the planes of a TIFF 6.0 or BigTIFF file. Pages of one size and type are the
// slices of a volume. A description may declare channels, times or volumes instead (tiff_axes.go);
// then the options select one. A pixel has one sample, or is grey and opaque. Segments are strips
// or tiles, uncompressed or compressed by PackBits, LZW or deflate, with any predictor.
// doc/formats/tiff.md lists the effect of each tag.
func openTiff(in format.Input) (*format.Body, error) {
	if in.Stream {
		return nil, format.NotStreamed{Reason: "a TIFF stack is assembled from its strips"}
	}
	t := &tiffFile{in: in, directoryBytes: in.Size, segmentBytes: in.Size}
	pages, err := t.pages()
	if err != nil {
		return nil, err
	}
	l, err := t.arrange(pages)
	if err != nil {
		return nil, err
	}
	first := pages[0]
	b := &format.Body{Stored: first.stored, Scaled: l.scaled, Slope: l.slope, Inter: l.inter}
	planes, err := l.choose(b, in)
	if err != nil {
		return nil, err
	}
	if err := b.CheckMemory(in); err != nil {
		return nil, err
	}
	for _, i := range planes {
		p, z, part := t.plane(pages, l, i)
		if l.parts == 1 {
			b.Decoded, err = t.appendPlane(b.Decoded, p, z, b.Bytes())
		} else {
			var plane []byte
			if plane, err = t.appendPlane(nil, p, z, p.height*p.width*p.stored.Size()); err == nil {
				size := int64(len(plane)) / l.parts
				b.Decoded = append(b.Decoded, plane[part*size:][:size]...)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", p.index+1, err)
		}
	}
	if err := checkNoData(b.Decoded, b.Stored, first.noData); err != nil || l.order == nil {
		return b, err
	}
	return b, b.Permute(l.order)
}

// pages reads the directories of the images of full resolution.
func (t *tiffFile) pages() ([]*tiffPage, error) {
	next, err := t.header()
	if err != nil {
		return nil, err
	}
	var pages []*tiffPage
	n := int64(0)
	for ; next != 0; n++ {
		var p *tiffPage
		if p, next, err = t.page(next); err == nil && p != nil && len(pages) > 0 {
			err = p.checkPlane(pages[0])
		}
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", n+1, err)
		}
		if p != nil {
			p.index = n
			pages = append(pages, p)
		}
	}
	switch {
	case n == 0:
		return nil, errors.New("the TIFF file has no page; it contains no image")
	case len(pages) == 0:
		return nil, errors.New("all pages are reduced images of others; save the image of full resolution as a page")
	}
	return pages, nil
}

// A tiffFile reads the directories of a TIFF file.
type tiffFile struct {
	in    format.Input
	order binary.ByteOrder
	large bool // BigTIFF
	// The remaining bytes of the file for directories and for pixels. No part of a valid file is
	// used twice. Without these limits, a small file could cause very much work by many pointers to
	// one place.
	directoryBytes, segmentBytes int64
	tiles                        tileLayer
	tifffile                     bool       // tifffile wrote the file
	directories                  [][2]int64 // begin and end of directories and their lists
}

// A tiffPage is one image of the file, with one plane or several. Its pixels are in segments, which
// are strips or tiles.
type tiffPage struct {
	index                        int64 // in the file, including skipped pages
	width, height, depth         int64
	stored                       element.Type
	bilevel                      bool  // pixels are bits
	samples, colours             int64 // of a pixel: all, and all but alpha
	compression                  uint64
	predictor                    uint64
	reversed                     bool // the lowest bit of a byte is first
	tiled                        bool
	segmentW, segmentH, segmentD int64
	stripH                       int64 // rows of a padded strip
	offsets, counts              []uint64
	kind, number                 uint64 // tags 254 and 297
	description                  string
	vendor                       string // the vendor whose tags describe the pages further
	noData                       string // GDAL's tag
}

// header reads the first bytes and returns the offset of the first directory.
func (t *tiffFile) header() (int64, error) {
	h, err := t.in.Head(16)
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
			return 0, errors.New("a BigTIFF file whose offsets do not have 8 bytes; check the file")
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

// directory reads n bytes of a directory or of one of its lists.
func (t *tiffFile) directory(at, n int64) ([]byte, error) {
	switch {
	case at < 0 || at > t.in.Size || n > t.in.Size-at:
		return nil, fmt.Errorf("truncated: %d bytes at byte %d of a file of %d; copy the file again", n, at, t.in.Size)
	case n > t.directoryBytes:
		return nil, errors.New("the directories overlap or go round in a circle; the file is damaged")
	}
	t.directoryBytes -= n
	t.directories = append(t.directories, [2]int64{at, at + n})
	b := make([]byte, n)
	if _, err := t.in.ReadAt(b, at); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading a directory: %w", storage.Cause(err))
	}
	return b, nil
}

// The tags with an effect on the pixels.
const (
	tiffSubfileType     = 254
	tiffOldSubfileType  = 255
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
	tiffPageNumber      = 297
	tiffSoftware        = 305
	tiffPredictor       = 317
	tiffTileWidth       = 322
	tiffTileHeight      = 323
	tiffTileOffsets     = 324
	tiffTileByteCounts  = 325
	tiffSubDirectories  = 330
	tiffExtraSamples    = 338
	tiffSampleFormat    = 339
	tiffImageDepth      = 32997
	tiffTileDepth       = 32998
	tiffNoData          = 42113
)

// tiffLists are the tags with several numbers.
var tiffLists = []uint16{
	tiffBits, tiffStripOffsets, tiffStripByteCounts, tiffPageNumber, tiffTileOffsets, tiffTileByteCounts,
	tiffSubDirectories, tiffExtraSamples, tiffSampleFormat,
}

// tiffVendors are vendor-specific tags that describe pages.
var tiffVendors = map[uint16]string{
	33628: "MetaMorph", 33629: "MetaMorph", 33630: "MetaMorph", 33631: "MetaMorph",
	33560: "Olympus SIS", 34361: "Olympus FluoView", 34412: "Zeiss LSM", 43314: "NIH Image", 51123: "Micro-Manager",
}

// The predictors, in tag 317.
const (
	tiffNoPredictor    = 1
	tiffDifferences    = 2 // between neighbours in a row
	tiffBytesPredictor = 3 // between the bytes of floats, sorted by significance
)

// tiffTags holds the tags of a directory that affect its pixels.
type tiffTags struct {
	numbers map[uint16][]uint64
	texts   map[uint16]string
	vendor  string
}

// number returns the first value of a tag, or missing.
func (t tiffTags) number(tag uint16, missing uint64) uint64 {
	if v := t.numbers[tag]; len(v) > 0 {
		return v[0]
	}
	return missing
}

// tags reads the directory at an offset, and the offset of the next directory or 0. If a tag
// appears twice, the first one counts.
func (t *tiffFile) tags(at int64) (tags tiffTags, next int64, err error) {
	countSize, entrySize, offsetSize := int64(2), int64(12), int64(4)
	if t.large {
		countSize, entrySize, offsetSize = 8, 20, 8
	}
	head, err := t.directory(at, countSize)
	if err != nil {
		return tags, 0, err
	}
	n := uint64(t.order.Uint16(head))
	if t.large {
		n = t.order.Uint64(head)
	}
	if n > math.MaxUint16 {
		return tags, 0, fmt.Errorf("a directory of %d tags; the file is damaged", n)
	}
	body, err := t.directory(at+countSize, int64(n)*entrySize+offsetSize)
	if err != nil {
		return tags, 0, err
	}
	tags = tiffTags{map[uint16][]uint64{}, map[uint16]string{}, ""}
	for range n {
		if err := t.tag(&tags, t.order.Uint16(body), body[2:entrySize]); err != nil {
			return tags, 0, fmt.Errorf("tag %d: %w", t.order.Uint16(body), err)
		}
		body = body[entrySize:]
	}
	next, err = t.offset(body)
	return tags, next, err
}

// tag reads the entry of a tag. The entry begins with the type.
func (t *tiffFile) tag(tags *tiffTags, tag uint16, entry []byte) (err error) {
	switch tag {
	case tiffDescription, tiffSoftware, tiffNoData:
		if _, ok := tags.texts[tag]; !ok {
			tags.texts[tag], err = t.text(entry)
		}
	case tiffSubfileType, tiffOldSubfileType, tiffWidth, tiffHeight, tiffBits, tiffCompression, tiffPhotometric,
		tiffFillOrder, tiffStripOffsets, tiffSamples, tiffRowsPerStrip, tiffStripByteCounts, tiffPlanar,
		tiffPageNumber, tiffPredictor, tiffTileWidth, tiffTileHeight, tiffTileOffsets, tiffTileByteCounts,
		tiffSubDirectories, tiffExtraSamples, tiffSampleFormat, tiffImageDepth, tiffTileDepth:
		if _, ok := tags.numbers[tag]; ok {
			break
		}
		tags.numbers[tag], err = t.values(entry)
		if n := len(tags.numbers[tag]); n > 1 && !slices.Contains(tiffLists, tag) {
			return fmt.Errorf("%d values where one should be; the file is damaged", n)
		}
	default:
		if v := tiffVendors[tag]; v != "" {
			tags.vendor = v
		}
	}
	return err
}

// field reads the bytes of an entry's values with a given size each.
func (t *tiffFile) field(entry []byte, size uint64) ([]byte, error) {
	n, field := uint64(t.order.Uint32(entry[2:])), entry[6:]
	if t.large {
		n, field = t.order.Uint64(entry[2:]), entry[10:]
	}
	if n == 0 || n > uint64(t.in.Size) {
		return nil, fmt.Errorf("%d values in a file of %d bytes; the file is damaged", n, t.in.Size)
	}
	if n*size <= uint64(len(field)) {
		return field[:n*size], nil
	}
	at, err := t.offset(field)
	if err != nil {
		return nil, err
	}
	return t.directory(at, int64(n*size))
}

// text reads the text of a tag up to the first zero byte.
func (t *tiffFile) text(entry []byte) (string, error) {
	if kind := t.order.Uint16(entry); kind != 1 && kind != 2 && kind != 7 { // BYTE, ASCII, UNDEFINED
		return "", fmt.Errorf("type %d where a text should be; the file is damaged", kind)
	}
	text, err := t.field(entry, 1)
	before, _, _ := bytes.Cut(text, []byte{0})
	return string(before), err
}

// values reads the numbers of a tag. The entry begins with the type.
func (t *tiffFile) values(entry []byte) ([]uint64, error) {
	kind := t.order.Uint16(entry)
	size := map[uint16]uint64{1: 1, 3: 2, 4: 4, 13: 4, 16: 8, 18: 8}[kind] // BYTE, SHORT, LONG, IFD, LONG8, IFD8
	if size == 0 {
		return nil, fmt.Errorf("type %d where a whole number should be; the file is damaged", kind)
	}
	field, err := t.field(entry, size)
	if err != nil {
		return nil, err
	}
	v := make([]uint64, uint64(len(field))/size)
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

// page reads the directory at an offset, and returns the offset of the next. The page is nil for a
// copy of another image at lower resolution.
func (t *tiffFile) page(at int64) (*tiffPage, int64, error) {
	tags, next, err := t.tags(at)
	if err != nil {
		return nil, 0, err
	}
	p := &tiffPage{
		compression: tags.number(tiffCompression, 1), kind: tags.subfileType(), number: tags.number(tiffPageNumber, 0),
		description: tags.texts[tiffDescription], vendor: tags.vendor, noData: tags.texts[tiffNoData],
	}
	switch {
	case p.kind&tiffReduced != 0:
		return nil, next, nil
	case p.kind&^tiffPageOfSeveral != 0:
		return nil, 0, fmt.Errorf("subfile type %d, a mask or another image beside the first; save the image by itself",
			p.kind)
	}
	t.tifffile = t.tifffile || strings.HasPrefix(tags.texts[tiffSoftware], "tifffile") || isShaped(p.description)
	if err := p.pixels(tags, t.tifffile); err != nil {
		return nil, 0, err
	}
	if err := p.layout(tags); err != nil {
		return nil, 0, err
	}
	for _, at := range tags.numbers[tiffSubDirectories] {
		if err := t.checkSubDirectory(int64(at&math.MaxInt64), p); err != nil {
			return nil, 0, err
		}
	}
	return p, next, t.claim(p)
}

// The known subfile types.
const (
	tiffReduced       = 1
	tiffPageOfSeveral = 2
)

// subfileType returns tag 254, or the equivalent of the older tag 255.
func (t tiffTags) subfileType() uint64 {
	old := t.number(tiffOldSubfileType, 1)
	return t.number(tiffSubfileType, map[uint64]uint64{1: 0, 2: tiffReduced, 3: tiffPageOfSeveral}[old])
}

// checkSubDirectory returns an error for an image below a page unless it is the page at lower
// resolution.
func (t *tiffFile) checkSubDirectory(at int64, p *tiffPage) error {
	tags, _, err := t.tags(at)
	if err != nil {
		return fmt.Errorf("its subdirectory: %w", err)
	}
	w, h := tags.number(tiffWidth, 0), tags.number(tiffHeight, 0)
	smaller := w <= uint64(p.width) && h <= uint64(p.height) && (w < uint64(p.width) || h < uint64(p.height))
	if tags.subfileType()&tiffReduced == 0 && !smaller {
		return fmt.Errorf("an image of %dx%d in a subdirectory, which is not the page with less resolution; save one image "+
			"a file", w, h)
	}
	return nil
}

// pixels reads the type of pixels. In tifffile's masks True is 1, whatever colour the tag assigns
// to it.
func (p *tiffPage) pixels(tags tiffTags, tifffile bool) error {
	const grey = "save it as greyscale: integers of 8 to 64 bits, floats, or bits"
	bits, format := tags.number(tiffBits, 1), tags.number(tiffSampleFormat, 1)
	p.bilevel = bits == 1 && format == 1
	p.colours = 1
	switch n := tags.number(tiffPhotometric, 1); {
	case n == 1, n == 0 && p.bilevel && tifffile:
	case n == 2:
		p.colours = 3
	case n == 0:
		return errors.New("white is zero, which tools read in two ways; save it with black as zero")
	default:
		return fmt.Errorf("photometric interpretation %d is not grey; %s", n, grey)
	}
	switch n := tags.number(tiffFillOrder, 1); n {
	case 1, 2:
		p.reversed = n == 2
	default:
		return fmt.Errorf("fill order %d; save it with fill order 1", n)
	}
	if n := tags.number(tiffSamples, 1); n != uint64(p.colours) && n != uint64(p.colours)+1 {
		return fmt.Errorf("%d samples in each pixel; %s", n, grey)
	} else if p.samples = int64(n); n > 1 && tags.number(tiffPlanar, 1) != 1 {
		return fmt.Errorf("%d samples in planes of their own; %s", n, grey)
	}
	if alpha := tags.number(tiffExtraSamples, 0); p.samples > p.colours && alpha != 1 && alpha != 2 {
		return fmt.Errorf("%d samples in each pixel, and the last one is not declared as alpha; %s", p.samples, grey)
	}
	p.stored = tiffTypes[[2]uint64{bits, format}]
	switch p.predictor = tags.number(tiffPredictor, 1); {
	case p.stored == 0:
		return fmt.Errorf("%d bits of sample format %d; %s", bits, format, grey)
	case p.predictor < tiffNoPredictor || p.predictor > tiffBytesPredictor:
		return fmt.Errorf("predictor %d is not read; save it with predictor 1, 2 or 3", p.predictor)
	case p.predictor == tiffBytesPredictor && format != 3:
		return fmt.Errorf("predictor 3, which is for floats, of %v; save it with predictor 1 or 2", p.stored)
	case p.predictor != tiffNoPredictor && p.bilevel:
		return fmt.Errorf("predictor %d of bits; save it with predictor 1", p.predictor)
	}
	if p.samples > 1 {
		other := func(want uint64) func(uint64) bool { return func(n uint64) bool { return n != want } }
		if slices.ContainsFunc(tags.numbers[tiffBits], other(bits)) ||
			slices.ContainsFunc(tags.numbers[tiffSampleFormat], other(format)) {
			return fmt.Errorf("samples of several types in each pixel; %s", grey)
		}
		if p.bilevel || p.stored != element.Uint8 && p.stored != element.Uint16 {
			return fmt.Errorf("%d samples of %v in each pixel; %s", p.samples, p.stored, grey)
		}
	}
	return nil
}

// tiffTypes maps bits and sample format to the type.
var tiffTypes = map[[2]uint64]element.Type{
	{1, 1}: element.Uint8,
	{8, 1}: element.Uint8, {16, 1}: element.Uint16, {32, 1}: element.Uint32, {64, 1}: element.Uint64,
	{8, 2}: element.Int8, {16, 2}: element.Int16, {32, 2}: element.Int32, {64, 2}: element.Int64,
	{16, 3}: element.Float16, {32, 3}: element.Float32, {64, 3}: element.Float64,
}
