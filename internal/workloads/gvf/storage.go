package gvf

import (
	"fmt"
	"math"
	"runtime"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// The names of the workloads whose fields are kept in 16 bits.
const (
	NameFloat16 = "gvf-float16"
	NameSnorm16 = "gvf-snorm16"
)

// A Storage is the format of V0 and the field between steps. Each number is rounded to it when it
// is made; arithmetic is in float32. b comes from the rounded V0.
type Storage int

// The formats.
const (
	Float32 Storage = iota
	Float16         // IEEE 754 binary16
	Snorm16         // 32767ths from −1 to 1: the normalised integers of Smistad et al. 2012
)

// String is the name.
func (s Storage) String() string { return []string{"float32", "float16", "snorm16"}[s] }

func storageOf(kind string) Storage {
	return Storage(max(0, slices.Index([]string{Name, NameFloat16, NameSnorm16}, kind)))
}

// Round returns a number as stored: to the nearest, ties to even.
func (s Storage) Round(v float32) float32 {
	switch s {
	case Float16:
		bits := math.Float32bits(v)
		sign, size := bits&(1<<31), bits&^(1<<31)
		if size < 0x38800000 { // below 2^-14 halves are 2^-24 apart, as float32 is at a half
			return math.Float32frombits(sign | math.Float32bits(float32(math.Float32frombits(size)+0.5)-0.5))
		}
		size = (size + 0xfff + size>>13&1) &^ 0x1fff
		if size > 0x477fe000 { // 65504
			size = 0x7f800000
		}
		return math.Float32frombits(sign | size)
	case Snorm16:
		return float32(math.RoundToEven(max(-1, min(1, float64(v)))*snormUnits)/snormUnits) + 0 // an integer has no −0
	}
	return v
}

// Decode reads little-endian stored numbers into out and returns them.
func (s Storage) Decode(out []float32, kept []byte) []float32 {
	inParts(int64(len(out)), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
		switch s {
		case Float32:
			copy(out[lo:hi], grid.Values[float32](kept)[lo:hi])
		case Float16:
			for i, v := range grid.Values[uint16](kept)[lo:hi] {
				sign, size := uint32(v>>15)<<31, uint32(v&0x7fff)
				// The exponents' biases differ by 112, but for infinities, and below 2^-14 a half
				// counts 2^-24.
				bits := size<<13 + 112<<23
				switch {
				case size >= 0x7c00:
					bits += 112 << 23
				case size < 0x400:
					bits = math.Float32bits(float32(size) * 0x1p-24)
				}
				out[lo+int64(i)] = math.Float32frombits(sign | bits)
			}
		case Snorm16:
			for i, v := range grid.Values[int16](kept)[lo:hi] {
				out[lo+int64(i)] = float32(float64(v) / snormUnits)
			}
		}
	})
	return out
}

const snormUnits = 32767

// unit is the largest rounding error of a number of such a magnitude.
func (s Storage) unit(most float64) float64 {
	if s == Snorm16 {
		return 0.5 / snormUnits
	}
	return max(most/(1<<11), 1.0/(1<<25)) // half the distance between neighbouring float16 numbers
}

// Keeping is the workload of the field after N steps that is kept in 16 bits. The first of the
// implementations is the reference.
func Keeping(kind string, impls ...bench.Implementation[*Problem, Flow]) bench.Workload[*Problem, Flow] {
	q := Inputs(kind)
	return workload(q, bench.Question{
		Doc: fmt.Sprintf("the gradient vector flow of an image after some explicit steps, the field kept in %v",
			storageOf(kind)),
		Adversarial: []string{
			q.NameOf("noise/shape=1x1/type=uint8/seed=5", 3, 0.05, 0), q.NameOf("constant/shape=9x7x5/type=float32", 7, 0.05, 0),
			q.NameOf("noise/shape=17x9/type=uint8/seed=5", 0, 0.05, 0), q.NameOf("noise/shape=61x43/levels=64/type=float32/seed=5", 1, 0.15, 0),
			q.NameOf("noise/shape=2x31/type=uint8/seed=2", 2, 0.05, 1), q.NameOf("grf/shape=67x35/type=float32/levels=1024/smooth=2/seed=3", 33, 0.18, 1),
			q.NameOf("checkerboard/shape=130x64/type=uint8", 40, 0.187, 0), q.NameOf("noise/shape=31x17x13/type=float32/levels=1024/seed=7", 13, 0.05, 0),
			q.NameOf("grf/shape=24x20x28/type=float32/levels=1024/smooth=2/seed=3", 16, 0.1, 1), q.NameOf("ball/shape=40x33x19/type=uint8", 25, 0.05, 0),
			q.NameOf("noise/shape=131x2x3/type=float32/levels=70000/seed=5", 11, 0.001, 0),
			q.NameOf("noise/shape=100x61x5/levels=1024/type=float32/seed=9", 9, 0.05, 0), // more than a tile, and its last ones overlap
		},
		Small: []string{q.NameOf("grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1", 64, 0.05, 0)},
	}, verify.Policy[*Problem, Flow]{Agree: agree, Weak: weak, Laws: []law{
		{Name: "the plain loop, bit for bit", Independent: true, Work: stepCost(startNS, 2*stepNS),
			Memory: bytesEach(40), Check: plain},
		plainBoxes(),
		{Name: "float32 within the bound of the format", Independent: true, Work: stepCost(startNS, stepNS),
			Measure: fromFloat32},
	}}, impls)
}

// defineKept is Define of a field that is kept in 16 bits.
func (p *Problem) defineKept(int) (Flow, error) {
	v0, _, err := p.definedStart()
	if err != nil {
		return Flow{}, err
	}
	kept := make([][]float32, len(v0))
	for c, list := range v0 {
		kept[c] = make([]float32, len(list))
		inParts(int64(len(list)), runtime.GOMAXPROCS(0), func(_ int, lo, hi int64) {
			for i := lo; i < hi; i++ {
				kept[c][i] = p.Storage.Round(list[i])
			}
		})
	}
	return Stored(p.Flowing(kept, p.Steps), p.Storage.Round)
}

// fromFloat32 compares a field stored in 16 bits with one of float32. An error does not grow (see
// precise). Let r be the largest magnitude of a component and u the rounding of storage. A step
// adds at most u, b·u, and the change of b, at most d(2r + u)u, times |V − V0| ≤ 4r.
func fromFloat32(p *Problem, out Flow, _ ask) ([]verify.Measure, error) {
	if d := p.misshapen(out); d != nil {
		return []verify.Measure{{Name: "largest difference", Value: math.NaN(), At: d.String()}}, nil
	}
	v0, b, err := p.definedStart()
	if err != nil {
		return nil, err
	}
	r := 0.0
	for _, list := range v0 {
		r = max(r, largest(list))
	}
	u, d := p.Storage.unit(3*r), float64(p.Dim())
	m := verify.Measure{Name: "largest difference from float32",
		Limit: u + 2*p.rounding(v0, b) + float64(p.Steps)*(u+float64(slices.Max(b))*u+4*r*d*(2*r+u)*u)}
	for c := range v0 {
		for i, v := range evolve(p, v0[c], b, p.Steps, 0) {
			if e := math.Abs(float64(v) - float64(out.V[c][i])); m.Below(e) {
				m.Value, m.At = e, p.place(c, i)
			}
		}
	}
	return []verify.Measure{m}, nil
}
