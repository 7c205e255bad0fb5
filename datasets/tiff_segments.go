package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/image/tiff/lzw"

	"eccbench/internal/grid"
)

// The compressions of TIFF segments that are read.
const (
	tiffPlain      = 1
	tiffLZW        = 5
	tiffDeflate    = 8
	tiffPackBits   = 32773
	tiffOldDeflate = 32946
)

// tiffRatio is a little more than the most that one byte of a compression can
// become, or 0 for a compression that is not read. A 12-bit LZW code stands for
// at most 3838 bytes.
func tiffRatio(compression uint64) int64 {
	switch compression {
	case tiffPlain:
		return 1
	case tiffLZW:
		return 2600
	case tiffDeflate, tiffOldDeflate:
		return deflateRatio
	case tiffPackBits:
		return 64
	}
	return 0
}

// layout reads where the segments of a page lie and how large they are.
func (p *tiffPage) layout(tags map[uint16][]uint64, number func(uint16, uint64) uint64) error {
	width, height := number(tiffWidth, 0), number(tiffHeight, 0)
	w, h := width, min(number(tiffRowsPerStrip, math.MaxUint32), height)
	p.offsets, p.counts = tags[tiffStripOffsets], tags[tiffStripByteCounts]
	if _, p.tiled = tags[tiffTileOffsets]; p.tiled {
		w, h = number(tiffTileWidth, 0), number(tiffTileHeight, 0)
		p.offsets, p.counts = tags[tiffTileOffsets], tags[tiffTileByteCounts]
	}
	const most = math.MaxInt32 // so that no product below overflows
	if width < 1 || height < 1 || w < 1 || h < 1 || width > most || height > most || w > most || h > most {
		return fmt.Errorf("%dx%d pixels in strips or tiles of %dx%d; the image is empty or its header is damaged", width, height, w, h)
	}
	p.width, p.height, p.segmentW, p.segmentH = int64(width), int64(height), int64(w), int64(h)
	want := grid.CeilDiv(p.width, p.segmentW) * grid.CeilDiv(p.height, p.segmentH)
	if int64(len(p.offsets)) != want || int64(len(p.counts)) != want {
		return fmt.Errorf("%d offsets and %d byte counts for %d strips or tiles; the file is damaged", len(p.offsets), len(p.counts), want)
	}
	if tiffRatio(p.compression) == 0 {
		return fmt.Errorf("compression %d is not none, LZW, deflate or PackBits; save it with one of them", p.compression)
	}
	return nil
}

// claim refuses segments that the file cannot hold.
func (t *tiffFile) claim(p *tiffPage) error {
	size := uint64(t.in.size)
	for i := range p.offsets {
		at, n := p.offsets[i], p.counts[i]
		if at > size || n > size-at {
			return fmt.Errorf("truncated: strip or tile %d has %d bytes at byte %d of a file of %d; copy the file again", i+1, n, at, size)
		}
		if int64(n) > t.segmentBytes {
			return errors.New("the strips or tiles overlap; the file is damaged")
		}
		t.segmentBytes -= int64(n)
		if err := checkRatio(p.segmentBytes(int64(i)), int64(n), tiffRatio(p.compression)); err != nil {
			return fmt.Errorf("strip or tile %d: %w", i+1, err)
		}
	}
	return nil
}

// like reports whether a page can be a slice beside the first one.
func (p *tiffPage) like(first *tiffPage) error {
	if p.width != first.width || p.height != first.height || p.stored != first.stored {
		return fmt.Errorf("%dx%d %v differs from page 1, which is %dx%d %v; save pages of one size and type", p.width, p.height, p.stored, first.width, first.height, first.stored)
	}
	return nil
}

// segmentRows is the number of rows of segment i that the file holds: the last
// strip may be short, a tile never is.
func (p *tiffPage) segmentRows(i int64) int64 {
	if p.tiled {
		return p.segmentH
	}
	return min(p.segmentH, p.height-i*p.segmentH)
}

func (p *tiffPage) segmentBytes(i int64) int64 {
	return p.segmentRows(i) * p.segmentW * p.samples * p.stored.size()
}

// appendPage decodes a page and appends its pixels to data, which grows to at
// most limit bytes.
func (t *tiffFile) appendPage(data []byte, p *tiffPage, limit int64) ([]byte, error) {
	across := grid.CeilDiv(p.width, p.segmentW)
	size := p.stored.size()
	band := make([][]byte, across)
	for y := int64(0); y < p.height; y += p.segmentH {
		for i := range band {
			k := y/p.segmentH*across + int64(i)
			var err error
			if band[i], err = t.segment(p, k); err != nil {
				return nil, fmt.Errorf("strip or tile %d: %w", k+1, err)
			}
		}
		for row := range min(p.segmentH, p.height-y) {
			at := int64(len(data))
			data = extend(data, p.width*size, limit)
			for i, s := range band {
				x := int64(i) * p.segmentW
				n := min(p.segmentW, p.width-x) // what follows in a tile is padding
				src := s[row*p.segmentW*p.samples*size:][:n*p.samples*size]
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
		return nil, fmt.Errorf("reading: %w", pathCause(err))
	}
	want := p.segmentBytes(i)
	data, err := expand(packed, p.compression, want)
	if err != nil {
		return nil, err
	}
	size := p.stored.size()
	if t.order == binary.BigEndian && p.predictor != tiffBytesPredictor {
		swapBytes(data, size)
	}
	if p.predictor == tiffNoPredictor {
		return data, nil
	}
	n := p.segmentW * p.samples * size
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

// expand decompresses n bytes. What follows them is ignored, as other readers
// do, because some writers fill up the last strip.
func expand(packed []byte, compression uint64, n int64) ([]byte, error) {
	var r io.Reader
	switch compression {
	case tiffPlain:
		if int64(len(packed)) < n {
			return nil, fmt.Errorf("truncated: %d of %d bytes; copy the file again", len(packed), n)
		}
		return packed[:n], nil
	case tiffPackBits:
		r = &packBits{src: packed}
	case tiffLZW:
		z := lzw.NewReader(bytes.NewReader(packed), lzw.MSB, 8)
		defer z.Close()
		return readExactly(z, n, int64(len(packed)))
	default:
		z, err := zlib.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, fmt.Errorf("decompressing: %w; copy the file again", err)
		}
		defer z.Close()
		data, err := readExactly(z, n, int64(len(packed)))
		if err != nil {
			return nil, err
		}
		return data, checkEnd(z, false)
	}
	return readExactly(r, n, int64(len(packed)))
}

// A packBits decompresses the run lengths of TIFF 6.0, section 9.
type packBits struct {
	src     []byte
	literal int  // bytes still to copy
	run     int  // times still to repeat
	value   byte // what to repeat
}

func (r *packBits) Read(dst []byte) (int, error) {
	n := 0
	for n < len(dst) {
		switch {
		case r.run > 0:
			k := min(r.run, len(dst)-n)
			for i := range dst[n : n+k] {
				dst[n+i] = r.value
			}
			r.run -= k
			n += k
		case r.literal > 0 && len(r.src) > 0:
			k := copy(dst[n:], r.src[:min(r.literal, len(r.src))])
			r.src = r.src[k:]
			r.literal -= k
			n += k
		case len(r.src) < 2 || r.literal > 0:
			return n, io.EOF
		default:
			c := int(int8(r.src[0]))
			r.src = r.src[1:]
			switch {
			case c >= 0:
				r.literal = c + 1
			case c != -128:
				r.run, r.value = 1-c, r.src[0]
				r.src = r.src[1:]
			}
		}
	}
	return n, nil
}

// integrate turns the differences along a row into values, of each sample by itself. The differences of
// floats are between their bit patterns, as libtiff has it.
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
	case 4: // and one sample alone
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

// gather makes little-endian floats of a row's bytes, which are differences along it: first the
// bytes with the sign of all its floats, whatever the file's order of bytes, and last those of the
// least weight (TIFF Technical Note 3). It changes those bytes.
func gather(row, planes []byte, size int64) {
	integrate(planes, 1, 1)
	n := int64(len(row)) / size
	for i := range n {
		for k := range size {
			row[i*size+size-1-k] = planes[k*n+i]
		}
	}
}
