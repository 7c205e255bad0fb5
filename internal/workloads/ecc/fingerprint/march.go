package fingerprint

import (
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// A march sums the weights of an image tile by tile. Positions are between voxels: from −1, before
// the first voxel of an axis, to its last voxel. A tile contains the weights of some rows and
// columns of a plane, one row and one column more than its positions. The march moves it from plane
// to plane. A 2D image is a single plane.
type march struct {
	in       grid.Source
	watcher  grid.Watcher // or nil
	n, h, w  int64        // planes, rows, columns
	flat     bool         // the slices of a 2D image are its rows
	size     int64        // bytes per value
	resident []byte
	of       function
	periodic grid.Axes
	joined   bool // leaves out the positions before the first slice, and so the cells of that slice
	start    view // the first slice, if the slice axis is periodic
	kernel   kernel
	counting *counting // replaces the function and the kernel, unless nil

	threads       int
	rows, columns int64 // maximum number of positions in a tile
	stride        int64 // distance between rows of a tile, in weights
	depth         int64 // positions along the slices that a core processes per turn
	ahead         int   // distance to the row that is needed one plane, or one tile, later, in bytes
	slab          int64 // slices that a core reads together, plus the one before; 0 if the image is in memory
}

const (
	// tileBytes is the size of a core's tiles, so that they stay in its cache.
	tileBytes = 64 << 10
	// tileColumns is the maximum number of columns of a tile.
	tileColumns = 320
	// weightGroup divides the number of positions in a row of a tile; the vector length of every
	// kernel divides it.
	weightGroup = 8
	// slabBytes is the size of slabs that a core reads from a streamed source.
	slabBytes = 16 << 20
)

// newMarch prepares a march that sums the weights of a function, or counts if counting is not nil.
func newMarch(s grid.Source, f function, counting *counting, periodic grid.Axes, threads int,
	isa string) (*march, error) {
	shape := s.Shape()
	m := &march{
		in: s, watcher: grid.WatcherOf(s), n: shape.D, h: shape.H, w: shape.W, flat: shape.D == 1, size: s.Type().Size(),
		of: f, counting: counting, periodic: periodic, kernel: kernelOf(isa),
	}
	if err := m.periodic.Check(shape); err != nil {
		return nil, err
	}
	if counting != nil {
		m.rows = counting.countedRows(m)
	} else {
		m.tiled()
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
			// Several turns per core balance their speeds. Strips provide turns without extra cost;
			// a cut across the slices costs one slice.
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

// tiled sets the size of tiles of weights.
func (m *march) tiled() {
	room := int64(tileBytes)
	if !m.flat {
		room /= 2 // two planes
	}
	across := m.w + 1
	blocks := (across + tileColumns - 1) / tileColumns
	m.columns = roundUp((across+blocks-1)/blocks, weightGroup)
	m.stride = m.columns + weightGroup
	if m.stride*8%4096 == 0 {
		m.stride += weightGroup // avoid conflicts of all rows in a few cache sets
	}
	m.rows = min(m.h+1, max(1, room/(m.stride*8)-1))
}

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// A core is the state of one goroutine.
type core struct {
	tiles tiler
	slab  []byte
	sums  []uint64 // one per weight function
}

// A view is some slices of the image, from slice first on.
type view struct {
	data  []byte
	first int64
}

// run returns the sum for the march's function, or the sums for all functions if it counts.
func (m *march) run() ([]uint64, error) {
	positions := m.in.Shape().Slices() + 1
	strips := int64(1) // each core takes one strip per turn
	if m.resident != nil && !m.flat {
		strips = (m.h + m.rows) / m.rows
	}
	turns := (positions + m.depth - 1) / m.depth * strips
	sums := make([][]uint64, m.threads)
	err := crew.Work(m.threads, int(turns), func(i int, next func() (int, bool)) (err error) {
		c := m.core()
		for t, ok := next(); ok && err == nil; t, ok = next() {
			turn := int64(t)
			lo := turn/strips*m.depth - 1
			hi := min(lo+m.depth, positions-1)
			if m.joined {
				lo = max(lo, 0)
			}
			y := turn%strips*m.rows - 1
			switch {
			case m.slab > 0:
				err = m.stream(c, lo, hi)
			case m.flat:
				err = c.tiles.plane(c, view{m.resident, 0}, lo, hi)
			default:
				err = c.tiles.strip(c, view{m.resident, 0}, lo, hi, y)
			}
		}
		sums[i] = c.sums
		if used, ok := c.tiles.(*counter); ok && err == nil {
			used.m, used.above.image, used.below.image = nil, nil, nil
			m.counting.counters.Put(used)
		}
		return err
	})
	for _, more := range sums[1:] {
		for f, sum := range more {
			sums[0][f] += sum
		}
	}
	return sums[0], err
}

func (m *march) core() *core {
	c := &core{}
	if m.counting != nil {
		c.tiles, c.sums = m.counting.counter(m), make([]uint64, len(m.counting.weighers))
	} else {
		c.tiles, c.sums = m.tiles(), make([]uint64, 1)
	}
	if m.slab > 0 {
		c.slab = grid.NewBuffer((m.slab + 1) * grid.SliceBytes(m.in))
	}
	return c
}

// stream sums positions lo ≤ i < hi along the slices of a streamed source. A position needs its own
// slice and the next one, so consecutive slabs share a slice.
func (m *march) stream(c *core, lo, hi int64) error {
	size, slices := grid.SliceBytes(m.in), m.in.Shape().Slices()
	held := false // whether the slab already contains its first slice
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
			if err := c.tiles.plane(c, v, at, to); err != nil {
				return err
			}
		} else {
			for y := int64(-1); y < m.h; y += m.rows {
				if err := c.tiles.strip(c, v, at, to, y); err != nil {
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

// A tiler processes the tiles of a core.
type tiler interface {
	// plane sums the rows of positions lo ≤ y < hi of a 2D image.
	plane(c *core, v view, lo, hi int64) error
	// strip sums the planes of positions lo ≤ z < hi, in the rows of one tile from y on.
	strip(c *core, v view, lo, hi, y int64) error
}

// tiles contain the weights of a plane and of the plane below it; for a 2D image, of one plane.
type tiles struct {
	m            *march
	below, above []uint64
	scratch      []int32
}

func (m *march) tiles() *tiles {
	t := &tiles{m: m, scratch: make([]int32, m.columns+1)}
	tile := (m.rows + 1) * m.stride
	t.above = make([]uint64, tile)
	if !m.flat {
		t.below = make([]uint64, tile)
	}
	return t
}

func (t *tiles) plane(c *core, v view, lo, hi int64) error {
	m := t.m
	for y := lo; y < hi; y += m.rows {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		rows := min(m.rows, hi-y)
		for x := int64(-1); x < m.w; x += m.columns {
			t.fill(v, 0, y, rows, x, true)
			c.sums[0] += m.kernel.area(t.above, int(m.stride), int(rows), int(m.columnsFrom(x)))
		}
	}
	return nil
}

func (t *tiles) strip(c *core, v view, lo, hi, y int64) error {
	m := t.m
	rows := min(m.rows, m.h-y)
	for x := int64(-1); x < m.w; x += m.columns {
		t.fill(v, lo, y, rows, x, true)
		for z := lo; z < hi; z++ {
			if err := grid.Ended(m.in); err != nil {
				return err
			}
			t.fill(v, z+1, y, rows, x, z == lo)
			c.sums[0] += m.kernel.volume(t.below, t.above, int(m.stride), int(rows), int(m.columnsFrom(x)))
		}
	}
	return nil
}

// row writes the weights of values.
func (t *tiles) row(dst []uint64, src []byte, ahead int) {
	if m := t.m; m.watcher != nil {
		m.of.weight.watched(m.watcher, dst, src, t.scratch, ahead)
	} else {
		m.of.weight.row(dst, src, t.scratch, ahead)
	}
}

// columnsFrom returns the number of columns of positions of the tile from column x on. The last
// tile of a row may exceed the image. The excess adds nothing, because outside positions have
// equally many cells of either sign.
func (m *march) columnsFrom(x int64) int64 { return min(m.columns, roundUp(m.w-x, weightGroup)) }

// fill writes the rows from y on (one more than positions) and the columns from x on. The weights
// outside the image are written when both tiles are fresh; they stay valid from plane to plane.
//
// Along a periodic axis the voxel after the last one is the first voxel. So the position after the
// last voxel has the cells between both. The positions before the first voxel and after the wrapped
// one add nothing: their cells cancel in pairs.
func (t *tiles) fill(v view, z, y, rows, x int64, fresh bool) {
	m := t.m
	if !m.flat {
		t.below, t.above = t.above, t.below
	}
	lanes := m.columnsFrom(x) + 1
	from, to := max(x, 0), min(x+lanes, m.w) // voxels
	if m.periodic.Z && (z < 0 || z >= m.n) {
		v, z = m.start, 0
	}
	for r := range rows + 1 {
		row, v := t.above[r*m.stride:][:lanes], v
		line := y + r
		if m.periodic.Y && (line < 0 || line >= m.h) {
			line = 0
			if m.flat {
				v = m.start
			}
		}
		within := z >= 0 && z < m.n
		if !within || line < 0 || line >= m.h {
			if fresh || !within {
				fill(row, m.of.outside)
			}
			continue
		}
		if m.flat {
			line -= v.first
		} else {
			line += (z - v.first) * m.h
		}
		voxels := v.data[line*m.w*m.size:][:m.w*m.size]
		if fresh || m.periodic.X {
			beside := m.of.outside
			if m.periodic.X {
				t.row(row[:1], voxels[:m.size], 0)
				beside = row[0]
			}
			fill(row[:from-x], beside)
			fill(row[to-x:], beside)
		}
		if to > from {
			t.row(row[from-x:to-x], voxels[from*m.size:to*m.size], m.ahead)
		}
	}
}

func fill[T any](row []T, with T) {
	for i := range row {
		row[i] = with
	}
}
