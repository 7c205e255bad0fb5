package flow

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Define writes the functions of the definition.
func Define(i ISA) {
	define(i, "define2D", "north", "south")
	define(i, "define3D", "north", "south", "below", "above")
}

// define writes V' = V + (μ·(s − 2d·V) − (V − V0)·b), operation by operation.
func define(i ISA, name string, across ...string) {
	lanes := uint8(i.Bytes / lane)
	Func(name+strings.ToUpper(i.Name), "func(to, here, "+strings.Join(across, ", ")+", v0, b *float32, n int, mu float32)",
		fmt.Sprintf("takes a step of n values along a row, n a multiple of %d.", lanes))
	pointers := map[string]Register{}
	for _, p := range append(across, "to", "here", "v0", "b") {
		pointers[p] = Arg(p)
	}
	left := Arg("n")
	mu := i.BroadcastFloat("mu", false)
	whole := New(XMM, VMOVD, New(GP32, MOVL, Op(U32(len(across)+2))))
	VCVTDQ2PS(whole, whole)
	factor := New(i.Wide, VBROADCASTSS, whole)
	at := GP64()
	XORQ(at, at)
	of := func(p string, by int) Mem { return Mem{Base: pointers[p], Index: at, Scale: 4, Disp: 4 * by} }
	sumOf := func(a, b Mem) VecVirtual {
		v := New(i.Wide, VMOVUPS, a)
		VADDPS(b, v, v)
		return v
	}

	Label("next")
	s := sumOf(of("here", -1), of("here", 1))
	for k := 0; k < len(across); k += 2 {
		VADDPS(sumOf(of(across[k], 0), of(across[k+1], 0)), s, s)
	}
	v := New(i.Wide, VMOVUPS, of("here", 0))
	product := New(i.Wide, VMULPS, v, factor)
	VSUBPS(product, s, s)
	VMULPS(s, mu, s)
	force := New(i.Wide, VSUBPS, of("v0", 0), v)
	VMULPS(of("b", 0), force, force)
	VSUBPS(force, s, s)
	VADDPS(s, v, v)
	VMOVUPS(v, of("to", 0))
	ADDQ(U8(lanes), at)
	SUBQ(U8(lanes), left)
	JNE(LabelRef("next"))
	End()
}
