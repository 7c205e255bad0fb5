package zarr

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"eccbench/datasets/storage"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A chunkCodec reverses one step of a chunk's encoding. It appends the decoded src to dst, at most
// most bytes.
type chunkCodec func(dst, src []byte, most int64) ([]byte, error)

// codecSlack is the most bytes that an encoding adds in addition to its ratio.
const codecSlack = 64 << 10

// encodedMost returns the greatest encoded size of n bytes.
func encodedMost(n int64) int64 { return n + n/8 + codecSlack }

// codecOf returns the codec with an identifier, which is common to both versions of the format.
func codecOf(id string) (chunkCodec, error) {
	switch strings.TrimPrefix(id, "numcodecs.") {
	case "gzip":
		return unpacks(storage.Gzip), nil
	case "zlib":
		return unpacks(storage.Zlib), nil
	case "bz2":
		return unpacks(storage.Bzip2), nil
	case "zstd":
		return func(dst, src []byte, most int64) ([]byte, error) {
			z, err := zstdChunks()
			if err != nil {
				return nil, err
			}
			return unzstd(z, dst, src, most)
		}, nil
	case "lz4":
		return unlz4, nil
	case "blosc":
		return func(dst, src []byte, most int64) ([]byte, error) {
			z, err := zstdChunks()
			if err != nil {
				return nil, err
			}
			return unblosc(dst, src, most, z)
		}, nil
	case "crc32c":
		return checkCRC32C, nil
	}
	return nil, fmt.Errorf("its codec is %.40q; want one of bytes, transpose, sharding_indexed, blosc, zstd, gzip, "+
		"zlib, bz2, lz4 and crc32c: save it with one of them", id)
}

// unpacks returns the codec for a compression of files.
func unpacks(p storage.Compression) chunkCodec {
	return func(dst, src []byte, most int64) ([]byte, error) {
		r, err := p.Open(bytes.NewReader(src), int64(len(src)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		at, most := int64(len(dst)), int64(len(dst))+most
		for int64(len(dst)) <= most {
			have := int64(len(dst))
			dst = storage.Extend(dst, min(most+1-have, max(have-at, codecSlack)), most+1)
			n, err := io.ReadFull(r, dst[have:])
			dst = dst[:have+int64(n)]
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				// ReadFull converts one error to the other, so the checksum is verified again.
				return dst, storage.CheckEnd(r, true)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Name, err)
			}
		}
		return nil, errors.New(p.Name + ": more bytes than the chunk has")
	}
}

// zstdChunks decodes whole frames on all cores, and never beyond the given capacity.
var zstdChunks = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

// unzstd appends the contents of zstd frames. It checks their headers against the size of the chunk
// before it allocates memory.
func unzstd(z *zstd.Decoder, dst, src []byte, most int64) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if h.HasFCS && h.FrameContentSize > uint64(most) || most/storage.ZstdRatio > int64(len(src)) {
		return nil, fmt.Errorf("zstd: %d bytes declare %d, where the chunk has %d",
			len(src), h.FrameContentSize, most)
	}
	have := int64(len(dst))
	dst = storage.Extend(dst, most, have+most)[:have]
	out, err := z.DecodeAll(src, dst)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return out, nil
}

// unlz4 decodes the LZ4 format of numcodecs: the decoded length and one block.
func unlz4(dst, src []byte, most int64) ([]byte, error) {
	if len(src) < 4 {
		return nil, errors.New("lz4: it has no length")
	}
	n, have := int64(binary.LittleEndian.Uint32(src)), int64(len(dst))
	if n > most || n/lz4Ratio > int64(len(src)) {
		return nil, fmt.Errorf("lz4: %d bytes declare %d, where the chunk has %d", len(src), n, most)
	}
	if n == 0 { // the library does not accept this case
		return dst, nil
	}
	dst = storage.Extend(dst, n, have+n)
	got, err := lz4.UncompressBlock(src[4:], dst[have:])
	if err != nil {
		return nil, fmt.Errorf("lz4: %w", err)
	}
	return dst[:have+int64(got)], nil
}

// lz4Ratio is a little more than the greatest compression ratio of LZ4.
const lz4Ratio = 256

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkCRC32C is the codec of a checksum that follows its data.
func checkCRC32C(dst, src []byte, _ int64) ([]byte, error) {
	n := len(src) - 4
	if n < 0 {
		return nil, errors.New("crc32c: it is shorter than its checksum")
	}
	if sum := crc32.Checksum(src[:n], castagnoli); sum != binary.LittleEndian.Uint32(src[n:]) {
		return nil, errors.New("crc32c: the checksum is another")
	}
	return append(dst, src[:n]...), nil
}

// A chunkCoding describes the encoding of chunks: the order of axes, slowest first, the byte order,
// and the decoders of further steps.
type chunkCoding struct {
	order []int
	big   bool
	plain bool // the byte order is not specified
	steps []chunkCodec
}

// decode returns the n decoded bytes of a chunk, either in src or in one of the buffers.
func (c chunkCoding) decode(src []byte, n int64, buffers *[2][]byte) (data []byte, err error) {
	for i, step := range c.steps {
		most := n
		if i < len(c.steps)-1 {
			most = encodedMost(n)
		}
		if src, err = step(buffers[i%2][:0], src, most); err != nil {
			return nil, err
		}
		buffers[i%2] = src
	}
	if int64(len(src)) != n {
		return nil, fmt.Errorf("%d bytes, where a chunk has %d", len(src), n)
	}
	return src, nil
}

// named is a codec of version 3, or another object with a name and a configuration.
type named struct {
	Name          string          `json:"name"`
	Configuration json.RawMessage `json:"configuration"`
}

// configure reads a configuration. It may be missing if it has no required parts.
func (n named) configure(to any) error {
	if len(n.Configuration) == 0 {
		return nil
	}
	if err := unmarshalKnown(n.Configuration, to); err != nil {
		return fmt.Errorf("%.40q: %w", n.Name, err)
	}
	return nil
}

// unmarshalKnown is json.Unmarshal, but an unknown field is an error, and so is one with capitals.
func unmarshalKnown(data []byte, to any) error {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields) // an error is that of the decoder, too
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || unicode.IsUpper(r) }) {
			return fmt.Errorf("unknown field %.40q", name)
		}
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return err
}

// UnmarshalJSON accepts a name alone, without a configuration.
func (n *named) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &n.Name)
	}
	var all struct {
		Name          string          `json:"name"`
		Configuration json.RawMessage `json:"configuration"`
		Must          *bool           `json:"must_understand"` // all are understood
	}
	err := unmarshalKnown(data, &all)
	n.Name, n.Configuration = all.Name, all.Configuration
	return err
}

// errEndian is the error of numbers of several bytes without a byte order.
var errEndian = errors.New("bytes: its configuration has no endian; the metadata are damaged")

// sharding is the name of the codec that stores chunks in shards.
const sharding = "sharding_indexed"

// codingOf reads the codecs of version 3 for chunks with a number of axes, except sharding.
func codingOf(list []named, axes int) (c chunkCoding, err error) {
	for i := range axes {
		c.order = append(c.order, i)
	}
	flat := false // the array has become bytes
	for _, codec := range list {
		switch {
		case codec.Name == "transpose" && !flat:
			var o struct{ Order []int }
			if err := codec.configure(&o); err != nil {
				return c, err
			}
			if sorted := slices.Sorted(slices.Values(o.Order)); len(sorted) != axes || !slices.Equal(sorted, naturals(axes)) {
				return c, fmt.Errorf("transpose: the order %v is none of %d axes", o.Order, axes)
			}
			order := make([]int, axes)
			for i, at := range o.Order {
				order[i] = c.order[at]
			}
			c.order = order
		case codec.Name == "bytes" && !flat:
			var o struct{ Endian string }
			if err := codec.configure(&o); err != nil {
				return c, err
			}
			if o.Endian != "" && o.Endian != "little" && o.Endian != "big" {
				return c, fmt.Errorf("bytes: %.40q is no order of bytes", o.Endian)
			}
			c.big, c.plain, flat = o.Endian == "big", o.Endian == "", true
		case codec.Name == "bytes" || codec.Name == "transpose" || !flat:
			return c, fmt.Errorf("its codec %.40q is at a place where it is not read; save it with bytes and one of blosc, "+
				"zstd and gzip", codec.Name)
		default:
			step, err := codecOf(codec.Name)
			if err != nil {
				return c, err
			}
			c.steps = append(c.steps, step)
		}
	}
	if !flat {
		return c, errors.New("its codecs have no bytes; the metadata are damaged")
	}
	slices.Reverse(c.steps)
	return c, nil
}

// naturals returns the integers from 0 to n−1.
func naturals(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
