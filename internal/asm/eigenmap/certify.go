package eigenmap

import (
	"math"

	. "github.com/mmcloughlin/avo/build"

	. "eccbench/internal/asm/ops"
)

// Certify writes the functions for the definition's graph of patches: weights, and products with
// them.
func Certify(ISA) {
	weigh()
	flowOfRuns()
	product()
}

// constant returns a vector of four copies of a number, in memory.
func constant(name string, v float64) Mem { return Table(name, v, v, v, v) }

// terms is the number of terms of the series of exp for |r| ≤ ln 2 / 2: (ln 2 / 2)^13/13! is 2e-16.
const terms = 12

// weigh writes the weights of eight patches at a time. It computes differences of pairs of features
// in 16 bits and adds their squares in 32 bits. exp is a power of two times the series.
func weigh() {
	Func("weigh256", "func(to *float64, pairs *int32, stride int, own *int32, count int, apart *float64, "+
		"beside, byFeature float64, eights int)",
		"sets eights times eight numbers to exp(−d·byFeature − apart − beside), 0 where that is less than",
		"exp(−708). d is the square of the distance of the features in own from those in pairs. A number holds two",
		"features of a patch. own has count numbers, and those of a patch in pairs are stride bytes apart.")
	tiny, log2e := constant("tiny", 708), constant("log2e", -math.Log2E)
	high, low := constant("ln2high", 6.93147180369123816490e-01), constant("ln2low", 1.90821492927058770002e-10)
	bias := constant("bias", 0x1p52+0x1p51+1023) // adding an exponent leaves it in the low bits
	series := make([]Mem, terms+1)
	factorial := 1.0
	for k := range series {
		if k > 0 {
			factorial *= float64(k)
		}
		series[k] = constant("series"+string(rune('a'+k)), 1/factorial)
	}
	to, pairs, stride := Arg("to"), Arg("pairs"), Arg("stride")
	own, count, apart := Arg("own"), Arg("count"), Arg("apart")
	n, beside, by := Arg("eights"), AVX2.BroadcastFloat("beside", true), AVX2.BroadcastFloat("byFeature", true)
	Label("weighs")
	square := AVX2.Zero()
	at := New(GP64, MOVQ, pairs)
	mine := New(GP64, MOVQ, own)
	left := New(GP64, MOVQ, count)
	Label("features")
	d := New(YMM, VPBROADCASTD, Mem{Base: mine})
	VPSUBW(Mem{Base: at}, d, d)
	VPMADDWD(d, d, d)
	VPADDD(d, square, square)
	ADDQ(stride, at)
	ADDQ(Imm(4), mine)
	Repeat(left, "features")
	quarter := New(XMM, VEXTRACTI128, U8(1), square)
	for half, of := range []Register{square.AsX(), quarter} {
		t := New(YMM, VCVTDQ2PD, of)
		y := New(YMM, VADDPD, Mem{Base: apart, Disp: 32 * half}, beside)
		VFMADD213PD(y, by, t) // the negated exponent
		mask := New(YMM, VCMPPD, U8(1), tiny, t)
		VMULPD(log2e, t, y)
		k := New(YMM, VROUNDPD, U8(0), y)
		r := AVX2.Zero()
		VSUBPD(t, r, r)
		VFNMADD231PD(high, k, r)
		VFNMADD231PD(low, k, r)
		p := New(YMM, VMOVUPD, series[terms])
		for e := terms - 1; e >= 0; e-- {
			VFMADD213PD(series[e], r, p)
		}
		VADDPD(bias, k, k)
		VPSLLQ(U8(52), k, k)
		VMULPD(k, p, p)
		VANDPD(mask, p, p)
		VMOVUPD(p, Mem{Base: to, Disp: 32 * half})
	}
	ADDQ(U8(32), pairs)
	Advance(U8(64), apart, to)
	Repeat(n, "weighs")
	End()
}

// total sums the numbers of two vectors.
func total(v []VecVirtual) VecVirtual {
	VADDPD(v[1], v[0], v[0])
	return AVX2.SumFloats(v[0])
}

// flowOfRuns writes the flow to a node, and its energy.
func flowOfRuns() {
	Func("flow256", "func(u, weights *float64, own float64, eights int) (sum, energy float64)",
		"is the sums of w(own − u) and of w(own − u)² of eights times eight numbers u and weights w.")
	u, w := Arg("u"), Arg("weights")
	n, own := Arg("eights"), AVX2.BroadcastFloat("own", true)
	sums, energies := AVX2.Zeros(2), AVX2.Zeros(2)
	Label("flows")
	for k := range sums {
		d := New(YMM, VSUBPD, Mem{Base: u, Disp: k * half}, own)
		f := New(YMM, VMULPD, Mem{Base: w, Disp: k * half}, d)
		VADDPD(f, sums[k], sums[k])
		VFMADD231PD(f, d, energies[k])
	}
	Advance(U8(numbers), u, w)
	Repeat(n, "flows")
	End(total(sums), total(energies))
}

// product writes the dot product with float32 weights.
func product() {
	Func("product256", "func(x *float64, weights *float32, eights int) float64",
		"is the product of eights times eight numbers and weights.")
	x, w, n := Arg("x"), Arg("weights"), Arg("eights")
	sums := AVX2.Zeros(2)
	Label("products")
	for k, s := range sums {
		wide := New(YMM, VCVTPS2PD, Mem{Base: w, Disp: k * half / 2})
		VFMADD231PD(Mem{Base: x, Disp: k * half}, wide, s)
	}
	ADDQ(U8(weights), w)
	ADDQ(U8(numbers), x)
	Repeat(n, "products")
	End(total(sums))
}
