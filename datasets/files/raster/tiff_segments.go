package raster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/image/tiff/lzw"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// The supported compressions of TIFF segments.
const (
	tiffPlain      = 1
	tiffLZW        = 5
	tiffDeflate    = 8
	tiffPackBits   = 32773
	tiffOldDeflate = 32946
)

// tiffRatios are slightly more than the largest expansion of one byte of each supported
// compression. A 12-bit LZW code represents at most 3838 bytes.
var tiffRatios = map[uint64]int64{
	tiffPlain: 1, tiffLZW: 2600, tiffDeflate: storage.DeflateRatio, tiffOldDeflate: storage.DeflateRatio, tiffPackBits: 64,
}

// layout reads the places and sizes of the segments of a page.
func (p *tiffPage) layout(tags tiffTags) error {
	width, height, depth := tags.number(tiffWidth, 0), tags.number(tiffHeight, 0), tags.number(tiffImageDepth, 1)
	rows := tags.number(tiffRowsPerStrip, math.MaxUint32)
	w, h, d := width, min(rows, height), uint64(1)
	p.offsets, p.counts = tags.numbers[tiffStripOffsets], tags.numbers[tiffStripByteCounts]
	tileOffsets, tileCounts := tags.numbers[tiffTileOffsets], tags.numbers[tiffTileByteCounts]
	if (p.offsets != nil || p.counts != nil) && (tileOffsets != nil || tileCounts != nil) {
		return errors.New("tags of strips beside tags of tiles; the header is damaged")
	}
	if _, p.tiled = tags.numbers[tiffTileOffsets]; p.tiled {
		w, h, d = tags.number(tiffTileWidth, 0), tags.number(tiffTileHeight, 0), tags.number(tiffTileDepth, 1)
		p.offsets, p.counts = tileOffsets, tileCounts
	} else if tags.number(tiffTileWidth, 0) > 0 || tags.number(tiffTileHeight, 0) > 0 {
		return errors.New("tiles without offsets; the header is damaged")
	}
	for _, n := range []uint64{width, height, depth, w, h, d} {
		if n < 1 || n > math.MaxInt32 {
			return fmt.Errorf("%dx%dx%d pixels in strips or tiles of %dx%dx%d; the image is empty or its header is damaged",
				width, height, depth, w, h, d)
		}
	}
	p.width, p.height, p.depth = int64(width), int64(height), int64(depth)
	p.segmentW, p.segmentH, p.segmentD = int64(w), int64(h), int64(d)
	p.stripH = int64(h)
	if !p.tiled && rows <= math.MaxInt32 {
		p.stripH = int64(rows)
	}
	// Prevents overflow of products.
	if float64(w)*float64(max(h, uint64(p.stripH)))*float64(d)*float64(p.samples*p.stored.Size()) > 1<<62 ||
		float64(width)*float64(height)*float64(depth) > 1<<59 {
		return errors.New("more pixels than can be counted; the header is damaged")
	}
	across, down := p.segments()
	layers := grid.CeilDiv(p.depth, p.segmentD)
	if n := int64(len(p.offsets)); n%layers != 0 || n/layers%down != 0 || n/layers/down != across ||
		len(p.counts) != len(p.offsets) {
		return fmt.Errorf("%d offsets and %d byte counts for %dx%dx%d strips or tiles; the file is damaged",
			n, len(p.counts), across, down, layers)
	}
	if tiffRatios[p.compression] == 0 {
		return fmt.Errorf("compression %d is not none, LZW, deflate or PackBits; save it with one of them", p.compression)
	}
	return nil
}

// segments returns the number of segments across and down.
func (p *tiffPage) segments() (across, down int64) {
	return grid.CeilDiv(p.width, p.segmentW), grid.CeilDiv(p.height, p.segmentH)
}

// headerBytes returns the number of bytes before anything else in the file.
func (t *tiffFile) headerBytes() uint64 {
	if t.large {
		return 16
	}
	return 8
}

// claim rejects segments within the header, or beyond the end of the file.
func (t *tiffFile) claim(p *tiffPage) error {
	size := uint64(t.in.Size)
	for i := range p.offsets {
		at, n := p.offsets[i], p.counts[i]
		if n == 0 {
			return fmt.Errorf("strip or tile %d is sparse: the file has no bytes for it; save the image with all of them", i+1)
		}
		if at < t.headerBytes() {
			return fmt.Errorf("strip or tile %d begins at byte %d, within the header; the file is damaged", i+1, at)
		}
		if at > size || n > size-at {
			return fmt.Errorf("truncated: strip or tile %d has %d bytes at byte %d of a file of %d; copy the file again",
				i+1, n, at, size)
		}
		if int64(n) > t.segmentBytes {
			return errors.New("the strips or tiles overlap; the file is damaged")
		}
		t.segmentBytes -= int64(n)
		if err := format.CheckRatio(p.packedBytes(int64(i)), int64(n), tiffRatios[p.compression]); err != nil {
			return fmt.Errorf("strip or tile %d: %w", i+1, err)
		}
	}
	return nil
}

// checkPlane returns an error if a page cannot be another plane of the first one's volume.
func (p *tiffPage) checkPlane(first *tiffPage) error {
	switch {
	case p.width != first.width || p.height != first.height || p.depth != first.depth || p.stored != first.stored ||
		p.bilevel != first.bilevel:
		return fmt.Errorf("%s differs from page %d, which is %s; save pages of one size and type",
			p.text(), first.index+1, first.text())
	case p.kind != first.kind:
		return fmt.Errorf("subfile type %d differs from that of page %d, which is %d; save pages of one kind",
			p.kind, first.index+1, first.kind)
	case p.noData != first.noData:
		return fmt.Errorf("its no-data value %.20q differs from that of page %d, %.20q; save pages of one kind",
			p.noData, first.index+1, first.noData)
	}
	return nil
}

// text describes a page's size and type.
func (p *tiffPage) text() string {
	size, stored := fmt.Sprintf("%dx%d", p.width, p.height), p.stored.String()
	if p.depth > 1 {
		size += fmt.Sprintf("x%d", p.depth)
	}
	if p.bilevel {
		stored = "bits"
	}
	return size + " " + stored
}

// segmentRows returns the number of rows of segment i in the file: the last strip may be short, a
// tile never is.
func (p *tiffPage) segmentRows(i int64) int64 {
	if p.tiled {
		return p.segmentD * p.segmentH
	}
	_, down := p.segments()
	return min(p.segmentH, p.height-i%down*p.segmentH)
}

// rowBytes returns the number of bytes of a segment's row, packed as in the file or unpacked.
func (p *tiffPage) rowBytes(packed bool) int64 {
	if packed && p.bilevel {
		return grid.CeilDiv(p.segmentW, 8)
	}
	return p.segmentW * p.samples * p.stored.Size()
}

func (p *tiffPage) packedBytes(i int64) int64 { return p.segmentRows(i) * p.rowBytes(true) }

// A tileLayer keeps the tiles of several planes, because each plane needs them.
type tileLayer struct {
	page  *tiffPage
	layer int64
	tiles map[int64][]byte
}

// tile decodes a segment, or returns a kept one for the next plane.
func (t *tiffFile) tile(p *tiffPage, k, layer int64) ([]byte, error) {
	if p.segmentD == 1 {
		return t.segment(p, k)
	}
	if t.tiles.page != p || t.tiles.layer != layer {
		t.tiles = tileLayer{p, layer, map[int64][]byte{}}
	}
	data, ok := t.tiles.tiles[k]
	if ok {
		return data, nil
	}
	data, err := t.segment(p, k)
	t.tiles.tiles[k] = data
	return data, err
}

// appendPlane decodes plane z of a page and appends its pixels to data, which grows to at most
// limit bytes.
func (t *tiffFile) appendPlane(data []byte, p *tiffPage, z, limit int64) ([]byte, error) {
	across, down := p.segments()
	size := p.stored.Size()
	layer, inTile := z/p.segmentD, z%p.segmentD*p.segmentH
	band := make([][]byte, across)
	for y := int64(0); y < p.height; y += p.segmentH {
		for i := range band {
			k := (layer*down+y/p.segmentH)*across + int64(i)
			var err error
			if band[i], err = t.tile(p, k, layer); err != nil {
				return nil, fmt.Errorf("strip or tile %d: %w", k+1, err)
			}
		}
		for row := range min(p.segmentH, p.height-y) {
			at := int64(len(data))
			data = storage.Extend(data, p.width*size, limit)
			for i, s := range band {
				x := int64(i) * p.segmentW
				n := min(p.segmentW, p.width-x) // the rest of a tile is padding
				src := s[(inTile+row)*p.rowBytes(false):][:n*p.samples*size]
				if err := opaqueGrey(data[at+x*size:], src, size, p.samples, p.colours); err != nil {
					return nil, fmt.Errorf("row %d from column %d: %w", y+row, x, err)
				}
			}
		}
	}
	return data, nil
}

// segment decodes a strip or tile to little-endian pixels.
func (t *tiffFile) segment(p *tiffPage, i int64) ([]byte, error) {
	packed := grid.NewBuffer(int64(p.counts[i]))
	if _, err := t.in.ReadAt(packed, int64(p.offsets[i])); err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading: %w", storage.Cause(err))
	}
	if p.reversed {
		for i, b := range packed {
			packed[i] = bits.Reverse8(b)
		}
	}
	want := p.packedBytes(i)
	full := want
	if _, down := p.segments(); !p.tiled && i%down == down-1 { // some writers pad the last strip
		full = p.stripH * p.rowBytes(true)
	}
	data, err := expand(packed, p.compression, want, full)
	if err != nil {
		return nil, err
	}
	if p.bilevel {
		return p.unpackBits(data), nil
	}
	size := p.stored.Size()
	if t.order == binary.BigEndian && p.predictor != tiffBytesPredictor {
		format.SwapBytes(data, size)
	}
	if p.predictor == tiffNoPredictor {
		return data, nil
	}
	n := p.rowBytes(false)
	var planes []byte
	if p.predictor == tiffBytesPredictor {
		planes = make([]byte, n)
	}
	for row := range p.segmentRows(i) {
		row := data[row*n : (row+1)*n]
		if p.predictor == tiffBytesPredictor {
			copy(planes, row)
			gather(row, planes, size)
		} else {
			integrate(row, size, int(p.samples))
		}
	}
	return data, nil
}

// unpackBits expands the bits of rows, which begin at a byte each, to bytes.
func (p *tiffPage) unpackBits(rows []byte) []byte {
	packed := p.rowBytes(true)
	data := grid.NewBuffer(int64(len(rows)) / packed * p.segmentW)
	for i := range data {
		x := int64(i) % p.segmentW
		data[i] = rows[int64(i)/p.segmentW*packed+x/8] >> (7 - x%8) & 1
	}
	return data
}

// expand decompresses the n bytes of a segment. The segment may have up to full bytes.
func expand(packed []byte, compression uint64, n, full int64) ([]byte, error) {
	have := int64(len(packed))
	rest := bytes.NewReader(packed)
	var r io.Reader
	switch compression {
	case tiffPlain:
		switch {
		case have < n:
			return nil, fmt.Errorf("truncated: %d of %d bytes; copy the file again", have, n)
		case have > n && have != full:
			return nil, fmt.Errorf("trailing data: %d bytes where its rows take %d; save the image again", have, n)
		}
		return packed[:n], nil
	case tiffPackBits:
		r = &format.PackBits{Src: rest}
	case tiffLZW:
		z := lzw.NewReader(rest, lzw.MSB, 8)
		defer z.Close()
		r = z
	default:
		z, err := zlib.NewReader(rest)
		if err != nil {
			return nil, fmt.Errorf("decompressing: %w; copy the file again", err)
		}
		defer z.Close()
		r = z
	}
	data, err := format.ReadExactly(r, n, have)
	if err != nil {
		return nil, err
	}
	more, err := io.CopyN(io.Discard, r, full-n+1)
	switch {
	case more > 0 && more != full-n:
		return nil, fmt.Errorf("trailing data: more bytes than the %d that its rows take; save the image again", n)
	case errors.Is(err, io.ErrUnexpectedEOF) && compression != tiffLZW: // some LZW writers omit the end mark
		return nil, errors.New("truncated: the compressed pixels have no checksum at their end; copy the file again")
	case err != nil && err != io.EOF && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("decompressing the voxels: %w; copy the file again", err)
	}
	for b, err := rest.ReadByte(); err == nil; b, err = rest.ReadByte() {
		if b != 0 {
			return nil, errors.New("trailing data: bytes follow the end of the compressed pixels; save the image again")
		}
	}
	return data, nil
}

// integrate converts the differences along a row to values, for each sample separately. The
// differences of floats are between their bit patterns, as in libtiff.
func integrate(row []byte, size int64, samples int) {
	switch size {
	case 1:
		for i := samples; i < len(row); i++ {
			row[i] += row[i-samples]
		}
	case 2:
		v := grid.Values[uint16](row)
		for i := samples; i < len(v); i++ {
			v[i] += v[i-samples]
		}
	case 4: // and a single sample
		for i := 4; i+4 <= len(row); i += 4 {
			v := binary.LittleEndian.Uint32(row[i:]) + binary.LittleEndian.Uint32(row[i-4:])
			binary.LittleEndian.PutUint32(row[i:], v)
		}
	case 8:
		v := grid.Values[uint64](row)
		for i := 1; i < len(v); i++ {
			v[i] += v[i-1]
		}
	}
}

// gather assembles little-endian floats from a row's bytes, which are differences along it. In
// every byte order, the bytes with the signs of all floats come first, and the least significant
// ones last (TIFF Technical Note 3). It modifies the input.
func gather(row, planes []byte, size int64) {
	integrate(planes, 1, 1)
	n := int64(len(row)) / size
	for i := range n {
		for k := range size {
			row[i*size+size-1-k] = planes[k*n+i]
		}
	}
}
