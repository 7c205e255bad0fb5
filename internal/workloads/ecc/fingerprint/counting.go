package fingerprint

import (
	"slices"
	"sync"
	"unsafe"

	"eccbench/internal/grid"
)

// If weights ascend with the levels, a cell has the smallest weight of its voxels. So
//
//	Σ over the cells of (−1)^dimension · weight = Σ over the voxels of count · weight
//
// where a voxel's count is the signed number of the cells that take their value from it. If voxels
// are equal, any of them may own a cell.
//
// Vector code counts lanes of one, two or four bytes per voxel. Few voxels have a nonzero count,
// and only their weights are looked up. Rows of a tile are padded to whole vectors by repeating the
// last column's values, which adds no cell. See doc/proofs/fingerprint.md.
//
// A counting is this method for images of one type on one ladder.
type counting struct {
	countVectors
	lanes
	weighers []weigher // one per weight function
	counters sync.Pool // of images that were counted
}

// countVectors are the vector instructions for counting, and for weighing counts with a table. The
// generated functions document their arguments.
type countVectors struct {
	volume func(below, above *byte, stride, rows int, inside, own, beside, handed, to *byte, counts int,
		next uintptr, apart int) int
	area  func(plane *byte, stride, rows int, inside, own, beside, to *byte, counts int, next uintptr, apart int) int
	weigh func(table []uint64) weigher
}

// A weigher returns the sum of weight · count over a list of n > 0 bytes of voxels. If the lanes
// are float32 keys, the list contains the original values instead.
type weigher func(list []byte, n int, r *room) uint64

// room is scratch memory of a core for the weights of some values.
type room struct {
	weights [512]uint64
	levels  [512]int32
}

const (
	// countBytes is the size of a core's tiles and handed-on data: about the first-level cache.
	// Tiles grow up to mostBytes to have countRows rows, because rows between tiles are processed
	// twice.
	countBytes = 32 << 10
	countRows  = 32
	mostBytes  = 256 << 10
	// mostRow limits the length of a row in bytes of lanes (2D images: four times that), since a
	// core needs some rows of several planes.
	mostRow = 64 << 10
	// listBytes is the approximate maximum length of a list, and listGroup the number of voxels
	// that are looked up together.
	listBytes = 16 << 10
	listGroup = 8
	// digits is the number of bytes of W − w, if there are at most 256 levels.
	digits = 5
)

// digitsOf splits the negated entries of a table of 256 into bytes: first the lowest byte of all
// entries, and so on. It returns nil if an entry needs more bytes than digits.
func digitsOf(table []uint64) *[digits * 256]byte {
	bytes := new([digits * 256]byte)
	for v, entry := range table {
		if -entry>>(8*digits) != 0 {
			return nil
		}
		for d := range digits {
			bytes[256*d+v] = byte(-entry >> (8 * d))
		}
	}
	return bytes
}

// newCounting returns nil if there is no vector code for the type on the ladder. It also returns
// nil if cells do not take the smallest lane of their voxels.
func newCounting(t grid.Type, l grid.Ladder, all []weights, top int64, isa string) *counting {
	in := all[0].in
	if in.Vertices || in.Periodic != (grid.Axes{}) { // the outside would determine every cell that touches it
		return nil
	}
	if !l.Indexed() && in.Masked && in.Superlevel { // masked voxels would get the first lanes
		return nil
	}
	c := &counting{}
	var ok bool
	if c.lanes, ok = lanesOf(t, l, top, in.Superlevel, isa); !ok {
		return nil
	}
	if c.countVectors, c.vector, ok = countVectorsOf(isa, c.lanes.bytes, c.order); !ok {
		return nil
	}
	for _, w := range all {
		if c.values != nil {
			c.weighers = append(c.weighers, weighValues(newLookup(t, l, w, top, isa), w.outside(), isa))
			continue
		}
		c.weighers = append(c.weighers, c.weigh(c.lanes.table(t, l, w, top)))
	}
	return c
}

// inGroups pads the two halves of a list, voxels and counts, to whole groups of bytes. n is the
// number of used bytes in each half. Padding voxels have bits 0, which every table contains, and
// count 0. It returns the offset of the counts and the number of groups.
func inGroups(list []byte, n, group int) (counts, groups int) {
	counts = len(list) / 2
	clear(list[n:][:group])
	clear(list[counts+n:][:group])
	return counts, (n + group - 1) / group
}

// weighValues makes a weigher for float32 values.
func weighValues(u *lookup, outside uint64, isa string) weigher {
	times := timesOf(isa)
	return func(list []byte, n int, r *room) (sum uint64) {
		behind, _ := inGroups(list, n, 4*listGroup)
		for at := 0; at < n; at += 4 * len(r.weights) {
			some := min(len(r.weights), (n-at)/4)
			u.row(r.weights[:some], list[at:][:4*some], r.levels[:], 0)
			counts := grid.Values[int32](list[behind+at:][:4*some])
			sum += times(&r.weights[0], &counts[0], (some+listGroup-1)/listGroup, outside)
		}
		return sum
	}
}

// accepts reports whether the method applies to a shape. Rows must not be too long. A watcher must
// see every value that is no level, which is impossible when lanes are float32 keys.
func (c *counting) accepts(s grid.Shape, watched bool) bool {
	row := s.W * int64(c.bytes)
	return (c.values == nil || !watched) && (row <= mostRow || s.D == 1 && row <= 4*mostRow)
}

// A counter is the state of one core.
type counter struct {
	*counting
	m            *march
	below, above plane
	from         int64 // bytes of lanes before the columns of the tiles
	stride       int64 // of the tiles
	// Masks for the columns of a vector: none, all, all except the first, and the image's columns
	// in the last vector of a row.
	none, all, butFirst, last []byte
	beside                    []byte // one vector per row, preceded by one more
	handed                    []byte // data handed to the next plane, by vectors of columns, then rows
	list                      []byte // voxels in its first half, counts in its second half
	n                         int
	next                      uintptr // address of the rows to prefetch: one plane, or one tile, ahead
	room                      *room
	sums                      []uint64 // sums so far, one per weight function
	shape                     counterShape
}

// A counterShape determines the memory of a counter.
type counterShape struct {
	rows, deep, high, wide int64
}

// A plane is some rows of an image and their tile. The tile has all columns, or only the last ones
// if the lanes are the image's own bytes.
type plane struct{ image, tile []byte }

// countedRows returns the number of rows of positions that a tile has.
func (c *counting) countedRows(m *march) int64 {
	row, planes := roundUp(m.w*int64(c.bytes), c.vector), int64(4) // two planes, and two of handed-on data
	if m.flat {
		planes = 1
	}
	room := max(countBytes, min(planes*row*(countRows+1), mostBytes))
	return min(m.h+1, max(1, room/(planes*row)-1))
}

// counter returns the counter of the last image, if this one has the same shape, or a new one.
func (c *counting) counter(m *march) *counter {
	shape := counterShape{m.rows, m.n, m.h, m.w}
	if s, _ := c.counters.Get().(*counter); s != nil && s.shape == shape {
		s.m = m
		return s
	}
	s := &counter{counting: c, m: m, room: new(room), sums: make([]uint64, len(c.weighers)), shape: shape}
	rows, row := m.rows+1, m.w*int64(c.bytes)
	if whole := row / c.vector * c.vector; c.own && whole > c.vector {
		// The last vectors of a row would read beyond it, so these columns are copied to the tile:
		// one vector, or the vector that ends with the row and the one before.
		s.from = whole - c.vector
	}
	s.stride = roundUp(row-s.from, c.vector) + c.vector
	if s.stride%4096 == 0 {
		s.stride += c.vector // avoid conflicts of all rows in a few cache sets
	}
	s.above.tile = make([]byte, rows*s.stride)
	if !m.flat {
		s.below.tile = make([]byte, rows*s.stride)
		s.handed = make([]byte, 2*rows*roundUp(row, c.vector))
	}
	s.none, s.all = make([]byte, c.vector), slices.Repeat([]byte{0xff}, int(c.vector))
	s.butFirst, s.last = slices.Clone(s.all), slices.Clone(s.all)
	clear(s.butFirst[:c.bytes])
	clear(s.last[(row-1)%c.vector+1:])
	s.beside = make([]byte, (rows+1)*c.vector)
	whole := roundUp(row, c.vector) * (m.h + rows + 1) * (m.n + 1) // enough for all of a small image
	s.list = make([]byte, 2*(min(listBytes, whole)+(rows+1)*c.vector))
	return s
}

// fill moves to the next plane: the upper plane becomes the lower one, and the given rows the
// upper.
func (s *counter) fill(voxels []byte, rows int64) {
	if !s.m.flat {
		s.below, s.above = s.above, s.below
	}
	m := s.m
	s.above.image = voxels
	s.next = uintptr(unsafe.Pointer(&voxels[0])) + uintptr(m.ahead)
	from := s.from / int64(s.bytes)
	s.rows(m.watcher, s.above.tile, voxels[from*m.size:], rows, m.w-from, s.stride, m.w*m.size)
}

// A column contains the arguments that all kinds of planes share for a vector of columns.
type column struct {
	inside, own, to *byte
	next            uintptr
}

// column returns the arguments for the vector at byte offset at. begins means that the first row is
// the border before the image.
func (s *counter) column(at int64, begins bool) column {
	if s.n > listBytes {
		s.look()
	}
	c := column{&s.none[0], &s.all[0], &s.list[s.n], s.next + uintptr(at/int64(s.bytes)*s.m.size)}
	switch {
	case begins && at+s.vector >= s.m.w*int64(s.bytes):
		c.inside = &s.last[0]
	case begins:
		c.inside = &s.all[0]
	}
	if at == 0 {
		c.own = &s.butFirst[0]
	}
	return c
}

// lanesAt returns the lanes of a plane from a byte offset on, and their distance between rows.
func (s *counter) lanesAt(p *plane, at int64) (lanes *byte, stride int) {
	if at < s.from {
		return &p.image[at], int(s.m.w * s.m.size)
	}
	return &p.tile[at-s.from], int(s.stride)
}

// look weighs the list and empties it.
func (s *counter) look() {
	if s.n == 0 {
		return
	}
	if s.values != nil {
		s.values(s.list, s.n/s.bytes)
	}
	for f, weigh := range s.weighers {
		s.sums[f] += weigh(s.list, s.n, s.room)
	}
	s.n = 0
}

// moveSums adds the sums so far to other sums, or subtracts them, and resets them.
func (s *counter) moveSums(to []uint64, less bool) {
	s.look()
	for f, sum := range s.sums {
		if less {
			sum = -sum
		}
		to[f] += sum
		s.sums[f] = 0
	}
}

// area counts rows of the upper plane alone.
func (s *counter) area(rows int64, begins bool) {
	for at := int64(0); at < s.m.w*int64(s.bytes); at += s.vector {
		c := s.column(at, begins)
		lanes, stride := s.lanesAt(&s.above, at)
		s.n += s.countVectors.area(lanes, stride, int(rows-1), c.inside, c.own, &s.beside[s.vector], c.to,
			len(s.list)/2, c.next, int(s.m.w*s.m.size))
	}
}

// volume counts rows of the lower plane, and the cells between it and the upper plane.
func (s *counter) volume(below, above *plane, rows int64, begins bool) {
	handed := 2 * (s.m.rows + 1) // vectors per column
	for at := int64(0); at < s.m.w*int64(s.bytes); at += s.vector {
		c := s.column(at, begins)
		lanes, stride := s.lanesAt(below, at)
		next, _ := s.lanesAt(above, at)
		s.n += s.countVectors.volume(lanes, next, stride, int(rows-1), c.inside, c.own, &s.beside[s.vector],
			&s.handed[handed*at], c.to, len(s.list)/2, c.next, int(s.m.w*s.m.size))
	}
}

// plane sums the rows of positions lo ≤ y < hi of a 2D image.
func (s *counter) plane(c *core, v view, lo, hi int64) error {
	m := s.m
	for y := lo; y < hi; y += m.rows {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		from, to := max(y, 0), min(y+m.rows, hi, m.h-1)
		s.fill(v.data[(from-v.first)*m.w*m.size:], to-from+1)
		s.area(to-from+1, y < 0)
	}
	s.moveSums(c.sums, false)
	return nil
}

// strip sums the planes of positions lo ≤ z < hi, in the rows of one tile from y on.
func (s *counter) strip(c *core, v view, lo, hi, y int64) error {
	m := s.m
	from, to := max(y, 0), min(y+m.rows, m.h-1)
	rows, begins := to-from+1, y < 0
	fill := func(z int64) { s.fill(v.data[((z-v.first)*m.h+from)*m.w*m.size:], rows) }
	first, last := max(lo, 0), min(hi, m.n-1)
	fill(first)
	if lo < 0 { // between the outside and the first plane
		s.area(rows, begins)
		s.moveSums(c.sums, false)
	}
	clear(s.handed)
	for z := first; z < last; z++ {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		fill(z + 1)
		s.volume(&s.below, &s.above, rows, begins)
	}
	if first < last { // the data handed to the last plane
		s.volume(&s.above, &s.above, rows, begins)
	}
	s.moveSums(c.sums, true) // a square counts positively and a cube negatively
	return nil
}
