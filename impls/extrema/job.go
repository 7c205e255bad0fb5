package extrema

import (
	"cmp"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// A hostJob is the implementation bound to an image, with lanes of one width.
type hostJob[L lane, C change] struct {
	layout
	impl    Implementation
	in      grid.Source
	kernels kernels[L, C]
	levels  *levels[L]
	convert rowsFunc[L]
	cores   []*core[L, C]
	total   []int64 // the changes of all cores, one per level; nil with tallies
	tallies []*tally
	room    *room          // of the tallies
	large   ecc.VCEC       // changes too large for a tally
	steps   ecc.VCEC       // result of the tallies
	added   bool           // cores have added changes that are not reduced yet
	joined  bool           // leave out the cells of the image's first slice
	carries bool           // the first slice receives the changes owed by the previous image
	open    bool           // the last slice's step is left to the next image
	carried bool           // the previous image was open
	carry   [][]C          // changes owed to the next image, by strip
	aside   *hostJob[L, C] // for images with a factor other than 1, or of another dimension; created on demand
}

// A core is the state of one goroutine.
type core[L lane, C change] struct {
	planes  [2][]L // a strip of a plane and of the next one, or of a 2D image
	outside []L    // a row of outside lanes
	width   int64  // width of the image for which the planes were made
	owed    []C
	slab    []byte // slices of a streamed source
	lo, hi  int64  // the slices in slab
	sink    sink[L, C]
	scratch []int32 // for the conversion
	voxels  int64   // number counted since the last flush
	sums    []int64 // nil if the job's total is shared
}

// flushAfter is the number of voxels after which tables of int32 are flushed. Each voxel changes a
// level by at most ±9. As many voxels again, or a row of at most twice as many, may have been
// counted by then.
const flushAfter = 1 << 26

func newHostJob[L lane, C change](
	i Implementation, in grid.Source, l layout, k kernels[L, C], room *room,
) *hostJob[L, C] {
	j := &hostJob[L, C]{layout: l, impl: i, in: in, kernels: k, room: room, levels: newLevels[L](in.Type(), in.Ladder())}
	if !l.tallied {
		j.total = make([]int64, l.levels)
	}
	j.levels.watcher = grid.WatcherOf(in)
	if k.rows != nil {
		j.convert = k.rows(j.levels)
	}
	if j.convert == nil {
		j.convert = j.levels.rows
		if j.levels.watcher != nil {
			j.convert = j.levels.watched(nil, j.convert)
		}
	}
	for range l.threads {
		c := &core[L, C]{sink: sink[L, C]{scatter: k.scatter, entries: int(l.table())}}
		c.fit(l)
		switch {
		case l.tallied:
			c.sink.tally, c.sink.levels = newTally(l.pairs, j.room), l.levels
			j.tallies = append(j.tallies, c.sink.tally)
		case l.tables > 0:
			c.sink.tables = make([]int32, int64(l.tables)*l.table())
			c.sums = make([]int64, l.levels)
		default:
			c.sink.shared = j.total
		}
		j.cores = append(j.cores, c)
	}
	return j
}

// fit makes room for an image of a layout. Lanes outside the rows stay as they are.
func (c *core[L, C]) fit(l layout) {
	c.owed = roomFor(c.owed, l.owed()*l.stride+lead)
	c.scratch = roomFor(c.scratch, l.w)
	if n := l.slab * l.slice() * l.element; n > int64(len(c.slab)) {
		c.slab = grid.NewBuffer(n)
	}
	c.sink.values, c.sink.changes = roomFor(c.sink.values, l.buffer()), roomFor(c.sink.changes, l.buffer())
	for i := range c.sink.handed {
		c.sink.handed[i] = roomFor(c.sink.handed[i], l.w)
	}
	if l.w != c.width {
		c.planes, c.outside = [2][]L{}, slices.Repeat([]L{L(l.pad)}, int(l.w))
	}
	for i := range c.planes {
		n := int((l.strip+2)*l.stride + lead)
		if n > len(c.planes[i]) && !(l.flat && i > 0) {
			c.planes[i] = slices.Repeat([]L{L(l.pad)}, n)
		}
	}
	c.width = l.w
}

// roomFor returns a slice of at least n elements.
func roomFor[T any](s []T, n int64) []T {
	if n <= int64(len(s)) {
		return s
	}
	return make([]T, n)
}

func (j *hostJob[L, C]) Do(trace *bench.Trace) error {
	j.forget()
	if err := j.count(true, trace); err != nil {
		return err
	}
	j.reduce(trace)
	return j.room.check()
}

// Begin resets the sum.
func (j *hostJob[L, C]) Begin() {
	j.forget()
	for _, c := range j.cores {
		c.forget()
	}
	j.added, j.carried = true, false
}

// forget resets the shared state; each core resets its own.
func (j *hostJob[L, C]) forget() {
	if j.tables == 0 {
		clear(j.total)
	}
	j.large = nil
	if j.room != nil {
		j.room.full.Store(false)
	}
	for _, t := range j.tallies {
		t.reset()
	}
}

// forget resets the sums of a core. The tables are already empty, because every count ends with a
// flush.
func (c *core[L, C]) forget() {
	clear(c.sums)
	c.voxels = 0
}

// Add counts an image of the job's type and ladder, times a factor.
func (j *hostJob[L, C]) Add(in grid.Source, times int64) error {
	if times == 1 && in.Shape().Dim() == j.in.Shape().Dim() {
		j.bind(in)
		return j.count(false, nil)
	}
	if j.aside == nil {
		j.aside = newHostJob(j.impl, in, j.impl.layout(in, len(j.cores)), j.kernels, nil)
	}
	j.aside.bind(in)
	if err := j.aside.Do(nil); err != nil {
		return err
	}
	changes, err := j.aside.Out()
	var large ecc.VCEC
	for _, s := range changes {
		change := times * s.Change
		switch {
		case j.tallied && change == int64(int32(change)):
			j.tallies[0].gather(newPair(uint32(s.Level), change))
		case j.tallied:
			large = append(large, ecc.Step{Level: s.Level, Change: change})
		case j.tables > 0:
			j.cores[0].sums[s.Level] += change
		default:
			j.total[s.Level] += change
		}
	}
	j.large = j.large.Plus(large, 1)
	return err
}

// fewestStrips is the minimum number of strips per core for passing changes from piece to piece.
const fewestStrips = 2

// AddJoined counts the contribution of a 3D image after the previous one. If both share a slice, it
// does not count that again. If the next image shares the last slice, the changes that are owed to
// it are kept, by strip.
func (j *hostJob[L, C]) AddJoined(p grid.Piece) error {
	j.bind(p.Field)
	j.joined, j.carries = p.Shared != nil, j.carried
	j.carried = p.More && j.strips >= int64(fewestStrips*j.threads)
	defer func() { j.joined, j.carries, j.open = false, false, false }()
	if j.open = j.carried; j.open || j.carries {
		j.chunk = j.n
	}
	if j.open && int64(len(j.carry)) < j.strips {
		j.carry = make([][]C, j.strips)
		for i := range j.carry {
			j.carry[i] = make([]C, j.owed()*j.stride+lead)
		}
	}
	return j.count(false, nil)
}

// bind makes an image the job's input.
func (j *hostJob[L, C]) bind(in grid.Source) {
	j.in, j.layout = in, j.impl.layout(in, len(j.cores))
	for _, c := range j.cores {
		c.fit(j.layout)
	}
}

// count counts the job's image, and adds to the earlier counts unless forget is set.
func (j *hostJob[L, C]) count(forget bool, trace *bench.Trace) error {
	slices := j.in.Shape().Slices()
	turns := (slices + j.chunk - 1) / j.chunk * j.strips
	err := crew.Work(len(j.cores), int(turns), func(i int, next func() (int, bool)) (err error) {
		c := j.cores[i]
		if forget {
			c.forget()
		}
		for t, ok := next(); ok && err == nil; t, ok = next() {
			turn := int64(t)
			lo := turn / j.strips * j.chunk
			hi := min(lo+j.chunk, slices)
			c.lo, c.hi = 0, 0
			switch {
			case j.flat:
				err = j.countRows(c, lo, hi, trace)
			case j.slab > 0:
				err = j.countPlanes(c, lo, hi, trace)
			default:
				err = j.countStrip(c, turn%j.strips*j.strip, lo, hi, trace)
			}
		}
		c.sink.flush(c.sums)
		return err
	})
	return cmp.Or(err, j.room.check())
}

// reduce sums the changes of all cores.
func (j *hostJob[L, C]) reduce(trace *bench.Trace) {
	j.added = false
	if j.tables == 0 && !j.tallied {
		return
	}
	defer trace.Span("reduce")()
	if j.tallied {
		j.steps = steps(j.tallies).Plus(j.large, 1)
		return
	}
	clear(j.total)
	for _, c := range j.cores {
		for k, v := range c.sums {
			j.total[k] += v
		}
	}
}

// countStrip counts the voxels of planes lo ≤ z < hi and rows y ≤ y' < y + strip of an image in
// memory.
func (j *hostJob[L, C]) countStrip(c *core[L, C], y, lo, hi int64, trace *bench.Trace) error {
	from, to := j.first(lo), hi
	slab := j.resident[max(from, 0)*j.slice()*j.element:]
	owed := c.owed
	if j.open || j.carries {
		owed = j.carry[y/j.strip]
	}
	if !j.carries {
		clear(owed)
	}
	if j.open {
		to--
	}
	return j.march(c, owed, slab, y, min(y+j.strip, j.h), from, to, lo, trace)
}

// first returns the first step for planes from lo on. A step processes a plane and the next one.
// The first step is usually that of the plane before lo, which passes changes on. For lo = 0 that
// plane is outside, and its step counts the cells of the first slice as a 2D image.
func (j *hostJob[L, C]) first(lo int64) int64 {
	if j.impl.fault == LostHalo && lo > 0 || j.joined && lo == 0 {
		return lo
	}
	return lo - 1
}

// countPlanes counts the voxels of planes lo ≤ z < hi of a streamed source. It runs all steps of a
// slab strip by strip, so that the changes passed from plane to plane stay in the cache.
func (j *hostJob[L, C]) countPlanes(c *core[L, C], lo, hi int64, trace *bench.Trace) error {
	clear(c.owed)
	steps := j.slab - 1
	for from := j.first(lo); from < hi; from += steps {
		to := min(from+steps, hi)
		slab, err := j.read(c, max(from, 0), min(to+1, j.n), trace)
		if err != nil {
			return err
		}
		for y := int64(0); y < j.h; y += j.strip {
			if err := j.march(c, c.owed[y*j.stride:], slab, y, min(y+j.strip, j.h), from, to, lo, trace); err != nil {
				return err
			}
		}
	}
	return nil
}

// march runs steps from ≤ z < to for rows y0 ≤ y < y1. It discards the changes of steps before lo.
// owed are the rows' changes owed to the first plane, and on return those owed to the last. The
// slab begins with plane max(from, 0).
func (j *hostJob[L, C]) march(c *core[L, C], owed []C, slab []byte, y0, y1, from, to, lo int64,
	trace *bench.Trace) error {
	t := tile[L, C]{owed: owed, rows: int(y1 - y0), width: int(j.w), stride: int(j.stride), first: y0 == 0}
	if j.impl.fault == LastRow && y1 == j.h {
		t.rows--
	}
	plane := func(into []L, z int64) {
		defer trace.Span("convert")()
		var rows []byte
		if z >= 0 && z < j.n {
			size := j.slice() * j.element
			rows = slab[(z-max(from, 0))*size:][:size]
		}
		j.fill(c, into, rows, 0, j.h, y0, y1)
		t.ahead = nil
		if z+1 >= 0 && z+1 < min(j.n, to+1) {
			size := j.w * j.element
			t.ahead = slab[(z+1-max(from, 0))*j.h*size:][max(y0-1, 0)*size : min(y1+1, j.h)*size]
		}
	}
	plane(c.planes[0], from)
	for z := from; z < to; z++ {
		if err := grid.Ended(j.in); err != nil {
			return err
		}
		plane(c.planes[1], z+1)
		end := trace.Span("count")
		t.below, t.above, t.outside = c.planes[0], c.planes[1], z < 0 || j.impl.fault == WrongOwner
		c.sink.discard = z < lo
		j.kernels.volume(&t, &c.sink)
		if j.impl.fault == WrongSign {
			for i := range t.owed {
				t.owed[i] = -t.owed[i]
			}
		}
		c.counted(int64(t.rows) * j.w)
		end()
		c.planes[0], c.planes[1] = c.planes[1], c.planes[0]
	}
	return nil
}

// countRows counts the pixels of rows lo ≤ y < hi of a 2D image.
func (j *hostJob[L, C]) countRows(c *core[L, C], lo, hi int64, trace *bench.Trace) error {
	for y0 := lo; y0 < hi; y0 += j.strip {
		y1 := min(y0+j.strip, hi)
		top := max(y0-1, 0)
		slab, err := j.read(c, top, min(y1+1, j.h), trace)
		if err != nil {
			return err
		}
		end := trace.Span("convert")
		j.fill(c, c.planes[0], slab, top, min(y1+1, j.h), y0, y1)
		end()
		end = trace.Span("count")
		t := tile[L, C]{below: c.planes[0], rows: int(y1 - y0), width: int(j.w), stride: int(j.stride), first: y0 == 0 ||
			j.impl.fault == WrongOwner}
		if j.impl.fault == LastRow && y1 == j.h {
			t.rows--
		}
		if j.slab == 0 && y1+1 < j.h {
			t.ahead = j.resident[(y1+1)*j.w*j.element : min(y1+1+j.strip, j.h)*j.w*j.element]
		}
		j.kernels.area(&t, &c.sink)
		c.counted(int64(t.rows) * j.w)
		end()
	}
	return nil
}

// counted flushes the tables if they may overflow soon.
func (c *core[L, C]) counted(n int64) {
	if c.voxels += n; c.voxels >= flushAfter {
		c.sink.flush(c.sums)
		c.voxels = 0
	}
}

// fill converts rows y0−1 ≤ y ≤ y1 of a plane into levels. The argument rows contains those with
// top ≤ y < bottom; the others, or all if it is nil, are outside the image.
func (j *hostJob[L, C]) fill(c *core[L, C], into []L, rows []byte, top, bottom, y0, y1 int64) {
	first := lead / j.size
	from, to := max(y0-1, top), min(y1+1, bottom)
	if rows == nil {
		from, to = y1+1, y1+1
	}
	for y := y0 - 1; y <= y1; y++ {
		if y == from {
			y = to
			if y > y1 {
				break
			}
		}
		copy(into[(y-y0+1)*j.stride+first:][:j.w], c.outside)
	}
	if from < to {
		size := j.w * j.element
		j.convert(into[(from-y0+1)*j.stride+first:], rows[(from-top)*size:(to-top)*size], int(j.w), int(to-from),
			int(j.stride), c.scratch)
	}
}

// read returns the slices from ≤ s < to. For a streamed source it reuses slices that it has already
// read.
func (j *hostJob[L, C]) read(c *core[L, C], from, to int64, trace *bench.Trace) ([]byte, error) {
	size := j.slice() * j.element
	if j.slab == 0 {
		return j.resident[from*size : to*size], grid.Ended(j.in)
	}
	defer trace.Span("read")()
	have := int64(0)
	if from >= c.lo && from < c.hi {
		have = min(c.hi, to) - from
		copy(c.slab, c.slab[(from-c.lo)*size:(from-c.lo+have)*size])
	}
	slab := c.slab[:(to-from)*size]
	c.lo, c.hi = from, to
	return slab, j.in.ReadSlab(slab[have*size:], from+have, to)
}

func (j *hostJob[L, C]) Poison() {
	if j.tallied {
		j.steps = ecc.VCEC{{Level: 0, Change: bench.Poison}}
	}
	bench.PoisonEach(j.total)
	for _, c := range j.cores {
		bench.PoisonEach(c.sums)
	}
}

func (j *hostJob[L, C]) Out() (ecc.VCEC, error) {
	if j.added {
		j.reduce(nil)
	}
	if j.tallied {
		return j.steps, j.room.check()
	}
	return ecc.FromDense(j.total), nil
}

// Flags reports a search for levels, which is slow.
func (j *hostJob[L, C]) Flags() []string {
	if searched(j.in) {
		return []string{"levels=searched"}
	}
	return nil
}

func (j *hostJob[L, C]) Close() error { return nil }
