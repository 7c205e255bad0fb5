package chains_test

import (
	"cmp"
	"math/bits"
	"math/rand/v2"
	"slices"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc/fingerprint"
	"eccbench/internal/workloads/pairs"
)

// A point is a place of the doubled grid: odd coordinates are those along which a cell extends.
type point [3]int

// dim is the dimension of a cell.
func (p point) dim() int { return p[0]&1 + p[1]&1 + p[2]&1 }

// faces calls f with the cells of the boundary.
func (p point) faces(f func(point)) {
	for a := range p {
		if p[a]&1 > 0 {
			for _, d := range [2]int{-1, 1} {
				q := p
				q[a] += d
				f(q)
			}
		}
	}
}

// An image is small.
type image struct {
	*grid.Field
	fingerprint.Convention
}

// time returns the time of each voxel, −1 for absent ones, and its level.
func (m image) times() (times []int64) {
	l := m.Ladder()
	for i := range m.Shape().Voxels() {
		v := float32(0)
		switch m.Type() {
		case grid.Uint8:
			v = float32(grid.Values[uint8](m.Data())[i])
		case grid.Float32:
			v = grid.Values[float32](m.Data())[i]
		}
		t := int64(-1)
		if !(v > l.Value(l.Len()-1)) {
			if t = l.Level(v); !l.Indexed() {
				t = int64(grid.EveryLevel(v))
			}
			if m.Superlevel {
				t = l.Len() - 1 - t
			}
		}
		times = append(times, t)
	}
	return times
}

// plainPairs reduces the whole boundary matrix of an image in its own construction, without the dual.
func plainPairs(m image) (list []pairs.Pair) {
	s, times := m.Shape(), m.times()
	order := make([]int64, 0, len(times)) // of present voxels
	for i, t := range times {
		if t >= 0 {
			order = append(order, int64(i))
		}
	}
	slices.SortFunc(order, func(a, b int64) int { return cmp.Or(cmp.Compare(times[a], times[b]), cmp.Compare(a, b)) })
	when := map[int64]int{}
	for i, v := range order {
		when[v] = i
	}
	type entry struct {
		at   point
		when int
	}
	var cells []entry
	size := [3]int{int(s.W), int(s.H), int(s.D)}
	shift := 1 // voxels are top cells, at odd coordinates
	if m.Vertices {
		shift = 0
	}
	for i := range (2*size[0] + 1) * (2*size[1] + 1) * (2*size[2] + 1) {
		p := point{i % (2*size[0] + 1), i / (2*size[0] + 1) % (2*size[1] + 1), i / (2*size[0] + 1) / (2*size[1] + 1)}
		earliest, latest, missing := len(times), -1, false
		for k := range 8 { // voxels of the cell
			var v point
			there := true
			for a := range v {
				lo, hi := p[a]-shift, p[a]-shift
				if lo&1 != 0 {
					lo, hi = lo-1, hi+1
				}
				if v[a] = [2]int{lo, hi}[k>>a&1] / 2; lo < 0 && k>>a&1 == 0 || v[a] >= size[a] {
					there = false
				}
			}
			w, is := when[(int64(v[2])*s.H+int64(v[1]))*s.W+int64(v[0])]
			if !there || !is {
				missing = true
				continue
			}
			earliest, latest = min(earliest, w), max(latest, w)
		}
		switch {
		case m.Vertices && !missing:
			cells = append(cells, entry{p, latest})
		case !m.Vertices && earliest < len(times):
			cells = append(cells, entry{p, earliest})
		}
	}
	slices.SortFunc(cells, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.when, b.when), cmp.Compare(a.at.dim(), b.at.dim()), slices.Compare(a.at[:], b.at[:]))
	})
	number := map[point]int{}
	for i, c := range cells {
		number[c.at] = i
	}
	owner, paired := map[int]chain{}, make([]bool, len(cells))
	add := func(birth, death int) {
		p := pairs.Pair{Dim: cells[birth].at.dim(), Birth: order[cells[birth].when], Death: pairs.Never}
		if death >= 0 {
			p.Death = order[cells[death].when]
			if times[p.Birth] == times[p.Death] {
				return
			}
		}
		list = append(list, p)
	}
	for i, c := range cells {
		r := newChain(len(cells))
		c.at.faces(func(q point) { r.flip(number[q]) })
		for {
			low := r.low()
			if low < 0 {
				break
			}
			if o := owner[low]; o != nil {
				r.add(o)
				continue
			}
			owner[low] = r
			paired[low], paired[i] = true, true
			add(low, i)
			break
		}
	}
	for i := range cells {
		if !paired[i] && cells[i].at.dim() < 3 {
			add(i, -1)
		}
	}
	slices.SortFunc(list, pairs.Pair.Compare)
	return list
}

// A chain is a set of cells by their numbers.
type chain []uint64

func newChain(n int) chain { return make(chain, (n+63)/64) }

func (c chain) flip(i int)     { c[i/64] ^= 1 << (i % 64) }
func (c chain) has(i int) bool { return c[i/64]>>(i%64)&1 > 0 }
func (c chain) add(d chain) {
	for i := range c {
		c[i] ^= d[i]
	}
}

func (c chain) low() int {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i] != 0 {
			return i*64 + bits.Len64(c[i]) - 1
		}
	}
	return -1
}

// all returns the cells from the last to the first.
func (c chain) all() (list []int) {
	for i := len(c)*64 - 1; i >= 0; i-- {
		if c.has(i) {
			list = append(list, i)
		}
	}
	return list
}

// A plainBox is the box of the specification, with the cells of dimensions 1 and 2 as its chains number them.
type plainBox struct {
	size    [3]int
	rank    []int // of each vertex
	edges   []plainCell
	squares []plainCell
	sides   map[uint32][]uint32 // of a square: its edges
	tree    map[uint32]bool     // edges
	dual    map[uint32]bool     // squares
}

type plainCell struct {
	id   uint32
	star int // rank of the star
}

func newPlainBox(m image) *plainBox {
	s, times := m.Shape(), m.times()
	size := [3]int{int(s.W), int(s.H), int(s.D)}
	b := &plainBox{size: size, sides: map[uint32][]uint32{}, tree: map[uint32]bool{}, dual: map[uint32]bool{}}
	if !m.Vertices {
		b.size = [3]int{size[0] + 2, size[1] + 2, size[2] + 2}
	}
	keys := make([]int64, b.size[0]*b.size[1]*b.size[2])
	if !m.Vertices {
		for i := range keys {
			keys[i] = -1 << 40
		}
	}
	for i, t := range times {
		x, y, z := i%size[0], i/size[0]%size[1], i/size[0]/size[1]
		if m.Vertices {
			if t < 0 {
				t = 1 << 40
			}
			keys[i] = t
		} else if t >= 0 {
			keys[((size[2]-z)*b.size[1]+size[1]-y)*b.size[0]+size[0]-x] = -t
		}
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(keys[a], keys[b]) })
	b.rank = make([]int, len(keys))
	for i, v := range order {
		b.rank[v] = i
	}
	b.enumerate()
	b.growTree()
	b.growDual()
	return b
}

func (b *plainBox) at(p point) int { return (p[2]*b.size[1]+p[1])*b.size[0] + p[0] }

func (b *plainBox) enumerate() {
	for v := range b.rank {
		x := point{v % b.size[0], v / b.size[0] % b.size[1], v / b.size[0] / b.size[1]}
		for a := range 3 {
			if x[a]+1 < b.size[a] {
				end := x
				end[a]++
				b.edges = append(b.edges, plainCell{uint32(3*v + a), max(b.rank[v], b.rank[b.at(end)])})
			}
			u, w := (a+1)%3, (a+2)%3
			if x[u]+1 >= b.size[u] || x[w]+1 >= b.size[w] {
				continue
			}
			p, q, r := x, x, x
			p[u], q[w], r[u], r[w] = p[u]+1, q[w]+1, r[u]+1, r[w]+1
			id := uint32(3*v + a)
			b.squares = append(b.squares, plainCell{id, max(b.rank[v], b.rank[b.at(p)], b.rank[b.at(q)], b.rank[b.at(r)])})
			b.sides[id] = []uint32{uint32(3*v + u), uint32(3*v + w), uint32(3*b.at(p) + w), uint32(3*b.at(q) + u)}
		}
	}
	for _, list := range [][]plainCell{b.edges, b.squares} {
		slices.SortFunc(list, func(a, b plainCell) int { return cmp.Or(cmp.Compare(a.star, b.star), cmp.Compare(a.id, b.id)) })
	}
}

// step returns the number of vertices between neighbours.
func (b *plainBox) step(axis int) int { return [3]int{1, b.size[0], b.size[0] * b.size[1]}[axis] }

// labels joins two groups of labels, and reports whether they were two.
func join(labels []int, a, c int) bool {
	from, to := labels[a], labels[c]
	for i := range labels {
		if labels[i] == from {
			labels[i] = to
		}
	}
	return from != to
}

func numbers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

func (b *plainBox) growTree() {
	labels := numbers(len(b.rank))
	for _, e := range b.edges {
		v := int(e.id / 3)
		b.tree[e.id] = join(labels, v, v+b.step(int(e.id%3)))
	}
}

func (b *plainBox) growDual() {
	labels := numbers(len(b.rank) + 1) // cubes by their lowest corners, and the outside
	cube := func(x point) int {
		for a := range x {
			if x[a] < 0 || x[a]+1 >= b.size[a] {
				return len(b.rank)
			}
		}
		return b.at(x)
	}
	for _, s := range slices.Backward(b.squares) {
		v := int(s.id / 3)
		x := point{v % b.size[0], v / b.size[0] % b.size[1], v / b.size[0] / b.size[1]}
		y := x
		y[s.id%3]--
		b.dual[s.id] = join(labels, cube(x), cube(y))
	}
}

// chains reduces the columns of a box, in the order of the specification. Regular cells are chosen at random
// from a share of the squares.
func (b *plainBox) chains(dual bool, rng *rand.Rand, share float64) *pairs.Chains {
	regular := b.regular(rng, share)
	sorted := func(list []plainCell, forest map[uint32]bool, class func(uint32) int) []plainCell {
		list = slices.DeleteFunc(slices.Clone(list), func(c plainCell) bool { return forest[c.id] })
		slices.SortFunc(list, func(a, b plainCell) int {
			return cmp.Or(cmp.Compare(a.star, b.star), cmp.Compare(class(a.id), class(b.id)), cmp.Compare(a.id, b.id))
		})
		return list
	}
	is := func(dim int, yes, no int) func(uint32) int {
		return func(id uint32) int {
			if regular[dim][id] {
				return yes
			}
			return no
		}
	}
	rows, columns := sorted(b.edges, b.tree, is(0, 1, 0)), sorted(b.squares, b.dual, is(1, 0, 1))
	isRow, isColumn := regular[0], regular[1]
	if dual {
		rows, columns, isRow, isColumn = columns, rows, isColumn, isRow
		slices.Reverse(rows)
		slices.Reverse(columns)
	}
	row := map[uint32]int{}
	for i, r := range rows {
		row[r.id] = i
	}
	faces := map[uint32][]uint32{}
	for id, sides := range b.sides {
		for _, e := range sides {
			if dual {
				faces[e] = append(faces[e], id)
			} else {
				faces[id] = append(faces[id], e)
			}
		}
	}
	return reduce(rows, columns, row, faces, isRow, isColumn, dual)
}

// A reduced column has its chain, the logged columns added, and the cells added (its own too if it is regular).
type reduced struct {
	chain, columns, cells chain
	logged                int // its index in the log, or −1
}

func reduce(rows, columns []plainCell, row map[uint32]int, faces map[uint32][]uint32, isRow, isColumn map[uint32]bool, dual bool) *pairs.Chains {
	out := &pairs.Chains{Dual: dual}
	owner := make([]*reduced, len(rows))
	logged := 0
	for i, c := range columns {
		r := &reduced{newChain(len(rows)), newChain(len(columns)), newChain(len(columns)), -1}
		for _, id := range faces[c.id] {
			if k, is := row[id]; is {
				r.chain.flip(k)
			}
		}
		if isColumn[c.id] {
			r.cells.flip(i)
		} else {
			r.logged = logged
			logged++
		}
		low := r.chain.low()
		for ; owner[low] != nil; low = r.chain.low() {
			o := owner[low]
			r.chain.add(o.chain)
			if o.logged >= 0 {
				r.columns.flip(o.logged)
			} else {
				r.cells.add(o.cells)
			}
		}
		owner[low] = r
		if isColumn[c.id] {
			if !isRow[rows[low].id] || rows[low].star != c.star {
				panic("a regular column has a pivot elsewhere")
			}
			continue
		}
		out.Words = append(out.Words, c.id)
		for _, list := range []struct {
			of chain
			to func(int) uint32
		}{{r.columns, func(k int) uint32 { return uint32(k) }}, {r.cells, func(k int) uint32 { return columns[k].id }},
			{r.chain, func(k int) uint32 { return rows[k].id }}} {
			all := list.of.all()
			out.Words = append(out.Words, uint32(len(all)))
			for _, k := range all {
				out.Words = append(out.Words, list.to(k))
			}
		}
	}
	return out
}

// regular chooses edges and as many squares of each star whose incidences are nonsingular.
func (b *plainBox) regular(rng *rand.Rand, share float64) (regular [2]map[uint32]bool) {
	regular[0], regular[1] = map[uint32]bool{}, map[uint32]bool{}
	star := map[uint32]int{}
	for _, e := range b.edges {
		star[e.id] = e.star
	}
	basis := map[uint32]map[uint32]bool{} // by pivot
	for _, s := range b.squares {
		if b.dual[s.id] || rng.Float64() >= share {
			continue
		}
		column := map[uint32]bool{}
		for _, e := range b.sides[s.id] {
			if star[e] == s.star && !b.tree[e] {
				column[e] = true
			}
		}
		for e := range column {
			if of := basis[e]; of != nil && column[e] {
				for k := range of {
					if column[k] = !column[k]; !column[k] {
						delete(column, k)
					}
				}
			}
		}
		pivots := slices.Sorted(func(yield func(uint32) bool) {
			for e := range column {
				if !yield(e) {
					return
				}
			}
		})
		if len(pivots) == 0 {
			continue
		}
		pivot := pivots[rng.IntN(len(pivots))]
		for _, of := range basis { // the pivot is in no other column
			if of[pivot] {
				for k := range column {
					if of[k] = !of[k]; !of[k] {
						delete(of, k)
					}
				}
			}
		}
		basis[pivot] = column
		regular[0][pivot], regular[1][s.id] = true, true
	}
	return regular
}
