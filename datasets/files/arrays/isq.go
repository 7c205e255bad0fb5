package arrays

import (
	"encoding/binary"
	"errors"
	"fmt"

	"eccbench/datasets/element"
	"eccbench/datasets/files/format"
)

const isqMagic = "CTDATA-HEADER_V1"

// isqBlock is the block size of a Scanco file. Its header and its data are padded to it.
const isqBlock = 512

// openIsq reads the header of an ISQ file, the volume of a Scanco scanner: little-endian int16, the
// first axis the fastest.
func openIsq(in format.Input) (*format.Body, error) {
	h, err := in.Head(isqBlock)
	if err != nil {
		return nil, err
	}
	if !format.StartsWith(isqMagic)(h) {
		return nil, errors.New("not an ISQ file: its first bytes are not " + isqMagic)
	}
	if len(h) < isqBlock {
		return nil, fmt.Errorf("truncated: %d bytes, fewer than an ISQ header; copy the file again", len(h))
	}
	word := func(at int) int64 { return int64(int32(binary.LittleEndian.Uint32(h[at:]))) }
	const radiograph = 9
	if word(16) == radiograph || word(64) == 0 { // the height in micrometres
		return nil, errors.New("a Scanco radiograph, which is no volume; name the ISQ file")
	}
	b := &format.Body{Stored: element.Int16}
	if err := b.Frame([]int64{word(52), word(48), word(44)}, in, false); err != nil {
		return nil, err
	}
	blocks := word(508) // between the header and the data
	if blocks < 0 {
		return nil, fmt.Errorf("ISQ data offset of %d blocks; the header is damaged", blocks)
	}
	b.Offset = (blocks + 1) * isqBlock
	if rest := in.Size - b.Offset - b.Bytes(); rest > 0 && rest < isqBlock {
		in.Size -= rest
	}
	b.In = in
	return b, nil
}
