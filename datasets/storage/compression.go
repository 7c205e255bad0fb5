package storage

import (
	"compress/bzip2"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"eccbench/internal/grid"
)

// GzipMagic is the start of gzip files.
const GzipMagic = "\x1f\x8b"

// A Compression is a compression of files. Its ratio is a little more than the greatest compression
// ratio: 45 MB of zeros are 45 bytes of bzip2.
type Compression struct {
	Name, Extension, Magic string
	Ratio                  int64
	// Open makes the reader of packed compressed bytes.
	Open func(r io.Reader, packed int64) (io.Reader, error)
}

// ZstdRatio is the greatest compression ratio of zstd that is read.
const bzip2Ratio, ZstdRatio = 1 << 21, 1 << 16

var (
	Gzip = Compression{"gzip", ".gz", GzipMagic, DeflateRatio, OpenGzip}
	Zlib = Compression{"zlib", "", "", DeflateRatio,
		func(r io.Reader, _ int64) (io.Reader, error) { return zlib.NewReader(r) }}
	Bzip2 = Compression{"bzip2", ".bz2", "BZh", bzip2Ratio,
		func(r io.Reader, _ int64) (io.Reader, error) { return bzip2.NewReader(r), nil }}
	Zstd = Compression{"zstd", ".zst", "\x28\xb5\x2f\xfd", ZstdRatio, openZstd}
)

// A packedStream reads one or several consecutive compressed streams to the end of its source.
type packedStream struct {
	member io.Reader
	// next starts the following stream; it returns io.EOF if there is none.
	next func() error
	err  error
}

func (s *packedStream) Read(dst []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.member.Read(dst)
	if err == io.EOF {
		err = s.next()
	}
	if s.err = err; n > 0 {
		return n, nil
	}
	return n, err
}

// openZstd makes a decoder whose memory depends on the file's size, not on its header. A valid
// window is at most the decompressed size, and at most the default limit of the program zstd.
func openZstd(r io.Reader, packed int64) (io.Reader, error) {
	window := min(128<<20, max(1<<20, ZstdRatio*packed))
	d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// DeflateRatio is a little more than the greatest compression ratio of deflate.
const DeflateRatio = 1040

// Extend lengthens b by n bytes. If necessary it doubles the memory up to limit.
func Extend(b []byte, n, limit int64) []byte {
	have := int64(len(b))
	if int64(cap(b)) >= have+n {
		return b[:have+n]
	}
	grown := grid.NewBuffer(min(limit, max(2*have, have+n)))[:have+n]
	copy(grown, b)
	return grown
}

// CheckEnd reads to the end of a decompressor, which verifies its checksum. With exact, more data
// is an error.
func CheckEnd(r io.Reader, exact bool) error {
	var one [1]byte
	switch n, err := io.ReadFull(r, one[:]); {
	case n > 0 && exact:
		return errors.New("trailing data: the compressed voxels go on after the last one; correct the header")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("truncated: the compressed voxels have no checksum at their end; copy the file again")
	case err != nil && err != io.EOF:
		return fmt.Errorf("decompressing the voxels: %w; copy the file again", Cause(err))
	}
	return nil
}
