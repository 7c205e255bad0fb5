package raster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

const bmpMagic, bmpFileHeader = "BM", 14

// matchesBmp reports whether a file begins with the two magic bytes and has a known header size.
func matchesBmp(head []byte) bool {
	return len(head) >= bmpFileHeader+4 && string(head[:2]) == bmpMagic &&
		bmpHeaders[binary.LittleEndian.Uint32(head[bmpFileHeader:])]
}

// bmpHeaders are the sizes of the headers of OS/2 1, Windows 3, and the later ones.
var bmpHeaders = map[uint32]bool{12: true, 40: true, 52: true, 56: true, 64: true, 108: true, 124: true}

// openBmp reads an uncompressed BMP image: of 1, 4 or 8 bits with a palette of grey entries, or of
// 24 or 32 bits with only grey and opaque colours. Pixels have the palette's values.
func openBmp(in format.Input) (*format.Body, error) {
	if in.Stream {
		return nil, format.NotStreamed{Reason: "a BMP image is decoded whole"}
	}
	h, err := scanBmp(in)
	if err != nil {
		return nil, err
	}
	b := &format.Body{Stored: element.Uint8}
	if b.Shape, err = format.ShapeOf([]int64{h.height, h.width}); err != nil {
		return nil, err
	}
	if err := b.CheckMemory(in); err != nil {
		return nil, err
	}
	row := grid.NewBuffer(h.rowBytes())
	b.Decoded = grid.NewBuffer(b.Bytes())
	for y := range h.height {
		at := y
		if !h.topDown {
			at = h.height - 1 - y
		}
		if err := storage.ReadAt(in.ReaderAt, row, h.offset+at*int64(len(row))); err != nil {
			return nil, fmt.Errorf("reading the pixels: %w", storage.Cause(err))
		}
		if err := h.decode(b.Decoded[y*h.width:(y+1)*h.width], row); err != nil {
			return nil, fmt.Errorf("row %d: %w", y, err)
		}
	}
	return b, nil
}

// A bmpHeader is the description of the pixels in the headers of a BMP file.
type bmpHeader struct {
	width, height int64
	topDown       bool
	bits          int64
	alpha         bool   // the fourth byte of 32 bits is alpha, not padding
	palette       []byte // blue, green and red of each colour, and in most headers padding
	entry         int64  // bytes of a colour
	offset        int64  // of the pixels
}

// rowBytes returns the number of bytes of a row, padded to a multiple of four.
func (h *bmpHeader) rowBytes() int64 { return (h.width*h.bits + 31) / 32 * 4 }

// scanBmp reads the headers and the palette, and compares them with the size of the file.
func scanBmp(in format.Input) (*bmpHeader, error) {
	head, err := in.Head(bmpFileHeader + 124)
	if err != nil {
		return nil, err
	}
	if !matchesBmp(head) {
		return nil, errors.New("not a BMP file: it does not start with a BMP header; check the file")
	}
	le := binary.LittleEndian
	size := int64(le.Uint32(head[bmpFileHeader:]))
	if bmpFileHeader+size > int64(len(head)) {
		return nil, errors.New("truncated: the file is shorter than its header; copy the file again")
	}
	h := &bmpHeader{offset: int64(le.Uint32(head[10:])), entry: 4}
	info, compression := head[bmpFileHeader:], uint32(0)
	var colours, masks, stored int64
	if size == 12 {
		h.width, h.height, h.entry = int64(le.Uint16(info[4:])), int64(le.Uint16(info[6:])), 3
		h.bits = int64(le.Uint16(info[10:]))
	} else {
		h.width, h.height = int64(int32(le.Uint32(info[4:]))), int64(int32(le.Uint32(info[8:])))
		h.bits, compression = int64(le.Uint16(info[14:])), le.Uint32(info[16:])
		stored, colours = int64(le.Uint32(info[20:])), int64(le.Uint32(info[32:]))
		if compression == 3 && size == 40 {
			masks = 12 // after the header
		}
	}
	if h.height < 0 {
		h.height, h.topDown = -h.height, true
	}
	if h.width < 1 || h.height < 1 || h.height > math.MaxInt32 {
		return nil, fmt.Errorf("%dx%d pixels; the image is empty or its header is damaged", h.width, h.height)
	}
	switch {
	case compression == 3 && h.bits == 32:
		if err := h.masks(in, size); err != nil {
			return nil, err
		}
	case compression != 0:
		return nil, fmt.Errorf("a BMP image of compression %d (%d bits); save it uncompressed, of 8 bits",
			compression, h.bits)
	}
	switch h.bits {
	case 1, 4, 8:
		if err := h.readPalette(in, bmpFileHeader+size, colours); err != nil {
			return nil, err
		}
	case 24, 32:
	default:
		return nil, fmt.Errorf("a BMP image of %d bits; save it as greyscale of 8 bits", h.bits)
	}
	if h.offset < bmpFileHeader+size+masks+int64(len(h.palette)) {
		return nil, fmt.Errorf("the header places the pixels at byte %d, within itself; the file is damaged", h.offset)
	}
	return h, h.checkSize(in.Size, stored)
}

// masks reads the positions of red, green, blue and alpha in 32 bits. They must be one byte each:
// from the third to the first, and alpha, if any, in the fourth.
func (h *bmpHeader) masks(in format.Input, size int64) error {
	masks := make([]byte, 16)
	if err := storage.ReadAt(in.ReaderAt, masks, bmpFileHeader+40); err != nil {
		return errors.New("truncated: the file ends within its header; copy the file again")
	}
	le := binary.LittleEndian
	alpha := le.Uint32(masks[12:])
	if size < 56 {
		alpha = 0
	}
	if le.Uint32(masks) != 0xff0000 || le.Uint32(masks[4:]) != 0xff00 || le.Uint32(masks[8:]) != 0xff ||
		alpha != 0 && alpha != 0xff000000 {
		return errors.New("a BMP image whose colours are not a byte each; save it as greyscale of 8 bits")
	}
	h.alpha = alpha != 0
	return nil
}

// readPalette reads the entries of a palette at an offset; 0 colours means all.
func (h *bmpHeader) readPalette(in format.Input, at, colours int64) error {
	if colours == 0 {
		colours = 1 << h.bits
	}
	if colours > 1<<h.bits {
		return fmt.Errorf("a palette of %d colours for %d bits; the header is damaged", colours, h.bits)
	}
	if h.entry == 3 { // OS/2: the palette may end early, at the start of the pixels
		colours = min(colours, max(0, h.offset-at)/h.entry)
	}
	text := make([]byte, colours*h.entry)
	if err := storage.ReadAt(in.ReaderAt, text, at); err != nil {
		if err == io.EOF {
			return errors.New("truncated: the file ends within its palette; copy the file again")
		}
		return fmt.Errorf("reading the palette: %w", storage.Cause(err))
	}
	h.palette = text
	return nil
}

// checkSize compares the size of the file with that of the pixels. Some writers pad the pixels to
// four bytes and count the padding.
func (h *bmpHeader) checkSize(size, stored int64) error {
	if h.rowBytes() > size {
		return fmt.Errorf("truncated: rows of %d bytes in a file of %d; copy the file again", h.rowBytes(), size)
	}
	want := h.rowBytes() * h.height
	if stored > want && stored < want+4 {
		want = stored
	}
	switch have := size - h.offset; {
	case have < want:
		return fmt.Errorf("truncated: %d bytes of pixels where the header states %d; copy the file again", max(0, have), want)
	case have > want:
		return fmt.Errorf("trailing data: %d bytes after the pixels; cut them off", have-want)
	}
	return nil
}

// decode writes the greys of a row.
func (h *bmpHeader) decode(dst, row []byte) error {
	switch h.bits {
	case 24:
		return opaqueGrey(dst, row[:3*h.width], 1, 3, 3)
	case 32:
		if !h.alpha {
			for i := int64(3); i < 4*h.width; i += 4 {
				row[i] = 0xff
			}
		}
		return opaqueGrey(dst, row[:4*h.width], 1, 4, 3)
	}
	each := 8 / h.bits
	for i := range h.width {
		shift := 8 - h.bits*(i%each+1)
		k := int64(row[i/each]>>shift) & (1<<h.bits - 1) * h.entry
		if k+h.entry > int64(len(h.palette)) {
			return fmt.Errorf("pixel %d has colour %d, which the palette lacks; the file is damaged", i, k/h.entry)
		}
		c := h.palette[k:]
		if c[0] != c[1] || c[0] != c[2] {
			return notGrey{i, true}
		}
		dst[i] = c[0]
	}
	return nil
}
