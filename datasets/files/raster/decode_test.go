package raster

import (
	"bytes"
	"compress/zlib"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// Differences add up to the original values for every size of pixel.
func TestIntegrate(t *testing.T) {
	for _, size := range []int64{1, 2, 4, 8} {
		row, want := grid.NewBuffer(5*size), grid.NewBuffer(5*size)
		for i := range int64(5) {
			row[i*size] = 1
			want[i*size] = byte(i + 1)
		}
		if integrate(row, size, 1); !bytes.Equal(row, want) {
			t.Errorf("%d bytes: %v, want %v", size, row, want)
		}
	}
}

// The number of bytes of an interlaced image is the sum over its passes, by enumeration of the
// pixels.
func TestInterlacedBytes(t *testing.T) {
	of := [8]string{"16462646", "77777777", "56565656", "77777777", "36463646", "77777777", "56565656", "77777777"}
	for height := range int64(10) {
		for width := range int64(18) {
			for _, depth := range []int64{1, 8, 16} {
				h := pngHeader{width: width + 1, height: height + 1, depth: depth, samples: 1, interlaced: true}
				want := int64(0)
				for pass := byte('1'); pass <= '7'; pass++ {
					for y := range h.height {
						n := int64(0)
						for x := range h.width {
							if of[y%8][x%8] == pass {
								n++
							}
						}
						if n > 0 {
							want += 1 + (n*depth+7)/8
						}
					}
				}
				if got := h.dataBytes(); got != want {
					t.Errorf("%d×%d of %d bits: %d bytes, want %d", h.width, h.height, depth, got, want)
				}
			}
		}
	}
}

// A segment decompresses exactly to the bytes of its rows, except for padding rows of the last
// strip.
func TestTiffExactSegments(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for _, c := range []struct {
		what        string
		compression uint64
		packed      string
		want        string // "" if 4 bytes, or 6 of a full strip, are read
	}{
		{"plain", tiffPlain, "\x01\x02\x03\x04", ""},
		{"plain, full", tiffPlain, "\x01\x02\x03\x04\x05\x06", ""},
		{"plain, short", tiffPlain, "\x01\x02\x03", "truncated: 3 of 4 bytes"},
		{"plain, long", tiffPlain, "\x01\x02\x03\x04\x00", "trailing data: 5 bytes where its rows take 4"},
		{"PackBits", tiffPackBits, "\x03\x01\x02\x03\x04\x80\x00", "truncated"},
		{"PackBits, padded", tiffPackBits, "\x03\x01\x02\x03\x04\x80", ""},
		{"PackBits, full", tiffPackBits, "\x03\x01\x02\x03\x04\x01\x05\x06", ""},
		{"PackBits, long", tiffPackBits, "\x03\x01\x02\x03\x04\x00\x05", "trailing data: more bytes than the 4"},
		{"PackBits, cut in a literal", tiffPackBits, "\x03\x01\x02\x03", "truncated"},
		{"PackBits, cut in a run", tiffPackBits, "\x01\x01\x02\xff", "truncated"},
		{"deflate", tiffDeflate, string(zlibOf([]byte{1, 2, 3, 4})), ""},
		{"deflate, full", tiffDeflate, string(zlibOf([]byte{1, 2, 3, 4, 5, 6})), ""},
		{"deflate, padded", tiffDeflate, string(zlibOf([]byte{1, 2, 3, 4})) + zeros(3), ""},
		{"deflate, long", tiffDeflate, string(zlibOf([]byte{1, 2, 3, 4, 5})), "trailing data: more bytes than the 4"},
		{"deflate, longer", tiffDeflate, string(zlibOf(make([]byte, 1<<20))), "trailing data: more bytes than the 4"},
		{"deflate, followed", tiffDeflate, string(zlibOf([]byte{1, 2, 3, 4})) + "x", "trailing data: bytes follow"},
		{"deflate, no checksum", tiffDeflate, string(zlibOf([]byte{1, 2, 3, 4})[:8]), "truncated"},
		{"LZW", tiffLZW, lzwCodes(256, 1, 2, 3, 4, 257), ""},
		{"LZW, no end", tiffLZW, lzwCodes(256, 1, 2, 3, 4), ""},
		{"LZW, full", tiffLZW, lzwCodes(256, 1, 2, 3, 4, 5, 6, 257), ""},
		{"LZW, long", tiffLZW, lzwCodes(256, 1, 2, 3, 4, 5, 257), "trailing data: more bytes than the 4"},
		{"LZW, followed", tiffLZW, lzwCodes(256, 1, 2, 3, 4, 257, 9), "trailing data: bytes follow"},
		{"LZW, short", tiffLZW, lzwCodes(256, 1, 2, 3, 257), "truncated"},
		{"LZW, damaged", tiffLZW, lzwCodes(256, 1, 2, 3, 4, 400), "invalid code"},
	} {
		got, err := expand([]byte(c.packed), c.compression, 4, 6)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.what, err, c.want)
			}
		} else if err != nil || !bytes.Equal(got, []byte{1, 2, 3, 4}) {
			t.Errorf("%s: %v, %v", c.what, got, err)
		}
	}
}

// lzwCodes returns LZW codes of nine bits, the highest bit first.
func lzwCodes(codes ...uint32) string {
	var b []byte
	have, n := uint32(0), 0
	for _, c := range codes {
		have, n = have<<9|c, n+9
		for ; n >= 8; n -= 8 {
			b = append(b, byte(have>>(n-8)))
		}
	}
	return string(append(b, byte(have<<(8-n))))
}

// zlibOf returns data in the format of zlib.
func zlibOf(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}
