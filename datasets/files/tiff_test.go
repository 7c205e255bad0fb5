package files

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func tiffPages(s element.Type, n, pixels int64) [][]float64 {
	pages := make([][]float64, n)
	for k := range pages {
		for i := range pixels {
			pages[k] = append(pages[k], fileSequence(s)(int64(k)*pixels+i))
		}
	}
	return pages
}

func TestTiffImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := tiffText{
			stored:      rapid.SampledFrom(storedTypes()).Draw(t, "type"),
			big:         rapid.Bool().Draw(t, "big-endian"),
			large:       rapid.Bool().Draw(t, "BigTIFF"),
			w:           rapid.Int64Range(1, 40).Draw(t, "w"),
			h:           rapid.Int64Range(1, 40).Draw(t, "h"),
			segW:        rapid.SampledFrom([]int64{0, 0, 5, 16, 48}).Draw(t, "tile width or 0"),
			segH:        rapid.SampledFrom([]int64{1, 3, 16, 100}).Draw(t, "rows"),
			compression: rapid.SampledFrom([]uint64{tiffPlain, tiffDeflate, tiffOldDeflate, tiffPackBits}).Draw(t, "compression"),
			predictor:   rapid.SampledFrom([]uint64{1, 2}).Draw(t, "predictor"),
		}
		if x.stored == element.Float32 {
			x.predictor = rapid.SampledFrom([]uint64{1, 2, 3}).Draw(t, "predictor of floats")
		}
		d := rapid.Int64Range(1, 4).Draw(t, "pages")
		x.pages = tiffPages(x.stored, d, x.w*x.h)
		data := writeTiff(x)
		got, err := openFileBytes("image.tif", data, format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, got, fileShapeText([]int64{d, x.h, x.w}), x.stored.Native(), fileSequence(x.stored))
		checkAnyFile(t, "image.tif", data)
	})
}

// asciiTag returns a text as the values of a tag.
func asciiTag(text string) (v []uint64) {
	for _, c := range []byte(text) {
		v = append(v, uint64(c))
	}
	return append(v, 0)
}

func TestTiffErrors(t *testing.T) {
	base := func() tiffText {
		return tiffText{stored: element.Uint8, w: 4, h: 6, segH: 2, compression: tiffPlain, predictor: 1, pages: tiffPages(element.Uint8, 2, 24)}
	}
	one := func(tag uint16, v ...uint64) func(*tiffText) {
		return func(x *tiffText) { x.edit = map[uint16][]uint64{tag: v} }
	}
	for _, c := range []struct {
		what string
		edit func(*tiffText)
		want string
	}{
		{"good", func(*tiffText) {}, ""},
		{"colour", one(tiffSamples, 3), "page 2: 3 samples"},
		{"planes", func(x *tiffText) {
			x.edit = map[uint16][]uint64{tiffPhotometric: {2}, tiffSamples: {3}, tiffPlanar: {2}}
		}, "3 samples in planes"},
		{"types", func(x *tiffText) {
			x.edit = map[uint16][]uint64{tiffPhotometric: {2}, tiffSamples: {3}, tiffBits: {8, 8, 16}}
		}, "samples of several types"},
		{"float colours", func(x *tiffText) {
			x.edit = map[uint16][]uint64{tiffPhotometric: {2}, tiffSamples: {3}, tiffBits: {32, 32, 32}, tiffSampleFormat: {3, 3, 3}}
		}, "3 samples of float32"},
		{"few colours", func(x *tiffText) {
			x.edit = map[uint16][]uint64{tiffPhotometric: {2}, tiffSamples: {3}, tiffBits: {8, 8, 8}}
		}, "header states 24 bytes of voxels"},
		{"white is zero", one(tiffPhotometric, 0), "white is zero"},
		{"palette", one(tiffPhotometric, 3), "photometric interpretation 3"},
		{"fill order", one(tiffFillOrder, 3), "fill order 3"},
		{"bilevel", one(tiffBits, 1), "4x6 bits differs from page 1, which is 4x6 uint8"},
		{"nibbles", one(tiffBits, 4), "4 bits of sample format 1"},
		{"uint64", one(tiffBits, 64), "header states 64 bytes of voxels"},
		{"uint32", one(tiffBits, 32), "compressed bytes can hold"},
		{"complex", one(tiffSampleFormat, 6), "sample format 6"},
		{"JPEG", one(tiffCompression, 7), "compression 7 is not"},
		{"predictor", one(tiffPredictor, 4), "predictor 4"},
		{"predictor of floats", one(tiffPredictor, 3), "predictor 3, which is for floats, of uint8"},
		{"other type", one(tiffSampleFormat, 2), "differs from page 1"},
		{"other size", func(x *tiffText) { x.edit = map[uint16][]uint64{tiffWidth: {2}} }, "2x6 uint8 differs from page 1, which is 4x6 uint8"},
		{"no width", one(tiffWidth), "0x6x1 pixels"},
		{"zero height", one(tiffHeight, 0), "4x0x1 pixels"},
		{"zero strips", one(tiffRowsPerStrip, 0), "strips or tiles of 4x0x1"},
		{"tiles without offsets", one(tiffTileWidth, 16), "tiles without offsets"},
		{"strips", one(tiffRowsPerStrip, 3), "3 offsets and 3 byte counts for 1x2x1 strips"},
		{"no counts", one(tiffStripByteCounts), "0 byte counts for 1x3x1 strips"},
		{"huge", func(x *tiffText) {
			x.edit = map[uint16][]uint64{tiffWidth: {1 << 30}, tiffHeight: {1 << 10}, tiffRowsPerStrip: {1 << 10}, tiffStripOffsets: {16}, tiffStripByteCounts: {8}}
		}, "header states 1099511627776 bytes of voxels, more than 8"},
		{"huge tile", func(x *tiffText) {
			x.segW, x.segH = 16, 16
			x.edit = map[uint16][]uint64{tiffTileWidth: {1 << 30}, tiffTileHeight: {1 << 30}}
		}, "compressed bytes can hold"},
		{"overlap", func(x *tiffText) {
			x.w, x.h, x.segH, x.pages = 40, 6, 2, tiffPages(element.Uint8, 6, 240)
			x.edit = map[uint16][]uint64{tiffStripOffsets: {16, 16, 16}, tiffStripByteCounts: {1000, 1000, 1000}}
		}, "overlap"},
		{"beyond", one(tiffStripOffsets, 16, 16, 1<<30), "truncated: strip or tile 3 has 8 bytes at byte 1073741824"},
		{"short strip", one(tiffStripByteCounts, 8, 8, 7), "header states 8 bytes of voxels"},
		{"short PackBits", func(x *tiffText) {
			x.compression, x.edit = tiffPackBits, map[uint16][]uint64{tiffStripByteCounts: {1, 1, 1}}
		}, "truncated: "},
		{"short deflate", func(x *tiffText) {
			x.compression, x.edit = tiffDeflate, map[uint16][]uint64{tiffStripByteCounts: {9, 9, 9}}
		}, "truncated: "},
		{"no deflate", func(x *tiffText) { x.edit = map[uint16][]uint64{tiffCompression: {tiffDeflate}} }, "decompressing"},
		{"no LZW", func(x *tiffText) { x.edit = map[uint16][]uint64{tiffCompression: {tiffLZW}} }, "strip or tile 1: "},
		{"loop", func(x *tiffText) { x.loop = true }, "round in a circle"},
		{"no page", func(x *tiffText) { x.pages = nil }, ""},
		{"ImageJ", one(tiffDescription, asciiTag("ImageJ=1.53t\nimages=7\nslices=7")...), ""},
		{"NaN", func(x *tiffText) {
			x.stored, x.pages = element.Float32, tiffPages(element.Float32, 2, 24)
			x.pages[1][5] = math.NaN()
		}, "1 value is NaN or infinite, the first at index 29 (z 1, y 1, x 1)"},
	} {
		t.Run(c.what, func(t *testing.T) {
			for _, big := range []bool{false, true} {
				x := base()
				x.big, x.large = big, big
				c.edit(&x)
				data := writeTiff(x)
				checkAnyFile(t, "image.tif", data)
				if c.want != "" {
					checkRefusedCheaply(t, "image.tif", data, format.Options{}, c.want)
				}
			}
		})
	}
	x := base()
	x.pages = nil
	checkRefusedCheaply(t, "empty.tif", append(writeTiff(x), make([]byte, 16)...), format.Options{}, "no page")
	// ImageJ describes only the first page.
	x = base()
	x.pages = x.pages[:1]
	x.edit = map[uint16][]uint64{tiffDescription: asciiTag("ImageJ=1.53t\nimages=7\nslices=7")}
	checkRefusedCheaply(t, "imagej.tif", writeTiff(x), format.Options{}, "its description states T 1, Z 7, C 1, and the file has 1 planes")
	// The first segment follows the header of 8 bytes.
	x = base()
	x.compression = tiffDeflate
	data := writeTiff(x)
	data[8+len(deflated(fileBytes(element.Uint8, byteOrders()[false], 8, fileSequence(element.Uint8))))-1] ^= 1
	checkRefusedCheaply(t, "checksum.tif", data, format.Options{}, "page 1: strip or tile 1: decompressing the voxels: zlib: invalid checksum")
	checkRefusedCheaply(t, "stream.tif", writeTiff(base()), format.Options{Stream: true}, "cannot be streamed")
	checkRefusedCheaply(t, "magic.tif", make([]byte, 99), format.Options{}, "does not start with II or MM")
	checkRefusedCheaply(t, "version.tif", append([]byte("II\x2c"), make([]byte, 99)...), format.Options{}, "its version is 44")
	checkRefusedCheaply(t, "short.tif", []byte("II*"), format.Options{}, "shorter than a TIFF header")
}

// TestTiffPadded reads strips with more bytes than their rows: some writers pad the last strip.
func TestTiffPadded(t *testing.T) {
	for _, compression := range []uint64{tiffPlain, tiffDeflate, tiffPackBits} {
		x := tiffText{stored: element.Uint8, w: 4, h: 6, segH: 6, compression: compression, predictor: 1, pages: tiffPages(element.Uint8, 1, 24)}
		x.edit = map[uint16][]uint64{tiffHeight: {5}}
		checkFileImage(t, mustOpen(t, "image.tif", writeTiff(x)), "4x5", grid.Uint8, fileSequence(element.Uint8))
	}
}

func FuzzTiff(f *testing.F) {
	for _, compression := range []uint64{tiffPlain, tiffDeflate, tiffPackBits} {
		f.Add(writeTiff(tiffText{stored: element.Int16, large: true, big: true, w: 5, h: 4, segW: 4, segH: 4, compression: compression, predictor: 2, pages: tiffPages(element.Int16, 2, 20)}))
	}
	fuzzFile(f, ".tif")
}
