package ops

import . "github.com/mmcloughlin/avo/build"

// A Lane has the instructions for integers of 1, 2 or 4 bytes.
type Lane struct {
	Bytes                    int
	Add, Sub, Equal          func(...Op)
	Least                    func(...Op) // of unsigned numbers
	SignedLeast, SignedAbove func(...Op)
	Load, Compare, Test      func(...Op)      // with AVX-512, of whole vectors and to masks
	Expand, Signs            func(Op, Op)     // a mask to lanes of −1 and 0, and back
	Compress, Keep           func(Op, Op, Op) // under a mask, zeroing
}

// Lanes are those of 1, 2 and 4 bytes.
var Lanes = []Lane{
	{1, VPADDB, VPSUBB, VPCMPEQB, VPMINUB, VPMINSB, VPCMPGTB, VMOVDQU8, VPCMPUB, VPTESTMB, VPMOVM2B, VPMOVB2M,
		VPCOMPRESSB_Z, VMOVDQU8_Z},
	{2, VPADDW, VPSUBW, VPCMPEQW, VPMINUW, VPMINSW, VPCMPGTW, VMOVDQU16, VPCMPUW, VPTESTMW, VPMOVM2W, VPMOVW2M,
		VPCOMPRESSW_Z, VMOVDQU16_Z},
	{4, VPADDD, VPSUBD, VPCMPEQD, VPMINUD, VPMINSD, VPCMPGTD, VMOVDQU32, VPCMPUD, VPTESTMD, VPMOVM2D, VPMOVD2M,
		VPCOMPRESSD_Z, VMOVDQU32_Z},
}

// Pack moves the lanes where n is not 0 to the front of n and of v, and returns how many there are.
func (l Lane) Pack(v, n VecVirtual) GPVirtual {
	counted := New(K, l.Test, n, n)
	l.Compress(v, counted, v)
	l.Compress(n, counted, n)
	many := New(GP64, KMOVQ, counted)
	POPCNTQ(many, many)
	return many
}
