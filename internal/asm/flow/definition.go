package flow

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Define writes the functions of the definition.
func Define(ISA) {
	define("define2D", "north", "south")
	define("define3D", "north", "south", "below", "above")
}

// define writes V' = V + (μ·(s − 2d·V) − (V − V0)·b), operation by operation.
func define(name string, across ...string) {
	Func(name, "func(to, here, "+strings.Join(across, ", ")+", v0, b *float32, n int, mu float32)",
		"takes a step of n values along a row, n a multiple of 8.")
	pointers := map[string]Register{}
	for _, p := range append(across, "to", "here", "v0", "b") {
		pointers[p] = Arg(p)
	}
	left := Arg("n")
	mu := AVX2.BroadcastFloat("mu", false)
	whole := New(XMM, VMOVD, New(GP32, MOVL, Op(U32(len(across)+2))))
	VCVTDQ2PS(whole, whole)
	factor := New(YMM, VBROADCASTSS, whole)
	at := GP64()
	XORQ(at, at)
	of := func(p string, by int) Mem { return Mem{Base: pointers[p], Index: at, Scale: 4, Disp: 4 * by} }
	sumOf := func(a, b Mem) VecVirtual {
		v := New(YMM, VMOVUPS, a)
		VADDPS(b, v, v)
		return v
	}

	Label("next")
	s := sumOf(of("here", -1), of("here", 1))
	for i := 0; i < len(across); i += 2 {
		VADDPS(sumOf(of(across[i], 0), of(across[i+1], 0)), s, s)
	}
	v := New(YMM, VMOVUPS, of("here", 0))
	product := New(YMM, VMULPS, v, factor)
	VSUBPS(product, s, s)
	VMULPS(s, mu, s)
	force := New(YMM, VSUBPS, of("v0", 0), v)
	VMULPS(of("b", 0), force, force)
	VSUBPS(force, s, s)
	VADDPS(s, v, v)
	VMOVUPS(v, of("to", 0))
	ADDQ(U8(8), at)
	SUBQ(U8(8), left)
	JNE(LabelRef("next"))
	End()
}
