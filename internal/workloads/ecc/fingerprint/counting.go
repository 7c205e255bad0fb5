package fingerprint

import (
	"slices"
	"unsafe"

	"eccbench/internal/grid"
)

// Where weights ascend, a cell has the weight of the least of its voxels, and so
//
//	Σ over the cells of (−1)^dimension · weight = Σ over the voxels of count · weight
//
// where a voxel's count is that of the cells which have their value from it, with their signs. Of equal voxels any may
// have a cell. Counting takes vectors of a byte for each voxel, of two or of four, and few voxels have a count that is not 0,
// whose weights are then looked up one by one. Rows of tiles have the image's columns, and as many voxels more as make
// them vectors: of the last column's values, so that no cell is between them and it. See doc/proofs/fingerprint.md.
//
// A counting is how the voxels of images are counted and weighed.
type counting struct {
	countVectors
	lanes
	weighers []weigher // of each function
}

// countVectors are the vector instructions that count, and how what they count is weighed by a table. See their documentation.
type countVectors struct {
	volume func(below, above *byte, stride, rows int, inside, own, beside, handed, to *byte, counts int, next uintptr, apart int) int
	area   func(plane *byte, stride, rows int, inside, own, beside, to *byte, counts int, next uintptr, apart int) int
	weigh  func(table []uint64) weigher
}

// A weigher adds up the weights of the voxels of a list, each times its count: of so many bytes, of one voxel at least. Of
// lanes that are numbers in the order of float32 it is given the values.
type weigher func(list []byte, n int, r *room) uint64

// room is where a core has the weights of some values.
type room struct {
	weights [512]uint64
	levels  [512]int32
}

const (
	// countBytes is what a core has of tiles, and of what is handed from one to the next: about a first cache, and as much as
	// it takes for tiles to have countRows, up to mostBytes, since the rows between tiles are looked at twice.
	countBytes = 32 << 10
	countRows  = 32
	mostBytes  = 256 << 10
	// mostRow is how long rows may be, in bytes of lanes, and four times as long of 2D images: a core has some of a few planes.
	mostRow = 64 << 10
	// listBytes is about how long a list of voxels and counts grows, and listGroup how many are looked up at a time.
	listBytes = 16 << 10
	listGroup = 8
	// digits are the bytes of W − w that are enough on at most 256 levels.
	digits = 5
)

// digitsOf are the bytes of what is to be added to each entry of a table of 256 for 0, the lowest bytes of all first. It is
// nil where digits are not enough.
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

// newCounting is nil where there are no vectors for images of a type on a ladder, or cells have not the least of their
// voxels' lanes.
func newCounting(t grid.Type, l grid.Ladder, all []weights, top int64, isa string) *counting {
	in := all[0].in
	if in.Vertices || in.Periodic != (grid.Axes{}) { // what is outside has a say in every cell that touches it
		return nil
	}
	if !l.Indexed() && in.Masked && in.Superlevel { // what is left out would have the first lanes, and the greatest weight
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

// inGroups is where the counts of a list of two are, and in how many groups of so many bytes its first n are, of which the
// last one goes on with voxels of bits 0, which every table has, and counts of 0.
func inGroups(list []byte, n, group int) (counts, groups int) {
	counts = len(list) / 2
	clear(list[n:][:group])
	clear(list[counts+n:][:group])
	return counts, (n + group - 1) / group
}

// weighValues weighs a list of float32 values.
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

// takes reports whether the cells of images of a shape can be counted, with a watcher or without: who watches is to be shown each
// value that is no level's own, and rows have to be as short as a core has room for.
func (c *counting) takes(s grid.Shape, watched bool) bool {
	row := s.W * int64(c.bytes)
	return (c.values == nil || !watched) && (row <= mostRow || s.D == 1 && row <= 4*mostRow)
}

// A counter is the state of one core.
type counter struct {
	*counting
	m            *march
	below, above plane
	from         int64 // bytes of lanes before the columns of tiles
	stride       int64 // of tiles
	// Masks of a vector's columns: none, all, all but the first one, and those of the image in the last vector of a row.
	none, all, butFirst, last []byte
	beside                    []byte // of rows of a vector, behind one
	handed                    []byte // by vectors of columns and rows
	list                      []byte // of voxels and counts, or in its halves of either
	n                         int
	next                      uintptr // the rows of an image that are a plane, or a tile, behind those that were looked at last
	room                      *room
	sums                      []uint64 // so far, by functions
}

// A plane is rows of an image, and their tile: of all columns, or of those from one on where lanes are the image's own bytes.
type plane struct{ image, tile []byte }

// countedRows is how many rows of positions are counted from plane to plane.
func (c *counting) countedRows(m *march) int64 {
	row, planes := roundUp(m.w*int64(c.bytes), c.vector), int64(4) // two of what is handed
	if m.flat {
		planes = 1
	}
	room := max(countBytes, min(planes*row*(countRows+1), mostBytes))
	return min(m.h+1, max(1, room/(planes*row)-1))
}

func (c *counting) counter(m *march) *counter {
	s := &counter{counting: c, m: m, room: new(room), sums: make([]uint64, len(c.weighers))}
	rows, row := m.rows+1, m.w*int64(c.bytes)
	if whole := row / c.vector * c.vector; c.own && whole > c.vector {
		// Of the last vectors, what is behind a row would be looked at. They are one vector, or more than one, of which
		// the second ends with the row.
		s.from = whole - c.vector
	}
	s.stride = roundUp(row-s.from, c.vector) + c.vector
	if s.stride%4096 == 0 {
		s.stride += c.vector // or all rows would compete for a few lines of the cache
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
	whole := roundUp(row, c.vector) * (m.h + rows + 1) * (m.n + 1) // all of a small image
	s.list = make([]byte, 2*(min(listBytes, whole)+(rows+1)*c.vector))
	return s
}

// fill has what is below what was above, and takes rows above.
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

// A column is what is the same for all kinds of planes when a vector of columns is counted.
type column struct {
	inside, own, to *byte
	next            uintptr
}

// column is that from so many bytes of lanes on, inside of which the image is if it begins with the first row.
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

// lanesAt returns where a plane's lanes are from so many bytes on, and how far it is from row to row.
func (s *counter) lanesAt(p *plane, at int64) (lanes *byte, stride int) {
	if at < s.from {
		return &p.image[at], int(s.m.w * s.m.size)
	}
	return &p.tile[at-s.from], int(s.stride)
}

// look weighs the list, and empties it.
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

// taken adds the sums so far to those of the cells, or takes them away.
func (s *counter) taken(to []uint64, less bool) {
	s.look()
	for f, sum := range s.sums {
		if less {
			sum = -sum
		}
		to[f] += sum
		s.sums[f] = 0
	}
}

// area counts rows of the plane above.
func (s *counter) area(rows int64, begins bool) {
	for at := int64(0); at < s.m.w*int64(s.bytes); at += s.vector {
		c := s.column(at, begins)
		lanes, stride := s.lanesAt(&s.above, at)
		s.n += s.countVectors.area(lanes, stride, int(rows-1), c.inside, c.own, &s.beside[s.vector], c.to, len(s.list)/2, c.next, int(s.m.w*s.m.size))
	}
}

// volume counts rows of a plane and of what is between it and the next one.
func (s *counter) volume(below, above *plane, rows int64, begins bool) {
	handed := 2 * (s.m.rows + 1) // vectors of each
	for at := int64(0); at < s.m.w*int64(s.bytes); at += s.vector {
		c := s.column(at, begins)
		lanes, stride := s.lanesAt(below, at)
		next, _ := s.lanesAt(above, at)
		s.n += s.countVectors.volume(lanes, next, stride, int(rows-1), c.inside, c.own, &s.beside[s.vector], &s.handed[handed*at], c.to, len(s.list)/2, c.next, int(s.m.w*s.m.size))
	}
}

// plane adds up the rows of positions lo ≤ y < hi of a 2D image.
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
	s.taken(c.sums, false)
	return nil
}

// strip adds up the planes of positions lo ≤ z < hi, in the rows of a strip from y on.
func (s *counter) strip(c *core, v view, lo, hi, y int64) error {
	m := s.m
	from, to := max(y, 0), min(y+m.rows, m.h-1)
	rows, begins := to-from+1, y < 0
	fill := func(z int64) { s.fill(v.data[((z-v.first)*m.h+from)*m.w*m.size:], rows) }
	first, last := max(lo, 0), min(hi, m.n-1)
	fill(first)
	if lo < 0 { // between what is outside and the first plane
		s.area(rows, begins)
		s.taken(c.sums, false)
	}
	clear(s.handed)
	for z := first; z < last; z++ {
		if err := grid.Ended(m.in); err != nil {
			return err
		}
		fill(z + 1)
		s.volume(&s.below, &s.above, rows, begins)
	}
	if first < last { // what was handed to the last plane
		s.volume(&s.above, &s.above, rows, begins)
	}
	s.taken(c.sums, true) // a square counts positively, a cube negatively
	return nil
}
