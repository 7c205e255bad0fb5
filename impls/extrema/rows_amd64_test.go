//go:build amd64 && !noasm

package extrema

import (
	"fmt"
	"math"
	"testing"

	"eccbench/internal/grid"
)

// Each conversion of float32 to levels is that of the portable way, whatever values lie
// between levels or beyond the ladder, in whichever vector of a row; and it turns values
// within the ladder by itself, since what it leaves to the portable way is only slow.
func TestRowsOfFloats(t *testing.T) {
	for _, isa := range available() {
		if isa == Portable {
			continue
		}
		t.Run(isa, func(t *testing.T) {
			rowsOfFloats(t, 1, isa, kernels8(isa).rows)
			rowsOfFloats(t, 2, isa, kernels16(isa).rows)
			rowsOfFloats(t, 4, isa, kernels32(isa).rows)
		})
	}
}

func rowsOfFloats[L lane](t *testing.T, size int64, isa string, rows func(*levels[L]) rowsFunc[L]) {
	least := map[string]map[int64]int{AVX2: {1: 32, 2: 16, 4: 8}, AVX512: {1: 1, 2: 1, 4: 1}}[isa][size]
	many := map[int64]int64{1: 255, 2: 3000, 4: 70000}[size]
	inFloat32 := 0
	ladders := [][2]float64{{0, 1}, {0, 2}, {0, 0.75}, {-3, 0.75}, {0, 3}, {-0.125, 0.1}, {0.1, 0.1}, {-0.02, 0.1}, {-0.25, 1}}
	for _, of := range ladders {
		lo, step := of[0], of[1]
		ladder, err := grid.Affine(lo, step, many)
		if err != nil {
			t.Fatal(err)
		}
		if ladder.InFloat32() {
			inFloat32++
		}
		right, alone := newLevels[L](grid.Float32, ladder), newLevels[L](grid.Float32, ladder)
		alone.convert = grid.Converter{} // the portable way: who asks it is told
		first, last := ladder.Value(0), ladder.Value(many-1)
		within := []float32{first, last, first - float32(step), first - float32(step)/4, last - float32(step)/4, float32(math.Inf(-1)), -math.MaxFloat32}
		for _, k := range []int64{0, 1, many / 2, many - 2} {
			value := ladder.Value(k)
			within = append(within, math.Nextafter32(value, first-1), math.Nextafter32(value, last+1), value+float32(step)/3, value+float32(step)*0.9)
			// On the ladders without lo, and with its opposite.
			for _, other := range []float32{float32(float64(k) * step), float32(float64(k)*step - lo)} {
				if other < last {
					within = append(within, other)
				}
			}
		}
		beyond := []float32{math.Nextafter32(last, last+1), last + float32(step)/2, last + float32(step), last + 300*float32(step), math.MaxFloat32, float32(math.Inf(1))}
		for _, n := range []int{least, 77} {
			places := []int{-1, -2, -3, -4, -5}
			for at := 0; at < 2*n; at += 5 { // all lanes of a vector in turn
				places = append(places, at)
			}
			for i, x := range append(within, beyond...) {
				v := alone
				if i >= len(within) {
					v = right
				}
				for _, at := range places {
					if msg := rowsDiffer(right, rows(v), n, at, x); msg != "" {
						t.Fatalf("%d bytes, levels %v + k × %v, two rows of %d values, %v at %d: %s", size, lo, step, n, x, at, msg)
					}
				}
			}
		}
	}
	if inFloat32 == 0 || inFloat32 == len(ladders) {
		t.Errorf("%d bytes: %d of %d ladders are exact in float32, want some of both", size, inFloat32, len(ladders))
	}
}

// halves are the places −1 and below: all values of a row, or those of half vectors, which one
// instruction alone turns.
var halves = []func(i int) bool{
	func(int) bool { return true }, func(i int) bool { return i&8 == 0 }, func(i int) bool { return i&8 != 0 },
	func(i int) bool { return i&4 == 0 }, func(i int) bool { return i&4 != 0 },
}

// rowsDiffer says where a conversion of two rows, all values on levels but those at a place,
// is not the portable one, or writes beyond a row.
func rowsDiffer[L lane](v *levels[L], convert rowsFunc[L], n, at int, x float32) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = fmt.Sprint("left to the portable way: ", r)
		}
	}()
	const beside = 5
	stride := n + beside
	src := grid.NewBuffer(int64(2*n) * 4)
	values := grid.Values[float32](src)
	for i := range values {
		values[i] = v.ladder.Value(int64(i) * 37 % v.ladder.Len())
		if at == i || at < 0 && halves[-1-at](i%n) {
			values[i] = x
		}
	}
	want, got := make([]L, 2*stride), make([]L, 2*stride)
	for i := range got {
		got[i], want[i] = 77, 77
	}
	scratch := make([]int32, n)
	v.rows(want, src, n, 2, stride, scratch)
	convert(got, src, n, 2, stride, scratch)
	for i := range want {
		if got[i] != want[i] {
			return fmt.Sprintf("row %d, value %d: level %d, want %d", i/stride, i%stride, got[i], want[i])
		}
	}
	return ""
}
