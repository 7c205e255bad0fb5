// Command asm writes the vector instructions of package extrema, one file per instruction set:
//
//	go run . -isa avx512 -out ../kernel_avx512_amd64.s -stubs ../kernel_avx512_amd64.go
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

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

func main() {
	isa := flag.String("isa", "avx512", "avx512 or avx2")
	flag.Parse()
	ConstraintExpr("!noasm")
	switch *isa {
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
	default:
		fmt.Fprintf(os.Stderr, "asm: -isa %s: want avx512 or avx2\n", *isa)
		os.Exit(64)
	}
	Generate()
}
