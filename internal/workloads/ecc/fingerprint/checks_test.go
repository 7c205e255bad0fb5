package fingerprint

import (
	"cmp"
	"context"
	"crypto/aes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/isa"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover counting by cells, lanes, and the vector look-up of weights, for each instruction
// set.
func checks() []checktest.Check {
	var checks []checktest.Check
	for _, set := range available() {
		checks = append(checks,
			checktest.Check{Name: "what is counted, " + set, Of: func(t *testing.T) { whatIsCounted(t, set) }},
			checktest.Check{Name: "cells that are counted, " + set, Of: func(t *testing.T) { cellsAreCounted(t, set) }},
			checktest.Check{Name: "lists of counts, " + set, Of: func(t *testing.T) { listsAreWeighed(t, set) }},
			checktest.Check{Name: "lanes of values, " + set, Of: func(t *testing.T) { valuesHaveLanes(t, set) }},
			checktest.Check{Name: "weights that are watched, " + set, Of: func(t *testing.T) { watchersSeeAll(t, set) }},
		)
		if set != isa.Portable {
			checks = append(checks,
				checktest.Check{Name: "weights of float32, " + set, Of: func(t *testing.T) { weightsOfFloats(t, set) }},
				checktest.Check{Name: "weights of whole numbers, " + set, Of: func(t *testing.T) { weightsOfNumbers(t, set) }},
				checktest.Check{Name: "products about the prime, " + set, Of: func(t *testing.T) { productsAboutThePrime(t, set) }},
			)
		}
	}
	return append(checks,
		checktest.Check{Name: "streamed images", Of: streamedAlike},
		checktest.Check{Name: "images that are watched", Of: watchedAlike},
		checktest.Check{Name: "tiles and slabs of images", Of: tilesAddUp},
		checktest.Check{Name: "fingerprints of images that end", Of: endsAreTold},
		checktest.Check{Name: "keys of fingerprints", Of: keysReadBack},
		checktest.Check{Name: "a known fingerprint", Of: knownSum},
		checktest.Check{Name: "fingerprints that are apart", Of: apartIsNamed},
		checktest.Check{Name: "weights of products", Of: productsAreWeights},
		checktest.Check{Name: "tables of weights", Of: tablesAreTheWeights},
		checktest.Check{Name: "fingerprints of curves", Of: curvesAdd},
		checktest.Check{Name: "fingerprints that are written", Of: sumsReadBack},
		checktest.Check{Name: "what fingerprints take", Of: workIsTold},
	)
}

// An image has one fingerprint in memory and in slabs, on any number of cores, with every
// instruction set, in each convention.
func streamedAlike(t *testing.T) {
	for _, shape := range []grid.Shape{{D: 7, H: 6, W: 37}, {D: 1, H: 40, W: 70}, {D: 2, H: 3, W: 7}, {D: 1, H: 1, W: 1}, {D: 2, H: 3, W: mostRow + 1}, {D: 1, H: 2, W: 4*mostRow + 1}} {
		for _, typ := range grid.Types() {
			wide := shape.W > mostRow // whose cells are not counted
			if wide && typ != grid.Uint8 {
				continue
			}
			few, err := grid.Affine(0, 1, 12)
			if err != nil {
				t.Fatal(err)
			}
			f := gridtest.Image(t, shape, typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 10) }) // all rows differ
			for _, c := range []Convention{
				{}, {Vertices: true}, {Superlevel: true}, {Vertices: true, Superlevel: true}, {Periodic: grid.Axes{X: true}}, {Periodic: grid.Axes{Y: true}},
				{Periodic: grid.Axes{Z: true}}, {Periodic: grid.Axes{X: true, Y: true, Z: true}}, {Vertices: true, Periodic: grid.Axes{X: true, Y: true, Z: true}},
			} {
				if c.Periodic.Check(shape) != nil || wide && c != (Convention{}) {
					continue
				}
				streamedIs(t, f, Draw(2).WithConvention(c))
				if typ == grid.Float32 {
					every, err := grid.Trusted(shape, typ, f.Data(), grid.Identity(typ))
					if err != nil {
						t.Fatal(err)
					}
					streamedIs(t, every, Draw(2).WithConvention(c))
				}
			}
		}
	}
}

func streamedIs(t *testing.T, f *grid.Field, k Key) {
	t.Helper()
	var want Sum
	for _, set := range available() {
		p := prepare(f.Type(), f.Ladder(), k, f.Ladder().Len(), set)
		for _, threads := range []int{1, 3} {
			for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
				got, err := p.Compute(in, threads)
				if err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = got
				}
				if !got.Equal(want) {
					t.Fatalf("%v of %v, %+v, key %v, in memory %v, by %s on %d cores: %v, want %v", f.Shape(), f.Type(), k.in, k, in == grid.Source(f), set, threads, got, want)
				}
			}
		}
	}
}

// A watcher does not change the fingerprint of an image, whether cells are counted or not. The
// watcher receives the value that is on no level.
func watchedAlike(t *testing.T) {
	const off = 4.25
	few, err := grid.Affine(0, 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 4, H: 3, W: 70}, {D: 1, H: 9, W: 70}} {
		f := gridtest.Image(t, shape, grid.Float32, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 9) })
		grid.Values[float32](f.Data())[shape.Voxels()/2] = off
		for _, set := range available() {
			p := prepare(grid.Float32, few, Draw(1), few.Len(), set)
			for _, counting := range []*counting{nil, p.counting()} {
				looker := &gridtest.Looker{}
				var sums []uint64
				for _, in := range []grid.Source{f, f.Watched(looker)} {
					m, err := newMarch(in, p.functions()[0], counting, grid.Axes{}, 1, set)
					if err != nil {
						t.Fatal(err)
					}
					sum, err := m.run()
					if err != nil {
						t.Fatal(err)
					}
					sums = append(sums, sum...)
				}
				if sums[0] != sums[1] || !slices.Contains(looker.Values, off) {
					t.Errorf("%v by %s, counted %v: %x, watched %x; %v is shown: %v", shape, set, counting != nil, sums[0], sums[1], off, slices.Contains(looker.Values, off))
				}
			}
		}
	}
}

// The sum does not depend on how an image is cut: tiles of few rows and columns, with few positions
// in a turn, and slabs of few slices.
func tilesAddUp(t *testing.T) {
	few, err := grid.Affine(0, 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 6, H: 5, W: 19}, {D: 1, H: 11, W: 19}, {D: 3, H: 4, W: 70}, {D: 1, H: 5, W: 70}} {
		for _, typ := range []grid.Type{grid.Uint8, grid.Uint16, grid.Float32} {
			f := gridtest.Image(t, shape, typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 9) })
			for _, c := range []Convention{{}, {Vertices: true}, {Periodic: grid.Axes{X: true, Y: true, Z: shape.D > 1}}} {
				p := prepare(typ, few, Draw(1).WithConvention(c), few.Len(), fastest())
				for _, counting := range []*counting{nil, p.counting()} {
					for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
						sum := func(change func(m *march)) uint64 {
							m, err := newMarch(in, p.functions()[0], counting, c.Periodic, 2, fastest())
							if err != nil {
								t.Fatal(err)
							}
							change(m)
							got, err := m.run()
							if err != nil {
								t.Fatal(err)
							}
							return got[0]
						}
						want := sum(func(*march) {})
						for rows := range int64(3) {
							for deep := range int64(4) {
								if got := sum(func(m *march) {
									m.rows, m.depth = rows+1, 2*deep+1
									m.columns, m.stride = weightGroup, 2*weightGroup
									if m.slab > 0 {
										m.slab = rows + 1
									}
								}); got != want {
									t.Errorf("%v of %v, %+v, counted %v, in memory %v: by %d rows and %d positions %x, want %x", shape, typ, c, counting != nil, in == grid.Source(f), rows+1, 2*deep+1, got, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

// An image that has ended has no fingerprint, flat or not, whether cells are counted or not.
func endsAreTold(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	end()
	for _, shape := range []grid.Shape{{D: 5, H: 4, W: 6}, {D: 1, H: 9, W: 6}} {
		for _, typ := range []grid.Type{grid.Uint8, grid.Float32} {
			few, err := grid.Affine(0, 1, 9)
			if err != nil {
				t.Fatal(err)
			}
			f := gridtest.Image(t, shape, typ, few, func(i int64) float64 { return float64(i % 9) })
			for _, set := range available() {
				if got, err := prepare(typ, few, Draw(1), 9, set).Compute(grid.WithContext(ctx, f), 2); !errors.Is(err, context.Canceled) {
					t.Errorf("%v of %v by %s: %v (%v)", shape, typ, set, got, err)
				}
			}
		}
	}
	if fastest() != available()[0] {
		t.Errorf("the fastest of %v is %s", available(), fastest())
	}
}

// AVX-512 and AVX2 count cells if lanes order the voxels, ascending or descending, and nothing
// wraps around: all integers, and float32 whose levels and one more fit 16 bits. Rows fill a core's
// room.
func whatIsCounted(t *testing.T, set string) {
	affine := func(lo, step float64, levels int64) grid.Ladder {
		l, err := grid.Affine(lo, step, levels)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	table, err := grid.Table([]float32{0, 1, 5})
	if err != nil {
		t.Fatal(err)
	}
	eight, sixteen, every := grid.Identity(grid.Uint8), grid.Identity(grid.Uint16), grid.Identity(grid.Float32)
	superlevel := Convention{Superlevel: true}
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		top    int64
		in     Convention
		bytes  int // of a lane; 0 if nothing is counted
	}{
		{grid.Uint8, eight, 256, Convention{}, 1}, {grid.Uint8, eight, 256, superlevel, 1}, {grid.Uint16, sixteen, 9, Convention{Masked: true}, 2},
		{grid.Int16, grid.Identity(grid.Int16), 1 << 16, superlevel, 2}, {grid.Int16, affine(-7, 0.5, 40), 40, Convention{}, 2}, {grid.Uint8, table, 3, Convention{}, 1},
		{grid.Uint8, eight, 256, Convention{Vertices: true}, 0}, {grid.Uint8, eight, 256, Convention{Periodic: grid.Axes{X: true}}, 0},
		{grid.Uint16, eight, 256, superlevel, 0}, {grid.Uint16, sixteen, 9, superlevel, 0}, // the outside would be first
		{grid.Float32, table, 3, Convention{}, 4}, {grid.Float32, affine(0, 0.1, math.MaxUint16), 9, Convention{}, 2}, {grid.Float32, affine(0, 0.1, math.MaxUint16+1), 9, Convention{}, 4},
		{grid.Float32, affine(0, 0.1, 1<<15), 9, superlevel, 2}, {grid.Float32, affine(0, 0.1, 1<<15+1), 9, superlevel, 0}, {grid.Float32, table, 3, superlevel, 2},
		{grid.Float32, every, 9, Convention{}, 4}, {grid.Float32, every, every.Len(), superlevel, 4}, {grid.Float32, every, every.Len(), Convention{Masked: true}, 4},
		{grid.Float32, every, every.Len(), Convention{Superlevel: true, Masked: true}, 0}, {grid.Float32, every, every.Len(), Convention{Vertices: true}, 0},
	} {
		counting := prepare(c.typ, c.ladder, Draw(2).WithConvention(c.in), c.top, set).counting()
		if set == isa.Portable {
			c.bytes = 0
		}
		if (counting != nil) != (c.bytes > 0) || counting != nil && counting.bytes != c.bytes {
			t.Errorf("%s: %v on %v, %+v, is counted %v, want lanes of %d bytes", set, c.typ, c.ladder, c.in, counting != nil, c.bytes)
		}
		if counting == nil {
			continue
		}
		row := mostRow / int64(counting.bytes)
		for shape, want := range map[grid.Shape]bool{{D: 2, H: 2, W: row}: true, {D: 2, H: 2, W: row + 1}: false, {D: 1, H: 2, W: 4 * row}: true, {D: 1, H: 2, W: 4*row + 1}: false} {
			for _, watched := range []bool{false, true} {
				if got := counting.accepts(shape, watched); got != (want && (!watched || c.bytes < 4)) {
					t.Errorf("%s: %v of %v, watched %v, is counted %v", set, shape, c.typ, watched, got)
				}
			}
		}
		m := &march{n: 3, h: 1000, w: 400, size: int64(c.typ.Size())}
		for _, m.flat = range []bool{false, true} {
			if m.rows = counting.countedRows(m); m.rows < countRows {
				t.Errorf("%s: %v is counted by %d rows", set, c.typ, m.rows)
			}
			s := counting.counter(m)
			for _, s.n = range []int{0, listBytes, listBytes + 4} {
				before := s.n
				if s.column(0, true); s.n > listBytes || s.n != before && before <= listBytes {
					t.Errorf("%s: of %d bytes of a list %d are left", set, before, s.n)
				}
				if most := int((m.rows + 1) * counting.vector); len(s.list)/2 < s.n+most+int(counting.vector) {
					t.Errorf("%s: a list of %d bytes has no room for %d more", set, len(s.list)/2, most)
				}
			}
		}
	}
}

// The counts of a vector of columns agree with the definition for each voxel: for lanes in every
// order, from plane to plane and from vector to vector. No other memory is accessed.
func cellsAreCounted(t *testing.T, set string) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, bytes := range []int{1, 2, 4} {
		for _, o := range []order{{}, {reversed: true}, {signed: true}, {signed: true, reversed: true}} {
			v, vector, ok := countVectorsOf(set, bytes, o)
			if ok = ok && v.volume != nil; ok != (assembled && (set == isa.AVX512 && (bytes != 1 || !o.signed) || set == isa.AVX2)) {
				t.Fatalf("%s counts lanes of %d bytes, %+v: %v", set, bytes, o, ok)
			}
			if !ok || (set == isa.AVX2 || bytes == 4) && o != (order{signed: true}) {
				continue
			}
			columns := int(vector) / bytes
			for rows := range 6 { // that have one after them
				stride := 2*int(vector) + bytes
				var planes [3][]byte // rows of two vectors, and of one lane more
				for z := range planes {
					b, free := gridtest.AtEnd((rows + 1) * stride)
					defer free()
					planes[z] = b
				}
				for round := range 6 {
					for z := range planes {
						for i := range planes[z] { // few values, from one end to the other, or the ends
							planes[z][i] = byte(rng.IntN(2+round) * 255 / (1 + round))
						}
					}
					at := func(z, y, x int) int {
						return number(planes[z][y*stride+bytes*x:][:bytes], o.signed)
					}
					least := func(a, b int) int { return min(a, b) }
					if o.reversed {
						least = func(a, b int) int { return max(a, b) }
					}
					kinds := func(z, y, x int) [4]int {
						f, next := at(z, y, x), least(at(z, y, x), at(z, y, x+1))
						if z == 2 { // which is flat
							return [4]int{f, next, f, next}
						}
						g, both := at(z+1, y, x), least(at(z+1, y, x), at(z+1, y, x+1))
						return [4]int{f, next, least(f, g), least(next, both)}
					}
					masks := func(word byte) []byte { return slices.Repeat([]byte{word}, int(vector)) }
					inside, own := masks(byte(-(round & 1))), masks(0xff)
					clear(own[:bytes])
					const guard = 0xaa
					beside, handed := make([]byte, (rows+2)*int(vector)), make([]byte, 2*2*(rows+1)*int(vector))
					var toPlane [2][][2]int
					for i := range toPlane {
						toPlane[i] = make([][2]int, (rows+1)*columns)
					}
					for z := range planes {
						toColumn := make([]int, rows+1)
						for block := range 2 {
							half := 2*(rows+2)*int(vector) + 64
							list := slices.Repeat([]byte{guard}, 2*half)
							first := block * int(vector)
							owned := own
							if block > 0 {
								owned = masks(0xff)
							}
							var n int
							if z == 2 {
								n = v.area(&planes[z][first], stride, rows, &inside[0], &owned[0], &beside[vector], &list[0], half, 0, 0)
							} else {
								n = v.volume(&planes[z][first], &planes[z+1][first], stride, rows, &inside[0], &owned[0], &beside[vector], &handed[2*(rows+1)*first], &list[0], half, 0, 0)
							}
							var want, got [][2]int
							fell := make([][4]int, columns)
							for x := range fell {
								f := int(inside[0] & 1)
								fell[x] = [4]int{f, f, f, f}
							}
							for y := range rows + 1 {
								for x := range columns {
									now := kinds(z, y, block*columns+x)
									var count [4]int
									for kind := range count {
										falls := 0
										if y < rows {
											if after := kinds(z, y+1, block*columns+x); after[kind] != now[kind] && least(after[kind], now[kind]) == after[kind] {
												falls = 1
											}
										}
										count[kind] = falls - fell[x][kind]
										fell[x][kind] = falls
									}
									for beside := range 2 {
										if z == 2 {
											break
										}
										handed := &toPlane[block][y*columns+x][beside]
										count[beside] -= *handed
										if *handed = count[2+beside]; now[2+beside] == now[beside] {
											count[beside] -= *handed
											*handed = 0
										}
									}
									total := count[0] - toColumn[y]
									if owned[x*bytes] == 0 {
										total = 0
									}
									if toColumn[y] = count[1]; now[1] == now[0] {
										total -= count[1]
										toColumn[y] = 0
									}
									if total != 0 {
										want = append(want, [2]int{at(z, y, block*columns+x), total})
									}
								}
							}
							step, behind := bytes, half
							if set == isa.AVX2 && bytes < 4 {
								step, behind = 2*bytes, bytes
							}
							for i := 0; i < n; i += step {
								got = append(got, [2]int{number(list[i:][:bytes], o.signed), number(list[i+behind:][:bytes], true)})
							}
							order := func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }
							slices.SortFunc(want, order) // of a vector AVX2 writes some columns before others
							slices.SortFunc(got, order)
							if !slices.Equal(got, want) {
								t.Fatalf("%s, %d bytes, %+v, plane %d of %d rows and one, vector %d: %v, want %v", set, bytes, o, z, rows, block, got, want)
							}
							if room := n + int(vector); slices.ContainsFunc(list[room:half], func(b byte) bool { return b != guard }) || slices.ContainsFunc(list[half+room:], func(b byte) bool { return b != guard }) {
								t.Fatalf("%s, %d bytes, %+v: more than a vector is written behind %d bytes", set, bytes, o, n)
							}
						}
					}
				}
			}
		}
	}
}

// number decodes bytes, the lowest first, with a sign or without.
func number(b []byte, signed bool) (n int) {
	for i, v := range b {
		n |= int(v) << (8 * i)
	}
	if bits := 8 * len(b); signed && n>>(bits-1) == 1 {
		n -= 1 << bits
	}
	return n
}

// A list is worth the weights of its voxels times their counts, modulo 2⁶⁴, in any length.
func listsAreWeighed(t *testing.T, set string) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, bytes := range []int{1, 2} {
		v, _, ok := countVectorsOf(set, bytes, order{})
		if !ok {
			continue
		}
		for n := 1; n <= 400; n++ {
			table := make([]uint64, 1<<(8*bytes))
			few := n%2 == 0 // bytes
			for i := range table {
				if table[i] = rng.Uint64(); few {
					table[i] = -(table[i] >> (64 - 8*digits))
				}
			}
			if bytes == 1 && (digitsOf(table) != nil) != few {
				t.Fatalf("%d weights have few bytes, %v", n, !few)
			}
			list, want := slices.Repeat([]byte{1}, 4000), uint64(0)
			for i := range n {
				lane, count := rng.IntN(len(table)), rng.IntN(19)-9
				want += table[lane] * uint64(count)
				at, behind := i*bytes, len(list)/2
				if set == isa.AVX2 {
					at, behind = 2*i*bytes, bytes
				}
				for b := range bytes {
					list[at+b], list[at+behind+b] = byte(lane>>(8*b)), byte(count>>(8*b))
				}
			}
			size := n * bytes
			if set == isa.AVX2 {
				size *= 2
			}
			if got := v.weigh(table)(list, size, nil); got != want {
				t.Fatalf("%s: %d voxels of %d bytes are worth %x, want %x", set, n, bytes, got, want)
			}
		}
	}
}

// Lanes have the weights of their levels, in the same order: for values on levels, between, above
// and below all, in rows of every length around a group, up to any level, in either direction. The
// last lane repeats behind each row. A watcher receives each value on no level.
func valuesHaveLanes(t *testing.T, set string) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		typ      grid.Type
		lo, step float64
		most     int64 // levels
	}{
		{grid.Uint8, 3, 1, 253}, {grid.Uint8, 0, 1, 256}, {grid.Int16, -300, 1, 1024}, {grid.Int16, math.MinInt16, 1, 1 << 16}, {grid.Int16, 5, 2, 600}, {grid.Uint16, 0, 1, 1 << 16}, {grid.Uint16, math.MaxUint16 - 9, 1, 10},
		{grid.Float32, -3, 0.5, 1024}, {grid.Float32, -3, 0.1, 1024}, {grid.Float32, -3, 0.1, 1<<16 - 1}, {grid.Float32, -3, 0.5, 1 << 15},
	} {
		for _, levels := range []int64{2, c.most} {
			l, err := grid.Affine(c.lo, c.step, levels)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []Convention{{}, {Superlevel: true}} {
				for _, top := range []int64{levels, levels/2 + 1} {
					w := Draw(1).WithConvention(in).weights(levels, 0)
					counting := newCounting(c.typ, l, []weights{w}, top, set)
					if counting == nil {
						continue
					}
					u, weight := &counting.lanes, w.weighUntil(top)
					table := u.table(c.typ, l, w, top)
					block := new([aes.BlockSize]byte)
					worth := func(v float32) uint64 { // the greatest is the outside
						return weight(block, l.Level(v)) - w.outside()
					}
					for _, columns := range []int64{1, 5, 15, 16, 17, 31, 32, 33, 64, 77} {
						const rows = 3
						size := int64(c.typ.Size())
						src, free := gridtest.AtEnd(int(rows * columns * size))
						value := func(i int64) float32 {
							switch c.typ {
							case grid.Uint8:
								return float32(src[i])
							case grid.Int16:
								return float32(grid.Values[int16](src)[i])
							case grid.Uint16:
								return float32(grid.Values[uint16](src)[i])
							}
							return grid.Values[float32](src)[i]
						}
						for round := range 3 {
							own := true
							for i := range rows * columns {
								if c.typ != grid.Float32 {
									x := rng.Uint32()
									if at := uint32(int32(c.lo) + rng.Int32N(int32(levels)+2) - 1); round == 0 {
										x = at
									}
									if src[size*i] = byte(x); size == 2 {
										src[2*i+1] = byte(x >> 8)
									}
									continue
								}
								v := l.Value(rng.Int64N(levels))
								if round > 0 && rng.IntN(20*(3-round)) == 0 {
									if v += float32(rng.NormFloat64() * c.step * float64(levels)); rng.IntN(8) == 0 { // beyond the last one by less than a step
										v = l.Value(levels-1) + float32(c.step*rng.Float64())
									}
									own = own && l.Value(min(levels-1, l.Level(v))) == v
								}
								grid.Values[float32](src)[i] = v
							}
							var watcher grid.Watcher
							looker := &gridtest.Looker{}
							if c.typ == grid.Float32 && round < 2 {
								watcher = looker
							}
							stride := 80*int64(u.bytes) + u.vector
							got := make([]byte, rows*stride)
							u.rows(watcher, got, src, rows, columns, stride, columns*size)
							lane := func(y, x int64) int {
								b := got[y*stride+x*int64(u.bytes):]
								if u.bytes == 1 {
									return int(b[0])
								}
								return int(b[0]) | int(b[1])<<8
							}
							place := func(lane int) int { // in the order
								if u.signed {
									lane ^= 1 << (8*u.bytes - 1)
								}
								if u.reversed {
									lane = -lane
								}
								return lane
							}
							for i := range rows * columns {
								y, x := i/columns, i%columns
								if have, want := table[lane(y, x)], worth(value(i)); have != want {
									t.Fatalf("%s, %v from %v on by %v, up to %d of %d levels, %+v, %d columns, value %d: %x, want %x", set, c.typ, c.lo, c.step, top, levels, in, columns, i, have, want)
								}
								if x > 0 {
									a, b := place(lane(y, x-1)), place(lane(y, x))
									if less := int64(worth(value(i-1))) - int64(worth(value(i))); less < 0 && a >= b || less > 0 && a <= b {
										t.Fatalf("%s, %v, %+v: %v and %v are at %d and %d", set, c.typ, in, value(i-1), value(i), a, b)
									}
								}
								if end := lane(y, columns+x%(u.vector/int64(u.bytes))); end != lane(y, columns-1) {
									t.Fatalf("%s, %v, %d columns: behind row %d comes %d, want %d", set, c.typ, columns, y, end, lane(y, columns-1))
								}
							}
							if watcher == nil && u.fast != nil && columns >= u.group { // values left to Go are only slow
								above := false
								for i := range rows * columns {
									above = above || u.levels && l.Level(value(i)) == levels
								}
								if done := u.fast(&got[0], &src[0], int(columns), rows, int(stride), int(columns*size)); (done < rows) != above {
									t.Fatalf("%s, %v, %d columns: %d rows of %d are turned, with values above the last level %v", set, c.typ, columns, done, rows, above)
								}
							}
							if watcher != nil && !own && looker.Values == nil {
								t.Fatalf("%s: values on no level by %v are not shown", set, c.step)
							}
							if watcher != nil && own && u.exactly != nil && columns >= u.group && looker.Values != nil {
								t.Fatalf("%s: %d values on levels by %v are shown", set, len(looker.Values), c.step)
							}
						}
						free()
					}
				}
			}
		}
	}
}

// A product just above the prime has the same random bits as its remainder. Few numbers reach this,
// so the factors of the last bytes are chosen to produce such levels.
func productsAboutThePrime(t *testing.T, set string) {
	every := grid.Identity(grid.Float32)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		w := Draw(1).weights(every.Len(), 0)
		src := grid.NewBuffer(4 * 256)
		for last := range 256 {
			level := rng.Int64N(every.Len()>>8)<<8 + int64(last)
			grid.Values[float32](src)[last] = every.Value(level)
			f := w.factors
			product := timesInField(timesInField(f[level>>24], f[256+level>>16&255]), f[512+level>>8&255])
			f[768+last] = uint64(last % 6)
			for power := prime - 2; power > 0; power >>= 1 { // its inverse
				if power&1 == 1 {
					f[768+last] = timesInField(f[768+last], product)
				}
				product = timesInField(product, product)
			}
		}
		u := newLookup(grid.Float32, every, w, every.Len(), set)
		for _, n := range []int{5, 32, 256} { // fewer than a vector, some and all
			for at := 0; at+n <= 256; at += n {
				if msg := u.apart(src[4*at:4*(at+n)], true); msg != "" {
					t.Fatalf("values from %d on, of %d: %s", at, n, msg)
				}
			}
		}
	}
}

// weightsOfFloats compares the vector look-up of float32 weights with the portable one, for values
// between levels and beyond the ladder. It must find values on the ladder itself; those left to the
// portable code are only slow.
func weightsOfFloats(t *testing.T, set string) {
	const many, n = 3000, 77
	src, free := gridtest.AtEnd(4 * n)
	defer free()
	inFloat32 := 0
	ladders := [][2]float64{{0, 1}, {0, 2}, {0, 0.75}, {-3, 0.75}, {-0.125, 0.1}, {0.1, 0.1}, {-0.02, 0.1}, {-0.25, 1}, {0.3, 1.1}, {7, 0.25}, {1000.3, 0.7}, {-1000.3, 0.7}}
	for _, of := range ladders {
		lo, step := of[0], of[1]
		l, err := grid.Affine(lo, step, many)
		if err != nil {
			t.Fatal(err)
		}
		if l.InFloat32() {
			inFloat32++
		}
		u := newLookup(grid.Float32, l, Draw(1).weights(many, 0), many, set)
		if u.fast.floats == nil {
			t.Fatalf("levels %v + k × %v: no instructions", lo, step)
		}
		first, last := l.Value(0), l.Value(many-1)
		within := []float32{first, last, first - float32(step), first - float32(step)/4, last - float32(step)/4, float32(math.Inf(-1)), -math.MaxFloat32}
		for _, k := range []int64{0, 1, many / 2, many - 2} {
			value := l.Value(k)
			within = append(within, math.Nextafter32(value, first-1), math.Nextafter32(value, last+1), value+float32(step)/3, value+float32(step)*0.9)
			// On the ladders without lo, and with its opposite.
			for _, other := range []float32{float32(float64(k) * step), float32(float64(k)*step - lo)} {
				if other < last {
					within = append(within, other)
				}
			}
		}
		for _, k := range []float64{1, 2, 3, 10, 11, 12} { // a level's number without the step, or with the step as one more
			within = append(within, float32(k+lo), float32(k+step+lo))
		}
		beyond := []float32{math.Nextafter32(last, last+1), last + float32(step)/2, last + float32(step), last + 2*float32(step), last + 300*float32(step), math.MaxFloat32, float32(math.Inf(1))}
		for i, x := range append(within, beyond...) {
			for _, place := range []int{-1, -2, -3, i * 5 % n} { // all, halves of vectors, or one
				for j := range n {
					grid.Values[float32](src)[j] = l.Value(int64(j) * 37 % many)
					if place == j || place == -1 || place == -2 && j&4 == 0 || place == -3 && j&2 == 0 {
						grid.Values[float32](src)[j] = x
					}
				}
				if msg := u.apart(src, i < len(within)); msg != "" {
					t.Fatalf("levels %v + k × %v, %d values, %v at %d: %s", lo, step, n, x, place, msg)
				}
			}
		}
	}
	if inFloat32 == 0 || inFloat32 == len(ladders) {
		t.Errorf("%d of %d ladders are exact in float32, want some of both", inFloat32, len(ladders))
	}
	uneven, err := grid.Table([]float32{0, 1, 3})
	if err != nil {
		t.Fatal(err)
	}
	if newLookup(grid.Float32, uneven, Draw(1).weights(3, 0), 3, set).fast.floats != nil {
		t.Error("there are instructions for levels that are no arithmetic")
	}
}

// weightsOfNumbers compares the vector look-up of integer weights with the portable one.
func weightsOfNumbers(t *testing.T, set string) {
	for _, typ := range grid.Types()[:3] {
		l := grid.Identity(typ)
		u := newLookup(typ, l, Draw(1).weights(l.Len(), 0), l.Len(), set)
		src, free := gridtest.AtEnd(1 << 17)
		defer free()
		for i := range 1 << 16 {
			src[2*i], src[2*i+1] = byte(i), byte(i>>8)
		}
		if typ == grid.Uint8 {
			src = src[len(src)-777:]
		}
		if msg := u.apart(src, true); msg != "" {
			t.Errorf("%v: %s", typ, msg)
		}
	}
}

// apart reports a weight that differs from the portable look-up, a write beyond the values, or
// known values that the vector code leaves.
func (u *lookup) apart(src []byte, known bool) string {
	n := len(src) / int(u.typ.Size())
	want, got := make([]uint64, n+5), make([]uint64, n+5)
	u.portable(want[:n], src, make([]int32, n))
	fast := map[grid.Type]func(dst, table *uint64, src *byte, n, ahead int) int{
		grid.Uint8: u.fast.bytes, grid.Int16: u.fast.pairs, grid.Uint16: u.fast.pairs, grid.Float32: u.fast.floats,
	}[u.typ]
	done := fast(&got[0], &u.table[0], &src[0], n, 0)
	if least := n - 16; known && done < least || done > n {
		return fmt.Sprintf("%d of %d values are looked up", done, n)
	}
	for i := range got {
		if i < done && got[i] != want[i] {
			return fmt.Sprintf("value %d has weight %#x, want %#x", i, got[i], want[i])
		} else if i >= n && got[i] != 0 {
			return fmt.Sprintf("%d values beyond the last one are written", i-n+1)
		}
	}
	return ""
}

// Keys can be read back, and have enough functions for the number of levels.
func keysReadBack(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4} {
		k := Draw(n)
		if back, err := ParseKey(k.String()); err != nil || back != k {
			t.Errorf("key %v is read as %v, %v", k, back, err)
		}
	}
	for _, bad := range []string{"", "12", "00112233445566778899aabbccddeefg", "00112233445566778899aabbccddeeff*0", "00112233445566778899aabbccddeeff*x", "00112233445566778899aabbccddeeff/x", "00112233445566778899aabbccddeeff00"} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("key %q is read", bad)
		}
	}
	if _, err := ParseKey("12"); err == nil || err.Error() != `key "12": want 32 hexadecimal digits` {
		t.Error(err)
	}
	if a, b := Draw(1), Draw(1); a == b {
		t.Error("two keys are the same")
	}
	for levels, want := range map[int64]int{2: 1, 256: 1, 1 << 29: 1, grid.MaxLevels: 1, grid.Identity(grid.Float32).Len(): 1, 1 << 34: 2} {
		if got := Draw(1).ForLevels(levels).Functions(); got != want {
			t.Errorf("%d levels take %d functions, want %d", levels, got, want)
		}
	}
}

// A written fingerprint reads back with every bit.
func sumsReadBack(t *testing.T) {
	for _, want := range []Sum{{0}, {1<<64 - 1}, {1 << 63, 5}} {
		if got, err := ParseSum(want.String()); err != nil || !got.Equal(want) {
			t.Errorf("%v: %v (%v)", want, got, err)
		}
	}
	for _, bad := range []string{"", "12", "000000000000000g", "0000000000000001 1"} {
		if got, err := ParseSum(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

// The estimate of a fingerprint is the sum of its parts, for each kind of ladder: the voxels, the
// search for a level, many levels, and the table.
func workIsTold(t *testing.T) {
	voxel := int64(2)
	if available()[0] == isa.Portable {
		voxel = 12
	}
	table := func(n int) grid.Ladder {
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(i * i)
		}
		l, err := grid.Table(values)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	even, err := grid.Affine(0, 1, 100000)
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		typ    grid.Type
		ladder grid.Ladder
		want   int64 // ns
	}{
		"bytes":            {grid.Uint8, grid.Identity(grid.Uint8), 1000*voxel + 256*40},
		"a short table":    {grid.Float32, table(3), 1000*(voxel+30) + 3*40},
		"many levels":      {grid.Float32, even, 1000*(voxel+10) + 100000*40},
		"every float32":    {grid.Float32, grid.Identity(grid.Float32), 1000 * 4 * voxel},
		"a table of bytes": {grid.Uint8, table(3), 1000*voxel + 3*40},
		"a long table":     {grid.Float32, table(manyLevels + 1), 1000*(voxel+30+10+110) + (manyLevels+1)*40},
		"a table":          {grid.Float32, table(manyLevels), 1000*(voxel+30) + manyLevels*40},
	} {
		f, err := grid.Trusted(grid.Shape{D: 10, H: 10, W: 10}, c.typ, make([]byte, 1000*c.typ.Size()), c.ladder)
		if err != nil {
			t.Fatal(err)
		}
		for functions := 1; functions <= 2; functions++ {
			for threads, by := range map[int]int64{0: 1, 1: 1, 4: 4} {
				if got := Work(f, Draw(functions), threads); int64(got) != c.want/by*int64(functions) {
					t.Errorf("%s, %d functions on %d cores: %d ns, want %d", what, functions, threads, got, c.want/by*int64(functions))
				}
				if got, want := int64(Work(struct{ grid.Source }{f}, Draw(functions), threads)), (c.want+3000)/by*int64(functions); got != want {
					t.Errorf("%s, streamed, %d functions on %d cores: %d ns, want %d", what, functions, threads, got, want)
				}
			}
		}
	}
}

// The fingerprint of a curve of many steps is the sum of the fingerprints of its parts, on few
// levels and on every float32.
func curvesAdd(t *testing.T) {
	const steps, each = 10_000, 77
	for _, levels := range []int64{steps, grid.Identity(grid.Float32).Len()} {
		curve := func(from, to int64) func(func(level, change int64) bool) {
			return func(yield func(level, change int64) bool) {
				for i := from; i < to && yield(i*(levels/steps), i%7-3); i++ {
				}
			}
		}
		k := Draw(2)
		whole, err := OfCurve(curve(0, steps), levels, k)
		if err != nil {
			t.Fatal(err)
		}
		sum := make(Sum, len(whole))
		for from := int64(0); from < steps; from += each {
			part, err := OfCurve(curve(from, min(from+each, steps)), levels, k)
			if err != nil {
				t.Fatal(err)
			}
			sum.Add(part, 1)
		}
		if !sum.Equal(whole) {
			t.Errorf("of %d levels: %v, the parts have %v", levels, whole, sum)
		}
	}
}

// A key gives the same sums on every machine, for each function, on few levels and many, for each
// kind of weights, in each convention.
func knownSum(t *testing.T) {
	of := func(functions string, levels int64, in Convention) string {
		k, err := ParseKey("000102030405060708090a0b0c0d0e0f" + functions)
		if err != nil {
			t.Fatal(err)
		}
		l := grid.Identity(grid.Float32)
		if levels > 0 {
			if l, err = grid.Affine(0, 1, levels); err != nil {
				t.Fatal(err)
			}
		}
		f := gridtest.Image(t, grid.Shape{D: 5, H: 6, W: 9}, grid.Float32, l, func(i int64) float64 { return float64((i*i + 3) * 7919 % cmp.Or(levels, 1000)) })
		got, err := Compute(f, k.WithConvention(in), 2)
		if err != nil {
			t.Fatal(err)
		}
		return got.String()
	}
	for levels, want := range map[int64]string{10: "000000232e931d55 00000016f34b7c86 000000253549be15 000000223dbff6d8", 5000: "3d44c77a09dc18a0 3d559a14ef80aa47 3d4a59342718324c 3d2324d342e68c2b"} {
		if got := of("*4", levels, Convention{}); got != want {
			t.Errorf("on %d levels: %s, want %s", levels, got, want)
		}
	}
	for levels, want := range map[int64][2]string{
		256: {"000000fc87d0e7fc", "000001c49cab35bb"}, 257: {"6fc003b0fa997154", "d0240233aa1a66fb"}, mostDrawn: {"25fd2e59cdadc5b9", "78e48f07f060cb5f"}, mostDrawn + 1: {"f598507b6828fd0a", "1c3a7038eb9e4733"}, mostProducts: {"92904cdd59f177e5", "b5595a9eee44c4a8"}, mostProducts + 1: {"18e7a5bc6f8de124", "f6838f084b9673b3"}, 0: {"3e04800316012c00", "1df13fff0fd16af6"},
	} {
		for i, in := range []Convention{{Superlevel: true}, {Vertices: true, Periodic: grid.Axes{Y: true}}} {
			if got := of("", levels, in); got != want[i] {
				t.Errorf("on %d levels, %+v: %s, want %s", levels, in, got, want[i])
			}
		}
	}
}

// The report names the first instruction set with another fingerprint, and one that fails.
func apartIsNamed(t *testing.T) {
	for _, c := range []struct{ says, want string }{{"aaa", ""}, {"aba", "1"}, {"abb", "1"}, {"aab", "2"}, {"a", ""}, {"aax", "fails"}, {"xaa", "fails"}, {"abx", "1"}} {
		of := func(isa string) (Sum, error) {
			says := c.says[isa[0]-'0']
			if says == 'x' {
				return nil, fmt.Errorf("%s fails", isa)
			}
			return Sum{uint64(says)}, nil
		}
		got, fastest, other, err := firstDifferingISA([]string{"0", "1", "2"}[:len(c.says)], of)
		if err != nil {
			got = "fails"
		}
		if got != c.want || len(got) == 1 && (fastest[0] != 'a' || other[0] != 'b') {
			t.Errorf("%s: %q, %v and %v, want %q", c.says, got, fastest, other, c.want)
		}
	}
}

// The random bits of a level are the product of the bits of its bytes, and weights ascend with the
// levels. Their number keeps the greatest weight a normal float64.
func productsAreWeights(t *testing.T) {
	for levels, want := range map[int64]uint{2044: 52, 2045: 51, 2046: 51, grid.MaxLevels: 31} {
		if got := randomBits(levels); got != want {
			t.Errorf("%d levels have %d random bits, want %d", levels, got, want)
		}
	}
	if f := Draw(1).weights(grid.MaxLevels, 0).factors; f != nil {
		t.Errorf("%d levels have %d factors", int64(grid.MaxLevels), len(f))
	}
	for _, levels := range []int64{mostDrawn + 1, mostProducts} {
		w := Draw(1).weights(levels, 0)
		var last uint64
		for _, number := range []int64{0, 1, 255, 256, 257, 300, levels - 2, levels - 1} {
			got := w.weightOf(number)
			random := w.factors[number/256] * w.factors[lowerFactors+number%256]
			if want := lowest + uint64(number)<<w.bits + random&(1<<w.bits-1); got != want || got <= last {
				t.Errorf("%d levels: the weight of %d is %x, want %x, after %x", levels, number, got, want, last)
			}
			last = got
		}
	}
}

// A watcher receives every value between levels at any position in a row, and none from groups with
// all values on levels. The weights are the same as without a watcher.
func watchersSeeAll(t *testing.T, isa string) {
	for _, step := range []float64{0.5, 0.1} { // float32 represents the first exactly
		l, err := grid.Affine(-3, step, 1000)
		if err != nil {
			t.Fatal(err)
		}
		u := newLookup(grid.Float32, l, Draw(1).weights(l.Len(), 0), l.Len(), isa)
		for _, n := range []int{1, 15, 16, 17, 77, 320} {
			w, values := &gridtest.Looker{}, make([]float32, n)
			for i := range values {
				values[i] = l.Value(int64(i) * 37 % l.Len())
			}
			got, want, scratch := make([]uint64, n), make([]uint64, n), make([]int32, n)
			turn := func() {
				w.Values = nil
				u.row(want, grid.Bytes(values), scratch, 0)
				u.watched(w, got, grid.Bytes(values), scratch, 0)
				if !slices.Equal(got, want) {
					t.Fatalf("%s, %d values on levels %v apart: other weights than without a watcher", isa, n, step)
				}
			}
			if turn(); n >= 16 && u.fast.exactly != nil && w.Values != nil {
				t.Errorf("%s, %d values on levels %v apart: %d are shown", isa, n, step, len(w.Values))
			}
			for at := range values {
				for _, x := range []float32{-3.25, -1e9, l.Value(5) + 0.03, l.Value(l.Len()-1) + 0.03, float32(float64(l.Len())*step - 3), 1e9} {
					kept := values[at]
					values[at] = x
					if turn(); !slices.Contains(w.Values, x) {
						t.Fatalf("%s, %d values on levels %v apart, %v at %d: not shown", isa, n, step, x, at)
					}
					values[at] = kept
				}
			}
		}
	}
}

// The table for a kernel has the weight of each value of an integer type. Values beyond its ends
// are in the first and the last entry, and the outside is there once.
func tablesAreTheWeights(t *testing.T) {
	for _, typ := range grid.Types()[:3] {
		lo, hi := int64(0), int64(1)<<(8*typ.Size())
		if typ == grid.Int16 {
			lo, hi = math.MinInt16, math.MaxInt16+1
		}
		ladders := []grid.Ladder{grid.Identity(typ)}
		for _, of := range [][3]float64{{0, 1, 256}, {-100, 1, 150}, {7, 3, 50}, {40, 0.5, 90}, {-1e6, 1, 9}, {1e6, 1, 9}} {
			l, err := grid.Affine(of[0], of[1], int64(of[2]))
			if err != nil {
				t.Fatal(err)
			}
			ladders = append(ladders, l)
		}
		for _, l := range ladders {
			for _, in := range []Convention{{}, {Vertices: true}, {Superlevel: true}} {
				p := prepare(typ, l, Draw(1).WithConvention(in), l.Len(), isa.Portable)
				tables, err := p.Tables()
				if err != nil || len(tables) != 1 {
					t.Fatalf("%v on %v: %d tables (%v)", typ, l, len(tables), err)
				}
				f, table := p.functions()[0], tables[0]
				values := table.Weights
				if !table.Beyond {
					values = values[:len(values)-1]
				}
				if got, want := table.Weights[len(table.Weights)-1], (f.outside-lowest)<<table.Shift; got != want {
					t.Errorf("%v on %v, %+v: outside has %x, want %x", typ, l, in, got, want)
				}
				for i, w := range values[1:] {
					if w != values[i] && w>>32 == values[i]>>32 {
						t.Errorf("%v on %v, %+v: %x and %x are apart in their lower halves alone", typ, l, in, values[i], w)
					}
				}
				for v := lo; v < hi; v++ {
					at := max(0, min(v-table.Least, int64(len(values))-1))
					if got, want := values[at], (f.weight.table[v&(hi-lo-1)]-lowest)<<table.Shift; got != want {
						t.Errorf("%v on %v, %+v: %d has %x, want %x", typ, l, in, v, got, want)
						break
					}
				}
			}
		}
	}
	// For float32 the table has the weights of levels and of values above them, or factors.
	const none = math.MaxInt64
	for _, c := range []struct {
		typ   grid.Type
		of    [3]float64 // no levels for every float32
		first int64      // of those with factors
	}{
		{grid.Float32, [3]float64{}, 0}, {grid.Float32, [3]float64{0, 0.5, 50}, none}, {grid.Float32, [3]float64{3, 0.5, 5000}, 0}, {grid.Uint16, [3]float64{7, 1, 5000}, 7}, {grid.Int16, [3]float64{-700, 1, 5000}, -700},
		{grid.Uint16, [3]float64{7, 0.5, 5000}, none}, {grid.Uint16, [3]float64{7.5, 1, 5000}, none}, {grid.Uint16, [3]float64{-1<<24 + 1, 1, 5000}, -1<<24 + 1}, {grid.Uint16, [3]float64{-1 << 24, 1, 5000}, none},
	} {
		l := grid.Identity(grid.Float32)
		if c.of[2] > 0 {
			var err error
			if l, err = grid.Affine(c.of[0], c.of[1], int64(c.of[2])); err != nil {
				t.Fatal(err)
			}
		}
		for _, in := range []Convention{{}, {Vertices: true, Masked: true}} {
			p := prepare(c.typ, l, Draw(1).WithConvention(in), l.Len(), isa.Portable)
			tables, err := p.Tables()
			if err != nil || len(tables) != 1 {
				t.Fatalf("%v on %v: %d tables (%v)", c.typ, l, len(tables), err)
			}
			f, got := p.functions()[0], tables[0]
			if got.Under != in.Vertices || got.Reversed != in.Vertices || got.Bits != f.bits || !l.Indexed() && got.Beyond != in.Masked {
				t.Errorf("%v on %v, %+v: %v, %v, %d bits, %v", c.typ, l, in, got.Under, got.Reversed, got.Bits, got.Beyond)
			}
			first, factors := c.first, f.factors
			if first == none {
				first, factors = 0, nil
			}
			if !slices.Equal(got.Factors, factors) || got.First != first || (factors == nil) != (c.first == none) {
				t.Errorf("%v on %v, %+v: %d factors from %d on, want %d", c.typ, l, in, len(got.Factors), got.First, c.first)
			}
			if c.typ == grid.Float32 && l.Indexed() {
				want := make([]uint64, l.Len()+1)
				for i := range want {
					want[i] = (f.weight.table[i] - lowest) << got.Shift
				}
				if !slices.Equal(got.Weights, want) || got.Beyond {
					t.Errorf("%v on %v, %+v: %d weights that are others", c.typ, l, in, len(got.Weights))
				}
			}
		}
	}
}
