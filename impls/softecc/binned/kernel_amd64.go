//go:build amd64 && !noasm

package binned

// assembled says that this program has vector instructions.
const assembled = true

func vector() kernel[float32] { return kernel[float32]{columns, tilted512} }

// columns goes down columns of vectors: see portable.
func columns(s *step[float32]) {
	if s.rows == 0 {
		return
	}
	const value = 4
	var none [lanes]uint8
	for x := int64(0); x < s.width; x += lanes {
		out, apart := &none[0], int64(0)
		if s.out != nil {
			out, apart = &s.out[x], s.width
		}
		column512(&s.below[lead+x], &s.above[lead+x], &s.owed[x], out, int(s.stride*value), int(apart), int(s.rows), 1<<min(lanes, s.width-x)-1)
	}
}

func tilted512(dst, row []float32, of float32, along []float32) {
	if len(row) > 0 {
		tilt512(&dst[:len(row)][0], &row[0], &along[:len(row)][0], of, len(row))
	}
}
