package duality

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
)

// randomWindow returns a window of n planes of random bits, with some of them remaining and a trunk
// of some of these.
func randomWindow(rng *rand.Rand, h, w, n int64) *window {
	l := layoutOf(h, w)
	set, other := l.windowWords(n)
	of, _ := newWindow(l, n, make([]uint64, set+2*other))
	share := 1 + rng.IntN(8)
	full, seldom := rng.IntN(3) == 0, []int{20, 2000}[rng.IntN(2)]
	for z := int64(0); z <= n; z++ {
		for y := range h {
			for x := range w {
				p, bit := of.rowStart(z, y)+x/64, uint64(1)<<(x%64)
				if rng.IntN(8) < share || full && x/64%2 == 0 {
					if of.left[p] |= bit; rng.IntN(seldom) == 0 {
						of.main[p] |= bit
					}
				}
			}
		}
	}
	return &of
}

// someWidth returns a width of a few vectors of words, and rarely of more words than a byte can
// count.
func someWidth(rng *rand.Rand) int64 {
	if rng.IntN(40) == 0 {
		return 256*64 + rng.Int64N(200)
	}
	return 1 + rng.Int64N(1200)
}

// grown returns bounds of the trunk after a step in row y of planes from 1 on. The step comes from
// the row and plane before or after. most is the largest possible trunk, least the smallest allowed
// one. across extends it over words of different vectors.
func grown(w *window, y, z int64, up, corners, across bool, width int64) (most, least []bool) {
	sign := int64(1)
	if up {
		sign = -1
	}
	is := func(of []uint64, z, y, x int64) bool {
		return x >= 0 && x < width && of[w.rowStart(z, y)+x/64]>>(x%64)&1 != 0
	}
	most, least = make([]bool, width), make([]bool, width)
	for x := range width {
		if !is(w.left, z, y, x) {
			continue
		}
		seed := is(w.main, z, y, x) || is(w.main, z, y-sign, x) || is(w.main, z-sign, y, x)
		wide := seed
		if corners {
			for dx := int64(-1); dx <= 1; dx++ {
				wide = wide || is(w.main, z, y, x+dx) || is(w.main, z, y-sign, x+dx)
				for dy := int64(-1); dy <= 1; dy++ {
					wide = wide || is(w.main, z-sign, y+dy, x+dx)
				}
			}
		}
		most[x], least[x] = wide, seed || across && wide
	}
	for x := int64(1); x < width; x++ { // up to the ends of runs
		most[x] = most[x] || most[x-1] && is(w.left, z, y, x)
		least[x] = least[x] || least[x-1] && is(w.left, z, y, x)
	}
	for x := range width - 1 { // and one voxel down
		least[x] = least[x] || least[x+1] && is(w.left, z, y, x) && (across || x%64 < 63)
	}
	for x := width - 2; x >= 0; x-- {
		most[x] = most[x] || most[x+1] && is(w.left, z, y, x)
	}
	return most, least
}

// Isolated voxels and cells are counted by vector instructions if the machine has vector bit
// counts, otherwise by the portable code.
func kernelsAreTaken(t *testing.T) {
	at := func(f any) uintptr { return reflect.ValueOf(f).Pointer() }
	for _, name := range available() {
		k := kernelOf(name)
		for what, of := range map[string][2]any{
			"faces": {k.aloneFaces, aloneAtFaces}, "corners": {k.aloneCorners, aloneAtCorners}, "cells": {k.characteristic, characteristic},
		} {
			if vectors := at(of[0]) != at(of[1]); vectors != (name == isa.AVX512 && isa.Counts()) {
				t.Errorf("%s: %s by vector instructions: %v", name, what, vectors)
			}
		}
	}
}

// In rows of any width the trunk grows to neighbours, up to the ends of their runs, and no further.
func trunksGrow(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, name := range available() {
		k := kernelOf(name)
		for range times {
			const h = 3
			width, n := someWidth(rng), 1+rng.Int64N(3)
			w, corners, up := randomWindow(rng, h, width, n), rng.IntN(2) == 0, rng.IntN(2) == 0
			before := *w
			before.main = append([]uint64(nil), w.main...)
			grow := k.faces
			if corners {
				grow = k.corners
			}
			y := rng.Int64N(h)
			grow(w, y, n, up)
			for i := range n {
				z := 1 + i
				if up {
					z = n - i
				}
				most, least := grown(&before, y, z, up, corners, name == isa.Portable, width)
				for x := range 64 * w.words {
					p, bit := w.rowStart(z, y)+x/64, uint64(1)<<(x%64)
					is := w.main[p]&bit != 0
					if is && (x >= width || !most[x]) || !is && x < width && least[x] {
						t.Fatalf("%s, corners %v, up %v: voxel %d of %d of row %d of plane %d of %d: %v", name, corners, up, x, width, y, z, n, is)
					}
					if is {
						before.main[p] |= bit
					}
				}
			}
			for p := range before.main { // nowhere else
				if w.main[p] != before.main[p] {
					t.Fatalf("%s, corners %v, up %v: another row than %d of %d planes is grown", name, corners, up, y, n)
				}
			}
		}
	}
}

// Every instruction set agrees with the portable code on the cells of a plane.
func characteristicsAre(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, name := range available() {
		for range times {
			h, width := 1+rng.Int64N(5), someWidth(rng)
			w := randomWindow(rng, h, width, 1)
			before, plane := w.left[w.plane:], w.left[2*w.plane:]
			if got, want := kernelOf(name).characteristic(w.layout, before, plane, h), characteristic(w.layout, before, plane, h); got != want {
				t.Fatalf("%s: %d of %d rows of %d, want %d", name, got, h, width, want)
			}
		}
	}
}

// Every instruction set grows the trunk down to the starts of runs.
func trunksGrowDown(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(11, 11))
	for _, name := range available() {
		for range times {
			width, n := someWidth(rng), 1+rng.Int64N(3)
			w := randomWindow(rng, 3, width, n)
			want := slices.Clone(w.main)
			for z := int64(1); z <= n; z++ {
				for x, last := width-1, false; x >= 0; x-- {
					p, bit := w.rowStart(z, 1)+x/64, uint64(1)<<(x%64)
					if last && w.left[p]&bit != 0 {
						want[p] |= bit
					}
					last = want[p]&bit != 0
				}
			}
			if kernelOf(name).down(w, 1, n); !slices.Equal(w.main, want) {
				t.Fatalf("%s: %d planes of rows of %d: %x, want %x", name, n, width, w.main, want)
			}
		}
	}
}

// Every instruction set finds the same isolated voxels as the portable code, and marks the same
// words.
func thoseAloneAreFound(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(10, 10))
	for _, name := range available() {
		k := kernelOf(name)
		for range times {
			w := randomWindow(rng, 1+rng.Int64N(4), someWidth(rng), 3)
			for i := range w.left { // few remain
				w.left[i] &^= w.main[i] | rng.Uint64()&rng.Uint64()
			}
			for i := range w.some { // from earlier planes
				w.some[i], w.touching[i] = byte(rng.Uint32()), byte(rng.Uint32())
			}
			other := *w
			other.left, other.some, other.touching = slices.Clone(w.left), slices.Clone(w.some), slices.Clone(w.touching)
			got, want := k.aloneFaces, aloneAtFaces
			if rng.IntN(2) == 0 {
				got, want = k.aloneCorners, aloneAtCorners
			}
			z, keep := 1+rng.Int64N(2), rng.IntN(4) == 0
			a, b := got(w, z, keep), want(&other, z, keep)
			if a != b || !slices.Equal(w.left, other.left) || !slices.Equal(w.some, other.some) || !slices.Equal(w.touching, other.touching) {
				t.Fatalf("%s: %d of plane %d of %d words a row, kept %v, want %d, or other marks", name, a, z, w.words, keep, b)
			}
		}
	}
}

// Bits agree with comparing each value, for every type and for thresholds within its range, at its
// ends, beyond them and between values.
func bitsArePacked(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	thresholds := []float32{float32(math.Inf(-1)), -1e30, -40000, -32769, -32768, -32767.5, -1, -0.5, 0, 0.5, 1, 63, 64, 126.5, 127, 128, 129, 254, 254.5, 255, 256, 32767, 40000, 65534.5, 65535, 65536, 1e30, float32(math.Inf(1))}
	for _, w := range []int64{1, 7, 63, 64, 65, 128, 200} {
		const rows = 7
		bytes, shorts, words, floats := make([]uint8, rows*w), make([]int16, rows*w), make([]uint16, rows*w), make([]float32, rows*w)
		for i := range bytes {
			r := rng.Uint32()
			bytes[i], shorts[i], words[i] = uint8(r), int16(r), uint16(r)
			floats[i] = thresholds[1+r%26] + float32(r>>8%3) - 1
			if r>>10%4 == 0 { // at the ends
				bytes[i], shorts[i], words[i] = uint8(-(r & 1)), math.MinInt16+int16(-(r&1)), uint16(-(r & 1))
			}
		}
		for _, at := range thresholds {
			for _, name := range available() {
				packed(t, w, bytes, at, kernelOf(name).packBytes)
			}
			packed(t, w, shorts, at, packValues[int16])
			packed(t, w, words, at, packValues[uint16])
			packed(t, w, floats, at, packValues[float32])
		}
	}
}

func packed[T grid.Element](t *testing.T, w int64, values []T, at float32, pack func([]uint64, []T, int64, int64, int64, float32)) {
	t.Helper()
	rows := int64(len(values)) / w
	const more = 2 // words between rows
	stride := words(w) + more
	to := make([]uint64, rows*stride)
	for i := range to {
		to[i] = math.MaxUint64 // earlier contents
	}
	pack(to, values, w, stride, rows, at)
	for y := range rows {
		for i := words(w); i < stride; i++ {
			if to[y*stride+i] != math.MaxUint64 {
				t.Fatalf("%T of %d columns: more than a row was written", values, w)
			}
		}
		for x := range 64 * words(w) {
			got := to[y*stride+x/64]>>(x%64)&1 == 1
			if want := x < w && float32(values[y*w+x]) <= at; got != want {
				t.Fatalf("%T %v at %v, column %d of %d: %v", values, values[y*w+min(x, w-1)], at, x, w, got)
			}
		}
	}
}
