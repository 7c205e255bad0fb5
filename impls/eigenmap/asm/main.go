// Command asm writes the vector instructions of the implementations and of the definition of
// eigenmaps:
//
//	go run . -isa avx2 -out ../multigrid/kernel_avx2_amd64.s -stubs ../multigrid/kernel_avx2_amd64.go -pkg multigrid
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	isa := flag.String("isa", "avx2", "avx2")
	flag.Parse()
	of := map[string]func(){"multigrid": multigrid, "windowed": windowed, "eigenmap": certify,
		"inertia": inertia}[flag.Lookup("pkg").Value.String()]
	if *isa != "avx2" || of == nil {
		fmt.Fprintln(os.Stderr, "asm: want -isa avx2, and -pkg multigrid, windowed, eigenmap or inertia")
		os.Exit(64)
	}
	ConstraintExpr("!noasm")
	of()
	Generate()
}
