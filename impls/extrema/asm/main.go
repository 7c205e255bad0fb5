// Command asm writes the vector instructions of package extrema, one file for
// each instruction set:
//
//	go run . -isa avx512 -out ../kernel_avx512_amd64.s -stubs ../kernel_avx512_amd64.go
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

// lead is the number of bytes of a vector that rows are padded to, on every
// instruction set.
const lead = 64

func main() {
	isa := flag.String("isa", "avx512", "avx512 or avx2")
	flag.Parse()
	ConstraintExpr("!noasm")
	switch *isa {
	case "avx512":
		for _, w := range widths512() {
			w.volume()
			w.area()
			scatter(w.size, "avx512")
			affine512(w.size, false)
			affine512(w.size, true)
		}
		shift512(1, 1)
		shift512(2, 1)
		shift512(2, 2)
	default:
		fmt.Fprintf(os.Stderr, "asm: -isa %s: want avx512 or avx2\n", *isa)
		os.Exit(64)
	}
	Generate()
}
