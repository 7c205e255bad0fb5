package chains_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/pairs"
	"eccbench/internal/workloads/pairs/chains"
)

// drawn returns a small image of few or many levels, with absent voxels if it is masked.
func drawn(t testing.TB, rng *rand.Rand) image {
	side := func(most int) int64 { return 1 + int64(rng.IntN(most)) }
	s := grid.Shape{D: 1, H: side(7), W: side(7)}
	if rng.IntN(4) > 0 {
		s = grid.Shape{D: 1 + side(3), H: side(4), W: side(4)}
	}
	c := fingerprint.Convention{Vertices: rng.IntN(2) == 0, Superlevel: rng.IntN(2) == 0, Masked: rng.IntN(3) == 0}
	levels := 1 + rng.IntN(3)
	if rng.IntN(2) == 0 {
		levels = 200
	}
	absent := func() bool { return c.Masked && rng.IntN(4) == 0 }
	if rng.IntN(8) == 0 { // every float32 is a level
		values := make([]float32, s.Voxels())
		for i := range values {
			if values[i] = float32(rng.IntN(levels)-100) * 1e36; absent() {
				values[i] = float32(math.Inf(1))
			}
		}
		return image{trusted(t, s, grid.Float32, grid.Bytes(values), grid.Identity(grid.Float32)), c}
	}
	ladder, err := grid.Affine(0, 1, int64(levels))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]uint8, s.Voxels())
	for i := range values {
		if values[i] = uint8(rng.IntN(levels)); absent() {
			values[i] = uint8(levels + rng.IntN(2))
		}
	}
	return image{trusted(t, s, grid.Uint8, values, ladder), c}
}

func trusted(t testing.TB, s grid.Shape, typ grid.Type, data []byte, l grid.Ladder) *grid.Field {
	t.Helper()
	f, err := grid.Trusted(s, typ, data, l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// answered returns the answer by plain reduction.
func answered(m image, dual bool, rng *rand.Rand) pairs.Answer {
	out := pairs.Answer{Pairs: plainPairs(m)}
	if m.Shape().Dim() == 3 {
		out.Chains = newPlainBox(m).chains(dual, rng, [...]float64{0, 0.7, 1}[rng.IntN(3)])
	}
	return out
}

// Pairs and chains by plain reduction of all cells are accepted, in every convention.
func TestPlainReductionsAreConfirmed(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	counts := map[string]int{}
	for i := range 3000 {
		m := drawn(t, rng)
		out := answered(m, i%2 == 0, rng)
		if d, err := pairs.Check(m, m.Convention, out); d != nil || err != nil {
			t.Fatalf("image %d: %v %+v %v: %v %v", i, m.Shape(), m.Convention, m.Data(), d, err)
		}
		for _, p := range out.Pairs {
			counts[fmt.Sprint(m.Shape().Dim(), m.Vertices, m.Masked, p.Dim, p.Death < 0)]++
		}
	}
	for _, some := range []string{"3 true true 1 false", "3 false true 2 true", "3 false true 1 true", "3 false false 1 false", "2 false true 1 true"} {
		if counts[some] == 0 {
			t.Errorf("no pair: %s", some)
		}
	}
	t.Log(counts)
}

// A column is one of a log.
type column struct {
	cell                  uint32
	columns, cells, chain []uint32
}

func parsed(words []uint32) (list []column) {
	for len(words) > 0 {
		c := column{cell: words[0]}
		words = words[1:]
		for _, to := range []*[]uint32{&c.columns, &c.cells, &c.chain} {
			*to, words = slices.Clone(words[1:1+words[0]]), words[1+words[0]:]
		}
		list = append(list, c)
	}
	return list
}

func written(list []column) (words []uint32) {
	for _, c := range list {
		words = append(words, c.cell)
		for _, of := range [][]uint32{c.columns, c.cells, c.chain} {
			words = append(append(words, uint32(len(of))), of...)
		}
	}
	return words
}

// A mistake changes an answer, or reports that it cannot.
type mistake struct {
	name string
	plan func(m image, out *pairs.Answer, rng *rand.Rand) bool
}

// inPairs are mistakes in the list of pairs.
var inPairs = []mistake{
	{"two deaths exchanged", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		i, j := rng.IntN(len(out.Pairs)), rng.IntN(len(out.Pairs))
		p, q := &out.Pairs[i], &out.Pairs[j]
		p.Death, q.Death = q.Death, p.Death
		return p.Death != q.Death
	}},
	{"a pair dropped", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		i := rng.IntN(len(out.Pairs))
		out.Pairs = slices.Delete(out.Pairs, i, i+1)
		return true
	}},
	{"the last pair dropped", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		out.Pairs = out.Pairs[:len(out.Pairs)-1]
		return true
	}},
	{"a pair twice", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		i := rng.IntN(len(out.Pairs))
		out.Pairs = slices.Insert(out.Pairs, i, out.Pairs[i])
		return true
	}},
	{"another pair", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		n := m.Shape().Voxels()
		p := pairs.Pair{Dim: rng.IntN(4) - 1, Birth: rng.Int64N(n+2) - 1, Death: rng.Int64N(n+2) - 1}
		i, is := slices.BinarySearchFunc(out.Pairs, p, pairs.Pair.Compare)
		out.Pairs = slices.Insert(out.Pairs, i, p)
		return !is
	}},
	{"a pair after the last", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		out.Pairs = append(out.Pairs, pairs.Pair{Dim: 3, Birth: 0, Death: 1})
		return true
	}},
	{"another dimension", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		out.Pairs[rng.IntN(len(out.Pairs))].Dim ^= 1
		slices.SortFunc(out.Pairs, pairs.Pair.Compare)
		return true
	}},
	{"the next voxel is born", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		out.Pairs[rng.IntN(len(out.Pairs))].Birth++
		return true
	}},
	{"another voxel dies", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		out.Pairs[rng.IntN(len(out.Pairs))].Death--
		return true
	}},
	{"never replaced", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		p := &out.Pairs[rng.IntN(len(out.Pairs))]
		is := p.Death == pairs.Never
		p.Death = rng.Int64N(m.Shape().Voxels())
		return is
	}},
	{"a pair that never dies", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		p := &out.Pairs[rng.IntN(len(out.Pairs))]
		is := p.Death != pairs.Never
		p.Death = pairs.Never
		return is
	}},
	{"two pairs exchanged", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		i := rng.IntN(len(out.Pairs))
		p, q := &out.Pairs[0], &out.Pairs[i]
		*p, *q = *q, *p
		return i > 0
	}},
	{"chains forgotten, or of a 2D image", func(m image, out *pairs.Answer, rng *rand.Rand) bool {
		if out.Chains != nil {
			out.Chains = nil
		} else {
			out.Chains = &pairs.Chains{}
		}
		return true
	}},
}

// inLog are mistakes in the columns of a log. b is the box of the image.
var inLog = []struct {
	name string
	plan func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool)
}{
	{"a cell of a chain changed", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))].chain
		i := rng.IntN(len(*c))
		was := (*c)[i]
		(*c)[i] = cellOf(b, dual, rng)
		return list, (*c)[i] != was
	}},
	{"a cell of a chain removed", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))].chain
		*c = slices.Delete(*c, len(*c)-1, len(*c))
		return list, true
	}},
	{"two chains exchanged", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		i, j := rng.IntN(len(list)), rng.IntN(len(list))
		list[i].chain, list[j].chain = list[j].chain, list[i].chain
		return list, i != j
	}},
	{"another pivot of the chain", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := list[rng.IntN(len(list))].chain
		c[0], c[len(c)-1] = c[len(c)-1], c[0]
		return list, len(c) > 1
	}},
	{"a later cell in the chain twice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		id := cellOf(b, dual, rng)
		later := b.star(id, dual) > b.star(c.chain[0], dual)
		if dual {
			later = b.star(id, dual) < b.star(c.chain[0], dual)
		}
		c.chain = append(c.chain, id, id)
		return list, later
	}},
	{"the pivot thrice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		c.chain = append(c.chain, c.chain[0], c.chain[0])
		return list, true
	}},
	{"a pivot in a forest", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		id := cellOf(b, dual, rng)
		c.chain = slices.Insert(c.chain, 0, id)
		return list, b.tree[id] && !dual || b.dual[id] && dual
	}},
	{"a later column added twice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		i := rng.IntN(len(list))
		j := i + rng.IntN(len(list)-i)
		list[i].columns = append(list[i].columns, uint32(j), uint32(j))
		return list, true
	}},
	{"an earlier column added", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		i := rng.IntN(len(list))
		list[i].columns = append(list[i].columns, uint32(rng.IntN(max(i, 1))))
		return list, true
	}},
	{"a later cell added twice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		id := cellOf(b, !dual, rng)
		later := b.star(id, !dual) > b.star(c.cell, !dual)
		if dual {
			later = b.star(id, !dual) < b.star(c.cell, !dual)
		}
		c.cells = append(c.cells, id, id)
		return list, later
	}},
	{"the cell of the column added twice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		c.cells = append(c.cells, c.cell, c.cell)
		return list, true
	}},
	{"a later cell of the star added twice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		// Logged cells of a star have the order of their numbers, and those of a forest are the last.
		c := &list[rng.IntN(len(list))]
		logged, of, forest := map[uint32]bool{}, b.squares, b.dual
		if dual {
			of, forest = b.edges, b.tree
		}
		for _, other := range list {
			logged[other.cell] = true
		}
		later := slices.DeleteFunc(slices.Clone(of), func(k plainCell) bool {
			after := k.id != c.cell && k.id > c.cell != dual
			return k.star != b.star(c.cell, !dual) || !forest[k.id] && !(logged[k.id] && after)
		})
		if len(later) == 0 {
			return list, false
		}
		id := later[rng.IntN(len(later))].id
		c.cells = append(c.cells, id, id)
		return list, true
	}},
	{"a cell added", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		c.cells = append(c.cells, cellOf(b, !dual, rng))
		return list, true
	}},
	{"a column twice", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		return append(list, list[rng.IntN(len(list))]), true
	}},
	{"the cell of another column", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		i, j := rng.IntN(len(list)), rng.IntN(len(list))
		list[i].cell = list[j].cell
		return list, i != j
	}},
	{"two columns exchange cells", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		i, j := rng.IntN(len(list)), rng.IntN(len(list))
		list[i].cell, list[j].cell = list[j].cell, list[i].cell
		return list, i != j
	}},
	{"the cell of no column", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		was := c.cell
		c.cell = cellOf(b, !dual, rng)
		return list, c.cell != was
	}},
	{"a cell that does not exist", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := &list[rng.IntN(len(list))]
		id := rng.Uint32() >> rng.IntN(32)
		switch rng.IntN(3) {
		case 0:
			c.cell = id
			dual = !dual
		case 1:
			c.chain[0] = id
		case 2:
			c.chain = append(c.chain, id, id)
		}
		return list, b.star(id, dual) < 0
	}},
	{"a column dropped", func(b *plainBox, list []column, dual bool, rng *rand.Rand) ([]column, bool) {
		c := list[len(list)-1] // which no other adds
		return list[:len(list)-1], b.star(c.cell, !dual) != b.star(c.chain[0], dual)
	}},
}

// cellOf returns an edge or a square.
func cellOf(b *plainBox, isSquare bool, rng *rand.Rand) uint32 {
	list := b.edges
	if isSquare {
		list = b.squares
	}
	return list[rng.IntN(len(list))].id
}

// star returns the rank of the star of a cell, or −1 if it does not exist.
func (b *plainBox) star(id uint32, isSquare bool) int {
	list := b.edges
	if isSquare {
		list = b.squares
	}
	for _, c := range list {
		if c.id == id {
			return c.star
		}
	}
	return -1
}

// Each kind of mistake is noticed, in every image in which it changes an answer.
func TestMistakesAreNoticed(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	noticed := map[string]int{}
	expect := func(name string, m image, c fingerprint.Convention, out pairs.Answer) {
		t.Helper()
		d, err := pairs.Check(m, c, out)
		if err != nil {
			t.Fatal(err)
		}
		if d == nil {
			t.Fatalf("%s: %v %+v %v: accepted", name, m.Shape(), m.Convention, m.Data())
		}
		noticed[name]++
	}
	for i := range 1500 {
		m := drawn(t, rng)
		right := answered(m, i%2 == 0, rng)
		if len(right.Pairs) == 0 {
			continue
		}
		for _, f := range inPairs {
			out := pairs.Answer{Pairs: slices.Clone(right.Pairs), Chains: right.Chains}
			if f.plan(m, &out, rng) {
				expect(f.name, m, m.Convention, out)
			}
		}
		for name, c := range map[string]fingerprint.Convention{
			"the other construction": {Vertices: !m.Vertices, Superlevel: m.Superlevel},
			"the other direction":    {Vertices: m.Vertices, Superlevel: !m.Superlevel},
		} {
			if other := (image{m.Field, c}); !slices.Equal(plainPairs(other), right.Pairs) {
				expect(name, m, c, right)
			}
		}
		if m.Masked && m.Type() == grid.Uint8 {
			all := image{trusted(t, m.Shape(), grid.Uint8, m.Data(), grid.Identity(grid.Uint8)), m.Convention}
			if !slices.Equal(plainPairs(all), right.Pairs) {
				expect("the mask ignored", all, all.Convention, right)
			}
		}
		if right.Chains == nil || len(right.Chains.Words) == 0 {
			continue
		}
		b, dual := newPlainBox(m), right.Chains.Dual
		withWords := func(words []uint32) pairs.Answer {
			return pairs.Answer{Pairs: right.Pairs, Chains: &pairs.Chains{Dual: dual, Words: words}}
		}
		for _, f := range inLog {
			if list, is := f.plan(b, parsed(right.Chains.Words), dual, rng); is {
				expect(f.name, m, m.Convention, withWords(written(list)))
			}
		}
		expect("homology as cohomology", m, m.Convention,
			pairs.Answer{Pairs: right.Pairs, Chains: &pairs.Chains{Dual: !dual, Words: right.Chains.Words}})
		columns := parsed(right.Chains.Words)
		short := written(columns[:rng.IntN(len(columns))+1])
		expect("a short log", m, m.Convention, withWords(short[:len(short)-1]))
		for range 5 {
			words := slices.Clone(right.Chains.Words)
			k := rng.IntN(len(words))
			words[k] ^= 1 << rng.IntN(32)
			expect("a bit of a log", m, m.Convention, withWords(words))
		}
	}
	for _, f := range inPairs {
		if noticed[f.name] < 100 {
			t.Errorf("%s: planted %d times", f.name, noticed[f.name])
		}
	}
	for _, f := range inLog {
		if noticed[f.name] < 100 {
			t.Errorf("%s: planted %d times", f.name, noticed[f.name])
		}
	}
	t.Log(noticed)
}

// A square of the dual forest takes the place of the cell of a column, with its pivot: their boundaries agree up to
// earlier columns. The cell gets a pivot in the forest of edges. Nothing else is wrong with the log, nor does the list of
// pairs contradict it.
func TestForestsHaveNoColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	forged := 0
	for range 2000 {
		m := drawn(t, rng)
		if m.Shape().Dim() == 2 {
			continue
		}
		b := newPlainBox(m)
		log := b.chains(false, rng, 0)
		list := parsed(log.Words)
		owner := map[uint32]int{}
		for i, c := range list {
			owner[c.chain[0]] = i
		}
		var square, edge plainCell
		for _, s := range b.squares {
			if b.dual[s.id] {
				square = s
			}
		}
		for _, e := range b.edges {
			if b.tree[e.id] {
				edge = e
			}
		}
		if len(list) == 0 || b.star(list[0].cell, true) >= square.star || b.star(list[0].chain[0], false) >= edge.star {
			continue
		}
		sum := map[uint32]bool{}
		for _, e := range b.sides[square.id] {
			sum[e] = !b.tree[e]
		}
		forgery := column{cell: square.id, cells: []uint32{list[0].cell}, chain: list[0].chain}
		for _, e := range slices.Backward(b.edges) {
			if !sum[e.id] {
				continue
			}
			forgery.columns = append(forgery.columns, uint32(owner[e.id]))
			for _, k := range list[owner[e.id]].chain {
				sum[k] = !sum[k]
			}
		}
		if slices.Contains(forgery.columns, 0) {
			continue // the forged column would add the one that it replaces
		}
		list[0].chain = slices.Insert(slices.Clone(list[0].chain), 0, edge.id)
		for _, c := range list {
			if slices.Contains(c.columns, 0) {
				c.columns[slices.Index(c.columns, 0)] = uint32(len(list))
			}
		}
		_, d, err := chains.Confirm(m, m.Superlevel, m.Vertices, &chains.Log{Words: written(append(list, forgery))}, 2)
		if err != nil || d == nil {
			t.Fatalf("%v %v: accepted (%v)", m.Shape(), m.Data(), err)
		}
		forged++
	}
	if forged < 20 {
		t.Errorf("%d forgeries", forged)
	}
}

// Differences name voxels by coordinates and values. Periodic axes and unreadable images are errors.
func TestDifferencesAreInWords(t *testing.T) {
	m := image{gridtest.OfBytes(t, grid.Shape{D: 1, H: 1, W: 5}, 4, 9, 2, 7, 3), fingerprint.Convention{}}
	out := pairs.Answer{Pairs: plainPairs(m)}
	out.Pairs[0].Death = 3
	const want = "pair 0 of 3: want dimension 0, voxel (0, 0) of value 4 to (1, 0) of value 9, " +
		"got dimension 0, voxel (0, 0) of value 4 to (3, 0) of value 7"
	if d, err := pairs.Check(m, m.Convention, out); err != nil || d == nil || d.String() != want {
		t.Errorf("got %v, %v", d, err)
	}
	if _, err := pairs.Check(m, fingerprint.Convention{Periodic: grid.Axes{X: true}}, out); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("periodic: %v", err)
	}
	if _, err := pairs.Check(gridtest.Unread{Source: m}, m.Convention, out); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("unread: %v", err)
	}
	vast := gridtest.VastOf(grid.Shape{D: 2000, H: 1000, W: 1000}, grid.Uint8)
	if _, err := pairs.Check(vast, m.Convention, out); err == nil {
		t.Error("more cells than numbers are accepted")
	}
}

// FuzzChains changes the words of a log. A log that is accepted proves the pairs of the plain reduction.
func FuzzChains(f *testing.F) {
	f.Add(uint64(1), []byte{})
	f.Add(uint64(2), []byte{0, 0, 0, 0, 0})
	f.Add(uint64(3), []byte{1, 0, 255, 255, 7, 3, 0, 1, 0, 9})
	f.Fuzz(func(t *testing.T, seed uint64, changes []byte) {
		rng := rand.New(rand.NewPCG(seed, 9))
		m := drawn(t, rng)
		out := answered(m, seed%2 == 0, rng)
		want := out.Pairs
		if out.Chains == nil {
			return
		}
		words := out.Chains.Words
		for ; len(changes) >= 3 && len(words) > 0; changes = changes[3:] {
			at, value := int(changes[1])%len(words), uint32(changes[2])
			switch changes[0] % 5 {
			case 0:
				words[at] = value
			case 1:
				words[at] += value - 128
			case 2:
				words[at] = words[int(value)%len(words)]
			case 3:
				words = slices.Insert(words, at, value)
			case 4:
				words = slices.Delete(words, at, min(at+int(value)%8, len(words)))
			}
		}
		all, d, err := chains.Confirm(m, m.Superlevel, m.Vertices, &chains.Log{Dual: out.Chains.Dual, Words: words}, 2)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			return
		}
		var got []pairs.Pair
		for p := range all.All() {
			got = append(got, pairs.Pair(p))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v\n%v\nwant\n%v", words, got, want)
		}
	})
}
