package decimal_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"eccbench/internal/decimal"
)

func TestAppendFloat32(t *testing.T) {
	check := func(v float32) {
		want := strconv.FormatFloat(float64(v), 'g', -1, 32)
		if got := string(decimal.AppendFloat32(nil, v)); got != want {
			t.Fatalf("%x: %s, want %s", math.Float32bits(v), got, want)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for exponent := range uint32(256) {
		for k := range 4096 {
			fraction := rng.Uint32()
			if k&1 == 0 { // few binary digits: halfway between two decimals, or the end of an interval
				fraction = fraction << (k >> 1 % 24)
			}
			v := exponent<<23 | fraction&(1<<23-1)
			for _, v := range []uint32{v, v ^ 1<<31, exponent << 23, exponent<<23 + 1, exponent<<23 - 1} {
				check(math.Float32frombits(v))
			}
		}
	}
	for decimals := range 8 { // few decimal digits
		for range 4096 {
			check(float32(float64(rng.IntN(1e6)-5e5) / math.Pow10(decimals)))
		}
	}
}

func TestAppendInt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, start := range []int64{0, 1, 10, 100, 1e6, 1e18, math.MaxInt64, math.MinInt64} {
		for range 1000 {
			n := start + rng.Int64()>>rng.IntN(64)
			for _, n := range []int64{start, start - 1, n, -n} {
				if got, want := string(decimal.AppendInt([]byte("x"), n)), "x"+strconv.FormatInt(n, 10); got != want {
					t.Fatalf("%s, want %s", got, want)
				}
			}
		}
	}
}

func BenchmarkAppendFloat32(b *testing.B) {
	v := make([]float32, 1<<12)
	for i := range v {
		v[i] = rand.Float32() * 4
	}
	run := func(name string, f func([]byte, float32) []byte) {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 64)
			for i := range b.N {
				buf = f(buf[:0], v[i&(len(v)-1)])
			}
		})
	}
	run("grid", decimal.AppendFloat32)
	run("strconv", func(b []byte, v float32) []byte { return strconv.AppendFloat(b, float64(v), 'g', -1, 32) })
}
