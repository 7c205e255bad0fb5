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
	isa := flag.String("isa", "avx512", "avx512")
	flag.Parse()
	if *isa != "avx512" {
		fmt.Fprintf(os.Stderr, "asm: -isa %s: want avx512\n", *isa)
		os.Exit(64)
	}
	ConstraintExpr("!noasm")
	for _, bytes := range []int{1, 2, 4} {
		compare(bytes)
	}
	links()
	set()
	around()
	Generate()
}
