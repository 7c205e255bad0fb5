package fingerprint

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/isa"
	"eccbench/internal/sound"
	"eccbench/internal/sound/grids"
)

// Checks are of the weights that vector instructions look up, and of where there are some.
func Checks() []sound.Check {
	var checks []sound.Check
	for _, set := range available() {
		checks = append(checks,
			sound.Check{Name: "instructions for turning points, " + set, Of: func(t sound.T) { whereThereAreTurns(t, set) }},
			sound.Check{Name: "turning points, " + set, Of: func(t sound.T) { turningPoints(t, set) }},
			sound.Check{Name: "weights that are watched, " + set, Of: func(t sound.T) { watchersSeeAll(t, set) }},
			sound.Check{Name: "levels of values, " + set, Of: func(t sound.T) { valuesHaveLevels(t, set) }},
			sound.Check{Name: "levels that count, " + set, Of: func(t sound.T) { levelsThatCount(t, set) }},
			sound.Check{Name: "weights of lists of levels, " + set, Of: func(t sound.T) { listsOfLevels(t, set) }},
		)
		if set != isa.Portable {
			checks = append(checks,
				sound.Check{Name: "weights of float32, " + set, Of: func(t sound.T) { weightsOfFloats(t, set) }},
				sound.Check{Name: "weights of whole numbers, " + set, Of: func(t sound.T) { weightsOfNumbers(t, set) }},
				sound.Check{Name: "products about the prime, " + set, Of: func(t sound.T) { productsAboutThePrime(t, set) }},
			)
		}
	}
	return append(checks,
		sound.Check{Name: "streamed images", Of: streamedAlike},
		sound.Check{Name: "tiles and slabs of images", Of: tilesAddUp},
		sound.Check{Name: "lists of turning points", Of: listsHaveRoom},
		sound.Check{Name: "fingerprints of images that end", Of: endsAreTold},
		sound.Check{Name: "keys of fingerprints", Of: keysReadBack},
		sound.Check{Name: "a known fingerprint", Of: knownSum},
		sound.Check{Name: "fingerprints that are apart", Of: apartIsNamed},
		sound.Check{Name: "weights of products", Of: productsAreWeights},
		sound.Check{Name: "multilinear weights", Of: multilinearWeights},
		sound.Check{Name: "tables of weights", Of: tablesAreTheWeights},
		sound.Check{Name: "lines of bytes", Of: lineOfBytes},
		sound.Check{Name: "fingerprints of curves", Of: curvesAdd},
		sound.Check{Name: "fingerprints that are written", Of: sumsReadBack},
		sound.Check{Name: "what fingerprints take", Of: workIsTold},
	)
}

// An image has one fingerprint, whether it is in memory or read in slabs, on any number of cores and by
// any instructions, in each convention.
func streamedAlike(t sound.T) {
	for _, shape := range []grid.Shape{{D: 7, H: 6, W: 37}, {D: 1, H: 40, W: 70}, {D: 2, H: 3, W: 7}, {D: 1, H: 1, W: 1}, {D: 2, H: 3, W: turnBytes + 3}} {
		for _, typ := range grid.Types() {
			wide := shape.W > turnBytes // whose rows are taken one by one
			if wide && typ != grid.Uint8 {
				continue
			}
			few, err := grid.Affine(0, 1, 12)
			if err != nil {
				t.Fatal(err)
			}
			f := grids.Image(t, shape, typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 10) }) // no two rows alike
			for _, c := range []Convention{
				{}, {Vertices: true}, {Superlevel: true}, {Vertices: true, Superlevel: true}, {Periodic: grid.Axes{X: true}}, {Periodic: grid.Axes{Y: true}},
				{Periodic: grid.Axes{Z: true}}, {Periodic: grid.Axes{X: true, Y: true, Z: true}}, {Vertices: true, Periodic: grid.Axes{X: true, Y: true, Z: true}},
			} {
				if c.Periodic.Of(shape) != nil || wide && c != (Convention{}) {
					continue
				}
				streamedIs(t, f, Draw(1).In(c))
				for _, by := range []split{ofBytes, ofLevels, ofPairs} {
					k := Draw(1).In(c)
					if k.split = by; k.refused(typ, few) == nil {
						streamedIs(t, f, k)
					}
				}
			}
		}
	}
}

func streamedIs(t sound.T, f *grid.Field, k Key) {
	t.Helper()
	var want Sum
	for _, set := range available() {
		p := prepare(f.Type(), f.Ladder(), k, f.Ladder().Len(), set)
		for _, threads := range []int{1, 3} {
			for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
				got, err := p.Of(in, threads)
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

// The sum is the same however an image is cut: in tiles of few rows and columns, whose turns are of few
// positions, and in slabs of few slices.
func tilesAddUp(t sound.T) {
	few, err := grid.Affine(0, 1, 9)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 6, H: 5, W: 19}, {D: 1, H: 11, W: 19}, {D: 3, H: 4, W: 70}, {D: 1, H: 5, W: 70}} {
		for _, typ := range []grid.Type{grid.Uint8, grid.Uint16, grid.Float32} {
			f := grids.Image(t, shape, typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 9) })
			for _, c := range []Convention{{}, {Vertices: true}, {Periodic: grid.Axes{X: true, Y: true, Z: shape.D > 1}}} {
				keys := []Key{Draw(1).In(c)}
				for _, by := range []split{ofLevels, ofPairs} {
					k := keys[0]
					if k.split = by; k.refused(typ, few) == nil {
						keys = append(keys, k)
					}
				}
				for _, k := range keys {
					function := prepare(typ, few, k, few.Len(), fastest()).functions[0]
					for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
						sum := func(change func(m *march)) uint64 {
							m, err := newMarch(in, function, c.Periodic, 2, fastest())
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
									if m.turns == nil {
										m.columns, m.stride = m.group, 2*m.group
									}
									if m.slab > 0 {
										m.slab = rows + 1
									}
								}); got != want {
									t.Errorf("%v of %v, key %v, %+v, in memory %v: by %d rows and %d positions %x, want %x", shape, typ, k, c, in == grid.Source(f), rows+1, 2*deep+1, got, want)
								}
							}
						}
					}
				}
			}
		}
	}
}

// Rows are taken as long as each of the lists has room for all their voxels, and one always is; lists
// that have none are looked at in between.
func listsHaveRoom(t sound.T) {
	for _, c := range []struct{ columns, size int64 }{{10, 1}, {10, 2}, {3 * listBytes, 1}, {3 * listBytes, 2}} {
		s := newTurning([]*turns{{alternate: func(list []byte) int64 { return int64(len(list)) }}, {alternate: func(list []byte) int64 { return -int64(len(list)) }}}, c.columns, c.size)
		each := (c.columns + 1) * c.size
		if got := int64(len(s.lists)); got != 4*(max(listBytes, each)+listEnd) {
			t.Errorf("%+v: lists of %d bytes", c, got)
		}
		if got := int64(s.full(c.columns)); got < 0 || got+each+listEnd != int64(s.room) {
			t.Errorf("%+v: lists of %d bytes are full with %d", c, s.room, got)
		}
		for i, sign := range [4]int64{1, -1, -1, 1} {
			const rows = 12345
			s.counts = [4]int64{}
			clear(s.sums)
			next, looks := int64(0), 0
			s.inLists(rows, func(at, left int64) int {
				if at != next || at+left != rows || looks > 0 && s.counts != [4]int64{} {
					t.Fatalf("%+v: rows %d to %d are asked for, with %d bytes, want those from %d on", c, at, at+left, s.counts, next)
				}
				looks++
				n := 0
				for ; n < int(left) && s.counts[i] <= int64(s.full(c.columns)); n++ {
					s.counts[i] += each
				}
				next += int64(n)
				return n
			})
			all := max(listBytes, each) / each // rows of a list
			if want := (rows + all - 1) / all; next != rows || int64(looks) != want {
				t.Errorf("%+v, list %d: %d rows are taken in %d turns, want %d in %d", c, i, next, looks, rows, want)
			}
			if s.look(); s.sums[0] != sign*rows*each || s.sums[1] != -sign*rows*each || s.counts != [4]int64{} {
				t.Errorf("%+v, list %d: %d rows are worth %d, %d are left", c, i, rows, s.sums, s.counts)
			}
		}
	}
}

// An image that has ended has no fingerprint, flat or not, whether it is taken in tiles or by its
// turning points.
func endsAreTold(t sound.T) {
	ctx, end := context.WithCancel(context.Background())
	end()
	for _, shape := range []grid.Shape{{D: 5, H: 4, W: 6}, {D: 1, H: 9, W: 6}} {
		for _, typ := range []grid.Type{grid.Uint8, grid.Float32} {
			few, err := grid.Affine(0, 1, 9)
			if err != nil {
				t.Fatal(err)
			}
			f := grids.Image(t, shape, typ, few, func(i int64) float64 { return float64(i % 9) })
			for _, set := range available() {
				if got, err := prepare(typ, few, Draw(1), 9, set).Of(grid.Until(ctx, f), 2); !errors.Is(err, context.Canceled) {
					t.Errorf("%v of %v by %s: %v (%v)", shape, typ, set, got, err)
				}
			}
		}
	}
	if fastest() != available()[0] {
		t.Errorf("the fastest of %v is %s", available(), fastest())
	}
}

// Turning points are found by AVX-512, where it has instructions for bytes, and by AVX2, of types whose
// values are no more than 16 bits; AVX2 looks those of bytes up by bilinear weights alone, and of others one by one.
func whereThereAreTurns(t sound.T, set string) {
	for _, greatest := range []bool{false, true} {
		for _, typ := range grid.Types()[:3] {
			v, lookUp, ok := turnVectorsOf(set, typ, greatest)
			wide := set == isa.AVX512
			if want := assembled && (set == isa.AVX2 || wide && isa.Bytes()); ok != want || (v.volume != nil && v.area != nil && lookUp.forms != nil) != want || (lookUp.whole != nil && lookUp.line != nil && lookUp.pairs != nil) != (want && wide) {
				t.Errorf("%v, the greatest %v: %v, want %v", typ, greatest, ok, want)
			}
		}
	}
}

// Turning points are those of the definition, of rows that end within a vector and with one, behind what
// the lists have, and what they are worth is W − w of each with the signs of their places.
func turningPoints(t sound.T, set string) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, greatest := range []bool{false, true} {
		for _, typ := range grid.Types()[:3] {
			v, lookUp, ok := turnVectorsOf(set, typ, greatest)
			if !ok {
				v = turnsInGo(typ, greatest)
			}
			size, at := int(typ.Size()), func(b []byte, i int) int { return int(b[i]) }
			switch typ {
			case grid.Int16:
				at = func(b []byte, i int) int { return int(grid.Values[int16](b)[i]) }
			case grid.Uint16:
				at = func(b []byte, i int) int { return int(grid.Values[uint16](b)[i]) }
			}
			least := func(a, b int) int { return min(a, b) }
			if greatest {
				least = func(a, b int) int { return max(a, b) }
			}
			for _, columns := range []int{1, 2, 31, 32, 33, 64, 65, 128, 130} {
				const rows, apart = 2, 4096
				var planes [2][]byte
				for z := range planes {
					b, free := grids.AtEnd((rows + 1) * columns * size)
					defer free()
					planes[z] = b
				}
				for round := range 4 {
					volume := round%2 == 1
					for z := range planes {
						for i := range (rows + 1) * columns { // few values, from one end to the other, or the ends in turns
							x := rng.IntN(5) * (1<<(8*size) - 1) / 4
							if round > 1 { // so that whole vectors turn at the end of a row
								x = (i%columns + least(0, 1) + 1) % 2 * (1<<(8*size) - 1)
							}
							planes[z][size*i] = byte(x)
							if size > 1 {
								planes[z][2*i+1] = byte(x >> 8)
							}
						}
					}
					lists, first := bytes.Repeat([]byte{1}, 4*apart+64), [4]int64{0, 6, 128, 2}
					counts := first
					find := func(y, rows, full int) int {
						at := y * columns * size
						if volume {
							return v.volume(&planes[0][at], &planes[1][at], columns*size, columns, rows, &lists[0], apart, full, &counts)
						}
						return v.area(&planes[0][at], columns*size, columns, rows, &lists[0], apart, full, &counts)
					}
					if columns%2 == 0 {
						if got := find(0, rows, apart); got != rows {
							t.Fatalf("%v, %d columns, volume %v: %d rows of %d are found", typ, columns, volume, got, rows)
						}
					} else { // each in a turn of its own
						for y := range rows {
							kinds := counts[:2]
							if volume {
								kinds = counts[:]
							}
							before, most := counts, int(slices.Max(kinds))
							if got := find(y, rows-y, most-1); got != 0 || counts != before {
								t.Fatalf("%v, %d columns, volume %v: lists of %d bytes of %d at most become those of %d by %d rows", typ, columns, volume, before, most-1, counts, got)
							}
							if got := find(y, rows-y, most); got != 1 {
								t.Fatalf("%v, %d columns, volume %v: %d rows are found behind %d bytes of as many", typ, columns, volume, got, before)
							}
						}
					}
					for kind := range 4 {
						var want []int
						value := func(y, x int) int {
							b, a := at(planes[0], y*columns+x), at(planes[1], y*columns+x)
							next, both := at(planes[0], (y+1)*columns+x), at(planes[1], (y+1)*columns+x)
							if !volume {
								return [2]int{b, least(b, next)}[kind]
							}
							return [4]int{b, least(b, a), least(b, next), least(least(b, a), least(next, both))}[kind]
						}
						for y := 0; y < rows && (volume || kind < 2); y++ {
							held := false
							for x := range columns {
								holds := x == columns-1 || least(value(y, x), value(y, x+1)) == value(y, x)
								if holds != held {
									want = append(want, value(y, x))
								}
								held = holds
							}
							want = append(want, 0)
						}
						var got []int
						for i := range int(counts[kind]-first[kind]) / size {
							got = append(got, at(lists[kind*apart:], int(first[kind])/size+i))
						}
						if !slices.Equal(got, want) {
							t.Fatalf("%v, %d columns, volume %v, the greatest %v, kind %d: %v, want %v", typ, columns, volume, greatest, kind, got, want)
						}
					}
				}
			}
			few, err := grid.Affine(0, 2, 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range []grid.Ladder{grid.Identity(typ), few} {
				for _, by := range []split{ascending, ofBytes, ofPairs} {
					if by == ascending && (!ok || typ == grid.Uint8 && lookUp.whole == nil) || by == ofBytes && typ != grid.Uint8 || by == ofPairs && typ == grid.Uint8 {
						continue
					}
					k := Draw(1).In(Convention{Superlevel: greatest})
					k.split = by
					for _, c := range []struct {
						top      int64
						greatest bool // numbers
					}{{l.Len(), false}, {77, false}, {l.Len(), by != ascending}} {
						w, top := k.weights(l.Len(), 0), c.top
						if c.greatest {
							w.multilinear.greatest()
						}
						table := newLookup(typ, l, w, top, set).table
						turns := newTurns(typ, table, w, top >= l.Len() && ownLevels(typ, l), set)
						for _, n := range slices.Concat(evens(2, 200), []int{atOnce / size, atOnce/size + 2, 4 * atOnce}) {
							list, want := grid.NewBuffer(int64(n*size+listEnd)), uint64(0)
							for i := range list {
								if list[i] = byte(rng.Uint32()); n > atOnce+2 { // the greatest sums that there are
									list[i] = byte(255 * (i / size & 1))
								}
							}
							for i := range n {
								of := w.outside() - table[at(list, i)&(1<<(8*size)-1)]
								if i%2 == 1 {
									of = -of
								}
								want += of
							}
							if got := turns.alternate(list[:n*size]); got != int64(want) {
								t.Fatalf("%v on %v up to level %d, key %v, %d turning points are worth %d, want %d", typ, l, top, k, n, got, int64(want))
							}
						}
					}
				}
			}
		}
	}
}

// greatest makes all numbers the greatest that are drawn, and the least where they are drawn evenly, of the upper half
// of levels.
func (m *multilinear) greatest() {
	for i := range forms {
		for j, p := range m.parts {
			for n := range p.of {
				number := map[draws]int16{eightBits: 255, sevenBits: 127, evenly: 127}[p.draws]
				if p.draws == evenly && n >= p.of/2 {
					number = -number
				}
				m.numbers[i][j][n] = number
			}
		}
	}
}

// evens are the even numbers from one on, below another.
func evens(from, to int) (list []int) {
	for n := from; n < to; n += 2 {
		list = append(list, n)
	}
	return list
}

// Multilinear weights are the products that they are said to be, of numbers of as many bits, and 0 outside. Keys
// have them where an image of bytes is looked at by vectors that find turning points, and nobody takes
// fingerprints of others by them.
func multilinearWeights(t sound.T) {
	of := func(by split) Key {
		k := Draw(2)
		k.split = by
		return k
	}
	type numbers struct{ by, of, least, most int64 } // of a part: by which power of two it begins, how many, and from which to which
	for by, want := range map[split][]numbers{
		ofBytes: {{16, 16, 0, 255}, {1, 16, 0, 127}}, ofLevels: {{32, 64, 0, 255}, {1, 32, 0, 127}}, ofPairs: {{4096, 16, -127, 127}, {64, 64, 0, 255}, {1, 64, 0, 255}},
	} {
		k, seen := of(by), make([]map[int16]bool, len(want))
		for j := range seen {
			seen[j] = map[int16]bool{}
		}
		for len(seen[0]) < int(want[0].most-want[0].least)*3/4 { // until most have come up
			k = of(by)
			for _, numbers := range k.weights(by.most(), 1).multilinear.numbers {
				for j, list := range numbers {
					if int64(len(list)) != want[j].of {
						t.Fatalf("key %v: part %d has %d numbers", k, j, len(list))
					}
					for _, n := range list {
						if int64(n) < want[j].least || int64(n) > want[j].most {
							t.Fatalf("key %v: part %d has the number %d", k, j, n)
						}
						seen[j][n] = true
					}
				}
			}
		}
		for j, of := range want { // drawn uniformly, as many come up of all
			if got := len(seen[j]); got < int(of.most-of.least)/2 {
				t.Errorf("key %v: %d numbers come up in part %d", k, got, j)
			}
		}
		for i := range 2 {
			w := k.weights(by.most(), i)
			m := w.multilinear
			for v := range by.most() {
				sum := uint64(0)
				for form, factor := range m.factors {
					product := int64(1)
					for j, of := range want {
						product *= int64(m.numbers[form][j][v/of.by%of.of])
					}
					sum += factor * uint64(product)
				}
				if got := w.with(nil, v); got != sum {
					t.Fatalf("key %v, function %d: %d has %x, want %x", k, i, v, got, sum)
				}
			}
			for _, flip := range []int64{0, by.most() / 2} {
				tables := m.in64(flip)
				for form := range forms {
					for j, of := range want {
						table := tables[64*(form*len(want)+j):][:64]
						for v := range by.most() {
							at, number := (v^flip)/of.by%of.of, byte(m.numbers[form][j][v/of.by%of.of])
							if table[at] != number || of.of < 64 && of.most == 127 && table[of.of+at] != -number || of.of < 64 && table[64-2*of.of+at] != number {
								t.Fatalf("key %v, function %d, form %d, bits %x turned: the number of part %d of %d is not in its place", k, i, form, flip, j, v)
							}
						}
					}
				}
			}
			if w.outside() != 0 {
				t.Errorf("key %v, function %d: outside has %x", k, i, w.outside())
			}
		}
		if a, b := k.weights(256, 0).multilinear, k.weights(256, 1).multilinear; a.factors == b.factors || slices.Equal(a.numbers[0][0], b.numbers[0][0]) {
			t.Errorf("key %v: two functions are the same", k)
		}
	}
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
	shifted := affine(1, 1, 256)
	eight, fewer := grid.Identity(grid.Uint8), grid.Identity(grid.Uint16)
	_, lookUp, _ := turnVectorsOf(fastest(), grid.Uint8, false)
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		in     Convention
		want   split
	}{
		{grid.Uint8, eight, Convention{}, ofBytes}, {grid.Uint8, eight, Convention{Superlevel: true}, ofBytes},
		{grid.Uint8, eight, Convention{Vertices: true}, ascending}, {grid.Uint8, eight, Convention{Periodic: grid.Axes{Z: true}}, ascending},
		{grid.Uint8, shifted, Convention{}, ascending}, {grid.Uint8, fewer, Convention{}, ascending},
		{grid.Uint16, fewer, Convention{}, ofPairs}, {grid.Int16, grid.Identity(grid.Int16), Convention{Superlevel: true}, ofPairs}, {grid.Int16, fewer, Convention{}, ascending},
		{grid.Uint16, affine(0, 1, 65535), Convention{}, ascending}, {grid.Uint16, fewer, Convention{Vertices: true}, ascending},
		{grid.Uint16, eight, Convention{}, ofLevels}, {grid.Float32, eight, Convention{Superlevel: true}, ofLevels}, {grid.Int16, shifted, Convention{}, ofLevels},
		{grid.Int16, affine(-1<<15, 1, ofLevels.most()), Convention{}, ofLevels}, {grid.Int16, affine(-1<<15-1, 1, ofLevels.most()), Convention{}, ascending},
		{grid.Uint16, affine(1<<16-1, 1, 2), Convention{}, ofLevels}, {grid.Uint16, affine(1<<16, 1, 2), Convention{}, ascending}, {grid.Uint16, affine(0, 2, 9), Convention{}, ascending},
		{grid.Float32, affine(-3, 0.1, ofLevels.most()), Convention{}, ofLevels}, {grid.Float32, affine(-3, 0.1, ofLevels.most()+1), Convention{}, ascending},
		{grid.Float32, table, Convention{}, ascending}, {grid.Float32, grid.Identity(grid.Float32), Convention{}, ascending},
		{grid.Float32, eight, Convention{Vertices: true}, ascending}, {grid.Int16, eight, Convention{Periodic: grid.Axes{X: true}}, ascending},
	} {
		if c.want == ofBytes && lookUp.forms == nil || c.want != ofBytes && lookUp.pairs == nil {
			c.want = ascending
		}
		k := Draw(1).In(c.in).Multilinear(c.typ, c.ladder)
		if k.split != c.want || k.In(c.in).split != ascending {
			t.Errorf("%v on %v, %+v: split %d, want %d", c.typ, c.ladder, c.in, k.split, c.want)
		}
	}
	for _, c := range []struct {
		typ    grid.Type
		ladder grid.Ladder
		in     Convention
		by     split
	}{
		{grid.Int16, eight, Convention{}, ofBytes}, {grid.Uint8, affine(0, 1, 257), Convention{}, ofBytes}, {grid.Uint8, eight, Convention{}, ofPairs}, {grid.Float32, eight, Convention{}, ofPairs},
		{grid.Int16, affine(0, 1, 65537), Convention{}, ofPairs}, {grid.Int16, eight, Convention{Vertices: true}, ofPairs}, {grid.Uint8, eight, Convention{Vertices: true}, ofBytes},
		{grid.Uint8, eight, Convention{Periodic: grid.Axes{X: true}}, ofBytes},
		{grid.Int16, affine(0, 1, 1025), Convention{}, ofLevels}, {grid.Float32, grid.Identity(grid.Float32), Convention{}, ofLevels}, {grid.Int16, eight, Convention{Vertices: true}, ofLevels},
		{grid.Int16, eight, Convention{Periodic: grid.Axes{X: true}}, ofLevels},
	} {
		k := Draw(1).In(c.in)
		k.split = c.by
		p := Prepare(c.typ, c.ladder, k)
		f := grids.Image(t, grid.Shape{D: 3, H: 4, W: 5}, c.typ, c.ladder, func(i int64) float64 { return float64(i) })
		if got, err := p.Of(f, 1); err == nil {
			t.Errorf("%v, key %v, %+v: %v", c.typ, k, c.in, got)
		}
		if _, err := p.Tables(); err == nil {
			t.Errorf("%v, key %v, %+v: there are tables", c.typ, k, c.in)
		}
	}
	none := func(func(level, change int64) bool) {}
	for _, by := range []split{ofBytes, ofLevels, ofPairs} {
		if _, err := OfCurve(none, by.most()+1, of(by)); err == nil {
			t.Errorf("there are multilinear weights of %d levels", by.most()+1)
		}
		if got, err := OfCurve(none, by.most(), of(by)); err != nil || !got.Equal(Sum{0, 0}) {
			t.Errorf("nothing sums to %v (%v)", got, err)
		}
	}
}

// Values have the levels that the definition gives them, those on levels, between, above and below all, in rows of
// every length around a group, up to any level, whichever way levels go; who watches is shown each value that is no
// level's own.
func valuesHaveLevels(t sound.T, set string) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		typ      grid.Type
		lo, step float64
	}{{grid.Uint8, 3, 1}, {grid.Int16, -300, 1}, {grid.Int16, math.MinInt16, 1}, {grid.Int16, 5, 2}, {grid.Uint16, 0, 1}, {grid.Uint16, math.MaxUint16 - 9, 1}, {grid.Float32, -3, 0.5}, {grid.Float32, -3, 0.1}} {
		for _, levels := range []int64{2, 600, 1024} {
			l, err := grid.Affine(c.lo, c.step, levels)
			if err != nil {
				t.Fatal(err)
			}
			for _, in := range []Convention{{}, {Superlevel: true}} {
				k := Draw(1).In(in)
				k.split = ofLevels
				for _, top := range []int64{levels, levels / 2} {
					u := newLevels(c.typ, l, k.weights(levels, 0), top, set)
					for _, columns := range []int64{1, 5, 31, 32, 33, 64, 77} {
						const rows = 3
						size := int64(c.typ.Size())
						src, free := grids.AtEnd(int(rows * columns * size))
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
									v += float32(rng.NormFloat64() * c.step * float64(levels))
									own = own && l.Value(min(levels-1, l.Level(v))) == v
								}
								grid.Values[float32](src)[i] = v
							}
							var watcher grid.Watcher
							looker := &grids.Looker{}
							if c.typ == grid.Float32 && round < 2 {
								watcher = looker
							}
							const stride = 80
							got := make([]uint16, rows*stride)
							u.rows(watcher, got, src, rows, columns, stride, columns*size)
							for i := range rows * columns {
								want := uint16(outsideLevel)
								if of := l.Level(value(i)); of < top {
									if want = uint16(of); in.Superlevel {
										want = 1023 - want
									}
								}
								if have := got[i/columns*stride+i%columns]; have != want {
									t.Fatalf("%s, %v from %v on by %v, up to %d of %d levels, %+v, %d columns, value %d: %d, want %d", set, c.typ, c.lo, c.step, top, levels, in, columns, i, have, want)
								}
							}
							if watcher != nil && !own && looker.Values == nil {
								t.Fatalf("%s: values on no level by %v are not shown", set, c.step)
							}
							if watcher != nil && own && u.exactly != nil && columns >= levelGroup && looker.Values != nil {
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

// What counts of two tiles are the falls of the four kinds of rows from each to the next, what falls and what it falls
// to, with the signs of the kinds; before the first column of an image there is none.
func levelsThatCount(t sound.T, set string) {
	v := levelVectorsOf(set)
	if want := assembled && set == isa.AVX512 && isa.Bytes(); (v.volume != nil) != want || (v.area != nil) != want || (v.sum != nil) != want {
		t.Fatalf("%s has vectors for levels: %v, want %v", set, v.volume != nil, want)
	}
	if v.volume == nil {
		return
	}
	rng := rand.New(rand.NewPCG(5, 6))
	const stride = levelGroup + 1
	for rows := 1; rows < 13; rows++ {
		var tiles [2][]uint16
		for z := range tiles {
			b, free := grids.AtEnd(2 * (rows + 1) * stride)
			defer free()
			tiles[z] = grid.Values[uint16](b)
		}
		for round := range 8 {
			for z := range tiles {
				for i := range tiles[z] {
					if tiles[z][i] = uint16(rng.IntN(2 + round%4)); rng.IntN(5) == 0 && round > 3 {
						tiles[z][i] = outsideLevel
					}
				}
			}
			volume, first := round%2 == 0, round&2 == 0
			at := func(z, y, x int) uint16 { return tiles[z][y*stride+x] }
			want := map[uint16]int{}
			for kind := range 4 {
				sign := [4]int{1, -1, -1, 1}[kind]
				row := func(y, x int) uint16 {
					m := at(0, y, x)
					if kind&1 == 1 {
						m = min(m, at(0, y, x+1))
					}
					if kind&2 == 2 {
						m = min(m, at(1, y, x))
					}
					if kind == 3 {
						m = min(m, at(1, y, x+1))
					}
					return m
				}
				if kind > 1 && !volume {
					continue
				}
				for x := range levelGroup {
					if first && x == 0 && kind&1 == 0 {
						continue
					}
					for y := range rows {
						if a, b := row(y, x), row(y+1, x); a > b {
							want[a], want[b] = want[a]+sign, want[b]-sign
						}
					}
				}
			}
			lanes := uint64(math.MaxUint32)
			if first {
				lanes--
			}
			list := slices.Repeat([]uint16{7}, (rows+1)*4*levelGroup+levelGroup)
			n := 0
			if volume {
				n = v.volume(&tiles[0][0], &tiles[1][0], 2*stride, rows, lanes, &list[0], 0, 0)
			} else {
				n = v.area(&tiles[0][0], 2*stride, rows, lanes, &list[0], 0, 0)
			}
			got := map[uint16]int{}
			for _, level := range list[:n] {
				if level&plusLevel != 0 {
					got[level&^plusLevel]++
				} else {
					got[level]--
				}
			}
			for level := range uint16(outsideLevel + 1) {
				if got[level] != want[level] {
					t.Fatalf("%s, %d rows, volume %v, first %v: level %d counts %d, want %d", set, rows, volume, first, level, got[level], want[level])
				}
			}
		}
	}
}

// A list is worth the weights of its levels, of those that count positively less the others, and nothing of what is
// outside, in any length up to what leaves 32 bits; it grows no longer than it has room.
func listsOfLevels(t sound.T, set string) {
	if levelVectorsOf(set).sum == nil {
		return
	}
	rng := rand.New(rand.NewPCG(7, 8))
	l, err := grid.Affine(0, 1, 1024)
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []Convention{{}, {Superlevel: true}} {
		k := Draw(1).In(in)
		k.split = ofLevels
		w := k.weights(1024, 0)
		u := newLevels(grid.Float32, l, w, 1024, set)
		for _, n := range []int{0, 1, 63, 64, 65, 1000, atOnce, atOnce + 1, 3 * atOnce} {
			list := &list{levels: u, room: make([]uint16, n+2*levelGroup), n: n}
			want := uint64(0)
			for i := range n {
				level := rng.Int64N(1024)
				of := w.with(nil, level)
				if in.Superlevel {
					level = 1023 - level
				}
				list.room[i] = uint16(level)
				switch kind := rng.IntN(8); {
				case n > atOnce+1: // the greatest sums that there are
					list.room[i], of = plusLevel, w.with(nil, 0)
					if in.Superlevel {
						of = w.with(nil, 1023)
					}
					want += of
				case kind == 0:
					list.room[i] = outsideLevel | plusLevel
				case kind < 4:
					list.room[i] |= plusLevel
					want += of
				default:
					want -= of
				}
			}
			if list.look(); list.sum != want || list.n != 0 {
				t.Fatalf("%s, %+v: %d levels are worth %x, want %x; %d are left", set, in, n, list.sum, want, list.n)
			}
		}
		for _, rows := range []int64{1, 7, 500} {
			whole, columns := newList(u, rows), 0
			whole.add(9*levelGroup, true, func(_ int64, lanes uint64, to *uint16, _ uintptr) int {
				most := int(rows+1) * 4 * levelGroup
				if left := len(whole.room) - whole.n - most; left < 2*levelGroup || &whole.room[whole.n] != to {
					t.Errorf("%s, %d rows: %d have no room", set, rows, most)
				}
				if columns++; (lanes == math.MaxUint32) != (columns > 1) || lanes < math.MaxUint32-1 {
					t.Errorf("column %d has lanes %x", columns, lanes)
				}
				return most
			})
			if columns != 9 {
				t.Errorf("%d columns are taken, want 9", columns)
			}
		}
	}
}

// Random bits whose product is the prime and some more are those of the rest, which is few numbers of
// all: levels are such here, by factors of their last bytes that make up for the others.
func productsAboutThePrime(t sound.T, set string) {
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

// weightsOfFloats holds what looks up the weights of float32 values to the portable way, whatever
// values lie between levels or beyond the ladder; and it knows values within the ladder by itself,
// since what it leaves to the portable way is only slow.
func weightsOfFloats(t sound.T, set string) {
	const many, n = 3000, 77
	src, free := grids.AtEnd(4 * n)
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

// weightsOfNumbers holds what looks up the weights of whole numbers to the portable way.
func weightsOfNumbers(t sound.T, set string) {
	for _, typ := range grid.Types()[:3] {
		l := grid.Identity(typ)
		u := newLookup(typ, l, Draw(1).weights(l.Len(), 0), l.Len(), set)
		src, free := grids.AtEnd(1 << 17)
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

// apart says where what vectors look up is not what the portable way does, or is written beyond the
// values, or where they leave values that they are to know.
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

// Keys are read as they are written, and the functions of one do for so many levels.
func keysReadBack(t sound.T) {
	for _, n := range []int{1, 2, 3, 4} {
		k := Draw(n)
		k.split = split(n % 4)
		if back, err := ParseKey(k.String()); err != nil || back != k {
			t.Errorf("key %v is read as %v, %v", k, back, err)
		}
	}
	for _, bad := range []string{"", "12", "00112233445566778899aabbccddeefg", "00112233445566778899aabbccddeeff*0", "00112233445566778899aabbccddeeff*x", "00112233445566778899aabbccddeeff/x", "00112233445566778899aabbccddeeff/bilinear*2", "00112233445566778899aabbccddeeff00"} {
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
		if got := Draw(1).For(levels).Functions(); got != want {
			t.Errorf("%d levels take %d functions, want %d", levels, got, want)
		}
	}
}

// What a fingerprint is written as reads back as the same, with every bit.
func sumsReadBack(t sound.T) {
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

// What a fingerprint takes is told of each kind of ladder by its parts: a voxel's share, what it
// takes to search for a level, what many levels take, and their table.
func workIsTold(t sound.T) {
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

// Bytes that are levels, each its own, are looked up in a byte less than others, whichever way the
// levels go.
func lineOfBytes(t sound.T) {
	few, err := grid.Affine(0, 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	k := Draw(1)
	for want, of := range map[int64]struct {
		ladder grid.Ladder
		in     Convention
	}{
		-1: {grid.Identity(grid.Uint8), Convention{}},
		1:  {grid.Identity(grid.Uint8), Convention{Superlevel: true}},
		0:  {few, Convention{}},
	} {
		w := k.In(of.in).weights(of.ladder.Len(), 0)
		if _, got := lineOf(newLookup(grid.Uint8, of.ladder, w, of.ladder.Len(), fastest()).table, w.outside()); got != want {
			t.Errorf("%v, %+v: slope %d, want %d", of.ladder, of.in, got, want)
		}
	}
}

// The fingerprint of a curve of many steps is the sum of those of its parts, on few levels and on every
// float32.
func curvesAdd(t sound.T) {
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

// A key gives the same sums on any machine, of each function, on few levels and on many, by each way
// to weights, in each convention.
func knownSum(t sound.T) {
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
		f := grids.Image(t, grid.Shape{D: 5, H: 6, W: 9}, grid.Float32, l, func(i int64) float64 { return float64((i*i + 3) * 7919 % cmp.Or(levels, 1000)) })
		by := k.split
		k = k.In(in)
		k.split = by
		got, err := Of(f, k, 2)
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
	for in, want := range map[Convention]string{{}: "6f039cda2452a216 e4d60b40b10f61bc", {Superlevel: true}: "96148ef2790eb656 af599adf07173ca4"} {
		if got := of("*2/bilinear1024", 1000, in); got != want {
			t.Errorf("on 1,000 levels, %+v: %s, want %s", in, got, want)
		}
	}
	for _, c := range []struct {
		by, want string
		typ      grid.Type
	}{
		{"/bilinear256", "291cbbb97b2d2434 961b1e7ee379f510 3a1437cfcd1f1582", grid.Uint8},
		{"/trilinear65536", "5c5c128fc8bb162b 3675f08e275170fb efe2f3d962d822a6", grid.Uint16}, {"/trilinear65536", "5c5c128fc8bb162b 3675f08e275170fb efe2f3d962d822a6", grid.Int16},
	} {
		k, err := ParseKey("000102030405060708090a0b0c0d0e0f*3" + c.by)
		if err != nil {
			t.Fatal(err)
		}
		l, levels := grid.Identity(c.typ), int64(1)<<(8*c.typ.Size())
		f := grids.Image(t, grid.Shape{D: 5, H: 6, W: 9}, c.typ, l, func(i int64) float64 { return float64((i*i+3)*7919%levels + least(c.typ)) })
		if got, err := Of(f, k, 2); err != nil || got.String() != c.want {
			t.Errorf("%v has %v (%v), by key %v", c.typ, got, err, k)
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

// An instruction set that sees another fingerprint is named, the first of several, and one that fails.
func apartIsNamed(t sound.T) {
	for _, c := range []struct{ says, want string }{{"aaa", ""}, {"aba", "1"}, {"abb", "1"}, {"aab", "2"}, {"a", ""}, {"aax", "fails"}, {"xaa", "fails"}, {"abx", "1"}} {
		of := func(isa string) (Sum, error) {
			says := c.says[isa[0]-'0']
			if says == 'x' {
				return nil, fmt.Errorf("%s fails", isa)
			}
			return Sum{uint64(says)}, nil
		}
		got, fastest, other, err := apart([]string{"0", "1", "2"}[:len(c.says)], of)
		if err != nil {
			got = "fails"
		}
		if got != c.want || len(got) == 1 && (fastest[0] != 'a' || other[0] != 'b') {
			t.Errorf("%s: %q, %v and %v, want %q", c.says, got, fastest, other, c.want)
		}
	}
}

// The random bits of a level are the product of those of its bytes, and weights ascend with levels. There are
// as many as leave the greatest weight a normal float64.
func productsAreWeights(t sound.T) {
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
			got := w.of(number)
			random := w.factors[number/256] * w.factors[lowerFactors+number%256]
			if want := lowest + uint64(number)<<w.bits + random&(1<<w.bits-1); got != want || got <= last {
				t.Errorf("%d levels: the weight of %d is %x, want %x, after %x", levels, number, got, want, last)
			}
			last = got
		}
	}
}

// Whoever watches is shown every value that is no level's own, wherever it is in a row, and none of
// a row of groups where all are; the weights are those that nobody watches.
func watchersSeeAll(t sound.T, isa string) {
	for _, step := range []float64{0.5, 0.1} { // of which float32 has one exactly
		l, err := grid.Affine(-3, step, 1000)
		if err != nil {
			t.Fatal(err)
		}
		u := newLookup(grid.Float32, l, Draw(1).weights(l.Len(), 0), l.Len(), isa)
		for _, n := range []int{1, 15, 16, 17, 77, 320} {
			w, values := &grids.Looker{}, make([]float32, n)
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

// The table that a kernel is given of an integer type has the weight of each value, those beyond its
// ends with the first one and the last, and what is outside once.
func tablesAreTheWeights(t sound.T) {
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
				p := prepare(typ, l, Draw(1).In(in), l.Len(), isa.Portable)
				tables, err := p.Tables()
				if err != nil || len(tables) != 1 {
					t.Fatalf("%v on %v: %d tables (%v)", typ, l, len(tables), err)
				}
				f, table := p.functions[0], tables[0]
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
	// Of float32 they are the weights of levels and of what is above them, or factors.
	const none = math.MaxInt64
	for _, c := range []struct {
		typ   grid.Type
		of    [3]float64 // no levels for every float32
		first int64      // of those that have factors
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
			p := prepare(c.typ, l, Draw(1).In(in), l.Len(), isa.Portable)
			tables, err := p.Tables()
			if err != nil || len(tables) != 1 {
				t.Fatalf("%v on %v: %d tables (%v)", c.typ, l, len(tables), err)
			}
			f, got := p.functions[0], tables[0]
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
