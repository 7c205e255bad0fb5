// Package betticurves writes the vector instructions of Betti curves by duality.
package betticurves

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Write writes all functions of an instruction set.
func Write(i ISA) {
	for _, size := range []int{1, 2, 4} {
		if i.Bytes == 64 {
			compare512(size)
		} else {
			compare256(size)
		}
	}
	k := kernel{i}
	k.links()
	k.set()
	k.around()
}

// compare writes notAbove for all places before a voxel, for keys of size bytes. The function word
// compares 64 voxels. Its argument place returns the neighbours at place k from byte i on, and the
// address of their bits.
func compare(size int, isa string, word func(own Mem, place func(k, i int) (other, bits Mem))) {
	Func(fmt.Sprintf("compare%d%s", 8*size, isa), "func(to *uint64, keys *byte, apart, row, plane, words int)",
		"sets the bits of 64·words voxels whose neighbours are not above them, for each place before a "+
			"voxel. The words of the next place are apart bytes further. A row of keys has row bytes, a plane plane bytes.")
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
			keys = append(keys, AVX512.Copy(own.Offset(lane*i)))
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

// compare256 writes compare with AVX2. A neighbour is not above a voxel if their maximum is the voxel's key.
func compare256(size int) {
	const vector = 32
	compare(size, "avx2", func(own Mem, place func(k, i int) (other, bits Mem)) {
		of := Lanes[size/2]
		notAbove := func(v VecVirtual, other Op) VecVirtual {
			greatest := New(YMM, map[int]func(...Op){1: VPMAXUB, 2: VPMAXUW, 4: VPMAXUD}[size], other, v)
			of.Equal(v, greatest, greatest)
			return greatest
		}
		for i := 0; i < 64*size; i += vector {
			v := New(YMM, VMOVDQU, own.Offset(i))
			var next VecVirtual
			if size == 2 {
				next = New(YMM, VMOVDQU, own.Offset(i+vector))
			}
			for k := range middle {
				other, to := place(k, i)
				bits := notAbove(v, other)
				switch size {
				case 1:
					MOVL(New(GP32, VPMOVMSKB, bits), to)
				case 2: // as bytes, in the order of halves
					VPACKSSWB(notAbove(next, other.Offset(vector)), bits, bits)
					VPERMQ(U8(0xd8), bits, bits)
					MOVL(New(GP32, VPMOVMSKB, bits), to)
				case 4:
					MOVB(New(GP32, VMOVMSKPS, bits).As8(), to)
				}
			}
			if size == 2 {
				i += vector
			}
		}
	})
}
