// Command asm writes the vector instructions of package windowed:
//
//	go run . -isa avx2 -out ../kernel_avx2_amd64.s -stubs ../kernel_avx2_amd64.go -pkg windowed
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func main() {
	isa := flag.String("isa", "avx2", "avx2")
	flag.Parse()
	if *isa != "avx2" {
		fmt.Fprintf(os.Stderr, "asm: -isa %s: want avx2\n", *isa)
		os.Exit(64)
	}
	ConstraintExpr("!noasm")
	unlike()
	Generate()
}

// Sizes of 16 features, of the features of four patches, and of four distances.
const sixteen, four, distances = 32, 4 * 32, 16

// unlike finds the squares of distances of one patch from others, four of which end as one vector.
func unlike() {
	TEXT("unlike256", NOSPLIT, "func(to *int32, a, b *int16, fours int)")
	Pragma("noescape")
	Doc("unlike256 sets the squares of distances of the 16 features of a from those of fours times four",
		"patches, one after the other in b.")
	to, a, b, n := Load(Param("to"), GP64()), Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("fours"), GP64())
	own := YMM()
	VMOVDQU(Mem{Base: a}, own)
	TESTQ(n, n)
	JZ(LabelRef("end"))
	Label("more")
	var d [4]VecVirtual
	for k := range d {
		d[k] = YMM()
		VPSUBW(Mem{Base: b, Disp: k * sixteen}, own, d[k])
		VPMADDWD(d[k], d[k], d[k])
	}
	VPHADDD(d[1], d[0], d[0])
	VPHADDD(d[3], d[2], d[2])
	VPHADDD(d[2], d[0], d[0]) // in each half of four patches
	high := XMM()
	VEXTRACTI128(U8(1), d[0], high)
	VPADDD(d[0].AsX(), high, high)
	VMOVDQU(high, Mem{Base: to})
	ADDQ(U8(distances), to)
	ADDQ(Imm(four), b)
	DECQ(n)
	JNZ(LabelRef("more"))
	Label("end")
	VZEROUPPER()
	RET()
}
