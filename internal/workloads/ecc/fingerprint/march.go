package fingerprint

import (
	"errors"
	"math"
	"sync/atomic"
	"unsafe"

	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A march goes through an image tile by tile. Positions lie between the voxels: from −1,
// before the first voxel of an axis, to its last voxel. A tile is the weights of some
// rows and columns of a plane, with one row and one column more than it has positions,
// and a march takes it from plane to plane. A 2D image is one plane.
type march struct {
	in       grid.Source
	watcher  grid.Watcher // nil for none
	n, h, w  int64        // planes, rows, columns
	flat     bool         // the slices of a 2D image are its rows
	size     int64        // bytes of a value
	resident []byte
	of       function
	periodic grid.Axes
	joined   bool // the positions before the first slice are left out, and with them its cells
	start    view // the first slice, where the last one meets it
	kernel   kernel
	turns    *turns   // of 8 and 16-bit voxels, in place of the kernel; nil for others
	also     []*turns // of more functions that look up what is found once
	first    int64    // column of positions: before the first voxel, or the first one of tiles of levels
	group    int64    // columns of tiles are multiples of

	threads       int
	rows, columns int64 // positions of a tile, at most
	stride        int64 // weights from one row of a tile to the next
	depth         int64 // positions along the slices that a core takes at a time
	ahead         int   // bytes from a row to the one that is taken a plane later, or a tile
	slab          int64 // slices that a core reads at a time, beside the one before; 0 when the image is in memory
}

const (
	// tileBytes is what the tiles of a core may take of its cache.
	tileBytes = 64 << 10
	// tileColumns is the most columns that a tile has.
	tileColumns = 320
	// weightGroup is what the positions of a row of a tile are a multiple of: the lanes of
	// every kernel divide it.
	weightGroup = 8
	// turnBytes is what a strip has of a plane that is never tiled.
	turnBytes = 64 << 10
	// slabBytes is the size of the slabs that a core asks a streamed source for.
	slabBytes = 16 << 20
)

func newMarch(s grid.Source, f function, periodic grid.Axes, threads int, isa string) (*march, error) {
	shape := s.Shape()
	m := &march{
		in: s, watcher: grid.WatcherOf(s), n: shape.D, h: shape.H, w: shape.W, flat: shape.D == 1, size: s.Type().Size(),
		of: f, periodic: periodic, kernel: kernelOf(isa),
	}
	if periodic == (grid.Axes{}) {
		m.turns = f.turns
	}
	if err := m.periodic.Of(shape); err != nil {
		return nil, err
	}
	most, size, room := int64(tileColumns), int64(8), int64(tileBytes)
	if !m.flat {
		room /= 2 // of two planes
	}
	m.first, m.group = -1, weightGroup
	if f.levels != nil {
		most, size, room = levelColumns, 2, levelBytes
		m.first, m.group = 0, levelGroup
	}
	across := m.w - m.first
	blocks := (across + most - 1) / most
	m.columns = roundUp((across+blocks-1)/blocks, m.group)
	m.stride = m.columns + m.group
	if m.stride*size%4096 == 0 {
		m.stride += m.group // or all rows would compete for a few lines of the cache
	}
	m.rows = min(m.h+1, max(1, room/(m.stride*size)-1))
	if m.untiled() {
		m.rows = min(m.h+1, max(1, turnBytes/(m.w*m.size)))
	}

	m.ahead = int(m.rows * m.w * m.size)
	if !m.flat {
		m.ahead = int(m.h * m.w * m.size)
	}

	positions := shape.Slices() + 1
	m.threads = int(max(1, min(int64(threads), positions)))
	share := (positions + int64(m.threads) - 1) / int64(m.threads)
	if f, ok := s.(*grid.Field); ok {
		m.resident, m.start = f.Data(), view{f.Data(), 0}
		m.depth = share
		if m.flat {
			m.depth = m.rows
		} else if m.threads > 1 {
			// Several turns a core even out their speeds; strips give them at no cost, and
			// a cut across the slices costs a slice.
			strips := (m.h + m.rows) / m.rows
			m.threads = int(max(1, min(int64(threads), positions*strips)))
			parts := (4*int64(m.threads) + strips - 1) / strips
			m.depth = max(1, (positions+parts-1)/parts)
		}
		return m, nil
	}
	m.depth = max(1, (share+1)/2)
	m.slab = max(1, min(m.depth, slabBytes/grid.SliceBytes(s)))
	if !m.periodic.Slices(shape) {
		return m, nil
	}
	m.start.data = grid.NewBuffer(grid.SliceBytes(s))
	return m, s.ReadSlab(m.start.data, 0, 1)
}

// share takes on the first of some functions, as many as look nothing up but the turning points that the march finds.
func (m *march) share(functions []function) {
	for _, f := range functions {
		if !m.untiled() || f.turns == nil || !math.IsInf(f.turns.most, 1) {
			break
		}
		m.also = append(m.also, f.turns)
	}
}

// untiled reports whether turning points are never so many that tiles are quicker.
func (m *march) untiled() bool { return m.turns != nil && math.IsInf(m.turns.most, 1) }

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// A core is the state of one goroutine.
type core struct {
	tiles   tiler
	turning *turning // nil where there are tiles
	slab    []byte
	sums    []uint64 // of each function
}

// taken adds what turning points came to, if any were looked for.
func (c *core) taken(dim int) {
	if c.turning != nil {
		c.turning.take(dim, c.sums)
	}
}

// A view is slices of the image, from one on.
type view struct {
	data  []byte
	first int64
}

// run is the sum of the march's function, and of those that look up what it finds.
func (m *march) run() ([]uint64, error) {
	positions := m.in.Shape().Slices() + 1
	strips := int64(1) // that cores take each by itself
	if m.resident != nil && !m.flat {
		strips = (m.h + m.rows) / m.rows
	}
	turns := (positions + m.depth - 1) / m.depth * strips
	var next atomic.Int64
	sums, errs := make([][]uint64, m.threads), make([]error, m.threads)
	crew.Each(m.threads, func(i int) {
		c := m.core()
		for errs[i] == nil {
			turn := next.Add(1) - 1
			if turn >= turns {
				break
			}
			lo := turn/strips*m.depth - 1
			hi := min(lo+m.depth, positions-1)
			if m.joined {
				lo = max(lo, 0)
			}
			y := turn%strips*m.rows - 1
			switch {
			case m.slab > 0:
				errs[i] = m.stream(c, lo, hi)
			case m.flat:
				errs[i] = m.plane(c, view{m.resident, 0}, lo, hi)
			default:
				errs[i] = m.strip(c, view{m.resident, 0}, lo, hi, y)
			}
		}
		sums[i] = c.sums
	})
	for _, more := range sums[1:] {
		for f, sum := range more {
			sums[0][f] += sum
		}
	}
	return sums[0], errors.Join(errs...)
}

func (m *march) core() *core {
	c := &core{sums: make([]uint64, 1+len(m.also))}
	if m.turns != nil {
		c.turning = newTurning(append([]*turns{m.turns}, m.also...), m.w, m.size)
	}
	switch {
	case m.of.levels != nil:
		c.tiles = m.tilesOfLevels()
	case !m.untiled():
		c.tiles = m.tilesOfWeights()
	}
	if m.slab > 0 {
		c.slab = grid.NewBuffer((m.slab + 1) * grid.SliceBytes(m.in))
	}
	return c
}

// stream adds up positions lo ≤ i < hi along the slices of a streamed source. A position
// needs its own slice and the next one; the last slice of a slab is the first of the one
// after.
func (m *march) stream(c *core, lo, hi int64) error {
	size, slices := grid.SliceBytes(m.in), m.in.Shape().Slices()
	held := false // the first slice of the slab is there
	for at := lo; at < hi; {
		to := min(at+m.slab, hi) // positions
		from, end := max(at, 0), min(to+1, slices)
		skip := int64(0)
		if held {
			skip = 1
		}
		if err := m.in.ReadSlab(c.slab[skip*size:(end-from)*size], from+skip, end); err != nil {
			return err
		}
		v := view{c.slab, from}
		if m.flat {
			if err := m.plane(c, v, at, to); err != nil {
				return err
			}
		} else {
			for y := int64(-1); y < m.h; y += m.rows {
				if err := m.strip(c, v, at, to, y); err != nil {
					return err
				}
			}
		}
		copy(c.slab[:size], c.slab[(end-1-from)*size:(end-from)*size])
		held = true
		at = to
	}
	return nil
}

// plane adds up the rows of positions lo ≤ y < hi of a 2D image.
func (m *march) plane(c *core, v view, lo, hi int64) error {
	y := lo
	for turning := c.turning != nil; turning && y < hi; {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		to := m.turnRows(c, v, y, hi)
		turning = !c.turning.dense((to - y) * m.w)
		y = to
	}
	c.taken(2)
	for y < hi {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		rows := min(m.rows, hi-y)
		for x := m.first; x < m.w; x += m.columns {
			c.tiles.fill(m, v, 0, y, rows, x, true)
			c.sums[0] += c.tiles.add(m, rows, x)
		}
		y += rows
	}
	return nil
}

// strip adds up the planes of positions lo ≤ z < hi, in the rows of a strip from y on.
func (m *march) strip(c *core, v view, lo, hi, y int64) error {
	rows := min(m.rows, m.h-y)
	for turning := c.turning != nil; turning && lo < hi; lo++ {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		m.turnPlane(c, v, lo, y)
		turning = !c.turning.dense(rows * m.w)
	}
	c.taken(3)
	if lo == hi {
		return nil
	}
	for x := m.first; x < m.w; x += m.columns {
		c.tiles.fill(m, v, lo, y, rows, x, true)
		for z := lo; z < hi; z++ {
			if err := grid.Ended(m.in); err != nil {
				return err
			}
			c.tiles.fill(m, v, z+1, y, rows, x, z == lo)
			c.sums[0] += c.tiles.add(m, rows, x)
		}
	}
	return nil
}

// A tiler has the tiles of a core: of a plane and the one below it, or of a 2D image one.
type tiler interface {
	// fill has what is below what was above, and writes what a tile's positions need of plane z.
	fill(m *march, v view, z, y, rows, x int64, fresh bool)
	// add is the sum of the cells of the positions of so many rows, from column x on.
	add(m *march, rows, x int64) uint64
}

// tiles are of weights, or of levels.
type tiles[T uint16 | uint64] struct {
	below, above []T
	outside      T
	// rows writes those of the values of src, row by row of so many columns: entries of dst from one to the next are
	// stride apart, bytes of src are apart. The values ahead bytes behind them are looked up soon.
	rows func(dst []T, src []byte, rows, columns, stride, apart int64, ahead int)
	// sum is of so many rows and columns of positions of two tiles, or of one of a 2D image; first says that none
	// is before them.
	sum func(below, above []T, rows, columns int64, first bool) uint64
}

// room makes the tiles.
func (t *tiles[T]) room(m *march) *tiles[T] {
	tile := (m.rows + 1) * m.stride
	t.above = make([]T, tile)
	if !m.flat {
		t.below = make([]T, tile)
	}
	return t
}

func (m *march) tilesOfWeights() tiler {
	scratch := make([]int32, m.columns+1)
	t := &tiles[uint64]{
		outside: m.of.outside,
		rows: func(dst []uint64, src []byte, rows, columns, stride, apart int64, ahead int) {
			for y := range rows {
				dst, src := dst[y*stride:][:columns], src[y*apart:][:columns*m.size]
				if m.watcher != nil {
					m.of.weight.watched(m.watcher, dst, src, scratch, ahead)
				} else {
					m.of.weight.row(dst, src, scratch, ahead)
				}
			}
		},
		sum: func(below, above []uint64, rows, columns int64, _ bool) uint64 {
			if m.flat {
				return m.kernel.area(above, int(m.stride), int(rows), int(columns))
			}
			return m.kernel.volume(below, above, int(m.stride), int(rows), int(columns))
		},
	}
	return t.room(m)
}

func (m *march) tilesOfLevels() tiler {
	l := newList(m.of.levels, m.rows)
	t := &tiles[uint16]{
		outside: outsideLevel,
		rows: func(dst []uint16, src []byte, rows, columns, stride, apart int64, ahead int) {
			l.next, l.apart = uintptr(unsafe.Pointer(&src[0]))+uintptr(ahead), int(apart)
			l.rows(m.watcher, dst, src, rows, columns, stride, apart)
		},
		sum: func(below, above []uint16, rows, columns int64, first bool) uint64 {
			if m.flat {
				return l.area(above, m.stride, rows, columns, first)
			}
			return l.volume(below, above, m.stride, rows, columns, first)
		},
	}
	return t.room(m)
}

// columnsFrom is how many columns of positions the tile from column x on has. The last tile of a row has more of
// them than the image has left: what is outside adds nothing, because each position has as many cells of either sign.
func (m *march) columnsFrom(x int64) int64 { return min(m.columns, roundUp(m.w-x, m.group)) }

func (t *tiles[T]) add(m *march, rows, x int64) uint64 {
	return t.sum(t.below, t.above, rows, m.columnsFrom(x), x == m.first)
}

// fill writes the rows from y on, one more than positions, and the columns from x on. What is outside around the
// voxels is written when both tiles are fresh, and stays from plane to plane.
//
// Along a periodic axis what is outside is the first voxel. So the position after the last
// voxel has the cells where the two meet. Those before the first voxel and beyond that one
// add nothing: of what is the same in two places, either place has as many cells, of the
// other sign.
func (t *tiles[T]) fill(m *march, v view, z, y, rows, x int64, fresh bool) {
	if !m.flat {
		t.below, t.above = t.above, t.below
	}
	lanes := m.columnsFrom(x) + 1
	from, to := max(x, 0), min(x+lanes, m.w) // voxels
	if m.periodic.Z && (z < 0 || z >= m.n) {
		v, z = m.start, 0
	}
	for r, run := int64(0), int64(1); r <= rows; r += run {
		row, v := t.above[r*m.stride:][:lanes], v
		line := y + r
		run = 1
		if m.periodic.Y && (line < 0 || line >= m.h) {
			line = 0
			if m.flat {
				v = m.start
			}
		}
		within := z >= 0 && z < m.n
		if !within || line < 0 || line >= m.h {
			if fresh || !within {
				fill(row, t.outside)
			}
			continue
		}
		if y+r == line { // the rows from there on are one after another
			run = min(rows+1-r, m.h-line)
		}
		if m.flat {
			line -= v.first
		} else {
			line += (z - v.first) * m.h
		}
		voxels := v.data[line*m.w*m.size:][:run*m.w*m.size]
		for i := range run {
			if !fresh && !m.periodic.X {
				break
			}
			row, beside := t.above[(r+i)*m.stride:][:lanes], t.outside
			if m.periodic.X {
				t.rows(row, voxels[i*m.w*m.size:], 1, 1, 0, 0, 0)
				beside = row[0]
			}
			fill(row[:from-x], beside)
			fill(row[to-x:], beside)
		}
		t.rows(t.above[r*m.stride+from-x:], voxels[from*m.size:], run, to-from, m.stride, m.w*m.size, m.ahead)
	}
}

func fill[T any](row []T, with T) {
	for i := range row {
		row[i] = with
	}
}
