//go:build amd64 && !noasm

package extrema

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
)

// rowChecks test the conversions of an instruction set.
func rowChecks(isa string) []checktest.Check {
	if isa == Portable {
		return nil
	}
	return []checktest.Check{
		{Name: "levels of float32, " + isa, Of: func(t *testing.T) { rowsOfAllFloats(t, isa, fewPlaces) }},
		{Name: "what conversions of whole numbers say, " + isa, Of: func(t *testing.T) { shiftsSayAll(t, isa) }},
		{Name: "levels that are watched, " + isa, Of: func(t *testing.T) { watchersSeeAll(t, isa) }},
		{Name: "rows that are finished", Of: finishesWhatStopsEarly},
	}
}

// Each conversion of values to levels agrees with the portable one.
func TestRows(t *testing.T) {
	for _, isa := range available() {
		if isa != Portable {
			t.Run(isa, func(t *testing.T) {
				rowsOfAllFloats(t, isa, allPlaces)
				rowsOfNumbers(t, isa)
			})
		}
	}
}

// rowsOfAllFloats is rowsOfFloats in lanes of every width.
func rowsOfAllFloats(t *testing.T, isa string, places func(i, n int) []int) {
	rowsOfFloats(t, 1, isa, kernels8(isa).rows, places)
	rowsOfFloats(t, 2, isa, kernels16(isa).rows, places)
	rowsOfFloats(t, 4, isa, kernels32(isa).rows, places)
}

// allPlaces returns the halves and every fifth value of two rows; fewPlaces returns the halves and
// two values that depend on i.
func allPlaces(_, n int) []int {
	places := []int{-1, -2, -3, -4, -5}
	for at := 0; at < 2*n; at += 5 {
		places = append(places, at)
	}
	return places
}

func fewPlaces(i, n int) []int {
	return []int{-1, -2, -3, -4, -5, i * 5 % (2 * n), (i*11 + 3) % (2 * n)}
}

// rowsOfNumbers compares the arithmetic conversions of integers with the table. They convert all
// values without help of the portable way.
func rowsOfNumbers(t *testing.T, isa string) {
	shifted := func(lo float64, n int64) grid.Ladder {
		l, err := grid.Affine(lo, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
	}{
		{grid.Uint8, grid.Identity(grid.Uint8)}, {grid.Uint8, shifted(7, 200)}, {grid.Uint8, shifted(0, 250)},
		{grid.Uint16, grid.Identity(grid.Uint16)}, {grid.Uint16, shifted(1000, 200)}, {grid.Uint16, shifted(40000, 20000)},
		{grid.Int16, grid.Identity(grid.Int16)}, {grid.Int16, shifted(-100, 200)}, {grid.Int16, shifted(-3000, 9000)},
	} {
		switch size, _ := lanes(c.typ, c.ladder); size {
		case 1:
			numbersOf(t, c.typ, c.ladder, isa, kernels8(isa).rows)
		case 2:
			numbersOf(t, c.typ, c.ladder, isa, kernels16(isa).rows)
		}
	}
}

func numbersOf[L lane](t *testing.T, typ grid.Type, ladder grid.Ladder, isa string, rows func(*levels[L]) rowsFunc[L]) {
	v := newLevels[L](typ, ladder)
	if v.shift == nil {
		t.Errorf("%v on %v: the levels are no shift", typ, ladder)
		return
	}
	alone := newLevels[L](typ, ladder)
	alone.lut = nil // the portable way would fail
	convert := rows(alone)
	if convert == nil {
		if isa == AVX512 || typ == grid.Uint8 || ladder.Len() > 1<<8 {
			t.Errorf("%v on %v: %s has no conversion", typ, ladder, isa)
		}
		return
	}
	const rowsOf, beside = 3, 5
	n := 1 << 16 / rowsOf
	if typ == grid.Uint8 {
		n = 77
	}
	size := int(typ.Size())
	src, free := gridtest.AtEnd(rowsOf * n * size)
	defer free()
	for i := range rowsOf * n {
		src[i*size] = byte(i * 7)
		if size > 1 {
			src[i*size+1] = byte(i * 7 >> 8)
		}
	}
	want, got := make([]L, rowsOf*(n+beside)), make([]L, rowsOf*(n+beside))
	v.rows(want, src, n, rowsOf, n+beside, nil)
	convert(got, src, n, rowsOf, n+beside, nil)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v on %v, row %d, value %d: level %d, want %d", typ, ladder, i/(n+beside), i%(n+beside), got[i], want[i])
			return
		}
	}
}

// Arithmetic conversions convert all values and report it, for any previous contents of registers.
func shiftsSayAll(t *testing.T, isa string) {
	all := map[string][]shiftFunc{AVX2: {shift8to8avx2, shift16to16avx2}, AVX512: {shift8to8avx512, shift16to8avx512, shift16to16avx512}}[isa]
	const n, rows, stride = 33, 3, 80
	src, dst := make([]byte, 2*n*rows), make([]byte, stride*rows)
	for i, f := range all {
		if got := f(&dst[0], &src[0], n, rows, stride, 1, 7, 9); got != n*rows {
			t.Errorf("conversion %d says that it turned %d of %d values", i, got, n*rows)
		}
	}
}

// rowsOfFloats compares a conversion of float32 to levels with the portable way. Values are between
// levels or beyond the ladder, at any position of a row. The conversion must convert values within
// the ladder alone, because the portable way is slow.
func rowsOfFloats[L lane](t *testing.T, size int64, isa string, rows func(*levels[L]) rowsFunc[L], places func(i, n int) []int) {
	least := map[string]map[int64]int{AVX2: {1: 32, 2: 16, 4: 8}, AVX512: {1: 1, 2: 1, 4: 1}}[isa][size]
	many := map[int64]int64{1: 255, 2: 3000, 4: 70000}[size]
	inFloat32 := 0
	ladders := [][2]float64{{0, 1}, {0, 2}, {0, 0.75}, {-3, 0.75}, {0, 3}, {-0.125, 0.1}, {0.1, 0.1}, {-0.02, 0.1}, {-0.25, 1}, {0, 0.9}, {0.3, 1.1}}
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
		alone.convert = grid.Converter{} // the portable way would fail
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
		// The values of a level's number without the step, or with the step plus one.
		for _, k := range []float64{1, 2, 3, 10, 11, 12} {
			within = append(within, float32(k+lo), float32(k+step+lo))
		}
		beyond := []float32{math.Nextafter32(last, last+1), last + float32(step)/2, last + float32(step), last + 2*float32(step), last + 300*float32(step), math.MaxFloat32, float32(math.Inf(1))}
		byItself, asItIs := rows(alone), rows(right)
		for _, n := range []int{least, 77} {
			src, free := gridtest.AtEnd(2 * n * 4)
			defer free()
			for i, x := range append(within, beyond...) {
				convert := byItself
				if i >= len(within) {
					convert = asItIs
				}
				for _, at := range places(i, n) {
					if msg := rowsDiffer(right, convert, src, n, at, x); msg != "" {
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
// instruction converts alone.
var halves = []func(i int) bool{
	func(int) bool { return true }, func(i int) bool { return i&8 == 0 }, func(i int) bool { return i&8 != 0 },
	func(i int) bool { return i&4 == 0 }, func(i int) bool { return i&4 != 0 },
}

// rowsDiffer returns a difference between a conversion of two rows and the portable one. All values
// are on levels except one. Writing beyond a row is a difference too.
func rowsDiffer[L lane](v *levels[L], convert rowsFunc[L], src []byte, n, at int, x float32) (msg string) {
	defer func() {
		if r := recover(); r != nil {
			msg = fmt.Sprint("left to the portable way: ", r)
		}
	}()
	const beside = 5
	stride := n + beside
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

// If a function stops early after any number of values, the others are converted too, in their
// rows.
func finishesWhatStopsEarly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v := newLevels[uint8](grid.Uint8, grid.Identity(grid.Uint8))
	for range 2000 {
		n, rows, least := 1+rng.IntN(70), 1+rng.IntN(6), 1+rng.IntN(33)
		stride := n + rng.IntN(9)
		src := make([]byte, n*rows)
		for i := range src {
			src[i] = byte(rng.Uint32())
		}
		got, want := make([]uint8, stride*rows), make([]uint8, stride*rows)
		early := func(dst, src *byte, n, rows, stride int) int {
			if n < least {
				t.Fatalf("rows of %d values, at least %d", n, least)
			}
			done := rng.IntN(n*rows + 1)
			if rng.IntN(3) == 0 {
				done = 0
			}
			from, to := unsafe.Slice(src, n*rows), unsafe.Slice(dst, (rows-1)*stride+n)
			for i := range done {
				to[i/n*stride+i%n] = from[i]
			}
			return done
		}
		v.stepwise(least, early)(got, src, n, rows, stride, nil)
		v.rows(want, src, n, rows, stride, nil)
		if !slices.Equal(got, want) {
			t.Fatalf("%d rows of %d values, %d apart: %v, want %v", rows, n, stride, got, want)
		}
	}
}

// A watcher receives every value between levels, at any position in a row, and none if all values
// are on levels. The levels are the same as without a watcher.
func watchersSeeAll(t *testing.T, isa string) {
	watchedRows(t, isa, kernels8(isa).rows, 200)
	watchedRows(t, isa, kernels16(isa).rows, 1000)
	watchedRows(t, isa, kernels32(isa).rows, 70000)
}

func watchedRows[L lane](t *testing.T, isa string, rows func(*levels[L]) rowsFunc[L], n int64) {
	t.Helper()
	const width, height, stride = 77, 3, 80
	for _, step := range []float64{0.5, 0.1} { // one of them is exact in float32
		ladder, err := grid.Affine(-3, step, n)
		if err != nil {
			t.Fatal(err)
		}
		w := &gridtest.Looker{}
		v := newLevels[L](grid.Float32, ladder)
		plain := rows(v)
		v.watcher = w
		watched := rows(v)
		if !w.Watches {
			t.Errorf("%s: nobody watches", isa)
		}
		values := make([]float32, width*height)
		for i := range values {
			values[i] = ladder.Value(int64(i) * 37 % n)
		}
		got, want, scratch := make([]L, stride*height), make([]L, stride*height), make([]int32, width)
		turn := func() {
			w.Values = nil
			plain(want, grid.Bytes(values), width, height, stride, scratch)
			watched(got, grid.Bytes(values), width, height, stride, scratch)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d levels %v apart: other levels than without a watcher", isa, n, step)
			}
		}
		if turn(); w.Values != nil {
			t.Errorf("%s, %d levels %v apart: %d values shown, and all are on levels", isa, n, step, len(w.Values))
		}
		for at := range values {
			for _, x := range []float32{-3.25, -1e9, ladder.Value(5) + 0.03, ladder.Value(n-1) + 0.03, float32(float64(n)*step - 3), 1e9} {
				kept := values[at]
				values[at] = x
				if turn(); !slices.Contains(w.Values, x) {
					t.Fatalf("%s, %d levels %v apart, %v at %d: not shown", isa, n, step, x, at)
				}
				values[at] = kept
			}
		}
	}
}
