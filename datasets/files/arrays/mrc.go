package arrays

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
)

const mrcHeaderSize = 1024

func matchesMrc(head []byte) bool { return len(head) >= 216 && string(head[208:211]) == "MAP" }

// openMrc reads the header of an MRC2014 or CCP4 map (ccpem.ac.uk/mrc_format/mrc2014.php). It
// reorders voxels whose axes are not x, y, z, fastest first. Bytes are signed unless IMOD marks
// them as unsigned. A stack of images, which have 2 axes, or of volumes holds several images.
func openMrc(in format.Input) (*format.Body, error) {
	h, err := in.Head(mrcHeaderSize)
	if err != nil {
		return nil, err
	}
	if len(h) < mrcHeaderSize {
		return nil, fmt.Errorf("truncated: %d bytes, fewer than an MRC header; copy the file again", len(h))
	}
	if !matchesMrc(h) {
		return nil, errors.New("not an MRC file: the word MAP is not at byte 208 of its header; check the file, or save it " +
			"as MRC2014")
	}
	order, err := mrcOrder(h, in.Size)
	if err != nil {
		return nil, err
	}
	word := func(at int) int64 { return int64(int32(order.Uint32(h[at:]))) }
	b := &format.Body{Big: order == binary.BigEndian}
	types := map[int64]element.Type{0: element.Int8, 1: element.Int16, 2: element.Float32, 6: element.Uint16,
		12: element.Float16}
	mode, known := word(12), false
	if b.Stored, known = types[mode]; !known {
		return nil, fmt.Errorf("MRC mode %d is not 0, 1, 2, 6 or 12 (int8, int16, float32, uint16, float16); save it as "+
			"one of them", mode)
	}
	const imod = 1146047817 // "IMOD", the stamp; flags follow, the first for the sign
	if mode == 0 && word(152) == imod && word(156)&1 == 0 {
		b.Stored = element.Uint8
	}
	place, err := mrcPlaces(word)
	if err != nil {
		return nil, err
	}
	var outer []int64
	axes := []int64{word(8), word(4), word(0)} // slowest first
	group, depth := word(88), word(36)
	switch {
	case group >= 401 && group <= 630 && (depth < 1 || axes[0]%depth != 0):
		return nil, fmt.Errorf("MRC stack of %d slices in volumes of %d; correct the header", axes[0], depth)
	case group >= 401 && group <= 630:
		outer, axes[0] = []int64{axes[0] / depth}, depth
	case group == 0 && (depth == 1 && axes[0] > 1 || axes[0] == 1 && place[2] == 3):
		outer, axes = axes[:1], axes[1:]
	}
	if err := b.Choose(outer, axes, 1, in); err != nil {
		return nil, err
	}
	extended := word(92)
	if extended < 0 {
		return nil, fmt.Errorf("MRC extended header of %d bytes; the header is damaged", extended)
	}
	b.Offset = mrcHeaderSize + extended
	if slices.Equal(place, mrcAxes) {
		return b, nil
	}
	b.In = in
	return b, mrcPermute(b, place)
}

// mrcAxes are the numbers of x, y and z in the header.
var mrcAxes = []int64{1, 2, 3}

// mrcPlaces returns the axes of columns, rows and sections.
func mrcPlaces(word func(at int) int64) ([]int64, error) {
	place := []int64{word(64), word(68), word(72)}
	if slices.Equal(place, []int64{0, 0, 0}) { // not specified
		return mrcAxes, nil
	}
	if !slices.Equal(slices.Sorted(slices.Values(place)), mrcAxes) {
		return nil, fmt.Errorf("MRC axes are in the order %d, %d, %d; want 1, 2 and 3, each once",
			place[0], place[1], place[2])
	}
	return place, nil
}

// mrcOrder returns the byte order in the machine stamp. Without a stamp, it is the order in which
// the header agrees with the length of the file.
func mrcOrder(h []byte, size int64) (binary.ByteOrder, error) {
	switch h[212] {
	case 0x44:
		return binary.LittleEndian, nil
	case 0x11:
		return binary.BigEndian, nil
	case 0:
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			word := func(at int) int64 { return int64(order.Uint32(h[at:])) }
			n := map[int64]int64{0: 1, 1: 2, 2: 4, 6: 2, 12: 2}[word(12)] // bytes by mode
			for at := 0; at < 12 && 0 < n && n < size; at += 4 {
				n *= word(at)
			}
			if n > 0 && mrcHeaderSize+word(92)+n == size {
				return order, nil
			}
		}
	}
	return nil, fmt.Errorf("MRC machine stamp %#x %#x is neither little-endian nor big-endian; save it again",
		h[212], h[213])
}

// mrcPermute reorders the voxels to x, y, z. place is the order of the axes in the file.
func mrcPermute(b *format.Body, place []int64) error {
	if b.Volumes.Count > 1 {
		return fmt.Errorf("MRC axes of several volumes are in the order %d, %d, %d; save them as 1, 2, 3 (x, y, z)",
			place[0], place[1], place[2])
	}
	return b.Permute(place)
}
