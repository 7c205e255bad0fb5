package flow

import (
	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Define writes all functions of an instruction set.
func Define(set ISA) {
	define("define2D", []string{"north", "south"}, 4)
	define("define3D", []string{"north", "south", "below", "above"}, 6)
}

// define writes V' = V + (μ·(s − 2d·V) − (V − V0)·b), operation by operation.
func define(name string, across []string, sides int32) {
	list := ""
	for _, p := range across {
		list += p + ", "
	}
	Func(name, "func(to, here, "+list+"v0, b *float32, n int, mu float32)",
		"takes a step of n values along a row, n a multiple of 8.")
	pointers := map[string]Register{}
	for _, p := range append(across, "to", "here", "v0", "b") {
		pointers[p] = Arg(p)
	}
	left := Arg("n")
	mu, factor, whole := YMM(), YMM(), XMM()
	address := Address("mu")
	VBROADCASTSS(address, mu)
	number := GP32()
	MOVL(U32(uint32(sides)), number)
	VMOVD(number, whole)
	VCVTDQ2PS(whole, whole)
	VBROADCASTSS(whole, factor)
	at := Register(GP64())
	XORQ(at, at)
	of := func(p string, by int) Mem { return Mem{Base: pointers[p], Index: at, Scale: 4, Disp: 4 * by} }
	sumOf := func(a, b Mem) VecVirtual {
		v := YMM()
		VMOVUPS(a, v)
		VADDPS(b, v, v)
		return v
	}

	Label("next")
	s := sumOf(of("here", -1), of("here", 1))
	for i := 0; i < len(across); i += 2 {
		VADDPS(sumOf(of(across[i], 0), of(across[i+1], 0)), s, s)
	}
	v, product, force := YMM(), YMM(), YMM()
	VMOVUPS(of("here", 0), v)
	VMULPS(v, factor, product)
	VSUBPS(product, s, s)
	VMULPS(s, mu, s)
	VSUBPS(of("v0", 0), v, force)
	VMULPS(of("b", 0), force, force)
	VSUBPS(force, s, s)
	VADDPS(s, v, v)
	VMOVUPS(v, of("to", 0))
	ADDQ(U8(8), at)
	SUBQ(U8(8), left)
	JNE(LabelRef("next"))
	End()
}
