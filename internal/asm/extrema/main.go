// Package extrema writes the vector instructions of the package that finds extrema.
package extrema

// lead is the number of bytes of a vector that rows are padded to, on every instruction set.
const lead = 64

// Signatures of the functions of every instruction set. edge, keepY and keepZ are the masks of
// package extrema's columns. order is its table for packing lanes. Each row prefetches two cache
// lines at ahead, which advances by step.
const (
	volumeSignature = "func(below, above, owed, values, changes, order, ahead *byte, step, stride, rows int, edge, " +
		"keepY, keepZ uint64) int"
	areaSignature  = "func(below, values, changes, order, ahead *byte, step, stride, rows int, edge, keepY uint64) int"
	shiftSignature = "func(dst, src *byte, n, rows, stride int, flip, lo, top uint64) int"
)

func affineSignature(float string) string {
	return "func(dst, src *byte, n, rows, stride int, lo, inverse, step " + float + ", last uint64) int"
}

// Write writes all functions of an instruction set.
func Write(isa string) {
	switch isa {
	case "avx512":
		for _, w := range widths512() {
			for _, edge := range []bool{false, true} {
				w.volume(edge)
				w.area(edge)
			}
			scatter(w.size, "avx512")
			affine512(w.size, false)
			affine512(w.size, true)
		}
		shift512(1, 1)
		shift512(2, 1)
		shift512(2, 2)
	case "avx2":
		for _, w := range widths256() {
			w.volume()
			w.area()
			scatter(w.size, "avx2")
			affine256(w.size, false)
			affine256(w.size, true)
		}
		shift256(1)
		shift256(2)
	}
}
