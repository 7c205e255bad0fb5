package vectors

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// spread finds the least and the greatest values, and the largest pattern without its sign.
func (i isa) spread() {
	Func("spread"+i.Name, "func(to, values *float32, n int)",
		"lowers the first vector at to to the values of n vectors, raises the second to them, and the third",
		"to their patterns without their signs, which are as ordered as whole numbers; each lane for itself.")
	to, values := Arg("to"), Arg("values")
	least, most, farthest := i.Wide(), i.Wide(), i.Wide()
	for k, v := range []VecVirtual{least, most, farthest} {
		VMOVUPS(Mem{Base: to, Disp: k * i.Bytes}, v)
	}
	pattern := New(i.Wide, VMOVUPS, Table("signless"+i.Name, slices.Repeat([]uint32{0x7fffffff}, i.Bytes/4)...))
	i.forward(func(at Register) {
		v := New(i.Wide, VMOVUPS, Mem{Base: values, Index: at, Scale: 1})
		far := New(i.Wide, i.And, pattern, v)
		VMINPS(v, least, least)
		VMAXPS(v, most, most)
		VPMAXUD(far, farthest, farthest)
	})
	for k, v := range []VecVirtual{least, most, farthest} {
		VMOVUPS(v, Mem{Base: to, Disp: k * i.Bytes})
	}
	End()
}
