package dicom

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"eccbench/datasets/files/format"
	"eccbench/datasets/storage"
)

// dicomRLEUID is the transfer syntax RLE Lossless (PS3.5, annex G). A frame has the most
// significant bytes of all pixels, then the next lower ones, each compressed by PackBits.
const dicomRLEUID = "1.2.840.10008.1.2.5"

const (
	rleHeader = 64 // bytes: the number of segments, and the offset of each
	// rleRatio is slightly more than the largest expansion of one byte.
	rleRatio = 64
)

// A dicomFragment is a range of bytes of a file.
type dicomFragment struct{ at, length int64 }

// encapsulated reads the items with compressed pixels from an offset on: a table, which may be
// empty, and fragments. It returns the offset after them.
func (d *dicomFile) encapsulated(at int64) (int64, error) {
	for n := 0; ; n++ {
		e, err := d.element(at)
		if err != nil {
			return 0, err
		}
		switch {
		case e.tag == dicomSequenceEnd:
			return e.data, nil
		case e.tag != dicomItem:
			return 0, fmt.Errorf("element %08x among the fragments of the pixels; the file is damaged", e.tag)
		case e.length > d.in.Size-e.data:
			return 0, fmt.Errorf("truncated: a fragment of %d bytes at byte %d of a file of %d; copy the file again",
				e.length, e.data, d.in.Size)
		case n > 0:
			d.fragments = append(d.fragments, dicomFragment{e.data, e.length})
		}
		at = e.data + e.length
	}
}

// checkFragments compares the number of fragments with the number of frames.
func (d *dicomFile) checkFragments(frames int64) error {
	if n := int64(len(d.fragments)); n != frames {
		return fmt.Errorf("%d fragments for %d frames; want one for each frame; %s", n, frames, dicomConvertWords)
	}
	return nil
}

// An rleReader reads frames, little-endian, one after the other.
type rleReader struct {
	in     io.ReaderAt
	left   []dicomFragment // the next ones
	pixels int64           // of a frame
	size   int64           // of a pixel, in bytes
	frame  []byte          // the unread rest of the previous frame
}

func (r *rleReader) Read(dst []byte) (int, error) {
	if len(r.frame) == 0 {
		if len(r.left) == 0 {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(dst, r.frame)
	r.frame = r.frame[n:]
	return n, nil
}

// next decodes a frame.
func (r *rleReader) next() error {
	f := r.left[0]
	r.left = r.left[1:]
	if err := format.CheckRatio(r.pixels*r.size, f.length, rleRatio); err != nil {
		return err
	}
	packed := make([]byte, f.length)
	if _, err := r.in.ReadAt(packed, f.at); err != nil {
		return fmt.Errorf("reading a frame: %w", storage.Cause(err))
	}
	if len(packed) < rleHeader || int64(binary.LittleEndian.Uint32(packed)) != r.size {
		return fmt.Errorf("a frame of RLE has not one segment for each of the %d bytes of a pixel; the file is damaged",
			r.size)
	}
	r.frame = make([]byte, r.pixels*r.size)
	for s := range r.size {
		from, to := int64(binary.LittleEndian.Uint32(packed[4+4*s:])), int64(len(packed))
		if s+1 < r.size {
			to = int64(binary.LittleEndian.Uint32(packed[8+4*s:]))
		}
		if from < rleHeader || to < from || to > int64(len(packed)) {
			return errors.New("the segments of a frame of RLE lie beyond it; the file is damaged")
		}
		plane, err := format.ReadExactly(&format.PackBits{Src: bytes.NewReader(packed[from:to])}, r.pixels, to-from)
		if err != nil {
			return err
		}
		for i, v := range plane { // the most significant bytes come first
			r.frame[int64(i)*r.size+r.size-1-s] = v
		}
	}
	return nil
}
