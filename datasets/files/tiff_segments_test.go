package files

import (
	"bytes"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

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
		{"deflate", tiffDeflate, string(deflated([]byte{1, 2, 3, 4})), ""},
		{"deflate, full", tiffDeflate, string(deflated([]byte{1, 2, 3, 4, 5, 6})), ""},
		{"deflate, padded", tiffDeflate, string(deflated([]byte{1, 2, 3, 4})) + zeros(3), ""},
		{"deflate, long", tiffDeflate, string(deflated([]byte{1, 2, 3, 4, 5})), "trailing data: more bytes than the 4"},
		{"deflate, longer", tiffDeflate, string(deflated(make([]byte, 1<<20))), "trailing data: more bytes than the 4"},
		{"deflate, followed", tiffDeflate, string(deflated([]byte{1, 2, 3, 4})) + "x", "trailing data: bytes follow"},
		{"deflate, no checksum", tiffDeflate, string(deflated([]byte{1, 2, 3, 4})[:8]), "truncated"},
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
			checkFileError(t, c.what, err, c.want)
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

// A flipped bit of a deflated strip is detected, for every effect on the stream.
func TestTiffChecksums(t *testing.T) {
	for _, name := range []string{"f32_be_big_deflate_2d.tif", "pillow_deflate_2d.tif"} {
		whole := readFixture(t, name)
		want := mustOpen(t, name, whole)
		for n := bytes.IndexByte(whole, 0x78); n < len(whole); n++ {
			for bit := range 8 {
				bad := bytes.Clone(whole)
				bad[n] ^= 1 << bit
				got, err := openFileBytes(name, bad, Options{})
				if err == nil && got.Type() == want.Type() && got.Shape() == want.Shape() && slabsDiffer(got, want.(*grid.Field).Data()) != "" {
					t.Errorf("%s: bit %d of byte %d gives other voxels", name, bit, n)
				}
			}
		}
	}
}

// TestTiffStripsBesideTiles rejects a page with tags of strips and of tiles.
func TestTiffStripsBesideTiles(t *testing.T) {
	for _, tag := range []uint16{tiffTileOffsets, tiffTileByteCounts} {
		x := describedTiff(1, "")
		x.edit = map[uint16][]uint64{tag: {2}}
		checkRefusedCheaply(t, "image.tif", writeTiff(x), Options{}, "tags of strips beside tags of tiles")
	}
}

// Sparse tiles have their own error.
func TestTiffSparse(t *testing.T) {
	x := describedTiff(1, "")
	x.segW, x.segH = 3, 2
	x.edit = map[uint16][]uint64{tiffTileOffsets: {8, 0, 8, 8}, tiffTileByteCounts: {12, 0, 12, 12}}
	checkRefusedCheaply(t, "image.tif", writeTiff(x), Options{}, "page 1: strip or tile 2 is sparse: the file has no bytes for it")
}

// A tile that contains far more than its pixels is rejected, without reading all of it.
func TestTiffBomb(t *testing.T) {
	x := describedTiff(1, "")
	x.segW, x.segH, x.compression = 5, 4, tiffDeflate
	data := writeTiff(x)
	bomb := deflated(make([]byte, 64<<20))
	x.edit = map[uint16][]uint64{tiffTileOffsets: {uint64(len(data))}, tiffTileByteCounts: {uint64(len(bomb))}}
	data = append(writeTiff(x)[:len(data):len(data)], bomb...)
	checkRefusedCheaply(t, "image.tif", data, Options{}, "trailing data: more bytes than the 40")
}
