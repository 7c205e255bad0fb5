package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
)

// PassHead is the number of bytes kept from the beginning of a file for its header, while the file
// is decompressed in order.
const PassHead = 64 << 10

// Pass describes an image in packed compressed bytes. The voxels follow its header and are read
// once, in order. For other images the error is why. Other errors of the file appear when it is
// read whole.
func (in Input) Pass(open func() (io.Reader, error), packed, ratio int64, why string,
	describe func(Input) (*Body, error)) (*Body, error) {
	if !in.Once {
		return nil, NotStreamed{why}
	}
	r, err := open()
	if err != nil {
		return nil, NotStreamed{why}
	}
	head := make([]byte, PassHead)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, NotStreamed{why}
	}
	inner := in
	inner.ReaderAt, inner.Size, inner.Unsized = bytes.NewReader(head[:n]), math.MaxInt64, true
	b, err := describe(inner)
	if err != nil || b.In.ReaderAt != nil && b.In.ReaderAt != inner.ReaderAt || b.Inflate != nil || b.Decoded != nil ||
		b.AtEnd {
		return nil, NotStreamed{why}
	}
	b.In, b.Inflate, b.Packed, b.Ratio = in, io.MultiReader(bytes.NewReader(head[:n]), r), packed, ratio
	return b, nil
}

// NoRoom is the error of data that need more memory than is free.
type NoRoom struct{ have, free int64 }

func (e NoRoom) Error() string {
	return fmt.Sprintf("decompressing: more than %s, where %s of memory are free; save the image uncompressed",
		quantity.Bytes(e.have), quantity.Bytes(e.free))
}

// ReadAll reads to the end of packed compressed bytes. most limits the result; 0 means no limit.
func ReadAll(r io.Reader, packed, most int64) ([]byte, error) {
	data := grid.NewBuffer(max(64<<10, 2*packed))[:0]
	for {
		have := int64(len(data))
		full := have == int64(cap(data))
		if most > 0 && (have > most || full && 3*have > most) { // both buffers are in memory
			return nil, NoRoom{have, most}
		}
		if full {
			data = storage.Extend(data, 1, math.MaxInt64)[:have]
		}
		n, err := r.Read(data[have:cap(data)])
		data = data[:have+int64(n)]
		if err == io.EOF {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Unpack sets the voxels to the decompressed input from the body's offset, after skip decompressed
// bytes.
func (b *Body) Unpack(p storage.Compression, skip int64) error {
	b.Packed, b.Ratio = max(0, b.In.Size-b.Offset), p.Ratio
	var err error
	b.Inflate, err = p.Open(bufio.NewReader(io.NewSectionReader(b.In, b.Offset, b.Packed)), b.Packed)
	b.Offset = skip
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("truncated: no %s data follow the header; copy the file again", p.Name)
	}
	if err != nil {
		return fmt.Errorf("decompressing: %w; copy the file again", storage.Cause(err))
	}
	return nil
}

// ReadText reads the voxels as decimal numbers with white space between them, from the body's offset.
func (b *Body) ReadText() error {
	if b.In.Stream {
		return NotStreamed{"its voxels are text"}
	}
	size := max(0, b.In.Size-b.Offset)
	most := b.Total() / b.Stored.Size()
	// A truncated number would be a wrong number.
	if end := make([]byte, 1); size > 0 {
		if _, err := b.In.ReadAt(end, b.In.Size-1); err != nil && err != io.EOF {
			return fmt.Errorf("reading the voxels: %w", storage.Cause(err))
		}
		if !strings.Contains(" \t\r\n", string(end)) {
			return errors.New("no white space ends the last number of the voxels, which may be cut off; copy the file again, " +
				"or end its line: echo >> FILE")
		}
	}
	if size/2 < most { // a digit and white space each
		return fmt.Errorf("truncated: %d bytes of text where the header states %d numbers; copy the file again", size, most)
	}
	b.Decoded = grid.NewBuffer(b.Total())[:0]
	words := bufio.NewScanner(io.NewSectionReader(b.In, b.Offset, size))
	words.Split(bufio.ScanWords)
	n := int64(0)
	for ; words.Scan(); n++ {
		if n == most {
			return fmt.Errorf("trailing data: more numbers than the %d of the header; correct it", most)
		}
		var err error
		if b.Decoded, err = element.AppendNumber(b.Decoded, b.Stored, strings.TrimSuffix(words.Text(), ",")); err != nil {
			return fmt.Errorf("number %d of its voxels is %.40q, which is none of %s; correct it", n, words.Text(), b.Stored)
		}
	}
	if err := words.Err(); err != nil {
		return fmt.Errorf("reading the voxels: %w", storage.Cause(err))
	}
	if n < most {
		return fmt.Errorf("truncated: %d numbers where the header states %d; copy the file again", n, most)
	}
	b.Big = false
	return nil
}
