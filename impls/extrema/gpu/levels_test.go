package gpu_test

import (
	"math"
	"slices"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/impls/extrema/gpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// image makes an image of successive levels from the level of each voxel. The first level is the
// type's least value, or 0.
func image(t testing.TB, s grid.Shape, typ grid.Type, levels int64, level func(z, y, x int64) int64) *grid.Field {
	t.Helper()
	return imageFrom(t, s, typ, least(typ), levels, level)
}

// least returns the least value of an integer type, or 0 for float32.
func least(t grid.Type) int64 {
	if t == grid.Int16 {
		return math.MinInt16
	}
	return 0
}

// imageFrom is image with the first level at lo.
func imageFrom(t testing.TB, s grid.Shape, typ grid.Type, lo, levels int64, level func(z, y, x int64) int64) *grid.Field {
	t.Helper()
	ladder, err := grid.Affine(float64(lo), 1, levels)
	if err != nil {
		t.Fatal(err)
	}
	return gridtest.Image(t, s, typ, ladder, func(i int64) float64 { return float64(lo + level(s.Coordinates(i))) })
}

// agree calls an implementation twice, because the second call sees the memory that the first one
// leaves. It returns the first disagreement.
func agree(t testing.TB, impl bench.Implementation[grid.Source, ecc.VCEC], in grid.Source, want ecc.VCEC) *verify.Diff {
	t.Helper()
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.Kernel, Threads: 1}}
	if err := impl.CanDo(in, c); err != nil {
		t.Fatal(err)
	}
	job, err := impl.Setup(in, c)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	for range 2 {
		job.Poison()
		if err := job.Do(nil); err != nil {
			t.Fatal(err)
		}
		out, err := job.Out()
		if err != nil {
			t.Fatal(err)
		}
		if d := ecc.Policy().Agree(in, want, out); d != nil {
			return d
		}
	}
	return nil
}

// onHost returns the answer of the host's cores.
func onHost(t testing.TB, in grid.Source) ecc.VCEC {
	t.Helper()
	job, err := extrema.Implementation{}.Setup(in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	if err := job.Do(nil); err != nil {
		t.Fatal(err)
	}
	out, err := job.Out()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(out)
}

// scattered returns pseudo-random levels that include all n levels.
func scattered(n int64) func(z, y, x int64) int64 {
	return func(z, y, x int64) int64 {
		v := uint64(z)*0x9e3779b97f4a7c15 + uint64(y)*0xbf58476d1ce4e5b9 + uint64(x)*0x94d049bb133111eb
		v ^= v >> 31
		v *= 0xd6e8feb86659fd93
		v ^= v >> 32
		return int64(v % uint64(n))
	}
}

// The numbers of levels are on both sides of the limits between kinds of kernels. Some are odd, and
// some exceed the counters of a block.
func TestNumbersOfLevelsOnDevice(t *testing.T) {
	impl := gpu.OnDevice{Open: ecctest.Device(t)}
	for _, typ := range []grid.Type{grid.Int16, grid.Uint16, grid.Float32} {
		for _, levels := range []int64{7899, 7900, 7901, 12345, 31743, 31744, 31745, 31746, 50001, 65535, 65536, 99999, 110000, 1 << 18, 1<<18 + 1} {
			if typ != grid.Float32 && levels > 1<<16 {
				continue
			}
			for _, s := range []grid.Shape{{D: 1, H: 203, W: 259}, {D: 1, H: 67, W: 516}, {D: 37, H: 43, W: 41}, {D: 70, H: 29, W: 132}} {
				in := image(t, s, typ, levels, scattered(levels))
				if d := agree(t, impl, in, onHost(t, in)); d != nil {
					t.Errorf("%v %v, %d levels: %v", s, typ, levels, d)
				}
			}
		}
	}
}

// A value between two of many levels counts at the upper one, as on any ladder.
func TestValuesBetweenManyLevelsOnDevice(t *testing.T) {
	impl := gpu.OnDevice{Open: ecctest.Device(t)}
	for _, levels := range []int64{20000, 65536} {
		in := image(t, grid.Shape{D: 21, H: 35, W: 132}, grid.Float32, levels, scattered(levels))
		v := grid.Values[float32](in.Data())
		v[len(v)/2] = 4000.5
		if d := agree(t, impl, in, onHost(t, in)); d != nil {
			t.Errorf("%d levels: %v", levels, d)
		}
	}
}

// crowds returns images in which a few of many levels change by more than 16 bits in every block.
// They are large, because there are many blocks.
func crowds() map[string]func(z, y, x int64) int64 {
	const top = 65535
	return map[string]func(z, y, x int64) int64{
		// a voxel among eight that touch its corners changes the curve by −7
		"corners": func(z, y, x int64) int64 {
			switch odd := z&1 + y&1 + x&1; odd {
			case 0:
				return 0
			case 3:
				return 1
			}
			return top
		},
		// the same for the counters of the odd levels, with positive changes
		"dots":          func(z, y, x int64) int64 { return 1 + (z&1|y&1|x&1)*(top-1) },
		"checkerboard":  func(z, y, x int64) int64 { return top - (z+y+x)&1 },
		"rows":          func(z, y, x int64) int64 { return 2 + 5*(y&1) },
		"planes":        func(z, y, x int64) int64 { return 3 - z&1 },
		"columns":       func(z, y, x int64) int64 { return (x & 1) * top },
		"constant":      func(z, y, x int64) int64 { return 40001 },
		"two levels":    func(z, y, x int64) int64 { return 40000 + scattered(2)(z, y, x) },
		"one word":      func(z, y, x int64) int64 { return 30000 + scattered(2)(z, y, x)*(z&1) },
		"sixteen":       func(z, y, x int64) int64 { return 4096 * scattered(16)(z, y, x) },
		"seldom, often": func(z, y, x int64) int64 { return []int64{7, 7, 7, 65534}[scattered(4)(z, y, x)] },
	}
}

func crowd(t testing.TB, name string, typ grid.Type, planar bool) *grid.Field {
	s := grid.Shape{D: 304, H: 160, W: 384}
	if planar {
		s = grid.Shape{D: 1, H: 5000, W: 4001}
	}
	return image(t, s, typ, 1<<16, crowds()[name])
}

func TestCountersOf16BitsDoNotWrap(t *testing.T) {
	impl := gpu.OnDevice{Open: ecctest.Device(t)}
	for name := range crowds() {
		for _, planar := range []bool{false, true} {
			typ := grid.Uint16
			if name == "corners" || name == "two levels" {
				typ = grid.Float32
			}
			in := crowd(t, name, typ, planar)
			if d := agree(t, impl, in, onHost(t, in)); d != nil {
				t.Errorf("%s %v: %v", name, in.Shape(), d)
			}
		}
	}
}
