package files

import (
	"bytes"
	"testing"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// A flipped bit of a deflated strip is detected, for every effect on the stream.
func TestTiffChecksums(t *testing.T) {
	for _, name := range []string{"f32_be_big_deflate_2d.tif", "pillow_deflate_2d.tif"} {
		whole := readFixture(t, name)
		want := mustOpen(t, name, whole)
		for n := bytes.IndexByte(whole, 0x78); n < len(whole); n++ {
			for bit := range 8 {
				bad := bytes.Clone(whole)
				bad[n] ^= 1 << bit
				got, err := openFileBytes(name, bad, format.Options{})
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
		checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, "tags of strips beside tags of tiles")
	}
}

// Sparse tiles, and tiles within the header, have their own errors.
func TestTiffSparse(t *testing.T) {
	for _, c := range []struct {
		large     bool
		at, bytes uint64
		want      string
	}{
		{false, 0, 0, "page 1: strip or tile 2 is sparse: the file has no bytes for it"},
		{false, 0, 12, "page 1: strip or tile 2 begins at byte 0, within the header; the file is damaged"},
		{false, 7, 12, "page 1: strip or tile 2 begins at byte 7, within the header; the file is damaged"},
		{true, 15, 12, "page 1: strip or tile 2 begins at byte 15, within the header; the file is damaged"},
	} {
		x := describedTiff(1, "")
		x.segW, x.segH, x.large = 3, 2, c.large
		x.edit = map[uint16][]uint64{tiffTileOffsets: {16, c.at, 16, 16}, tiffTileByteCounts: {12, c.bytes, 12, 12}}
		checkRefusedCheaply(t, "image.tif", writeTiff(x), format.Options{}, c.want)
	}
}

// A tile that contains far more than its pixels is rejected, without reading all of it.
func TestTiffBomb(t *testing.T) {
	x := describedTiff(1, "")
	x.segW, x.segH, x.compression = 5, 4, tiffDeflate
	data := writeTiff(x)
	bomb := deflated(make([]byte, 64<<20))
	x.edit = map[uint16][]uint64{tiffTileOffsets: {uint64(len(data))}, tiffTileByteCounts: {uint64(len(bomb))}}
	data = append(writeTiff(x)[:len(data):len(data)], bomb...)
	checkRefusedCheaply(t, "image.tif", data, format.Options{}, "trailing data: more bytes than the 40")
}
