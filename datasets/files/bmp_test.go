package files

import (
	"bytes"
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// A bmpText is the input of writeBmp: the headers and the rows, from the top.
type bmpText struct {
	header           uint32 // its size
	w, h             int32
	bits             uint16
	compression      uint32
	topDown          bool
	colours          uint32
	palette          []byte
	masks            []uint32
	rows             [][]byte
	stored, offsetBy uint32
	tail             []byte
}

func writeBmp(x bmpText) []byte {
	le := binary.LittleEndian
	h := x.h
	if x.topDown {
		h = -h
	}
	info := le.AppendUint32(nil, x.header)
	if x.header == 12 {
		info = le.AppendUint16(le.AppendUint16(info, uint16(x.w)), uint16(h))
		info = le.AppendUint16(le.AppendUint16(info, 1), x.bits)
	} else {
		info = le.AppendUint32(le.AppendUint32(info, uint32(x.w)), uint32(h))
		info = le.AppendUint16(le.AppendUint16(info, 1), x.bits)
		for _, v := range append([]uint32{x.compression, x.stored, 0, 0, x.colours, 0}, x.masks...) {
			info = le.AppendUint32(info, v)
		}
		info = append(info, make([]byte, max(0, int(x.header)-len(info)))...)
	}
	info = append(info, x.palette...)
	var data []byte
	for i := range x.rows {
		row := x.rows[i]
		if !x.topDown {
			row = x.rows[len(x.rows)-1-i]
		}
		data = append(data, row...)
		data = append(data, make([]byte, -len(row)&3)...)
	}
	file := le.AppendUint32([]byte(bmpMagic), uint32(14+len(info)+len(data)))
	file = le.AppendUint32(append(file, 0, 0, 0, 0), uint32(14+len(info))+x.offsetBy)
	return append(append(append(file, info...), data...), x.tail...)
}

// greyPalette returns all grey values of a number of bits, from black to white.
func greyPalette(bits uint16, entry int) []byte {
	var p []byte
	for i := range 1 << bits {
		v := byte(i * 255 / (1<<bits - 1))
		p = append(p, []byte{v, v, v, 0}[:entry]...)
	}
	return p
}

func TestBmpImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := bmpText{
			header:  rapid.SampledFrom([]uint32{12, 40, 52, 56, 64, 108, 124}).Draw(t, "header"),
			w:       rapid.Int32Range(1, 40).Draw(t, "w"),
			h:       rapid.Int32Range(1, 9).Draw(t, "h"),
			bits:    rapid.SampledFrom([]uint16{1, 4, 8, 24, 32}).Draw(t, "bits"),
			topDown: rapid.Bool().Draw(t, "top down"),
		}
		entry := 4
		if x.header == 12 {
			entry, x.topDown = 3, false
		}
		level := func(i int64) int64 { return (5*i + 3) % (1 << min(8, x.bits)) }
		if x.bits <= 8 {
			x.palette = greyPalette(x.bits, entry)
		}
		for y := range int64(x.h) {
			row := make([]byte, (int(x.w)*int(x.bits)+7)/8)
			for i := range int64(x.w) {
				v := level(y*int64(x.w) + i)
				if x.bits > 8 {
					copy(row[i*int64(x.bits)/8:], []byte{byte(v), byte(v), byte(v)})
				} else {
					at := i * int64(x.bits)
					row[at/8] |= byte(v) << (8 - int64(x.bits) - at%8)
				}
			}
			x.rows = append(x.rows, row)
		}
		scale := int64(255 / (1<<min(8, x.bits) - 1))
		data := writeBmp(x)
		got, err := openFileBytes(rapid.SampledFrom([]string{"image.bmp", "image"}).Draw(t, "name"), data, format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkFileImage(t, got, fileShapeText([]int64{int64(x.h), int64(x.w)}), grid.Uint8, func(i int64) float64 { return float64(scale * level(i)) })
		for n := range data {
			checkRefusedBmp(t, data[:n])
		}
	})
}

func checkRefusedBmp(t *rapid.T, data []byte) {
	if _, err := openFileBytes("image.bmp", data, format.Options{}); err == nil {
		t.Fatalf("the first %d bytes are accepted", len(data))
	}
}

// The palette assigns grey values to the indices of pixels, in any order.
func TestBmpPalette(t *testing.T) {
	x := bmpText{header: 40, w: 3, h: 1, bits: 8, colours: 3, palette: []byte{9, 9, 9, 0, 7, 7, 7, 1, 1, 2, 3, 0}, rows: [][]byte{{0, 1, 0}}}
	checkFileImage(t, mustOpen(t, "image.bmp", writeBmp(x)), "3x1", grid.Uint8, func(i int64) float64 { return []float64{9, 7, 9}[i] })
	x.rows = [][]byte{{0, 1, 2}} // a used colour
	checkRefusedCheaply(t, "image.bmp", writeBmp(x), format.Options{}, "row 0: an image in colour: red, green and blue differ first at pixel 2")
	x.rows = [][]byte{{0, 1, 3}}
	checkRefusedCheaply(t, "image.bmp", writeBmp(x), format.Options{}, "row 0: pixel 2 has colour 3, which the palette lacks")
}

func TestBmpErrors(t *testing.T) {
	byteMasks := []uint32{0xff0000, 0xff00, 0xff, 0xff000000}
	good := bmpText{header: 40, w: 3, h: 2, bits: 8, palette: greyPalette(8, 4), rows: [][]byte{{1, 2, 3}, {4, 5, 6}}}
	wide := bmpText{header: 108, w: 1, h: 1, bits: 32, compression: 3, masks: byteMasks, rows: [][]byte{{5, 5, 5, 255}}}
	checkFileImage(t, mustOpen(t, "image.bmp", writeBmp(wide)), "1x1", grid.Uint8, func(int64) float64 { return 5 })
	for _, c := range []struct {
		what string
		base bmpText
		edit func(*bmpText)
		want string
	}{
		{"good", good, func(*bmpText) {}, ""},
		{"filled up", good, func(x *bmpText) { x.stored, x.tail = 10, []byte{0, 0} }, ""},
		{"gap", good, func(x *bmpText) { x.palette = append(bytes.Clone(x.palette), 0) }, ""},
		{"trailing", good, func(x *bmpText) { x.tail = []byte{0} }, "trailing data: 1 bytes after the pixels"},
		{"short", good, func(x *bmpText) { x.rows = x.rows[:1] }, "truncated: 4 bytes of pixels where the header states 8"},
		{"late", good, func(x *bmpText) { x.offsetBy = 1 << 20 }, "truncated: 0 bytes of pixels"},
		{"early", good, func(x *bmpText) { x.palette, x.tail = x.palette[:8], make([]byte, 2000) }, "within itself"},
		{"size", good, func(x *bmpText) { x.header = 41 }, "does not start with a BMP header"},
		{"no width", good, func(x *bmpText) { x.w = 0 }, "0x2 pixels"},
		{"negative width", good, func(x *bmpText) { x.w = -1 }, "-1x2 pixels"},
		{"no height", good, func(x *bmpText) { x.h = 0 }, "3x0 pixels"},
		{"least height", good, func(x *bmpText) { x.h = -1 << 31 }, "2147483648 pixels"},
		{"huge", good, func(x *bmpText) { x.w, x.h = 1<<31-1, 1<<31-1 }, "truncated: rows of"},
		{"RLE", good, func(x *bmpText) { x.compression = 1 }, "a BMP image of compression 1 (8 bits)"},
		{"16 bits", good, func(x *bmpText) { x.bits = 16 }, "a BMP image of 16 bits"},
		{"many colours", good, func(x *bmpText) { x.colours = 257 }, "a palette of 257 colours for 8 bits"},
		{"colour", bmpText{header: 40, w: 1, h: 1, bits: 24, rows: [][]byte{{1, 2, 3}}}, func(*bmpText) {}, "an image in colour"},
		{"clear", wide, func(x *bmpText) { x.rows = [][]byte{{5, 5, 5, 254}} }, "with transparency"},
		{"no alpha", wide, func(x *bmpText) { x.header, x.rows = 52, [][]byte{{5, 5, 5, 254}} }, ""},
		{"masks", wide, func(x *bmpText) { x.masks = []uint32{0xff, 0xff00, 0xff0000, 0} }, "colours are not a byte each"},
	} {
		x := c.base
		c.edit(&x)
		checkAnyFile(t, "image.bmp", writeBmp(x))
		if c.want != "" {
			checkRefusedCheaply(t, "image.bmp", writeBmp(x), format.Options{}, c.want)
		} else if _, err := openFileBytes("image.bmp", writeBmp(x), format.Options{}); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	checkRefusedCheaply(t, "image.bmp", writeBmp(good), format.Options{Stream: true}, "cannot be streamed")
}

func FuzzBmp(f *testing.F) {
	f.Add(writeBmp(bmpText{header: 40, w: 3, h: 2, bits: 8, palette: greyPalette(8, 4), rows: [][]byte{{1, 2, 3}, {4, 5, 6}}}))
	f.Add(writeBmp(bmpText{header: 12, w: 3, h: 2, bits: 1, palette: greyPalette(1, 3), rows: [][]byte{{1}, {2}}}))
	f.Fuzz(func(t *testing.T, data []byte) { checkAnyFile(t, "image.bmp", data) })
}
