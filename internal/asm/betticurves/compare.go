// Package betticurves writes the vector instructions of Betti curves by duality.
package betticurves

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Write writes all functions of an instruction set.
func Write(i ISA) {
	switch i.Name {
	case "avx512":
		for _, bytes := range []int{1, 2, 4} {
			compare512(bytes)
		}
		links()
		set()
		around()
	case "avx2":
		compare256()
	}
}

// compare writes notAbove for all places before a voxel, for keys of size bytes. The function word
// compares 64 voxels. Its argument place returns the neighbours at place k from byte i on, and the
// address of their bits.
func compare(size int, isa string, word func(own Mem, place func(k, i int) (other, bits Mem))) {
	Func(fmt.Sprintf("compare%d%s", 8*size, isa), "func(to *uint64, keys *byte, apart, row, plane, words int)",
		"sets the bits of so many words of voxels whose neighbours are not above them, for each place before a "+
			"voxel: the next one's lie apart bytes further. A row and a plane of keys are so many bytes.")
	to, apart, row, plane := [5]GPVirtual{Arg("to")}, Arg("apart"), Arg("row"), Arg("plane")
	for i := range to[1:] {
		to[i+1] = New(GP64, LEAQ, Mem{Base: to[i], Index: apart, Scale: 1})
	}
	own := Arg("keys")
	before := Minus(own, plane)
	// The rows of the previous plane, the previous row, and the voxel's own.
	from := [5]GPVirtual{Minus(before, row), before, New(GP64, LEAQ, Mem{Base: before, Index: row, Scale: 1}),
		Minus(own, row), own}
	n := Arg("words")
	Label("word")
	word(Mem{Base: from[4]}, func(k, i int) (other, bits Mem) {
		switch {
		case k < 5:
			bits = Mem{Base: to[k]}
		case k < 8:
			bits = Mem{Base: to[k-4], Index: apart, Scale: 4}
		default:
			bits = Mem{Base: to[k-8], Index: apart, Scale: 8}
		}
		return Mem{Base: from[k/3], Disp: i + (k%3-1)*size}, bits.Offset(i / size / 8)
	})
	Advance(I32(8), to[:]...)
	Advance(I32(64*size), from[:]...)
	Repeat(n, "word")
	End()
}

// compare512 writes compare with mask registers.
func compare512(size int) {
	compare(size, "avx512", func(own Mem, place func(k, i int) (other, bits Mem)) {
		var keys []VecVirtual
		for i := range size {
			keys = append(keys, load(own.Offset(lane*i)))
		}
		for k := range middle {
			for i, v := range keys {
				other, to := place(k, lane*i)
				bits := K()
				switch size {
				case 1:
					VPCMPUB(GE, other, v, bits)
					KMOVQ(bits, to)
				case 2:
					VPCMPUW(GE, other, v, bits)
					KMOVD(bits, to)
				case 4:
					VPCMPUD(GE, other, v, bits)
					KMOVW(bits, to)
				}
			}
		}
	})
}

// compare256 writes compare for keys of one byte. A neighbour is not above a voxel if their maximum
// is the voxel's key.
func compare256() {
	const vector = 32
	compare(1, "avx2", func(own Mem, place func(k, i int) (other, bits Mem)) {
		for i := 0; i < 64; i += vector {
			v := New(YMM, VMOVDQU, own.Offset(i))
			for k := range middle {
				other, to := place(k, i)
				greater := New(YMM, VPMAXUB, other, v)
				VPCMPEQB(v, greater, greater)
				bits := New(GP32, VPMOVMSKB, greater)
				MOVL(bits, to)
			}
		}
	})
}
