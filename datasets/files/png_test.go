package files

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

func appendChunk(b []byte, kind string, data []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(data)))
	at := len(b)
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[at:]))
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// writePng returns a PNG file of filtered rows, with its data in two chunks.
func writePng(w, h uint32, depth, colour, interlace byte, rows []byte, extra ...string) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	b := appendChunk([]byte(pngMagic), "IHDR", append(head, depth, colour, 0, 0, interlace))
	for _, kind := range extra {
		b = appendChunk(b, kind, []byte{0, 0})
	}
	data := deflated(rows)
	b = appendChunk(b, "IDAT", data[:len(data)/2])
	b = appendChunk(b, "IDAT", data[len(data)/2:])
	return appendChunk(b, "IEND", nil)
}

func TestPngDepths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.Int64Range(1, 40).Draw(t, "w"), rapid.Int64Range(1, 9).Draw(t, "h")
		depth := rapid.SampledFrom([]int64{1, 2, 4, 8, 16}).Draw(t, "depth")
		var rows []byte
		level := func(i int64) int64 { return (5*i + 3) % (1 << depth) }
		for y := range h {
			row := make([]byte, 1+(w*depth+7)/8)
			for x := range w {
				for bit := range depth {
					at := x*depth + bit
					row[1+at/8] |= byte(level(y*w+x)>>(depth-1-bit)&1) << (7 - at%8)
				}
			}
			rows = append(rows, row...)
		}
		data := writePng(uint32(w), uint32(h), byte(depth), 0, 0, rows)
		got, err := openFileBytes("image.png", data, format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		typ, scale := grid.Uint8, int64(1)
		switch {
		case depth == 16:
			typ = grid.Uint16
		case depth < 8:
			scale = 255 / (1<<depth - 1)
		}
		checkFileImage(t, got, fileShapeText([]int64{h, w}), typ, func(i int64) float64 { return float64(scale * level(i)) })
	})
}

func TestPngInterlaced(t *testing.T) {
	// 3x2 in Adam7: passes 1 (0,0), 4 (2,0), 6 (1,0) and 7 (the second row).
	rows := []byte{0, 10, 0, 30, 0, 20, 0, 40, 50, 60}
	checkFileImage(t, mustOpen(t, "image.png", writePng(3, 2, 8, 0, 1, rows)), "3x2", grid.Uint8, linear(10, 10))
	for n := range rows {
		checkRefusedCheaply(t, "short.png", writePng(3, 2, 8, 0, 1, rows[:n]), format.Options{}, "truncated: ")
	}
}

// Chunks that only affect the display do not change pixels.
func TestPngShown(t *testing.T) {
	data := writePng(3, 2, 8, 0, 0, []byte{0, 1, 2, 3, 0, 4, 5, 6}, "gAMA", "sBIT", "bKGD", "cHRM", "sRGB", "iCCP", "eXIf", "tIME", "tEXt", "prVt")
	checkFileImage(t, mustOpen(t, "image.png", data), "3x2", grid.Uint8, linear(1, 1))
}

func TestPngErrors(t *testing.T) {
	rows := []byte{0, 1, 2, 3, 0, 4, 5, 6}
	good := writePng(3, 2, 8, 0, 0, rows)
	checkFileImage(t, mustOpen(t, "image.png", good), "3x2", grid.Uint8, linear(1, 1))
	checkFileImage(t, mustOpen(t, "image.png", writePng(3, 2, 8, 0, 0, rows, "tRNS")), "3x2", grid.Uint8, linear(1, 1)) // no pixel of it
	checkFileImage(t, mustOpen(t, "image.png", writePng(2, 1, 16, 4, 0, []byte{0, 0, 1, 255, 255, 0, 2, 255, 255})), "2x1", grid.Uint16, linear(1, 1))
	flip := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	for _, c := range []struct {
		what string
		data []byte
		want string
	}{
		{"colour", writePng(1, 2, 8, 2, 0, []byte{0, 1, 1, 1, 0, 4, 4, 6}), "row 1: an image in colour: red, green and blue differ first at pixel 0"},
		{"colour and alpha", writePng(1, 1, 8, 6, 0, []byte{0, 1, 2, 1, 255}), "an image in colour"},
		{"clear", writePng(2, 1, 8, 6, 0, []byte{0, 1, 1, 1, 255, 1, 1, 1, 254}), "with transparency, which is first not opaque at pixel 1"},
		{"short colour", writePng(3, 2, 8, 2, 0, rows), "truncated: the compressed pixels end after 8 of 20 bytes"},
		{"palette", writePng(3, 2, 8, 3, 0, rows), "a palette"},
		{"alpha", writePng(1, 1, 16, 4, 0, []byte{0, 1, 2, 255, 254}), "with transparency"},
		{"transparent", writePng(3, 1, 8, 0, 0, []byte{0, 1, 2, 0}, "tRNS"), "first not opaque at pixel 2"},
		{"colour type", writePng(3, 2, 8, 1, 0, rows), "colour type 1 is unknown"},
		{"animated", writePng(3, 2, 8, 0, 0, rows, "acTL"), "an animated PNG image of several frames; save one frame"},
		{"calibrated", writePng(3, 2, 8, 0, 0, rows, "pCAL"), "calibrated (pCAL)"},
		{"critical", writePng(3, 2, 8, 0, 0, rows, "CgBI"), "the chunk \"CgBI\", which must be understood"},
		{"depth", writePng(3, 2, 32, 0, 0, rows), "bit depth 32"},
		{"zero width", writePng(0, 2, 8, 0, 0, rows), "at least 1"},
		{"short", writePng(3, 3, 8, 0, 0, rows), "truncated: the compressed pixels end after 8 of 12 bytes"},
		{"long", writePng(3, 1, 8, 0, 0, rows), "too much pixel data"},
		{"huge", writePng(1000000, 1000000, 8, 0, 0, rows), "compressed bytes can hold"},
		{"huge interlaced", writePng(1<<31-1, 1<<31-1, 16, 0, 1, rows), "more voxels than can be counted"},
		{"claim", writePng(10000, 10000, 8, 0, 0, pseudo(100<<10)), "truncated: the compressed pixels end"},
		{"filter", writePng(3, 2, 8, 0, 0, []byte{9, 1, 2, 3, 0, 4, 5, 6}), "filter"},
		{"trailing", append(bytes.Clone(good), 0), "trailing data: 1 bytes"},
		{"magic", flip(0), "not a PNG file"},
		{"checksum", flip(30), "checksum"},
		{"no end", good[:len(good)-12], "before the chunk IEND"},
		{"cut", good[:len(good)-13], "truncated: the chunk \"IDAT\""},
	} {
		t.Run(c.what, func(t *testing.T) {
			checkRefusedCheaply(t, "image.png", c.data, format.Options{}, c.want)
		})
	}
	checkRefusedCheaply(t, "image.png", good, format.Options{Stream: true}, "cannot be streamed")
}

func FuzzPng(f *testing.F) { fuzzFile(f, ".png") }
