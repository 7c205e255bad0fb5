package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

const mrcHeaderSize = 1024

func matchesMrc(head []byte) bool { return len(head) >= 216 && string(head[208:211]) == "MAP" }

// openMrc reads the header of an MRC2014 or CCP4 map (ccpem.ac.uk/mrc_format/mrc2014.php),
// with its axes in the order x, y, z. The first is the fastest. Bytes have a sign, save where
// IMOD says that they have none. A stack of volumes has several.
func openMrc(in fileInput) (*fileBody, error) {
	h, err := in.head(mrcHeaderSize)
	if err != nil {
		return nil, err
	}
	if len(h) < mrcHeaderSize {
		return nil, fmt.Errorf("truncated: %d bytes, fewer than an MRC header; copy the file again", len(h))
	}
	if !matchesMrc(h) {
		return nil, errors.New("not an MRC file: the word MAP is not at byte 208 of its header; check the file, or save it as MRC2014")
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch stamp := h[212]; stamp {
	case 0x44:
	case 0x11:
		order = binary.BigEndian
	default:
		return nil, fmt.Errorf("MRC machine stamp %#x %#x is neither little-endian nor big-endian; save it again", stamp, h[213])
	}
	word := func(at int) int64 { return int64(int32(order.Uint32(h[at:]))) }
	b := &fileBody{big: order == binary.BigEndian}
	switch mode := word(12); mode {
	case 0:
		const imod = 1146047817 // "IMOD", the stamp; then flags, of which the first is of a sign
		if b.stored = storedInt8; word(152) == imod && word(156)&1 == 0 {
			b.stored = storedUint8
		}
	case 1, 2, 6, 12:
		b.stored = map[int64]storedType{1: storedInt16, 2: storedFloat32, 6: storedUint16, 12: storedFloat16}[mode]
	default:
		return nil, fmt.Errorf("MRC mode %d is not 0, 1, 2, 6 or 12 (int8, int16, float32, uint16, float16); save it as one of them", mode)
	}
	if c, r, s := word(64), word(68), word(72); c != 1 || r != 2 || s != 3 {
		return nil, fmt.Errorf("MRC axes are in the order %d, %d, %d; save them as 1, 2, 3 (x, y, z)", c, r, s)
	}
	axes := []int64{word(0), word(4), word(8)} // fastest first
	if group, depth := word(88), word(36); group >= 401 && group <= 630 && depth > 0 && axes[2]%depth == 0 {
		axes = []int64{axes[0], axes[1], depth, axes[2] / depth}
	}
	slices.Reverse(axes)
	if err := b.frame(axes, in, false); err != nil {
		return nil, err
	}
	extended := word(92)
	if extended < 0 {
		return nil, fmt.Errorf("MRC extended header of %d bytes; the header is damaged", extended)
	}
	b.offset = mrcHeaderSize + extended
	return b, nil
}
