package raster

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	pixels "image" // the package has an image of its own
	"image/png"
	"io"

	"github.com/klauspost/compress/zlib"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

const pngMagic = "\x89PNG\r\n\x1a\n"

// openPng decodes a PNG image that is grey, or whose colours are all grey, and that is opaque. It
// scales fewer than 8 bits to 0…255 as the format requires: a 1-bit image has the values 0 and 255.
func openPng(in format.Input) (*format.Body, error) {
	if in.Stream {
		return nil, format.NotStreamed{Reason: "a PNG image is decoded whole"}
	}
	h, err := scanPng(in)
	if err != nil {
		return nil, err
	}
	b := &format.Body{Stored: element.Uint8, Big: true}
	if h.depth == 16 {
		b.Stored = element.Uint16
	}
	if b.Shape, err = format.ShapeOf([]int64{h.height, h.width}); err != nil {
		return nil, err
	}
	if err := h.checkData(); err != nil {
		return nil, err
	}
	if err := b.CheckMemory(in); err != nil {
		return nil, err
	}
	// image/png allocates the size in the header. scanPng and checkData have verified that the file
	// contains this amount of data.
	img, err := png.Decode(bufio.NewReader(io.NewSectionReader(in, 0, in.Size)))
	if err != nil {
		return nil, fmt.Errorf("decoding: %w; copy the file again", storage.Cause(err))
	}
	row := h.width * b.Stored.Size()
	b.Decoded = grid.NewBuffer(b.Bytes())
	for y := range h.height {
		dst := b.Decoded[y*row : (y+1)*row]
		var pix []byte
		samples, colours := int64(4), int64(3)
		switch m := img.(type) {
		case *pixels.Gray:
			pix, samples, colours = m.Pix[y*int64(m.Stride):], 1, 1
		case *pixels.Gray16:
			pix, samples, colours = m.Pix[y*int64(m.Stride):], 1, 1
		case *pixels.RGBA:
			pix = m.Pix[y*int64(m.Stride):]
		case *pixels.RGBA64:
			pix = m.Pix[y*int64(m.Stride):]
		case *pixels.NRGBA:
			pix = m.Pix[y*int64(m.Stride):]
		case *pixels.NRGBA64:
			pix = m.Pix[y*int64(m.Stride):]
		default:
			return nil, errors.New("decoding: not a grey image; save it as 8 or 16-bit greyscale")
		}
		if err := opaqueGrey(dst, pix[:row*samples], b.Stored.Size(), samples, colours); err != nil {
			return nil, fmt.Errorf("row %d: %w", y, err)
		}
	}
	return b, nil
}

// A pngHeader holds the properties of the pixels from the chunks of a PNG file.
type pngHeader struct {
	width, height int64
	depth         int64 // bits of a sample
	samples       int64 // of a pixel
	interlaced    bool
	data          []io.Reader // the IDAT chunks
	packed        int64       // the size of these chunks
}

// scanPng reads the chunks of a PNG file. It returns an error for a palette, and for data after the
// last chunk.
func scanPng(in format.Input) (*pngHeader, error) {
	head, err := in.Head(33)
	if err != nil {
		return nil, err
	}
	if len(head) < 33 || string(head[:8]) != pngMagic || string(head[8:16]) != "\x00\x00\x00\x0dIHDR" {
		return nil, errors.New("not a PNG file: it does not start with a PNG header; check the file")
	}
	h := &pngHeader{
		width:      int64(binary.BigEndian.Uint32(head[16:])),
		height:     int64(binary.BigEndian.Uint32(head[20:])),
		depth:      int64(head[24]),
		interlaced: head[28] != 0,
	}
	const advice = "save it as 8 or 16-bit greyscale"
	switch colour := head[25]; colour {
	case 0, 2, 4, 6:
		h.samples = []int64{1, 0, 3, 0, 2, 0, 4}[colour]
	case 3:
		return nil, errors.New("a PNG image with a palette; " + advice)
	default:
		return nil, fmt.Errorf("PNG colour type %d is unknown; %s", colour, advice)
	}
	switch h.depth {
	case 1, 2, 4, 8, 16:
	default:
		return nil, fmt.Errorf("PNG bit depth %d; want 1, 2, 4, 8 or 16", h.depth)
	}
	chunk := make([]byte, 8)
	for at := int64(33); ; {
		if n, err := in.ReadAt(chunk, at); n < len(chunk) {
			if err == io.EOF {
				return nil, errors.New("truncated: the file ends before the chunk IEND; copy the file again")
			}
			return nil, fmt.Errorf("reading the chunks: %w", storage.Cause(err))
		}
		length, kind := int64(binary.BigEndian.Uint32(chunk)), string(chunk[4:])
		body := at + 8
		at = body + length + 4 // a checksum follows each chunk
		if at > in.Size {
			return nil, fmt.Errorf("truncated: the chunk %q ends at byte %d of a file of %d; copy the file again",
				kind, at, in.Size)
		}
		switch kind {
		case "IDAT":
			h.data = append(h.data, io.NewSectionReader(in, body, length))
			h.packed += length
		case "IEND":
			if at < in.Size {
				return nil, fmt.Errorf("trailing data: %d bytes after the chunk IEND; cut them off", in.Size-at)
			}
			return h, nil
		default:
			if err := pngChunk(kind); err != nil {
				return nil, err
			}
		}
	}
}

// pngChunk returns an error for a chunk that changes the pixels and is not supported. Chunks that
// only affect the display, such as gAMA, do not change pixels. image/png reads tRNS.
func pngChunk(kind string) error {
	switch kind {
	case "acTL", "fcTL", "fdAT":
		return errors.New("an animated PNG image of several frames; save one frame, or all as a TIFF stack")
	case "pCAL":
		return errors.New("a PNG image whose pixels are calibrated (pCAL), which is not read; save it without")
	case "PLTE", "IHDR": // image/png checks their order
		return nil
	}
	if kind[0]&0x20 == 0 { // upper case
		return fmt.Errorf("the chunk %q, which must be understood, is unknown; save it as a plain PNG image", kind)
	}
	return nil
}

// checkData decompresses the pixels without storing them, and returns an error unless their number
// agrees with the header.
func (h *pngHeader) checkData() error {
	want := h.dataBytes()
	if err := format.CheckRatio(want, h.packed, storage.DeflateRatio); err != nil {
		return err
	}
	r, err := zlib.NewReader(bufio.NewReader(io.MultiReader(h.data...)))
	if err != nil {
		return fmt.Errorf("decompressing: %w; copy the file again", storage.Cause(err))
	}
	defer r.Close()
	switch n, err := io.CopyN(io.Discard, r, want); {
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("truncated: the compressed pixels end after %d of %d bytes; copy the file again", n, want)
	case err != nil:
		return fmt.Errorf("decompressing: %w; copy the file again", storage.Cause(err))
	}
	return nil
}

// dataBytes returns the size of the rows, each with its filter byte.
func (h *pngHeader) dataBytes() int64 {
	rows := func(w, h, depth int64) int64 {
		if w == 0 || h == 0 {
			return 0
		}
		return h * (1 + (w*depth+7)/8)
	}
	if !h.interlaced {
		return rows(h.width, h.height, h.depth*h.samples)
	}
	// Adam7: the offset and the step of each pass, x and y.
	passes := [7][4]int64{{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4}, {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}}
	var sum int64
	for _, p := range passes {
		w := (h.width - p[0] + p[1] - 1) / p[1]
		sum += rows(max(0, w), max(0, (h.height-p[2]+p[3]-1)/p[3]), h.depth*h.samples)
	}
	return sum
}
