package files

import (
	"encoding/binary"
	"maps"
	"slices"

	"eccbench/datasets/element"
)

// A tiffText is the input of writeTiff: the layout of each page and its pixels.
type tiffText struct {
	stored      element.Type
	big         bool // big-endian
	large       bool // BigTIFF
	w, h        int64
	d, segD     int64 // planes of a page and of a tile, 0 for 1
	bits        bool  // each byte is written as one bit
	segW, segH  int64 // tiles, or for segW 0 strips of segH rows
	compression uint64
	predictor   uint64
	pages       [][]float64
	edit        map[uint16][]uint64   // tags to replace, of the last page
	tags        []map[uint16][]uint64 // tags to replace, by page
	loop        bool                  // the last directory points to the first
}

// writeTiff makes a TIFF file: for each page its segments, then its directory.
func writeTiff(x tiffText) []byte {
	order := byteOrders()[x.big]
	offset := func(b []byte, v uint64) []byte {
		if x.large {
			return order.AppendUint64(b, v)
		}
		return order.AppendUint32(b, uint32(v))
	}
	b := []byte(map[bool]string{false: "II", true: "MM"}[x.big])
	if x.large {
		b = order.AppendUint16(order.AppendUint16(order.AppendUint16(b, 43), 8), 0)
	} else {
		b = order.AppendUint16(b, 42)
	}
	link := len(b) // place of the next directory's offset
	b = offset(b, 0)
	first := 0
	for i, pixels := range x.pages {
		var offsets, counts []uint64
		for _, s := range tiffSegmentsOf(x, order, pixels) {
			offsets, counts = append(offsets, uint64(len(b))), append(counts, uint64(len(s)))
			b = append(b, s...)
		}
		format := map[element.Type]uint64{element.Uint8: 1, element.Uint16: 1, element.Int8: 2, element.Int16: 2, element.Float32: 3, element.Float64: 3, element.Uint32: 1}[x.stored]
		tags := map[uint16][]uint64{
			tiffWidth: {uint64(x.w)}, tiffHeight: {uint64(x.h)}, tiffBits: {uint64(8 * x.stored.Size())},
			tiffCompression: {x.compression}, tiffPhotometric: {1}, tiffSamples: {1}, tiffSampleFormat: {format},
			tiffPredictor: {x.predictor}, 305: {'a', 'b', 'c', 0, 0, 0, 0, 0, 0},
		}
		if x.segW == 0 {
			tags[tiffStripOffsets], tags[tiffStripByteCounts], tags[tiffRowsPerStrip] = offsets, counts, []uint64{uint64(x.segH)}
		} else {
			tags[tiffTileOffsets], tags[tiffTileByteCounts] = offsets, counts
			tags[tiffTileWidth], tags[tiffTileHeight] = []uint64{uint64(x.segW)}, []uint64{uint64(x.segH)}
		}
		if x.bits {
			tags[tiffBits] = []uint64{1}
		}
		if x.d > 0 {
			tags[tiffImageDepth] = []uint64{uint64(x.d)}
		}
		if x.segD > 0 {
			tags[tiffTileDepth] = []uint64{uint64(x.segD)}
		}
		if i == len(x.pages)-1 {
			maps.Copy(tags, x.edit)
		}
		if i < len(x.tags) {
			maps.Copy(tags, x.tags[i])
		}
		var dir []byte
		b, dir = tiffDirectory(x, order, b, tags, offset)
		copy(b[link:], offset(nil, uint64(len(b))))
		if first == 0 {
			first = len(b)
		}
		b = append(b, dir...)
		link = len(b)
		b = offset(b, 0)
	}
	if x.loop {
		copy(b[link:], offset(nil, uint64(first)))
	}
	return b
}

// tiffDirectory appends the lists of a directory to b, and returns b and the
// directory without its link.
func tiffDirectory(x tiffText, order binary.AppendByteOrder, b []byte, tags map[uint16][]uint64, offset func([]byte, uint64) []byte) ([]byte, []byte) {
	var names []uint16
	for tag, v := range tags {
		if len(v) > 0 { // an empty edit removes a tag
			names = append(names, tag)
		}
	}
	slices.Sort(names)
	dir := order.AppendUint16(nil, uint16(len(names)))
	if x.large {
		dir = order.AppendUint64(nil, uint64(len(names)))
	}
	field := len(offset(nil, 0))
	for _, tag := range names {
		kind := uint16(4)
		if tag == tiffSoftware || tag == tiffDescription || tag == tiffNoData {
			kind = 2
		}
		var list []byte
		for _, v := range tags[tag] {
			if kind == 2 {
				list = append(list, byte(v))
			} else {
				list = order.AppendUint32(list, uint32(v))
			}
		}
		dir = offset(order.AppendUint16(order.AppendUint16(dir, tag), kind), uint64(len(tags[tag])))
		if len(list) <= field {
			dir = append(dir, append(list, make([]byte, field-len(list))...)...)
		} else {
			dir = offset(dir, uint64(len(b)))
			b = append(b, list...)
		}
	}
	return b, dir
}

func tiffSegmentsOf(x tiffText, order binary.AppendByteOrder, pixels []float64) [][]byte {
	segW, segH := x.segW, x.segH
	if segW == 0 {
		segW = x.w
	}
	d, segD := max(1, x.d), max(1, x.segD)
	var out [][]byte
	for z0 := int64(0); z0 < d; z0 += segD {
		for y0 := int64(0); y0 < x.h; y0 += segH {
			for x0 := int64(0); x0 < x.w; x0 += segW {
				var data []byte
				for z := z0; z < z0+segD; z++ {
					for y := y0; y < y0+segH && (y < x.h || x.segW > 0); y++ {
						var row []byte
						for c := x0; c < x0+segW; c++ {
							v := 7.0 // padding
							if z < d && y < x.h && c < x.w {
								v = pixels[(z*x.h+y)*x.w+c]
							}
							row = appendElement(row, x.stored, order, v)
						}
						if x.bits {
							row = packedBits(row)
						}
						data = append(data, differences(x, order, row)...)
					}
				}
				switch x.compression {
				case tiffDeflate, tiffOldDeflate:
					data = deflated(data)
				case tiffPackBits:
					data = packed(data)
				}
				out = append(out, data)
			}
		}
	}
	return out
}

// packedBits returns the lowest bits of bytes, eight per byte, the first one highest.
func packedBits(row []byte) []byte {
	out := make([]byte, (len(row)+7)/8)
	for i, v := range row {
		out[i/8] |= v & 1 << (7 - i%8)
	}
	return out
}

func differences(x tiffText, order binary.AppendByteOrder, row []byte) []byte {
	switch x.predictor {
	case 1:
		return row
	case 3:
		return planes(x, order, row)
	}
	get := func(i int64) uint32 {
		switch b := row[i*x.stored.Size():]; x.stored.Size() {
		case 1:
			return uint32(b[0])
		case 2:
			return uint32(order.(binary.ByteOrder).Uint16(b))
		default:
			return order.(binary.ByteOrder).Uint32(b)
		}
	}
	var out []byte
	last := uint32(0)
	for i := range int64(len(row)) / x.stored.Size() {
		d := get(i) - last
		last = get(i)
		switch x.stored.Size() {
		case 1:
			out = append(out, byte(d))
		case 2:
			out = order.AppendUint16(out, uint16(d))
		default:
			out = order.AppendUint32(out, d)
		}
	}
	return out
}

// planes returns the differences of the bytes of floats, those with the sign first.
func planes(x tiffText, order binary.AppendByteOrder, row []byte) (out []byte) {
	size := int(x.stored.Size())
	last := byte(0)
	for k := range size {
		for i := 0; i < len(row); i += size {
			b := row[i+k]
			if order == binary.AppendByteOrder(binary.LittleEndian) {
				b = row[i+size-1-k]
			}
			out = append(out, b-last)
			last = b
		}
	}
	return out
}

// packed returns PackBits: runs of three or more, and literals.
func packed(data []byte) []byte {
	var out []byte
	for len(data) > 0 {
		n := 1
		for n < len(data) && n < 128 && data[n] == data[0] {
			n++
		}
		if n > 2 {
			out = append(out, byte(int8(1-n)), data[0])
		} else {
			n = min(len(data), 1+int(data[0])%128)
			out = append(append(out, byte(n-1)), data[:n]...)
			out = append(out, 0x80) // skipped by readers
		}
		data = data[n:]
	}
	return out
}
