package fingerprint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// The fingerprint alone rejects every wrong answer of an implementation with a planted fault.
func TestCatchesPlantedFaults(t *testing.T) {
	if race.Enabled {
		t.Skip("the faulty implementations race with nothing that is new here")
	}
	planted := map[string]bench.Implementation[grid.Source, ecc.VCEC]{}
	for _, f := range cpu.Faults() {
		planted["cpu: "+string(f)] = cpu.Faulty(f)
	}
	for _, f := range extrema.Faults() {
		planted["extrema: "+string(f)] = extrema.Faulty(f)
	}
	type held struct {
		ecctest.Case
		right ecc.VCEC
		key   fingerprint.Key
		sum   fingerprint.Sum
	}
	var cases []held
	for _, c := range ecctest.Cases(t) {
		if c.Field.Ladder().Len() > 5000 {
			continue
		}
		k := fingerprint.Draw(1)
		sum, err := fingerprint.Compute(c.Field, k, 2)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, held{c, ecc.Enumerate(c.Field), k, sum})
	}
	for name, impl := range planted {
		t.Run(name, func(t *testing.T) {
			wrong := 0
			for _, c := range cases {
				for _, in := range []grid.Source{c.Field, streamed{c.Field}} {
					job, err := impl.Setup(in, bench.Conditions{Setting: bench.Setting{Threads: 3}})
					if err != nil {
						t.Fatal(err)
					}
					if err := job.Do(nil); err != nil {
						t.Fatal(err)
					}
					out, err := job.Out()
					if err != nil {
						t.Fatal(err)
					}
					got, err := fingerprint.OfCurve(out.All(), in.Ladder().Len(), c.key)
					caught := err != nil || !got.Equal(c.sum)
					if caught == slices.Equal(out, c.right) {
						t.Errorf("%s, %T, key %v: caught %v, answer %v, right is %v", c.Name, in, c.key, caught, out, c.right)
					}
					if caught {
						wrong++
					}
				}
			}
			if wrong == 0 {
				t.Error("no case shows the fault")
			}
		})
	}
}

// Each slip gives a wrong curve, and the fingerprint rejects it.
func TestCatchesSlips(t *testing.T) {
	_, f := ecctest.Open(t, "noise/shape=24x19x17/type=uint8/seed=1")
	right := ecc.Enumerate(f)
	mutated := func(change func(v ecc.VCEC) ecc.VCEC) ecc.VCEC { return change(slices.Clone(right)) }
	other := func(s grid.Source) ecc.VCEC {
		g, err := grid.Load(s)
		if err != nil {
			t.Fatal(err)
		}
		return ecc.Enumerate(g)
	}
	voxel := slices.Clone(f.Data())
	voxel[1234] ^= 1
	changed, err := grid.NewField(f.Shape(), grid.Uint8, voxel, f.Ladder())
	if err != nil {
		t.Fatal(err)
	}
	black := func(i int64) float64 { // the image in a border of zeros
		z, y, x := grid.Shape{D: 19, H: 21, W: 26}.Coordinates(i)
		if z == 0 || z == 18 || y == 0 || y == 20 || x == 0 || x == 25 {
			return 0
		}
		return float64(f.Data()[((z-1)*19+y-1)*24+x-1])
	}
	slips := map[string]ecc.VCEC{
		"a change at the level after": mutated(func(v ecc.VCEC) ecc.VCEC {
			v[100].Change, v[101].Change = v[100].Change-1, v[101].Change+1
			return v
		}),
		"changes that cancel in two moments": mutated(func(v ecc.VCEC) ecc.VCEC {
			for i, d := range []int64{1, -3, 3, -1} {
				v[50+i].Change += d
			}
			return v
		}),
		"an int32 that ran over": mutated(func(v ecc.VCEC) ecc.VCEC {
			v[20].Change, v[21].Change = v[20].Change+1<<32, v[21].Change-1<<32
			return v
		}),
		"all changes negative":   mutated(func(v ecc.VCEC) ecc.VCEC { v[7].Change = -v[7].Change; return v }),
		"a dropped level":        mutated(func(v ecc.VCEC) ecc.VCEC { return slices.Delete(v, 33, 34) }),
		"no last level":          right[:len(right)-1],
		"nothing":                nil,
		"one voxel off by one":   other(changed),
		"no last slice":          other(views.Crop(f, 0, 16)),
		"no first slice":         other(views.Crop(f, 1, 17)),
		"another image":          other(func() grid.Source { _, g := ecctest.Open(t, "noise/shape=24x19x17/type=uint8/seed=2"); return g }()),
		"black outside":          ecc.Enumerate(gridtest.Image(t, grid.Shape{D: 19, H: 21, W: 26}, grid.Uint8, f.Ladder(), black)),
		"the slices moved round": other(gridtest.Roll(f, 5)),
	}
	k := fingerprint.Draw(1)
	want, err := fingerprint.Compute(f, k, 1)
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range slips {
		if slices.Equal(v, right) {
			t.Errorf("%s makes no difference", what)
		}
		if ofCurve(t, v, 256, k).Equal(want) {
			t.Errorf("%s is not seen with the key %v", what, k)
		}
	}
}

// Levels that were taken modulo 65,536.
func TestCatchesLevelsModulo65536(t *testing.T) {
	const n = 70000
	ladder, err := grid.Affine(0, 1, n)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	f := gridtest.Image(t, grid.Shape{D: 4, H: 50, W: 60}, grid.Float32, ladder, func(int64) float64 { return float64(rng.IntN(n)) })
	right := ecc.Enumerate(f)
	changes := make([]int64, n)
	for _, s := range right {
		changes[s.Level%65536] += s.Change
	}
	k := fingerprint.Draw(1)
	want, err := fingerprint.Compute(f, k, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !ofCurve(t, right, n, k).Equal(want) || ofCurve(t, ecc.FromDense(changes), n, k).Equal(want) {
		t.Errorf("key %v does not tell the right curve from that of levels modulo 65,536", k)
	}
}

// The last value of a type at the border of the image is not the outside.
func TestWhiteBorders(t *testing.T) {
	for _, typ := range []grid.Type{grid.Uint8, grid.Int16, grid.Uint16} {
		white := map[grid.Type]float64{grid.Uint8: 255, grid.Int16: math.MaxInt16, grid.Uint16: 65535}[typ]
		rng := rand.New(rand.NewPCG(9, 9))
		shape := grid.Shape{D: 6, H: 7, W: 35}
		f := gridtest.Image(t, shape, typ, grid.Identity(typ), func(i int64) float64 {
			z, y, x := shape.Coordinates(i)
			if z == 0 || z == 5 || y == 0 || y == 6 || x == 0 || x == 34 {
				return white
			}
			return float64(rng.IntN(4)) + white - 3
		})
		held(t, f, ecc.Enumerate(f), fingerprint.Draw(1))
		all := gridtest.Image(t, shape, typ, grid.Identity(typ), func(int64) float64 { return white })
		held(t, all, ecc.Enumerate(all), fingerprint.Draw(1))
	}
}

// The weights are ascending, within their range, and have the required number of random bits.
func TestWeights(t *testing.T) {
	for _, levels := range []int64{1, 2, 255, 256, 1024, 65536} {
		w := fingerprint.Weights(fingerprint.Draw(1), levels)
		for i, v := range w {
			if x := math.Float64frombits(v); !(x >= 0x1p-1022) || math.IsInf(x, 0) || i > 0 && v <= w[i-1] {
				t.Fatalf("%d levels: weight %d is %x", levels, i, v)
			}
		}
	}
	for levels, want := range map[int64]uint{1: 31, 127: 31, 256: 31, 257: 54, 1024: 52, 65536: 46, 1 << 20: 42, 1 << 24: 38, 1 << 29: 33, grid.MaxLevels: 31} {
		if got := fingerprint.RandomBits(levels); got != want {
			t.Errorf("%d levels have weights of %d random bits, want %d", levels, got, want)
		}
	}
}

// With 8 random bits, some wrong curves pass: their changes and level-weighted changes sum to 0.
// They pass if the difference of two differences of random bytes is 0, which is once in 384. With
// two functions they pass once in 384².
func TestFalseAcceptance(t *testing.T) {
	wrong := ecc.VCEC{{Level: 3, Change: 1}, {Level: 4, Change: -1}, {Level: 5, Change: -1}, {Level: 6, Change: 1}}
	const keys = 60000
	var one, two float64
	for range keys {
		sum := ofCurve(t, wrong, 256, fingerprint.OfFewBits(fingerprint.Draw(2), 8))
		if sum[0] == 0 {
			one++
		}
		if sum[1] == 0 {
			one++
		}
		if sum.Equal(fingerprint.Sum{0, 0}) {
			two++
		}
	}
	p := 0.0
	for d := -255.; d <= 255; d++ {
		p += (256 - math.Abs(d)) * (256 - math.Abs(d)) / (1 << 32)
	}
	want := p * 2 * keys
	if math.Abs(one-want) > 6*math.Sqrt(want) {
		t.Errorf("%v of %d wrong curves pass, want about %.0f", one, 2*keys, want)
	}
	if two > 12 { // expected: 0.4
		t.Errorf("%v of %d wrong curves pass two functions", two, keys)
	}
	if p > 1./256 {
		t.Errorf("the chance of %v is above the bound", p)
	}
	// Neighbouring changes that are one too many and one too few never pass.
	for range 2000 {
		off := ecc.VCEC{{Level: 3, Change: 1}, {Level: 4, Change: -1}}
		if k := fingerprint.OfFewBits(fingerprint.Draw(1), 2); ofCurve(t, off, 256, k)[0] == 0 {
			t.Errorf("%v passes", fmt.Sprint(off))
		}
	}
}

// Differences may cancel in each upper and lower byte and in the levels. With 8 random bits from
// products they pass at most 5 times in 256: (m + 2)/2 · 2⁻ᵐ for m = 8.
func TestFalseAcceptanceOfProducts(t *testing.T) {
	wrong := ecc.VCEC{{Level: 0x301, Change: 1}, {Level: 0x302, Change: -1}, {Level: 0x501, Change: -1}, {Level: 0x502, Change: 1}}
	const keys = 4000
	pass := 0.0
	for range keys {
		for _, sum := range ofCurve(t, wrong, 1<<12, fingerprint.OfFewBits(fingerprint.Draw(2), 8)) {
			if sum == 0 {
				pass++
			}
		}
	}
	bound := 2 * keys * 5. / 256
	if pass > bound+6*math.Sqrt(bound) || pass < bound/20 {
		t.Errorf("%v of %d wrong curves pass, want %.0f at most, and some", pass, 2*keys, bound)
	}
	for range 20 {
		if k := fingerprint.Draw(1); ofCurve(t, wrong, 1<<12, k)[0] == 0 {
			t.Errorf("%v passes with all random bits, key %v", wrong, k)
		}
	}
}
