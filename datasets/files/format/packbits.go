package format

import (
	"bytes"
	"io"
)

// A PackBits decompresses the run lengths of TIFF 6.0, section 9.
type PackBits struct {
	Src     *bytes.Reader
	literal int  // bytes still to copy
	run     int  // times still to repeat
	value   byte // the value to repeat
}

func (r *PackBits) Read(dst []byte) (int, error) {
	n := 0
	for n < len(dst) {
		switch {
		case r.run > 0:
			k := min(r.run, len(dst)-n)
			for i := range dst[n : n+k] {
				dst[n+i] = r.value
			}
			r.run -= k
			n += k
		case r.literal > 0:
			k, err := r.Src.Read(dst[n:min(len(dst), n+r.literal)])
			r.literal -= k
			n += k
			if err != nil {
				return n, io.ErrUnexpectedEOF
			}
		default:
			c, err := r.Src.ReadByte()
			if err != nil {
				return n, err
			}
			switch c := int(int8(c)); {
			case c >= 0:
				r.literal = c + 1
			case c != -128:
				if r.value, err = r.Src.ReadByte(); err != nil {
					return n, io.ErrUnexpectedEOF
				}
				r.run = 1 - c
			}
		}
	}
	return n, nil
}
