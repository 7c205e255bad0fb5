package storage

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"eccbench/internal/inflate"
)

// A deflateStream is a DEFLATE stream and the checksum after it.
type deflateStream struct {
	*inflate.Reader
	source *bufio.Reader
	sum    hash.Hash32
	length uint32
	// trailer is the right checksum.
	trailer func(sum, length uint32) []byte
}

// newDeflateStream makes a reader of a stream whose header was read. Package inflate is faster than the
// decompressor of the library that reads the header.
func newDeflateStream(source *bufio.Reader, sum hash.Hash32, trailer func(sum, length uint32) []byte) *deflateStream {
	return &deflateStream{inflate.NewReader(source), source, sum, 0, trailer}
}

func (d *deflateStream) Read(dst []byte) (int, error) {
	n, err := d.Reader.Read(dst)
	d.sum.Write(dst[:n])
	d.length += uint32(n)
	if err != io.EOF {
		return n, err
	}
	want := d.trailer(d.sum.Sum32(), d.length)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(d.source, got); err == io.EOF {
		return n, io.ErrUnexpectedEOF
	} else if err != nil {
		return n, err
	}
	if !bytes.Equal(got, want) {
		return n, errors.New("invalid checksum")
	}
	d.Reset()
	d.sum.Reset()
	d.length = 0
	return n, io.EOF
}

func gzipTrailer(sum, length uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, sum), length)
}

func zlibTrailer(sum, _ uint32) []byte { return binary.BigEndian.AppendUint32(nil, sum) }

// readAhead is the number of compressed bytes that are read at a time.
const readAhead = 64 << 10

// OpenGzip makes a reader of gzip members. Zero bytes may follow each member, as padding on tapes
// and disks. The library reads the headers; its decompressor is slower than package inflate.
func OpenGzip(r io.Reader, _ int64) (io.Reader, error) {
	source := bufio.NewReaderSize(r, readAhead)
	z, err := gzip.NewReader(source)
	if err != nil {
		return nil, err
	}
	member := newDeflateStream(source, crc32.NewIEEE(), gzipTrailer)
	return &packedStream{member: member, next: func() error {
		for {
			b, err := source.ReadByte()
			if err != nil {
				return err
			}
			if b != 0 {
				break
			}
		}
		if err := source.UnreadByte(); err != nil {
			return err
		}
		if start, _ := source.Peek(2); !strings.HasPrefix(GzipMagic, string(start)) {
			return errors.New("other data follow the gzip data")
		}
		err := z.Reset(source)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}}, nil
}

// OpenZlib makes a reader of one zlib stream without further data.
func OpenZlib(r io.Reader, _ int64) (io.Reader, error) {
	source := bufio.NewReaderSize(r, readAhead)
	if _, err := zlib.NewReader(source); err != nil {
		return nil, err
	}
	return &packedStream{member: newDeflateStream(source, adler32.New(), zlibTrailer), next: func() error {
		if _, err := source.ReadByte(); err != nil {
			return err
		}
		return errors.New("other data follow the zlib data")
	}}, nil
}
