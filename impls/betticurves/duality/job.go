package duality

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// common is the part of a job that does not depend on the key type.
type common struct {
	in grid.Source
	layout
	counter bench.Job[ecc.VCEC]
	threads int
	isa     string
	out     betti.Curves
}

// A job is an image with keys of one type.
type job[K key] struct {
	*common
	kernel kernel[K]
	fill   func(to []K, from []byte, scratch []int32)
	cores  []*core[K]
	// Results of the boxes, x fastest.
	set, around []part
}

// A core is the state of one goroutine.
type core[K key] struct {
	box     box[K]
	slab    []byte
	scratch []int32
	set     tally
	around  tally
}

func newJob[K key](c *common) *job[K] {
	j := &job[K]{common: c, kernel: kernelOf[K](c.isa), fill: filler[K](c.in)}
	boxes := j.boxes()
	j.set, j.around = make([]part, boxes), make([]part, boxes)
	return j
}

// filler returns the conversion of values to keys.
func filler[K key](in grid.Source) func(to []K, from []byte, scratch []int32) {
	if !in.Ladder().Indexed() {
		return func(to []K, from []byte, _ []int32) {
			for i, v := range grid.Values[float32](from) {
				to[i] = K(grid.EveryLevel(v))
			}
		}
	}
	if in.Type() == grid.Uint8 && identical(in) {
		return func(to []K, from []byte, _ []int32) { copy(any(to).([]uint8), from) }
	}
	convert := grid.NewConverter(in.Type(), in.Ladder())
	return func(to []K, from []byte, scratch []int32) {
		convert.Convert(scratch, from)
		for i := range to {
			to[i] = K(scratch[i])
		}
	}
}

func (j *job[K]) Do(trace *bench.Trace) error {
	end := trace.Span("characteristic")
	if err := j.counter.Do(trace); err != nil {
		return err
	}
	chi, err := j.counter.Out()
	end()
	if err != nil {
		return err
	}
	if err := trace.Do("boxes", j.each); err != nil {
		return err
	}
	defer trace.Span("joins")()
	var b0, b2 ecc.VCEC
	err = crew.Try(2, 2, func(_, side int) (err error) {
		if side == 0 {
			b0, err = j.graph(j.set, false)
		} else if j.hollow {
			b2, err = j.graph(j.around, true)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i := range b2 { // a component that the set gains, the background loses
		b2[i].Change *= -1
	}
	j.out = betti.Joined(b0, b2, chi)
	return nil
}

// each processes all boxes. For an image in memory a task is one box, otherwise all boxes with the
// same planes.
func (j *job[K]) each() error {
	tasks, whole := j.boxes(), false
	if _, whole = j.in.(*grid.Field); !whole {
		tasks = len(j.cuts[0]) - 1
	}
	threads := min(j.threads, tasks)
	for len(j.cores) < threads {
		j.cores = append(j.cores, newCore(j))
	}
	return crew.Work(threads, tasks, func(core int, next func() (int, bool)) error {
		c := j.cores[core]
		c.set.clear()
		c.around.clear()
		for k, ok := next(); ok; k, ok = next() {
			if err := c.takeAll(j, k, whole); err != nil {
				return err
			}
		}
		return nil
	})
}

// takeAll processes a box of an image in memory, or all boxes with the same planes.
func (c *core[K]) takeAll(j *job[K], k int, whole bool) error {
	if whole {
		if err := grid.Ended(j.in); err != nil {
			return err
		}
		return c.take(j, j.in.(*grid.Field).Data(), 0, k)
	}
	lo, hi := j.cuts[0][k], j.cuts[0][k+1]+1
	c.slab = slices.Grow(c.slab[:0], int((hi-lo)*grid.SliceBytes(j.in)))[:(hi-lo)*grid.SliceBytes(j.in)]
	err := j.in.ReadSlab(c.slab, lo, hi)
	for n := 0; n < j.perLayer() && err == nil; n++ {
		err = c.take(j, c.slab, lo, k*j.perLayer()+n)
	}
	return err
}

func newCore[K key](j *job[K]) *core[K] {
	c := &core[K]{set: newTally(j.layout), around: newTally(j.layout)}
	b := &c.box
	b.j = j
	words := words(j.most[2])
	plane := planeWords(j.most[1], words)
	all := int(j.most[0] * plane)
	b.keys = make([]K, int(plane+words+1)*64+all*64+1) // and one after a last plane of one row
	apart, _ := bitsOf(int(plane), int(words))
	b.bits = make([]uint64, 2*middle*apart)
	b.sight.masks = make([]uint64, 18*plane)
	b.layers = make([]uint64, 6*plane)
	b.towards = make([]uint8, all*64)
	b.group = new(group)
	for _, g := range b.graphs() {
		g.towards = b.towards
		g.minima, g.first, g.known = make([]uint64, all), make([]int32, all), make([]int32, all*8)
	}
	b.set.tally, b.around.tally, b.around.around = &c.set, &c.around, true
	c.scratch = make([]int32, j.most[2])
	return c
}

// errCircle reports a defect of the program.
var errCircle = errors.New("a voxel descends in a circle, to no minimum")

// take processes a box of an image. The slab begins with plane first.
func (c *core[K]) take(j *job[K], slab []byte, first int64, n int) error {
	b := &c.box
	var lo, hi [3]int64
	at := n
	for axis := 2; axis >= 0; axis-- {
		pieces := len(j.cuts[axis]) - 1
		i := at % pieces
		at /= pieces
		lo[axis], hi[axis] = j.cuts[axis][i], j.cuts[axis][i+1]+1
		b.sides[2*axis] = side{outer: i == 0, shared: i > 0}
		b.sides[2*axis+1] = side{outer: i == pieces-1, shared: i < pieces-1}
	}
	b.d, b.h, b.w = hi[0]-lo[0], hi[1]-lo[1], hi[2]-lo[2]
	b.cut()
	size := j.in.Type().Size()
	for z := range b.d {
		for y := range b.h {
			from := (((lo[0]+z-first)*j.h+lo[1]+y)*j.w + lo[2]) * size
			j.fill(b.keys[b.lead+64*(int(z)*b.plane+int(y)*b.words):][:b.w], slab[from:][:b.w*size], c.scratch)
		}
	}
	for _, g := range b.graphs() {
		g.reset(int(b.d) * b.plane)
	}
	b.scan()
	b.set.join(b.keys[b.lead:])
	j.set[n] = b.set.part
	if j.hollow {
		b.around.join(b.keys[b.lead:])
		j.around[n] = b.around.part
	}
	if b.set.circle || b.around.circle {
		return errCircle
	}
	return nil
}

// graphs returns the graphs that are needed.
func (b *box[K]) graphs() []*graph[K] {
	if b.j.hollow {
		return []*graph[K]{&b.set, &b.around}
	}
	return []*graph[K]{&b.set}
}

// reset prepares a graph for a box with the given number of words.
func (g *graph[K]) reset(words int) {
	clear(g.known[:8*words])
	g.saddles, g.layers, g.count, g.slots, g.circle = g.saddles[:0], g.layers[:0], 0, [6]int32{}, false
	if g.around { // the outside
		g.count = 1
	}
}

// events returns the edges of all boxes, those between minima of shared layers, and the number of
// nodes. The nodes of all boxes are numbered from 0 on.
func (j *job[K]) events(parts []part, around bool) ([]event, int, error) {
	shared := int32(0) // nodes that all parts share: the outside
	if around {
		shared = 1
	}
	nodes, count := int64(shared), 0
	base := make([]int64, len(parts))
	for i, p := range parts {
		base[i] = nodes - int64(shared)
		nodes += int64(p.nodes - shared)
		count += len(p.edges)
		for side := 1; side < 6; side += 2 {
			count += len(p.shared[side])
		}
	}
	if max(nodes, int64(count)) > math.MaxInt32 {
		return nil, 0, fmt.Errorf("%d components of boxes and %d edges between them: want at most %d", nodes, count,
			math.MaxInt32)
	}
	number := func(i int, node int32) int32 {
		if node < shared {
			return node
		}
		return int32(base[i]) + node
	}
	events := make([]event, 0, count)
	add := func(key uint32, a, b int32) { events = append(events, event{key, a, b}) }
	steps := [3]int{j.perLayer(), len(j.cuts[2]) - 1, 1}
	for i, p := range parts {
		for _, e := range p.edges {
			add(e.key, number(i, e.a), number(i, e.b))
		}
		for axis, step := range steps {
			mine := p.shared[2*axis+1]
			if len(mine) == 0 {
				continue
			}
			other := parts[i+step].shared[2*axis]
			if len(other) != len(mine) {
				return nil, 0, fmt.Errorf("boxes %d and %d: %d and %d minima of one layer", i, i+step, len(mine), len(other))
			}
			for k, m := range mine {
				add(m.key, number(i, m.node), number(i+step, other[k].node))
			}
		}
	}
	return events, int(nodes), nil
}

// graph joins the results of all boxes, and returns the changes of the number of components by
// level.
func (j *job[K]) graph(parts []part, around bool) (ecc.VCEC, error) {
	events, nodes, err := j.events(parts, around)
	if err != nil {
		return nil, err
	}
	sorted(events, nil)
	up, sum := singles(nil, nodes), newTally(j.layout)
	for _, e := range events {
		if from, to := up.unite(e.a, e.b); from != to {
			key := K(e.key)
			if around {
				key = ^key
			}
			sum.add(uint32(key), -1)
		}
	}
	for _, c := range j.cores {
		of := &c.set
		if around {
			of = &c.around
		}
		sum.take(of)
	}
	return sum.changes(j.levels), nil
}

// A tally stores changes by key: in a table, or in two lists if there are too many keys.
type tally struct {
	table       []int64
	more, fewer []uint32
}

func newTally(l layout) (t tally) {
	if l.tabled {
		t.table = make([]int64, l.levels+1)
	}
	return t
}

func (t *tally) clear() {
	clear(t.table)
	t.more, t.fewer = t.more[:0], t.fewer[:0]
}

// add adds a change of 1 or −1.
func (t *tally) add(key uint32, change int64) {
	switch {
	case t.table != nil:
		t.table[key] += change
	case change > 0:
		t.more = append(t.more, key)
	default:
		t.fewer = append(t.fewer, key)
	}
}

// take adds another tally.
func (t *tally) take(of *tally) {
	for i, n := range of.table {
		t.table[i] += n
	}
	t.more, t.fewer = append(t.more, of.more...), append(t.fewer, of.fewer...)
}

// changes returns the changes of the levels, in order.
func (t *tally) changes(levels int64) ecc.VCEC {
	v := ecc.VCEC{}
	add := func(key uint32, change int64) {
		if level := int64(key); change != 0 && level < levels {
			v = append(v, ecc.Step{Level: level, Change: change})
		}
	}
	for key, change := range t.table {
		add(uint32(key), change)
	}
	if t.table != nil {
		return v
	}
	slices.Sort(t.more)
	slices.Sort(t.fewer)
	more, fewer := t.more, t.fewer
	for len(more)+len(fewer) > 0 {
		var key uint32
		if len(fewer) == 0 || len(more) > 0 && more[0] < fewer[0] {
			key = more[0]
		} else {
			key = fewer[0]
		}
		change := int64(0)
		for ; len(more) > 0 && more[0] == key; more = more[1:] {
			change++
		}
		for ; len(fewer) > 0 && fewer[0] == key; fewer = fewer[1:] {
			change--
		}
		add(key, change)
	}
	return v
}

func (j *job[K]) Poison() {
	j.out = betti.PoisonedCurves
	j.counter.Poison()
	clear(j.set)
	clear(j.around)
	for _, c := range j.cores {
		for i := range c.box.bits {
			c.box.bits[i] = 0x5a5a5a5a5a5a5a5a
		}
	}
}

func (j *job[K]) Out() (betti.Curves, error) { return j.out, nil }

func (j *job[K]) Close() error { return j.counter.Close() }
