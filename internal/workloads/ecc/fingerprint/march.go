package fingerprint

import (
	"errors"
	"sync/atomic"

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
	weight   *lookup
	outside  uint64
	periodic grid.Axes
	joined   bool // the positions before the first slice are left out, and with them its cells
	start    view // the first slice, where the last one meets it
	kernel   kernel
	turns    *turns // of 8 and 16-bit voxels, in place of the kernel; nil for others

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
	// group is what the positions of a row of a tile are a multiple of: the lanes of
	// every kernel divide it.
	group = 8
	// turnBytes is what a strip of bytes has of a plane.
	turnBytes = 64 << 10
	// slabBytes is the size of the slabs that a core asks a streamed source for.
	slabBytes = 16 << 20
)

func newMarch(s grid.Source, f function, periodic grid.Axes, threads int, isa string) (*march, error) {
	shape := s.Shape()
	m := &march{
		in: s, watcher: grid.WatcherOf(s), n: shape.D, h: shape.H, w: shape.W, flat: shape.D == 1, size: s.Type().Size(),
		weight: f.weight, outside: f.outside, periodic: periodic, kernel: kernelOf(isa),
	}
	if periodic == (grid.Axes{}) {
		m.turns = f.turns
	}
	if err := m.periodic.Of(shape); err != nil {
		return nil, err
	}
	blocks := (m.w + 1 + tileColumns - 1) / tileColumns
	m.columns = roundUp((m.w+1+blocks-1)/blocks, group)
	m.stride = m.columns + group
	if m.stride*8%4096 == 0 {
		m.stride += group // or all rows would compete for a few lines of the cache
	}
	planes := int64(2)
	if m.flat {
		planes = 1
	}
	m.rows = min(m.h+1, max(1, tileBytes/(planes*m.stride*8)-1))
	if m.bytes() {
		m.rows = min(m.h+1, max(1, turnBytes/m.w))
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

// bytes reports whether voxels are bytes that need no tiles.
func (m *march) bytes() bool { return m.turns != nil && m.size == 1 }

func roundUp(n, to int64) int64 { return (n + to - 1) / to * to }

// A core is the state of one goroutine.
type core struct {
	below, above []uint64 // tiles
	scratch      []int32
	turning      *turning // nil where there are tiles
	slab         []byte
	sum          uint64
}

// A view is slices of the image, from one on.
type view struct {
	data  []byte
	first int64
}

func (m *march) run() (uint64, error) {
	positions := m.in.Shape().Slices() + 1
	strips := int64(1) // that cores take each by itself
	if m.resident != nil && !m.flat {
		strips = (m.h + m.rows) / m.rows
	}
	turns := (positions + m.depth - 1) / m.depth * strips
	var next atomic.Int64
	sums, errs := make([]uint64, m.threads), make([]error, m.threads)
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
		sums[i] = c.sum
	})
	var sum uint64
	for _, s := range sums {
		sum += s
	}
	return sum, errors.Join(errs...)
}

func (m *march) core() *core {
	c := &core{}
	if m.turns != nil {
		c.turning = newTurning(m.turns, m.w, m.size)
	}
	if !m.bytes() {
		tile := (m.rows + 1) * m.stride
		c.below, c.scratch = make([]uint64, tile), make([]int32, m.columns+1)
		if !m.flat {
			c.above = make([]uint64, tile)
		}
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
	for y, turning := lo, c.turning != nil; y < hi; {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		if turning {
			to := m.turnRows(c, v, y, hi)
			turning = !c.turning.dense((to - y) * m.w)
			y = to
			continue
		}
		rows := min(m.rows, hi-y)
		for x := int64(-1); x < m.w; x += m.columns {
			columns := m.fill(c, c.below, v, 0, y, rows, x, true)
			c.sum += m.kernel.area(c.below, int(m.stride), int(rows), columns)
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
	if lo == hi {
		return nil
	}
	for x := int64(-1); x < m.w; x += m.columns {
		m.fill(c, c.below, v, lo, y, rows, x, true)
		for z := lo; z < hi; z++ {
			if err := grid.Ended(m.in); err != nil {
				return err
			}
			columns := m.fill(c, c.above, v, z+1, y, rows, x, z == lo)
			c.sum += m.kernel.volume(c.below, c.above, int(m.stride), int(rows), columns)
			c.below, c.above = c.above, c.below
		}
	}
	return nil
}

// fill writes the weights that a tile's positions need of plane z: those of the rows from
// y on, one more than positions, and of the columns from x on. It returns how many
// columns of positions the tile has. The last tile of a row has more of them than the
// image has left: what is outside adds nothing, because each position has as many cells
// of either sign. What is outside around the voxels is written when the tile is fresh, and
// stays from plane to plane.
//
// Along a periodic axis what is outside is the first voxel. So the position after the last
// voxel has the cells where the two meet. Those before the first voxel and beyond that one
// add nothing: of what is the same in two places, either place has as many cells, of the
// other sign.
func (m *march) fill(c *core, tile []uint64, v view, z, y, rows, x int64, fresh bool) int {
	columns := min(m.columns, roundUp(m.w-x, group))
	lanes := columns + 1
	from, to := max(x, 0), min(x+lanes, m.w) // voxels
	if m.periodic.Z && (z < 0 || z >= m.n) {
		v, z = m.start, 0
	}
	for r := range rows + 1 {
		row, v := tile[r*m.stride:][:lanes], v
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
				fill(row, m.outside)
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
			beside := m.outside
			if m.periodic.X {
				m.weight.row(row[:1], voxels[:m.size], c.scratch, 0)
				beside = row[0]
			}
			fill(row[:from-x], beside)
			fill(row[to-x:], beside)
		}
		if to > from {
			if m.watcher != nil {
				m.weight.watched(m.watcher, row[from-x:to-x], voxels[from*m.size:to*m.size], c.scratch, m.ahead)
			} else {
				m.weight.row(row[from-x:to-x], voxels[from*m.size:to*m.size], c.scratch, m.ahead)
			}
		}
	}
	return int(columns)
}

func fill(row []uint64, w uint64) {
	for i := range row {
		row[i] = w
	}
}
