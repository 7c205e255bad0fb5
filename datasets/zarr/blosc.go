package zarr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"eccbench/datasets/storage"
	"eccbench/internal/grid"
)

// A Blosc 1 container (README_CHUNK_FORMAT of c-blosc) is a header, the offsets of its blocks, and
// the blocks. A block has one stream, or one for each byte of an element. A stream is its length
// and the encoded bytes, or the plain bytes if those are not longer.
const (
	bloscHeader = 16
	// bloscMaxSplits and bloscMinStream are the limits of blocks with several streams.
	bloscMaxSplits, bloscMinStream = 16, 128

	bloscShuffled, bloscStored, bloscBitShuffled, bloscDelta, bloscWhole = 1, 2, 4, 8, 16
)

var errBlosc = errors.New("its Blosc container is damaged")

// unblosc appends the contents of a container, at most the given number of bytes.
func unblosc(dst, src []byte, most int64, z *zstd.Decoder) ([]byte, error) {
	if len(src) < bloscHeader {
		return nil, errBlosc
	}
	le := binary.LittleEndian
	flags, size := src[2], int64(src[3])
	n, block, packed := int64(le.Uint32(src[4:])), int64(le.Uint32(src[8:])), int64(le.Uint32(src[12:]))
	switch {
	case src[0] != 2:
		return nil, fmt.Errorf("its Blosc container has version %d; want 2", src[0])
	case flags&bloscDelta != 0:
		return nil, errors.New("its Blosc container is of Blosc 2, with a delta filter; save it by Blosc 1")
	case n > most:
		return nil, fmt.Errorf("its Blosc container has %d bytes, more than a chunk of %d", n, most)
	case packed != int64(len(src)):
		return nil, fmt.Errorf("its Blosc container has %d bytes, and its header states %d", len(src), packed)
	case n > 0 && (block < 1 || block > n || size < 1):
		return nil, errBlosc
	case flags&bloscStored != 0:
		if n != packed-bloscHeader {
			return nil, errBlosc
		}
		return append(dst, src[bloscHeader:]...), nil
	case src[1] != 1:
		return nil, fmt.Errorf("the codec of its Blosc container has version %d; want 1", src[1])
	}
	blocks := int64(0)
	if n > 0 {
		blocks = (n + block - 1) / block
	}
	if blocks > (packed-bloscHeader)/4 {
		return nil, errBlosc
	}
	at := int64(len(dst))
	dst = storage.Extend(dst, n, at+n)
	var streams []byte
	if flags&(bloscShuffled|bloscBitShuffled) != 0 {
		streams = grid.NewBuffer(min(block, n))
	}
	for i := range blocks {
		out := dst[at+i*block : at+min(n, (i+1)*block)]
		to := out
		if streams != nil {
			to = streams[:len(out)]
		}
		split := flags&bloscWhole == 0 && size <= bloscMaxSplits && block/size >= bloscMinStream && int64(len(out)) == block
		if err := unbloscBlock(to, src, int64(le.Uint32(src[bloscHeader+4*i:])), flags>>5, split, size, z); err != nil {
			return nil, err
		}
		switch {
		case flags&bloscShuffled != 0:
			unshuffle(out, to, int(size))
		case flags&bloscBitShuffled != 0:
			unshuffleBits(out, to, int(size))
		}
	}
	return dst, nil
}

// unbloscBlock decodes the streams of the block at an offset.
func unbloscBlock(out, src []byte, at int64, codec byte, split bool, size int64, z *zstd.Decoder) error {
	n := int64(len(out))
	if split {
		if n%size != 0 {
			return errBlosc
		}
		n /= size
	}
	for ; len(out) > 0; out = out[n:] {
		if at < bloscHeader || at > int64(len(src))-4 {
			return errBlosc
		}
		length := int64(binary.LittleEndian.Uint32(src[at:]))
		at += 4
		if length > int64(len(src))-at {
			return errBlosc
		}
		stream := src[at : at+length]
		at += length
		if length == n {
			copy(out[:n], stream)
			continue
		}
		if err := unbloscStream(out[:n:n], stream, codec, z); err != nil {
			return err
		}
	}
	return nil
}

// unbloscStream decodes one stream, which fills dst.
func unbloscStream(dst, src []byte, codec byte, z *zstd.Decoder) error {
	var n int
	var err error
	switch codec {
	case 0:
		return errors.New("its Blosc codec is blosclz, which is not read; choose lz4 or zstd")
	case 1:
		n, err = lz4.UncompressBlock(src, dst)
	case 2:
		if n, err = snappy.DecodedLen(src); err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case 3:
		var r io.ReadCloser
		if r, err = zlib.NewReader(bytes.NewReader(src)); err == nil {
			if n, err = io.ReadFull(r, dst); err == nil {
				err = storage.CheckEnd(r, true)
			}
		}
	case 4:
		var out []byte
		out, err = z.DecodeAll(src, dst[:0])
		n = len(out)
		if n == len(dst) && &out[0] != &dst[0] {
			copy(dst, out)
		}
	default:
		return fmt.Errorf("its Blosc codec is number %d, which is not known; save it with lz4 or zstd", codec)
	}
	if err != nil {
		return fmt.Errorf("a Blosc stream: %w", err)
	}
	if n != len(dst) {
		return errBlosc
	}
	return nil
}

// unshuffle reverses a byte shuffle, which stores the first bytes of all elements first. Bytes
// after the last whole element are copied.
func unshuffle(dst, src []byte, size int) {
	n := len(dst) / size
	switch size {
	case 1:
		copy(dst, src)
		return
	case 2:
		a, b := src[:n], src[n:2*n]
		for i := range a {
			binary.LittleEndian.PutUint16(dst[2*i:], uint16(a[i])|uint16(b[i])<<8)
		}
	case 4:
		a, b, c, d := src[:n], src[n:2*n], src[2*n:3*n], src[3*n:4*n]
		for i := range a {
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(a[i])|uint32(b[i])<<8|uint32(c[i])<<16|uint32(d[i])<<24)
		}
	default:
		for j := range size {
			for i, v := range src[j*n : (j+1)*n] {
				dst[i*size+j] = v
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// unshuffleBits reverses a bit shuffle, which stores the first bits of all first bytes first. If
// the number of elements is no multiple of eight, they are copied.
func unshuffleBits(dst, src []byte, size int) {
	n := len(dst) / size
	if n%8 != 0 {
		copy(dst, src)
		return
	}
	row := n / 8 // bytes of one bit of each element
	for j := range size {
		rows := src[8*j*row:][:8*row]
		for g := range row {
			var x uint64
			for k := range 8 {
				x |= uint64(rows[k*row+g]) << (8 * k)
			}
			x = transposeBits(x)
			for k := range 8 {
				dst[(8*g+k)*size+j] = byte(x >> (8 * k))
			}
		}
	}
	copy(dst[n*size:], src[n*size:])
}

// transposeBits swaps bit i of byte k with bit k of byte i.
func transposeBits(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}
