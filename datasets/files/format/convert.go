package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"eccbench/datasets/element"
	"eccbench/internal/grid"
)

// Convert converts stored voxels to native ones, row-major. If the result is ranks, it returns
// their values as labels. It takes ownership of data.
func (b *Body) Convert(data []byte) (native []byte, labels *grid.Labels, err error) {
	if data, err = b.clean(data); err != nil {
		return nil, nil, err
	}
	typ, ranks := b.Stored.Native(), b.In.Ranks
	ranks.Refused = b.In.Levels > 0 // ranks have no evenly spaced levels
	if b.Fortran && ranks.Hashed {  // the digest is of values in the order of the image
		ranks.At = nil
	}
	if b.scales != nil {
		if data, labels, err = element.Narrowed(element.AllCores(), b.scaleSlices(data), element.Float64, ranks,
			element.ExactFloat); err != nil {
			return nil, nil, err
		}
		typ = grid.Float32
	} else if b.Stored.Narrowed() || b.Ranked() {
		if data, labels, err = element.Narrow(element.AllCores(), data, b.Stored, b.Scaled, b.Slope, b.Inter,
			ranks); err != nil {
			return nil, nil, err
		}
		typ = grid.Float32
	} else if b.Scaled {
		rescales := map[grid.Type]func(data []byte, slope, inter float64) []byte{grid.Uint8: rescale[uint8],
			grid.Int16: rescale[int16], grid.Uint16: rescale[uint16], grid.Float32: rescale[float32]}
		data, typ = rescales[typ](data, b.Slope, b.Inter), grid.Float32
	}
	if b.Fortran {
		transposes := map[int64]func([]byte, grid.Shape) []byte{1: transpose[uint8], 2: transpose[uint16],
			4: transpose[float32]}
		data = transposes[typ.Size()](data, b.Shape)
	}
	return data, labels, nil
}

// clean returns little-endian voxels without unused bits, and widens int8.
func (b *Body) clean(data []byte) ([]byte, error) {
	if b.Big {
		SwapBytes(data, b.Stored.Size())
	}
	if b.Truth {
		oneTruths(data)
	}
	for _, bits := range b.Blank.Bits {
		if hasBits(data, b.Stored.Size(), bits) {
			return nil, fmt.Errorf("voxels have the value of %s, which means that they have none; fill them in and remove it",
				b.Blank.Name)
		}
	}
	if b.Bits > 0 {
		lowBits(data, b.Stored, b.Bits)
	}
	if b.OtherSign {
		for at, size := int64(0), b.Stored.Size(); at < int64(len(data)); at += size { // little-endian
			data[at+size-1] ^= 0x80
		}
	}
	if b.Stored == element.Int8 {
		wide := grid.NewBuffer(2 * int64(len(data)))
		values := grid.Values[int16](wide)
		for i, v := range data {
			values[i] = int16(int8(v))
		}
		data = wide
	}
	return data, nil
}

// merges reports whether scaling may map several values to one float32.
func (b *Body) merges() bool {
	at := func(v float64) float32 { return float32(float64(v*b.Slope) + b.Inter) }
	lo, hi := 0.0, 255.0
	switch b.Stored {
	case element.Uint8:
	case element.Int8:
		lo, hi = -128, 127
	case element.Int16:
		lo, hi = -1<<15, 1<<15-1
	case element.Uint16:
		hi = 1<<16 - 1
	default:
		return true
	}
	for v := lo; v < hi; v++ {
		if at(v) == at(v+1) {
			return true
		}
	}
	return false
}

// SwapBytes reverses the bytes of each element in place.
func SwapBytes(data []byte, size int64) {
	switch size {
	case 2:
		for i, v := range grid.Values[uint16](data) {
			binary.LittleEndian.PutUint16(data[2*i:], bits.ReverseBytes16(v))
		}
	case 4:
		for i := 0; i+4 <= len(data); i += 4 {
			binary.LittleEndian.PutUint32(data[i:], binary.BigEndian.Uint32(data[i:]))
		}
	case 8:
		for i := 0; i+8 <= len(data); i += 8 {
			binary.LittleEndian.PutUint64(data[i:], binary.BigEndian.Uint64(data[i:]))
		}
	}
}

// oneTruths replaces each nonzero byte by 1.
func oneTruths(data []byte) {
	const ones = 0x0101010101010101
	fix := func(part []byte) {
		for i, v := range part {
			part[i] = min(v, 1)
		}
	}
	for ; len(data) >= 8; data = data[8:] {
		if binary.LittleEndian.Uint64(data)&^ones != 0 {
			fix(data[:8])
		}
	}
	fix(data)
}

// hasBits reports whether one of the little-endian elements of a size has these bits.
func hasBits(data []byte, size int64, pattern uint64) bool {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], pattern)
	want := word[:size]
	for at := int64(0); at < int64(len(data)); at += size {
		if bytes.Equal(data[at:at+size], want) {
			return true
		}
	}
	return false
}

func rescale[T grid.Element](data []byte, slope, inter float64) []byte {
	src := grid.Values[T](data)
	out := grid.NewBuffer(4 * int64(len(src)))
	dst := grid.Values[float32](out)
	for i, v := range src {
		// The conversion keeps the compiler from fusing the two operations,
		// which would change bits between machines.
		dst[i] = float32(float64(float64(v)*slope) + inter)
	}
	return out
}

// transpose makes voxels row-major if the first axis is the fastest.
func transpose[T grid.Element](data []byte, s grid.Shape) []byte {
	if s.D == 1 {
		s = grid.Shape{D: s.H, H: 1, W: s.W}
	}
	src := grid.Values[T](data)
	out := grid.NewBuffer(int64(len(data)))
	dst := grid.Values[T](out)
	const tile = 64 // both sides of a tile stay in the cache
	for y := range s.H {
		for z0 := int64(0); z0 < s.D; z0 += tile {
			for x0 := int64(0); x0 < s.W; x0 += tile {
				for z := z0; z < min(z0+tile, s.D); z++ {
					row := dst[(z*s.H+y)*s.W:][:s.W]
					for x := x0; x < min(x0+tile, s.W); x++ {
						row[x] = src[(x*s.H+y)*s.D+z]
					}
				}
			}
		}
	}
	return out
}

// lowBits clears the upper bits of each element, and extends the sign of signed ones.
func lowBits(data []byte, s element.Type, bits int) {
	unused := 8*int(s.Size()) - bits
	signed := s == element.Int8 || s == element.Int16 || s == element.Int32 || s == element.Int64
	switch s.Size() {
	case 1:
		extendBits[uint8, int8](data, unused, signed)
	case 2:
		extendBits[uint16, int16](grid.Values[uint16](data), unused, signed)
	case 4:
		extendBits[uint32, int32](grid.Values[uint32](data), unused, signed)
	case 8:
		extendBits[uint64, int64](grid.Values[uint64](data), unused, signed)
	}
}

// extendBits is lowBits for values of the unsigned type U, with the signed type S.
func extendBits[U uint8 | uint16 | uint32 | uint64, S int8 | int16 | int32 | int64](values []U, unused int,
	signed bool) {
	for i, v := range values {
		if values[i] = v << unused >> unused; signed {
			values[i] = U(S(v<<unused) >> unused)
		}
	}
}
