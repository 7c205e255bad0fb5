package extrema

import (
	"math"
	"runtime"
	"slices"
	"sort"
	"sync/atomic"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/workloads/ecc"
)

// A tally adds up changes for ladders with too many levels for a table. It gathers pairs of level
// and change, sorts them in blocks that fit a core's cache, and sums equal levels. Its memory grows
// with the number of levels that change, not with the number of voxels.
type tally struct {
	recent  [1 << recentBits]pair // the last level for each hash, with its changes so far
	pairs   []pair                // gathered but not sorted yet; their number is limited by the capacity
	scratch []pair
	runs    [][]pair // sorted, with each level about once
	held    int      // number of pairs in the runs
	limit   int      // number of pairs from which the runs are merged
	room    *room    // nil if there is no limit of memory
}

// A room limits the pairs that all tallies of a job hold. If it is full, they drop them.
type room struct {
	memory int64
	most   int64 // pairs
	held   atomic.Int64
	full   atomic.Bool
}

// A pair becomes a step, and a step two rows: of an answer, and of its copy for the caller or its text.
const pairBytes, stepBytes, rowBytes = 8, 16, 32

// newRoom returns the room for pairs in a limit of memory without the taken part; nil for 0, without a limit.
func newRoom(memory, taken int64) *room {
	if memory == 0 {
		return nil
	}
	memory = max(1, memory-taken)
	return &room{memory: memory, most: memory / (pairBytes + stepBytes)}
}

// check returns an error if the room was full. An eighth of it is for pairs between two merges.
func (r *room) check() error {
	if r == nil || !r.full.Load() {
		return nil
	}
	return bench.TooMuch{Need: r.memory + max(1, r.memory/7), Limit: r.memory, Sum: "changes of levels"}
}

// fits reports whether there is memory for steps, and for the rows of a number of levels.
func (r *room) fits(steps, levels int) bool {
	return r == nil || stepBytes*int64(steps)+rowBytes*int64(levels) <= r.memory
}

// A pair is a level, in the upper half, and an int32 change.
type pair uint64

func newPair(level uint32, change int64) pair {
	return pair(uint64(level)<<32 | uint64(uint32(change)))
}

func (p pair) level() uint32 { return uint32(p >> 32) }
func (p pair) change() int64 { return int64(int32(uint32(p))) }

// gathered is the number of pairs that are sorted together. It is also the approximate number of
// pairs that are merged together.
const gathered = 1 << 16

// recentBits is the binary logarithm of the number of recent levels. Images with few levels change
// the same levels repeatedly.
const recentBits = 11

// newTally returns a tally that gathers the given number of pairs.
func newTally(gathered int, room *room) *tally {
	t := &tally{pairs: make([]pair, 0, gathered), scratch: make([]pair, gathered), room: room}
	t.reset()
	return t
}

// reset empties the tally.
func (t *tally) reset() {
	clear(t.recent[:])
	t.hold(nil, 0)
	t.pairs, t.limit = t.pairs[:0], t.few()
}

// hold replaces the runs by others with a number of pairs. It returns whether the room has space for them.
func (t *tally) hold(runs [][]pair, held int) bool {
	fits := true
	if r := t.room; r != nil {
		if r.full.Load() {
			runs, held = nil, 0
		}
		fits = r.held.Add(int64(held-t.held)) <= r.most
	}
	t.runs, t.held = runs, held
	return fits
}

// few returns the number of pairs below which runs are never merged.
func (t *tally) few() int { return 32 * cap(t.pairs) }

// add adds the changes of levels below n.
func add[L lane, C change](t *tally, values []L, changes []C, n int64) {
	changes = changes[:len(values)]
	for i, v := range values {
		if int64(v) >= n {
			continue
		}
		level, change := uint32(v), int64(changes[i])
		slot := &t.recent[level*0x9e3779b1>>(32-recentBits)]
		if was := *slot; was.level() != level {
			t.gather(was)
		} else if change += was.change(); int64(int32(change)) != change {
			t.gather(was)
			change -= was.change()
		}
		*slot = newPair(level, change)
	}
}

// gather adds a pair to the pairs to sort.
func (t *tally) gather(p pair) {
	if uint32(p) == 0 { // no change
		return
	}
	if len(t.pairs) == cap(t.pairs) {
		t.settle()
	}
	t.pairs = append(t.pairs, p)
}

// settle sorts the gathered pairs into a run. If the runs have too many pairs, it merges them.
func (t *tally) settle() {
	if len(t.pairs) == 0 {
		return
	}
	run := slices.Clone(combine(ordered(t.pairs, t.scratch)))
	t.pairs = t.pairs[:0]
	fits := t.hold(append(t.runs, run), t.held+len(run))
	if fits && t.held <= t.limit {
		return
	}
	held := t.held
	t.merge()
	t.limit = 8 * held // if few levels repeat, merging saves little
	if 2*t.held < held {
		t.limit = max(t.few(), 2*t.held)
	}
	if !fits && t.room.held.Load() > t.room.most/8*7 {
		t.room.full.Store(true)
		t.hold(nil, 0)
	}
}

// merge merges the runs into one.
func (t *tally) merge() {
	one := make([]pair, 0, t.held)
	var b buffers
	for _, p := range parts(t.runs, cap(t.pairs)) {
		one = append(one, combine(b.mergedPairs(t.runs, p))...)
	}
	t.hold([][]pair{slices.Clip(one)}, len(one))
}

// ordered sorts pairs by level, with scratch of the same length. It returns one of the two slices.
func ordered(pairs, scratch []pair) []pair {
	const bits = 11
	scratch = scratch[:len(pairs)]
	for shift := 32; shift < 64; shift += bits {
		var start [1<<bits + 1]int32
		for _, p := range pairs {
			start[p>>shift&(1<<bits-1)+1]++
		}
		if int(start[pairs[0]>>shift&(1<<bits-1)+1]) == len(pairs) {
			continue // all pairs have the same digit
		}
		for d := range 1 << bits {
			start[d+1] += start[d]
		}
		for _, p := range pairs {
			d := p >> shift & (1<<bits - 1)
			scratch[start[d]] = p
			start[d]++
		}
		pairs, scratch = scratch, pairs
	}
	return pairs
}

// combine sums the changes of each level in place and drops zero sums. A level whose sum exceeds an
// int32 keeps several pairs.
func combine(pairs []pair) []pair {
	n := 0
	for i := 0; i < len(pairs); {
		level, sum := pairs[i].level(), int64(0)
		for i < len(pairs) && pairs[i].level() == level {
			next := sum + pairs[i].change()
			if next > math.MaxInt32 || next < math.MinInt32 {
				break
			}
			sum = next
			i++
		}
		if sum != 0 {
			pairs[n] = newPair(level, sum)
			n++
		}
	}
	return pairs[:n]
}

// A span is the levels first ≤ level < end.
type span struct{ first, end uint64 }

// parts returns spans that cover all pairs of some runs, in order, with about the given number of
// pairs each.
func parts(runs [][]pair, each int) []span {
	step := max(2, each/256)
	var some []uint32
	for _, r := range runs {
		for i := step / 2; i < len(r); i += step {
			some = append(some, r[i].level())
		}
	}
	slices.Sort(some)
	var list []span
	first := uint64(0)
	for i := each / step; i < len(some); i += each / step {
		if end := uint64(some[i]); end > first {
			list = append(list, span{first, end})
			first = end
		}
	}
	return append(list, span{first, 1 << 32})
}

// pairsWithin returns the pairs of a run with levels in a span.
func (s span) pairsWithin(run []pair) []pair {
	from := sort.Search(len(run), func(i int) bool { return uint64(run[i].level()) >= s.first })
	run = run[from:]
	return run[:sort.Search(len(run), func(i int) bool { return uint64(run[i].level()) >= s.end })]
}

// buffers are reused memory for sorting the pairs of spans.
type buffers struct{ all, scratch []pair }

// mergedPairs merges the pairs of runs with levels in a span. They are valid until the next call.
func (b *buffers) mergedPairs(runs [][]pair, s span) []pair {
	b.all = b.all[:0]
	for _, r := range runs {
		b.all = append(b.all, s.pairsWithin(r)...)
	}
	if len(b.all) == 0 {
		return nil
	}
	b.scratch = slices.Grow(b.scratch[:0], len(b.all))
	return ordered(b.all, b.scratch[:len(b.all)])
}

// steps sums the changes of all tallies, on as many cores. It returns nil if their room is full.
func steps(tallies []*tally) ecc.VCEC {
	var runs [][]pair
	pairs := 0
	for _, t := range tallies {
		for _, p := range t.recent {
			t.gather(p)
		}
		t.settle()
		pairs += t.held
	}
	limit := tallies[0].room
	if limit.check() != nil {
		return nil
	}
	if !limit.fits(pairs, pairs) {
		merged, levels := 0, 0
		for _, t := range tallies {
			t.merge()
			merged, levels = merged+t.held, max(levels, t.held)
		}
		if !limit.fits(merged, levels) {
			limit.full.Store(true)
			return nil
		}
		runtime.GC() // the steps reuse the memory of the merged runs
	}
	for _, t := range tallies {
		runs = append(runs, t.runs...)
	}
	list := parts(runs, cap(tallies[0].pairs))
	// Each part has room for all its pairs. The gaps that remain are closed afterwards.
	begin, room := make([]int, len(list)), 0
	for i, s := range list {
		begin[i] = room
		for _, r := range runs {
			room += len(s.pairsWithin(r))
		}
	}
	all := make(ecc.VCEC, room)
	counts := make([]int, len(list))
	crew.ShareAmong(int64(len(tallies)), int64(len(list)), func(next func() (int64, bool)) {
		var b buffers
		for i, ok := next(); ok; i, ok = next() {
			counts[i] = summed(all[begin[i]:], b.mergedPairs(runs, list[i]))
		}
	})
	n := 0
	for i, count := range counts {
		n += copy(all[n:], all[begin[i]:][:count])
	}
	if !limit.fits(room, n) {
		limit.full.Store(true)
		return nil
	}
	return all[:n]
}

// summed converts sorted pairs to steps, and returns the number of steps.
func summed(steps ecc.VCEC, pairs []pair) (n int) {
	for i := 0; i < len(pairs); {
		step := ecc.Step{Level: int64(pairs[i].level())}
		for ; i < len(pairs) && int64(pairs[i].level()) == step.Level; i++ {
			step.Change += pairs[i].change()
		}
		if step.Change != 0 {
			steps[n] = step
			n++
		}
	}
	return n
}
