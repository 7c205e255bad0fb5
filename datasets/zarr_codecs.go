package datasets

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// A chunkCodec undoes one step of a chunk's encoding: it appends to dst what src becomes, at
// most so many bytes.
type chunkCodec func(dst, src []byte, most int64) ([]byte, error)

// codecSlack is what an encoding may be longer than what it encodes.
const codecSlack = 64 << 10

// encodedMost is the most that so many bytes are encoded as.
func encodedMost(n int64) int64 { return n + n/8 + codecSlack }

// zarrCodec is the codec of an identifier, which the two versions of the format share.
func zarrCodec(id string) (chunkCodec, error) {
	switch strings.TrimPrefix(id, "numcodecs.") {
	case "gzip":
		return unpacks(gzipped), nil
	case "zlib":
		return unpacks(zlibbed), nil
	case "bz2":
		return unpacks(bzipped), nil
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
	return nil, fmt.Errorf("its codec is %.40q; want one of bytes, transpose, sharding_indexed, blosc, zstd, gzip, zlib, bz2, lz4 and crc32c: save it with one of them", id)
}

// unpacks is the codec of a way in which files are compressed.
func unpacks(p packing) chunkCodec {
	return func(dst, src []byte, most int64) ([]byte, error) {
		r, err := p.open(bytes.NewReader(src), int64(len(src)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		at, most := int64(len(dst)), int64(len(dst))+most
		for int64(len(dst)) <= most {
			have := int64(len(dst))
			dst = extend(dst, min(most+1-have, max(have-at, codecSlack)), most+1)
			n, err := io.ReadFull(r, dst[have:])
			dst = dst[:have+int64(n)]
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				// ReadFull makes the one of the other: the checksum is looked at again.
				return dst, checkEnd(r, true)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		return nil, errors.New(p.name + ": more bytes than the chunk has")
	}
}

// zstdChunks decodes whole frames, on all cores, and never to more than there is room for.
var zstdChunks = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
})

// unzstd appends the contents of zstd frames. Their headers' words are held to what the chunk
// has before any memory rests on them.
func unzstd(z *zstd.Decoder, dst, src []byte, most int64) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(src); err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	if h.HasFCS && h.FrameContentSize > uint64(most) || most/zstdRatio > int64(len(src)) {
		return nil, fmt.Errorf("zstd: %d bytes are said to hold %d, where the chunk has %d", len(src), h.FrameContentSize, most)
	}
	have := int64(len(dst))
	dst = extend(dst, most, have+most)[:have]
	out, err := z.DecodeAll(src, dst)
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	return out, nil
}

// unlz4 is numcodecs' LZ4: the length of what follows, and one block.
func unlz4(dst, src []byte, most int64) ([]byte, error) {
	if len(src) < 4 {
		return nil, errors.New("lz4: it has no length")
	}
	n, have := int64(binary.LittleEndian.Uint32(src)), int64(len(dst))
	if n > most || n/lz4Ratio > int64(len(src)) {
		return nil, fmt.Errorf("lz4: %d bytes are said to hold %d, where the chunk has %d", len(src), n, most)
	}
	if n == 0 { // which the library may not be asked for
		return dst, nil
	}
	dst = extend(dst, n, have+n)
	got, err := lz4.UncompressBlock(src[4:], dst[have:])
	if err != nil {
		return nil, fmt.Errorf("lz4: %w", err)
	}
	return dst[:have+int64(got)], nil
}

// lz4Ratio is a little more than the most that one byte of LZ4 can become.
const lz4Ratio = 256

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checkCRC32C is the codec of a checksum that follows what it is of.
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

// A chunkCoding is how chunks are encoded: of how many bytes each, in which order their axes lie,
// the slowest first, and what undoes the rest, step by step.
type chunkCoding struct {
	order []int
	big   bool
	plain bool // no order of bytes is said
	steps []chunkCodec
}

// decode is what a chunk of so many bytes holds: src, or one of the buffers.
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

// named is a codec of version 3, or what is configured by a name like one.
type named struct {
	Name          string          `json:"name"`
	Configuration json.RawMessage `json:"configuration"`
}

// configure reads a configuration, which may be left out where it has no required parts.
func (n named) configure(to any) error {
	if len(n.Configuration) == 0 {
		return nil
	}
	if err := unmarshalKnown(n.Configuration, to); err != nil {
		return fmt.Errorf("%.40q: %w", n.Name, err)
	}
	return nil
}

// unmarshalKnown is json.Unmarshal of an object that has no fields but those that are asked for.
func unmarshalKnown(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if err != nil {
		err = errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return err
}

// UnmarshalJSON takes a name alone for one without a configuration.
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

// errEndian is that of numbers of several bytes whose order is not known.
var errEndian = errors.New("bytes: its configuration says no endian; the metadata are damaged")

// sharding is the codec whose chunks are shards.
const sharding = "sharding_indexed"

// codingOf reads the codecs of version 3 of a chunk of so many axes, but for sharding.
func codingOf(list []named, axes int) (c chunkCoding, err error) {
	for i := range axes {
		c.order = append(c.order, i)
	}
	flat := false // an array has become bytes
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
			return c, fmt.Errorf("its codec %.40q is at a place where it is not read; save it with bytes and one of blosc, zstd and gzip", codec.Name)
		default:
			step, err := zarrCodec(codec.Name)
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

// naturals are the numbers below n.
func naturals(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
