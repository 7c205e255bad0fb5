package datasets

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"eccbench/internal/grid"
	"eccbench/internal/inflate"
	"eccbench/internal/quantity"
)

// A packing is a compression of files. Its ratio is a little more than the greatest compression
// ratio: 45 MB of zeros are 45 bytes of bzip2.
type packing struct {
	name, extension, magic string
	ratio                  int64
	// open makes the reader of packed compressed bytes.
	open func(r io.Reader, packed int64) (io.Reader, error)
}

const bzip2Ratio, zstdRatio = 1 << 21, 1 << 16

var (
	gzipped = packing{"gzip", ".gz", gzipMagic, deflateRatio, openGzip}
	zlibbed = packing{"zlib", "", "", deflateRatio, func(r io.Reader, _ int64) (io.Reader, error) { return zlib.NewReader(r) }}
	bzipped = packing{"bzip2", ".bz2", "BZh", bzip2Ratio, func(r io.Reader, _ int64) (io.Reader, error) { return bzip2.NewReader(r), nil }}
	zstdded = packing{"zstd", ".zst", "\x28\xb5\x2f\xfd", zstdRatio, openZstd}
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

// openGzip makes a reader of gzip members. Zero bytes may follow each member, as padding on tapes
// and disks. The library reads the headers; its decompressor is slower than package inflate.
func openGzip(r io.Reader, _ int64) (io.Reader, error) {
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
		if start, _ := source.Peek(2); !strings.HasPrefix(gzipMagic, string(start)) {
			return errors.New("other data follow the gzip data")
		}
		err := z.Reset(source)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}}, nil
}

// openZlib makes a reader of one zlib stream without further data.
func openZlib(r io.Reader, _ int64) (io.Reader, error) {
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

// openZstd makes a decoder whose memory depends on the file's size, not on its header. A valid
// window is at most the decompressed size, and at most the default limit of the program zstd.
func openZstd(r io.Reader, packed int64) (io.Reader, error) {
	window := min(128<<20, max(1<<20, zstdRatio*packed))
	d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(uint64(window)), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// wrappings are the compressions of whole files.
var wrappings = []packing{gzipped, zstdded, bzipped}

// wrapping returns the compression of a file by its name, else by its first bytes, and the name
// without its extension.
func wrapping(name string, head []byte) (p packing, inner string, ok bool) {
	for _, p := range wrappings {
		if n := len(name) - len(p.extension); n > 0 && strings.EqualFold(name[n:], p.extension) {
			return p, name[:n], true
		}
	}
	for _, p := range wrappings {
		if strings.HasPrefix(string(head), p.magic) {
			return p, name, true
		}
	}
	return packing{}, "", false
}

// signed are the formats whose files always begin with a signature.
var signed = []string{"npy", "npz", "NRRD", "FITS", "DICOM", "PNG", "BMP", "TIFF"}

// look returns an error if the first bytes of a compressed file contradict its name. It runs before
// the whole file is decompressed.
func (in fileInput) look(w wrappedFile, r *bufio.Reader) error {
	var err error
	if in.held, err = r.Peek(passHead); err != nil {
		return nil // the file is short, or the error appears again
	}
	in.ReaderAt, in.size = bytes.NewReader(in.held), int64(len(in.held))
	format, err := formatOf(w.inner, in)
	if err == nil && slices.Contains(signed, format.name) && !format.matches(in.held) {
		err = fmt.Errorf("not a %s file, though its name says so: its first bytes are others; check the file", format.name)
	}
	return err
}

// unwrap decompresses a whole file into memory, which grows as bytes arrive.
func (in fileInput) unwrap(w wrappedFile) (fileInput, error) {
	p := w.by
	r, err := p.open(bufio.NewReader(io.NewSectionReader(in, 0, in.size)), in.size)
	if err == nil {
		plain := bufio.NewReaderSize(r, passHead)
		if err := in.look(w, plain); err != nil {
			return in, err
		}
		in.held, err = readAll(plain, in.size, in.Memory)
	}
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return in, fmt.Errorf("truncated: the data by %s end too early; copy the file again", p.name)
	case errors.As(err, new(noRoom)):
		return in, err
	case err != nil:
		return in, fmt.Errorf("decompressing: %w; copy the file again", pathCause(err))
	}
	in.ReaderAt, in.size = bytes.NewReader(in.held), int64(len(in.held))
	if in.Memory > 0 {
		in.Memory = max(1, in.Memory-in.size)
	}
	return in, nil
}

// passHead is the number of bytes kept from the beginning of a file for its header, while the file
// is decompressed in order.
const passHead = 64 << 10

// passed are the formats with a header followed by voxels and nothing else.
var passed = []string{"raw", "npy", "NIfTI", "NRRD", "MetaImage"}

// wrapped describes an image in a file that is compressed as a whole and read in order.
func (in fileInput) wrapped(w wrappedFile) (*fileBody, error) {
	open := func() (io.Reader, error) {
		return w.by.open(bufio.NewReader(io.NewSectionReader(in, 0, in.size)), in.size)
	}
	return in.pass(open, in.size, w.by.ratio, "it is compressed by "+w.by.name, func(in fileInput) (*fileBody, error) { return describe(w.inner, in) })
}

// pass describes an image in packed compressed bytes. The voxels follow its header and are read
// once, in order. For other images the error is why. Other errors of the file appear when it is
// read whole.
func (in fileInput) pass(open func() (io.Reader, error), packed, ratio int64, why string, describe func(fileInput) (*fileBody, error)) (*fileBody, error) {
	if !in.Once {
		return nil, notStreamed{why}
	}
	r, err := open()
	if err != nil {
		return nil, notStreamed{why}
	}
	head := make([]byte, passHead)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, notStreamed{why}
	}
	inner := in
	inner.ReaderAt, inner.size, inner.unsized = bytes.NewReader(head[:n]), math.MaxInt64, true
	b, err := describe(inner)
	if err != nil || b.in.ReaderAt != nil && b.in.ReaderAt != inner.ReaderAt || b.inflate != nil || b.decoded != nil || b.atEnd {
		return nil, notStreamed{why}
	}
	b.in, b.inflate, b.packed, b.ratio = in, io.MultiReader(bytes.NewReader(head[:n]), r), packed, ratio
	return b, nil
}

// noRoom is the error of data that need more memory than is free.
type noRoom struct{ have, free int64 }

func (e noRoom) Error() string {
	return fmt.Sprintf("decompressing: more than %s, where %s of memory are free; save the image uncompressed",
		quantity.Bytes(e.have), quantity.Bytes(e.free))
}

// readAll reads to the end of packed compressed bytes. most limits the result; 0 means no limit.
func readAll(r io.Reader, packed, most int64) ([]byte, error) {
	data := grid.NewBuffer(max(64<<10, 2*packed))[:0]
	for {
		have := int64(len(data))
		full := have == int64(cap(data))
		if most > 0 && (have > most || full && 3*have > most) { // both buffers are in memory
			return nil, noRoom{have, most}
		}
		if full {
			data = extend(data, 1, math.MaxInt64)[:have]
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

// unpack sets the voxels to the decompressed input from the body's offset, after skip decompressed
// bytes.
func (b *fileBody) unpack(p packing, skip int64) error {
	b.packed, b.ratio = max(0, b.in.size-b.offset), p.ratio
	var err error
	b.inflate, err = p.open(bufio.NewReader(io.NewSectionReader(b.in, b.offset, b.packed)), b.packed)
	b.offset = skip
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("truncated: no %s data follow the header; copy the file again", p.name)
	}
	if err != nil {
		return fmt.Errorf("decompressing: %w; copy the file again", pathCause(err))
	}
	return nil
}

// text reads the voxels as decimal numbers with white space between them, from the body's offset.
func (b *fileBody) text() error {
	if b.in.Stream {
		return notStreamed{"its voxels are text"}
	}
	size := max(0, b.in.size-b.offset)
	most := b.total() / b.stored.size()
	// A truncated number would be a wrong number.
	if end := make([]byte, 1); size > 0 {
		if _, err := b.in.ReadAt(end, b.in.size-1); err != nil && err != io.EOF {
			return fmt.Errorf("reading the voxels: %w", pathCause(err))
		}
		if !strings.Contains(" \t\r\n", string(end)) {
			return errors.New("no white space ends the last number of the voxels, which may be cut off; end its line, or copy the file again")
		}
	}
	if size/2 < most { // a digit and white space each
		return fmt.Errorf("truncated: %d bytes of text where the header says %d numbers; copy the file again", size, most)
	}
	b.decoded = grid.NewBuffer(b.total())[:0]
	words := bufio.NewScanner(io.NewSectionReader(b.in, b.offset, size))
	words.Split(bufio.ScanWords)
	n := int64(0)
	for ; words.Scan(); n++ {
		if n == most {
			return fmt.Errorf("trailing data: more numbers than the %d of the header; correct it", most)
		}
		var err error
		if b.decoded, err = appendNumber(b.decoded, b.stored, strings.TrimSuffix(words.Text(), ",")); err != nil {
			return fmt.Errorf("number %d of its voxels is %.40q, which is none of %s; correct it", n, words.Text(), b.stored)
		}
	}
	if err := words.Err(); err != nil {
		return fmt.Errorf("reading the voxels: %w", pathCause(err))
	}
	if n < most {
		return fmt.Errorf("truncated: %d numbers where the header says %d; copy the file again", n, most)
	}
	b.big = false
	return nil
}

// appendNumber appends a decimal number as the little-endian bytes of a type.
func appendNumber(dst []byte, s storedType, text string) ([]byte, error) {
	le, bits := binary.LittleEndian, int(8*s.size())
	var v uint64
	switch s {
	case storedFloat32:
		f, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		v = uint64(math.Float32bits(float32(f)))
	case storedFloat64:
		f, err := strconv.ParseFloat(text, bits)
		if err != nil {
			return nil, err
		}
		v = math.Float64bits(f)
	case storedUint8, storedUint16, storedUint32, storedUint64:
		n, err := strconv.ParseUint(text, 10, bits)
		if err != nil {
			return nil, err
		}
		v = n
	case storedInt8, storedInt16, storedInt32, storedInt64:
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return nil, err
		}
		v = uint64(n)
	default:
		return nil, errors.New("no numbers in text")
	}
	var b [8]byte
	le.PutUint64(b[:], v)
	return append(dst, b[:s.size()]...), nil
}
