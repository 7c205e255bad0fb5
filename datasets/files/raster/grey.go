package raster

import (
	"bytes"
	"fmt"
)

// opaqueGrey writes the grey of each pixel of a row. A pixel has a number of samples, of size bytes
// each. The first colours samples are red, green and blue, or grey alone. Then comes alpha, with
// all bits set in an opaque pixel.
func opaqueGrey(dst, src []byte, size, samples, colours int64) error {
	if samples == 1 {
		copy(dst, src)
		return nil
	}
	pixel := samples * size
	for i := range int64(len(src)) / pixel {
		p := src[i*pixel:][:pixel]
		grey := p[:size]
		for c := int64(1); c < colours; c++ {
			if !bytes.Equal(p[c*size:][:size], grey) {
				return notGrey{i, true}
			}
		}
		for _, v := range p[colours*size:] {
			if v != 0xff {
				return notGrey{i, false}
			}
		}
		copy(dst[i*size:], grey)
	}
	return nil
}

// notGrey is the reason why a row's pixel has no grey.
type notGrey struct {
	pixel    int64
	coloured bool // else not opaque
}

func (e notGrey) Error() string {
	if e.coloured {
		return fmt.Sprintf("an image in colour: red, green and blue differ first at pixel %d of a row; save one channel, "+
			"or a greyscale of 8 or 16 bits", e.pixel)
	}
	return fmt.Sprintf("an image with transparency, which is first not opaque at pixel %d of a row; save it without its "+
		"alpha channel", e.pixel)
}
