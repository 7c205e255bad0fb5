//go:build amd64 && !noasm

package binned

import "eccbench/internal/isa"

// assembled reports whether this program has vector instructions.
const assembled = true

func vector(name string) kernel[float32] {
	if name == isa.AVX2 {
		k := kernel[float32]{columns256, tilted256, placeOf(place256), dotColumns, addColumns}
		if isa.FMA() {
			k.dots, k.adds = dotsOf(dots256), addsOf(adds256)
		}
		return k
	}
	return kernel[float32]{columns512, tilted512, placeOf(place512), dotsOf(dots512), addsOf(adds512)}
}

const valueBytes = 4

// columns512 processes columns of vectors: see portable.
func columns512(s *step[float32]) {
	if s.rows == 0 {
		return
	}
	var none [lanes]uint8
	for x := int64(0); x < s.width; x += lanes {
		out, apart := &none[0], int64(0)
		if s.out != nil {
			out, apart = &s.out[x], s.width
		}
		column512(&s.below[lead+x], &s.above[lead+x], &s.owed[x], out, int(s.stride*valueBytes), int(apart), int(s.rows), 1<<min(lanes, s.width-x)-1)
	}
}

// columns256 does the same with vectors of half the length. Lanes after the last voxel of a row are
// written to unused memory.
func columns256(s *step[float32]) {
	const few = lanes / 2
	if s.rows == 0 {
		return
	}
	var none [few]uint8
	for x := int64(0); x < s.width; x += few {
		out, apart, beside := &none[0], int64(0), []uint8(nil)
		switch {
		case s.out != nil && x+few <= s.width:
			out, apart = &s.out[x], s.width
		case s.out != nil:
			beside = make([]uint8, s.rows*few)
			out, apart = &beside[0], few
		}
		column256(&s.below[lead+x], &s.above[lead+x], &s.owed[x], out, int(s.stride*valueBytes), int(apart), int(s.rows))
		for r := range int64(len(beside)) / few {
			copy(s.out[r*s.width+x:(r+1)*s.width], beside[r*few:])
		}
	}
}

func tilted512(dst, row []float32, of float32, along []float32) {
	if len(row) > 0 {
		tilt512(&dst[:len(row)][0], &row[0], &along[:len(row)][0], of, len(row))
	}
}

func tilted256(dst, row []float32, of float32, along []float32) {
	if len(row) > 0 {
		tilt256(&dst[:len(row)][0], &row[0], &along[:len(row)][0], of, len(row))
	}
}

// placeOf, dotsOf and addsOf return the functions for slices of functions for their memory.
func placeOf(place func(row *int32, y *float32, lo, inverse, most float64, n int)) func([]shared, *Nodes, []float32, []uint8) {
	return func(row []shared, k *Nodes, y []float32, _ []uint8) {
		place(&row[0].first[0], &y[0], k.lo, k.inverse, float64(k.n-sharedNodes), len(row))
	}
}

func dotsOf(dots func(out, nodes *float64, from *int32, table *float64, apart, n int)) func(_, _ []float64, _ []int32, _ []float64, _ int) {
	return func(out, nodes []float64, from []int32, table []float64, apart int) {
		dots(&out[0], &nodes[0], &from[0], &table[0], apart, len(from))
	}
}

func addsOf(adds func(nodes, by *float64, from *int32, table *float64, apart, n int)) func(_, _ []float64, _ []int32, _ []float64, _ int) {
	return func(nodes, g []float64, from []int32, table []float64, apart int) {
		adds(&nodes[0], &g[0], &from[0], &table[0], apart, len(from))
	}
}
