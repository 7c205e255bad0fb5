// Command asm writes the vector instructions of package duality:
//
//	go run . -isa avx512 -out ../kernel_avx512_amd64.s -stubs ../kernel_avx512_amd64.go -pkg duality
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	isa := flag.String("isa", "avx512", "avx512 or avx2")
	flag.Parse()
	ConstraintExpr("!noasm")
	switch *isa {
	case "avx512":
		for _, bytes := range []int{1, 2, 4} {
			compare512(bytes)
		}
		links()
		set()
		around()
	case "avx2":
		compare256()
	default:
		fmt.Fprintf(os.Stderr, "asm: -isa %s: want avx512 or avx2\n", *isa)
		os.Exit(64)
	}
	Generate()
}
