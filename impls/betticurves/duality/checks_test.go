package duality

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/extrema"
	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks test the kernels of every instruction set, the division of an image into boxes, the join
// of their results, and sums of changes.
func checks() []checktest.Check {
	i := Implementation{Counter: extrema.Implementation{}}
	return []checktest.Check{
		{Name: "boxes", Of: func(t *testing.T) { boxesAreJoined(t, i, 30) }},
		{Name: "images that are not read", Of: func(t *testing.T) { failuresEnd(t, i, "") }},
		{Name: "ways in a circle", Of: func(t *testing.T) { circlesEnd(t, i, "") }},
		{Name: "cuts", Of: cutsShareEnds},
		{Name: "sizes of boxes", Of: boxesFill},
		{Name: "memory", Of: memoryAdds},
		{Name: "events in order", Of: eventsAreSorted},
		{Name: "changes by key", Of: changesAdd},
		{Name: "joins that are too many", Of: tooManyAreTold},
	}
}

// drawn returns an image of a random shape, with each type and ladder in turn. Levels are keys of
// 8, 16 or 32 bits, with or without a table. Few values make flats, and some are above all levels.
func drawn(t *testing.T, rng *rand.Rand, k int) *grid.Field {
	few := func(n int64) grid.Ladder {
		l, err := grid.Affine(0, 1, n)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	kinds := []struct {
		typ    grid.Type
		ladder grid.Ladder
		least  float64 // values are some from this one on, or some up to the other
		most   float64
	}{
		{grid.Uint8, few(9), 0, 9}, {grid.Uint8, grid.Identity(grid.Uint8), 0, 255}, {grid.Uint16, few(255), 0, 255}, {grid.Float32, few(256), 0, 256},
		{grid.Int16, grid.Identity(grid.Int16), -1 << 15, 1<<15 - 1}, {grid.Uint16, grid.Identity(grid.Uint16), 0, 1<<16 - 1}, {grid.Float32, few(1<<16 - 1), 0, 1<<16 - 1},
		{grid.Float32, few(1 << 16), 0, 1 << 16}, {grid.Float32, few(1<<16 + 1), 0, 1<<16 + 1}, {grid.Float32, grid.Identity(grid.Float32), -2, 1 << 24},
	}
	kind := kinds[k%len(kinds)]
	side := func() int64 { return 1 + rng.Int64N(11) }
	shape := grid.Shape{D: side(), H: side(), W: side()}
	switch rng.IntN(4) {
	case 0: // more than a word
		shape.W += 60
	case 1: // 2D
		shape.D, shape.H = 1, 3*shape.H
	case 2: // 2D, with rows of whole groups
		shape.D, shape.W = 1, groupVoxels
	}
	f := gridtest.Image(t, shape, kind.typ, grid.Identity(kind.typ), func(int64) float64 {
		if v := float64(rng.IntN(4)); rng.IntN(3) > 0 {
			return kind.least + v
		} else {
			return kind.most - v
		}
	})
	f, err := grid.Trusted(shape, kind.typ, f.Data(), kind.ladder)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// boxesAreJoined checks that an image cut into boxes of any size has the curves of the union of all
// its voxels, and its fingerprint. It covers any number of cores and all instructions, in memory and not.
func boxesAreJoined(t *testing.T, i Implementation, images int) {
	rng := rand.New(rand.NewPCG(4, 3))
	law := betti.Unions(ecc.Convention{})
	for k := range images {
		f, isa := drawn(t, rng, k), available()[k%len(available())]
		answer := func(in grid.Source, box int64, threads int) betti.Curves {
			i.box = box
			c, err := bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads, ISA: isa}})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		want := answer(f, 0, 1)
		if d, err := law.Check(f, want, nil); d != nil || err != nil {
			t.Fatalf("%v %v %v: %v (%v)", f.Shape(), f.Type(), f.Ladder(), d, err)
		}
		for n, box := range []int64{0, 8, 27, 64, 500} {
			threads := 1 + (k+n)%3
			var in grid.Source = f
			if (k+n)%2 == 0 {
				in = struct{ grid.Source }{f}
			}
			if got := answer(in, box, threads); !slices.Equal(got, want) {
				t.Fatalf("%v %v %v in boxes of %d on %d cores: %v, want %v", f.Shape(), f.Type(), f.Ladder(), box, threads, got, want)
			}
		}
	}
}

// failuresEnd checks that an unreadable image, or a failing Euler characteristic, gives no curves.
func failuresEnd(t *testing.T, i Implementation, isa string) {
	f := gridtest.Image(t, grid.Shape{D: 5, H: 6, W: 7}, grid.Uint8, grid.Identity(grid.Uint8), func(at int64) float64 { return float64(at) })
	c := bench.Conditions{Setting: bench.Setting{Threads: 2, ISA: isa}}
	failing := i
	failing.Counter = bench.FromFunc(func(grid.Source) (ecc.VCEC, error) { return nil, gridtest.ErrUnread })
	silent := i
	silent.Counter = bench.FromFunc(func(grid.Source) (ecc.VCEC, error) { return ecc.VCEC{}, nil })
	ctx, end := context.WithCancel(context.Background())
	end()
	if got, err := bench.Answer(silent, grid.WithContext(ctx, f), c); !errors.Is(err, context.Canceled) {
		t.Errorf("an image that has ended: %d changes (%v)", len(got), err)
	}
	for what, of := range map[string]struct {
		by Implementation
		in grid.Source
	}{"an image that is not read": {i, gridtest.Unread{Source: f}}, "planes that are not read": {silent, gridtest.Unread{Source: f}}, "no characteristic": {failing, f}} {
		if got, err := bench.Answer(of.by, of.in, c); !errors.Is(err, gridtest.ErrUnread) {
			t.Errorf("%s: %d changes (%v)", what, len(got), err)
		}
	}
}

// circlesEnd checks that a circular descent is an error and ends.
func circlesEnd(t *testing.T, i Implementation, isa string) {
	rng := rand.New(rand.NewPCG(5, 3))
	f := gridtest.Image(t, grid.Shape{D: 9, H: 10, W: 11}, grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 { return float64(rng.IntN(20)) })
	for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
		of, err := i.Setup(in, bench.Conditions{Setting: bench.Setting{Threads: 2, ISA: isa}})
		if err != nil {
			t.Fatal(err)
		}
		j := of.(*job[uint8])
		set := j.kernel.set
		j.kernel.set = func(g *group, to *[groupVoxels]uint8) {
			set(g, to)
			for v := range to {
				to[v] = uint8(middle + 1 - 2*(v&1)) // there and back along x
			}
		}
		if err := j.Do(nil); !errors.Is(err, errCircle) {
			t.Error(err)
		}
		j.Close()
	}
}

// Pieces of a side share their ends and have at most the given length. The reported longest is
// right, and no two neighbours could be merged.
func cutsShareEnds(t *testing.T) {
	for side := int64(1); side < 40; side++ {
		for most := int64(2); most < 12; most++ {
			at, longest := cuts(side, most)
			n, is := len(at)-1, int64(0)
			for k := range n {
				is = max(is, at[k+1]-at[k]+1)
			}
			if at[0] != 0 || at[n] != side-1 || !slices.IsSorted(at) || is != longest || longest > max(most, 1) || n > 1 && int64(n-1)*(most-1) >= side-1 {
				t.Errorf("a side of %d in pieces of at most %d: cut at %v, the longest of %d", side, most, at, longest)
			}
		}
	}
}

// Boxes of a large image have nearly the most voxels, and about as many planes as rows if the sides
// are long.
func boxesFill(t *testing.T) {
	for shape, cube := range map[grid.Shape]bool{
		{D: 512, H: 512, W: 512}: true, {D: 200, H: 200, W: 200}: true, {D: 2048, H: 2048, W: 1023}: true, {D: 3000, H: 3000, W: 3}: true,
		{D: 3, H: 3000, W: 3000}: false, {D: 3000, H: 30, W: 300}: false, {D: 1, H: 1 << 14, W: 1 << 14}: false,
	} {
		most := Implementation{}.layout(gridtest.VastOf(shape, grid.Uint8), 2).most
		if n := most[0] * planeWords(most[1], words(most[2])) * 64; n > boxVoxels || n < boxVoxels*7/8 || cube && max(most[0], most[1]) > min(most[0], most[1])+1 {
			t.Errorf("%v: boxes of %v at most are %d voxels", shape, most, n)
		}
	}
}

// Each core has a box, the planes of a layer of boxes for a streamed image, and tables of few
// levels. With many levels each voxel's changes are listed.
func memoryAdds(t *testing.T) {
	shape := grid.Shape{D: 300, H: 200, W: 100}
	n := shape.Voxels()
	memory := func(typ grid.Type, levels int64, cores int, whole bool) int64 {
		ladder, err := grid.Affine(0, 1, max(1, levels))
		if err != nil {
			t.Fatal(err)
		}
		if levels == 0 {
			ladder = grid.Identity(typ)
		}
		var in grid.Source = gridtest.Vast{Size: shape, Of: typ, Levels: ladder}
		if whole {
			if in, err = grid.Trusted(shape, typ, grid.NewBuffer(n*typ.Size()), ladder); err != nil {
				t.Fatal(err)
			}
		}
		return Implementation{}.memory(in, cores)
	}
	l := Implementation{}.layout(gridtest.VastOf(shape, grid.Uint8), 2)
	slots := l.most[0] * planeWords(l.most[1], words(l.most[2])) * 64
	base := memory(grid.Uint8, 100, 1, true)
	if want := n*leftBytes + slots*boxBytes + 2*8*100; base != want {
		t.Errorf("a box takes %d bytes, want %d", base, want)
	}
	for what, is := range map[string][2]int64{
		"3 cores":                  {memory(grid.Uint8, 100, 3, true), n*leftBytes + 3*(base-n*leftBytes)},
		"50 levels more":           {memory(grid.Uint8, 150, 1, true), base + 2*8*50},
		"planes that are read":     {memory(grid.Uint8, 100, 2, false) - memory(grid.Uint8, 100, 2, true), 2 * l.most[0] * 200 * 100},
		"planes of larger numbers": {memory(grid.Uint16, 100, 1, false) - memory(grid.Uint16, 100, 1, true), l.most[0] * 200 * 100 * 2},
		"every float32 a level":    {memory(grid.Float32, 0, 2, false) - memory(grid.Float32, 1, 2, false), n*listBytes - 2*2*8},
	} {
		if is[0] != is[1] {
			t.Errorf("%s: %d bytes, want %d", what, is[0], is[1])
		}
	}
}

// Events are sorted by key, and none is lost, for any number and any bits in which keys differ.
func eventsAreSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 3))
	var spare []event
	for _, n := range []int{0, 1, 2, 63, 64, 65, 1000} {
		for _, mask := range []uint32{0, 0xff, 0xff00, 0xff0000, 0xff000000, 0x00ffff00, 0xff0000ff, 0x80000001, 0xffffffff} {
			events, key := make([]event, n), make([]uint32, n)
			for i := range events {
				key[i] = rng.Uint32()&mask | 0x5a5a5a5a&^mask
				events[i] = event{key[i], int32(i), int32(^i)}
			}
			spare = sorted(events, spare)
			seen := make([]bool, n)
			for i, e := range events {
				if i > 0 && events[i-1].key > e.key || seen[e.a] || key[e.a] != e.key || e.b != ^e.a {
					t.Fatalf("%d events whose keys differ in %x: %v after %v", n, mask, e, events[max(i, 1)-1])
				}
				seen[e.a] = true
			}
		}
	}
}

// Sums contain the changes of each key from all tallies; keys from the last level on do not count.
func changesAdd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 3))
	const levels = 20
	for _, tabled := range []bool{true, false} {
		for n := range 20 {
			of := [2]tally{newTally(layout{levels: levels, tabled: tabled}), newTally(layout{levels: levels, tabled: tabled})}
			of[0].add(3, 1)
			of[0].clear()
			sum := [levels + 1]int64{}
			for range n * n {
				key, change := rng.Uint32N(levels+1), int64(1)
				if rng.IntN(1+n%4) > 0 {
					change = -1
				}
				of[rng.IntN(2)].add(key, change)
				sum[key] += change
			}
			of[0].take(&of[1])
			want := ecc.VCEC{}
			for level, change := range sum[:levels] {
				if change != 0 {
					want = append(want, ecc.Step{Level: int64(level), Change: change})
				}
			}
			if got := of[0].changes(levels); !slices.Equal(got, want) {
				t.Errorf("a table %v: %v, want %v", tabled, got, want)
			}
		}
	}
}

// More components, edges or minima of a layer than 32-bit numbers are rejected before memory is
// allocated. Boxes with different minima of a shared layer are rejected too.
func tooManyAreTold(t *testing.T) {
	const boxes, each = 1 << 15, 1 << 16
	j := &job[uint8]{common: &common{layout: layout{cuts: [3][]int64{{0, 1}, {0, 1}, make([]int64, boxes+1)}}}}
	other := []minimum{{0, 0}} // in no part, so nothing is joined
	for name, p := range map[string]part{
		"components": {nodes: each + 1, shared: [6][]minimum{5: other}},
		"edges":      {edges: make([]edge, each), shared: [6][]minimum{5: other}},
		"minima":     {shared: [6][]minimum{5: make([]minimum, each)}},
	} {
		for _, around := range []bool{false, true} {
			if _, err := j.graph(slices.Repeat([]part{p}, boxes), around); err == nil || !strings.Contains(err.Error(), "want at most 2147483647") {
				t.Errorf("%s, around %v: %v", name, around, err)
			}
		}
		if _, err := j.graph([]part{p, {}}, false); err == nil || !strings.Contains(err.Error(), "minima of one layer") {
			t.Errorf("%s of one of two boxes: %v", name, err)
		}
	}
}

// Every instruction set agrees with the portable code on random bits: few of them, so that links
// have many components, or many.
func groupsAreScanned(t *testing.T, times int) {
	rng := rand.New(rand.NewPCG(3, 3))
	const row, plane, before = 3, 16, 8
	const apart = plane + 2*before
	dense := func(list []uint64, share int) {
		for i := range list {
			list[i] = 0
			for bit := range 64 {
				if rng.IntN(8) < share {
					list[i] |= 1 << bit
				}
			}
		}
	}
	all := func() uint64 { return -rng.Uint64N(2) }
	for _, name := range available() {
		k, want := kernelOf[uint8](name), portable[uint8]()
		for n := range times {
			s := sight{bits: make([]uint64, 2*middle*apart), apart: apart, row: row, masks: make([]uint64, 18*plane), plane: plane, in: [2]uint64{all(), all()}, out: [2]uint64{all(), all()}}
			s.at = groupWords * rng.IntN(2)
			s.here, s.next = before+s.at, middle*apart+before+s.at
			dense(s.bits, n%9)
			dense(s.masks[:9*plane], 8-n%3)
			dense(s.masks[9*plane:], n%3/2)
			for i := range plane { // keep only bits of voxels
				for k := range 18 {
					s.masks[k*plane+i] &= s.masks[4*plane+i]
				}
			}
			var got, is group
			var to, towards [groupVoxels]uint8
			k.links(&got, &s)
			want.links(&is, &s)
			if got.link != is.link {
				t.Fatalf("%s: other links of group %d", name, n)
			}
			k.set(&got, &to)
			want.set(&is, &towards)
			same(t, name, &got.set, &is.set)
			if to != towards {
				t.Fatalf("%s: voxels of group %d descend to others", name, n)
			}
			k.around(&got, &s, &to)
			want.around(&is, &s, &towards)
			same(t, name, &got.around, &is.around)
			if to != towards {
				t.Fatalf("%s: voxels around group %d descend to others", name, n)
			}
		}
		var got, is group // with a component at each corner of the links
		var to, towards [groupVoxels]uint8
		for k := range is.link {
			if k == middle || k%2 == 0 && k/9 != 1 && k/3%3 != 1 && k%3 != 1 {
				is.link[k] = lanes{3: 1 << 5, 6: ^uint64(0)}
			}
		}
		got.link = is.link
		k.set(&got, &to)
		want.set(&is, &towards)
		same(t, name, &got.set, &is.set)
		if is.set.rounds != mostRounds || to != towards {
			t.Errorf("%s: eight components: %d more, want %d, or other places", name, is.set.rounds, mostRounds)
		}
		compared[uint8](t, name, rng)
		compared[uint16](t, name, rng)
		compared[uint32](t, name, rng)
	}
}

// same compares the results for a group.
func same(t *testing.T, name string, got, is *found) {
	t.Helper()
	if got.minima != is.minima || got.layers != is.layers || got.rounds != is.rounds {
		t.Fatalf("%s: %x, %x, %d; want %x, %x, %d", name, got.minima, got.layers, got.rounds, is.minima, is.layers, is.rounds)
	}
	for n := range is.rounds {
		if got.more[n] != is.more[n] {
			t.Fatalf("%s: round %d: %x, want %x", name, n, got.more[n], is.more[n])
		}
		for i := range is.place[n] {
			if is.more[n][i/64]>>(i%64)&1 == 1 && got.place[n][i] != is.place[n][i] {
				t.Fatalf("%s: round %d: place %d of voxel %d, want %d", name, n, got.place[n][i], i, is.place[n][i])
			}
		}
	}
}

// compared compares keys of a type with the portable code.
func compared[K key](t *testing.T, name string, rng *rand.Rand) {
	t.Helper()
	const row, plane, words = 2, 8, 8
	at := 64*(row+plane) + 1
	keys := make([]K, at+64*words)
	for i := range keys {
		keys[i] = K(rng.Uint32()) >> (rng.IntN(2) * 6)
	}
	for _, apart := range []int{words, words + 5} {
		got, want := make([]uint64, middle*apart), make([]uint64, middle*apart)
		kernelOf[K](name).compare(got, keys, at, apart, row, plane, words)
		portable[K]().compare(want, keys, at, apart, row, plane, words)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %T: other bits", name, keys)
		}
	}
}
